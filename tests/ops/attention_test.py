"""Scaled dot-product attention through the overrideable pair, against plain matrix products in float64."""

import math

import pytest
import torch
import torch.nn.functional as F
from oracle import assert_same, assert_values_and_gradients
from torch.nn.attention import SDPBackend, sdpa_kernel

INF = float("inf")


def plain(query, key, value, bias=None, causal=False, scale=None, keep=None):
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = query @ key.transpose(-1, -2) * (scale or 1 / math.sqrt(query.shape[-1]))
    hidden = torch.zeros(scores.shape, dtype=torch.bool)
    if bias is not None and bias.dtype == torch.bool:
        hidden = hidden | ~bias
    elif bias is not None:
        scores = scores + bias
    if causal:
        hidden = hidden | ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    scores = scores.masked_fill(hidden, -INF)
    empty = (scores == -INF).all(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), -1).masked_fill(empty, 0.0)
    return (weights if keep is None else weights * keep) @ value


CASES = {  # heads, key heads, L, S, E, E of values, bias, causal, scale
    "plain": (3, 3, 5, 5, 4, 4, None, False, None),
    "causal": (3, 3, 5, 5, 4, 4, None, True, None),
    "causal_wide": (2, 2, 3, 7, 4, 6, None, True, 0.3),
    "causal_tall": (2, 2, 7, 3, 4, 6, None, True, None),
    "grouped": (4, 2, 5, 7, 4, 4, None, False, None),
    "one_key_head": (4, 1, 5, 7, 4, 3, "float", False, None),
    "bool": (2, 2, 5, 7, 4, 4, "bool", False, None),
    "float": (2, 2, 5, 7, 4, 4, "float", False, None),
    "per_head": (2, 2, 5, 7, 4, 4, "per_head", False, None),
    "one": (1, 1, 1, 1, 1, 1, None, True, None),
    "long": (1, 1, 70, 300, 8, 8, None, False, None),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    torch.manual_seed(0)
    heads, key_heads, rows, columns, inner, outer, bias, causal, scale = CASES[name]
    tensors = [
        torch.randn(2, h, n, e).to(dtype)
        for h, n, e in ((heads, rows, inner), (key_heads, columns, inner), (key_heads, columns, outer))
    ]
    mask = None
    if bias == "bool":
        mask = torch.rand(2, 1, rows, columns) > 0.3
        mask[0, :, 0] = False  # a row that sees nothing
    elif bias is not None:
        tensors.append(torch.randn((heads, 1, columns) if bias == "per_head" else (rows, columns)).to(dtype))
    wide = [t.double().requires_grad_() for t in tensors]
    here = [t.to("tpu").requires_grad_() for t in tensors]
    expected = plain(*wide[:3], wide[3] if len(wide) > 3 else mask, causal, scale)
    here_mask = here[3] if len(here) > 3 else None if mask is None else mask.to("tpu")
    got = F.scaled_dot_product_attention(
        *here[:3], here_mask, is_causal=causal, scale=scale, enable_gqa=heads != key_heads
    )
    assert "Overrideable" in str(got.grad_fn)
    tolerance = {torch.float32: 2e-5, torch.float64: 1e-10, torch.bfloat16: 4e-2, torch.float16: 5e-3}[dtype]
    assert_values_and_gradients(got, expected, here, wide, dtype, tolerance, tolerance)


def test_dropout():
    """Values of the identity show the mask, and the gradients belong to the same mask."""
    tensors = [torch.randn(1, 1, 32, 8), torch.randn(1, 1, 32, 8), torch.eye(32)[None, None]]
    here = [t.to("tpu").requires_grad_() for t in tensors]
    wide = [t.double().requires_grad_() for t in tensors]
    torch.manual_seed(3)
    got = F.scaled_dot_product_attention(*here, dropout_p=0.3)
    keep = (got.detach().cpu() != 0).double() / 0.7
    assert 0.6 < (keep != 0).double().mean() < 0.8
    expected = plain(*wide, keep=keep)
    assert_values_and_gradients(got, expected, here, wide, torch.float32, 1e-5, 1e-5)
    with torch.no_grad():
        torch.manual_seed(3)
        assert torch.equal(F.scaled_dot_product_attention(*here, dropout_p=0.3).cpu(), got.cpu())
        assert not torch.equal(F.scaled_dot_product_attention(*here, dropout_p=0.3).cpu(), got.cpu())
        assert (F.scaled_dot_product_attention(*here, dropout_p=1.0) == 0).all()


def test_choice():
    x = torch.randn(2, 2, 4, 4, device="tpu", requires_grad=True)
    assert "Overrideable" in str(F.scaled_dot_product_attention(x, x, x).grad_fn)
    assert "Overrideable" not in str(F.scaled_dot_product_attention(x[0], x[0], x[0]).grad_fn)
    with sdpa_kernel(SDPBackend.MATH):
        assert "Overrideable" not in str(F.scaled_dot_product_attention(x, x, x).grad_fn)
    with pytest.raises(RuntimeError, match="same dtype"):
        F.scaled_dot_product_attention(x, x.double(), x)


def test_modules():
    torch.manual_seed(0)
    x = torch.randn(2, 5, 16)
    for make in (
        lambda: torch.nn.MultiheadAttention(16, 4, batch_first=True),
        lambda: torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True),
    ):
        for train in (True, False):
            here, there = make().train(train), make().to("tpu").train(train)
            there.load_state_dict(here.state_dict())
            many = 3 if isinstance(here, torch.nn.MultiheadAttention) else 1
            expected, got = here(*[x] * many), there(*[x.to("tpu")] * many)
            expected, got = (r[0] if isinstance(r, tuple) else r for r in (expected, got))
            torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-5)


MASKS = {
    "none": (None, None),
    "over positions": (torch.tril(torch.ones(5, 5)).logical_not(), 0),
    "over keys": (torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]).bool(), 1),
    "in full": (torch.rand(2, 4, 5, 5) > 0.8, 2),
}


@pytest.mark.parametrize("weights", ["none", "mean", "all"])
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.usefixtures("no_host_ops")
def test_native_multi_head_attention(name, weights):
    mask, kind = MASKS[name]

    def function(x, y, w, b, proj_w, proj_b, *mask):
        results = []
        for query, key, value in ((x, x, x), (x, y, y)):
            out, attention = torch._native_multi_head_attention(
                query, key, value, 16, 4, w, b, proj_w, proj_b, mask[0] if mask else None,
                need_weights=weights != "none", average_attn_weights=weights == "mean", mask_type=kind,
            )  # fmt: skip
            results += [out] if weights == "none" else [out, attention]
        return results

    arguments = [torch.randn(2, 5, 16), torch.randn(2, 5, 16), torch.randn(48, 16), torch.randn(48)]
    arguments += [torch.randn(16, 16), torch.randn(16)]
    assert_same(function, *arguments, *([] if mask is None else [mask]), rtol=1e-4, atol=1e-4, zero_signs=False)


@pytest.mark.usefixtures("no_host_ops")
def test_transform_bias_rescale_qkv():
    assert_same(lambda x, b: torch._transform_bias_rescale_qkv(x, b, 4), torch.randn(2, 5, 48), torch.randn(48))
    assert_same(
        lambda x, b: torch._transform_bias_rescale_qkv(x, b, 5), torch.randn(2, 5, 48), torch.randn(48), message=False
    )
