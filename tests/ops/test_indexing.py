"""Families indexing, shape, factory and upsample against the CPU: values, strides, out=, and the errors of bad indices."""

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
    assert_same(WRITES[name], X.to(dtype), index, source[:, :2, :].to(dtype) if "scatter" in name and "mask" not in name else source.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8], ids=str)
@pytest.mark.parametrize(("reduce", "include_self"), itertools.product(REDUCES, [True, False]))
def test_scatter_reduce(reduce, include_self, dtype):
    index = (torch.arange(18).reshape(3, 2, 3) * 7) % 4
    source = (torch.arange(30).reshape(3, 2, 5) % 4 + 1).to(dtype)
    x = (X % 7).to(dtype)
    assert_same(lambda x, i, s: x.scatter_reduce(1, i, s, reduce, include_self=include_self), x, index, source)
    if reduce != "sum":
        where = T([2, 0, 2])
        assert_same(lambda x, i, s: x.index_reduce(2, i, s[:, :, :3], reduce, include_self=include_self), x, where,
                    x + 1)


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


@pytest.mark.parametrize("scale", [False, True])
def test_embedding(scale):
    def step(weight, index):
        weight = weight.clone().requires_grad_()
        out = torch.nn.functional.embedding(index, weight, padding_idx=1, scale_grad_by_freq=scale)
        (out * torch.arange(1.0, out.numel() + 1, device=out.device).reshape(out.shape)).sum().backward()
        return out.detach(), weight.grad

    assert_same(step, torch.randn(7, 3), T([[0, 1, 1], [6, 6, 6]]))
    assert_same(step, torch.randn(7, 3), T([], dtype=torch.int32))


SHAPES = {
    "cat of kinds": lambda x: torch.cat([x, x.double(), x.int()], 1),
    "cat of old empties": lambda x: torch.cat([x, torch.empty(0, device=x.device), x], -1),
    "cat out": lambda x: torch.cat([x, x], out=torch.empty(0, device=x.device, dtype=torch.float64)),
    "stack": lambda x: torch.stack([x, x + 1], 2),
    "flip": lambda x: x.flip(0, -1),
    "flip of a view": lambda x: x.transpose(0, 2)[1:].flip(1),
    "roll": lambda x: x.roll((1, -7), (0, 2)),
    "roll flat": lambda x: x.roll(13),
    "rot90": lambda x: x.rot90(1, (0, 2)),
    "repeat": lambda x: x.repeat(2, 1, 3, 0),
    "repeat more": lambda x: x.repeat(2, 1, 2, 3),
    "tile": lambda x: x.tile(2, 2),
    "pad": lambda x: torch.nn.functional.pad(x, (1, 2, -1, 0, 0, 3), value=7),
    "pad crop": lambda x: torch.nn.functional.pad(x, (-1, -1)),
    "reflect": lambda x: torch.nn.functional.pad(x, (4, 3), mode="reflect"),
    "reflect 2d": lambda x: torch.nn.functional.pad(x, (1, 2, 3, 0), mode="reflect"),
    "reflect 3d": lambda x: torch.nn.functional.pad(x[None], (1, 2, 3, 0, 0, 2), mode="reflect"),
    "reflect and crop": lambda x: torch.nn.functional.pad(x, (-1, 3), mode="reflect"),
    "replicate": lambda x: torch.nn.functional.pad(x, (7, 3), mode="replicate"),
    "replicate 2d": lambda x: torch.nn.functional.pad(x, (1, 2, 3, 0), mode="replicate"),
    "replicate 3d": lambda x: torch.nn.functional.pad(x[None], (1, 2, 3, 0, 0, 2), mode="replicate"),
    "replicate and crop": lambda x: torch.nn.functional.pad(x, (-1, 3), mode="replicate"),
    "circular": lambda x: torch.nn.functional.pad(x, (2, 3), mode="circular"),
    "tril": lambda x: x.tril(1),
    "triu": lambda x: x.transpose(1, 2).triu(-1),
    "tril_": lambda x: x.clone().tril_(-2),
    "diag_embed": lambda x: x.diag_embed(-2, 0, 2),
    "diagonal": lambda x: x.diagonal(1, 1, 2).clone(),
    "trace": lambda x: x[0].trace(),
    "trace of a wide one": lambda x: x[0].t().contiguous().trace(),
    "unfold": lambda x: x.unfold(2, 3, 1) * 2,
    "unfold apart": lambda x: x.unfold(2, 2, 3) * 2,
    "unfold side by side": lambda x: x.unfold(1, 2, 2) * 2,
    "unfold 2": lambda x: x.unfold(2, 4, 1).unfold(1, 3, 1) * 2,
    "channel_shuffle": lambda x: torch.channel_shuffle(x[None].transpose(1, 2), 2),
    "pixel_shuffle": lambda x: torch.pixel_shuffle(x[None].transpose(1, 2), 2),
    "narrow_copy": lambda x: torch.narrow_copy(x, 1, 1, 2),
    "kron": lambda x: torch.kron(x[0], x[1]),
    "block_diag": lambda x: torch.block_diag(x[0], x[1]),
    "select": lambda x: x.select(1, 2) * 3,
    "slice": lambda x: x[:, 1::2, :3] * 3,
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    function = SHAPES[name]

    def with_gradient(x):
        x = x.clone().requires_grad_()
        y = function(x)
        (y * torch.arange(1.0, y.numel() + 1, device=x.device).reshape(y.shape)).sum().backward()
        return x.grad

    assert_same(function, X)
    assert_same(function, X.half())
    if "out" not in name:
        assert_same(with_gradient, X, rtol=1e-5, atol=1e-5)
    if not any(word in name for word in ("reflect", "replicate")):
        assert_same(function, X.long())
        if name != "cat out":
            assert_same(function, torch.complex(X, -X))
        assert_same(function, X > 30)


def test_channels_last_is_kept():
    x = torch.randn(2, 4, 6, 5).to(memory_format=torch.channels_last)
    for function in (lambda x: torch.nn.functional.pad(x, (1, 1)), lambda x: x.flip(1), lambda x: torch.cat([x, x])):
        assert function(x.to("tpu")).stride() == function(x).stride()
        assert_same(function, x)


FACTORIES = {
    "arange": lambda d: torch.arange(7, device=d),
    "arange of floats": lambda d: torch.arange(0.1, 2.7, 0.3, device=d),
    "arange down": lambda d: torch.arange(5, -6, -3, device=d),
    "arange of int32": lambda d: torch.arange(2, 50, 7, dtype=torch.int32, device=d),
    "arange of halves": lambda d: torch.arange(0, 3, 0.5, dtype=torch.bfloat16, device=d),
    "arange of nothing": lambda d: torch.arange(3, 3, device=d),
    "arange of large": lambda d: torch.arange(2**62, 2**62 + 3, device=d),
    "arange of many": lambda d: torch.arange(0, 100, 0.001, device=d),
    "arange out": lambda d: torch.arange(4, out=torch.empty(0, dtype=torch.float64, device=d)),
    "linspace": lambda d: torch.linspace(-1, 3, 11, device=d),
    "linspace of 1": lambda d: torch.linspace(-1, 3, 1, device=d),
    "linspace of 0": lambda d: torch.linspace(-1, 3, 0, device=d),
    "linspace of integers": lambda d: torch.linspace(-10, 33, 8, dtype=torch.int64, device=d),
    "linspace of doubles": lambda d: torch.linspace(0, 1, 101, dtype=torch.float64, device=d),
    "linspace of complex": lambda d: torch.linspace(0, 1 + 2j, 5, device=d),
    "logspace": lambda d: torch.logspace(-2, 3, 7, device=d),
    "logspace of base 2": lambda d: torch.logspace(0, 10, 11, base=2, device=d),
    "logspace of integers": lambda d: torch.logspace(0, 6, 7, base=2, dtype=torch.int32, device=d),
    "eye": lambda d: torch.eye(3, 5, device=d),
    "eye of bools": lambda d: torch.eye(4, dtype=torch.bool, device=d),
    "full": lambda d: torch.full((2, 3), 7, device=d),
    "range": lambda d: torch.range(1, 4, 0.5, device=d),
}


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize("name", FACTORIES)
def test_factories(name):
    assert_same(lambda x: FACTORIES[name](x.device), X)


def test_triangle_indices():
    for rows, columns, offset in itertools.product((0, 1, 4, 7), (0, 1, 5), (-9, -3, -1, 0, 1, 2, 9)):
        for function in (torch.tril_indices, torch.triu_indices):
            got = function(rows, columns, offset, device="tpu").cpu()
            assert torch.equal(got, function(rows, columns, offset)), (rows, columns, offset)
    big = torch.tril_indices(3000, 2000, 11, device="tpu").cpu()
    assert torch.equal(big, torch.tril_indices(3000, 2000, 11))


def test_a_moving_range_compiles_once():
    torch.arange(3, 8, device="tpu")
    before = torch.tpu.cache_stats()
    for start in range(20):
        assert torch.arange(start, start + 5, device="tpu").tolist() == list(range(start, start + 5))
    assert torch.tpu.cache_stats()["compiles"] == before["compiles"]


MODES = {
    "nearest": ([(7,), (2,), (8,), (4,)], {}),
    "nearest-exact": ([(7,), (2,), (8,)], {}),
    "linear": ([(7,), (2,), (4,)], {"align_corners": True}),
    "bilinear": ([(7, 3), (8, 10), (2, 2)], {}),
    "bicubic": ([(7, 3), (8, 10), (2, 2)], {}),
    "trilinear": ([(7, 3, 4), (2, 2, 9)], {}),
}


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_interpolate(mode, antialias):
    sizes, options = MODES[mode]
    if antialias and mode not in ("bilinear", "bicubic"):
        return
    rank = len(sizes[-1])
    x = torch.randn([2, 3, 4, 5, 3][: 2 + rank])

    def resize(x, **how):
        x = x.clone().requires_grad_()
        y = torch.nn.functional.interpolate(x, mode=mode, antialias=antialias, **options, **how)
        (y * torch.arange(1.0, y.numel() + 1, device=x.device, dtype=x.dtype).reshape(y.shape)).sum().backward()
        return y.detach(), x.grad

    for size in sizes:
        assert_same(lambda x, size=size: resize(x, size=size), x, rtol=1e-5, atol=1e-4)
        assert_same(lambda x, size=size: resize(x, size=size), x.double(), rtol=1e-9, atol=1e-9)
    for factor in (2, 1.3, 0.6):
        assert_same(lambda x, factor=factor: resize(x, scale_factor=factor), x, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(("mode", "rank"), [("bilinear", 2), ("nearest", 2), ("bilinear", 3), ("nearest", 3)])
def test_grid_sample(mode, rank, padding, align):
    torch.manual_seed(0)
    image, grid = torch.randn([2, 3, 5, 4, 6][: 2 + rank]), torch.rand(2, *[3, 4, 2][:rank], rank) * 3 - 1.5

    def sample(image, grid):
        image, grid = image.clone().requires_grad_(), grid.clone().requires_grad_()
        y = torch.nn.functional.grid_sample(image, grid, mode, padding, align)
        y.square().sum().backward()
        return y.detach(), image.grad, grid.grad

    assert_same(sample, image, grid, rtol=1e-4, atol=1e-4, zero_signs=False)


def test_nothing_of_this_ran_on_the_host():
    names = {op.name.removeprefix("aten::") for op in torch.tpu.host_ops()}
    assert not names & {"gather", "scatter.src_out", "index_select", "cat.out", "flip", "roll", "tril_indices"}
