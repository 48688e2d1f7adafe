"""torch.distributed on `tpu`: several processes, each with a device of its own.

The checks of one launch are functions of collectives.py and training.py; here are the launches, and what ends badly.
"""

import pytest
import torch

INIT = """
import datetime, os, sys, time
import torch, torch.distributed as dist

rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])

def init(seconds=60, **named):
    timeout = datetime.timedelta(seconds=seconds)
    dist.init_process_group(
        init_method=os.environ["STORE"], rank=rank, world_size=world_size, timeout=timeout, **named
    )
"""


def test_collectives(torchrun):
    torchrun("collectives.py", 2)


def test_training(torchrun, tmp_path):
    torchrun("training.py", 2, CHECKPOINT_FOLDER=str(tmp_path))
    check_checkpoint_of_two_processes_in_one(tmp_path)


def check_checkpoint_of_two_processes_in_one(folder):
    import torch.distributed.checkpoint as dcp

    whole = torch.load(folder / "whole.pt")
    state = {name: torch.zeros_like(tensor, device="tpu") for name, tensor in whole.items()}
    dcp.load(state, checkpoint_id=folder / "now", no_dist=True)
    for name, tensor in whole.items():
        assert torch.equal(state[name].cpu(), tensor), name


@pytest.mark.slow
def test_collectives_of_four(torchrun):
    torchrun("collectives.py", 4)


@pytest.mark.slow
def test_training_of_four(torchrun, tmp_path):
    torchrun("training.py", 4, CHECKPOINT_FOLDER=str(tmp_path))
    check_checkpoint_of_two_processes_in_one(tmp_path)


def test_python_ends_after_what_still_calls_it_back(ranks):
    # A thread that asks for the GIL while the interpreter shuts down would abort the process.
    [(code, out, error, _)] = ranks(
        INIT
        + """
init()
work = dist.all_reduce(torch.ones(3, device="tpu"), async_op=True)
group = dist.group.WORLD  # lives until the interpreter ends
done = work.get_future().then(lambda future: (time.sleep(0.5), print("called back", future.value()[0].tolist())))
dist.destroy_process_group()
""",
        processes=1,
    )
    assert (code, out) == (0, "called back [1.0, 1.0, 1.0]"), error


def test_a_rank_that_dies_is_an_error_on_the_others(ranks):
    survivor, dead = ranks(
        INIT
        + """
        """
        + """
init(seconds=20)
x = torch.ones(3, device="tpu")
dist.all_reduce(x)
if rank == 1:
    os._exit(3)
begin = time.monotonic()
try:
    dist.all_reduce(x)
except dist.DistBackendError as error:
    print("caught", error)
assert time.monotonic() - begin < 20
print(x.tolist())
os._exit(0)
"""
    )
    assert dead[0] == 3
    assert survivor[0] == 0, survivor
    assert "caught tpu_dist: allreduce(SUM, Float x 3) failed on rank 0: " in survivor[1]
    assert survivor[1].endswith("[2.0, 2.0, 2.0]")  # a failed collective changes nothing


def test_a_rank_that_does_not_come_is_an_error_after_the_time_limit(ranks):
    waiting, late = ranks(
        INIT
        + """
init(seconds=3)
x = torch.ones(3, device="tpu")
dist.all_reduce(x)
if rank == 1:
    time.sleep(8)
    os._exit(0)
begin = time.monotonic()
try:
    dist.all_reduce(x)
except dist.DistBackendError as error:
    print("caught", error)
print(time.monotonic() - begin)
try:
    dist.recv(x, 1)
except dist.DistBackendError as error:
    print("caught", error)
os._exit(0)
"""
    )
    assert waiting[0] == 0, waiting
    first, seconds, second = waiting[1].splitlines()
    assert "allreduce(SUM, Float x 3) failed on rank 0: " in first and "Timed out waiting 3000ms" in first
    assert 2 < float(seconds) < 7
    assert "recv(Float x 3, from rank 1) failed on rank 0: " in second


def test_a_work_is_waited_for_as_long_as_was_asked(ranks):
    waiting, late = ranks(
        INIT
        + """
init()
x = torch.ones(3, device="tpu")
if rank == 1:
    time.sleep(3)
work = dist.all_reduce(x, async_op=True)
if rank == 0:
    try:
        work.wait(datetime.timedelta(milliseconds=200))
    except dist.DistBackendError as error:
        print("caught", error)
work.wait()
print(x.tolist())
dist.destroy_process_group()
"""
    )
    assert late[:2] == (0, "[2.0, 2.0, 2.0]"), late
    assert waiting[0] == 0, waiting
    assert "allreduce(SUM, Float x 3) on rank 0 timed out: not finished after 200 ms" in waiting[1]
    assert waiting[1].endswith("[2.0, 2.0, 2.0]")


@pytest.mark.parametrize("backend", ["tpu_dist", "cpu:gloo,tpu:tpu_dist"])
def test_the_backend_by_name_and_an_exit_without_goodbye(ranks, backend):
    for code, out, error, _ in ranks(
        INIT
        + f"""
init(backend="{backend}")
for device in ("tpu", "cpu"):
    x = torch.ones(2, device=device)
    dist.all_reduce(x)
    print(x.tolist())
pending = dist.all_reduce(torch.ones(2, device="tpu"), async_op=True)
"""
    ):
        assert (code, out) == (0, "[2.0, 2.0]\n[2.0, 2.0]"), error
        assert "terminate" not in error and "Traceback" not in error


def test_a_world_that_cannot_be(ranks):
    (result,) = ranks(
        INIT
        + """
for arguments in ({"backend": "tpu_dist", "pg_options": object()}, {"seconds": 2}):
    try:
        init(**arguments)
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
try:
    dist.all_reduce(torch.ones(2, device="tpu"))
except ValueError as error:
    print(error)
os._exit(0)
""",
        processes=1,
        world_size=2,
    )
    assert result[0] == 0, result
    lines = result[1].splitlines()
    assert lines[0] == "TypeError tpu_dist takes no pg_options, got object; the time limit is given as `timeout`"
    assert "DistStoreError" in lines[1] or "timeout" in lines[1].lower(), lines[1]
    assert "process group has not been initialized" in lines[2]
    assert result[3] < 30


def test_torch_distributed_is_not_loaded_for_us(python):
    out, _ = python("import sys, torch; print('torch_tpu.distributed' in sys.modules)")
    assert out == "False"
