"""Numbers and sizes at the limits: what an element type, a storage or a bool view cannot hold."""

import pytest
import torch


def outcome(function, device):
    try:
        return function(device).cpu()
    except (RuntimeError, OverflowError) as error:
        return type(error), str(error).splitlines()[0]


def assert_same(function):
    expected, got = outcome(function, "cpu"), outcome(function, "tpu")
    if isinstance(expected, torch.Tensor) and isinstance(got, torch.Tensor):
        torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True)
    else:
        assert got == expected


DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.complex64]  # fmt: skip
NAN, INF = float("nan"), float("inf")
NUMBERS = [True, 0, 2, -1, 300, 2**40, 0.5, -2.5, 1e30, 1e300, NAN, INF, -INF, 1 + 2j, 2 + 0j]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fill(dtype):
    for number in NUMBERS:
        assert_same(lambda device, number=number: torch.zeros(3, dtype=dtype, device=device).fill_(number))
        assert_same(lambda device, number=number: torch.zeros(4, dtype=dtype, device=device)[1:3].fill_(number))


def test_masked_fill_of_integers():
    mask = torch.tensor([True, False, True])
    for number in (7, 2.5, NAN, INF):
        assert_same(lambda device, n=number: torch.ones(3, device=device).long().masked_fill_(mask.to(device), n))


@pytest.mark.parametrize("sizes", [(2**31, 2**31), (2**40, 2**40)])
def test_sizes_that_overflow(sizes):
    assert_same(lambda device: torch.empty(sizes, dtype=torch.float64, device=device))


def test_strides_that_overflow():
    assert_same(lambda device: torch.empty_strided((4,), (2**62,), dtype=torch.float64, device=device))


def test_bytes_seen_as_bools():
    bytes_ = torch.tensor([5, 0, 7, 1], dtype=torch.uint8)
    assert_same(lambda device: bytes_.to(device).view(torch.bool).to(torch.int32))
    assert_same(lambda device: bytes_.to(device).view(torch.bool)[1:3].to(torch.int32))


def test_bools_written_into_bytes():
    """Only the bytes that are written change; reading all of them as bools would make each 0 or 1."""

    def write(device):
        x = torch.tensor([5, 6, 7, 8], dtype=torch.uint8).to(device)
        x.view(torch.bool)[1:3] = True
        return x

    assert_same(write)


def test_the_smallest_index():
    """Also the number that marks "nothing failed" inside the program."""
    for index in (torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max):
        for device in ("cpu", "tpu"):
            with pytest.raises(RuntimeError, match="out of bounds"):
                torch.zeros(3, device=device).gather(0, torch.tensor([index], device=device))
