"""The examples that need transformers run as a person runs them; the others are in tests/examples_test.py."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("name", "last"), [("gpt2_finetune.py", "on tpu:0: loss"), ("generate.py", "the same tokens")])
def test_example(name, last):
    done = subprocess.run([sys.executable, EXAMPLES / name, "--quick"], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith(last)
