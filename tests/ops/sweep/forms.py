"""`out=` and in-place forms of an op."""

import expected
import torch
from torch.testing._internal.common_utils import noncontiguous_like
from torch.utils._pytree import tree_leaves, tree_map

from .comparison import assert_close, on_device, outcome, strides_of
from .samples import sample_inputs


def empty_of_size_zero(x):
    return torch.empty(0, dtype=x.dtype)


def spread(x):
    """A tensor of the same shape whose elements do not touch."""
    return noncontiguous_like(torch.empty_like(x, memory_format=torch.contiguous_format))


def stained(x):
    """With elements that the call must overwrite."""
    return x.detach().fill_(True if x.dtype == torch.bool else 77)


OUTS = {"like the result": torch.empty_like, "to be resized": empty_of_size_zero, "not dense": spread}


def assert_written(got, want, name, what=""):
    """By value; what a random op wrote by its strides."""
    if name in expected.RANDOM:
        assert strides_of(got) == strides_of(want), f"strides of {what or 'the result'} of {tuple(want.shape)}"
    else:
        assert_close(got, want, name, what=what)


def has_out(op, dtype):
    return op.supports_out


def check_out(op, arguments):
    """Tensors to write to that lie like the result, that have to grow, and that have gaps."""
    want, refused = outcome(op, arguments)
    results = tree_leaves(want)
    if refused is not None or not results or not all(isinstance(x, torch.Tensor) for x in results):
        return
    for title, make in OUTS.items():
        outs = tree_map(lambda x, make=make: stained(make(x)), want)
        outs = outs if isinstance(outs, torch.Tensor) else tuple(tree_leaves(outs))
        check_one_out(op, arguments, outs, title)


def check_one_out(op, arguments, outs, title):
    first, args, kwargs = arguments
    here = (first, args, kwargs | {"out": outs})
    there = on_device(here)
    _, refused = outcome(op, here)
    got, error = outcome(op, there)
    if refused is not None:
        assert type(error) is type(refused), f"out {title}: CPU raises {refused!r}, tpu {error!r}"
        return
    if error is not None:
        raise AssertionError(f"out {title}: {error!r}") from error
    written = tree_leaves(there[2]["out"])
    assert all(g is o for g, o in zip(tree_leaves(got), written, strict=True)), f"out {title}: another tensor came back"
    for g, w in zip(written, tree_leaves(outs), strict=True):
        assert (g.dtype, g.shape) == (w.dtype, w.shape), f"out {title}"
        assert_written(g, w, op.full_name, what=f"out {title}")


def has_in_place(op, dtype):
    return op.get_inplace() is not None


def in_place_samples(op, dtype, count):
    """Those whose first argument has the shape of the result."""
    samples = []
    for sample in sample_inputs(op, dtype):
        if not sample.broadcasts_input and isinstance(sample.input, torch.Tensor):
            samples.append((sample.input, sample.args, sample.kwargs))
        if len(samples) == count:
            break
    return samples


def check_in_place(op, arguments):
    """The first argument has the result, and the same strides as before."""
    function = op.get_inplace()
    first, args, kwargs = tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, arguments)
    here = (first, args, kwargs)
    there = on_device(here)
    want, refused = outcome(function, here)
    got, error = outcome(function, there)
    if refused is not None:
        assert type(error) is type(refused), f"CPU raises {refused!r}, tpu {error!r}"
        return
    if error is not None:
        raise error
    assert (got is there[0]) == (want is first), "another tensor came back"
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert_written(there[0], first, op.full_name)
