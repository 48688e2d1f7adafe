"""Loss family: values and gradients for every reduction; ignored and weighted classes, empty batches, bad targets."""

import pytest
import torch
import torch.nn.functional as F
from oracle import assert_same

NAN, INF = float("nan"), float("inf")
GENERATOR = torch.Generator().manual_seed(5)
REDUCTIONS = ["none", "mean", "sum"]


pytestmark = pytest.mark.usefixtures("no_host_ops")


def randn(*sizes):
    return torch.randn(sizes, generator=GENERATOR)


def rand(*sizes):
    return torch.rand(sizes, generator=GENERATOR)


def with_gradient(function):
    """The loss, and the gradient of its first argument for a fixed weighting of the samples."""

    def run(x, *rest):
        x = x.clone().requires_grad_()
        loss = function(x, *rest)
        weights = (
            torch.linspace(0.5, 1.5, loss.numel(), dtype=torch.float32)
            .to(loss.dtype)
            .to(loss.device)
            .reshape(loss.shape)
        )
        return loss.detach(), torch.autograd.grad(loss, x, weights)[0]

    return run


EACH = {
    "mse": F.mse_loss,
    "smooth_l1": F.smooth_l1_loss,
    "smooth_l1_0.3": lambda x, y, **kw: F.smooth_l1_loss(x, y, beta=0.3, **kw),
    "smooth_l1_0": lambda x, y, **kw: F.smooth_l1_loss(x, y, beta=0.0, **kw),
    "huber": F.huber_loss,
    "huber_0.3": lambda x, y, **kw: F.huber_loss(x, y, delta=0.3, **kw),
    "l1": F.l1_loss,
    "soft_margin": F.soft_margin_loss,
    "kl_div": F.kl_div,
    "poisson": F.poisson_nll_loss,
    "hinge": F.hinge_embedding_loss,
    "logits": F.binary_cross_entropy_with_logits,
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", EACH)
@pytest.mark.filterwarnings("ignore:reduction")
def test_each_element(name, reduction):
    loss = with_gradient(lambda x, y: EACH[name](x, y, reduction=reduction))
    assert_same(loss, randn(5, 3), rand(5, 3), rtol=1e-5, atol=1e-6)
    if name in ("mse", "smooth_l1", "huber"):
        assert_same(loss, randn(0, 3), rand(0, 3))
        assert_same(loss, randn(5, 3).bfloat16(), rand(5, 3).bfloat16(), rtol=2e-2, atol=1e-2)
        assert_same(EACH[name], torch.tensor([NAN, INF, -INF, 1.0]), torch.tensor([0.0, 1.0, INF, NAN]))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_cross_entropy(reduction):
    ends = torch.tensor([0.0, 1.0, 0.5, 0.0])
    assert_same(
        lambda x, y: F.binary_cross_entropy(x, y, reduction=reduction), ends, torch.tensor([0.0, 0.0, 1.0, 1.0])
    )
    loss = with_gradient(lambda x, y, w: F.binary_cross_entropy(x, y, weight=w, reduction=reduction))
    assert_same(loss, rand(5, 3), rand(5, 3), rand(3), rtol=1e-5, atol=1e-6)


CLASSES = [
    ((5, 7), (5,)),
    ((7,), ()),
    ((2, 7, 3), (2, 3)),
    ((2, 7, 3, 4), (2, 3, 4)),
    ((0, 7), (0,)),
    ((2, 7, 1, 3, 2), (2, 1, 3, 2)),
    ((0, 7, 2, 2), (0, 2, 2)),
]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("case", range(len(CLASSES)))
def test_nll(case, reduction):
    sizes, target_sizes = CLASSES[case]
    target = torch.randint(0, 7, target_sizes, generator=GENERATOR)
    if target.numel() > 1:
        target.view(-1)[0] = 3  # ignored
    loss = with_gradient(lambda x, t, w: F.nll_loss(x, t, weight=w, ignore_index=3, reduction=reduction))
    for weight in (None, rand(7)):
        assert_same(loss, randn(*sizes), target, weight, rtol=1e-5, atol=1e-6)
    assert_same(
        with_gradient(lambda x, t: F.cross_entropy(x, t, reduction=reduction)),
        randn(*sizes),
        target,
        rtol=1e-5,
        atol=1e-6,
    )


def test_nll_of_ignored_samples_only():
    assert_same(with_gradient(lambda x, t: F.nll_loss(x, t, ignore_index=3)), randn(5, 7), torch.full((5,), 3))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_margins(reduction):
    for sizes in ((5, 4), (4,)):
        target = torch.randint(0, 4, sizes[:-1], generator=GENERATOR)
        for p in (1, 2):
            for weight in (None, rand(4)):
                loss = with_gradient(
                    lambda x, t, w, p=p: F.multi_margin_loss(x, t, p=p, margin=0.7, weight=w, reduction=reduction)
                )
                assert_same(loss, randn(*sizes), target, weight, rtol=1e-5, atol=1e-6, zero_signs=False)
    labels = torch.tensor([[1, -1, 2, -1], [0, 1, 2, 3], [-1, 1, 2, 3], [3, 3, -1, 0], [2, 0, 1, -1]])
    loss = with_gradient(lambda x, t: F.multilabel_margin_loss(x, t, reduction=reduction))
    assert_same(loss, randn(5, 4), labels, rtol=1e-5, atol=1e-6, zero_signs=False)
    assert_same(loss, randn(4), labels[0], rtol=1e-5, atol=1e-6, zero_signs=False)
    assert_same(loss, torch.tensor(2.0), torch.tensor(0))


ERRORS = [
    (F.nll_loss, rand(3, 4), torch.tensor([1, 5, 0])),
    (F.nll_loss, rand(3, 4), torch.tensor([1, -7, 0])),
    (F.nll_loss, rand(3, 4, 2, 2), torch.full((3, 2, 2), 9)),
    (F.cross_entropy, rand(3, 4), torch.tensor([1, 4, 0])),
    (F.multi_margin_loss, rand(3, 4), torch.tensor([1, 5, 0])),
    (F.multilabel_margin_loss, rand(2, 4), torch.tensor([[1, 5, 0, -1]] * 2)),
    (F.binary_cross_entropy, torch.tensor([1.5]), torch.tensor([1.0])),
    (F.binary_cross_entropy, torch.tensor([NAN]), torch.tensor([1.0])),
    (F.binary_cross_entropy, torch.tensor([0.5]), torch.tensor([2.0])),
    (F.binary_cross_entropy, rand(2), rand(2).double()),
    (lambda x, y: F.huber_loss(x, y, delta=0.0), rand(2), rand(2)),
    (lambda x, y: F.smooth_l1_loss(x, y, beta=-1.0), rand(2), rand(2)),
    (F.mse_loss, torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64)),
    (F.multi_margin_loss, rand(2, 3).half(), torch.tensor([0, 1])),
    (lambda x, t: F.multi_margin_loss(x, t, p=3), rand(2, 3), torch.tensor([0, 1])),
    (F.nll_loss, rand(2, 3), torch.tensor([0, 1]).int()),
    (F.nll_loss, rand(2, 3, 2, 2), torch.zeros(2, 2, 3, dtype=torch.int64)),
    (lambda x, t: F.nll_loss(x, t, weight=rand(2).to(x.device)), rand(2, 3), torch.tensor([0, 1])),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_error(case):
    function, *args = ERRORS[case]
    assert_same(function, *args, message=False)
