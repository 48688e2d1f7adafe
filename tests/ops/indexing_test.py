"""Family indexing against the CPU: reads and writes by index tensors and masks; also the errors of its neighbours."""

import itertools

import pytest
import torch
from oracle import assert_same

X = torch.arange(60.0).reshape(3, 4, 5)
T = torch.tensor


def mask(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape) % 3 == 1


INDICES = {
    "first": (T([2, 0]),),
    "negative": (T([-1, 1]),),
    "pair": (T([0, 2]), T([1, 3])),
    "broadcast": (T([[0], [2]]), T([1, 3, 0])),
    "not adjacent": (T([0, 2]), slice(None), T([1, 3])),
    "last": (slice(None), slice(None), T([[1, 4], [0, 0]])),
    "middle": (slice(None), T([1, 1, 1])),
    "int32": (T([0, 1], dtype=torch.int32),),
    "empty": (T([], dtype=torch.long),),
    "none": (None, T([1])),
    "ellipsis": (..., T([1, 2])),
    "number between": (T([0, 1]), 2, T([1, 3])),
    "mask": (mask(3),),
    "mask of all": (mask(3, 4, 5),),
    "mask of two": (mask(3, 4),),
    "mask behind": (slice(None), mask(4, 5)),
    "mask and index": (mask(3), T([2])),
    "two masks": (mask(3), slice(None), T([True, False, False, False, False])),
    "byte mask": (mask(3).to(torch.uint8),),
    "mask of none": (T([False, False, False]),),
    "0-d mask": (T(True),),
    "0-d index": (T(1),),
}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", INDICES)
def test_read_and_write(name):
    index = INDICES[name]

    def write(x, *index):
        x = x.clone()
        x[index] = -1.0
        return x

    def write_tensor(x, *index):
        x = x.clone()
        x[index] = x[index] * 2 + 1
        return x

    def accumulate(x, *index):
        return x.index_put(tuple(i for i in index), torch.ones((), device=x.device), accumulate=True)

    for x in (X, X.int(), X.bfloat16(), X.to(torch.complex64), X > 30):
        assert_same(lambda x, *index: x[index], x, *index)
        if name != "byte mask":  # the CPU refuses it for a single number
            assert_same(write, x, *index)
    assert_same(write_tensor, X, *index)
    if all(isinstance(i, torch.Tensor) for i in index) and name != "0-d mask":  # an internal error on the CPU
        assert_same(accumulate, X, *index)


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", INDICES)
def test_gradient(name):
    def gradient(x, *index):
        x = x.clone().requires_grad_()
        y = x[index]
        (y * torch.arange(1.0, y.numel() + 1, device=x.device).reshape(y.shape)).sum().backward()
        return x.grad

    assert_same(gradient, X, *INDICES[name])


BAD = {
    "index": lambda x, i: x[i(3)],
    "index negative": lambda x, i: x[i(-4)],
    "index of dim 1": lambda x, i: x[:, i(4)],
    "index of nothing": lambda x, i: x[:0][i(0)],
    "index_put": lambda x, i: x.index_put((i(3),), x[0]),
    "index_put shape": lambda x, i: x.index_put((i(0, 1),), x[:, :, 0]),
    "index_put dtype": lambda x, i: x.index_put((i(0),), x[0].double()),
    "too many": lambda x, i: x[i(0), i(0), i(0), i(0)],
    "float index": lambda x, i: x[i(0).float()],
    "mask shape": lambda x, i: x[torch.ones(2, dtype=torch.bool, device=x.device)],
    "gather": lambda x, i: x[0, 0].gather(0, i(7)),
    "gather negative": lambda x, i: x[0, 0].gather(0, i(-1)),
    "gather of int32": lambda x, i: x[0].gather(0, i(0, 1).reshape(1, 2).double()),
    "index_select matrix": lambda x, i: x.index_select(1, i(0, 1).reshape(1, 2)),
    "take": lambda x, i: x.take(i(60)),
    "put": lambda x, i: x.put(i(60), i(1).float()),
    "put count": lambda x, i: x.put(i(6), i(1, 2).float()),
    "scatter": lambda x, i: x[0, 0].scatter(0, i(5), 1.0),
    "scatter_add": lambda x, i: x[0, 0].scatter_add(0, i(5), x[0, 0]),
    "scatter_reduce": lambda x, i: x[0, 0].scatter_reduce(0, i(5), x[0, 0], "amax"),
    "scatter reduce name": lambda x, i: x[0, 0].scatter_reduce(0, i(0), x[0, 0], "most"),
    "index_add": lambda x, i: x[0, 0].index_add(0, i(5), i(1).float()),
    "index_copy": lambda x, i: x.index_copy(0, i(3), x[:1]),
    "index_fill": lambda x, i: x.index_fill(0, i(3), 1.0),
    "index_fill dtype": lambda x, i: x.index_fill(0, i(1).int(), 1.0),
    "embedding": lambda x, i: torch.nn.functional.embedding(i(3), x[0, :3]),
    "embedding dtype": lambda x, i: torch.nn.functional.embedding(i(1).float(), x[0]),
    "masked_scatter": lambda x, i: x.masked_scatter(x > 3, i(1, 2, 3).float()),
    "masked_scatter dtype": lambda x, i: x.masked_scatter(x > 3, x.double()),
    "flip twice": lambda x, i: x.flip(0, 0),
    "roll": lambda x, i: x.roll((1, 2), 0),
    "cat sizes": lambda x, i: torch.cat([x, x[:, :2]], 0),
    "cat nothing": lambda x, i: torch.cat([]),
    "pad odd": lambda x, i: torch.ops.aten.constant_pad_nd(x, [1], 0),
    "pad too far": lambda x, i: torch.nn.functional.pad(x, [-3, -3]),
    "reflect too far": lambda x, i: torch.nn.functional.pad(x, [5, 1], mode="reflect"),
    "reflect 2d too far": lambda x, i: torch.nn.functional.pad(x, [5, 1, 0, 0], mode="reflect"),
    "trace": lambda x, i: x.trace(),
    "arange sign": lambda x, i: torch.arange(0, -5, 1, device=x.device),
    "arange step": lambda x, i: torch.arange(0, 5, 0, device=x.device),
    "linspace": lambda x, i: torch.linspace(0, 1, -1, device=x.device),
    "eye": lambda x, i: torch.eye(-1, device=x.device),
    "tril_indices": lambda x, i: torch.tril_indices(-1, 2, device=x.device),
    "channel_shuffle": lambda x, i: torch.channel_shuffle(x[None], 2),
    "repeat": lambda x, i: x.repeat(2, 2),
}


@pytest.mark.parametrize("name", BAD)
def test_errors(name):
    bad = BAD[name]
    assert_same(lambda x: bad(x, lambda *values: T(values, device=x.device)), X, message=False)


def test_checks_name_the_index():
    x = X.to("tpu")
    with pytest.raises(IndexError, match="index 7 is out of bounds for dimension 1 with size 4"):
        x[:, T([0, 7]).to("tpu")].cpu()
    with pytest.raises(RuntimeError, match="index -3 is out of bounds for dimension 0 with size 3"):
        x.gather(0, T([[[-3]]]).to("tpu")).cpu()
    with pytest.raises(IndexError, match="index out of range in self"):  # the CPU's words and class depend on the dtype
        x.index_select(1, T([4]).to("tpu")).cpu()
    assert torch.equal(x[0].cpu(), X[0])


WRITES = {
    "scatter": lambda x, i, s: x.scatter(1, i, s),
    "scatter value": lambda x, i, s: x.scatter(1, i, 3),
    "scatter add": lambda x, i, s: x.scatter(1, i, s, reduce="add"),
    "scatter multiply": lambda x, i, s: x.scatter(1, i, 2, reduce="multiply"),
    "scatter_add": lambda x, i, s: x.scatter_add(1, i, s),
    "scatter_add_": lambda x, i, s: x.clone().scatter_add_(0, i % 3, s),
    "index_add": lambda x, i, s: x.index_add(1, i[0, :3, 0] % 4, s[:, :3], alpha=2),
    "index_add dim 2": lambda x, i, s: x.index_add(2, i[0, 0] % 5, s[:, :, : i.shape[2]].repeat(1, 4, 1)[:, :4]),
    "index_copy": lambda x, i, s: x.index_copy(1, T([3, 0, 1], device=x.device), s[:, :3]),
    "index_fill": lambda x, i, s: x.index_fill(2, T([-1, 0], device=x.device), 7),
    "take": lambda x, i, s: x.take(i * 3 - 5),
    "put": lambda x, i, s: x.put(T([[3, -1], [0, 59]], device=x.device), s[0, 0, :4].reshape(2, 2)),
    "put accumulate": lambda x, i, s: x.put(T([3, 3, 3], device=x.device), s[0, 0, :3], accumulate=True),
    "masked_scatter": lambda x, i, s: x.masked_scatter(x.real > 20, s.repeat(3, 4, 1)),
}
REDUCES = ["sum", "prod", "mean", "amax", "amin"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int8], ids=str)
@pytest.mark.parametrize("name", WRITES)
def test_writes(name, dtype):
    index = (torch.arange(18).reshape(3, 2, 3) * 7) % 4
    if name == "scatter":  # which of two writes to one element wins is not defined
        index = torch.stack([torch.zeros(3, 3), torch.full((3, 3), 3)], 1).long()
    source = torch.arange(60).reshape(3, 4, 5) % 5 + 1
    if "scatter" in name and "mask" not in name:
        source = source[:, :2]
    assert_same(WRITES[name], X.to(dtype), index, source.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8], ids=str)
@pytest.mark.parametrize(("reduce", "include_self"), itertools.product(REDUCES, [True, False]))
def test_scatter_reduce(reduce, include_self, dtype):
    index = (torch.arange(18).reshape(3, 2, 3) * 7) % 4
    source = (torch.arange(30).reshape(3, 2, 5) % 4 + 1).to(dtype)
    x = (X % 7).to(dtype)
    assert_same(lambda x, i, s: x.scatter_reduce(1, i, s, reduce, include_self=include_self), x, index, source)
    if reduce != "sum":
        where = T([2, 0, 2])
        assert_same(
            lambda x, i, s: x.index_reduce(2, i, s[:, :, :3], reduce, include_self=include_self), x, where, x + 1
        )


def test_nan_in_extremes():
    x = torch.zeros(4)
    index, source = T([0, 0, 1, 2, 2]), T([1.0, torch.nan, torch.inf, -torch.inf, 3.0])
    for reduce in ("amax", "amin", "sum", "mean", "prod"):
        assert_same(lambda x, i, s, reduce=reduce: x.scatter_reduce(0, i, s, reduce), x, index, source)


def test_0d_and_empty():
    one = T([0])
    for function in (
        lambda x, i: x.gather(0, i),
        lambda x, i: x.index_select(0, i),
        lambda x, i: x.index_fill(0, i, 3.0),
        lambda x, i: x.index_add(0, i, x.reshape(1)),
        lambda x, i: x.index_copy(0, i, x.reshape(1)),
        lambda x, i: x.scatter(0, i, 5.0),
        lambda x, i: x.scatter_add(0, i, x.reshape(1)),
        lambda x, i: x.take(i),
    ):
        assert_same(function, T(2.0), one)
    nothing = torch.empty(0, dtype=torch.long)
    for function in (
        lambda x, i: x.index_select(1, i),
        lambda x, i: x.index_add(1, i, x[:, :0]),
        lambda x, i: x.scatter_add(1, i.reshape(0, 0, 0), x),
        lambda x, i: x.take(i),
        lambda x, i: torch.nn.functional.embedding(i, x[0]),
        lambda x, i: x[:0].index_select(1, i + 0),
    ):
        assert_same(function, X, nothing)


def test_nothing_of_this_ran_on_the_host():
    names = {op.name.removeprefix("aten::") for op in torch.tpu.host_ops()}
    assert not names & {"gather", "scatter.src_out", "index_select", "cat.out", "flip", "roll", "tril_indices"}
