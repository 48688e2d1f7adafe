"""Pools: which of equal elements and which NaN a maximum takes, partial windows, counted padding, gradients, errors."""

import pytest
import torch
import torch.nn.functional as F
from oracle import assert_same

NAN, INF = float("nan"), float("inf")


def with_gradient(function):
    def run(x):
        x = x.requires_grad_()
        result = function(x)
        first = result[0] if isinstance(result, tuple) else result
        weights = (
            torch.arange(first.numel(), dtype=torch.float32, device=x.device).reshape(first.shape).to(first.dtype) / 8
        )
        return (*(result if isinstance(result, tuple) else (result,)), *torch.autograd.grad(first, x, weights))

    return run


def values(*sizes):
    """Many equals, some NaN and infinities, one plane of -inf only."""
    torch.manual_seed(0)
    x = torch.randint(-2, 3, sizes).float()
    x[torch.rand(sizes) < 0.05] = NAN
    x[torch.rand(sizes) < 0.05] = INF
    x[0, 0] = -INF
    return x


MAX = {
    "2": dict(kernel_size=2),
    "3_2_1": dict(kernel_size=3, stride=2, padding=1),
    "ceil": dict(kernel_size=3, stride=2, ceil_mode=True),
    "dilated": dict(kernel_size=3, stride=1, dilation=2, padding=2),
    "wide": dict(kernel_size=5, stride=1, padding=2),
    "gaps": dict(kernel_size=2, stride=3),
}


@pytest.mark.parametrize("name", MAX)
@pytest.mark.parametrize("sizes", [(2, 3, 11), (2, 3, 9, 10), (1, 2, 7, 8, 9), (3, 9, 10)], ids=str)
def test_max(name, sizes):
    n = max(1, len(sizes) - 2) if sizes != (3, 9, 10) else 2
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1]
    x = values(*sizes)
    assert_same(lambda x: pool(x, **MAX[name], return_indices=True), x)
    assert_same(
        with_gradient(lambda x: pool(x, **MAX[name], return_indices=True)), torch.randn(sizes), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.uint8], ids=str
)
def test_max_types(dtype):
    x = torch.randint(0, 50, (2, 3, 8, 8)).to(dtype)
    assert_same(lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), x)
    assert_same(lambda x: F.adaptive_max_pool2d(x, (3, 5), return_indices=True), x, message=False)


AVG = {
    "2": dict(kernel_size=2),
    "3_2_1": dict(kernel_size=3, stride=2, padding=1),
    "uncounted": dict(kernel_size=3, stride=2, padding=1, count_include_pad=False),
    "ceil": dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
    "ceil_uncounted": dict(kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
    "divisor": dict(kernel_size=3, stride=1, divisor_override=5),
    "gaps": dict(kernel_size=2, stride=3),
    "wide": dict(kernel_size=7, stride=1),
}


@pytest.mark.parametrize("name", AVG)
@pytest.mark.parametrize("sizes", [(2, 3, 10), (2, 3, 9, 10), (1, 2, 7, 8, 9)], ids=str)
def test_avg(name, sizes):
    if len(sizes) == 3 and "divisor_override" in AVG[name]:
        return
    pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[len(sizes) - 3]
    assert_same(with_gradient(lambda x: pool(x, **AVG[name])), torch.randn(sizes), rtol=1e-5, atol=1e-5)
    x = torch.randn(sizes)
    x[0, 0] = INF
    assert_same(lambda x: pool(x, **AVG[name]), x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("out", [1, 3, 4, 7, 12])
@pytest.mark.parametrize("sizes", [(2, 3, 10), (2, 3, 9, 10), (1, 2, 7, 8, 9)], ids=str)
@pytest.mark.parametrize("kind", ["avg", "max"])
def test_adaptive(kind, sizes, out):
    pool = getattr(F, f"adaptive_{kind}_pool{len(sizes) - 2}d")
    options = dict(return_indices=True) if kind == "max" else {}
    assert_same(with_gradient(lambda x: pool(x, out, **options)), torch.randn(sizes), rtol=1e-5, atol=1e-5)
    assert_same(lambda x: pool(x, out, **options), values(*sizes), rtol=1e-5, atol=1e-5)


def test_adaptive_keeps_infinities_apart():
    x = torch.ones(1, 1, 1, 10)
    x[..., 0] = INF
    assert_same(lambda x: F.adaptive_avg_pool2d(x, (1, 3)), x)
    assert_same(lambda x: F.adaptive_avg_pool2d(x, (0, 3)), x)


def test_unpool():
    x = torch.randn(2, 3, 8, 8)

    def there_and_back(x):
        small, indices = F.max_pool2d(x, 2, return_indices=True)
        return F.max_unpool2d(small, indices, 2)

    assert_same(with_gradient(there_and_back), x)
    small, indices = F.max_pool2d(x, 2, return_indices=True)
    with pytest.raises(RuntimeError, match="invalid max index: 1000"):
        F.max_unpool2d(small.to("tpu"), (indices * 0 + 1000).to("tpu"), 2).cpu()
        torch.tpu.synchronize()


ERRORS = {
    "padding": lambda x: F.max_pool2d(x, 2, padding=2),
    "too_small": lambda x: F.max_pool2d(x, 20),
    "too_small_3d": lambda x: F.max_pool3d(x[None], 20),
    "padding_3d": lambda x: F.max_pool3d(x[None], 2, padding=2),
    "divisor": lambda x: F.avg_pool2d(x, 2, divisor_override=0),
    "stride": lambda x: F.max_pool2d(x, 2, stride=0),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    assert_same(ERRORS[name], torch.randn(2, 3, 8, 8), message=False)


FRACTIONAL = {
    "2d": (F.fractional_max_pool2d, (2, 3, 9, 11), (2, 3), (4, 6), 2),
    "2d, one place": (F.fractional_max_pool2d, (2, 3, 4, 5), 3, (1, 2), 2),
    "2d, all places": (F.fractional_max_pool2d, (2, 3, 6, 6), 2, (5, 5), 2),
    "2d, large windows": (F.fractional_max_pool2d, (1, 2, 20, 20), 7, (6, 9), 2),
    "3d": (F.fractional_max_pool3d, (2, 3, 6, 7, 8), (2, 3, 2), (3, 4, 5), 3),
    "3d, one place": (F.fractional_max_pool3d, (2, 3, 4, 5, 6), 2, (1, 2, 3), 3),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", FRACTIONAL)
@pytest.mark.usefixtures("no_host_ops")
def test_fractional_max_pool(name, dtype):
    function, sizes, window, output, n = FRACTIONAL[name]
    x = values(*sizes).to(dtype)
    random = torch.rand(*sizes[:2], n).to(dtype)

    def pool(x, random):
        x = x.clone().requires_grad_()
        out, index = function(x, window, output_size=output, return_indices=True, _random_samples=random)
        weights = torch.arange(out.numel(), device=x.device).reshape(out.shape).to(dtype) / 8
        return out.detach(), index, torch.autograd.grad(out, x, weights)[0]

    close = {"rtol": 2e-2, "atol": 2e-2} if dtype.itemsize == 2 else {}
    assert_same(pool, x, random, **close)
    assert_same(lambda x, r: pool(x[0], r[:1]), x, random, **close)


def test_fractional_max_pool_out():
    x, index = torch.randn(1, 2, 6, 6, 6), torch.randint(216, (1, 2, 3, 3, 3))

    def backward(grad, x, index, out):
        return torch.ops.aten.fractional_max_pool3d_backward.grad_input(
            grad, x, [2] * 3, [3] * 3, index, grad_input=out
        )

    assert_same(backward, torch.randn(1, 2, 3, 3, 3), x, index, torch.empty(0))


def test_fractional_max_pool_errors():
    x, random = torch.randn(1, 2, 6, 6), torch.rand(1, 2, 2)
    assert_same(lambda x, r: F.fractional_max_pool2d(x, 3, 5, _random_samples=r), x, random, message=False)
    assert_same(lambda x, r: F.fractional_max_pool2d(x, 3, 2, _random_samples=r), x, random.double(), message=False)
