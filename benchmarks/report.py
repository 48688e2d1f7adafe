"""The tables of docs/benchmarks.md."""

import re
from pathlib import Path


def write(path, marker, rows, title=""):
    """Replaces what stands below the line `marker`, up to the next heading or comment, by a table; the first row is its
    head."""
    head, _, rest = path.read_text().partition(marker)
    after = re.search(r"\n(## |<!-- )", rest)
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    if title:
        lines[:0] = [title, ""]
    tail = rest[after.start() :] if after else ""
    path.write_text(head.rstrip() + "\n\n" + marker + "\n\n" + "\n".join(lines) + "\n" + tail)


def processor():
    """Of this machine, as Linux names it."""
    named = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return named[1] if named else "a processor without a name"
