"""Says which ops run natively on `tpu`, which on the host, and which not at all: of this build, or of a script.

Without a script: every ATen overload that a device must answer for, with the tests of the sweep that called it: the
dtypes in which they passed, and how many did. With one: the script runs here, and every op that it called on `tpu` is
listed with its calls, the dtypes seen, and for host ops the bytes and the Python lines. The options may stand before or
after the script; what follows `--` is the script's alone. The exit code is the script's own, 1 when an exception ended
it, 2 for bad usage.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import html
import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from torch_tpu import coverage, scripts

PLACES = ("native", "host", "error")
DEFAULTS = dict.fromkeys((*PLACES, "json"), False) | dict.fromkeys(("group", "name", "html"))
COLORS = {"native": "green", "host": "yellow", "error": "red"}
SHOWN_LINES = 5  # per op, in the tables

Row = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    _add_options(parser)
    parser.add_argument("script", nargs="?", help="a Python file to run; without it, the ops of this build")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")


def _add_options(parser: argparse.ArgumentParser) -> None:
    absent = argparse.SUPPRESS  # the options are parsed twice, before and after the script
    for place, text in zip(PLACES, ("run as a program here", "run on the host", "cannot run"), strict=True):
        parser.add_argument(f"--{place}", action="store_true", default=absent, help=f"only ops that {text}")
    parser.add_argument("--group", metavar="NAME", default=absent, help="only ops of this group, e.g. linalg")
    parser.add_argument("--name", metavar="PATTERN", default=absent, help="only ops of such a name, e.g. 'linalg_*'")
    parser.add_argument("--json", action="store_true", default=absent, help="print everything as JSON")
    parser.add_argument("--html", metavar="FILE", default=absent, help="write a page instead of a table")


def run(arguments: argparse.Namespace) -> int:
    """Makes the report; gives the exit code."""
    options = scripts.options_of("ops", arguments, _add_options, DEFAULTS)
    code, report = 0, {"script": options.script, "error": None}
    if options.script is None:
        rows = build_rows()
    elif not os.path.isfile(options.script):
        print(f"ops: there is no script {options.script}", file=sys.stderr)
        return 2
    else:
        with scripts.output_to_stderr() if options.json else contextlib.nullcontext():
            ending, rows = run_script(options.script, options.arguments)
        code, report["error"] = ending.code, ending.error
    report["ops"] = [row for row in rows if _is_wanted(row, options)]
    show(report, options)
    return code


def show(report: dict[str, Any], options: argparse.Namespace) -> None:
    """Prints or writes the report, as the options say."""
    if options.html:
        with open(options.html, "w", encoding="utf-8") as file:
            file.write(html_page(report))
        print(f"ops: wrote {options.html}", file=sys.stderr)
    if options.json:
        print(json.dumps(report, indent=2))
    elif not options.html:
        print_table(report)
    if not options.json:
        print("\n".join(verdict_lines(report)))


def build_rows() -> list[Row]:
    """Every overload that a device must answer for: name, where, group, is_dense; tests that called it, and passed."""
    return [
        {
            "name": each.name,
            "where": each.where,
            "group": each.group,
            "is_dense": each.is_dense,
            "dtypes": list(each.tests.dtypes),
            "tests_passed": each.tests.passed,
            "tests": each.tests.made,
        }
        for each in coverage.overloads()
    ]


def run_script(script: str, arguments: list[str]) -> tuple[scripts.Ending, list[Row]]:
    """Runs the script; how it ended, and the ops that it called on the device, errors and host ops first."""
    import torch

    from torch_tpu import _C

    torch.tpu.init()
    torch.tpu.reset_host_ops()
    _C.count_calls(True)
    try:
        ending = scripts.run(script, arguments)
    finally:
        _C.count_calls(False)
    return ending, matrix(_C.counted_calls(), torch.tpu.host_ops())


def matrix(counted: Iterable[tuple[str, int, int, list[Any]]], host_ops: Iterable[Any]) -> list[Row]:
    """One row per op: what _C.counted_calls() and torch.tpu.host_ops() say about it."""
    on_host = {op.name: op for op in host_ops}
    called = {name: (calls, failed, dtypes) for name, calls, failed, dtypes in counted}
    rows = []
    for full_name in sorted({*called, *on_host}):
        name = full_name.removeprefix("aten::")
        calls, failed, dtypes = called.get(full_name, (0, 0, []))
        host = on_host.get(full_name)
        place = "host" if host else "error" if failed == calls else coverage.where(name)
        rows.append(
            {
                "name": name,
                "where": place,
                "group": coverage.group_of(name)[0],
                "calls": calls,
                "failed": failed,
                "dtypes": [str(dtype).removeprefix("torch.") for dtype in dtypes],
                "host_calls": host.calls if host else 0,
                "host_bytes": host.bytes if host else 0,
                "places": dict(sorted(host.places.items(), key=lambda place: -place[1])) if host else {},
            }
        )
    worst = {"error": 0, "host": 1, "native": 2}
    return sorted(rows, key=lambda row: (worst[row["where"]], -row["calls"], row["name"]))


def _is_wanted(row: Row, options: argparse.Namespace) -> bool:
    places = [place for place in PLACES if getattr(options, place)]
    return (
        (not places or row["where"] in places)
        and options.group in (None, row["group"])
        and (options.name is None or fnmatch.fnmatchcase(row["name"], options.name))
    )


def verdict_lines(report: dict[str, Any]) -> list[str]:
    """What stands below the table: how many ops run where, and the script's end."""
    count = {place: sum(row["where"] == place for row in report["ops"]) for place in PLACES}
    lines = [f"ops      {count['native']} native, {count['host']} on the host, {count['error']} not at all"]
    if report["script"] and not report["ops"]:
        lines = ["ops      NONE: the script called no such op on device `tpu`"]
    return lines if report["error"] is None else [f"script   FAILED: {report['error']}", *lines]


# ---- tables


def _cells(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Titles of the columns and the cells below them; the first two are name and where."""
    if not report["script"]:
        titles = ["op", "where", "group", "dtypes", "tests passed"]
        return titles, [
            [row["name"], row["where"], row["group"], ", ".join(row["dtypes"]), _passed(row)] for row in report["ops"]
        ]
    folder = os.path.dirname(os.path.abspath(report["script"])) + os.sep
    titles = ["op", "where", "group", "calls", "failed", "dtypes", "host calls", "host bytes", "lines"]
    return titles, [
        [
            row["name"],
            row["where"],
            row["group"],
            str(row["calls"]),
            str(row["failed"] or ""),
            ", ".join(row["dtypes"]),
            str(row["host_calls"] or ""),
            scripts.in_bytes(row["host_bytes"]) if row["host_calls"] else "",
            "\n".join(_lines(row["places"], folder)),
        ]
        for row in report["ops"]
    ]


def _passed(row: Row) -> str:
    return f"{row['tests_passed']} of {row['tests']}" if row["tests"] else ""


def _lines(places: dict[str, int], folder: str) -> list[str]:
    shown = [f"{place.replace(folder, '')} ({calls})" for place, calls in list(places.items())[:SHOWN_LINES]]
    return shown + [f"and {len(places) - SHOWN_LINES} more"] * (len(places) > SHOWN_LINES)


def print_table(report: dict[str, Any]) -> None:
    """The report for people."""
    titles, rows = _cells(report)
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        scripts.print_plain([titles, *rows])
        return
    table = Table(title=escape(title_of(report)), title_justify="left")
    for title in titles:
        is_number = title in ("calls", "failed", "host calls", "host bytes", "tests passed")
        table.add_column(title, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        color = COLORS[row[1]]
        table.add_row(escape(row[0]), f"[{color}]{row[1]}[/]", *map(escape, row[2:]))
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)


def title_of(report: dict[str, Any]) -> str:
    """One line above the table."""
    return f"Ops of {report['script']} on tpu" if report["script"] else "Ops of this build on tpu"


def html_page(report: dict[str, Any]) -> str:
    """The report as one page without anything from outside."""
    titles, rows = _cells(report)
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = "\n".join(
        f'<tr class="{row[1]}">' + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    title = html.escape(title_of(report))
    verdict = "".join(f"<p>{html.escape(line)}</p>\n" for line in verdict_lines(report))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; margin: 2em; }}
table {{ border-collapse: collapse; }}
td, th {{ border-bottom: 1px solid #ddd; padding: 0.2em 0.8em; text-align: left; vertical-align: top; }}
td {{ white-space: pre-line; }}
.native td:nth-child(2) {{ background: #d6f5d6; }}
.host td:nth-child(2) {{ background: #fff0c2; }}
.error td:nth-child(2) {{ background: #ffd6d6; }}
</style>
</head>
<body>
<h1>{title}</h1>
{verdict}<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</body>
</html>
"""
