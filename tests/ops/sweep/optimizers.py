"""Optimizers of optim_db: three steps on `tpu` and on the CPU, in each implementation that the optimizer has."""

import torch

from .comparison import assert_close, work_on

SHAPES = ((4, 3), (5,), ())


def is_dense(info, dtype):
    return not info.only_supports_sparse_grads


def optimizer_samples(info, dtype, count):
    """What to call the optimizer with, which implementation to ask for, and the dtype of the parameters."""
    ways = [{}, *({way: True} for way in ("foreach", "fused") if way in info.supported_impls)]
    inputs = info.optim_inputs_func(device="cpu")
    return [(each.kwargs, way, dtype) for each in inputs for way in ways if not set(way) & set(each.kwargs)][:count]


def stepped(info, kwargs, device, dtype):
    """The parameters after three steps."""
    torch.manual_seed(0)
    shapes = [shape for shape in SHAPES if len(shape) == 2] if info.optim_cls is torch.optim.Muon else SHAPES
    params = [torch.randn(shape, dtype=dtype).to(device).requires_grad_() for shape in shapes]
    optimizer = info.optim_cls(params, **kwargs)

    def closure():
        optimizer.zero_grad()
        loss = sum((param.exp() + param * param).sum() for param in params)  # convex: steps stay near each other
        loss.backward()
        return loss

    for _ in range(3):
        if info.step_requires_closure:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
    return [param.detach() for param in params]


def check_optimizer(info, sample):
    """The CPU takes its own default implementation: all of them promise the same numbers."""
    kwargs, way, dtype = sample
    with work_on("cpu"):
        want = stepped(info, kwargs, "cpu", dtype)
    with work_on("tpu"):
        got = stepped(info, kwargs | way, "tpu", dtype)
    for w, g in zip(want, got, strict=True):
        assert_close(g, w, "", factor=10, what=f"a parameter with {kwargs} {way}")
