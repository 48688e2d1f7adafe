"""Wrong arguments raise on `tpu` what they raise on the CPU."""

import torch
from torch.utils._pytree import tree_leaves

from .comparison import check_call
from .samples import seeded


def has_error_inputs(op, dtype):
    return op.error_inputs_func is not None


def error_inputs(op, dtype, count):
    """OpInfo's wrong calls. They have dtypes of their own."""
    wrong = [error.sample_input for error in seeded(op.error_inputs_func(op, "cpu"))]
    calls = [(sample.input, sample.args, sample.kwargs) for sample in wrong]
    return [call for call in calls if not _is_of_another_device(call)]


def _is_of_another_device(call):
    places = [x.device if isinstance(x, torch.Tensor) else x for x in tree_leaves(call)]
    return any(isinstance(place, torch.device) and place.type != "cpu" for place in places)


def check_error(op, arguments):
    """The same class of exception; where the CPU takes the call after all, the same result."""
    check_call(op, arguments, op.full_name, same_class=True)
