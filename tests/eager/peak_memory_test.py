"""The peak of an AdamW step beside its lower bound, as benchmarks/memory.py measures it."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import memory  # noqa: E402


@pytest.mark.parametrize("options", [{}, {"fused": True}], ids=["foreach", "fused"])
@pytest.mark.parametrize("mode", ["fused", "auto"])
def test_a_step_takes_what_it_must(mode, options):
    peak, lower = memory.measure("wide mlp", mode, options)
    assert 17e6 < lower < 18e6  # four times the parameters, and little else
    assert lower <= 1.1 * peak and peak <= memory.BAR * lower
