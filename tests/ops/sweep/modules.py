"""Modules of module_db: a forward and a backward pass, and the buffers after it."""

import copy

import torch
from torch.utils._pytree import tree_leaves

from .comparison import assert_close, on_device, work_on
from .gradients import differentiable, ramps_like


def module_samples(info, dtype, count, training):
    """Modules on the CPU with the arguments of a call: (module, args, kwargs)."""
    torch.manual_seed(0)
    inputs = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
    samples = []
    for each in inputs[:count]:
        module = info.module_cls(*each.constructor_input.args, **each.constructor_input.kwargs)
        module = module.to(dtype).train(training)
        args, kwargs = each.forward_input.args, each.forward_input.kwargs
        if info.is_lazy:
            with torch.no_grad():
                module(*args, **kwargs)
        samples.append((module, args, kwargs))
    return samples


def training_samples(info, dtype, count):
    return module_samples(info, dtype, count, True)


def evaluation_samples(info, dtype, count):
    return module_samples(info, dtype, count, False)


def passed(module, args, kwargs):
    """Results, gradients of arguments and parameters, and buffers, of one forward and backward pass."""
    torch.manual_seed(0)
    module.zero_grad()
    leaves = [*differentiable((args, kwargs)), *module.parameters()]
    results = [x for x in tree_leaves(module(*args, **kwargs)) if isinstance(x, torch.Tensor)]
    outs = differentiable(results)
    grads = torch.autograd.grad(outs, leaves, ramps_like(outs), allow_unused=True) if outs and leaves else ()
    return results, grads, list(module.buffers())


def is_random(module, args, kwargs):
    """Whether another seed gives other results on the CPU."""
    kinds = (torch.nn.RReLU, torch.nn.FractionalMaxPool2d, torch.nn.FractionalMaxPool3d)
    draws = [part for part in module.modules() if isinstance(part, torch.nn.modules.dropout._DropoutNd) and part.p]
    has_rate = any(getattr(part, "dropout", 0) for part in module.modules() if not isinstance(part, torch.nn.Dropout))
    return isinstance(module, kinds) or (module.training and bool(draws or has_rate))


def check_module(info, sample):
    """Both devices; random modules by shape and dtype."""
    module, args, kwargs = sample
    twin, twin_args, twin_kwargs = copy.deepcopy(module).to("tpu"), *on_device((args, kwargs))
    with work_on("cpu"):
        want = passed(module, args, kwargs)
    with work_on("tpu"):
        got = passed(twin, twin_args, twin_kwargs)
    random = is_random(module, args, kwargs)
    for what, wants, gots, factor in zip(("a result", "a gradient", "a buffer"), want, got, (1, 10, 1), strict=True):
        for w, g in zip(wants, gots, strict=True):
            assert (w is None) == (g is None), what
            if w is None:
                continue
            assert (g.dtype, g.shape, g.device.type) == (w.dtype, w.shape, "tpu"), what
            if not random:
                assert_close(g, w, "", factor=factor, what=what)
