"""`python -m torch_tpu COMMAND`: each module in torch_tpu/commands/ is a command of its name.

A command has a docstring, whose first line is its help, `add_arguments(parser)` and `run(arguments) -> exit code`.
"""

import argparse
import importlib
import os
import pkgutil
import signal
import sys
from collections.abc import Sequence

from torch_tpu import commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; gives the exit code of the process."""
    parser = argparse.ArgumentParser(prog="python -m torch_tpu", description="Tools of torch_tpu.")
    choices = parser.add_subparsers(metavar="COMMAND", required=True)
    for found in sorted(pkgutil.iter_modules(commands.__path__), key=lambda module: module.name):
        module = importlib.import_module(f"torch_tpu.commands.{found.name}")
        title = module.__doc__.strip().splitlines()[0]
        command = choices.add_parser(found.name, help=title, description=module.__doc__.strip())
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    chosen = parser.parse_args(arguments)
    try:
        code = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the exit
        return 128 + signal.SIGPIPE  # what a shell says of any other program
    return code


if __name__ == "__main__":
    sys.exit(main())
