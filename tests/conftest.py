"""Settings for all Python tests. Markers and the time limit per test are in pyproject.toml."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest

_begin = time.monotonic()

# Before torch is imported, here and in subprocesses: tests run side by side, and the threads of one OpenMP team that
# wait for each other on a busy machine make the runs on the CPU up to 20 times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config):
    """One cache directory per run, shared by its workers and their subprocesses: no program is compiled twice, and what
    an earlier run left hides nothing."""
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # what a shell starts with `&` ignores it, and so its children
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        directory = tempfile.mkdtemp(prefix="torch_tpu_tests_")
        os.environ["TORCH_TPU_CACHE_DIR"] = directory
        config.add_cleanup(lambda: shutil.rmtree(directory, ignore_errors=True))


def pytest_terminal_summary(terminalreporter, config):
    """`make test` only: a table of where the time went, printed before pytest's own last line."""
    notes = os.environ.get("SECONDS_FILE")
    if not notes or hasattr(config, "workerinput"):
        return
    rows = [line.split("\t") for line in Path(notes).read_text().splitlines()]
    rows.append(["Python tests", f"{time.monotonic() - _begin:.1f}"])
    rows.append(["total", f"{sum(float(seconds) for _, seconds in rows):.1f}"])
    terminalreporter.section("seconds")
    for name, seconds in rows:
        terminalreporter.write_line(f"{name:<14}{seconds:>8}")


@pytest.fixture
def counted_host_ops():
    """Host ops are counted from here on and not warned about; torch.compile has seen nothing yet."""
    import torch

    torch.manual_seed(0)
    torch._dynamo.reset()
    before = torch.tpu.set_host_ops("allow")
    torch.tpu.reset_host_ops()
    yield
    torch.tpu.set_host_ops(before)


@pytest.fixture
def strict():
    """Mode strict, for tests that count programs, bytes or events of single calls, or expect errors in the call."""
    import torch

    with torch.tpu.mode("strict"):
        yield


@pytest.fixture
def mode(request):
    """The mode that the test is parametrized with (indirectly), for the time of the test."""
    import torch

    with torch.tpu.mode(request.param):
        yield request.param


@pytest.fixture
def longest_pause():
    """How long another Python thread stands still while the device works."""

    def measure(work):
        """The longest pause in seconds while `work` ran, and how long `work` took."""
        stop, pauses = threading.Event(), []

        def tick():
            last = time.perf_counter()
            while not stop.is_set():
                time.sleep(0.0005)
                now = time.perf_counter()
                pauses.append(now - last)
                last = now

        thread = threading.Thread(target=tick)
        thread.start()
        while not pauses:
            time.sleep(0.001)
        pauses.clear()
        begin = time.perf_counter()
        work()
        seconds = time.perf_counter() - begin
        stop.set()
        thread.join()
        return max(pauses, default=seconds), seconds

    return measure


@pytest.fixture(scope="session")
def python():
    """A fresh interpreter, for what can happen only once per process."""

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
