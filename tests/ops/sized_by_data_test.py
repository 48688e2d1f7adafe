"""Ops whose results are as large as the data say, histograms, and segments, as programs: here the host may not help."""

import pytest
import torch
from oracle import assert_same

T = torch.tensor
INF, NAN = float("inf"), float("nan")
pytestmark = pytest.mark.usefixtures("no_host_ops")

# ------------------------------------------------------------------------------------------------ positions and masks

MASKS = {
    "list": T([0, 1, 1, 0, 1, 0]),
    "matrix": torch.arange(24).remainder(5).eq(0).reshape(4, 6),
    "cube": torch.arange(24).remainder(5).reshape(2, 3, 4).float(),
    "transposed": torch.arange(24).remainder(5).reshape(4, 6).t(),
    "nothing true": torch.zeros(3, 4, dtype=torch.bool),
    "all true": torch.ones(3, 4),
    "NaN and -0": T([NAN, -0.0, 0.0, 1.0]),
    "complex": T([1j, 0, 2 + 0j]),
    "number": T(3),
    "zero": T(0.0),
    "empty": torch.ones(0, 3),
}


@pytest.mark.parametrize("name", MASKS)
def test_nonzero(name):
    assert_same(torch.nonzero, MASKS[name])
    assert_same(lambda x: x.nonzero(as_tuple=True), MASKS[name])
    if not MASKS[name].is_complex():
        for size in (0, 2, 40):
            assert_same(lambda x, size=size: torch.nonzero_static(x, size=size, fill_value=-7), MASKS[name])


def test_nonzero_out():
    def function(x, out):
        return torch.nonzero(x, out=out), out

    assert_same(function, MASKS["matrix"], torch.empty(0, dtype=torch.long))
    assert_same(function, MASKS["matrix"], torch.empty(0), message=False)

    def static(x, out):
        return torch.ops.aten.nonzero_static.out(x, size=3, fill_value=-1, out=out)

    assert_same(static, MASKS["matrix"], torch.empty(0, dtype=torch.long))


def test_masked_select():
    x = torch.arange(24.0).reshape(4, 6)
    assert_same(torch.masked_select, x, MASKS["matrix"])
    assert_same(torch.masked_select, x, MASKS["matrix"][:, :1])
    assert_same(torch.masked_select, x[0], MASKS["matrix"])
    assert_same(torch.masked_select, x.t(), MASKS["matrix"].t())
    assert_same(torch.masked_select, x, x > 99)
    assert_same(torch.masked_select, T(3.0), T(True))
    assert_same(torch.masked_select, x, x.int(), message=False)
    assert_same(lambda x, m, out: torch.masked_select(x, m, out=out), x, MASKS["matrix"], torch.empty(0))


def test_gradient_of_masked_select():
    def function(x, mask):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(torch.masked_select(x, mask).square().sum(), x)

    assert_same(function, torch.randn(4, 6), MASKS["matrix"])


def test_masks_as_indices():
    def function(x, mask):
        y = x.clone()
        y[mask] = 0
        return y, x[mask], x[mask[:, 0]]

    x = torch.arange(24.0).reshape(4, 6)
    assert_same(function, x, MASKS["matrix"])


def test_equal():
    x = torch.arange(6.0)
    for y in (x.clone(), x + 1, x[:3], T([0, 1, 2, 3, 4, NAN])):
        assert_same(torch.equal, x, y)
    assert_same(torch.equal, T([NAN]), T([NAN]))
    assert_same(torch.equal, x, x.int(), message=False)
    assert_same(torch.equal, torch.ones(0), torch.ones(0))


# ------------------------------------------------------------------------------------------------- distinct elements

LISTS = {
    "int64": T([3, 1, 3, 3, 2, 2, 1]),
    "float32": T([2.5, -1.0, 2.5, -0.0, 0.0, INF]),
    "bool": T([True, False, True]),
    "uint8": T([7, 7, 200, 1], dtype=torch.uint8),
    "matrix": T([[1, 2, 1], [2, 2, 9]]),
    "one": T([4]),
    "number": T(4),
    "empty": torch.ones(0),
    "NaN": T([NAN, 1.0, NAN]),
    "many": torch.arange(3000).mul(7919).remainder(613),
}
WANTED = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize(("inverse", "counts"), WANTED)
@pytest.mark.parametrize("name", LISTS)
def test_unique(name, inverse, counts):
    for function in (torch.unique, torch.unique_consecutive):
        assert_same(lambda x: function(x, return_inverse=inverse, return_counts=counts), LISTS[name])  # noqa: B023
    if not counts:
        assert_same(lambda x: torch.ops.aten._unique(x, True, inverse), LISTS[name])


@pytest.mark.parametrize(("inverse", "counts"), WANTED)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_unique_rows(dim, inverse, counts):
    x = T([[1, 2, 2], [1, 2, 2], [0, 5, 5], [1, 2, 2]])
    for function in (torch.unique, torch.unique_consecutive):
        for case in (x, x.float(), x.reshape(2, 2, 3), x[:0]):
            assert_same(
                lambda x: function(x, dim=dim, return_inverse=inverse, return_counts=counts),  # noqa: B023
                case,
                message=False,
            )


# ---------------------------------------------------------------------------------------------- counts and repeats


def test_bincount():
    x = T([1, 4, 1, 0, 1])
    for dtype in (torch.int64, torch.int32, torch.uint8):
        assert_same(torch.bincount, x.to(dtype))
    assert_same(lambda x: torch.bincount(x, minlength=9), x)
    for dtype in (torch.float32, torch.float64, torch.int32, torch.float16):
        assert_same(torch.bincount, x, T([1, 2, 3, 4, 5]).to(dtype))
    assert_same(lambda x: torch.bincount(x, minlength=3), x[:0])
    assert_same(torch.bincount, T([1, -1]))
    assert_same(torch.bincount, T([[1]]))
    assert_same(torch.bincount, T([1.0]))
    assert_same(torch.bincount, x, T([1.0]))


def test_repeat_interleave():
    repeats = T([2, 0, 3, 1])
    assert_same(torch.repeat_interleave, repeats)
    assert_same(torch.repeat_interleave, repeats.int())
    assert_same(lambda r: torch.repeat_interleave(r, output_size=6), repeats)
    assert_same(torch.repeat_interleave, repeats[:0])
    assert_same(lambda x, r: x.repeat_interleave(r, dim=1), torch.randn(3, 4), repeats)
    assert_same(torch.repeat_interleave, T([1, -1]))


def test_repeat_interleave_of_a_known_size_reads_nothing():
    def function(x, repeats):
        return x.repeat_interleave(repeats, output_size=6)

    x, repeats = torch.randn(4), T([2, 0, 3, 1])
    compiled = torch.compile(function, fullgraph=True)
    torch.testing.assert_close(compiled(x.to("tpu"), repeats.to("tpu")).cpu(), function(x, repeats))


# --------------------------------------------------------------------------------------------------------- histograms

SAMPLES = torch.tensor([0.5, -1.0, 2.0, 0.0, 1.0, 0.25, 0.75, 3.0, 2.999, -0.5])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_histc(dtype):
    x = SAMPLES.to(dtype)
    for bins, low, high in ((4, 0, 0), (4, 0, 1), (10, -1, 3), (1, -5, 5), (3, 1, 1)):
        assert_same(lambda x, a=(bins, low, high): torch.histc(x, *a), x)
    assert_same(lambda x: torch.histc(x, 3), torch.full((5,), 2.0))
    assert_same(lambda x: torch.histc(x, 3), x[:0])
    assert_same(lambda x: torch.histc(x.reshape(2, 5).t(), 3), x)
    assert_same(lambda x, out: torch.histc(x, 4, out=out), x, torch.empty(0, dtype=dtype))
    assert_same(lambda x: torch.histc(x, 0), x, message=False)
    assert_same(lambda x: torch.histc(x, 3, 2, 1), x, message=False)
    assert_same(lambda x: torch.histc(x, 3), T([1.0, INF]), message=False)
    assert_same(lambda x: torch.histc(x, 3, 0, 2), T([1.0, INF, NAN]))


@pytest.mark.parametrize("density", [False, True])
def test_histogram(density):
    weight = torch.arange(1.0, 11.0)
    edges = T([-1.0, 0.0, 0.5, 2.0, 3.0])
    for arguments in ({"bins": 4}, {"bins": 5, "range": (0.0, 2.0)}, {"bins": edges}):
        assert_same(lambda x, a=arguments: torch.histogram(x, **moved(a, x), density=density), SAMPLES)
        assert_same(
            lambda x, w, a=arguments: torch.histogram(x, **moved(a, x), weight=w, density=density), SAMPLES, weight
        )
    for first in (4, edges):

        def function(x, hist, out):
            bins = first.to(x.device) if isinstance(first, torch.Tensor) else first  # noqa: B023
            return torch.histogram(x, bins, density=density, out=(hist, out))

        assert_same(function, SAMPLES, torch.empty(0), torch.empty(0))


def moved(arguments, like):
    return {k: v.to(like.device) if isinstance(v, torch.Tensor) else v for k, v in arguments.items()}


@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_several_dimensions(density):
    x = torch.randn(30, 2)
    assert_same(lambda x: torch.histogramdd(x, [3, 4], density=density), x)
    assert_same(lambda x: torch.histogramdd(x, [3, 4], range=[-1.0, 1.0, 0.0, 2.0], density=density), x)
    assert_same(lambda x, w: torch.histogramdd(x, [3, 4], weight=w, density=density), x, torch.rand(30))

    def by_edges(x, a, b):
        return torch.histogramdd(x, (a, b), density=density)

    assert_same(by_edges, x, T([-1.0, 0.0, 2.0]), T([-2.0, -1.0, 0.0, 0.5]))


# ----------------------------------------------------------------------------------------------------------- segments

LENGTHS = {
    "list": (torch.randn(7), T([2, 0, 4, 1])),
    "rows": (torch.randn(7, 3), T([2, 0, 4, 1])),
    "with zeros": (T([0.0, 2.0, 0.0, 0.0, 3.0, 5.0, 1.0]), T([2, 2, 0, 3])),
    "with NaN": (T([NAN, 2.0, NAN, 0.0, NAN, NAN, 1.0]), T([2, 2, 0, 3])),
    "equals": (T([1.0, 1.0, 2.0, 2.0, 2.0, 0.0, 1.0]), T([2, 3, 0, 2])),
    "float64": (torch.randn(7, dtype=torch.float64), T([3, 4])),
}


@pytest.mark.parametrize("initial", [None, 2.0])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("name", LENGTHS)
def test_segments(name, reduce, initial):
    def function(data, lengths):
        data = data.clone().requires_grad_()
        out = torch.segment_reduce(data, reduce, lengths=lengths, initial=initial)
        offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        again = torch.segment_reduce(data, reduce, offsets=offsets, initial=initial)
        weights = torch.linspace(0.5, 1.5, out.numel(), device=data.device).to(data.dtype).reshape(out.shape)
        return out.detach(), again.detach(), *torch.autograd.grad(out, data, weights)

    assert_same(function, *LENGTHS[name], zero_signs=False)


def test_segments_of_an_inner_axis():
    data, lengths = torch.randn(2, 5, 3), T([[2, 3, 0], [1, 1, 3]])
    assert_same(lambda d, n: torch.segment_reduce(d, "sum", lengths=n, axis=1), data, lengths)
    assert_same(lambda d, n: torch.segment_reduce(d, "max", lengths=n, axis=1), data, lengths)
    short = T([[2, 1], [1, 1]])
    assert_same(lambda d, n: torch.segment_reduce(d, "sum", lengths=n, axis=1, unsafe=True), data, short)
    assert_same(lambda d, n: torch.segment_reduce(d, "sum", lengths=n, axis=1), data, short)
    assert_same(lambda d, n: torch.segment_reduce(d, "sum", lengths=n), data[:, 0], T([3, -1]))


# --------------------------------------------------------------------------------------------------------- assertions


def test_assertions():
    for x in (T(1), T([2.5]), T(True)):
        torch._assert_async(x.to("tpu"))
        torch._assert_async(x.to("tpu"), "never")
    for x in (T(0), T([0.0]), T(False)):
        with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value"):
            torch._assert_async(x.to("tpu"))
            torch.tpu.synchronize()
        with pytest.raises(RuntimeError, match="my message"):
            torch._assert_async(x.to("tpu"), "my message")
            torch.tpu.synchronize()
    with pytest.raises(RuntimeError, match="ambiguous"):
        torch._assert_async(torch.ones(2, device="tpu"))


def test_assertion_with_a_token():
    token = torch.ones((), device="tpu")
    op = torch.ops.aten._functional_assert_async.msg
    assert op(torch.ones(1, device="tpu"), "never", token).item() == 1
    with pytest.raises(RuntimeError, match="my message"):
        op(torch.zeros(1, device="tpu"), "my message", token).item()
