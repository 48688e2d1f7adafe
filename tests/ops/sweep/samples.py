"""Arguments of an op: (the first one, the others, those with a name)."""

from itertools import islice

import torch
from torch.testing._internal.common_utils import set_rng_seed
from torch.utils._pytree import tree_leaves, tree_map

from .comparison import strides_of


def seeded(samples):
    """What `samples` yields, each drawn from the same seed: the same in every process, however many are taken.

    So do the iterators of OpInfo.sample_inputs and error_inputs; but each looks twice through the whole call stack for
    a unittest (inspect.stack), which takes longer than most tests here.
    """
    samples = iter(samples)
    while True:
        set_rng_seed()
        try:
            yield next(samples)
        except StopIteration:
            return


def sample_inputs(op, dtype, requires_grad=False):
    """The SampleInputs of an op_db entry, on the CPU."""
    return seeded(op.sample_inputs_func(op, "cpu", dtype, requires_grad))


def samples_of(op, dtype, requires_grad, count=None):
    """The arguments of the first `count` sample inputs, or of all."""
    samples = islice(sample_inputs(op, dtype, requires_grad), count)
    return [(sample.input, sample.args, sample.kwargs) for sample in samples]


def column_major(x):
    backwards = tuple(range(x.dim()))[::-1]
    return x.permute(backwards).contiguous().permute(backwards)


def channels_last(x):
    return x.contiguous(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d)


LAYOUTS = {"column-major": (column_major, range(2, 10)), "channels_last": (channels_last, (4, 5))}


def laid_out(arguments, layout):
    """The tensors that have a fitting rank rearranged in memory, or None where that changes nothing."""
    rearrange, ranks = LAYOUTS[layout]
    changed = False

    def lay_out(x):
        nonlocal changed
        if not isinstance(x, torch.Tensor) or x.layout != torch.strided or x.dim() not in ranks or x.numel() < 2:
            return x
        other = rearrange(x.detach())
        changed |= strides_of(other) != strides_of(x)
        return other.requires_grad_(x.requires_grad)

    rearranged = tree_map(lay_out, arguments)
    return rearranged if changed else None


def elements_in(arguments):
    return sum(x.numel() for x in tree_leaves(arguments) if isinstance(x, torch.Tensor))


def largest_laid_out(op, dtype, requires_grad, layout):
    """Of the first samples the one with most elements: small ones have few strides that tell layouts apart."""
    samples = [laid_out(arguments, layout) for arguments in samples_of(op, dtype, requires_grad, 12)]
    return max(filter(None, samples), key=elements_in, default=None)
