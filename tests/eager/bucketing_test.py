"""torch.tpu.bucketing: what is padded and masked, that training with it gives what training without it gives, and that
a run of many lengths takes a few programs.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from networks import Gpt

BATCH, WORDS = 4, 29
LENGTHS = [17 + round(i * 111 / 31) for i in range(32)]  # 17 to 128
BUCKETS = 3  # 32, 64, 128


# ---- what comes out


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"min": 16, "max": 128}, {0: 16, 1: 16, 16: 16, 17: 32, 33: 64, 128: 128}),
        ({"min": 1, "max": 100}, {1: 1, 2: 2, 3: 4, 64: 64, 65: 100, 100: 100}),
        ({"sizes": [100, 20, 50]}, {1: 20, 20: 20, 21: 50, 99: 100}),
    ],
)
def test_sizes(options, sizes):
    buckets = torch.tpu.bucketing(**options)
    assert {length: buckets.size(length) for length in sizes} == sizes
    largest = max(sizes.values())
    with pytest.raises(ValueError, match=rf"dimension 1 has {largest + 1} entries, more than the largest.* {largest}"):
        buckets.size(largest + 1)
    assert torch.tpu.bucketing(**options, too_long="keep").size(largest + 1) == largest + 1


@pytest.mark.parametrize("device", ["cpu", "tpu"])
def test_pad_and_unpad(device):
    buckets = torch.tpu.bucketing(dim=1, sizes=[4, 8], pad_value=-1)
    x = torch.arange(10.0).view(2, 5).to(device).requires_grad_()
    padded, mask = buckets.pad(x)
    assert padded.tolist() == [[0, 1, 2, 3, 4, -1, -1, -1], [5, 6, 7, 8, 9, -1, -1, -1]]
    assert mask.tolist() == [[True] * 5 + [False] * 3] * 2 and mask.device.type == device
    assert buckets.unpad(padded, x).tolist() == buckets.unpad(padded, 5).tolist() == x.tolist()
    (padded * padded).sum().backward()
    assert torch.equal(x.grad, 2 * x)
    same, mask = buckets.pad(torch.zeros(2, 8, 3), pad_value=7)
    assert same.shape == (2, 8, 3) and mask.shape == (2, 8) and mask.all()


def test_a_tail_batch_has_weights():
    rows = torch.tpu.bucketing(dim=0, sizes=[4])
    torch.manual_seed(0)
    model, x, y = nn.Linear(5, 3), torch.randn(3, 5), torch.tensor([0, 2, 1])
    expected = F.cross_entropy(model(x), y)
    (padded, mask), labels = rows.pad(x), rows.pad(y).tensor
    assert padded.shape == (4, 5) and mask.tolist() == [True, True, True, False]
    losses = F.cross_entropy(model.to("tpu")(padded.to("tpu")), labels.to("tpu"), reduction="none")
    torch.testing.assert_close(torch.tpu.masked_mean(losses, mask.to("tpu")).cpu(), expected)


def test_masked_mean():
    values = torch.tensor([[1.0, 2.0, float("nan")], [3.0, float("inf"), float("nan")]])
    mask = torch.tensor([[True, True, False], [True, False, False]])
    assert torch.tpu.masked_mean(values, mask) == 2
    assert torch.tpu.masked_mean(values.to("tpu"), mask.to("tpu")).item() == 2
    assert torch.tpu.masked_mean(torch.ones(3, 2), torch.zeros(3, dtype=torch.bool)) == 0
    assert torch.tpu.masked_mean(torch.arange(6.0).view(3, 2), torch.tensor([False, True, True])) == 3.5
    with pytest.raises(ValueError, match=r"leading sizes of \(3, 2\), got \(2,\)"):
        torch.tpu.masked_mean(torch.ones(3, 2), torch.ones(2, dtype=torch.bool))


def test_collate_of_dictionaries_tuples_and_tensors():
    buckets = torch.tpu.bucketing(sizes=[4], pad_value={"ids": 7, "labels": -100}, batch_size=3)
    samples = [{"ids": torch.arange(n), "labels": torch.arange(n), "class": n} for n in (2, 3)]
    batch = buckets.collate(samples)
    assert batch["ids"].tolist() == [[0, 1, 7, 7], [0, 1, 2, 7], [7, 7, 7, 7]]
    assert batch["labels"].tolist() == [[0, 1, -100, -100], [0, 1, 2, -100], [-100] * 4]
    assert batch["class"].tolist() == [2, 3, 0]
    assert batch["attention_mask"].int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    given = [{**sample, "attention_mask": torch.ones(len(sample["ids"]), dtype=torch.long)} for sample in samples]
    mask = buckets.collate(given)["attention_mask"]
    assert mask.dtype == torch.long and mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]]

    buckets = torch.tpu.bucketing(sizes=[4], pad_value=(0, -100))
    x, y, mask = buckets.collate([(torch.ones(2, 5), torch.ones(2)), (torch.ones(3, 5), torch.ones(3))])
    assert x.shape == (2, 4, 5) and x.sum() == 25
    assert y.tolist() == [[1, 1, -100, -100], [1, 1, 1, -100]] and mask.sum() == 5

    rows = torch.tpu.bucketing(dim=0, sizes=[4])
    loader = DataLoader(torch.arange(6.0), batch_size=4, collate_fn=rows.collate)
    (full, all_real), (tail, mask) = loader
    assert full.tolist() == [0, 1, 2, 3] and all_real.all()
    assert tail.tolist() == [4, 5, 0, 0] and mask.tolist() == [True, True, False, False]


def test_mistakes_are_explained():
    for options, message in [
        ({"dim": -1}, "dim counts from the front"),
        ({"sizes": "pow3"}, "expected 'pow2' or a list of sizes, got 'pow3'"),
        ({"sizes": []}, "sizes above zero"),
        ({"too_long": "cut"}, "expected 'error' or 'keep'"),
        ({"dim": 0, "batch_size": 3}, "batch_size is for dim above 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            torch.tpu.bucketing(**options)
    buckets = torch.tpu.bucketing(dim=1, sizes=[4])
    with pytest.raises(IndexError, match=r"a dimension 1, got \(3,\)"):
        buckets.pad(torch.ones(3))
    with pytest.raises(ValueError, match=r"pad_value 0.5 does not fit into a tensor of torch.int64"):
        buckets.pad(torch.ones(3, 3, dtype=torch.long), pad_value=0.5)
    with pytest.raises(ValueError, match=r"pad_value -100 does not fit into a tensor of torch.bool"):
        buckets.pad(torch.ones(3, 3, dtype=torch.bool), pad_value=-100)
    with pytest.raises(ValueError, match="does not have the padded dimension any more"):
        buckets.unpad(torch.ones(3, 2), 3)
    with pytest.raises(ValueError, match="no tensor of a sample"):
        torch.tpu.bucketing(dim=2, sizes=[4]).collate([(torch.ones(3), 1)])
    with pytest.raises(TypeError, match="got int"):
        buckets.collate([1, 2])


def test_where_padding_is_not_harmless_is_said():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.LSTM(3, 3, bidirectional=True), nn.LayerNorm(3))
    rows, sequences = torch.tpu.bucketing(dim=0, sizes=[4]), torch.tpu.bucketing(dim=1)
    with pytest.warns(UserWarning, match=r"dimension 0 is not harmless: 1 \(BatchNorm1d\): its mean and variance"):
        assert len(rows.check(model)) == 1
    with pytest.warns(UserWarning, match="padding dimension 1 is not harmless") as warned:
        assert len(sequences.check(model)) == len(warned) == 2
    assert "reads from the end" in str(warned[1].message)
    assert rows.check(model.eval()) == []
    assert sequences.check(Gpt()) == []


# ---- training


def batches(steps):
    """(ids, labels) of 32 lengths, each tenth batch smaller, on the CPU."""
    generator = torch.Generator().manual_seed(1)
    order = torch.randperm(steps, generator=generator).tolist()
    for step in range(steps):
        rows = BATCH - 1 if step % 10 == 9 else BATCH
        words = torch.randint(WORDS, (rows, LENGTHS[order[step] % 32] + 1), generator=generator)
        yield words[:, :-1], words[:, 1:]


def train(device, steps, dropout, prepare, every=1):
    """The losses, read `every` so many steps."""
    torch.manual_seed(0)
    model = Gpt(words=WORDS, length=128, width=16, heads=2)
    for block in model.blocks:
        block.mlp.append(nn.Dropout(dropout))
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    losses = []
    for step, (x, y) in enumerate(batches(steps)):
        x, y = prepare(x, y)
        scores = model(x.to(device)) / (1 + step * 1e-4)  # a number that changes every step
        loss = F.cross_entropy(scores.flatten(0, 1), y.to(device).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % every == 0:
            losses.append(loss.item())
    return losses


def padded(batch_size):
    """Pads a batch to its bucket, and to the full number of samples when `batch_size` is given."""
    buckets = torch.tpu.bucketing(min=32, max=128, pad_value=(0, -100), batch_size=batch_size)

    def prepare(x, y):
        x, y, _ = buckets.collate(list(zip(x, y, strict=True)))
        return x, y

    return prepare


def test_losses_are_those_without_padding():
    steps = 64  # every length twice
    expected = train("cpu", steps, 0.0, lambda x, y: (x, y))
    got = train("tpu", steps, 0.0, padded(BATCH))
    torch.testing.assert_close(torch.tensor(got), torch.tensor(expected), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("mode", [pytest.param("fused", marks=pytest.mark.slow), "auto"], indirect=True)
@pytest.mark.parametrize(("batch_size", "batch_sizes"), [(BATCH, 1), (None, 2)])
def test_a_run_of_many_lengths_takes_a_few_programs(mode, batch_size, batch_sizes):
    """Every program of 200 steps counts, compiled or from disk: for each shape one of forward and backward, and up to
    three besides (the optimizer's step is one)."""
    torch.tpu.clear_cache()
    before = len(torch.tpu.compile_report())
    train("tpu", 200, 0.1, padded(batch_size))
    torch.tpu.synchronize()
    made = torch.tpu.compile_report()[before:]
    assert len(made) <= BUCKETS * batch_sizes + 3, [(each.cause, each.ops, each.name) for each in made]


def test_learning_rate_seed_and_step_compile_nothing():
    prepare = padded(BATCH)
    with torch.tpu.mode("fused"):
        train("tpu", 64, 0.1, prepare)
        with torch.tpu.fail_on_recompile():
            torch.manual_seed(5)
            assert len(train("tpu", 64, 0.1, prepare)) == 64
