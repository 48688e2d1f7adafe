"""Two devices in one process: what is on `tpu:1` stays there, and what is on two devices does not mix by accident."""

import textwrap

import pytest

TWO = {"TORCH_TPU_CPU_DEVICES": "2"}
PREAMBLE = """
import torch
one, zero = torch.device("tpu:1"), torch.device("tpu:0")

def fails(kind, part, function):
    try:
        function()
    except kind as error:
        assert part in str(error), str(error)
    else:
        raise AssertionError("no error")
"""

PROGRAMS = {
    "factories": """
        for x in (torch.ones(3, device=one), torch.empty(2, 2, device="tpu:1"), torch.tensor([1, 2], device=one),
                  torch.arange(5, device=one), torch.full((2,), 7, device=one), torch.rand(4, device=one),
                  torch.randperm(4, device=one), torch.eye(2, device=one), torch.zeros(0, device=one)):
            assert x.device == one, x
            assert torch.ones_like(x).device == torch.rand_like(x, dtype=torch.float).device == one
            assert x.new_zeros(2).device == one
        assert torch.ones(1, device="tpu").device == zero
        with torch.tpu.device(1):
            assert torch.ones(1, device="tpu").device == one
            assert torch.ones(1, device=zero).device == zero
        with one:
            assert torch.ones(1).device == one
    """,
    "ops": """
        x = torch.arange(12.0, device=one).view(3, 4)
        results = [x + 1, x @ x.t(), x.sum(), x.t().contiguous(), x[1:, ::2] * 2, x.sort()[1], torch.cat([x, x]),
                   torch.where(x > 3, x, 0), x[torch.tensor([0, 2], device=one)], x[[0, 1]], x.nonzero(), x.bfloat16(),
                   torch.linalg.inv(x[:, :3] + torch.eye(3, device=one)), torch.nn.functional.dropout(x)]
        assert all(y.device == one for y in results), [y.device for y in results]
        x[0] = 9
        x.mul_(2)
        out = torch.empty(3, 4, device=one)
        assert torch.add(x, x, out=out) is out and out.device == one
        assert out.tolist() == [[36] * 4, [16, 20, 24, 28], [32, 36, 40, 44]]
        assert torch.tpu.memory_allocated(1) > 0
    """,
    "copies": """
        host = torch.arange(6.0)
        x = host.to(one)
        assert x.device == one and x.to(one) is x
        y = x.to(zero)
        assert y.device == zero and torch.equal(y.cpu(), host)
        assert x.to("tpu").device == zero  # the current device
        assert x.tpu().device == zero and host.tpu(1).device == one
        y += 1
        x.copy_(y)
        assert x.device == one and torch.equal(x.cpu(), host + 1)
        y.view(2, 3).t().copy_(x.view(3, 2))
        assert torch.equal(y.cpu().view(2, 3).t(), x.cpu().view(3, 2))
        x[::2].copy_(torch.zeros(3, device=zero))
        assert x.tolist() == [0, 2, 0, 4, 0, 6]
        z = torch.empty(2, 3, dtype=torch.int32, device=zero).copy_(x.view(2, 3), non_blocking=True)
        assert z.tolist() == [[0, 2, 0], [4, 0, 6]]
        assert x.clone().device == one and torch.empty(3, device=one).to(zero).device == zero
    """,
    "autograd": """
        torch.manual_seed(0)
        w = torch.randn(4, 3, device=one, requires_grad=True)
        x = torch.randn(5, 4)
        seen = []
        w.register_hook(lambda g: seen.append((g.device, torch.tpu.current_device())))
        (torch.tanh(x.to(one) @ w) ** 2).sum().backward()
        assert w.grad.device == one and seen == [(one, 1)]
        v = w.detach().cpu().requires_grad_()
        (torch.tanh(x @ v) ** 2).sum().backward()
        torch.testing.assert_close(w.grad.cpu(), v.grad)
        a = torch.ones(3, device=zero, requires_grad=True)
        ((a * 2).to(one) * 5).sum().backward()  # forward and backward cross devices
        assert a.grad.device == zero and a.grad.tolist() == [10.0] * 3
        net = torch.nn.Linear(2, 2).to(one)
        optimizer = torch.optim.AdamW(net.parameters())
        net(torch.ones(1, 2, device=one)).sum().backward()
        optimizer.step()
        assert all(p.device == one for p in net.parameters())
        assert torch.tpu.current_device() == 0
    """,
    "random streams": """
        torch.manual_seed(3)
        a, b = torch.rand(8, device=zero), torch.rand(8, device=one)
        torch.tpu.set_rng_state(torch.tpu.get_rng_state(zero), one)
        c, d = torch.rand(8, device=zero).cpu(), torch.rand(8, device=one).cpu()
        assert torch.equal(c, d)
        g = torch.Generator(device=one)
        g.manual_seed(5)
        x = torch.rand(4, device=one, generator=g)
        assert torch.equal(x, torch.rand(4, device=one, generator=g.manual_seed(5)))
        fails(RuntimeError, "tpu", lambda: torch.rand(4, device=zero, generator=g))
    """,
    "save and load": """
        import io
        file = io.BytesIO()
        torch.save(torch.arange(3, device=one), file)
        for where, device in ((None, one), ("tpu:0", zero), ({"tpu:1": "tpu:0"}, zero), ("cpu", torch.device("cpu")),
                              (lambda storage, place: storage.tpu(0) if place == "tpu:1" else storage, zero)):
            file.seek(0)
            x = torch.load(file, map_location=where)
            assert x.device == device and x.tolist() == [0, 1, 2], (where, x)
    """,
    "a device that does not exist": """
        host = torch.ones(2)
        for use in (lambda: torch.ones(2, device="tpu:7"), lambda: torch.empty(2, device="tpu:7"),
                    lambda: host.to("tpu:7"), lambda: host.tpu(7), lambda: torch.ones(2, device=one).to("tpu:7"),
                    lambda: torch.rand(1, device="tpu:2"),
                    lambda: torch.tensor([1], device="tpu:2"), lambda: torch.tpu.memory_allocated(7),
                    lambda: torch.arange(3, device="tpu:7")):
            fails(RuntimeError, "does not exist", use)
        assert torch.ones(2, device=one).sum().item() == 2
    """,
    "mixed devices": """
        x, y = torch.ones(3, device=zero), torch.ones(3, device=one)
        index, mask = torch.tensor([0], device=one), torch.ones(3, dtype=torch.bool, device=one)
        for use in (lambda: x + y, lambda: x @ y, lambda: torch.cat([x, y]), lambda: x.add_(y),
                    lambda: torch.where(mask, x, x), lambda: x.lerp_(x, y), lambda: x.index_select(0, index),
                    lambda: torch.add(x, x, out=y), lambda: torch.dot(x, y),
                    lambda: torch.nn.functional.linear(x.view(1, 3), y.view(1, 3)), lambda: x.gather(0, index),
                    lambda: torch.linalg.lstsq(x.view(3, 1), y.view(3, 1)), lambda: torch.stack([x, y])):
            fails(RuntimeError, "same device", use)
        assert (x + y.to(zero)).tolist() == [2.0] * 3
        scalar = torch.tensor(2.0, device=one)
        assert (x * torch.tensor(2.0)).device == zero
        fails(RuntimeError, "same device", lambda: x * scalar)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_devices(python, name):
    python(PREAMBLE + textwrap.dedent(PROGRAMS[name]), **TWO)
