"""The product on one page: if this passes, PyTorch programs run on device `tpu`."""

import copy
import io
import subprocess
import sys

import pytest
import torch

pytestmark = pytest.mark.second_plugin


def test_first_words():
    x = torch.randn(2, 2, device="tpu")
    y = torch.randn(2, 2, device="tpu")
    z = x @ y
    assert z.device == torch.device("tpu", 0) and z.is_tpu
    torch.testing.assert_close(z.cpu(), x.cpu() @ y.cpu())
    assert "device='tpu:0'" in repr(z)


def test_autoload_needs_no_import():
    code = "import torch; print((torch.ones(2, device='tpu') + 1).sum().item())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (run.stdout, run.stderr, run.returncode) == ("4.0\n", "", 0)


def test_numbers_are_run_time_arguments():
    x = torch.arange(6.0).view(2, 3).to("tpu")
    (x * 2.5).cpu()  # the program exists from here on
    before = torch.tpu.cache_stats()["misses"]
    for factor in (3.5, 4.5, -7.25):
        torch.testing.assert_close((x * factor).cpu(), x.cpu() * factor)
    assert torch.tpu.cache_stats()["misses"] == before


def test_views_share_and_write_through():
    x = torch.zeros(4, 5, device="tpu")
    x[1:3, ::2] = 7
    x.t()[4].add_(1)
    x.view(-1)[0] = -1
    expected = torch.zeros(4, 5)
    expected[1:3, ::2] = 7
    expected.t()[4].add_(1)
    expected.view(-1)[0] = -1
    torch.testing.assert_close(x.cpu(), expected)


def test_a_hundred_offsets_take_two_programs():
    x = torch.arange(400.0, device="tpu").view(100, 4)
    before = torch.tpu.cache_stats()["misses"]
    for i in range(100):
        x[i] += 1
    assert torch.tpu.cache_stats()["misses"] - before <= 4  # two that read and add, two that write
    torch.testing.assert_close(x.cpu(), torch.arange(400.0).view(100, 4) + 1)


def test_autograd():
    w = torch.randn(3, 4, device="tpu", requires_grad=True)
    x = torch.randn(5, 3, device="tpu")
    (torch.relu(x @ w) ** 2).mean().backward()
    host = w.detach().cpu().requires_grad_()
    (torch.relu(x.cpu() @ host) ** 2).mean().backward()
    torch.testing.assert_close(w.grad.cpu(), host.grad)


def test_training_agrees_with_cpu():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    x, target = torch.randn(32, 8), torch.randint(3, (32,))
    losses = {}
    for device in ("cpu", "tpu"):
        net = copy.deepcopy(model).to(device)
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
        losses[device] = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x.to(device)), target.to(device))
            loss.backward()
            optimizer.step()
            losses[device].append(loss.item())
    assert losses["tpu"] == pytest.approx(losses["cpu"], rel=1e-4)
    assert losses["tpu"][-1] < 0.8 * losses["tpu"][0]


def test_save_and_load():
    state = {"w": torch.randn(3, 3, device="tpu"), "mask": torch.tensor([True, False], device="tpu")}
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["w"].is_tpu
    torch.testing.assert_close(loaded["w"].cpu(), state["w"].cpu())
    file.seek(0)
    assert torch.load(file, map_location="cpu")["mask"].tolist() == [True, False]


def test_every_op_works():
    x = torch.randn(4, 4, device="tpu")
    torch.testing.assert_close(torch.linalg.svdvals(x).cpu(), torch.linalg.svdvals(x.cpu()))
    assert any("svd" in op.name for op in torch.tpu.host_ops())


def test_bad_input_is_an_error_and_life_goes_on():
    x = torch.ones(2, 3, device="tpu")
    with pytest.raises(RuntimeError, match="size of tensor a"):
        x + torch.ones(4, device="tpu")
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(2, 3)
    with pytest.raises(IndexError):
        x[torch.tensor([5], device="tpu")].cpu()
    assert x.sum().item() == 6
