"""Every op against CPU, on PyTorch's own OpInfo samples.

`make test` takes a few samples per op and dtype (a second one, marked `second_plugin`, takes one on the second CPU plugin);
`make opinfo` takes all of them. What is known to differ stands in expected.py with its reason, and nothing else may differ:
an entry that passes fails the test as well.
"""

import os
from itertools import islice

import expected
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
SAMPLES = int(os.environ.get("OPINFO_SAMPLES", "6"))


def cases():
    for op in op_db:
        if op.full_name in expected.LEFT_OUT:
            continue
        for dtype in DTYPES:
            if dtype in op.supported_dtypes("cpu"):
                yield pytest.param(op, dtype, id=f"{op.full_name}-{str(dtype).removeprefix('torch.')}")


def has_gradient(op, dtype):
    return (
        dtype == torch.float32
        and op.supports_autograd
        and op.full_name not in expected.RANDOM
        and dtype in op.supported_backward_dtypes("cpu")
    )


def moved(tree, device):
    return tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else "tpu" if x == "cpu" else x, tree)


def call(op, sample):
    return op(sample.input, *sample.args, **sample.kwargs)


def outcome(op, sample):
    """What the call gives: its tensors, or the class of what it raised."""
    try:
        return call(op, sample), None
    except Exception as error:  # noqa: BLE001 - any class may be the expected one
        return None, error


def check_sample(op, dtype, sample):
    on_tpu = sample.transform(lambda x: moved(x, "tpu") if isinstance(x, (torch.Tensor, torch.device, str)) else x)
    want, refused = outcome(op, sample)
    got, error = outcome(op, on_tpu)
    if refused is not None:
        assert error is not None, f"CPU raises {refused!r}, tpu does not"
        return
    if error is not None:
        raise error
    random = op.full_name in expected.RANDOM
    wants, gots = tree_flatten(want)[0], tree_flatten(got)[0]
    assert len(wants) == len(gots)
    for w, g in zip(wants, gots):
        if not isinstance(w, torch.Tensor):
            assert type(w) is type(g) and (random or w == g or w != w), (w, g)
            continue
        assert g.device.type == ("tpu" if not w.device.type == "meta" else "meta")
        assert (g.dtype, g.shape, g.layout) == (w.dtype, w.shape, w.layout)
        if random:
            continue
        rtol, atol = expected.tolerance(op.full_name, w.dtype)
        torch.testing.assert_close(g.cpu(), w, rtol=rtol, atol=atol, equal_nan=True)


def check_gradient(op, sample):
    """The gradient of a fixed weighting of the outputs, for every input that asks for one."""
    on_tpu = sample.transform(
        lambda x: x.detach().to("tpu").requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x
    )
    grads = []
    for each in (sample, on_tpu):
        leaves = [x for x in tree_flatten((each.input, each.args, each.kwargs))[0] if isinstance(x, torch.Tensor)]
        leaves = [x for x in leaves if x.requires_grad]
        out = op.gradcheck_wrapper(op.op, each.input, *each.args, **each.kwargs)
        outs = [x for x in tree_flatten(out)[0] if isinstance(x, torch.Tensor) and x.requires_grad]
        if not outs or not leaves:
            return
        weights = []
        for x in outs:
            ramp = torch.linspace(0.5, 1.5, x.numel(), dtype=torch.float32).reshape(x.shape)
            weights.append(ramp.to(x.dtype).to(x.device))
        grads.append(torch.autograd.grad(outs, leaves, weights, allow_unused=True))
    for w, g in zip(*grads):
        assert (w is None) == (g is None)
        if w is not None:
            rtol, atol = expected.tolerance(op.full_name, w.dtype)
            torch.testing.assert_close(g.cpu(), w, rtol=10 * rtol, atol=10 * atol, equal_nan=True)


def samples_of(op, dtype, requires_grad, count):
    torch.manual_seed(0)
    return list(islice(op.sample_inputs("cpu", dtype, requires_grad=requires_grad), count))


def expecting(kind, op, dtype, check):
    """Runs `check`; a difference that expected.py lists is an xfail with its reason, one that does not happen any more a failure."""
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


@pytest.mark.parametrize(("op", "dtype"), [case for case in cases() if has_gradient(*case.values)])
def test_gradient(op, dtype):
    def check():
        for sample in samples_of(op, dtype, True, max(1, SAMPLES // 3)):
            check_gradient(op, sample)

    expecting("gradient", op, dtype, check)
