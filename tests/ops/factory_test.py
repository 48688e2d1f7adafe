"""Family factory against the CPU; a moving range compiles once."""

import itertools

import pytest
import torch
from oracle import assert_same

FACTORIES = {
    "arange": lambda d: torch.arange(7, device=d),
    "arange of floats": lambda d: torch.arange(0.1, 2.7, 0.3, device=d),
    "arange down": lambda d: torch.arange(5, -6, -3, device=d),
    "arange of int32": lambda d: torch.arange(2, 50, 7, dtype=torch.int32, device=d),
    "arange of halves": lambda d: torch.arange(0, 3, 0.5, dtype=torch.bfloat16, device=d),
    "arange of nothing": lambda d: torch.arange(3, 3, device=d),
    "arange of large": lambda d: torch.arange(2**62, 2**62 + 3, device=d),
    "arange of many": lambda d: torch.arange(0, 100, 0.001, device=d),
    "arange out": lambda d: torch.arange(4, out=torch.empty(0, dtype=torch.float64, device=d)),
    "linspace": lambda d: torch.linspace(-1, 3, 11, device=d),
    "linspace of 1": lambda d: torch.linspace(-1, 3, 1, device=d),
    "linspace of 0": lambda d: torch.linspace(-1, 3, 0, device=d),
    "linspace of integers": lambda d: torch.linspace(-10, 33, 8, dtype=torch.int64, device=d),
    "linspace of whole steps": lambda d: torch.linspace(50, 1, 50, dtype=torch.int64, device=d),
    "linspace of doubles": lambda d: torch.linspace(0, 1, 101, dtype=torch.float64, device=d),
    "linspace of complex": lambda d: torch.linspace(0, 1 + 2j, 5, device=d),
    "logspace": lambda d: torch.logspace(-2, 3, 7, device=d),
    "logspace of base 2": lambda d: torch.logspace(0, 10, 11, base=2, device=d),
    "logspace of integers": lambda d: torch.logspace(0, 6, 7, base=2, dtype=torch.int32, device=d),
    "eye": lambda d: torch.eye(3, 5, device=d),
    "eye of bools": lambda d: torch.eye(4, dtype=torch.bool, device=d),
    "full": lambda d: torch.full((2, 3), 7, device=d),
    "full of 2^63 and more": lambda d: torch.full((2,), 2**63 + 5, dtype=torch.uint64, device=d),
    "full of floats of 2^63": lambda d: torch.full((2,), 2**63 + 5, dtype=torch.float64, device=d),
    "full of bools of 2^63": lambda d: torch.full((2,), 2**63 + 5, dtype=torch.bool, device=d),
    "times 2^63 and more": lambda d: torch.ones(2, device=d) * (2**63 + 5),
    "equal to 2^63 and more": lambda d: torch.full((2,), 2**64 - 1, dtype=torch.uint64, device=d) == 2**64 - 1,
    "range": lambda d: torch.range(1, 4, 0.5, device=d),
}


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize("name", FACTORIES)
def test_factories(name):
    assert_same(lambda x: FACTORIES[name](x.device), torch.ones(1))


def test_triangle_indices():
    for rows, columns, offset in itertools.product((0, 1, 4, 7), (0, 1, 5), (-9, -3, -1, 0, 1, 2, 9)):
        for function in (torch.tril_indices, torch.triu_indices):
            got = function(rows, columns, offset, device="tpu").cpu()
            assert torch.equal(got, function(rows, columns, offset)), (rows, columns, offset)
    big = torch.tril_indices(3000, 2000, 11, device="tpu").cpu()
    assert torch.equal(big, torch.tril_indices(3000, 2000, 11))


def test_a_moving_range_compiles_once():
    torch.arange(3, 8, device="tpu")
    before = torch.tpu.cache_stats()
    for start in range(20):
        assert torch.arange(start, start + 5, device="tpu").tolist() == list(range(start, start + 5))
    assert torch.tpu.cache_stats()["misses"] == before["misses"]
