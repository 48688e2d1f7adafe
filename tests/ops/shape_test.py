"""Family shape against the CPU: values, gradients, strides and out=."""

import pytest
import torch
from oracle import assert_same

X = torch.arange(60.0).reshape(3, 4, 5)

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
