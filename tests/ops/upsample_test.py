"""Family upsample against the CPU: sizes, factors, paddings, gradients."""

import pytest
import torch
from oracle import assert_same

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


def test_antialias_of_bytes_runs_on_the_host(python):
    """The warning is the first of its process and made in a call through torch.ops, where torch catches none."""
    code = """
        import torch
        x = (torch.arange(2 * 3 * 8 * 8) % 251).reshape(2, 3, 8, 8).to(torch.uint8)
        resize = lambda x: torch.ops.aten._upsample_bilinear2d_aa(x, [4, 4], False, None, None)
        assert torch.equal(resize(x.to("tpu")).cpu(), resize(x))
    """
    assert "_upsample_bilinear2d_aa" in python(code, TORCH_TPU_HOST_OPS="warn")[1]


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
