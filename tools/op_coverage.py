"""Where every op of this torch runs on device tpu: natively, on the host, or not at all.

    python tools/op_coverage.py           write docs/op_coverage.md
    python tools/op_coverage.py --check   say whether it is up to date

The list is that of torch_tpu.coverage; `python -m torch_tpu ops` shows it too.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

import torch

from torch_tpu.coverage import has_host_kernel, has_kernel, overloads, required, where

__all__ = ["has_host_kernel", "has_kernel", "overloads", "page", "required", "where"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "op_coverage.md"


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
        anchor = re.sub("[^a-z_ -]", "", group.lower()).replace(" ", "-")
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
