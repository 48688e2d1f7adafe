"""nn.TransformerEncoderLayer's inference path, one op in torch, against the CPU."""

import copy

import pytest
import torch


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("masked", ["none", "keys", "positions", "both"])
def test_encoder_layer(norm_first, activation, masked):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, 0.0, activation, batch_first=True, norm_first=norm_first).eval()
    x = torch.randn(2, 5, 16)
    masks = {}
    if masked in ("keys", "both"):
        masks["src_key_padding_mask"] = torch.tensor([[False] * 5, [False, False, False, True, True]])
    if masked in ("positions", "both"):
        masks["src_mask"] = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    on_tpu = copy.deepcopy(layer).to("tpu")
    torch.tpu.reset_host_ops()
    with torch.no_grad():
        expected = layer(x, **masks)
        got = on_tpu(x.to("tpu"), **{name: mask.to("tpu") for name, mask in masks.items()})
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-5, atol=1e-5)
    assert [op.name for op in torch.tpu.host_ops()] == []
