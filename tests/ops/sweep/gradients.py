"""First and second derivatives on `tpu` against those on the CPU."""

import expected
import torch
from torch.utils._pytree import tree_leaves

from .comparison import assert_close, on_device, work_on

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.complex64)


def has_gradient(op, dtype):
    """Whether the entry has a gradient to compare."""
    return (
        dtype in DTYPES
        and op.supports_autograd
        and op.full_name not in expected.RANDOM
        and dtype in op.supported_backward_dtypes("cpu")
    )


def differentiable(tree):
    """The tensors that ask for a gradient."""
    return [x for x in tree_leaves(tree) if isinstance(x, torch.Tensor) and x.requires_grad]


def ramps_like(tensors):
    """Fixed weights, the same on every device and for every layout of memory."""
    weights = []
    for x in tensors:
        ramp = torch.linspace(0.5, 1.5, x.numel(), dtype=torch.float32).reshape(x.shape)
        weights.append(torch.empty_like(x, device="cpu").copy_(ramp).to(x.device))
    return weights


def gradients(op, arguments, order):
    """Gradients of a fixed weighting of the outputs for every input that asks for one; of order 2, of a weighting of
    these again. None where there is nothing to derive."""
    first, args, kwargs = arguments
    leaves = differentiable(arguments)
    outs = differentiable(op.gradcheck_wrapper(op.op, first, *args, **kwargs))
    for level in range(order):
        if not outs or not leaves:
            return None
        is_last = level == order - 1
        grads = torch.autograd.grad(outs, leaves, ramps_like(outs), allow_unused=True, create_graph=not is_last)
        outs = differentiable(grads)
    return grads


def check_gradient(op, arguments, order=1):
    """The gradients of both devices; where the CPU has none, the device may do as it likes."""
    on_tpu = on_device(arguments)
    with work_on("cpu"):
        want = gradients(op, arguments, order)
    with work_on("tpu"):
        got = gradients(op, on_tpu, order)
    assert (want is None) == (got is None)
    for w, g in zip(want or (), got or (), strict=True):
        assert (w is None) == (g is None)
        if w is not None:
            assert_close(g, w, op.full_name, factor=10, what="a gradient")


def check_second_gradient(op, arguments):
    """The gradients of the gradients."""
    check_gradient(op, arguments, order=2)
