"""Reduction, scan and softmax families where kernels differ: NaN and infinities, ties, empty and 0-d tensors, integer
sums, rows that do not divide into lanes, scans long enough for each of their three forms."""

import pytest
import torch
from oracle import assert_same

aten = torch.ops.aten
NAN, INF = float("nan"), float("inf")


pytestmark = pytest.mark.usefixtures("no_host_ops")


def randn(*sizes, dtype=torch.float32, scale=1.0):
    return (torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes))) * scale).to(dtype)


WHOLE = {
    "sum": torch.sum,
    "nansum": torch.nansum,
    "prod": torch.prod,
    "amax": torch.amax,
    "max": torch.max,
    "min": torch.min,
    "aminmax": torch.aminmax,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "all": torch.all,
    "any": torch.any,
    "count_nonzero": torch.count_nonzero,
    "hash": torch.hash_tensor,
}
ALONG = {
    "sum": torch.sum,
    "nansum": torch.nansum,
    "prod": torch.prod,
    "amin": torch.amin,
    "max": torch.max,
    "min": torch.min,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "all": torch.all,
    "any": torch.any,
    "count_nonzero": torch.count_nonzero,
    "cumsum": torch.cumsum,
    "cumprod": torch.cumprod,
    "cummax": torch.cummax,
    "cummin": torch.cummin,
    "aminmax": lambda x, d: torch.aminmax(x, dim=d),
}
FLOATING = {
    "mean": torch.mean,
    "std": torch.std,
    "std_mean": torch.std_mean,
    "var_0": lambda x, *d: torch.var(x, *d, correction=0),
    "var_half": lambda x, *d: torch.var(x, *d, correction=0.5),
    "logsumexp": lambda x, d=0: torch.logsumexp(x, d),
    "norm_0": lambda x, *d: torch.linalg.vector_norm(x, 0, *d),
    "norm_1": lambda x, *d: torch.linalg.vector_norm(x, 1, *d),
    "norm_2": lambda x, *d: torch.linalg.vector_norm(x, 2, *d),
    "norm_3": lambda x, *d: torch.linalg.vector_norm(x, 3, *d),
    "norm_inf": lambda x, *d: torch.linalg.vector_norm(x, INF, *d),
    "norm_-inf": lambda x, *d: torch.linalg.vector_norm(x, -INF, *d),
    "norm_-1.5": lambda x, *d: torch.linalg.vector_norm(x, -1.5, *d),
    "softmax": lambda x, d=-1: torch.softmax(x, d),
    "log_softmax": lambda x, d=-1: torch.log_softmax(x, d),
    "logcumsumexp": lambda x, d=0: torch.logcumsumexp(x, d),
}

SPECIAL = [
    torch.tensor([[1.0, NAN, 3.0], [NAN, 2.0, 2.0], [-0.0, 0.0, -1.0]]),
    torch.tensor([[INF, -INF], [-INF, -INF]]),
    torch.tensor([3.0, 1.0, 3.0, 1.0, 3.0]),
    torch.tensor(5.0),
    torch.tensor(NAN),
    torch.tensor([2, 7, 2, 7]),
    torch.tensor([True, False]),
    torch.tensor([250, 10], dtype=torch.uint8),
    torch.tensor([2**62, 2**62, 2**62]),
    torch.tensor([-128, 127], dtype=torch.int8),
    torch.tensor([NAN, 2.0, 1.0], dtype=torch.bfloat16),
]


@pytest.mark.parametrize("name", WHOLE)
def test_whole(name):
    for x in [*SPECIAL, torch.ones(0), torch.ones(3, 0)]:
        if not (name in ("argmax", "argmin") and x.dtype == torch.bool):
            assert_same(WHOLE[name], x, message=False, zero_signs=False)


@pytest.mark.parametrize("name", ALONG)
def test_along(name):
    for x in [*SPECIAL, torch.ones(0), torch.ones(3, 0)]:
        if not (name in ("argmax", "argmin") and x.dtype == torch.bool):
            assert_same(lambda x: ALONG[name](x, 0), x, message=False, zero_signs=False)
    x = randn(2, 3, 4).round()
    for dim in (1, -1):
        assert_same(lambda x, dim: ALONG[name](x, dim), x, dim, zero_signs=False)


@pytest.mark.parametrize("name", FLOATING)
def test_floating(name):
    function = FLOATING[name]
    for x in SPECIAL[:5]:
        if not (name == "std_mean" and x.isinf().any()):  # the CPU's running mean of equal infinities is NaN
            assert_same(function, x, zero_signs=False)
    assert_same(function, randn(5, 7, 3), rtol=2e-5, atol=2e-6)
    assert_same(lambda x: function(x, 1), randn(5, 7, 3), rtol=2e-5, atol=2e-6)
    assert_same(lambda x: function(x, 0), randn(5, 7, dtype=torch.bfloat16), rtol=2e-2, atol=1e-2)


CASES = [
    (lambda x: x.sum(dtype=torch.float64), randn(100, 7)),
    (lambda x: x.sum((0, 2), keepdim=True), randn(2, 3, 4)),
    (lambda x: x.sum(1, dtype=torch.int32), torch.arange(6).reshape(2, 3)),
    (lambda x: x.mean(dtype=torch.float32), torch.arange(6)),
    (lambda x: x.transpose(0, 1)[::2].sum(0), randn(4, 5)),
    (lambda x: x.mean(), torch.arange(3)),
    (lambda x: x.var(), torch.arange(3)),
    (lambda x: torch.sum(x, 0, out=torch.empty(0, device=x.device)), randn(3, 4)),
    (lambda x: torch.max(x, 1, keepdim=True), randn(3, 4)),
    (lambda x: x.argmax(keepdim=True), randn(3, 4)),
    (
        lambda x: torch.max(
            x, 1, out=(torch.empty(0, device=x.device), torch.empty(0, dtype=torch.int64, device=x.device))
        ),
        randn(3, 4),
    ),
    (lambda x: x.any((0, 1)), randn(3, 4)),
    (lambda x: x.all((0, 1), keepdim=True), randn(3, 4)),
    (lambda x: x.sum((0, 0)), randn(3, 4)),
    (lambda x: x.sum(2), randn(3, 4)),
    (lambda x: x.amax((0, 1)), randn(3, 4)),
    (lambda x: x.amax(), torch.tensor([1j])),
    (lambda x: x.sum(0), torch.tensor([1 + 2j, 3 - 1j])),
    (lambda x: x.mean(), torch.tensor([1 + 2j, 3 - 1j])),
    (lambda x: x.var(), torch.tensor([1 + 2j, 3 - 1j, 2j])),
    (lambda x: torch.linalg.vector_norm(x), torch.tensor([1 + 2j, 3 - 1j])),
    (lambda x: torch.linalg.vector_norm(x, 1.5), torch.tensor([1 + 2j, 3 - 1j])),
    (lambda x: x.prod(), torch.tensor([1 + 2j, 3 - 1j])),
    (lambda x: x.norm(p=3, dim=0, dtype=torch.float64), randn(3, 4)),
    (lambda x: x.cumsum(0, dtype=torch.float64), randn(3, 4)),
    (lambda x: x.cumsum(0), torch.tensor([1 + 2j, 3 - 1j])),
    (lambda x: x.logcumsumexp(0), torch.tensor([1 + 2j, 3 - 1j, -2 + 0.5j])),
    (lambda x: x.cummax(0), torch.tensor([1j])),
    (lambda x: x.logcumsumexp(0), torch.arange(3)),
    (lambda x: torch.softmax(x, 0), torch.arange(3)),
    (lambda x: aten._masked_softmax(x, x.isnan() | (x > 0.5), 1, 2), randn(4, 6)),
    (lambda x: aten._masked_softmax(x, x[0, 0] > 0.5, 3, 0), randn(2, 3, 4, 4)),
    (lambda x: aten._masked_softmax(x, x[:, 0, 0] > 0.5, 3, 1), randn(2, 3, 4, 4)),
    (lambda x: aten._masked_softmax_backward(x, x.softmax(1), x > 0.5, 1), randn(4, 6)),
    (lambda x: aten._masked_softmax(x, x, 1, 2), randn(4, 6)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_case(case):
    function, *args = CASES[case]
    assert_same(function, *args, message=False, zero_signs=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.uint8], ids=str)
@pytest.mark.parametrize("size", [31, 64, 255, 257, 320])
def test_extremes_of_long_rows(size, dtype):
    x = randn(3, size, dtype=torch.float32, scale=100).abs().to(dtype)
    variants = [x]
    if dtype.is_floating_point:
        for place in (size - 1, size // 2):
            variants.append(x.clone())
            variants[-1][1, place] = NAN
    for x in variants:
        assert_same(lambda x: (x.max(1), x.min(1), x.argmax(), x.amin((0, 1)), x.max(0)), x)


@pytest.mark.parametrize(("sizes", "dim"), [((20000, 3), 0), ((2, 17001, 2), 1), ((300, 300), 0), ((2, 200, 100), 1)])
def test_long_scans(sizes, dim):
    x = randn(*sizes)
    assert_same(lambda x: x.cumsum(dim), x, rtol=1e-5, atol=1e-4)
    assert_same(lambda x: x.to(torch.int64).cumsum(dim), x * 10)
    assert_same(lambda x: x.cumsum(dim), x.bfloat16(), rtol=1e-2, atol=1e-2)
    assert_same(lambda x: (x * 0.01 + 1).cumprod(dim), x, rtol=1e-5, atol=1e-6)
    with_nan = x.round()
    with_nan.view(-1)[x.numel() // 2] = NAN
    for y in (x.round(), with_nan):
        assert_same(
            lambda x: (x.cummax(dim), x.cummin(dim), x.logcumsumexp(dim)), y, rtol=1e-5, atol=1e-6, zero_signs=False
        )


def test_sums_are_accurate():
    x = torch.rand(1 << 20, generator=torch.Generator().manual_seed(0))
    for shaped in (x, x.reshape(1024, 1024), x.reshape(64, 16384).t()):
        torch.testing.assert_close(shaped.to("tpu").sum().cpu().double(), x.double().sum(), rtol=1e-6, atol=0)
    far = x + 1e4
    torch.testing.assert_close(far.to("tpu").var().cpu().double(), far.double().var(), rtol=1e-5, atol=0)


COLUMNS = {  # sizes, dimensions: rows that are reduced in two turns, and those that do not divide
    "matrix": ((96, 3), (0,)),
    "rows of two dimensions": ((16, 64, 5), (0, 1)),
    "three": ((2, 8, 10, 2, 3), (0, 1, 2)),
    "a prime": ((67, 4), (0,)),
    "few": ((3, 4, 5), (0, 1)),
    "not the first": ((2, 70, 3), (1,)),
    "one column": ((128, 1), (0,)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name):
    sizes, dims = COLUMNS[name]
    x = randn(*sizes)
    with_nan = x.clone()
    with_nan.flatten()[::7] = NAN
    for value in (x, with_nan, torch.full(sizes, -0.0), (x * 9).long(), x.bfloat16(), x.to(torch.complex64)):
        assert_same(lambda a: a.sum(dims), value, rtol=1e-5, atol=1e-5)
        if not value.is_complex():
            assert_same(lambda a: a.amax(dims), value)
            assert_same(lambda a: torch.all(a != 0, dims), value)
    assert_same(lambda a: a.mean(dims), x, rtol=1e-5, atol=1e-6)
