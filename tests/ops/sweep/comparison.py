"""What a call gives on `tpu` against what it gives on the CPU: values, dtypes, shapes, devices and strides."""

import contextlib

import expected
import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map


def _nobody(where):
    pass


announce = _nobody  # called with "cpu" or "tpu" before a call there, for whoever wants to know where a process died


def as_it_lies(x):
    """The tensor on `tpu`, with the same strides and offset also where it is not dense."""
    is_plain = x.layout == torch.strided and not x.is_conj() and not x.is_neg()
    if not is_plain or torch.empty_like(x).stride() == x.stride():
        return x.to("tpu")
    storage = x.untyped_storage()
    whole = torch.empty(0, dtype=x.dtype).set_(storage, 0, (storage.nbytes() // x.itemsize,))
    return whole.to("tpu").as_strided(x.shape, x.stride(), x.storage_offset())


def on_device(tree):
    """Tensors moved to `tpu`, one that comes twice as one, and the device `cpu` among the arguments replaced."""
    moved = {}

    def move(x):
        if isinstance(x, torch.Tensor):
            if id(x) not in moved:
                moved[id(x)] = as_it_lies(x.detach()).requires_grad_(x.requires_grad)
            return moved[id(x)]
        if isinstance(x, torch.device) or (isinstance(x, str) and x == "cpu"):
            return torch.device("tpu")
        return x

    return tree_map(move, tree)


def names_device(arguments):
    """Whether anything tells the call that it is the device's: a factory's default is the CPU."""
    leaves = tree_leaves(arguments)
    return any(getattr(x, "device", x).type == "tpu" for x in leaves if isinstance(x, (torch.Tensor, torch.device)))


class NeedsHost(Exception):
    """The call would have run on the host, and host ops are errors."""


@contextlib.contextmanager
def work_on(device):
    """What happens inside happens there; the refusal of a host op becomes a NeedsHost that names it."""
    announce(device)
    try:
        yield
    except NotImplementedError as error:
        if "host ops are set to 'error'" in str(error):
            raise NeedsHost(str(error).partition(" has no lowering")[0]) from error
        raise


def outcome(function, arguments):
    """What the call gives: its result, or what it raised."""
    first, args, kwargs = arguments
    try:
        with work_on("tpu" if names_device(arguments) else "cpu"):
            return function(first, *args, **kwargs), None
    except NeedsHost:
        raise
    except Exception as error:  # noqa: BLE001 - any class may be the expected one
        return None, error


def strides_of(x):
    """Those that mean something."""
    if x.layout != torch.strided or x.numel() < 2:
        return []
    return [stride for size, stride in zip(x.shape, x.stride(), strict=True) if size > 1]


def assert_close(got, want, name, factor=1, what=""):
    """By the tolerance of the entry `name`, `factor` times."""
    assert strides_of(got) == strides_of(want), f"strides of {what or 'the result'} of {tuple(want.shape)}"
    rtol, atol = expected.tolerance(name, want.dtype)
    got = got.detach().cpu()
    torch.testing.assert_close(got, want.detach(), rtol=factor * rtol, atol=factor * atol, equal_nan=True)


def assert_same(got, want, name, device, is_random=False):
    """Trees of results; what is on the CPU in `want` is on `device` in `got`."""
    wants, gots = tree_flatten(want)[0], tree_flatten(got)[0]
    assert len(wants) == len(gots)
    for w, g in zip(wants, gots, strict=True):
        if not isinstance(w, torch.Tensor):
            assert type(w) is type(g) and (is_random or w == g or w != w), (w, g)
            continue
        assert g.device.type == (device if w.device.type == "cpu" else w.device.type)
        assert (g.dtype, g.shape, g.layout) == (w.dtype, w.shape, w.layout)
        if not is_random:
            assert_close(g, w, name)
        else:
            assert strides_of(g) == strides_of(w), f"strides of {tuple(w.shape)}"


def check_call(function, arguments, name, same_class=False):
    """Both devices give the same, or raise."""
    on_tpu = on_device(arguments)  # before the call, which may write into its arguments
    want, refused = outcome(function, arguments)
    got, error = outcome(function, on_tpu)
    if refused is not None:
        assert error is not None, f"CPU raises {refused!r}, tpu does not"
        assert not same_class or type(error) is type(refused), f"CPU raises {refused!r}, tpu {error!r}"
        return
    if error is not None:
        raise error
    device = "tpu" if names_device(on_tpu) else "cpu"
    assert_same(got, want, name, device, is_random=name in expected.RANDOM)


def check_sample(op, arguments):
    """The call of an op_db entry."""
    check_call(op, arguments, op.full_name)
