"""Family ctc against the CPU: losses and gradients for targets padded and concatenated, lengths as numbers and as
tensors, and batches in which nothing fits."""

import pytest
import torch
import torch.nn.functional as F
from oracle import assert_same

pytestmark = pytest.mark.usefixtures("no_host_ops")
CLOSE = {"rtol": 2e-5, "atol": 2e-5, "zero_signs": False}


def with_gradient(logits, targets, input_lengths, target_lengths, **options):
    logits = logits.clone().requires_grad_()
    options = {"reduction": "none", **options}
    loss = F.ctc_loss(logits.log_softmax(-1), targets, input_lengths, target_lengths, **options)
    weights = torch.linspace(0.5, 1.5, loss.numel(), device=loss.device).to(loss.dtype).reshape(loss.shape)
    return loss.detach(), *torch.autograd.grad(loss, logits, weights)


def batch(time=12, size=4, classes=6, longest=4, dtype=torch.float32):
    logits = torch.randn(time, size, classes, dtype=dtype)
    targets = torch.randint(1, classes, (size, longest))
    targets[0] = 3  # equal neighbours need a blank between them
    return logits, targets


INPUT_LENGTHS = [12, 9, 12, 5]
TARGET_LENGTHS = [4, 1, 0, 3]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("form", ["padded", "concatenated", "int32"])
def test_targets(form, dtype):
    logits, targets = batch(dtype=dtype)
    if form == "concatenated":
        targets = torch.cat([row[:n] for row, n in zip(targets, TARGET_LENGTHS, strict=True)])
    if form == "int32":
        targets = targets.int()
    assert_same(with_gradient, logits, targets, INPUT_LENGTHS, TARGET_LENGTHS, **CLOSE)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("blank", [0, 3, 5])
def test_options(blank, reduction):
    logits, targets = batch()
    targets = torch.where(targets == blank, (blank + 1) % 6, targets)

    def function(*args):
        return with_gradient(*args, blank=blank, reduction=reduction)

    assert_same(function, logits, targets, INPUT_LENGTHS, TARGET_LENGTHS, **CLOSE)


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_targets_that_do_not_fit(zero_infinity):
    """Sample 0 needs seven steps and has five, sample 1 has none."""
    logits, targets = batch()

    def function(*args):
        return with_gradient(*args, zero_infinity=zero_infinity)

    assert_same(function, logits, targets, [5, 0, 12, 12], [4, 1, 0, 3], **CLOSE)
    assert_same(function, logits, targets, [12, 0, 0, 12], [4, 0, 2, 3], **CLOSE)


def test_lengths_in_tensors():
    logits, targets = batch()
    lengths = torch.tensor(INPUT_LENGTHS), torch.tensor(TARGET_LENGTHS)
    assert_same(with_gradient, logits, targets, *lengths, **CLOSE)
    expected = with_gradient(logits, targets, *lengths)
    got = with_gradient(logits.to("tpu"), targets.to("tpu"), *lengths)  # they stay on the CPU
    torch.testing.assert_close([x.cpu() for x in got], list(expected), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("form", ["padded", "concatenated"])
def test_overloads_with_tensors(form):
    """What a graph of torch.compile contains; nothing is read, so the table is as wide as the targets."""
    logits, targets = batch()
    lengths = torch.tensor(INPUT_LENGTHS), torch.tensor(TARGET_LENGTHS)
    if form == "concatenated":
        targets = torch.cat([row[:n] for row, n in zip(targets, TARGET_LENGTHS, strict=True)])

    def function(logits, targets, input_lengths, target_lengths):
        log_probs = logits.log_softmax(-1)
        loss, alpha = torch.ops.aten._ctc_loss.Tensor(log_probs, targets, input_lengths, target_lengths)
        return loss, torch.ops.aten._ctc_loss_backward.Tensor(
            torch.ones_like(loss), log_probs, targets, input_lengths, target_lengths, loss, alpha, 0
        )

    assert_same(function, logits, targets, *lengths, **CLOSE)


def test_shapes():
    logits, targets = batch(size=1)
    assert_same(with_gradient, logits[:, 0], targets[0], 12, 4, **CLOSE)  # without a batch
    assert_same(with_gradient, logits, targets, [12], [0], **CLOSE)
    assert_same(with_gradient, logits[:1], targets[:, :1], [1], [1], **CLOSE)
    long, labels = batch(time=150, size=2, classes=40, longest=60)
    assert_same(with_gradient, long, labels, [150, 131], [60, 51], rtol=1e-4, atol=1e-4, zero_signs=False)


def test_impossible_classes():
    """A class that has been ruled out has the probability 0 and no gradient."""
    logits, targets = batch()
    logits[:, :, 5] = float("-inf")
    targets = targets.clamp(max=4)
    loss, grad = with_gradient(logits.to("tpu"), targets.to("tpu"), INPUT_LENGTHS, TARGET_LENGTHS)
    expected, _ = with_gradient(logits, targets, INPUT_LENGTHS, TARGET_LENGTHS)
    torch.testing.assert_close(loss.cpu(), expected, rtol=2e-5, atol=2e-5)
    assert (grad[:, :, 5] == 0).all()


def test_other_lengths_are_no_other_program():
    logits, targets = batch()
    x = logits.log_softmax(-1).to("tpu"), targets.to("tpu")
    F.ctc_loss(*x, [12, 9, 12, 5], [4, 1, 0, 3])
    before = torch.tpu.cache_stats()["misses"]
    F.ctc_loss(*x, [12, 12, 11, 8], [2, 4, 1, 0])
    assert torch.tpu.cache_stats()["misses"] == before


ERRORS = {
    "more lengths than samples": ([12, 9, 12, 5, 1], TARGET_LENGTHS),
    "longer than the input": ([13, 9, 12, 5], TARGET_LENGTHS),
    "longer than the targets": (INPUT_LENGTHS, [5, 1, 0, 3]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    assert_same(with_gradient, *batch(), *ERRORS[name], message=False)
    assert_same(lambda *a: F.ctc_loss(*a, blank=6), *batch(), INPUT_LENGTHS, TARGET_LENGTHS)
