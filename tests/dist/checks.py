"""Runs the functions `check_*` of a script on every rank of a torchrun launch.

In: the script's globals; on the command line the names of the checks, none for all. Out: the traceback of each failed
check on standard error, exit code 1 if there is any. A check that fails on one rank may leave the others waiting; the
group's time limit ends that.
"""

import datetime
import sys
import time
import traceback
import warnings

import torch
import torch.distributed as dist

# torch's own advice to use other names or settings; everything else that warns is an error.
warnings.simplefilter("error")
warnings.filterwarnings("ignore", category=FutureWarning, message=".*is deprecated.*")
warnings.filterwarnings("ignore", category=DeprecationWarning)

TIMEOUT = datetime.timedelta(seconds=20)


def run(names, *, timeout=TIMEOUT):
    """Makes the default group as a user does, calls the checks in order, and ends the process."""
    dist.init_process_group(timeout=timeout)
    failed = 0
    for name, check in list(names.items()):
        if not name.startswith("check_") or (len(sys.argv) > 1 and name not in sys.argv[1:]):
            continue
        begin = time.perf_counter()
        try:
            check()
        except Exception:
            failed += 1
            print(f"FAILED {name} on rank {dist.get_rank()}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        if dist.get_rank() == 0:
            print(f"{name}: {time.perf_counter() - begin:.1f} s", flush=True)
    dist.destroy_process_group()
    sys.exit(failed != 0)


def equal(got, expected):
    """Same dtype, shape and elements; on `tpu`."""
    assert got.device.type == "tpu", got.device
    torch.testing.assert_close(got.cpu(), expected, rtol=0, atol=0, equal_nan=True)


def close(got, expected, rtol=1e-5):
    """Equal up to `rtol`, relative to the largest element."""
    got, expected = got.detach().cpu().double(), expected.detach().cpu().double()
    difference, scale = (got - expected).abs().max().item(), expected.abs().max().item()
    assert difference <= rtol * scale, f"differs by {difference:.2e}, largest element {scale:.2e}"
