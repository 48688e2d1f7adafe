"""Where every op of this torch runs on device `tpu`: natively, on the host, or not at all.

The list is PyTorch's own: every `aten` overload that the dispatcher knows and that has no default (Composite) kernel,
so that a backend must do something about it. PyTorch derives all other overloads from these. A name is that of an
overload: "add.out" of aten, "torchvision::nms" of another library.

Which tests of the sweep (`make opinfo`) called it, and how they ended, is in op_tests.json, which the sweep writes.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

import torch

DEFAULTS = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")

# Overloads that are no op of a dense device tensor: other layouts, other vendors' libraries, torch's own test ops. A
# tensor of such a layout cannot be on the device, so these are listed but not counted.
NOT_DENSE = {
    "vendor": r"cudnn|miopen|mkldnn|_?mps(_|$)|_for_mps|cslt|semi_structured|triton|int4pack|int8pack|dyn_quant|"
    r"mixed_dtypes_linear|scaled_grouped_mm|conv_depthwise|lstm_mps|^(linear|matmul|max_pool2d)_backward$|"
    r"_fused_dropout|_masked_scale",
    "nested": r"nested|jagged|padded_dense|to_padded_tensor",
    "sparse": r"sparse|^native_norm$|^_?(indices|values|nnz|dimI|dimV|coalesce.*|spsolve|to_dense)$|hspmm|sspaddmm|"
    r"convert_indices_from",
    "quantized": r"quantize|quantized|^q_|^qscheme$|^int_repr$|choose_qparams",
    "torch's tests": r"^_test_|^_foobar$",
}

# Groups of dense overloads that have no row and no sibling with one, by base name; the first that matches.
GROUPS = {
    "convolution": r"^slow_conv|^_slow_conv",
    "pool": r"^fractional_max_pool",
    "loss": r"ctc_loss",
    "linalg": r"linalg|cholesky|lu_|_lu|qr|(^|_)eig|svd|triangular|lstsq|ldl|householder|det|inverse|cross",
    "optimizer": r"_fused_(adam|adamw|sgd|adagrad)|_amp_",
    "foreach": r"^_foreach",
    "attention": r"attention|transformer",
    "random": r"philox|dropout|rand|poisson|gamma|dirichlet|binomial|multinomial",
    "rnn": r"lstm|gru|rnn",
    "embedding": r"embedding",
    "sized by data": r"nonzero|unique|masked_select|histogram|histc|bincount",
}


TESTS = Path(__file__).with_name("op_tests.json")


@dataclass(frozen=True)
class Tests:
    """Those that called an overload; the dtypes are of tensors in the ones that passed."""

    passed: int = 0
    made: int = 0
    dtypes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overload:
    name: str  # "add.out"
    where: str  # "native", "host", "error"
    group: str
    is_dense: bool
    tests: Tests


def has_kernel(name: str, key: str) -> bool:
    """Whether the overload has a kernel of its own for a dispatch key."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(_qualified(name), key)


def has_host_kernel(name: str) -> bool:
    """Whether the CPU, or a composite kernel, can run it."""
    return torch._C._dispatch_has_computed_kernel_for_dispatch_key(_qualified(name), "CPU")


def _qualified(name: str) -> str:
    return name if "::" in name else "aten::" + name


def required() -> list[str]:
    """Overloads without a default kernel, sorted."""
    names = (name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    return sorted(name for name in names if not any(has_kernel(name, key) for key in DEFAULTS))


def where(name: str) -> str:
    """ "native", "host" or "error"."""
    # A few rows have no kernel of their own name: `copy_` comes to the device as `_copy_from`.
    if has_kernel(name, "PrivateUse1") or name in _families():
        return "native"
    return "host" if has_host_kernel(name) else "error"


@functools.cache
def _families() -> dict[str, str]:
    from torch_tpu import _C  # when it is asked for: the module is imported where the installation may be broken

    return {name: family for name, family, _ in _C.rows()}


@functools.cache
def _family_of_base() -> dict[str, str]:
    return {name.partition(".")[0]: family for name, family in _families().items()}


def group_of(name: str) -> tuple[str, bool]:
    """The family of its row, or of a sibling's row, or what its name says (another library's: that library); and
    whether it is an op of dense tensors."""
    if name in _families():
        return _families()[name], True
    if "::" in name:
        return name.partition("::")[0], True
    base = name.partition(".")[0]
    foreign = [key for key, rule in NOT_DENSE.items() if re.search(rule, base)]
    named = [key for key, rule in GROUPS.items() if re.search(rule, base)]
    sibling = _family_of_base().get(base) or _family_of_base().get(base.rstrip("_"))
    return (foreign or [sibling] * bool(sibling) or named or ["runtime and other"])[0], not foreign


def overloads() -> list[Overload]:
    """Every required overload, and every row that replaces a default kernel."""
    names = sorted({*required(), *_families()})
    made = tests()
    return [Overload(name, where(name), *group_of(name), made.get(name, Tests())) for name in names]


@functools.cache
def tests() -> dict[str, Tests]:
    """What the sweep found, by overload."""
    listed = json.loads(TESTS.read_text())["overloads"]
    return {name: Tests(passed, made, tuple(dtypes)) for name, (passed, made, dtypes) in listed.items()}
