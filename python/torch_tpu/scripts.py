"""Commands that run a user's script: `python -m torch_tpu COMMAND [options] script.py [options and arguments]`."""

from __future__ import annotations

import argparse
import contextlib
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Ending(NamedTuple):
    """How a script ended."""

    error: str | None  # what ended it before its time
    code: int  # what the exit code of its own process would be


def options_of(
    command: str,
    arguments: argparse.Namespace,
    add_options: Callable[[argparse.ArgumentParser], None],
    defaults: Mapping[str, Any],
) -> argparse.Namespace:
    """The options of a command, given before or after the script; what follows `--` is the script's alone.

    `arguments.arguments` is everything after the script. `add_options` adds the options, all with the default SUPPRESS.
    """
    parser = argparse.ArgumentParser(prog=f"python -m torch_tpu {command}", add_help=False, allow_abbrev=False)
    add_options(parser)
    given = arguments.arguments
    cut = given.index("--") if "--" in given else len(given)
    later, own = parser.parse_known_args(given[:cut])
    merged = argparse.Namespace(**(defaults | vars(arguments) | vars(later)))
    merged.arguments = own + given[cut + 1 :]
    return merged


def run(script: str, arguments: list[str]) -> Ending:
    """Runs the script as Python would, up to the end of its work on the device; a traceback goes to standard error."""
    import torch

    argv, path, folder = sys.argv, list(sys.path), os.getcwd()
    sys.argv, sys.path[0] = [script, *arguments], os.path.dirname(os.path.abspath(script))
    try:
        ending = _ending_of(lambda: runpy.run_path(os.path.abspath(script), run_name="__main__"))
        return ending if ending.error else _ending_of(torch.tpu.synchronize)
    finally:
        sys.argv, sys.path[:] = argv, path
        os.chdir(folder)


def _ending_of(action: Callable[[], Any]) -> Ending:
    try:
        action()
    except SystemExit as end:
        if end.code in (None, 0):
            return Ending(None, 0)
        return Ending(f"the script ended with exit code {end.code}", end.code if isinstance(end.code, int) else 1)
    except BaseException as failure:
        traceback.print_exc()
        return Ending(f"{type(failure).__name__}: {failure}", 1)
    return Ending(None, 0)


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """Whatever is printed meanwhile, by anybody, goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def print_plain(rows: Sequence[Sequence[str]]) -> None:
    """A table for people, the first row its titles, without the package rich."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        flat = [cell.replace("\n", ", ") for cell in row]
        print("  ".join(cell.ljust(width) for cell, width in zip(flat, widths, strict=True)).rstrip())


def in_bytes(count: float) -> str:
    """12.3 MiB"""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.2f} {unit}"
        count /= 1024
    raise AssertionError("unreachable")
