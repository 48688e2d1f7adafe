"""Trains a small MLP in mode auto for 100,000 steps; says what grew after the warm-up. The exit code is 1 if anything.

    make soak                          # or: .venv/bin/python benchmarks/soak.py --steps 100000

Counted are resident memory, live arrays and their bytes, steps of the tree of recorded ops, programs in memory and on
disk, file descriptors, threads and Python objects. A loss is read every 100 steps.
"""

import argparse
import gc
import os
import sys
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from torch_tpu import _C

WARM_UP = 0.1  # of the steps
SAMPLES = 10  # after it
# What a count may have grown by at the end. Allocators keep what they once had, and return it late: the rest is exact.
SLACK = {"resident bytes": 4 << 20, "python objects": 50}


def count():
    """What there is now."""
    torch.tpu.synchronize()
    _C.finish_background()
    gc.collect()
    memory = _C.memory(0)
    return {
        "resident bytes": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        "live arrays": memory["values"],
        "bytes of live arrays": memory["allocated"],
        "recorded steps": _C.path_steps(0),
        "programs in memory": torch.tpu.cache_stats()["entries"],
        "programs made": torch.tpu.cache_stats()["misses"],
        "files of programs": len(_C.cached_files(_C.program_directory(), False)) if _C.program_directory() else 0,
        "file descriptors": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "python objects": len(gc.get_objects()),
    }


def train(steps):
    """Yields the counts after the warm-up and SAMPLES times after that."""
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4)).to("tpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x, y = torch.randn(8, 16).to("tpu"), torch.randint(4, (8,)).to("tpu")
    marks = {int(steps * (WARM_UP + (1 - WARM_UP) * i / SAMPLES)) for i in range(SAMPLES + 1)}
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            loss.item()
        if step in marks:
            yield count()


def growth(samples):
    """What grew between the first and the last of the counts, by more than its slack: {name: by how much}."""
    # Resident memory comes and goes: it has grown when its smallest value of the last third is above all of the first.
    third = max(1, len(samples) // 3)
    grown = {}
    for name in samples[0]:
        early, late = ([each[name] for each in part] for part in (samples[:third], samples[-third:]))
        by = min(late) - max(early)
        if by > SLACK.get(name, 0):
            grown[name] = by
    return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    arguments = parser.parse_args()
    begin, samples = time.perf_counter(), []
    with torch.tpu.mode("auto"):
        for sample in train(arguments.steps):
            samples.append(sample)
            seconds = time.perf_counter() - begin
            print(f"{len(samples) - 1} of {SAMPLES}: {seconds:.0f} s, {sample}", file=sys.stderr)
    table = Table("count", "after the warm-up", "at the end", "grew", title=f"{arguments.steps:,} steps in mode auto")
    grown = growth(samples)
    for name in samples[0]:
        table.add_row(name, f"{samples[0][name]:,}", f"{samples[-1][name]:,}", "yes" if name in grown else "no")
    Console().print(table)
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
