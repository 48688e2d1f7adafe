"""Tensors that leave and come back: torch.save and load, pickle, copies, `.to` of modules, exact resume of training."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.bool, torch.int64, torch.uint8, torch.complex64]


def saved(thing, **options):
    file = io.BytesIO()
    torch.save(thing, file, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("location", "device"),
    [
        (None, "tpu:0"),
        ("cpu", "cpu"),
        ("tpu", "tpu:0"),
        (torch.device("tpu:0"), "tpu:0"),
        ({"tpu:0": "cpu"}, "cpu"),
        (lambda storage, location: storage, "cpu"),
        (lambda storage, location: storage.tpu() if location == "tpu:0" else storage, "tpu:0"),
    ],
    ids=["none", "cpu", "tpu", "device", "map", "function to cpu", "function to tpu"],
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_map_location_of_tpu_tensors(location, device, dtype):
    x = torch.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype)
    file = saved({"x": x.to("tpu"), "t": x.to("tpu").t(), "n": 3})
    y = torch.load(file, map_location=location)["x"]
    assert str(y.device) == device and torch.equal(y.cpu(), x)


def test_map_location_of_cpu_tensors():
    x = torch.arange(4.0)
    for location in ("tpu", {"cpu": "tpu"}, lambda storage, location: storage.tpu()):
        assert torch.equal(torch.load(saved(x), map_location=location), x.to("tpu"))


def test_views_share_after_loading():
    x = torch.arange(6.0, device="tpu")
    y, z = torch.load(saved((x, x[2:])))
    y.add_(1)
    assert z.tolist() == [3, 4, 5, 6] and z.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


def test_older_format_and_mmap(tmp_path):
    x = torch.arange(4.0, device="tpu")
    assert torch.equal(torch.load(saved(x, _use_new_zipfile_serialization=False)), x)
    torch.save(x, tmp_path / "x.pt")
    torch.save(x.cpu(), tmp_path / "cpu.pt")
    assert torch.equal(torch.load(tmp_path / "x.pt", map_location="cpu", mmap=True), x.cpu())
    assert torch.equal(torch.load(tmp_path / "cpu.pt", map_location="tpu", mmap=True), x)


def test_a_device_that_does_not_exist(python, tmp_path):
    file = tmp_path / "x.pt"
    python(f"import torch; torch.save(torch.ones(2, device='tpu:1'), {str(file)!r})", TORCH_TPU_CPU_DEVICES="2")
    with pytest.raises(RuntimeError, match="tpu:1|map_location|device"):
        torch.load(file)
    assert torch.load(file, map_location="tpu").tolist() == torch.load(file, map_location="cpu").tolist() == [1, 1]


def test_pickle_and_copies_of_tensors():
    x = torch.arange(6.0, device="tpu").view(2, 3)
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x), x.clone()):
        assert made.is_tpu and torch.equal(made, x)
    parameter = nn.Parameter(x.t())
    made = copy.deepcopy(parameter)
    assert isinstance(made, nn.Parameter) and made.stride() == (1, 3) and made.data_ptr() != parameter.data_ptr()
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(parameter * 2)
    first, view = copy.deepcopy((x, x[1]))
    first.zero_()
    assert view.tolist() == [0, 0, 0] and x[1].tolist() == [3, 4, 5]
    assert copy.deepcopy(x.untyped_storage()).device == x.device


def test_generators_are_pickled_with_their_state():
    generator = torch.Generator("tpu").manual_seed(5)
    torch.rand(3, device="tpu", generator=generator)
    other = pickle.loads(pickle.dumps(generator))
    assert torch.equal(other.get_state(), generator.get_state()) and other.device == generator.device


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(7, 3), nn.Linear(3, 7, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))


def test_tied_weights_stay_tied():
    net = Tied()
    weight = net.head.weight
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    for move in (
        lambda: net.to("tpu"),
        lambda: net.to("tpu", non_blocking=True),
        lambda: net.cpu(),
        lambda: net.tpu(),
        lambda: net.to("tpu", torch.bfloat16),
        lambda: net.float(),
    ):
        move()
        assert net.head.weight is net.embedding.weight is weight
    assert weight.is_tpu and net.count.is_tpu and net.count.dtype == torch.int64
    net.head(torch.ones(1, 3, device="tpu")).sum().backward()
    optimizer.step()  # made before the module moved
    assert net.embedding.weight.data_ptr() == net.head.weight.data_ptr()
    loaded = pickle.loads(pickle.dumps(net))
    assert loaded.head.weight is loaded.embedding.weight and loaded.head.weight.is_tpu
    assert copy.deepcopy(net).head.weight.is_tpu


def test_modules_made_without_memory():
    with torch.device("meta"):
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    assert all(parameter.is_meta for parameter in net.parameters())
    with pytest.raises(NotImplementedError, match="to_empty"):
        net.to("tpu")
    net = net.to_empty(device="tpu")
    for layer in net:
        layer.reset_parameters()
    assert all(each.is_tpu for each in net.state_dict().values())
    with torch.device("meta"):
        other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    other.load_state_dict({name: each.cpu().to("tpu") for name, each in net.state_dict().items()}, assign=True)
    x = torch.rand(5, 3, device="tpu")
    assert torch.equal(net(x), other(x))


def test_default_device():
    torch.set_default_device("tpu")
    try:
        assert torch.get_default_device() == torch.device("tpu:0")
        made = [torch.ones(2), torch.tensor([1]), torch.arange(3), torch.randn(2), torch.empty(1), torch.full((2,), 1)]
        assert all(x.is_tpu for x in [*made, *nn.LSTM(2, 2).parameters()])
        assert torch.ones(1, device="cpu").device.type == "cpu"
    finally:
        torch.set_default_device(None)
    assert torch.ones(1).device.type == "cpu"


def a_step(net, optimizer, x):
    optimizer.zero_grad()
    loss = nn.functional.dropout(net(x), 0.3).pow(2).mean() + torch.rand((), device="tpu")
    loss.backward()
    optimizer.step()
    return loss.item()


@pytest.mark.parametrize("mode", ["strict", "fused"])
def test_training_resumes_exactly(mode):
    with torch.tpu.mode(mode):
        train_and_resume()


def train_and_resume():
    def start():
        net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 4)).to("tpu")
        return net, torch.optim.AdamW(net.parameters(), lr=0.01)

    torch.manual_seed(3)
    net, optimizer = start()
    x = torch.rand(6, 8, device="tpu")
    for _ in range(3):
        a_step(net, optimizer, x)
    file = saved(
        {
            "net": net.state_dict(),
            "optimizer": optimizer.state_dict(),
            "random": torch.tpu.get_rng_state_all(),
            "cpu random": torch.get_rng_state(),
        }
    )
    expected = [a_step(net, optimizer, x) for _ in range(4)]
    torch.manual_seed(99)
    other, other_optimizer = start()
    checkpoint = torch.load(file)
    assert [len(state) for state in checkpoint["random"]] == [16] * torch.tpu.device_count()
    other.load_state_dict(checkpoint["net"])
    other_optimizer.load_state_dict(checkpoint["optimizer"])
    torch.tpu.set_rng_state_all(checkpoint["random"])
    assert [a_step(other, other_optimizer, x) for _ in range(4)] == expected


def test_fork_rng_leaves_no_trace():
    torch.tpu.manual_seed(4)
    state, cpu_state = torch.tpu.get_rng_state(), torch.get_rng_state()
    with torch.random.fork_rng(device_type="tpu"):
        torch.manual_seed(0)
        torch.rand(10, device="tpu")
    assert torch.equal(torch.tpu.get_rng_state(), state) and torch.equal(torch.get_rng_state(), cpu_state)
    with torch.random.fork_rng(devices=["tpu:0"], device_type="tpu"):
        torch.rand(1, device="tpu")
    assert torch.equal(torch.tpu.get_rng_state(0), state)
