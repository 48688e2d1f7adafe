"""Family embedding against the CPU: rows of a table and bags of rows, their gradients, and rows scaled to a norm."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from oracle import assert_same

T = torch.tensor
NOTHING = torch.empty(0, dtype=torch.long)
pytestmark = pytest.mark.usefixtures("no_host_ops")


@pytest.mark.parametrize("scale", [False, True])
def test_embedding(scale):
    def step(weight, index):
        weight = weight.clone().requires_grad_()
        out = F.embedding(index, weight, padding_idx=1, scale_grad_by_freq=scale)
        (out * torch.arange(1.0, out.numel() + 1, device=out.device).reshape(out.shape)).sum().backward()
        return out.detach(), weight.grad

    assert_same(step, torch.randn(7, 3), T([[0, 1, 1], [6, 6, 6]]))
    assert_same(step, torch.randn(7, 3), T([], dtype=torch.int32))


# ---- bags

INDICES = T([1, 2, 4, 3, 0, 2, 2])
OFFSETS = {
    "plain": T([0, 3]),
    "with empty bags": T([0, 0, 2, 2, 5, 7, 7]),
    "one bag": T([0]),
}
LISTS = {name: (INDICES, offsets) for name, offsets in OFFSETS.items()}
LISTS["int32"] = (INDICES.int(), OFFSETS["plain"].int())
LISTS["two types"] = (INDICES.int(), OFFSETS["plain"])
LISTS["nothing in bags"] = (NOTHING, T([0, 0, 0]))
LISTS["nothing at all"] = (NOTHING, NOTHING)


def bag(weight, indices, offsets, mode, last, padding, sample_weights=None):
    """The bags, and the gradients of a weighting of them."""
    weight = weight.clone().requires_grad_()
    leaves = [weight] if sample_weights is None else [weight, sample_weights.clone().requires_grad_()]
    out = F.embedding_bag(
        indices, weight, offsets, mode=mode, include_last_offset=last, padding_idx=padding,
        per_sample_weights=leaves[1] if len(leaves) > 1 else None,
    )  # fmt: skip
    ramp = torch.arange(1.0, out.numel() + 1, device=out.device, dtype=out.dtype).reshape(out.shape)
    return (out.detach(), *torch.autograd.grad(out, leaves, ramp))


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(name, mode):
    indices, offsets = LISTS[name]
    closed = torch.cat([offsets, T([len(indices)], dtype=offsets.dtype)])
    for padding in (None, 2):
        assert_same(bag, torch.randn(5, 3), indices, offsets, mode, False, padding)
        assert_same(bag, torch.randn(5, 3), indices, closed, mode, True, padding)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_the_last_bag_has_the_rest(mode):
    """Indices behind the last offset belong to the last bag, as on CUDA and in the CPU's kernel of float64 (its quick
    one of float32 stops there). Without any bag the CPU reads outside of its arrays."""
    weight = torch.randn(5, 3).double()
    assert_same(
        lambda *x: torch.embedding_bag(*x, mode=mode, include_last_offset=True)[0], weight, INDICES, T([0, 2, 5])
    )
    here = (x.to("tpu") for x in (weight, INDICES, NOTHING))
    assert torch.embedding_bag(*here, mode=mode)[0].shape == (0, 3)


@pytest.mark.parametrize("padding", [None, 2])
def test_bags_of_weighted_rows(padding):
    for indices, offsets in LISTS.values():
        weights = torch.randn(len(indices))
        assert_same(bag, torch.randn(5, 3), indices, offsets, "sum", False, padding, weights)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_other_types(dtype, mode):
    rtol, atol = {torch.float64: (1e-12, 1e-12), torch.bfloat16: (2e-2, 2e-2), torch.float16: (2e-3, 2e-3)}[dtype]
    weights = torch.randn(len(INDICES)).to(dtype) if mode == "sum" else None
    arguments = (INDICES, OFFSETS["with empty bags"], mode, False, 3, weights)
    assert_same(bag, torch.randn(5, 3).to(dtype), *arguments, rtol=rtol, atol=atol)


def test_module_with_rows_of_indices():
    """nn.EmbeddingBag on a matrix of indices, and without a gradient."""
    module = torch.nn.EmbeddingBag(50, 8, mode="mean", max_norm=2.0)
    indices = torch.randint(50, (6, 9))
    expected = module(indices)
    with torch.no_grad():
        got = module.to("tpu")(indices.to("tpu"))
    torch.testing.assert_close(got.cpu(), expected)


def test_many_bags():
    lengths = torch.randint(0, 7, (300,))
    offsets = F.pad(lengths.cumsum(0), (1, 0))
    indices = torch.randint(0, 1000, (int(offsets[-1]),))
    for mode in ("sum", "mean", "max"):
        assert_same(bag, torch.randn(1000, 16), indices, offsets, mode, True, 7)


def test_maxima_of_nan_and_ties():
    """A NaN stays where it is the first of its bag and is passed over elsewhere; of equal rows the first counts."""
    inf, nan = float("inf"), float("nan")
    weight = T([[nan, 1.0, -inf], [2.0, nan, nan], [inf, 1.0, -inf], [2.0, -0.0, 0.0], [2.0, 0.0, -0.0]])
    indices = T([0, 1, 2, 1, 0, 2, 3, 4, 4, 3, 2, 0, 0])
    offsets = T([0, 3, 6, 8, 10, 12])

    def function(weight, indices, offsets):
        out, bags, sizes, maxima = torch.ops.aten._embedding_bag(weight, indices, offsets, False, 2)
        return out, bags, sizes, maxima

    assert_same(function, weight, indices, offsets)


@pytest.mark.parametrize("op", [torch.ops.aten._embedding_bag, torch.ops.aten._embedding_bag_forward_only])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_what_the_gradient_needs(op, mode):
    """The results beside the bags: values as on the CPU, shapes as the meta function says for this device."""
    for last, padding in itertools.product((False, True), (-1, 2)):
        arguments = (torch.randn(5, 3), INDICES, OFFSETS["with empty bags"], False, mode, False, None, last, padding)
        expected = op(*arguments)
        got = op(*(x.to("tpu") if isinstance(x, torch.Tensor) else x for x in arguments))
        fake = torch._subclasses.FakeTensorMode()
        moved = [fake.from_tensor(x.to("tpu")) if isinstance(x, torch.Tensor) else x for x in arguments]
        with fake:
            promised = op(*moved)
        assert [(x.shape, x.dtype) for x in got] == [(x.shape, x.dtype) for x in promised]
        out, bags, sizes, maxima = (x.cpu() for x in got)
        count = len(out)
        torch.testing.assert_close(out, expected[0])
        if len(expected[1]):  # the CPU's quick path leaves it out
            assert torch.equal(bags, expected[1])
        assert torch.equal(sizes[:count], expected[2][:count]) and not sizes[count:].any()
        if mode == 2:
            assert torch.equal(maxima, expected[3])


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradient_by_frequency(mode):
    """As documented and as on CUDA; the CPU kernel counts another index (its counts[indices[i]] of the i-th distinct
    index)."""
    weight = torch.randn(5, 3, device="tpu", requires_grad=True)
    offsets = T([0, 2, 5])
    out = F.embedding_bag(INDICES.to("tpu"), weight, offsets.to("tpu"), mode=mode, scale_grad_by_freq=True)
    (got,) = torch.autograd.grad(out.sum(), weight)
    lengths = T([2.0, 3.0, 2.0])[T([0, 0, 1, 1, 1, 2, 2])]
    each = 1 / lengths if mode == "mean" else torch.ones(7)
    expected = torch.zeros(5).index_add(0, INDICES, each) / torch.bincount(INDICES, minlength=5)
    torch.testing.assert_close(got.cpu(), expected[:, None].expand(5, 3))


def test_gradient_without_the_bags_of_indices():
    """offset2bag as the CPU's forward may give it: empty."""

    def function(grad, weight, indices, offsets, bags, sizes):
        aten = torch.ops.aten
        return (
            aten._embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, bags, 0, 4),
            aten._embedding_bag_backward(grad, indices, offsets, bags, sizes, sizes, 5, False, 0, False, None, 3),
        )

    offsets = OFFSETS["with empty bags"]
    arguments = (torch.randn(len(offsets), 3), torch.randn(5, 3), INDICES, offsets, NOTHING, offsets * 0)
    assert_same(function, *arguments)


def test_compiled_bags():
    """Compiled graphs go by the shapes of the meta function."""

    def step(weight, indices, offsets, mode):
        out = F.embedding_bag(indices, weight, offsets, mode=mode)
        return (out * out).sum()

    compiled = torch.compile(step, backend="tpu")
    for mode in ("sum", "mean", "max"):
        weight = torch.randn(5, 3, requires_grad=True)
        here = weight.detach().to("tpu").requires_grad_()
        offsets = OFFSETS["with empty bags"]
        step(weight, INDICES, offsets, mode).backward()
        compiled(here, INDICES.to("tpu"), offsets.to("tpu"), mode).backward()
        torch.testing.assert_close(here.grad.cpu(), weight.grad)


BAD = {
    "index": lambda w, i: F.embedding_bag(i(1, 5), w, i(0), mode="max"),
    "index of a mean": lambda w, i: F.embedding_bag(i(1, 5), w, i(0), mode="mean", padding_idx=0),
    "negative index": lambda w, i: F.embedding_bag(i(1, -1), w.double(), i(0), mode="sum"),
    "first offset": lambda w, i: F.embedding_bag(i(1, 2), w, i(1), mode="sum"),
    "last offset": lambda w, i: F.embedding_bag(i(1, 2), w, i(0, 3), mode="sum"),
    "offsets of two dimensions": lambda w, i: torch.embedding_bag(w, i(1, 2), i(0, 1).reshape(1, 2)),
    "no last offset": lambda w, i: torch.embedding_bag(w, i(1), i(), include_last_offset=True),
    "weights of a mean": lambda w, i: torch.embedding_bag(w, i(1), i(0), mode=1, per_sample_weights=w[0, :1]),
    "weight": lambda w, i: torch.embedding_bag(w[0], i(1), i(0)),
    "mode": lambda w, i: torch.embedding_bag(w, i(1), i(0), mode=3),
    "weights of a mean, backward": lambda w, i: torch.ops.aten._embedding_bag_per_sample_weights_backward(
        w[:1], w, i(1), i(0), i(0), 1
    ),
    "renorm of a vector": lambda w, i: torch.embedding_renorm_(w[0].clone(), i(1), 1.0, 2.0),
    "renorm index": lambda w, i: torch.embedding_renorm_(w.clone(), i(7), 1.0, 2.0),
    "renorm of integers": lambda w, i: torch.embedding_renorm_(w.long(), i(1), 1.0, 2.0),
    "norm of no order": lambda w, i: w.renorm(0, 0, 1.0),
    "norm of a vector": lambda w, i: w[0].renorm(2, 0, 1.0),
    "norm below zero": lambda w, i: w.renorm(2, 0, -1.0),
}


@pytest.mark.parametrize("name", BAD)
def test_errors(name):
    assert_same(lambda w: BAD[name](w, lambda *values: T(values, device=w.device).long()), torch.randn(5, 3))


OTHER_WORDS = {
    "index dtype": lambda w, i: torch.embedding_bag(w, i(1).float(), i(0)),
    "weight dtype": lambda w, i: torch.embedding_bag(w.long(), i(1), i(0)),
    "dtype of weights": lambda w, i: torch.embedding_bag(w, i(1), i(0), per_sample_weights=w[0, :1].double()),
    "number of weights": lambda w, i: torch.embedding_bag(w, i(1), i(0), per_sample_weights=w[0]),
    "renorm dtype": lambda w, i: torch.embedding_renorm_(w.clone(), i(1).float(), 1.0, 2.0),
}


@pytest.mark.parametrize("name", OTHER_WORDS)
def test_errors_in_other_words(name):
    assert_same(
        lambda w: OTHER_WORDS[name](w, lambda *values: T(values, device=w.device)), torch.randn(5, 3), message=False
    )


def test_offsets_that_go_back():
    """On the CPU some kernels read outside of their arrays."""
    weight, indices, offsets = (x.to("tpu") for x in (torch.randn(5, 3), T([1, 2, 3]), T([0, 2, 1])))
    with pytest.raises(RuntimeError, match="expected offsets that do not decrease, but 1 comes after a greater one"):
        torch.embedding_bag(weight, indices, offsets)[0].cpu()


# ---- rows of a norm


@pytest.mark.parametrize("order", [2.0, 1.0, 0.0, 3.0, -1.0, float("inf"), float("-inf")])
def test_embedding_renorm(order):
    weight = torch.randn(6, 4) * torch.arange(6.0)[:, None]
    for indices in (T([3, 0, 3, -1]), T([[1, 5], [5, 5]]), T([2], dtype=torch.int32), NOTHING):
        assert_same(lambda w, i: torch.embedding_renorm_(w.clone(), i, 1.5, order), weight, indices)


@pytest.mark.parametrize("order", [2, 1, 0.5, 3, float("inf")])
def test_renorm(order):
    x = torch.randn(4, 3, 5) * torch.arange(4.0)[:, None, None]
    for dim, dtype in itertools.product((0, -1, 1), (torch.float32, torch.float64, torch.complex64)):
        assert_same(lambda x, dim=dim: x.renorm(order, dim, 2.0), x.to(dtype))
    assert_same(lambda x: x.renorm(order, 0, 2.0), x.bfloat16(), rtol=1e-2, atol=1e-2)
    assert_same(lambda x: x.clone().renorm_(order, 1, 0.0), x)
    assert_same(lambda x: x[:0].renorm(2, 1, 1.0), x)
    assert_same(lambda x: torch.autograd.grad(x.renorm(order, 0, 2.0).square().sum(), x), x.requires_grad_())
