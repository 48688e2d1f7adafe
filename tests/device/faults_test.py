"""A plugin that fails while it compiles or runs (tests/fake_pjrt, which gives zeros): one error at the right line, in
every mode, and afterwards everything works. What goes wrong with files is in disk_cache_test.py.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FAKE = Path(__file__).parents[2] / "build/dev/tests/libfake_pjrt.so"

pytestmark = pytest.mark.skipif(not FAKE.exists(), reason="needs build/dev/tests/libfake_pjrt.so (make build)")

BEGIN = """
import ctypes, json, os, sys, traceback, torch

fake = ctypes.CDLL(os.environ["TORCH_TPU_PLUGIN"])
INVALID, EXHAUSTED, INTERNAL = 3, 8, 13  # PJRT's codes

def fail_next(call, code, times=1):
    fake.fake_pjrt_fail_next(call.encode(), code, b"the chip is on fire", times)

def error_of(action):
    try:
        action()
    except Exception as error:
        lines = [frame.line for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__]
        return type(error).__name__, str(error), lines[-1]

x = torch.ones(1000, device="tpu").cos().cpu().to("tpu")
"""


def run(tmp_path, code, mode):
    """What the script prints as JSON."""
    script = tmp_path / "script.py"
    script.write_text(BEGIN + textwrap.dedent(code))
    env = dict(os.environ, TORCH_TPU_PLUGIN=str(FAKE), TORCH_TPU_CACHE_DIR="off", TORCH_TPU_MODE=mode)
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), script.read_text().splitlines()


@pytest.mark.parametrize("call", ["compile", "execute"])
@pytest.mark.parametrize(("code", "name"), [("INTERNAL", "RuntimeError"), ("EXHAUSTED", "OutOfMemoryError")])
def test_a_failing_op_is_an_error_of_its_line(tmp_path, call, code, name):
    script = f"""
    x.sin()
    fail_next("{call}", {code})
    size = 999 if "{call}" == "compile" else 1000
    error = error_of(lambda: x[:size].sin())
    print(json.dumps([error, list(x[:size].sin().shape), len(x.sin().tolist())]))
    """
    ((kind, message, line), shape, count), _ = run(tmp_path, script, "strict")
    assert kind == name and "the chip is on fire" in message and "aten::sin" in message
    assert line == "error = error_of(lambda: x[:size].sin())"
    assert shape == [999 if call == "compile" else 1000] and count == 1000


@pytest.mark.parametrize("mode", ["fused", "auto"])
def test_a_segment_that_does_not_compile_goes_on(tmp_path, mode):
    script = """
    found = []
    for code, shape in ((INVALID, (10, 100)), (EXHAUSTED, (20, 50))):
        fail_next("compile", code)
        found.append(error_of(lambda: (x.view(shape).sin() + 1).exp().tolist()))
    print(json.dumps(found))
    """
    found, _ = run(tmp_path, script, mode)
    assert found == [None, None]


@pytest.mark.parametrize("mode", ["fused", "auto"])
@pytest.mark.parametrize(("code", "name"), [("INTERNAL", "RuntimeError"), ("EXHAUSTED", "OutOfMemoryError")])
def test_a_failing_segment_names_the_line_of_the_op(tmp_path, mode, code, name):
    script = f"""
    def work():
        a = x.sin()
        b = x.exp()
        return a + 1, b * 2

    [each.cpu() for each in work()]
    fail_next("execute", {code}, times=2)  # all of it, and its first op
    a, b = work()
    error = error_of(lambda: a.cpu())
    again = error_of(lambda: a.cpu())
    print(json.dumps([error, again, len(b.tolist()), len(x.tolist()), len(work()[0].tolist())]))
    """
    (error, again, *lengths), lines = run(tmp_path, script, mode)
    assert error[0] == again[0] == name and "the chip is on fire" in error[1]
    (line,) = set(re.findall(r"recorded at \S*script\.py:(\d+)", error[1]))
    assert lines[int(line) - 1].strip() == "a = x.sin()"
    assert lengths == [1000, 1000, 1000]


def test_memory_that_a_failing_segment_took_is_lost_and_nothing_else(tmp_path):
    script = """
    big, other = torch.ones(1 << 16, device="tpu"), torch.ones(3, device="tpu")
    def work():
        big.mul_(2)
        return other + 1

    work()
    torch.tpu.synchronize()
    fail_next("late execute", INTERNAL)  # when it has taken the memory of `big`
    y = work()
    error = error_of(lambda: big.cpu())
    again = error_of(lambda: big.cpu())
    big.copy_(torch.ones(1 << 16))
    print(json.dumps([error, again, len(big.tolist()), len(other.tolist()), len(work().tolist())]))
    """
    (error, again, *lengths), lines = run(tmp_path, script, "fused")
    assert error[0] == again[0] == "RuntimeError" and "the chip is on fire" in error[1]
    first, last = re.search(r"recorded from \S*script\.py:(\d+) to \S*script\.py:(\d+)", error[1]).groups()
    assert "big.mul_(2)" in lines[int(first) - 1] and "return other + 1" in lines[int(last) - 1]
    assert lengths == [1 << 16, 3, 3]


def test_a_result_that_fails_on_the_way_is_an_error_of_the_read(tmp_path):
    script = """
    x.sin()
    fail_next("output", INTERNAL)
    y = x.sin()
    error = error_of(lambda: y.tolist())
    print(json.dumps([error, len(x.sin().tolist())]))
    """
    ((kind, message, line), count), _ = run(tmp_path, script, "strict")
    assert kind == "RuntimeError" and "the chip is on fire" in message and "y.tolist()" in line
    assert count == 1000
