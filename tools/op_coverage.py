"""Where every op of this torch runs on device tpu: natively, on the host, or not at all.

    python tools/op_coverage.py           write docs/op_coverage.md
    python tools/op_coverage.py --check   say whether it is up to date

The list is PyTorch's own: every `aten` overload that the dispatcher knows and that has no default (Composite) kernel,
so that a backend must do something about it. PyTorch derives all other overloads from these.
"""

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import torch
import torch_tpu._C as core

PAGE = Path(__file__).resolve().parent.parent / "docs" / "op_coverage.md"

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
    "linalg": r"linalg|cholesky|lu_|_lu|qr|eig|svd|triangular|lstsq|ldl|householder|det|inverse|cross",
    "fft": r"^_fft",
    "optimizer": r"_fused_(adam|adamw|sgd|adagrad)|_amp_",
    "foreach": r"^_foreach",
    "attention": r"attention|transformer",
    "random": r"philox|dropout|rand|poisson|gamma|dirichlet|binomial|multinomial",
    "rnn": r"lstm|gru|rnn",
    "embedding": r"embedding",
    "sized by data": r"nonzero|unique|masked_select|histogram|histc|bincount",
}


@dataclass(frozen=True)
class Overload:
    name: str  # "add.out"
    where: str  # "native", "host", "error"
    group: str
    is_dense: bool

    @property
    def base(self):
        return self.name.partition(".")[0]


def has_kernel(name, key):
    return torch._C._dispatch_has_kernel_for_dispatch_key("aten::" + name, key)


def has_host_kernel(name):
    return torch._C._dispatch_has_computed_kernel_for_dispatch_key("aten::" + name, "CPU")


def required():
    """Overloads without a default kernel, sorted."""
    names = (name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    return sorted(name for name in names if not any(has_kernel(name, key) for key in DEFAULTS))


def where(name):
    # A few rows have no kernel of their own name: `copy_` comes to the device as `_copy_from`.
    if has_kernel(name, "PrivateUse1") or any(name == row for row, _, _ in core.rows()):
        return "native"
    return "host" if has_host_kernel(name) else "error"


def overloads():
    """Every required overload, and every row that replaces a default kernel."""
    families = {name: family for name, family, _ in core.rows()}
    of_base = {name.partition(".")[0]: family for name, family in families.items()}
    listed = []
    for name in sorted({*required(), *families}):
        base = name.partition(".")[0]
        group, dense = families.get(name), True
        if group is None:
            foreign = [key for key, rule in NOT_DENSE.items() if re.search(rule, base)]
            dense = not foreign
            named = [key for key, rule in GROUPS.items() if re.search(rule, base)]
            sibling = of_base.get(base) or of_base.get(base.rstrip("_"))
            group = (foreign or [sibling] * bool(sibling) or named or ["runtime and other"])[0]
        listed.append(Overload(name, where(name), group, dense))
    return listed


def page():
    listed = overloads()
    groups = defaultdict(list)
    for overload in listed:
        groups[overload.group].append(overload)
    dense = [overload for overload in listed if overload.is_dense]

    def count(some, place):
        return sum(overload.where == place for overload in some)

    def names(some, place):
        return ", ".join(f"`{overload.name}`" for overload in some if overload.where == place)

    version = ".".join(torch.__version__.split(".")[:2])
    lines = [
        "# Op coverage",
        "",
        "Written by `tools/op_coverage.py`; a test fails when it is out of date.",
        "",
        f"torch {version} has {len(dense)} dense overloads that a device must answer for; PyTorch derives the rest.",
        f"**{count(dense, 'native')} are native** (one StableHLO program, or metadata only), "
        f"**{count(dense, 'host')} run on the host** through PyTorch's CPU kernel,",
        f"**{count(dense, 'error')} raise NotImplementedError** with the op's name, because torch has no CPU kernel.",
        "",
        "| group | native | host | error |",
        "|---|---:|---:|---:|",
    ]
    order = sorted(groups, key=lambda group: (not groups[group][0].is_dense, group))
    for group in order:
        some = groups[group]
        note = "" if some[0].is_dense else " (not dense)"
        anchor = re.sub("[^a-z -]", "", group.lower()).replace(" ", "-")
        counts = " | ".join(str(count(some, place) or "") for place in ("native", "host", "error"))
        lines.append(f"| [{group}](#{anchor}){note} | {counts} |")
    for group in order:
        lines += ["", f"## {group}"]
        for place, title in (("native", "Native"), ("host", "On the host"), ("error", "NotImplementedError")):
            if count(groups[group], place):
                lines += ["", f"{title}: {names(groups[group], place)}"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when the page is out of date")
    check = parser.parse_args().check
    text = page()
    if check:
        current = PAGE.exists() and PAGE.read_text() == text
        print(f"{PAGE.name} is {'up to date' if current else 'out of date: run tools/op_coverage.py'}")
        return int(not current)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
