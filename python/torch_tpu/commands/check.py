"""Says what a TPU's compiler thinks of a script: runs it here, and compiles its programs for a topology.

The script runs on the plugin that is here, in mode `fused`. Every program it ran is lowered again for the TPU and
compiled by libtpu, without a TPU: accepted or refused, FLOPs, bytes; then whether the whole run fits into the memory of
a device. The options may stand before or after the script; what follows `--` is the script's alone. The exit code is 0
when the script ended well, every program is accepted and the run fits, 2 for bad usage, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from typing import Any

from torch_tpu import plugins, scripts, topology

DEFAULTS = {"topology": None, "compiler": None, "timeout": 600.0, "json": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    _add_options(parser)
    parser.add_argument("script", help="the Python file to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")


def _add_options(parser: argparse.ArgumentParser) -> None:
    absent = argparse.SUPPRESS  # the options are parsed twice, before and after the script
    parser.add_argument("--topology", metavar="NAME", default=absent, help=f"the TPUs, e.g. {topology.EXAMPLES}")
    parser.add_argument("--compiler", metavar="PATH", default=absent, help="a plugin to compile with, not libtpu")
    parser.add_argument("--timeout", type=float, metavar="S", default=absent, help="seconds per program (default 600)")
    parser.add_argument("--json", action="store_true", default=absent, help="print everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the script and prints the verdict; gives the exit code."""
    options = scripts.options_of("check", arguments, _add_options, DEFAULTS)
    try:
        compiler_path = _usable(options)
    except ValueError as error:
        print(f"check: {error}", file=sys.stderr)
        return 2
    with topology.Compiler(compiler_path, options.topology, options.timeout) as compiler:
        try:
            device = compiler.describe()
        except topology.Refusal as refusal:
            print(
                f"check: the compiler refuses the topology '{options.topology}': {refusal}\n"
                f"Names that libtpu knows: {topology.EXAMPLES}",
                file=sys.stderr,
            )
            return 2
        report = {"script": options.script, "topology": options.topology, "compiler": compiler_path, "device": device}
        with scripts.output_to_stderr() if options.json else contextlib.nullcontext():
            report |= run_script(options.script, options.arguments)
        report["programs"] = [judge(program, compiler) for program in report["programs"]]
    report["memory"] = memory_verdict(report["programs"], device["memory_limit"])
    report["ok"] = (
        report["error"] is None
        and bool(report["programs"])
        and all(program["accepted"] for program in report["programs"])
        and report["memory"]["fits"] is True
    )
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print_report(report)
    return 0 if report["ok"] else 1


def _usable(options: argparse.Namespace) -> str:
    """The path of the compiler; ValueError for what cannot be checked."""
    if options.topology is None:
        raise ValueError(f"name the TPUs to compile for: --topology NAME, e.g. {topology.EXAMPLES}")
    topology.check_name(options.topology)
    if not os.path.isfile(options.script):
        raise ValueError(f"there is no script {options.script}")
    named = options.compiler or os.environ.get("TORCH_TPU_TOPOLOGY_COMPILER")
    if named:
        if not os.path.isfile(named):
            raise ValueError(f"the compiler {named} is not a file")
        return named
    found = plugins.package_file("libtpu", "libtpu.so")
    if not found:
        raise ValueError(
            "programs are compiled by libtpu, which is not installed. Install it: pip install 'torchtpu[tpu-check]' "
            "(or pip install libtpu), or name another plugin with --compiler"
        )
    return found


def run_script(script: str, arguments: list[str]) -> dict[str, Any]:
    """Runs the script as Python would, noting its programs: programs, host_ops, and the error that ended it or None."""
    import torch

    from torch_tpu import _C

    torch.tpu.init()
    torch.tpu.set_mode("fused")
    _C.reset_host_ops()
    _C.set_journal(True)
    try:
        ending = scripts.run(script, arguments)
    finally:
        _C.cut()
        _C.set_journal(False)
    host_ops = [{"name": name, "calls": calls, "bytes": size} for name, calls, size, _ in _C.host_ops()]
    return {"error": ending.error, "programs": _C.journal(), "host_ops": host_ops}


def judge(program: dict[str, Any], compiler: topology.Compiler) -> dict[str, Any]:
    """The program of a journal with the compiler's verdict in place of its text."""
    verdict: dict[str, Any] = {key: program[key] for key in ("name", "runs", "lines", "other_bytes")}
    verdict |= {"accepted": False, "refusal": None, "reason": program["error"], "flops": None, "bytes": None}
    if program["text"] is None:
        return verdict | {"refusal": "lowering"}
    try:
        facts = compiler.compile(program["text"])
    except topology.Refusal as refusal:
        return verdict | {"refusal": refusal.kind, "reason": str(refusal)}
    flops = facts.pop("flops")
    needed = facts["total_allocation"] + facts["generated_code"] + program["other_bytes"]
    return verdict | {"accepted": True, "flops": flops, "bytes": facts, "needed": needed}


def memory_verdict(programs: list[dict[str, Any]], limit: int | None) -> dict[str, Any]:
    """Whether the run fits: its largest program, with what was live besides, against the bytes of a device. None where
    that cannot be told."""
    accepted = [(program["needed"], number) for number, program in enumerate(programs) if program["accepted"]]
    peak, at = max(accepted, default=(0, None), key=lambda pair: pair[0])
    fits = None if limit is None else peak <= limit
    if any(program["refusal"] == "memory" for program in programs):
        fits = False
    elif fits and len(accepted) < len(programs):
        fits = None  # nobody knows what those need that are refused
    return {"peak": peak, "program": at, "limit": limit, "fits": fits}


def print_report(report: dict[str, Any]) -> None:
    """The report for people."""
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        print(json.dumps(report, indent=2))
        print("check: the table needs the package rich: pip install rich", file=sys.stderr)
        return
    device, folder = report["device"], os.path.dirname(os.path.abspath(report["script"])) + os.sep
    title = f"{report['script']} on {report['topology']} ({device['kind']}, {device['devices']} devices)"
    table = Table(title=escape(title), title_justify="left", show_lines=True)
    for name, style in (("#", {}), ("program", {"ratio": 3}), ("runs", {}), ("verdict", {"ratio": 2})):
        table.add_column(name, justify="right" if name in ("#", "runs") else "left", **style)
    for name in ("FLOPs", "memory", "beside it"):
        table.add_column(name, justify="right")
    for number, program in enumerate(report["programs"]):
        lines = program["lines"]
        shown = 3 if program["accepted"] else 12  # somewhere there is what the compiler refuses
        where = "\n".join(line.removeprefix(folder) for line in lines[:shown]) + (
            f"\nand {len(lines) - shown} more" if len(lines) > shown else ""
        )
        facts = program["bytes"]
        own = scripts.in_bytes(facts["total_allocation"] + facts["generated_code"]) if facts else "-"
        table.add_row(
            str(number),
            escape(f"{program['name']}\n{where}".strip()),
            str(program["runs"]),
            "[green]accepted[/]" if program["accepted"] else f"[red]refused[/]: {escape(program['reason'])}",
            "-" if program["flops"] is None else f"{program['flops']:.3g}",
            own,
            scripts.in_bytes(program["other_bytes"]),
        )
    wide = None if sys.stdout.isatty() else 140
    console = Console(width=wide, highlight=False, soft_wrap=False)
    console.print(table)
    for op in report["host_ops"]:
        size = scripts.in_bytes(op["bytes"])
        print(f"host op  {op['name']}: {op['calls']} calls, {size}; runs on the host, not on the TPU")
    for line in verdict_lines(report):
        print(line)


def verdict_lines(report: dict[str, Any]) -> list[str]:
    """What follows the table: the script's end, the programs, the memory."""
    programs, memory = report["programs"], report["memory"]
    refused = sum(not program["accepted"] for program in programs)
    lines = [] if report["error"] is None else [f"script   FAILED: {report['error']}"]
    if not programs:
        return [*lines, "programs NONE: the script ran nothing on device `tpu`"]
    lines.append(f"programs {len(programs) - refused} accepted, {refused} refused")
    limit = "unknown" if memory["limit"] is None else scripts.in_bytes(memory["limit"])
    where = "" if memory["program"] is None else f" (program {memory['program']}, with what was live beside it)"
    verdict = {True: "the run fits", False: "the run DOES NOT FIT", None: "whether the run fits is UNKNOWN"}
    lines.append(
        f"memory   {verdict[memory['fits']]}: peak {scripts.in_bytes(memory['peak'])}{where}, limit {limit} per device"
    )
    return lines
