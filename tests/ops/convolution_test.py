"""Convolutions: every form of Note [Forms of a convolution], plain and transposed, forward and both gradients, against
the CPU in float64; unfold and fold."""

import pytest
import torch
import torch.nn.functional as F
from oracle import assert_same, assert_values_and_gradients

# name: (input, outputs, keywords), kernel in the keywords
PLAIN = {
    "3x3": ((2, 8, 9, 8), 6, dict(kernel=(3, 3), padding=1)),
    "stride": ((2, 8, 9, 8), 6, dict(kernel=(3, 3), stride=2, padding=1)),
    "stride_over_kernel": ((2, 4, 9, 8), 6, dict(kernel=(2, 2), stride=3)),
    "dilated": ((2, 4, 11, 13), 6, dict(kernel=(3, 3), dilation=2, padding=5)),
    "same_padding_even": ((1, 4, 6, 6), 3, dict(kernel=(2, 4), padding="same")),
    "1x1": ((2, 8, 5, 5), 6, dict(kernel=(1, 1))),
    "1x1_stride_padding": ((2, 8, 5, 5), 6, dict(kernel=(1, 1), stride=2, padding=2)),
    "1x1_groups": ((2, 8, 5, 5), 4, dict(kernel=(1, 1), groups=4)),
    "kernel_over_map": ((3, 8, 2, 2), 6, dict(kernel=(3, 3), padding=1)),
    "kernel_over_map_groups": ((3, 8, 2, 2), 6, dict(kernel=(3, 3), padding=1, groups=2)),
    "groups": ((2, 8, 7, 6), 12, dict(kernel=(3, 3), padding=1, groups=4)),
    "depthwise": ((2, 8, 7, 6), 8, dict(kernel=(3, 3), padding=1, groups=8)),
    "depthwise_twice": ((2, 4, 9, 8), 8, dict(kernel=(5, 3), padding=2, stride=2, groups=4)),
    "depthwise_dilated": ((2, 4, 9, 8), 4, dict(kernel=(3, 3), padding=2, dilation=2, groups=4)),
    "depthwise_wide": ((1, 2, 3, 150), 2, dict(kernel=(3, 3), padding=1, groups=2)),
    "depthwise_9x9": ((1, 4, 12, 12), 4, dict(kernel=(9, 9), padding=4, groups=4)),
    "1d": ((2, 4, 20), 6, dict(kernel=(5,), padding=2, stride=2)),
    "1d_no_batch": ((4, 20), 6, dict(kernel=(5,))),
    "3d": ((2, 4, 5, 6, 7), 6, dict(kernel=(3, 3, 3), padding=1)),
    "3d_stride_groups": ((2, 4, 5, 6, 7), 6, dict(kernel=(2, 3, 2), stride=(2, 1, 2), groups=2)),
    "empty_batch": ((0, 4, 5, 5), 6, dict(kernel=(3, 3))),
}
TRANSPOSED = {
    "k4s2": ((2, 4, 5, 6), 6, dict(kernel=(4, 4), stride=2, padding=1)),
    "output_padding": ((2, 4, 5, 6), 6, dict(kernel=(3, 3), stride=2, padding=1, output_padding=1)),
    "groups": ((2, 4, 5, 6), 6, dict(kernel=(3, 3), groups=2)),
    "depthwise": ((2, 4, 5, 6), 4, dict(kernel=(3, 3), stride=2, groups=4)),
    "1x1_stride": ((2, 4, 5, 6), 6, dict(kernel=(1, 1), stride=2)),
    "1x1_padding": ((2, 4, 5, 6), 6, dict(kernel=(1, 1), padding=1)),
    "padding_over_kernel": ((2, 4, 9, 9), 6, dict(kernel=(2, 2), padding=3)),
    "stride_dilation": ((2, 4, 3, 2), 6, dict(kernel=(2, 2), stride=3, dilation=3, output_padding=2)),
    "1d": ((2, 4, 9), 6, dict(kernel=(4,), stride=3)),
    "3d": ((2, 4, 3, 4, 2), 6, dict(kernel=(3, 3, 3), stride=2)),
}


def check(function, input, weight, bias, dtype, **keywords):
    """Values and all three gradients, with the CPU's float64 as the truth."""
    wide = [x.double().requires_grad_() for x in (input, weight, bias)]
    here = [x.to("tpu", dtype).requires_grad_() for x in (input, weight, bias)]
    expected, got = function(*wide, **keywords), function(*here, **keywords)
    tolerance = {torch.float32: 1e-4, torch.float64: 1e-9, torch.bfloat16: 3e-2, torch.float16: 5e-3}[dtype]
    assert_values_and_gradients(got, expected, here, wide, dtype, tolerance, tolerance * 5)


def run(table, name, transposed, dtype, memory_format=None):
    torch.manual_seed(0)
    sizes, outputs, keywords = table[name]
    keywords = dict(keywords)
    kernel, groups = keywords.pop("kernel"), keywords.get("groups", 1)
    channels = sizes[-len(kernel) - 1]
    shape = (channels, outputs // groups) if transposed else (outputs, channels // groups)
    names = (
        ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d") if transposed else ("conv1d", "conv2d", "conv3d")
    )
    # Halves are given to both sides, so that only the rounding of results differs.
    input, weight, bias = (torch.randn(s).to(dtype).to(torch.float64) for s in (sizes, (*shape, *kernel), (outputs,)))
    if memory_format is not None:
        input, weight = input.to(memory_format=memory_format), weight.to(memory_format=memory_format)
    check(getattr(F, names[len(kernel) - 1]), input, weight, bias, dtype, **keywords)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", PLAIN)
def test_plain(name, dtype):
    run(PLAIN, name, False, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed(name, dtype):
    run(TRANSPOSED, name, True, dtype)


@pytest.mark.parametrize("name", ["3x3", "depthwise", "1x1", "kernel_over_map"])
def test_channels_last(name):
    run(PLAIN, name, False, torch.float64, torch.channels_last)


def test_asked_gradients_only():
    x, w = torch.randn(1, 2, 4, 4, device="tpu"), torch.randn(3, 2, 3, 3, device="tpu", requires_grad=True)
    out = F.conv2d(x, w)
    (grad,) = torch.autograd.grad(out, w, torch.ones_like(out))
    assert grad.shape == w.shape


def test_columns():
    x = torch.randn(2, 3, 7, 8)
    for keywords in (dict(kernel_size=3), dict(kernel_size=(2, 3), dilation=(2, 1), padding=1, stride=(3, 2))):
        assert_same(lambda x, keywords=keywords: F.unfold(x, **keywords), x)
        assert_same(lambda x, keywords=keywords: F.unfold(x[0], **keywords), x)
        columns = F.unfold(x, **keywords)
        assert_same(lambda c, keywords=keywords: F.fold(c, (7, 8), **keywords), columns, rtol=1e-5, atol=1e-5)
        assert_same(lambda c, keywords=keywords: F.fold(c[0], (7, 8), **keywords), columns, rtol=1e-5, atol=1e-5)
    assert_same(lambda x: F.fold(x, (7, 8), 3), x[:, :, 0], message=False)


def test_errors():
    x, w = torch.randn(1, 2, 4, 4), torch.randn(3, 2, 3, 3)
    assert_same(F.conv2d, x, w.double(), message=False)
    assert_same(F.conv2d, x[:, :1], w, message=False)
    assert_same(F.conv2d, x[..., :2], w, message=False)
