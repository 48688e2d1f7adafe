"""What autoload adds to `import torch`: seconds and resident megabytes, with and without, interleaved; medians.

.venv/bin/python benchmarks/import_cost.py --rounds 7
"""

import argparse
import os
import statistics
import subprocess
import sys

PROBE = """
import time; begin = time.perf_counter()
import torch
seconds = time.perf_counter() - begin
pages = int(open("/proc/self/statm").read().split()[1])
print(seconds, pages * 4096 / 2**20)
"""


def probe(autoload):
    env = dict(os.environ, TORCH_DEVICE_BACKEND_AUTOLOAD=str(int(autoload)))
    run = subprocess.run([sys.executable, "-c", PROBE], env=env, check=True, capture_output=True, text=True)
    return tuple(map(float, run.stdout.split()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    probe(True), probe(False)  # warm the page cache
    results = {True: [], False: []}
    for _ in range(rounds):
        for autoload in (False, True):
            results[autoload].append(probe(autoload))
    for name, index, unit in (("time", 0, "s"), ("resident memory", 1, "MB")):
        plain, ours = (statistics.median(row[index] for row in results[key]) for key in (False, True))
        print(f"{name}: plain {plain:.3f} {unit}, with torch_tpu {ours:.3f} {unit}, added {ours - plain:.3f} {unit}")


if __name__ == "__main__":
    main()
