"""The examples run as a person runs them. Those that need libraries are in tests/ecosystem."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *arguments):
    return subprocess.run([sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, timeout=280)


def test_digits_on_tpu_and_cpu_agree():
    done = run("digits.py", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    for row in ("runs on", "loss at the last step", "test accuracy", "programs compiled", "steady steps"):
        assert row in done.stdout


@pytest.mark.slow
def test_char_gpt_learns_and_writes():
    done = run("char_gpt.py", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "step    39" in done.stdout and "programs:" in done.stdout
    assert len(done.stdout.split("|")[1].split("\n\nprograms:")[0]) == 20  # what it wrote


def test_digits_refuses_a_run_too_short_to_compare():
    done = run("digits.py", "--steps", "10")
    assert done.returncode == 2 and "at least 50" in done.stderr


@pytest.mark.slow
def test_ddp_digits_in_two_processes():
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*torchrun, EXAMPLES / "ddp_digits.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "processes       2" in done.stdout and "on all processes" in done.stdout


@pytest.mark.slow
def test_gpt_learns():
    done = run("gpt.py", "--steps", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("loss ") and done.stderr == ""


@pytest.mark.slow
def test_bucketing_takes_few_shapes_and_learns():
    done = run("bucketing.py", "--steps", "30")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("30 steps, 3 shapes of inputs") and done.stderr == ""
