"""Sort family: the order of NaN, zeros and equal elements; medians, modes and searches; all sizes of sorting keys."""

from functools import partial

import pytest
import torch
from oracle import assert_same

NAN, INF = float("nan"), float("inf")
GENERATOR = torch.Generator().manual_seed(3)


pytestmark = pytest.mark.usefixtures("no_host_ops")


ROWS = {
    "special": torch.tensor([NAN, 1.0, -0.0, 0.0, -INF, INF, NAN, -NAN, 1e-40, -1e-40, 2e-40]),
    "float64": torch.randn(200, dtype=torch.float64, generator=GENERATOR) * 1e300,
    "bfloat16": torch.randn(7, 33, generator=GENERATOR).bfloat16(),
    "float16": torch.randn(4, 40, generator=GENERATOR).half(),
    "int64": torch.tensor([5, 1, 2**40, -(2**40), 2**32, -(2**32), 2**31, -(2**31), 2**63 - 1, -(2**63), 2**32 + 1]),
    "int32": torch.tensor([2**31 - 1, -(2**31), 0, 7, 7]),
    "int16": torch.randint(-9, 9, (2, 30), generator=GENERATOR).short(),
    "uint8": torch.randint(0, 255, (3, 40), generator=GENERATOR).to(torch.uint8),
    "bool": torch.rand(20, generator=GENERATOR) > 0.5,
    "uint16": torch.tensor([3, 1, 2**15, 0]).to(torch.uint16),
    "uint32": torch.tensor([3, 2**32 - 1, 2**31, 0]).to(torch.uint32),
    "uint64": torch.tensor([3, 2**63 - 1, 2**40, 0]).to(torch.uint64),
    "0-d": torch.tensor(3.0),
    "empty": torch.ones(0),
    "no rows": torch.ones(0, 3),
    "no columns": torch.ones(3, 0),
    "3-d": torch.randn(3, 4, 5, generator=GENERATOR).round(),
}


@pytest.mark.parametrize("name", ROWS)
def test_stable_sort(name):
    for dim in {0, -1}:
        for descending in (False, True):
            assert_same(partial(torch.sort, dim=dim, descending=descending, stable=True), ROWS[name])


def values_of(function):
    """Values, and the elements at the positions given: PyTorch promises no order of equals here."""

    def run(x, dim):
        values, index = function(x, dim)
        return values, torch.take_along_dim(x, index, dim) if x.dim() else index

    return run


PICKS = {
    "topk": lambda x, d: torch.topk(x, 3, d),
    "topk smallest": lambda x, d: torch.topk(x, 3, d, largest=False),
    "topk all": lambda x, d: torch.topk(x, x.shape[d], d),
    "kthvalue": lambda x, d: torch.kthvalue(x, 2, d, keepdim=True),
    "median": lambda x, d: torch.median(x, d, keepdim=True),
    "nanmedian": lambda x, d: torch.nanmedian(x, d, keepdim=True),
    "mode": lambda x, d: torch.mode(x, d, keepdim=True),
}


@pytest.mark.parametrize("name", PICKS)
def test_picks(name):
    for row in ("special", "float64", "bfloat16", "float16", "int64", "int32", "int16", "uint8", "3-d"):
        x = ROWS[row]
        if name == "nanmedian" or not (name == "mode" and x.isnan().any()):
            assert_same(lambda x: values_of(PICKS[name])(x, -1), x, zero_signs=False)
    assert_same(lambda x: values_of(PICKS[name])(x, 1), ROWS["3-d"], zero_signs=False)


CASES = [
    (
        lambda x: (torch.median(x, 0), torch.nanmedian(x, 0), torch.median(x), torch.nanmedian(x)),
        torch.tensor([NAN, 1.0, NAN]),
    ),
    (lambda x: (torch.nanmedian(x, 0), torch.nanmedian(x)), torch.tensor([NAN, NAN])),
    (torch.median, torch.ones(0)),
    (lambda x: torch.median(x, 0), torch.tensor([4, 2, 3, 1])),
    (torch.mode, torch.tensor([3, 1, 1, 3, 2, 3, 1])),
    (torch.mode, torch.tensor([NAN, 0.0, -0.0, NAN, NAN])),
    (torch.mode, torch.tensor([True, False])),
    (torch.mode, torch.tensor(2.0)),
    (lambda x: torch.kthvalue(x, 1), torch.tensor(2.0)),
    (lambda x: torch.topk(x, 1), torch.tensor(2.0)),
    (lambda x: torch.topk(x, 0), torch.ones(3)),
    (lambda x: x.sort(0)[0].sort(1)[0], torch.randn(5, 6, generator=GENERATOR)),
    (
        lambda x: torch.sort(
            x, out=(torch.empty(0, device=x.device), torch.empty(0, dtype=torch.int64, device=x.device))
        ),
        torch.randn(6),
    ),
    (torch.msort, torch.randn(5, 2, generator=GENERATOR)),
    (lambda x: torch.argsort(x, stable=True), ROWS["special"]),
    (lambda x: torch.quantile(x, 0.3), torch.randn(9, generator=GENERATOR)),
    # errors
    (lambda x: torch.kthvalue(x, 5), torch.ones(3)),
    (lambda x: torch.kthvalue(x, 1), torch.ones(0)),
    (lambda x: torch.mode(x, 0), torch.ones(0, 2)),
    (lambda x: torch.median(x, 0), torch.ones(0, 2)),
    (lambda x: torch.topk(x, 5), torch.ones(3)),
    (torch.median, torch.tensor([True])),
    (torch.sort, torch.tensor([1j])),
    (lambda x: torch.topk(x, 1), torch.tensor([True])),
    (lambda x: torch.sort(x, 2), torch.ones(3)),
    # searches
    *[
        (
            lambda b, v, kw=kw: (
                torch.bucketize(v, b, **kw),
                torch.searchsorted(b, v, **kw),
                torch.bucketize(2, b, **kw),
                torch.searchsorted(b, 2.0, **kw),
            ),
            torch.tensor([1.0, 2.0, 2.0, 5.0, INF]),
            torch.tensor([[NAN, 0.0, 1.0], [2.0, INF, 7.0]]),
        )
        for kw in ({}, {"right": True}, {"out_int32": True})
    ],
    (
        lambda b, v: torch.searchsorted(b, v),
        torch.randn(2, 3, 40, generator=GENERATOR).sort(2)[0],
        torch.randn(2, 3, 7, generator=GENERATOR),
    ),
    (
        lambda b, v: torch.searchsorted(b, v, sorter=b.argsort(1)),
        torch.randn(3, 20, generator=GENERATOR),
        torch.randn(3, 5, generator=GENERATOR),
    ),
    (lambda b, v: torch.bucketize(v, b), torch.tensor([1, 3, 5]), torch.tensor([0.5, 1.0, 4.5], dtype=torch.float64)),
    (lambda b, v: torch.bucketize(v, b), torch.ones(0), torch.ones(2)),
    (lambda b, v: torch.bucketize(v, b), torch.ones(2), torch.ones(0, 3)),
    (lambda b, v: torch.bucketize(v, b), torch.ones(2, 3), torch.ones(2)),
    (lambda b, v: torch.searchsorted(b, v), torch.ones(3, 4), torch.ones(2, 4)),
    (lambda b, v: torch.searchsorted(b, v, right=True, side="left"), torch.ones(3), torch.ones(2)),
    (lambda b, v: torch.searchsorted(b, v, side="x"), torch.ones(3), torch.ones(2)),
    (lambda b, v: torch.searchsorted(b, v, sorter=b.long() * 7), torch.ones(3), torch.ones(2)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_case(case):
    function, *args = CASES[case]
    assert_same(function, *args, message=False, zero_signs=False)
