"""Every op against CPU, on PyTorch's own OpInfo samples.

`make test` takes a few samples per op and dtype (OPINFO_SAMPLES), one on the second CPU plugin; `make opinfo`: all.
What is known to differ stands in expected.py with its reason, and nothing else may differ: an entry that passes fails
the test as well.
"""

import os
from itertools import islice

import expected
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
SAMPLES = int(os.environ.get("OPINFO_SAMPLES", "3"))


def cases():
    for op in op_db:
        if expected.is_left_out(op.full_name):
            continue
        for dtype in DTYPES:
            if dtype in op.supported_dtypes("cpu"):
                marks = [pytest.mark.second_plugin] if dtype == torch.float32 else []
                yield pytest.param(op, dtype, id=f"{op.full_name}-{str(dtype).removeprefix('torch.')}", marks=marks)


def has_gradient(op, dtype):
    return (
        dtype == torch.float32
        and op.supports_autograd
        and op.full_name not in expected.RANDOM
        and dtype in op.supported_backward_dtypes("cpu")
    )


def gradient_cases():
    for case in cases():
        if has_gradient(*case.values):
            yield pytest.param(*case.values, id=case.id)


def on_device(tree):
    """Tensors moved to `tpu`, and the device `cpu` among the arguments replaced."""

    def move(x):
        if isinstance(x, torch.Tensor):
            return x.detach().to("tpu").requires_grad_(x.requires_grad)
        if isinstance(x, torch.device) or (isinstance(x, str) and x == "cpu"):
            return torch.device("tpu")
        return x

    return tree_map(move, tree)


def outcome(op, arguments):
    """What the call gives: its result, or what it raised."""
    first, args, kwargs = arguments
    try:
        return op(first, *args, **kwargs), None
    except Exception as error:  # noqa: BLE001 - any class may be the expected one
        return None, error


def check_sample(op, dtype, sample):
    arguments = (sample.input, sample.args, sample.kwargs)
    on_tpu = on_device(arguments)  # before the call, which may write into its arguments
    want, refused = outcome(op, arguments)
    got, error = outcome(op, on_tpu)
    if refused is not None:
        assert error is not None, f"CPU raises {refused!r}, tpu does not"
        return
    if error is not None:
        raise error
    random = op.full_name in expected.RANDOM
    wants, gots = tree_flatten(want)[0], tree_flatten(got)[0]
    assert len(wants) == len(gots)
    for w, g in zip(wants, gots, strict=True):
        if not isinstance(w, torch.Tensor):
            assert type(w) is type(g) and (random or w == g or w != w), (w, g)
            continue
        assert g.device.type == ("tpu" if w.device.type == "cpu" else w.device.type)
        assert (g.dtype, g.shape, g.layout) == (w.dtype, w.shape, w.layout)
        if random:
            continue
        rtol, atol = expected.tolerance(op.full_name, w.dtype)
        torch.testing.assert_close(g.cpu(), w, rtol=rtol, atol=atol, equal_nan=True)


def check_gradient(op, sample):
    """The gradient of a fixed weighting of the outputs, for every input that asks for one."""
    arguments = (sample.input, sample.args, sample.kwargs)
    grads = []
    for first, args, kwargs in (arguments, on_device(arguments)):
        leaves = [x for x in tree_flatten((first, args, kwargs))[0] if isinstance(x, torch.Tensor) and x.requires_grad]
        out = op.gradcheck_wrapper(op.op, first, *args, **kwargs)
        outs = [x for x in tree_flatten(out)[0] if isinstance(x, torch.Tensor) and x.requires_grad]
        if not outs or not leaves:
            return
        weights = []
        for x in outs:
            ramp = torch.linspace(0.5, 1.5, x.numel(), dtype=torch.float32).reshape(x.shape)
            weights.append(ramp.to(x.dtype).to(x.device))
        grads.append(torch.autograd.grad(outs, leaves, weights, allow_unused=True))
    for w, g in zip(*grads, strict=True):
        assert (w is None) == (g is None)
        if w is not None:
            rtol, atol = expected.tolerance(op.full_name, w.dtype)
            torch.testing.assert_close(g.cpu(), w, rtol=10 * rtol, atol=10 * atol, equal_nan=True)


def samples_of(op, dtype, requires_grad, count):
    torch.manual_seed(0)
    return list(islice(op.sample_inputs("cpu", dtype, requires_grad=requires_grad), count))


def expecting(kind, op, dtype, check):
    """Runs `check`. A difference that expected.py lists is an xfail with its reason; its absence is a failure."""
    reason = expected.reason(kind, op.full_name, dtype)
    try:
        check()
    except Exception:
        if reason is None:
            raise
        pytest.xfail(reason)
    assert reason is None, f"expected.py lists this as different ({reason}), but it agrees now"


@pytest.fixture(autouse=True)
def quiet_host_ops():
    before = torch.tpu.set_host_ops("allow")
    yield
    torch.tpu.set_host_ops(before)


@pytest.mark.parametrize(("op", "dtype"), cases())
def test_forward(op, dtype):
    def check():
        for sample in samples_of(op, dtype, False, SAMPLES):
            check_sample(op, dtype, sample)

    expecting("forward", op, dtype, check)


@pytest.mark.parametrize(("op", "dtype"), gradient_cases())
def test_gradient(op, dtype):
    def check():
        for sample in samples_of(op, dtype, True, max(1, SAMPLES // 3)):
            check_gradient(op, sample)

    expecting("gradient", op, dtype, check)
