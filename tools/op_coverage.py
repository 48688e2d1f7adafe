"""Where every op of this torch runs on device tpu: natively, on the host, or not at all; and what the sweep says of it.

    python tools/op_coverage.py           write docs/op_coverage.md
    python tools/op_coverage.py --check   say whether it is up to date

The list is that of torch_tpu.coverage; `python -m torch_tpu ops` shows it too.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import torch

from torch_tpu.coverage import has_host_kernel, has_kernel, overloads, required, where

__all__ = ["has_host_kernel", "has_kernel", "overloads", "page", "required", "where"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "op_coverage.md"
SHORT = {
    "float32": "f32", "bfloat16": "bf16", "float16": "f16", "float64": "f64", "int64": "i64", "int32": "i32",
    "uint8": "u8", "bool": "bool", "complex64": "c64",
}  # fmt: skip
PLACES = ("native", "host", "error")


def page():
    listed = overloads()
    groups = defaultdict(list)
    for overload in listed:
        groups[overload.group].append(overload)
    dense = [overload for overload in listed if overload.is_dense]
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
        "*Tests* are those of the sweep (`make opinfo`, [op_results.md](op_results.md)) that called the overload; "
        "*dtypes* are of the tensors in the ones that passed.",
        "",
        "| group | native | host | error | tests passed |",
        "|---|---:|---:|---:|---:|",
    ]
    order = sorted(groups, key=lambda group: (not groups[group][0].is_dense, group))
    lines += [summary(group, groups[group]) for group in order]
    for group in order:
        lines += ["", f"## {group}", ""]
        lines += table(groups[group]) if groups[group][0].is_dense else lists(groups[group])
    return "\n".join(lines) + "\n"


def count(some, place):
    return sum(overload.where == place for overload in some)


def summary(group, some):
    note = "" if some[0].is_dense else " (not dense)"
    anchor = "".join(c for c in group.lower() if c.isalpha() or c in " -_").replace(" ", "-")
    counts = " | ".join(str(count(some, place) or "") for place in PLACES)
    passed, made = (sum(getattr(overload.tests, what) for overload in some) for what in ("passed", "made"))
    return f"| [{group}](#{anchor}){note} | {counts} | {f'{passed} of {made}' if made else ''} |"


def table(some):
    lines = ["| overload | where | dtypes | tests passed |", "|---|---|---|---:|"]
    for overload in sorted(some, key=lambda overload: (PLACES.index(overload.where), overload.name)):
        tests = overload.tests
        dtypes = " ".join(SHORT[dtype] for dtype in tests.dtypes)
        passed = f"{tests.passed} of {tests.made}" if tests.made else ""
        lines.append(f"| `{overload.name}` | {overload.where} | {dtypes} | {passed} |")
    return lines


def lists(some):
    lines = []
    for place, title in zip(PLACES, ("Native", "On the host", "NotImplementedError"), strict=True):
        if count(some, place):
            names = ", ".join(f"`{overload.name}`" for overload in some if overload.where == place)
            lines += [f"{title}: {names}", ""]
    return lines[:-1]


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
