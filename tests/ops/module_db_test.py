"""PyTorch's module_db and optim_db in float32, a few inputs each: forward and backward passes, and optimizer steps.

`make opinfo` makes all their inputs, in more dtypes and settings; the comparisons are the sweep's.
"""

import expected
import pytest
import torch
from sweep.modules import check_module, evaluation_samples, training_samples
from sweep.optimizers import check_optimizer, is_dense, optimizer_samples
from sweep.variants import DATABASES

pytestmark = pytest.mark.usefixtures("quiet_host_ops")
SAMPLES = 1
MODULES = {name: info for name, info in DATABASES["module_db"].items() if torch.float32 in info.supported_dtypes("cpu")}
CASES = [(name, training_samples, "training") for name in MODULES] + [
    (name, evaluation_samples, "evaluation") for name, info in MODULES.items() if info.train_and_eval_differ
]
OPTIMIZERS = {name: info for name, info in DATABASES["optim_db"].items() if is_dense(info, torch.float32)}


def check_all(kind, name, samples, check):
    """Every sample agrees, or expected.py says why not."""
    reason = expected.reason((kind,), name, torch.float32)
    try:
        for sample in samples:
            check(sample)
    except Exception:
        if reason is None:
            raise
        pytest.xfail(reason)
    assert reason is None, f"expected.py lists this as different ({reason}), but it agrees now"


@pytest.mark.parametrize(("name", "samples", "kind"), CASES, ids=[f"{name}-{kind}" for name, _, kind in CASES])
def test_module(name, samples, kind):
    info = MODULES[name]
    made = samples(info, torch.float32, SAMPLES)
    assert made
    check_all(kind, name, made, lambda sample: check_module(info, sample))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name):
    info = OPTIMIZERS[name]
    made = optimizer_samples(info, torch.float32, 9)
    assert made
    check_all("steps", name, made, lambda sample: check_optimizer(info, sample))
