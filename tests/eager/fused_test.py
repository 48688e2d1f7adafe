"""Mode fused: what is recorded, when it is cut, and that values, errors and random numbers are those of strict mode."""

import threading

import pytest
import torch
from torch import nn
from torch.nn import functional as F


@pytest.fixture(autouse=True)
def fused():
    with torch.tpu.mode("fused"):
        yield


def compiles():
    return torch.tpu.cache_stats()["misses"]


def test_a_chain_is_one_program_and_the_same_chain_none():
    def chain(scale):
        x = torch.arange(5.0, device="tpu")
        y = (x * scale + 1).relu().sum()
        return y.item()

    begin = compiles()
    assert chain(2.0) == 25
    assert compiles() == begin + 1
    assert chain(3.0) == 35  # the number is a run-time argument
    assert compiles() == begin + 1


def test_only_what_somebody_holds_is_an_output():
    x = torch.ones(2**18, device="tpu")
    torch.tpu.synchronize()
    torch.tpu.reset_peak_memory_stats()
    y = ((x + 1) * 2 - 3).exp()
    del x
    torch.tpu.synchronize()
    assert torch.tpu.max_memory_allocated() <= 3 * 2**20  # x, y, and nothing between them
    assert torch.allclose(y.cpu(), torch.full((2**18,), 2.718281828))


def test_an_overwritten_parameter_gives_its_memory():
    p = torch.ones(2**18, device="tpu")
    for _ in range(3):
        p.mul_(2).add_(1)
        torch.tpu.synchronize()
    torch.tpu.reset_peak_memory_stats()
    p.mul_(2).add_(1)
    torch.tpu.synchronize()
    assert torch.tpu.max_memory_allocated() < torch.tpu.memory_allocated() + 2**20 + 4096
    assert p[0].item() == 31


def test_views_and_writes_through_them():
    x = torch.zeros(4, 6, device="tpu")
    x[1:3, ::2] = 1
    x.t()[0].add_(torch.arange(4.0, device="tpu"))
    y = x.reshape(2, 12)[:, 3:].transpose(0, 1)
    expected = torch.zeros(4, 6)
    expected[1:3, ::2] = 1
    expected.t()[0].add_(torch.arange(4.0))
    assert torch.equal(x.cpu(), expected)
    assert torch.equal(y.cpu(), expected.reshape(2, 12)[:, 3:].transpose(0, 1))


def test_random_numbers_are_those_of_strict_mode():
    def draw():
        torch.tpu.manual_seed(7)
        a = torch.rand(1000, device="tpu")
        b = F.dropout(torch.ones(1000, device="tpu"), 0.3)
        torch.rand(5, device="tpu")  # nobody holds it, but the stream goes on
        c = torch.randn(33, device="tpu")
        return [t.cpu() for t in (a, b, c)]

    fused = draw()
    with torch.tpu.mode("strict"):
        strict = draw()
    for one, other in zip(fused, strict, strict=True):
        assert torch.equal(one, other)


def test_a_loop_with_an_optimizer_compiles_no_more_after_its_second_step():
    net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.Tanh(), nn.Linear(16, 4)).to("tpu")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    x, target = torch.randn(32, 8).to("tpu"), torch.randint(4, (32,)).to("tpu")
    counts = []
    for _ in range(6):
        optimizer.zero_grad()
        F.cross_entropy(net(x), target).backward()
        optimizer.step()
        schedule.step()
        counts.append(compiles())
    assert counts[2:] == [counts[2]] * 4


def test_the_op_at_fault_fails_alone_and_is_named():
    x, p = torch.arange(4.0, device="tpu"), torch.ones(4, device="tpu")
    wrong = torch.tensor([0, 9], device="tpu")
    p.mul_(3)
    bad = x[wrong]
    after_bad = bad + 1
    p.index_put_((wrong,), torch.tensor(5.0, device="tpu"))
    good = x * 2
    with pytest.raises(IndexError, match=r"index 9 is out of bounds.*\n.*recorded at .*fused_test.py:\d+"):
        good.tolist()
    assert good.tolist() == [0, 2, 4, 6]
    assert p.tolist() == [3, 3, 3, 3]  # what strict mode would have left
    assert x.tolist() == [0, 1, 2, 3]
    for failed in (bad, after_bad):
        with pytest.raises(IndexError):
            failed.tolist()
    with pytest.raises(IndexError):
        failed + 1
    torch.tpu.synchronize()


def test_an_error_whose_result_nobody_holds_is_raised_all_the_same():
    torch.arange(4.0, device="tpu")[torch.tensor([7], device="tpu")]
    with pytest.raises(IndexError):
        torch.tpu.synchronize()
    torch.tpu.synchronize()


def test_leaving_the_mode_runs_what_was_recorded():
    x = torch.ones(3, device="tpu") + 1
    with torch.tpu.mode("strict"):
        begin = compiles()
        assert x.tolist() == [2, 2, 2]
        assert compiles() == begin


def test_an_unknown_mode_is_an_error():
    with pytest.raises(ValueError, match="expected auto, fused, strict or debug, got 'lazy'"):
        torch.tpu.set_mode("lazy")
    assert torch.tpu.set_mode("fused") == "fused"


def test_the_environment_chooses(python):
    code = "import torch; print(torch.tpu.set_mode('strict'))"
    assert python(code, TORCH_TPU_MODE="fused")[0] == "fused"


def test_a_long_recording_is_cut(python):
    code = """
        import torch
        x = torch.zeros(4, device="tpu")
        for _ in range(25):
            x = x + 1
        assert x.tolist() == [25.0] * 4
        print(torch.tpu.cache_stats()["misses"])
    """
    assert int(python(code, TORCH_TPU_MODE="fused", TORCH_TPU_SEGMENT_OPS="10")[0]) in (2, 3)


def test_threads_share_one_recording():
    base = torch.arange(100.0, device="tpu")
    results = [None] * 4

    def work(number):
        total = base * number
        for _ in range(20):
            total = total + base
            if number == 0:
                total.sum().item()
        results[number] = total

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, total in enumerate(results):
        assert torch.equal(total.cpu(), torch.arange(100.0) * (20 + number))


def test_data_dependent_sizes_are_host_reads():
    x = torch.tensor([0.0, 3.0, 0.0, 5.0], device="tpu") * 2
    assert x.nonzero().tolist() == [[1], [3]]
    assert x[x > 7].tolist() == [10]
