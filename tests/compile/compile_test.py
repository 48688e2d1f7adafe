"""torch.compile on `tpu`, and that it stays as it was on the CPU."""

import concurrent.futures
import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()


def programs():
    return torch.tpu.compile_stats()["programs"]


def close(got, expected, tolerance=1e-5):
    torch.testing.assert_close(got.detach().cpu(), expected.detach().cpu(), rtol=tolerance, atol=tolerance)


def both(function, *shapes, compiled=None, tolerance=1e-5, calls=1):
    """The compiled function on `tpu` against the function on the CPU."""
    compiled = compiled or torch.compile(function, fullgraph=True)
    for _ in range(calls):
        inputs = [torch.randn(*shape) for shape in shapes]
        close(compiled(*(x.to("tpu") for x in inputs)), function(*inputs), tolerance)


def test_one_graph_is_one_program_and_compiles_once():
    begin = programs()
    both(lambda x, y: (x @ y).relu().sum(0), (4, 5), (5, 6), calls=3)
    assert programs() == begin + 1


def test_backend_by_name():
    compiled = torch.compile(lambda x: x.exp() + 1, backend="tpu")
    both(lambda x: x.exp() + 1, (3,), compiled=compiled)


def test_cpu_programs_keep_inductor_with_mode_and_options():
    begin = torch.tpu.compile_stats()["graphs"]
    for kwargs in ({}, {"mode": "reduce-overhead"}, {"options": {"max_fusion_size": 32}}):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        x = torch.randn(5)
        close(torch.compile(lambda x: x.sin() + x.cos(), **kwargs)(x), x.sin() + x.cos())
        assert torch._dynamo.utils.counters["inductor"]
    assert torch.tpu.compile_stats()["graphs"] == begin
    both(lambda x: x.sin() + x.cos(), (5,))  # in the same process
    assert torch.tpu.compile_stats()["graphs"] == begin + 1


def test_numbers_that_python_hashes_alike_are_not_the_same():
    from torch_tpu.compiler import _exact

    keys = [_exact(value) for value in (-1, -2, 1, 1.0, True, 0.0, -0.0, None)]
    assert len(set(keys)) == len(keys)
    generator = torch.Generator()
    assert _exact(generator) == _exact(generator) != _exact(torch.Generator())


def test_threads_share_a_compiled_function():
    compiled = torch.compile(lambda x: (x * 2).relu(), fullgraph=True)
    x = torch.randn(4, device="tpu")
    compiled(x)
    inputs = [torch.randn(n, 3) for n in (2, 3, 2, 3)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for given, got in zip(inputs, pool.map(lambda t: compiled(t.to("tpu")), inputs), strict=True):
            close(got, (given * 2).relu())


@pytest.mark.parametrize("dynamic", [None, True, False])
def test_dynamic_sizes(dynamic):
    function = lambda x: (x * x.shape[0]).softmax(-1).view(-1)  # noqa: E731
    compiled = torch.compile(function, dynamic=dynamic)
    for n in (3, 4, 5, 4, 3):
        both(function, (n, 7), compiled=compiled)


def test_views_stay_aliases():
    def views(x):
        y = x.t()
        return y, y[1:], x + 1

    x = torch.randn(4, 5, device="tpu")
    y, z, _ = torch.compile(views)(x)
    y.add_(1)
    close(z, y[1:])
    close(x.t(), y)


def test_inputs_are_written():
    def step(x, y):
        x.add_(y)
        x[1:].mul_(2)
        return x * y

    x, y = torch.randn(4, 5), torch.randn(4, 5)
    on_tpu = x.to("tpu"), y.to("tpu")
    compiled = torch.compile(step)
    for _ in range(3):
        close(compiled(*on_tpu), step(x, y))
        close(on_tpu[0], x)


def test_a_written_input_gives_its_memory():
    def step(x):
        x.mul_(2)

    x = torch.ones(2**18, device="tpu")
    compiled = torch.compile(step)
    compiled(x)
    torch.tpu.synchronize()
    torch.tpu.reset_peak_memory_stats()
    live = torch.tpu.memory_allocated()
    compiled(x)
    torch.tpu.synchronize()
    assert torch.tpu.max_memory_allocated() <= live + 2**20
    assert x[0].item() == 4


def test_inputs_that_share_memory():
    def step(x, y):
        x.add_(1)
        return x + y

    base, same = torch.zeros(6), torch.zeros(6, device="tpu")
    compiled = torch.compile(step)
    for _ in range(2):
        close(compiled(same[:4], same[2:]), step(base[:4], base[2:]))
        close(same, base)


def test_random_numbers_are_those_of_eager_mode():
    function = lambda x: F.dropout(x, 0.5) + torch.rand_like(x)  # noqa: E731
    compiled = torch.compile(function)
    x = torch.ones(100, device="tpu")
    torch.manual_seed(3)
    one, two = compiled(x), compiled(x)
    torch.manual_seed(3)
    close(one, function(x))
    close(two, function(x))
    assert not torch.equal(one.cpu(), two.cpu())


def test_sizes_that_depend_on_data():
    both(lambda x: x[x > 0].sum() * 2, (20,), compiled=torch.compile(lambda x: x[x > 0].sum() * 2), calls=2)
    both(lambda x: x * float(x.sum().item()), (4,), compiled=torch.compile(lambda x: x * float(x.sum().item())))


def test_numbers_on_the_cpu_are_inputs():
    function = torch.compile(lambda x, s: x * s, fullgraph=True)
    x = torch.randn(3)
    begin = programs()
    for scale in (2.0, 3.0):
        close(function(x.to("tpu"), torch.tensor(scale)), x * scale)
    assert programs() == begin + 1


@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.AdamW(p, lr=0.01),
        lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
        lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
        lambda p: torch.optim.AdamW(p, lr=torch.tensor(0.01)),
    ],
    ids=["adamw", "sgd", "adam-fused", "adamw-tensor-lr"],
)
def test_compiled_optimizer_step(make):
    on_cpu = nn.Linear(4, 4)
    on_tpu = copy.deepcopy(on_cpu).to("tpu")
    optimizers = make(on_cpu.parameters()), make(on_tpu.parameters())
    steps = optimizers[0].step, torch.compile(optimizers[1].step)
    for _ in range(3):
        x = torch.randn(5, 4)
        for network, optimizer, step, data in zip((on_cpu, on_tpu), optimizers, steps, (x, x.to("tpu")), strict=True):
            optimizer.zero_grad()
            network(data).pow(2).sum().backward()
            step()
    close(on_tpu.weight, on_cpu.weight, 1e-4)


def test_a_whole_training_step_is_one_graph():
    network = nn.Linear(4, 4)
    moved = copy.deepcopy(network).to("tpu")

    def step(network, x):
        loss = network(x).pow(2).sum()
        loss.backward()
        return loss.detach()

    x = torch.randn(3, 4)
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        close(torch.compile(step, fullgraph=True)(moved, x.to("tpu")), step(network, x))
    close(moved.weight.grad, network.weight.grad)


def test_checkpointing_with_dropout():
    """Forward and recomputation draw the same mask: the gradient is that of the loss that was returned."""
    network = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).to("tpu")
    function = torch.compile(lambda x: checkpoint(network, x, use_reentrant=False).sum())
    x = torch.randn(4, 8, device="tpu", requires_grad=True)
    loss = function(x)
    loss.backward()
    # The network is linear up to the bias, which is dropped with the same mask.
    network[0].weight.grad = None
    bias = (network[0].bias * network[0].bias.grad).sum()
    close((x * x.grad).sum() + bias, loss, 1e-4)


def test_autocast_inside():
    network = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).to("tpu")

    def function(x):
        with torch.autocast("tpu", dtype=torch.bfloat16):
            return network(x)

    x = torch.randn(4, 8, device="tpu")
    out = torch.compile(function, fullgraph=True)(x)
    assert out.dtype == torch.bfloat16
    close(out.float(), function(x).float(), 1e-2)


def test_exported_programs():
    network = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).to("tpu")
    x = torch.randn(4, 8, device="tpu")
    exported = torch.export.export(network, (x,))
    close(exported.module()(x), network(x))
    close(torch.compile(exported.module())(x), network(x))


def test_in_mode_fused():
    function = lambda x: (x * 2).softmax(-1)  # noqa: E731
    with torch.tpu.mode("fused"):
        x = torch.randn(3, 4)
        y = torch.compile(function, fullgraph=True)(x.to("tpu") + 1) * 3
        close(y, function(x + 1) * 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"options": {"nope": 1}}, "unknown options nope"),
        ({"mode": "warp"}, "expected mode to be one of .* got 'warp'"),
    ],
)
def test_unknown_options_are_errors(given, message):
    with pytest.raises(Exception, match=message):
        torch.compile(lambda x: x + 1, backend="tpu", **given)(torch.ones(2, device="tpu"))


def test_an_error_in_a_graph_leaves_the_device_usable():
    with pytest.raises(RuntimeError):
        torch.compile(lambda x, y: x @ y)(torch.ones(2, 3, device="tpu"), torch.ones(2, 3, device="tpu"))
    both(lambda x: x + 1, (2,))
