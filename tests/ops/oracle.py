"""The CPU as oracle: a function of tensors runs on both devices and must give the same values, dtypes and shapes, or
the same error."""

import pytest
import torch
from torch.utils._pytree import tree_leaves

# torch.testing's defaults, but where a float32 result of XLA may be some units in the last place away.
TOLERANCES = {torch.float32: (4e-6, 1e-6), torch.complex64: (8e-6, 2e-6), torch.float64: (1e-11, 1e-12)}

# For families whose programs take seconds to compile; `make slow` has all but the first.
FACTOR_DTYPES = (
    torch.float32,
    *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in (torch.float64, torch.complex64, torch.complex128)),
)


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, (tuple, list)):
        return type(value)(moved(item, device) for item in value)
    return value


def outcome(function, args, device):
    """The result on the CPU, or the exception."""
    try:
        result = function(*(moved(arg, device) for arg in args))
        return moved(result, "cpu")
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return error


def assert_same(function, *args, rtol=None, atol=None, zero_signs=True, message=True):
    expected, got = outcome(function, args, "cpu"), outcome(function, args, "tpu")
    if isinstance(expected, Exception) or isinstance(got, Exception):
        if not (isinstance(expected, Exception) and isinstance(got, Exception)):
            raise AssertionError(f"on the CPU: {expected!r}\non the device: {got!r}") from (
                got if isinstance(got, Exception) else expected
            )
        assert isinstance(got, type(expected)), f"expected {expected!r}, got {got!r}"
        if message:
            first = str(expected).splitlines()[0].replace("_cpu", "")
            assert first in str(got).replace("_cpu", ""), f"expected {expected!r}, got {got!r}"
        return
    compare(got, expected, rtol, atol, zero_signs)


def with_strides(function):
    """`function` with the strides of each result beside it, where they mean something."""

    def both(*args):
        results = function(*args)
        results = results if isinstance(results, tuple) else (results,)
        return [(x, x.stride() if x.numel() > 1 else ()) for x in results]

    return both


def assert_values_and_gradients(got, expected, here, wide, dtype, rtol, atol):
    """Results of the device against those that the CPU computed in float64, and then the gradients that a random
    weighting of them gives for the leaves `here` and `wide`."""
    got, expected = tree_leaves(got), tree_leaves(expected)
    grads = [torch.randn(e.shape).to(dtype) for e in expected]
    expected += torch.autograd.grad(expected, wide, [grad.double() for grad in grads])
    got += torch.autograd.grad(got, here, [grad.to("tpu") for grad in grads])
    for g, e in zip(got, expected, strict=True):
        assert g.dtype == dtype
        torch.testing.assert_close(g.cpu().double(), e, rtol=rtol, atol=atol)


def compare(got, expected, rtol=None, atol=None, zero_signs=True):
    if isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            compare(a, b, rtol, atol, zero_signs)
        return
    if not isinstance(expected, torch.Tensor):
        assert got == expected
        return
    if rtol is None and expected.dtype in TOLERANCES:
        rtol, atol = TOLERANCES[expected.dtype]
    torch.testing.assert_close(got, expected, rtol=rtol, atol=atol, equal_nan=True)
    if zero_signs and expected.is_floating_point():
        zeros = (expected == 0) & (got == 0)
        assert torch.equal(torch.signbit(got[zeros]), torch.signbit(expected[zeros])), (
            f"signs of zeros: {got}, {expected}"
        )
