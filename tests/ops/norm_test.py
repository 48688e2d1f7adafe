"""Norms: outputs, saved and running statistics, gradients; half types with and without float32 parameters; the steps of
SyncBatchNorm."""

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from oracle import assert_same, assert_values_and_gradients

aten = torch.ops.aten


def check(make, input, dtype=torch.float32, train=True, buffers=True):
    """A module on both devices, with all gradients and buffers. The CPU computes in float64."""
    torch.manual_seed(0)
    reference = make().to(torch.float64).train(train)
    for parameter in reference.parameters():
        nn.init.normal_(parameter)
    reference.to(dtype)
    module = make().to(dtype).to("tpu").train(train)
    module.load_state_dict(reference.state_dict())
    reference.to(torch.float64)
    input = input.to(dtype)
    wide, here = input.double().requires_grad_(), input.to("tpu").requires_grad_()
    leaves = [here, *module.parameters()], [wide, *reference.parameters()]
    tolerance = {torch.float32: 5e-5, torch.float64: 1e-9, torch.bfloat16: 6e-2, torch.float16: 1e-2}[dtype]
    assert_values_and_gradients(module(here), reference(wide), *leaves, dtype, tolerance, tolerance * 3)
    if buffers:
        for g, e in zip(module.buffers(), reference.buffers(), strict=True):
            assert g.dtype in (dtype, torch.int64)
            torch.testing.assert_close(g.cpu().double(), e.double(), rtol=tolerance, atol=tolerance * 3)


BATCH = {
    "1d": (lambda: nn.BatchNorm1d(5), (7, 5)),
    "2d": (lambda: nn.BatchNorm2d(5), (4, 5, 3, 6)),
    "3d_average": (lambda: nn.BatchNorm3d(5, momentum=None), (2, 5, 3, 4, 2)),
    "plain": (lambda: nn.BatchNorm2d(5, affine=False), (4, 5, 3, 6)),
    "untracked": (lambda: nn.BatchNorm2d(5, track_running_stats=False), (4, 5, 3, 6)),
    "instance": (lambda: nn.InstanceNorm2d(5, affine=True), (4, 5, 3, 6)),
}
OTHERS = {
    "layer": (lambda: nn.LayerNorm(6), (3, 4, 6)),
    "layer_2": (lambda: nn.LayerNorm((4, 6)), (3, 4, 6)),
    "layer_plain": (lambda: nn.LayerNorm(6, elementwise_affine=False), (3, 6)),
    "layer_no_bias": (lambda: nn.LayerNorm(6, bias=False), (6,)),
    "rms": (lambda: nn.RMSNorm(6), (3, 4, 6)),
    "rms_eps": (lambda: nn.RMSNorm((4, 6), eps=1e-2), (3, 4, 6)),
    "rms_plain": (lambda: nn.RMSNorm(6, elementwise_affine=False), (3, 6)),
    "group": (lambda: nn.GroupNorm(3, 6), (2, 6, 4, 5)),
    "group_plain": (lambda: nn.GroupNorm(2, 6, affine=False), (2, 6)),
    "weight": (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, 4)), (3, 6)),
    "local_response": (lambda: nn.LocalResponseNorm(3), (2, 6, 4)),
}


@pytest.mark.parametrize("train", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", BATCH)
def test_batch(name, train):
    check(BATCH[name][0], torch.randn(BATCH[name][1]) * 2 + 1, train=train)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", OTHERS)
def test_others(name, dtype):
    check(OTHERS[name][0], torch.randn(OTHERS[name][1]) * 2 + 1, dtype, buffers=False)


def test_channels_last():
    check(lambda: nn.BatchNorm2d(5), torch.randn(4, 5, 3, 6).to(memory_format=torch.channels_last))


def test_mean_far_from_zero():
    torch.manual_seed(0)
    x = torch.randn(8, 3, 16, 16) * 0.1 + 1000
    for function, error in (
        (lambda x: F.batch_norm(x, None, None, training=True), 1e-3),
        (lambda x: F.layer_norm(x, (16,)), 5e-3),
    ):
        assert (function(x.to("tpu")).cpu() - function(x.double())).abs().max() < error


def test_half_input_with_float_parameters():
    x, w, b = torch.randn(4, 3, 5).bfloat16(), torch.randn(3), torch.randn(3)
    state = [torch.zeros(3), torch.ones(3)]
    out, mean, rstd = aten.native_batch_norm(*(t.to("tpu") for t in (x, w, b, *state)), True, 0.1, 1e-5)
    assert (out.dtype, mean.dtype, rstd.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    assert_same(
        lambda x, w, b: aten.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5), x, w, b, rtol=2e-2, atol=2e-2
    )


def test_statistics_in_evaluation_stay():
    x, mean, var = torch.randn(4, 3), torch.rand(3).to("tpu"), torch.rand(3).to("tpu")
    before = mean.cpu().clone()
    saved = aten.native_batch_norm(x.to("tpu"), None, None, mean, var, False, 0.1, 1e-5)
    assert torch.equal(mean.cpu(), before) and saved[1].shape == (0,)


def test_sync_batch_norm_steps():
    """Two halves of a batch, joined by their statistics, are the batch norm of the whole."""
    torch.manual_seed(0)
    x, grad, weight = torch.randn(6, 3, 4).double(), torch.randn(6, 3, 4).double(), torch.randn(3).double()
    whole = x.clone().requires_grad_()
    running = [torch.zeros(3).double(), torch.ones(3).double()]
    expected = F.batch_norm(whole, *running, weight, None, training=True)
    expected_grad = torch.autograd.grad(expected, whole, grad)[0]

    parts, grads = [t.to("tpu") for t in x.split([2, 4])], [t.to("tpu") for t in grad.split([2, 4])]
    there = [torch.zeros(3).double().to("tpu"), torch.ones(3).double().to("tpu")]
    weight = weight.to("tpu")
    stats = [torch.batch_norm_stats(part, 1e-5) for part in parts]
    means, rstds = torch.stack([s[0] for s in stats]), torch.stack([s[1] for s in stats])
    counts = torch.tensor([8.0, 16.0]).double().to("tpu")
    mean, rstd = torch.batch_norm_gather_stats_with_counts(parts[0], means, rstds, *there, 0.1, 1e-5, counts)
    same = torch.batch_norm_gather_stats(parts[0], means[:1], rstds[:1], None, None, 0.1, 1e-5, 8)
    torch.testing.assert_close(same, stats[0])
    out = torch.cat([torch.batch_norm_elemt(part, weight, None, mean, rstd, 1e-5) for part in parts])
    torch.testing.assert_close(out.cpu(), expected.detach())
    empty = torch.empty(0, dtype=torch.float64, device="tpu")
    torch.testing.assert_close(
        torch.batch_norm_elemt(parts[0], weight, None, mean, rstd, 1e-5, out=empty), out[:2], rtol=0, atol=0
    )
    for got, want in zip(there, running, strict=True):
        torch.testing.assert_close(got.cpu(), want)
    sums = [
        torch.batch_norm_backward_reduce(g, part, mean, rstd, weight, True, True, True)
        for g, part in zip(grads, parts, strict=True)
    ]
    total, along = sum(s[0] for s in sums), sum(s[1] for s in sums)
    inner = [
        torch.batch_norm_backward_elemt(g, part, mean, rstd, weight, total, along, counts.int())
        for g, part in zip(grads, parts, strict=True)
    ]
    torch.testing.assert_close(torch.cat(inner).cpu(), expected_grad)


ERRORS = {
    "channels": lambda x: F.batch_norm(x, torch.zeros(5, device=x.device), torch.ones(5, device=x.device)),
    "layer_shape": lambda x: F.layer_norm(x, (7,)),
    "groups": lambda x: F.group_norm(x, 4),
    "integer": lambda x: F.layer_norm(x.long(), (6,)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    assert_same(ERRORS[name], torch.randn(2, 3, 6), message=False)
