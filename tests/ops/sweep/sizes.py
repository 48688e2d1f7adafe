"""Arguments of unusual sizes and layouts: no elements, no dimensions, gaps between elements."""

import torch
from torch.testing._internal.common_utils import noncontiguous_like
from torch.utils._pytree import tree_map

from .comparison import check_call


def changed(arguments, change, is_first_only=False):
    """The arguments with every strided tensor, or the first one alone, changed; None where that changes nothing."""
    seen = differs = 0

    def apply(x):
        nonlocal seen, differs
        if not isinstance(x, torch.Tensor) or x.layout != torch.strided or x.is_conj() or x.is_neg():
            return x
        seen += 1
        if is_first_only and seen > 1:
            return x
        other = change(x.detach())
        differs += other is not x
        return other

    other = tree_map(apply, arguments)
    return other if differs else None


def gap(x):
    return noncontiguous_like(x.clone()) if x.numel() else x


def without_elements(x):
    return x.narrow(0, 0, 0) if x.dim() and x.shape[0] else x


def without_dimensions(x):
    return x.flatten()[0].clone() if x.dim() and x.numel() else x


def check_gaps(op, arguments):
    """No tensor is dense."""
    other = changed(arguments, gap)
    if other is not None:
        check_call(op, other, op.full_name)


def check_no_elements(op, arguments):
    """The first dimension of all tensors, or of the first one, is zero."""
    check_both(op, arguments, without_elements)


def check_no_dimensions(op, arguments):
    """All tensors, or the first one, are single numbers."""
    check_both(op, arguments, without_dimensions)


def check_both(op, arguments, change):
    for is_first_only in (False, True):
        other = changed(arguments, change, is_first_only)
        if other is not None:
            check_call(op, other, op.full_name)
