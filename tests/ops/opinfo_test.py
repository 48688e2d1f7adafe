"""Every op against CPU, on PyTorch's own OpInfo samples.

`make test` takes a few samples per op and dtype (OPINFO_SAMPLES), one on the second CPU plugin; `make opinfo`: all.
Strides are compared as well: compiled programs contain views that assume those of PyTorch's own kernels. What is known
to differ stands in expected.py with its reason, and nothing else may differ: an entry that passes fails the test as
well.
"""

import os
from itertools import islice

import expected
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.definitions.linalg import op_db as linalg_db
from torch.utils._pytree import tree_flatten, tree_map

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
pytestmark = pytest.mark.usefixtures("quiet_host_ops")
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


def as_it_lies(x):
    """The tensor on `tpu`, with the same strides and offset also where it is not dense."""
    is_plain = x.layout == torch.strided and not x.is_conj() and not x.is_neg()
    if not is_plain or torch.empty_like(x).stride() == x.stride():
        return x.to("tpu")
    storage = x.untyped_storage()
    whole = torch.empty(0, dtype=x.dtype).set_(storage, 0, (storage.nbytes() // x.itemsize,))
    return whole.to("tpu").as_strided(x.shape, x.stride(), x.storage_offset())


def on_device(tree):
    """Tensors moved to `tpu`, and the device `cpu` among the arguments replaced."""

    def move(x):
        if isinstance(x, torch.Tensor):
            return as_it_lies(x.detach()).requires_grad_(x.requires_grad)
        if isinstance(x, torch.device) or (isinstance(x, str) and x == "cpu"):
            return torch.device("tpu")
        return x

    return tree_map(move, tree)


def names_device(arguments):
    """Whether anything tells the call that it is the device's: a factory's default is the CPU."""
    leaves = tree_flatten(arguments)[0]
    return any(getattr(x, "device", x).type == "tpu" for x in leaves if isinstance(x, (torch.Tensor, torch.device)))


def outcome(op, arguments):
    """What the call gives: its result, or what it raised."""
    first, args, kwargs = arguments
    try:
        return op(first, *args, **kwargs), None
    except Exception as error:  # noqa: BLE001 - any class may be the expected one
        return None, error


def strides_of(x):
    """Those that mean something."""
    if x.layout != torch.strided or x.numel() < 2:
        return []
    return [stride for size, stride in zip(x.shape, x.stride(), strict=True) if size > 1]


def check_sample(op, arguments):
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
        assert g.device.type == ("tpu" if w.device.type == "cpu" and names_device(on_tpu) else w.device.type)
        assert (g.dtype, g.shape, g.layout) == (w.dtype, w.shape, w.layout)
        assert strides_of(g) == strides_of(w), f"strides of {tuple(w.shape)}"
        if random:
            continue
        rtol, atol = expected.tolerance(op.full_name, w.dtype)
        torch.testing.assert_close(g.cpu(), w, rtol=rtol, atol=atol, equal_nan=True)


def check_gradient(op, arguments):
    """The gradient of a fixed weighting of the outputs, for every input that asks for one."""
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
            weights.append(torch.empty_like(x, device="cpu").copy_(ramp).to(x.device))
        grads.append(torch.autograd.grad(outs, leaves, weights, allow_unused=True))
    for w, g in zip(*grads, strict=True):
        assert (w is None) == (g is None)
        if w is not None:
            assert strides_of(g) == strides_of(w), f"strides of a gradient of {tuple(w.shape)}"
            rtol, atol = expected.tolerance(op.full_name, w.dtype)
            torch.testing.assert_close(g.cpu(), w, rtol=10 * rtol, atol=10 * atol, equal_nan=True)


def samples_of(op, dtype, requires_grad, count):
    """Arguments: the first one, the others, those with a name."""
    torch.manual_seed(0)
    samples = islice(op.sample_inputs("cpu", dtype, requires_grad=requires_grad), count)
    return [(sample.input, sample.args, sample.kwargs) for sample in samples]


def column_major(x):
    backwards = tuple(range(x.dim()))[::-1]
    return x.permute(backwards).contiguous().permute(backwards)


def channels_last(x):
    return x.contiguous(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d)


LAYOUTS = {"column-major": (column_major, range(2, 10)), "channels_last": (channels_last, (4, 5))}


def laid_out(arguments, layout):
    """The tensors that have a fitting rank rearranged in memory, or None where that changes nothing."""
    rearrange, ranks = LAYOUTS[layout]
    changed = False

    def lay_out(x):
        nonlocal changed
        if not isinstance(x, torch.Tensor) or x.layout != torch.strided or x.dim() not in ranks or x.numel() < 2:
            return x
        other = rearrange(x.detach())
        changed |= strides_of(other) != strides_of(x)
        return other.requires_grad_(x.requires_grad)

    rearranged = tree_map(lay_out, arguments)
    return rearranged if changed else None


def elements_in(arguments):
    return sum(x.numel() for x in tree_flatten(arguments)[0] if isinstance(x, torch.Tensor))


def largest_laid_out(op, dtype, requires_grad, layout):
    """Of the first samples the one with most elements: small ones have few strides that tell layouts apart."""
    samples = [laid_out(arguments, layout) for arguments in samples_of(op, dtype, requires_grad, 12)]
    return max(filter(None, samples), key=elements_in, default=None)


def expecting(kind, op, dtype, check):
    """Runs `check`. A difference that expected.py lists is an xfail with its reason; its absence is a failure."""
    reason = expected.reason(kind, op.full_name, dtype, all_samples=SAMPLES > 1000)
    try:
        check()
    except Exception:
        if reason is None:
            raise
        pytest.xfail(reason)
    assert reason is None, f"expected.py lists this as different ({reason}), but it agrees now"


@pytest.mark.parametrize(("op", "dtype"), cases())
def test_forward(op, dtype):
    def check():
        for arguments in samples_of(op, dtype, False, SAMPLES):
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
                yield pytest.param(op, dtype, layout, id=f"{op.full_name}-{layout}")


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
    torch.manual_seed(0)
    sample = next(iter(op.sample_inputs("cpu", torch.float32, requires_grad=False)))
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
