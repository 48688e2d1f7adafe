"""Launchers: torchrun for scripts with checks, and single processes for what torchrun would hide."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


@pytest.fixture
def torchrun():
    """Runs a script of this folder in several processes; every check in it must pass on every rank."""

    def run(script, processes, *arguments, **environment):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
        done = subprocess.run(
            [*command, FOLDER / script, *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture
def ranks(tmp_path):
    """Runs one piece of code in several processes that know their rank; gives exit code, output and seconds of each."""

    def run(code, processes=2, world_size=None, **environment):
        environment = {**os.environ, **environment, "STORE": f"file://{tmp_path}/store"}
        begin = time.monotonic()
        running = [
            subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(code)],
                env={**environment, "RANK": str(rank), "WORLD_SIZE": str(world_size or processes)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(processes)
        ]
        results = []
        for process in running:
            out, error = process.communicate(timeout=120)
            results.append((process.returncode, out.strip(), error.strip(), time.monotonic() - begin))
        return results

    return run
