"""Random ops: the same seed gives the same numbers, in every mode."""

from unittest import mock

import expected
import torch
from torch.utils._pytree import tree_leaves

from .comparison import names_device, on_device, work_on


def is_random(op, dtype):
    return op.full_name in expected.RANDOM


def drawn(function, arguments, seed=5):
    """The tensors of one call, on the CPU."""
    first, args, kwargs = on_device(arguments)
    torch.manual_seed(seed)
    with work_on("tpu"):
        result = function(first, *args, **kwargs)
    return [x.detach().cpu() if isinstance(x, torch.Tensor) else x for x in tree_leaves(result)]


def check_modes(op, arguments):
    """Twice in mode strict, in the recording modes, and compiled. A compiled graph may round differently, but not draw
    differently."""
    if not names_device(on_device(arguments)):
        return
    want = drawn(op, arguments)
    compare(drawn(op, arguments), want, "the second time", exact=True)
    for mode in ("fused", "auto"):
        with torch.tpu.mode(mode):
            compare(drawn(op, arguments), want, f"in mode {mode}")
    torch._dynamo.reset()
    compiled = torch.compile(lambda first, *args, **kwargs: op.op(first, *args, **kwargs))
    with unseeded(op):
        compare(drawn(compiled, arguments), drawn(op, arguments), "compiled")


def unseeded(op):
    """Some entries seed in every call, behind a fork of generators that dynamo cannot follow; `drawn` has seeded."""
    names = getattr(op.op, "__globals__", {})
    is_seeding = "wrapper_set_seed" in names
    direct = {"wrapper_set_seed": lambda function, *args, **kwargs: function(*args, **kwargs)} if is_seeding else {}
    return mock.patch.dict(names, direct)


def compare(got, want, when, exact=False):
    for g, w in zip(got, want, strict=True):
        if not isinstance(w, torch.Tensor):
            assert g == w, when
            continue
        rtol, atol = (0, 0) if exact else expected.tolerance("", w.dtype)
        torch.testing.assert_close(g, w, rtol=rtol, atol=atol, equal_nan=True, msg=lambda text: f"{when}: {text}")
