"""Shows and tends the compiled programs on disk: ls, stats (the default), verify, prune, warm.

What is on disk is read without starting a plugin; `prune --foreign` loads it, to know which programs it could run, and
`warm` runs a script. The exit code is 1 when `verify` finds a bad file or something cannot be removed, that of the
script after `warm`, 2 for bad usage, else 0. See docs/caching.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

from torch_tpu import plugins, scripts

TEMPORARY = 3600  # seconds after which nobody writes a file any more
_SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_TIMES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_ORDERS = {"used": "used", "size": "bytes", "written": "written", "seconds": "seconds"}

File = dict[str, Any]  # a row of _C.cached_files()


class Refusal(Exception):
    """A request that makes no sense here; the exit code is 2."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(action=stats)
    actions = parser.add_subparsers(metavar="ACTION")

    def add(action: Any, text: str) -> argparse.ArgumentParser:
        own = actions.add_parser(action.__name__, help=text, description=action.__doc__)
        own.set_defaults(action=action)
        own.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print as JSON")
        return own

    own = add(ls, "the programs, last used first")
    own.add_argument("--sort", choices=sorted(_ORDERS), default="used", help="largest or latest first (default used)")
    own.add_argument("-n", type=int, metavar="N", help="only the first N")
    add(stats, "how many, how large, by which versions")
    own = add(verify, "compare the checksum of every file")
    own.add_argument("--remove", action="store_true", help="remove what is bad")
    own = add(prune, "remove what is not needed")
    own.add_argument("--bytes", type=size_of, metavar="SIZE", help="keep the last used ones of this size, e.g. 500M")
    own.add_argument(
        "--unused", type=seconds_of, metavar="TIME", help="remove what was not used for that long, e.g. 30d"
    )
    own.add_argument("--foreign", action="store_true", help="remove what this build, plugin and processor cannot use")
    own.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")
    own = add(warm, "run a script to fill the cache")
    own.add_argument("script", help="the Python file to run")
    own.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")


def run(arguments: argparse.Namespace) -> int:
    """Does what was asked; gives the exit code."""
    try:
        return arguments.action(arguments)
    except Refusal as refusal:
        print(f"cache: {refusal}", file=sys.stderr)
        return 2


# --- the actions


def ls(arguments: argparse.Namespace) -> int:
    """Lists every program: key, size, when it was compiled and last used, why, for which line, by which version."""
    key = _ORDERS[arguments.sort]
    files = sorted(_files(), key=lambda file: file.get(key, 0), reverse=True)[: arguments.n]
    if arguments.json:
        print(
            json.dumps({"directory": _directory(), "files": [{"key": _key(file), **file} for file in files]}, indent=2)
        )
        return 0
    now = time.time()
    rows = [("key", "size", "age", "last use", "compiled in", "cause", "line", "program", "version")]
    for file in files:
        row = (_key(file)[:12], scripts.in_bytes(file["bytes"]))
        used = _ago(now - file["used"])
        if file["fault"]:
            rows.append((*row, "", used, "", "", "", f"({file['fault']})", ""))
        else:
            took = f"{file['seconds'] * 1e3:.0f} ms"
            why = (file["cause"], file["line"], _short(file["name"]), _version(file))
            rows.append((*row, _ago(now - file["written"]), used, took, *why))
    _print_table(f"Programs in {_directory()}", rows, numbers=("size", "age", "last use", "compiled in"))
    return 0


def stats(arguments: argparse.Namespace) -> int:
    """Says how many programs there are, their bytes and the bound, by version."""
    groups: dict[str, dict[str, Any]] = {}
    files, core = _files(), _core()
    for file in files:
        name = f"({file['fault']})" if file["fault"] else _version(file)
        group = groups.setdefault(
            name, {"programs": 0, "bytes": 0, "used": 0.0, "this_build": file.get("core") == core}
        )
        group["programs"] += 1
        group["bytes"] += file["bytes"]
        group["used"] = max(group["used"], file["used"])
    report = {
        "directory": _directory(),
        "programs": sum(not file["fault"] for file in files),
        "bytes": sum(file["bytes"] for file in files),
        "bound": _bound(),
        "seconds": sum(file.get("seconds", 0) for file in files),
        "versions": groups,
    }
    if arguments.json:
        print(json.dumps(report, indent=2))
        return 0
    count, size, bound = report["programs"], scripts.in_bytes(report["bytes"]), scripts.in_bytes(report["bound"])
    print(f"{report['directory']}: {_programs(count)}, {size} of at most {bound}")
    print(f"compiling them took {report['seconds']:.1f} s")
    if groups:
        now = time.time()
        rows = [("version", "programs", "size", "last use", "this build")]
        for name, group in sorted(groups.items(), key=lambda item: -item[1]["used"]):
            mark = "yes" if group["this_build"] else "no"
            rows.append(
                (name, str(group["programs"]), scripts.in_bytes(group["bytes"]), _ago(now - group["used"]), mark)
            )
        _print_table("By version", rows, numbers=("programs", "size", "last use"))
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """Reads every file, compares its checksum, and names the bad ones. What a process writes now is not bad."""
    files = _files(whole=True)
    bad = [file for file in files if _is_bad(file)]
    kept = _remove(bad) if arguments.remove else bad
    if arguments.json:
        print(json.dumps({"directory": _directory(), "files": len(files), "bad": bad, "left": len(kept)}, indent=2))
    else:
        for file in bad:
            print(f"{file['path']}: {file['fault']}" + ("" if file in kept else ", removed"))
        print(f"{_directory()}: {len(files)} files, {len(bad)} bad")
    return 1 if bad and (kept or not arguments.remove) else 0


def prune(arguments: argparse.Namespace) -> int:
    """Removes what is damaged or left over, and what the options name. Without options also what is above the bound of
    TORCH_TPU_CACHE_BYTES, the least recently used first. Programs that run now keep running."""
    files, now = _files(), time.time()
    removed = [file for file in files if _is_bad(file)]
    if arguments.foreign:
        machine, core = _machine(), _core()
        ours = {"core": core, "machine": machine}
        removed += [
            file
            for file in files
            if file["fault"] == "foreign" or (not file["fault"] and any(file[key] != ours[key] for key in ours))
        ]
    if arguments.unused is not None:
        removed += [file for file in files if not file["fault"] and now - file["used"] > arguments.unused]
    has_option = arguments.foreign or arguments.unused is not None
    bound = arguments.bytes if arguments.bytes is not None or has_option else _bound()
    if bound is not None:
        gone = {file["path"] for file in removed}
        total = 0
        for file in files:  # last used first
            if file["path"] in gone:
                continue
            total += file["bytes"]
            if total > bound:
                removed.append(file)
    removed = list({file["path"]: file for file in removed}.values())
    left = [] if arguments.dry_run else _remove(removed)
    freed = sum(file["bytes"] for file in removed if file not in left)
    if arguments.json:
        paths = [file["path"] for file in removed if file not in left]
        print(json.dumps({"removed": paths, "bytes": freed, "left": [file["path"] for file in left]}, indent=2))
    else:
        verb = "would remove" if arguments.dry_run else "removed"
        count = len(removed) - len(left)
        print(f"{verb} {count} of {len(files)} files, {scripts.in_bytes(freed)}, in {_directory()}")
    return 1 if left else 0


def warm(arguments: argparse.Namespace) -> int:
    """Runs a script, so that what it compiles is on disk for the next run; says how many programs were compiled and how
    many were there already."""
    options = scripts.options_of("cache warm", arguments, _add_warm_options, {"json": False})
    _directory()
    if not os.path.isfile(options.script):
        raise Refusal(f"there is no script {options.script}")
    import torch

    from torch_tpu import _C

    with scripts.output_to_stderr() if options.json else contextlib.nullcontext():
        ending = scripts.run(options.script, options.arguments)
        _C.finish_background()
    counts = torch.tpu.cache_stats()
    keys = ("compiles", "compile_seconds", "disk_hits", "disk_bytes_written")
    report = {"script": options.script, "error": ending.error} | {key: counts[key] for key in keys}
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        compiled, seconds = _programs(counts["compiles"]), counts["compile_seconds"]
        written = scripts.in_bytes(counts["disk_bytes_written"])
        text = f"{compiled} compiled in {seconds:.1f} s ({written} written), {counts['disk_hits']} from disk"
        print(f"cache: {text}, in {_directory()}", file=sys.stderr)
    return ending.code


def _add_warm_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS)


# --- what they share


def size_of(text: str) -> int:
    """Bytes: "1000", "500M", "2 GiB"."""
    found = re.fullmatch(r"([0-9.]+)\s*([kmgt]?)(i?b)?", text.strip().lower())
    if not found:
        raise argparse.ArgumentTypeError(f"expected a size like 500M or 2G, got '{text}'")
    return int(float(found[1]) * _SIZES[found[2]])


def seconds_of(text: str) -> float:
    """Seconds: "90s", "12h", "30d"."""
    found = re.fullmatch(r"([0-9.]+)\s*([smhdw])", text.strip().lower())
    if not found:
        raise argparse.ArgumentTypeError(f"expected a time like 12h or 30d, got '{text}'")
    return float(found[1]) * _TIMES[found[2]]


def _directory() -> str:
    from torch_tpu import _C

    directory = _C.program_directory()
    if not directory:
        raise Refusal("the disk cache is off: TORCH_TPU_CACHE_DIR is `off`, or there is no home directory")
    return directory


def _files(whole: bool = False) -> list[File]:
    from torch_tpu import _C

    return _C.cached_files(_directory(), whole)


def _core() -> str:
    from torch_tpu import _C

    return _C.core_build()


def _machine() -> str:
    from torch_tpu import _C

    choice = plugins.find()
    if not choice.path:
        raise Refusal(f"which programs are foreign depends on the plugin: {choice.why}")
    try:
        return _C.machine_of(choice.path)
    except RuntimeError as error:
        raise Refusal(f"which programs are foreign depends on the plugin: {error}") from None


def _bound() -> int:
    from torch_tpu import _C

    fallbacks = {name: fallback for name, fallback, _ in _C.environment()}
    return int(os.environ.get("TORCH_TPU_CACHE_BYTES", fallbacks["TORCH_TPU_CACHE_BYTES"]))


def _is_bad(file: File) -> bool:
    if file["fault"] == "temporary":  # or being written
        return time.time() - file["used"] > TEMPORARY
    return file["fault"] not in ("", "foreign")  # another version of torch_tpu knows what that is


def _remove(files: Sequence[File]) -> list[File]:
    """Gives those that could not be removed."""
    left = []
    for file in files:
        try:
            os.unlink(file["path"])
        except FileNotFoundError:
            pass
        except OSError as error:
            print(f"cache: cannot remove {file['path']}: {error.strerror}", file=sys.stderr)
            left.append(file)
    return left


def _key(file: File) -> str:
    return os.path.basename(file["path"]).partition(".")[0]


def _version(file: File) -> str:
    return f"core {file['core'][:8]}, {file['plugin']}, machine {file['machine'][:8]}"


def _short(name: str) -> str:
    return name.removeprefix("aten::") if len(name) < 100 else name.removeprefix("aten::")[:97] + "..."


def _programs(count: int) -> str:
    return f"{count} program" + "s" * (count != 1)


def _ago(seconds: float) -> str:
    """90 s, 12 min, 3 h, 2 d"""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _print_table(title: str, rows: Sequence[Sequence[str]], numbers: Sequence[str]) -> None:
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        scripts.print_plain(rows)
        return
    table = Table(title=escape(title), title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(escape, row))
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)
