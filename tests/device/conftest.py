"""The fixture `python`: a fresh interpreter, for what can happen only once per process."""

import os
import subprocess
import sys
import textwrap

import pytest


@pytest.fixture
def python():
    def run(code, *, path=(), flags=(), exit_code=0, **environment):
        """Runs `code`; gives its standard output and error. Folders in `path` come first in sys.path; a variable set to
        None is removed."""
        variables = {**os.environ, **environment}
        variables["PYTHONPATH"] = os.pathsep.join([*map(str, path), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
        variables = {name: value for name, value in variables.items() if value is not None}
        done = subprocess.run(
            [sys.executable, *flags, "-c", textwrap.dedent(code)],
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == exit_code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip(), done.stderr.strip()

    return run
