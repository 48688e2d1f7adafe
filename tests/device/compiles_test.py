"""What is compiled, why, and where: compile_report, fail_on_recompile, the log, the counts."""

import os
import subprocess
import sys
import threading
import time

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")


def last():
    return torch.tpu.compile_report()[-1]


def test_each_compile_has_a_cause_and_a_line():
    x = torch.randn(3, 5, device="tpu")
    torch.cummax(x, 0)
    first = last()
    assert "compiles_test.py:" in first.line
    assert first.cause == "first time"
    assert first.ops == 1
    assert "cummax" in first.name
    assert (first.seconds > 0) != first.from_disk
    torch.cummax(torch.randn(4, 5, device="tpu"), 0)
    assert last().cause == "shape"
    torch.cummax(torch.randn(4, 5, device="tpu").half(), 0)
    assert last().cause == "dtype"
    torch.cummax(torch.randn(4, 5, device="tpu").half(), 1)
    assert last().cause == "structure"


def test_kinds_of_numbers_and_options_are_causes():
    x = torch.randn(3, 7, device="tpu")
    torch.hypot(x, x)
    torch.lerp(x, x, 0.25)
    torch.full((3, 7), 2, device="tpu", dtype=torch.float64)
    torch.full((3, 7), 2.5, device="tpu", dtype=torch.float64)
    assert last().cause == "scalar kind"
    before = torch.get_float32_matmul_precision()
    y = torch.randn(7, 3, device="tpu")
    torch.mm(x, y)
    try:
        torch.set_float32_matmul_precision("medium")
        torch.mm(x, y)
    finally:
        torch.set_float32_matmul_precision(before)
    assert last().cause == "options"


def test_a_segment_names_the_line_of_its_first_op():
    with torch.tpu.mode("fused"):
        x = torch.ones(11, device="tpu")
        y = x.sin() + 2  # noqa: F841
        torch.tpu.synchronize()
    assert "compiles_test.py:" in last().line
    assert last().ops > 1


def test_a_recompile_can_be_made_an_error():
    x = torch.randn(5, 3, device="tpu")
    torch.logcumsumexp(x, 0)
    with torch.tpu.fail_on_recompile():
        torch.logcumsumexp(x, 0)
        with pytest.raises(RuntimeError, match=r"logcumsumexp(.|\n)*structure at .*compiles_test\.py:\d+"):
            torch.logcumsumexp(x, 1)
    torch.logcumsumexp(x, 1)  # allowed again


def test_in_a_recorded_mode_the_read_raises():
    x = torch.randn(6, 3, device="tpu")
    with torch.tpu.mode("auto"):
        (x * 3).erfinv().cpu()
        with torch.tpu.fail_on_recompile():
            (x * 4).erfinv().cpu()
            y = (x * 3).erfinv().lgamma()
            with pytest.raises(RuntimeError, match="fail_on_recompile"):
                y.cpu()
        assert (x * 3).erfinv().lgamma().shape == (6, 3)


def test_the_names_of_the_published_package():
    x = torch.randn(9, 3, device="tpu")
    torch.special.i1e(x)
    before = torch.tpu._get_cache_stats()
    torch.special.i1e(x)
    assert torch.tpu._get_cache_stats().num_cache_reqs == before.num_cache_reqs
    y = torch.ones(4, 3, device="tpu")
    before = torch.tpu._get_cache_stats()
    torch.special.i1e(y)
    after = torch.tpu._get_cache_stats()
    assert after.num_cache_reqs == before.num_cache_reqs + 1
    thread = threading.Thread(target=lambda: torch.special.i1e(x))  # finds it in the shared map
    thread.start()
    thread.join()
    entry = next(e for e in torch.tpu._get_cache_stats().per_entry_stats if "i1e" in e.name and "9, 3" in e.name)
    assert entry.read_count >= 1
    assert isinstance(entry.compilation_duration, int)
    assert abs(entry.last_read - time.time()) < 60


def test_clearing_forgets_programs_in_memory():
    x = torch.randn(13, device="tpu")
    torch.special.i0e(x)
    torch.tpu.clear_cache()
    before = torch.tpu.cache_stats()["misses"]
    torch.special.i0e(x)
    assert torch.tpu.cache_stats()["misses"] == before + 1


@pytest.mark.parametrize(("setting", "is_shown"), [("torch_tpu", True), ("+torch_tpu", True), ("-torch_tpu", False)])
def test_torch_logs_shows_compiles(setting, is_shown):
    code = "import torch; print(torch.ones(2, device='tpu').neg())"
    env = dict(os.environ, TORCH_LOGS=setting, TORCH_TPU_CACHE_DIR="off")
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert ("compiled in" in run.stderr and "aten::" in run.stderr) == is_shown


def test_torch_logs_with_a_plus_shows_what_came_from_disk(tmp_path):
    code = "import torch; print(torch.ones(2, device='tpu').neg())"
    logs = {}
    for turn, setting in enumerate(["torch_tpu", "torch_tpu", "+torch_tpu"]):
        env = dict(os.environ, TORCH_LOGS=setting, TORCH_TPU_CACHE_DIR=str(tmp_path))
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stderr
        logs[turn] = run.stderr
    assert "compiled in" in logs[0] and "from disk" not in logs[0]
    assert "compiled in" not in logs[1] and "from disk" not in logs[1]
    assert "compiled in" not in logs[2] and "from disk (first time at <string>:1): aten::" in logs[2]


def test_asking_what_has_a_program_is_no_read():
    """A new segment of known ops asks for each of them whether it has a program: a count of uses must not show it."""
    x = torch.randn(17, device="tpu")
    with torch.tpu.mode("auto"):
        for _ in range(2):
            x.digamma().cpu(), x.erfinv().cpu()
        thread = threading.Thread(target=lambda: x.digamma().cpu())
        thread.start()  # found in the shared map once
        thread.join()

        def reads():
            entries = torch.tpu._get_cache_stats().per_entry_stats
            return {e.name: e.read_count for e in entries if "17]" in e.name and " more" not in e.name}

        before = reads()
        assert any(before.values())
        for depth in range(1, 6):
            y = x
            for _ in range(depth):
                y = y.digamma().erfinv()
            y.cpu()
        assert reads() == before
