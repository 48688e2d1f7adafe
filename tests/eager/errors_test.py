"""Bad input: the same class of exception as on the CPU, at the call itself, and the process and other tensors live on.

Each row is a function of a factory of good input; the CPU says which class is right, so that none is written down here.
"""

import itertools

import pytest
import torch
from torch.nn import functional as F


class Inputs:
    """Tensors of one device, all the same in every run."""

    def __init__(self, device):
        self.device = device

    def floats(self, *shape):
        return torch.linspace(-1, 1, max(1, torch.Size(shape).numel()), device=self.device)[
            : torch.Size(shape).numel()
        ].view(shape)

    def ints(self, *values, dtype=torch.int64):
        return torch.tensor(values, dtype=dtype, device=self.device)

    def zeros(self, *shape, dtype=torch.float32):
        return torch.zeros(shape, dtype=dtype, device=self.device)


WRONG = {
    # shapes
    "add: shapes": lambda t: t.floats(2, 3) + t.floats(4),
    "add_: grows": lambda t: t.floats(3).add_(t.floats(2, 3)),
    "mul: out of broadcast": lambda t: torch.mul(t.floats(2, 1, 3), t.floats(4, 2)),
    "mm: inner": lambda t: torch.mm(t.floats(2, 3), t.floats(2, 3)),
    "mm: rank": lambda t: torch.mm(t.floats(2), t.floats(2, 3)),
    "matmul: inner": lambda t: t.floats(2, 3) @ t.floats(4),
    "bmm: batches": lambda t: torch.bmm(t.floats(2, 3, 4), t.floats(3, 4, 5)),
    "addmm: bias": lambda t: torch.addmm(t.floats(7), t.floats(2, 3), t.floats(3, 4)),
    "dot: lengths": lambda t: torch.dot(t.floats(2), t.floats(3)),
    "mv: lengths": lambda t: torch.mv(t.floats(2, 3), t.floats(2)),
    "linear": lambda t: F.linear(t.floats(2, 3), t.floats(4, 5)),
    "cat: sizes": lambda t: torch.cat([t.floats(2, 3), t.floats(3, 2)]),
    "cat: nothing": lambda t: torch.cat([]),
    "cat: out": lambda t: torch.cat([t.floats(2), t.floats(2)], out=t.ints(1, 2, 3, 4)),
    "stack: sizes": lambda t: torch.stack([t.floats(2), t.floats(3)]),
    "view": lambda t: t.floats(6).view(4),
    "view: strides": lambda t: t.floats(2, 3).t().view(6),
    "reshape": lambda t: t.floats(6).reshape(5, -1),
    "expand": lambda t: t.floats(2, 3).expand(4, 3),
    "copy_: shapes": lambda t: t.floats(2, 3).copy_(t.floats(3, 2)),
    "setitem: shapes": lambda t: t.floats(2, 3).__setitem__(0, t.floats(4)),
    "where: shapes": lambda t: torch.where(t.floats(2) > 0, t.floats(3), t.floats(3)),
    "conv2d: channels": lambda t: F.conv2d(t.floats(1, 2, 5, 5), t.floats(3, 4, 3, 3)),
    "conv2d: kernel larger than input": lambda t: F.conv2d(t.floats(1, 2, 2, 2), t.floats(3, 2, 3, 3)),
    "conv2d: stride": lambda t: F.conv2d(t.floats(1, 2, 5, 5), t.floats(3, 2, 3, 3), stride=0),
    "conv2d: groups": lambda t: F.conv2d(t.floats(1, 3, 5, 5), t.floats(3, 3, 3, 3), groups=2),
    "conv2d: rank": lambda t: F.conv2d(t.floats(5, 5), t.floats(3, 2, 3, 3)),
    "max_pool2d: padding": lambda t: F.max_pool2d(t.floats(1, 1, 4, 4), 2, padding=2),
    "avg_pool2d: kernel": lambda t: F.avg_pool2d(t.floats(1, 1, 2, 2), 3),
    "batch_norm: channels": lambda t: F.batch_norm(t.floats(2, 3, 4), t.floats(4), t.floats(4)),
    "layer_norm: shape": lambda t: F.layer_norm(t.floats(2, 3), (4,)),
    "group_norm: groups": lambda t: F.group_norm(t.floats(2, 3, 4), 2),
    "cross_entropy: batch": lambda t: F.cross_entropy(t.floats(2, 3), t.ints(0, 1, 2)),
    "nll_loss2d: rank": lambda t: F.nll_loss(t.floats(2, 3, 4, 4), t.ints(0, 1)),
    "mse_loss: shapes": lambda t: F.mse_loss(t.floats(2, 3), t.floats(4)),
    "gather: rank": lambda t: t.floats(2, 3).gather(0, t.ints(0)),
    "gather: larger index": lambda t: t.floats(2, 3).gather(0, t.zeros(2, 4, dtype=torch.int64)),
    "scatter: rank": lambda t: t.floats(2, 3).scatter(0, t.ints(0), t.floats(1)),
    "index_add: lengths": lambda t: t.floats(3, 2).index_add(0, t.ints(0, 1), t.floats(3, 2)),
    "index_copy: lengths": lambda t: t.floats(3, 2).index_copy(0, t.ints(0, 1), t.floats(3, 2)),
    "masked_select: shapes": lambda t: t.floats(2).masked_select(t.floats(3) > 0),
    "mask: shape": lambda t: t.floats(2, 3)[t.floats(3, 2) > 0],
    "index: shapes": lambda t: t.floats(4, 4)[t.ints(0, 1), t.ints(0, 1, 2)],
    "index: too many": lambda t: t.floats(4)[t.ints(0), t.ints(0)],
    "as_strided: out of storage": lambda t: t.floats(4).as_strided((4,), (2,)),
    "unfold: size": lambda t: t.floats(4).unfold(0, 5, 1),
    "zeros: negative": lambda t: torch.zeros(-1, device=t.device),
    "diag_embed: dims": lambda t: torch.diag_embed(t.floats(3), dim1=0, dim2=0),
    "tril: rank": lambda t: torch.tril(t.floats(3)),
    "inverse: not square": lambda t: torch.linalg.inv(t.floats(2, 3)),
    "cholesky: not positive": lambda t: torch.linalg.cholesky(-torch.eye(3, device=t.device)),
    "inverse: singular": lambda t: torch.linalg.inv(t.zeros(3, 3)),
    "multinomial: too many": lambda t: torch.multinomial(t.floats(3).abs(), 5),
    "embedding_bag: offsets": lambda t: F.embedding_bag(t.ints(0, 1), t.floats(3, 2), t.ints(1)),
    # dimensions
    "sum: dim": lambda t: t.floats(2, 3).sum(2),
    "softmax: dim": lambda t: t.floats(2, 3).softmax(-3),
    "argmax: dim": lambda t: t.floats(2).argmax(1),
    "max: empty": lambda t: t.floats(0).max(),
    "argmin: empty": lambda t: t.floats(0, 3).argmin(0),
    "select: range": lambda t: t.floats(2, 3)[2],
    "select: dims": lambda t: t.floats(2)[0, 0],
    "transpose: dim": lambda t: t.floats(2, 3).transpose(0, 2),
    "permute: repeated": lambda t: t.floats(2, 3).permute(0, 0),
    "flip: repeated": lambda t: t.floats(2, 3).flip(0, 0),
    "squeeze: dim": lambda t: t.floats(2, 3).squeeze(5),
    "narrow: range": lambda t: t.floats(4).narrow(0, 3, 2),
    "split: sizes": lambda t: t.floats(4).split([1, 2]),
    "cumsum: dim": lambda t: t.floats(2).cumsum(3),
    "sort: dim": lambda t: t.floats(2).sort(2),
    "topk: k": lambda t: t.floats(3).topk(4),
    "kthvalue: k": lambda t: t.floats(3).kthvalue(4),
    "pad: too much": lambda t: F.pad(t.floats(1, 3), (3, 3), mode="reflect"),
    "roll: dims": lambda t: t.floats(2, 3).roll((1, 2), (0,)),
    # dtypes
    "mm: dtypes": lambda t: torch.mm(t.floats(2, 2), t.zeros(2, 2, dtype=torch.float64)),
    "linear: dtypes": lambda t: F.linear(t.floats(2, 2), t.zeros(2, 2, dtype=torch.bfloat16)),
    "conv2d: dtypes": lambda t: F.conv2d(t.floats(1, 1, 3, 3), t.zeros(1, 1, 2, 2, dtype=torch.float64)),
    "add_: float into int": lambda t: t.ints(1, 2).add_(1.5),
    "div_: int": lambda t: t.ints(1, 2).div_(2),
    "mul_: complex into float": lambda t: t.floats(2).mul_(1j),
    "out=: dtype": lambda t: torch.add(t.floats(2), 1, out=t.ints(0, 0)),
    "sub: bool": lambda t: (t.floats(2) > 0) - (t.floats(2) > 0),
    "neg: bool": lambda t: -(t.floats(2) > 0),
    "bitwise_and: float": lambda t: t.floats(2) & t.floats(2),
    "shift: float": lambda t: t.floats(2) << 1.5,
    "mean: int": lambda t: t.ints(1, 2).mean(),
    "std: int": lambda t: t.ints(1, 2).std(),
    "softmax: int": lambda t: t.ints(1, 2).softmax(0),
    "norm: int": lambda t: torch.linalg.vector_norm(t.ints(1, 2)),
    "lt: complex": lambda t: t.floats(2) * 1j < 0,
    "max: complex": lambda t: (t.floats(2) * 1j).max(),
    "floor: complex": lambda t: torch.floor(t.floats(2) * 1j),
    "item: many": lambda t: t.floats(2).item(),
    "bool: many": lambda t: bool(t.floats(2)),
    "int: complex": lambda t: int(torch.tensor(1j, device=t.device)),
    "gather: float index": lambda t: t.floats(3).gather(0, t.floats(2)),
    "index: float": lambda t: t.floats(3)[t.floats(2)],
    "index_select: float index": lambda t: t.floats(3).index_select(0, t.floats(2)),
    "embedding: float index": lambda t: F.embedding(t.floats(2), t.floats(3, 2)),
    "index_put: dtypes": lambda t: t.floats(3).index_put_((t.ints(0),), t.ints(1)),
    "scatter: dtypes": lambda t: t.floats(3).scatter_(0, t.ints(0), t.ints(1)),
    "masked_fill: mask dtype": lambda t: t.floats(2).masked_fill(t.floats(2), 0),
    "masked_fill: complex into float": lambda t: t.floats(2).masked_fill(t.floats(2) > 0, 1j),
    "where: condition dtype": lambda t: torch.where(t.floats(2), 1.0, 0.0),
    "cross_entropy: target dtype": lambda t: F.cross_entropy(t.floats(2, 3), t.ints(0, 1, dtype=torch.int32).float()),
    "nll_loss: target dtype": lambda t: F.nll_loss(t.floats(2, 3), t.ints(0, 1, dtype=torch.int32)),
    "dropout: probability": lambda t: F.dropout(t.floats(2), 1.5),
    "bernoulli: probability": lambda t: torch.bernoulli(t.floats(2), 1.5),
    "normal: std": lambda t: torch.normal(0.0, -1.0, (2,), device=t.device),
    "randint: empty range": lambda t: torch.randint(3, 3, (2,), device=t.device),
    "randn: int": lambda t: torch.randn(2, dtype=torch.int64, device=t.device),
    "uniform_: range": lambda t: t.floats(2).uniform_(1, 0),
    "exponential_: rate": lambda t: t.floats(2).exponential_(-1),
    "random_: range": lambda t: t.ints(1).random_(5, 5),
    "arange: step": lambda t: torch.arange(0, 3, 0, device=t.device),
    "arange: sign": lambda t: torch.arange(3, 0, device=t.device),
    "linspace: steps": lambda t: torch.linspace(0, 1, -1, device=t.device),
    "eye: negative": lambda t: torch.eye(-1, device=t.device),
    "view_as_complex: last": lambda t: torch.view_as_complex(t.floats(3)),
    "view dtype: sizes": lambda t: t.floats(3).view(torch.float64),
    "imag: real": lambda t: t.floats(3).imag,
    "clamp: nothing": lambda t: t.floats(3).clamp(),
    "embedding: weight rank": lambda t: F.embedding(t.ints(0), t.floats(3)),
    # overlap
    "add_: overlap": lambda t: t.floats(1).expand(3).add_(1),
    "copy_: overlap": lambda t: t.floats(1).expand(3).copy_(t.floats(3)),
    "copy_: parts that overlap": lambda t: (lambda x: x[2:8].copy_(x[:6]))(t.floats(8)),
    "setitem: parts that overlap": lambda t: (lambda x: x.__setitem__(slice(2, 8), x[:6]))(t.floats(8)),
    "copy_: its own transpose": lambda t: (lambda x: x.copy_(x.t()))(t.floats(3, 3)),
    "set leaf": lambda t: t.floats(2).requires_grad_().add_(1),
    "requires_grad: int": lambda t: t.ints(1).requires_grad_(),
    # values
    "fill_: infinity into int": lambda t: t.ints(1, 2).fill_(float("inf")),
    "fill_: nan into int": lambda t: t.ints(1, 2).fill_(float("nan")),
    "full: infinity into int": lambda t: torch.full((2,), float("inf"), dtype=torch.int32, device=t.device),
    "full: too large for int8": lambda t: torch.full((2,), 300, dtype=torch.int8, device=t.device),
    "masked_fill: infinity into int": lambda t: t.ints(1, 2).masked_fill(t.ints(1, 2) > 1, float("-inf")),
    "masked_fill: too large for uint8": lambda t: t.ints(1, dtype=torch.uint8).masked_fill(t.ints(1) > 0, 1000),
    "setitem: nan into int": lambda t: t.ints(1, 2).__setitem__(0, float("nan")),
    "index_fill: infinity into int": lambda t: t.ints(1, 2).index_fill(0, t.ints(0), float("inf")),
    "scatter: nan into int": lambda t: t.ints(1, 2).scatter(0, t.ints(0), float("nan")),
    "constant pad: nan into int": lambda t: F.pad(t.ints(1, 2), (1, 1), value=float("nan")),
    "add: infinity alpha": lambda t: torch.add(t.ints(1), t.ints(1), alpha=float("inf")),
    "division by zero": lambda t: t.ints(1, 2) // t.ints(0, 1),
    "remainder by zero": lambda t: t.ints(1, 2) % t.ints(1, 0),
    "division by the number zero": lambda t: t.ints(1, 2).div(0, rounding_mode="floor"),
    "fmod by zero": lambda t: torch.fmod(t.ints(1), 0),
    "integer to a negative power": lambda t: t.ints(2) ** -1,
    "multinomial: negative": lambda t: torch.multinomial(t.floats(3), 1),
    "bernoulli: not a probability": lambda t: torch.bernoulli(t.floats(3) * 2),
    # indices out of range
    "index": lambda t: t.floats(3)[t.ints(0, 3)],
    "index: negative": lambda t: t.floats(3)[t.ints(-4)],
    "index: second": lambda t: t.floats(3, 2)[t.ints(0), t.ints(2)],
    "index: list": lambda t: t.floats(3)[[0, 5]],
    "index_put": lambda t: t.floats(3).index_put_((t.ints(3),), t.floats(1)),
    "index_put: accumulate": lambda t: t.floats(3).index_put_((t.ints(-4),), t.floats(1), accumulate=True),
    "setitem": lambda t: t.floats(3).__setitem__(t.ints(7), 0),
    "gather": lambda t: t.floats(3).gather(0, t.ints(0, 3)),
    "gather: negative": lambda t: t.floats(3).gather(0, t.ints(-1)),
    "take": lambda t: t.floats(3).take(t.ints(3)),
    "put": lambda t: t.floats(3).put(t.ints(3), t.floats(1)),
    "scatter": lambda t: t.floats(3).scatter(0, t.ints(3), t.floats(1)),
    "scatter: negative": lambda t: t.floats(3).scatter(0, t.ints(-1), 1.0),
    "scatter_add": lambda t: t.floats(3).scatter_add(0, t.ints(3), t.floats(1)),
    "scatter_reduce": lambda t: t.floats(3).scatter_reduce(0, t.ints(3), t.floats(1), "amax"),
    "index_select": lambda t: t.floats(3).index_select(0, t.ints(3)),
    "index_select: negative": lambda t: t.floats(3).index_select(0, t.ints(-1)),
    "index_add": lambda t: t.floats(3).index_add(0, t.ints(3), t.floats(1)),
    "index_copy": lambda t: t.floats(3).index_copy(0, t.ints(3), t.floats(1)),
    "index_fill": lambda t: t.floats(3).index_fill(0, t.ints(3), 1.0),
    "embedding": lambda t: F.embedding(t.ints(0, 3), t.floats(3, 2)),
    "embedding: negative": lambda t: F.embedding(t.ints(-1), t.floats(3, 2)),
    "cross_entropy: class": lambda t: F.cross_entropy(t.floats(2, 3), t.ints(0, 3)),
    "nll_loss: negative class": lambda t: F.nll_loss(t.floats(2, 3), t.ints(0, -1)),
    "one_hot: class": lambda t: F.one_hot(t.ints(0, 3), 3),
    "max_unpool2d": lambda t: F.max_unpool2d(t.floats(1, 1, 1, 1), t.ints(99).view(1, 1, 1, 1), 2),
    "repeat_interleave: negative": lambda t: t.floats(2).repeat_interleave(t.ints(-1, 1)),
    "bincount: negative": lambda t: torch.bincount(t.ints(-1)),
    # kinds of tensor
    "resize of a graph": lambda t: t.floats(2).requires_grad_().resize_(3),
    "storage too small": lambda t: t.floats(4).set_(t.floats(2).untyped_storage(), 0, (4,)).clone(),
}


def error_of(function, device):
    try:
        function(Inputs(device))
        if device == "tpu":
            torch.tpu.synchronize()  # in a deferred mode an error that depends on values comes here
    except Exception as error:
        return error
    return None


@pytest.fixture(scope="module")
def bystander():
    """A tensor that no error may change."""
    x = torch.arange(5.0, device="tpu")
    yield x
    assert x.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("mode", ["strict", "fused"], indirect=True)
@pytest.mark.parametrize("name", WRONG)
def test_same_exception_class_as_cpu(name, bystander, mode):
    expected, got = error_of(WRONG[name], "cpu"), error_of(WRONG[name], "tpu")
    assert expected is not None, "the CPU takes it: not a row for this table"
    assert got is not None, f"no error on tpu, on cpu {type(expected).__name__}: {expected}"
    assert type(got) is type(expected), f"tpu: {got!r}\ncpu: {expected!r}"
    assert str(got).strip()
    assert (bystander + 1).tolist() == [1, 2, 3, 4, 5]


TWO_TENSORS = {
    "add": lambda a, b: a + b,
    "add_": lambda a, b: a.add_(b),
    "mm": lambda a, b: a @ b,
    "addmm": lambda a, b: torch.addmm(a, a, b),
    "linear": lambda a, b: F.linear(a, b),
    "conv": lambda a, b: F.conv1d(a[None], b[None]),
    "cat": lambda a, b: torch.cat([a, b]),
    "stack": lambda a, b: torch.stack([a, b]),
    "where": lambda a, b: torch.where(a > 0, a, b),
    "gather": lambda a, b: a.gather(0, b.long() * 0),
    "index_select": lambda a, b: a.index_select(0, b[0].long() * 0),
    "masked_fill": lambda a, b: a.masked_fill(b > 0, 0.0),
    "out": lambda a, b: torch.add(a, a, out=b),
    "mse_loss": lambda a, b: F.mse_loss(a, b),
    "cross_entropy": lambda a, b: F.cross_entropy(a, b[0].long() * 0),
    "layer_norm": lambda a, b: F.layer_norm(a, (2,), b[0]),
    "embedding": lambda a, b: F.embedding(b.long() * 0, a),
    "eq": lambda a, b: a == b,
    "lerp": lambda a, b: a.lerp(b, 0.5),
    "host op": lambda a, b: torch.linalg.lstsq(a, b),
    "foreach": lambda a, b: torch._foreach_add_([a], [b]),
}


@pytest.mark.parametrize("name", TWO_TENSORS)
@pytest.mark.parametrize("devices", list(itertools.permutations(["tpu", "cpu"])), ids="-".join)
def test_a_cpu_and_a_tpu_tensor_in_one_op(name, devices):
    a, b = (torch.ones(2, 2, device=device) for device in devices)
    with pytest.raises(RuntimeError) as caught:
        TWO_TENSORS[name](a, b)
    text = str(caught.value)
    assert "device" in text and "cpu" in text and "tpu" in text, text
    assert a.sum().item() == b.sum().item() == 4


def test_what_may_be_on_the_cpu():
    x = torch.arange(6.0, device="tpu").view(2, 3)
    assert (x + torch.tensor(1.0)).device == x.device
    assert torch.add(torch.tensor(1.0), x).device == x.device
    assert x[torch.tensor([1])].tolist() == [[3, 4, 5]]
    assert x[torch.tensor([False, True])].tolist() == [[3, 4, 5]]
    x[torch.tensor([0])] = torch.tensor(-1.0)
    assert x[0].tolist() == [-1] * 3


@pytest.mark.usefixtures("strict")
def test_the_message_names_op_expected_and_got():
    x = torch.ones(3, 4, device="tpu")
    with pytest.raises(IndexError, match="index 7 is out of bounds.*3"):
        x[torch.tensor([7], device="tpu")]
    with pytest.raises(RuntimeError, match=r"3x4 and 3x4|\[3, 4\]"):
        x @ x
    with pytest.raises(RuntimeError, match="same device.*tpu:0.*cpu|cpu.*tpu:0"):
        x + torch.ones(3, 4)


@pytest.mark.usefixtures("strict")
def test_a_failed_write_changes_nothing():
    x = torch.arange(4.0, device="tpu")
    for wrong in (
        lambda: x.index_put_((torch.tensor([1, 9], device="tpu"),), torch.tensor([5.0, 5.0], device="tpu")),
        lambda: x.scatter_(0, torch.tensor([1, 9], device="tpu"), 5.0),
        lambda: x.index_fill_(0, torch.tensor([1, 9], device="tpu"), 5.0),
        lambda: x[1:].index_add_(0, torch.tensor([3], device="tpu"), torch.ones(1, device="tpu")),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            wrong()
        assert x.tolist() == [0, 1, 2, 3]


def test_packed_lengths_may_be_on_the_cpu():
    x = torch.arange(24.0).view(2, 4, 3)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x.to("tpu"), torch.tensor([4, 2]), batch_first=True)
    expected = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 2]), batch_first=True)
    assert torch.equal(packed.data.cpu(), expected.data)


@pytest.mark.parametrize("use", [torch.ones, torch.rand, lambda n, device: torch.ones(1, device=device).expand(n) + 1])
def test_too_large_allocations_name_the_tensors(use):
    held = torch.ones(123, 457, device="tpu")
    with pytest.raises(torch.OutOfMemoryError) as caught:
        use(2**46, device="tpu")
    assert isinstance(caught.value, RuntimeError)
    assert "out of memory" in str(caught.value) and "[123, 457]" in str(caught.value)
    assert held.sum().item() == 123 * 457


def test_sparse_and_quantized_tensors_are_refused_by_name():
    x = torch.eye(3, device="tpu")
    for use in (
        lambda: x.to_sparse(),
        lambda: torch.sparse_coo_tensor([[0], [0]], [1.0], (2, 2), device="tpu"),
        lambda: torch.eye(3).to_sparse().to("tpu"),
        lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            use()
        assert "tpu" in str(caught.value).lower() or "sparse" in str(caught.value).lower(), str(caught.value)
    assert (x + x).sum().item() == 6


def test_a_host_op_that_the_cpu_refuses_does_not_warn(python):
    """Nothing is missing on the device then; a good call of the same op warns, once."""
    code = """
        import torch
        for matrix in (torch.zeros(2, 2), torch.eye(2), torch.eye(2)):
            try:
                torch.linalg.eig(matrix[: int(matrix.sum())].to("tpu"))
            except RuntimeError as error:
                print(type(error).__name__)
            print(len(torch.tpu.host_ops()))
    """
    out, err = python(code, TORCH_TPU_HOST_OPS="warn")
    assert out.split() == ["RuntimeError", "0", "1", "1"], out
    assert err.count("runs on the host") == 1, err
