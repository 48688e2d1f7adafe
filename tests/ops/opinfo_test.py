"""Every op against CPU, on PyTorch's own OpInfo samples.

`make test` takes a few samples per op and dtype (OPINFO_SAMPLES), one on the second CPU plugin. `make opinfo` takes all
samples, more dtypes and more variants: see sweep/, whose comparisons these are.
Strides are compared as well: compiled programs contain views that assume those of PyTorch's own kernels. What is known
to differ stands in expected.py with its reason, and nothing else may differ: an entry that passes fails the test as
well.
"""

import os

import expected
import pytest
import torch
from sweep.comparison import check_sample, on_device
from sweep.gradients import check_gradient, has_gradient
from sweep.samples import LAYOUTS, largest_laid_out, sample_inputs, samples_of
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.definitions.linalg import op_db as linalg_db
from torch.utils._pytree import tree_flatten

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
pytestmark = pytest.mark.usefixtures("quiet_host_ops")
SAMPLES = int(os.environ.get("OPINFO_SAMPLES", "3"))
OTHER_SAMPLES = max(1, SAMPLES // 3)  # of dtypes that are not floating


def cases():
    for op in op_db:
        if expected.is_left_out(op.full_name):
            continue
        for dtype in DTYPES:
            if dtype in op.supported_dtypes("cpu"):
                marks = [pytest.mark.second_plugin] if dtype == torch.float32 else []
                yield pytest.param(op, dtype, id=f"{op.full_name}-{str(dtype).removeprefix('torch.')}", marks=marks)


def gradient_cases():
    for case in cases():
        if case.values[1] == torch.float32 and has_gradient(*case.values):
            yield pytest.param(*case.values, id=case.id)


def expecting(kind, op, dtype, check):
    """Runs `check`. A difference that expected.py lists is an xfail with its reason; its absence is a failure."""
    kinds = (kind, f"{kind} by lowering")  # conftest.py turns host kernels off
    reason = expected.reason(kinds, op.full_name, dtype, all_samples=SAMPLES > 1000)
    try:
        check()
    except (AssertionError, RuntimeError) as error:
        # Others are no differences. This one is PyTorch's word, on both devices, for a gradient without a value.
        if reason is None or not (isinstance(error, AssertionError) or "it is ill-defined" in str(error)):
            raise
        pytest.xfail(reason)
    assert reason is None, f"expected.py lists this as different ({reason}), but it agrees now"


@pytest.mark.parametrize(("op", "dtype"), cases())
def test_forward(op, dtype):
    def check():
        for arguments in samples_of(op, dtype, False, SAMPLES if dtype.is_floating_point else OTHER_SAMPLES):
            check_sample(op, arguments)

    expecting("forward", op, dtype, check)


@pytest.mark.parametrize(("op", "dtype"), gradient_cases())
def test_gradient(op, dtype):
    def check():
        for arguments in samples_of(op, dtype, True, max(1, SAMPLES // 3)):
            check_gradient(op, arguments)

    expecting("gradient", op, dtype, check)


def layout_cases():
    for op in op_db:
        dtype = torch.float32 if torch.float32 in op.supported_dtypes("cpu") else torch.int64
        if not expected.is_left_out(op.full_name) and dtype in op.supported_dtypes("cpu"):
            for layout in LAYOUTS:
                marks = [pytest.mark.slow] if layout == "column-major" else []
                yield pytest.param(op, dtype, layout, id=f"{op.full_name}-{layout}", marks=marks)


@pytest.mark.parametrize(("op", "dtype", "layout"), layout_cases())
def test_layout(op, dtype, layout):
    """Other memory formats of the arguments give the values and the strides that they give on the CPU."""
    arguments = largest_laid_out(op, dtype, False, layout)
    if arguments is None:
        pytest.skip("no sample of this rank")
    expecting(layout, op, dtype, lambda: check_sample(op, arguments))


@pytest.mark.parametrize(("op", "dtype"), gradient_cases())
def test_gradient_of_channels_last(op, dtype):
    arguments = largest_laid_out(op, dtype, True, "channels_last")
    if arguments is None:
        pytest.skip("no sample of four or five dimensions")
    expecting("gradient of channels_last", op, dtype, lambda: check_gradient(op, arguments))


def linear_algebra_cases():
    names = {op.full_name for op in linalg_db} | expected.OLD_LINEAR_ALGEBRA
    for op in op_db:
        if op.full_name in names:
            yield pytest.param(op, id=op.full_name)


@pytest.mark.parametrize("op", linear_algebra_cases())
def test_linear_algebra_without_the_host(op):
    """Host kernels off: what a TPU runs where a CPU plugin would call LAPACK. What the sample says is unique is
    compared."""
    torch.tpu.set_host_ops("error")  # until the end of the test
    missing = expected.WITHOUT_LOWERING.get(op.full_name)
    sample = next(sample_inputs(op, torch.float32))
    arguments = on_device((sample.input, sample.args, sample.kwargs))
    if missing is not None:
        with pytest.raises(NotImplementedError, match=f"aten::{missing}.* has no lowering"):
            op(arguments[0], *arguments[1], **arguments[2])
        return
    unique = sample.output_process_fn_grad
    wants = tree_flatten(unique(op(sample.input, *sample.args, **sample.kwargs)))[0]
    gots = tree_flatten(unique(op(arguments[0], *arguments[1], **arguments[2])))[0]
    assert len(wants) == len(gots)
    for w, g in zip(wants, gots, strict=True):
        assert g.device.type == "tpu" and (g.dtype, g.shape) == (w.dtype, w.shape)
        rtol, atol = expected.tolerance(op.full_name, w.dtype)
        torch.testing.assert_close(g.cpu(), w, rtol=10 * rtol, atol=10 * atol)
