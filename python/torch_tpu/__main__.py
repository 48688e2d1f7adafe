"""`python -m torch_tpu COMMAND`: each module in torch_tpu/commands/ is a command of its name.

A command has a docstring, whose first line is its help, `add_arguments(parser)` and `run(arguments) -> exit code`.
"""

import argparse
import importlib
import pkgutil
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
    return chosen.run(chosen)


if __name__ == "__main__":
    sys.exit(main())
