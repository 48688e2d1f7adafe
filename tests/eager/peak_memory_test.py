"""The peak of an AdamW step beside its lower bound, as benchmarks/memory.py measures it; memory that is used again."""

import resource
import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import memory  # noqa: E402


@pytest.mark.parametrize("options", [{}, {"fused": True}], ids=["foreach", "fused"])
@pytest.mark.parametrize("mode", ["fused", "auto"])
def test_a_step_takes_what_it_must(mode, options):
    peak, lower = memory.measure("wide mlp", mode, options)
    assert 17e6 < lower < 18e6  # four times the parameters, and little else
    assert lower <= 1.1 * peak and peak <= memory.BAR * lower


def test_freed_memory_stays_with_the_process():
    """Note [Heap]: without it each result of 16 MB takes 4,096 new pages, or a few of them now and then."""
    x = torch.ones(2000, 2000, device="tpu")

    def pages(times):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        with torch.tpu.mode("strict"):
            for _ in range(times):
                (x + 1).sum().item()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    pages(20)
    assert pages(40) < 40 * 1000


def test_empty_cache_returns_it():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    held = [torch.ones(2000, 2000, device="tpu") + n for n in range(10)]
    torch.tpu.synchronize()
    del held
    before = resident()
    torch.tpu.empty_cache()
    assert before - resident() > 100e6
