"""The guarded process: reads tests from standard input, one JSON line each, and tells of them on a pipe of its own.

Its lines: `at INDEX DEVICE` before a call, so that the guard knows that it lives and where it died; then the result as
JSON. A result says when the process holds too much memory and wants to be replaced.
"""

import faulthandler
import json
import os
import resource
import sys
import time
import traceback
import warnings

import torch

from torch_tpu import _C, coverage

from . import comparison
from .comparison import NeedsHost
from .variants import DATABASES, VARIANTS

MEMORY = 3 << 20  # KiB
SECONDS = 240  # after which a test makes no more samples
MESSAGES = 3  # per test
LENGTH = 400  # of a message


def short(error):
    """One line that says what and where."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "sweep" not in frame.filename]
    where = f" [{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}]" if frames else ""
    return text[:LENGTH] + where


def run(test, tell):
    """Makes all samples of a test and compares each; gives the result."""
    entry, variant = DATABASES[test["database"]][test["entry"]], VARIANTS[test["variant"]]
    done = {"samples": 0, "failed": 0, "messages": [], "needs": set()}
    try:
        samples = variant.samples(entry, getattr(torch, test["dtype"]), test["count"])
    except Exception as error:  # noqa: BLE001 - whatever torch's generators raise
        return done | {"no_samples": short(error), "needs": []}
    begin = time.monotonic()
    for index, sample in enumerate(samples):
        comparison.announce = lambda device, index=index: tell(f"at {index} {device}")
        if time.monotonic() - begin > SECONDS:
            break
        done["samples"] += 1
        try:
            variant.check(entry, sample)
        except NeedsHost as need:
            done["needs"].add(str(need))
        except Exception as error:  # noqa: BLE001 - every one is a result
            done["failed"] += 1
            if len(done["messages"]) < MESSAGES:
                done["messages"].append(f"sample {index}: {short(error)}")
    return done | {"needs": sorted(done["needs"]), "of": len(samples)}


def observed(test, tell):
    """The result, with the ops that the test called on the device and those that ran on the host."""
    torch.tpu.reset_host_ops()
    _C.count_calls(True)
    begin = time.monotonic()
    try:
        result = run(test, tell)
    finally:
        _C.count_calls(False)
    torch.tpu.synchronize()
    result["seconds"] = round(time.monotonic() - begin, 2)
    result["ops"] = {
        name.removeprefix("aten::"): sorted(str(dtype).removeprefix("torch.") for dtype in dtypes)
        for name, calls, failed, dtypes in _C.counted_calls()
        if calls > failed
    }
    counted = {op.name.removeprefix("aten::") for op in torch.tpu.host_ops()}
    uncounted = {name for name in result["ops"] if coverage.where(name) == "host"}  # sized by data: always allowed
    result["host"] = sorted(counted | uncounted)
    return result


def main():
    faulthandler.enable()
    warnings.simplefilter("ignore")
    pipe = int(sys.argv[1])

    def tell(line):
        os.write(pipe, line.encode() + b"\n")

    tell("ready")
    for line in sys.stdin:
        result = observed(json.loads(line), tell)
        result["leaves"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEMORY
        tell(json.dumps(result))


if __name__ == "__main__":
    main()
