"""Settings for all Python tests. Markers and the time limit per test are in pyproject.toml."""

import os
import time
from pathlib import Path

_begin = time.monotonic()


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
