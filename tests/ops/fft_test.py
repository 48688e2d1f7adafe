"""Fourier transforms against the CPU: values, gradients, memory layout, and what is refused."""

from itertools import permutations

import pytest
import torch
from oracle import assert_same

REAL = (torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
# Odd, prime and one, powers of two, and what has a large prime in it.
LENGTHS = (1, 2, 3, 7, 12, 97, 128, 1022)
NORMS = ("backward", "ortho", "forward")

FROM_REAL = {
    "fft": lambda x: torch.fft.fft(x),
    "ifft": lambda x: torch.fft.ifft(x),
    "rfft": lambda x: torch.fft.rfft(x),
    "ihfft": lambda x: torch.fft.ihfft(x),
}
FROM_COMPLEX = {
    "fft": lambda x: torch.fft.fft(x),
    "ifft": lambda x: torch.fft.ifft(x),
    "irfft_even": lambda x: torch.fft.irfft(x, n=max(1, 2 * x.shape[-1] - 2)),
    "irfft_odd": lambda x: torch.fft.irfft(x, n=2 * x.shape[-1] - 1),
    "hfft": lambda x: torch.fft.hfft(x, n=max(1, 2 * x.shape[-1] - 2)),
}
# Of a tensor [3, 4, 2, 6, 5]; `r` from real ones, `c` from complex ones.
SEVERAL = {
    "fft_of_first": ("rc", lambda x, norm: torch.fft.fft(x, dim=0, norm=norm)),
    "fft_cropped": ("rc", lambda x, norm: torch.fft.fft(x, n=4, dim=-2, norm=norm)),
    "ifft_padded": ("rc", lambda x, norm: torch.fft.ifft(x, n=9, dim=1, norm=norm)),
    "rfft_padded": ("r", lambda x, norm: torch.fft.rfft(x, n=8, dim=-3, norm=norm)),
    "irfft_cropped": ("c", lambda x, norm: torch.fft.irfft(x, n=5, dim=1, norm=norm)),
    "hfft_of_first": ("c", lambda x, norm: torch.fft.hfft(x, n=6, dim=0, norm=norm)),
    "ihfft_of_middle": ("r", lambda x, norm: torch.fft.ihfft(x, dim=2, norm=norm)),
    "fft2": ("rc", lambda x, norm: torch.fft.fft2(x, norm=norm)),
    "ifft2_sized": ("rc", lambda x, norm: torch.fft.ifft2(x, s=(7, 3), dim=(3, 0), norm=norm)),
    "rfft2": ("r", lambda x, norm: torch.fft.rfft2(x, dim=(4, 1), norm=norm)),
    "irfft2": ("c", lambda x, norm: torch.fft.irfft2(x, dim=(-1, -2), norm=norm)),
    "hfft2": ("c", lambda x, norm: torch.fft.hfft2(x, dim=(1, 3), norm=norm)),
    "ihfft2": ("r", lambda x, norm: torch.fft.ihfft2(x, dim=(0, 4), norm=norm)),
    "fftn": ("rc", lambda x, norm: torch.fft.fftn(x, norm=norm)),
    "fftn_of_four": ("rc", lambda x, norm: torch.fft.fftn(x, dim=(4, 0, 3, 1), norm=norm)),
    "ifftn": ("rc", lambda x, norm: torch.fft.ifftn(x, norm=norm)),
    "rfftn": ("r", lambda x, norm: torch.fft.rfftn(x, norm=norm)),
    "rfftn_of_four": ("r", lambda x, norm: torch.fft.rfftn(x, dim=(4, 0, 3, 1), norm=norm)),
    "irfftn": ("c", lambda x, norm: torch.fft.irfftn(x, norm=norm)),
    "irfftn_of_four": ("c", lambda x, norm: torch.fft.irfftn(x, s=(5, 3, 4, 7), dim=(4, 0, 3, 1), norm=norm)),
    "hfftn": ("c", lambda x, norm: torch.fft.hfftn(x, dim=(0, 1, 2), norm=norm)),
    "ihfftn": ("r", lambda x, norm: torch.fft.ihfftn(x, dim=(3, 2, 1), norm=norm)),
    "of_conjugate": ("c", lambda x, norm: torch.fft.fftn(x.conj(), dim=(1, 2), norm=norm)),
    "of_nothing": ("c", lambda x, norm: torch.fft.fftn(x, dim=(), norm=norm)),
}


def assert_close(function, *args):
    """Errors are in proportion to the largest frequency."""
    is_single = args[0].dtype in (torch.float32, torch.complex64)
    assert_same(function, *args, rtol=1e-5 if is_single else 1e-12, atol=2e-5 if is_single else 1e-12, zero_signs=False)


def gradient_of(function):
    """Of a fixed weighting of the results."""

    def run(x, *others):
        x = x.detach().requires_grad_()
        y = function(x, *others)
        weights = torch.linspace(-1, 1, y.numel(), dtype=torch.float64).reshape(y.shape)
        weights = torch.complex(weights, weights.flip(0)) if y.is_complex() else weights
        return torch.autograd.grad(y, x, weights.to(y.dtype).to(y.device))

    return run


def dtypes_of(kinds):
    return [*(REAL if "r" in kinds else ()), *(COMPLEX if "c" in kinds else ())]


ONE = [(name, dtype) for name in FROM_REAL for dtype in REAL] + [(n, dtype) for n in FROM_COMPLEX for dtype in COMPLEX]
ALL = [(name, dtype) for name, (kinds, _) in SEVERAL.items() for dtype in dtypes_of(kinds)]


@pytest.mark.parametrize(("name", "dtype"), ONE, ids=str)
@pytest.mark.usefixtures("no_host_ops")
def test_lengths(name, dtype):
    torch.manual_seed(0)
    function = (FROM_COMPLEX if dtype.is_complex else FROM_REAL)[name]
    for length in LENGTHS:
        # Of unit energy, so that results are about 1.
        x = torch.randn(3, length, dtype=dtype) * length ** (0.5 if name in ("ifft", "ihfft") else -0.5)
        assert_close(function, x * length if name.startswith("irfft") else x)


@pytest.mark.parametrize(("name", "dtype"), ALL, ids=str)
@pytest.mark.usefixtures("no_host_ops")
def test_dimensions(name, dtype):
    torch.manual_seed(0)
    x = torch.randn(3, 4, 2, 6, 5, dtype=dtype)
    for norm in NORMS:
        assert_close(lambda x, norm=norm: SEVERAL[name][1](x, norm), x / 27)


@pytest.mark.parametrize(("name", "dtype"), ALL, ids=str)
@pytest.mark.usefixtures("no_host_ops")
def test_gradients(name, dtype):
    torch.manual_seed(0)
    x = torch.randn(3, 4, 2, 6, 5, dtype=dtype)
    assert_close(gradient_of(lambda x: SEVERAL[name][1](x, "ortho")), x)


OUT = {
    "c2c": lambda x, out: torch.fft.fft2(x, dim=(0, 2), out=out),
    "r2c": lambda x, out: torch.fft.rfft(x, dim=1, out=out),
    "r2c_both_sides": lambda x, out: torch.fft.fftn(x, dim=(2, 0), out=out),
    "c2r": lambda x, out: torch.fft.irfft(x, n=7, dim=0, out=out),
}


@pytest.mark.parametrize("name", OUT)
@pytest.mark.usefixtures("no_host_ops")
def test_out(name):
    """An empty out= takes the shape; one that is a view keeps its strides; one of more precision is converted to."""
    torch.manual_seed(0)
    x = torch.randn(4, 3, 5, dtype=torch.float32 if name.startswith("r2c") else torch.complex64)
    result = torch.float32 if name == "c2r" else torch.complex64
    shape = OUT[name](x, None).shape

    def into(make):
        def run(x):
            out = make(x.device)
            returned = OUT[name](x, out)
            assert returned is out
            return out, torch.tensor(out.stride())

        return run

    assert_close(into(lambda device: torch.empty(0, dtype=result, device=device)), x)
    assert_close(into(lambda device: torch.zeros(*shape, 2, dtype=result, device=device)[..., 1]), x)
    wide = torch.float64 if name == "c2r" else torch.complex128
    assert_same(into(lambda device: torch.empty(shape, dtype=wide, device=device)), x, rtol=1e-5, atol=1e-5)


LAYOUTS = {
    "c2c": lambda x, *dims: torch.ops.aten._fft_c2c(x, dims, 0, True),
    "r2c": lambda x, *dims: torch.ops.aten._fft_r2c(x.real, dims, 0, True),
    "r2c_both_sides": lambda x, *dims: torch.ops.aten._fft_r2c(x.real, dims, 0, False),
    "c2r": lambda x, *dims: torch.ops.aten._fft_c2r(x, dims, 0, 2 * x.shape[dims[-1]] - 1),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.usefixtures("no_host_ops")
def test_layout(name):
    """Results lie in memory as the CPU's: what is not transformed outside, each part in the order of the strides."""
    dense = torch.randn(2, 3, 4, dtype=torch.complex64)
    for order in permutations(range(3)):
        x = dense.permute(order)
        for dims in ((0,), (1,), (0, 1), (2, 0), (2, 1, 0)):
            expected, got = LAYOUTS[name](x, *dims), LAYOUTS[name](x.to("tpu"), *dims)
            assert got.stride() == expected.stride(), (order, dims)
            torch.testing.assert_close(got.cpu(), expected, rtol=1e-5, atol=1e-5)


SPECTROGRAM = {
    "plain": {},
    "both_sides": {"onesided": False},
    "normalized": {"normalized": True},
    "hops": {"hop_length": 10, "win_length": 30},
}


@pytest.mark.parametrize("name", SPECTROGRAM)
@pytest.mark.usefixtures("no_host_ops")
def test_stft(name):
    def there(x, window):
        return torch.stft(x, 40, window=window, return_complex=True, **options)

    def back(x, window):
        return torch.istft(there(x, window), 40, window=window, length=200, **options)

    torch.manual_seed(0)
    options = SPECTROGRAM[name]
    x, window = torch.randn(2, 200), torch.hann_window(options.get("win_length", 40))
    for function in (there, back):
        assert_close(function, x, window)
        assert_close(gradient_of(function), x, window)
    torch.testing.assert_close(back(x.to("tpu"), window.to("tpu")).cpu(), x, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("no_host_ops")
def test_compiled():
    """What follows a transform goes by the strides that fake tensors promise."""

    def function(x):
        return torch.fft.rfftn(x, dim=(0, 2)).transpose(0, 1).flatten(), torch.fft.fft(x, dim=0).abs()

    torch.manual_seed(0)
    x = torch.randn(5, 4, 6)
    for got, expected in zip(torch.compile(function)(x.to("tpu")), function(x), strict=True):
        assert got.stride() == expected.stride()
        torch.testing.assert_close(got.cpu(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("no_host_ops")
def test_no_batch():
    """No signals give no spectra, as numpy has it; MKL, the CPU's library, refuses them."""
    assert torch.fft.fft(torch.empty(0, 6, device="tpu")).shape == (0, 6)
    assert torch.fft.rfft2(torch.empty(4, 0, 6, device="tpu"), dim=(0, 2)).shape == (4, 0, 4)
    assert torch.fft.irfft(torch.empty(0, 6, dtype=torch.complex64, device="tpu")).shape == (0, 10)


MATRIX = torch.ones(4, 6)
REFUSED = {
    "half": lambda x: torch.fft.fft(x.half()),
    "half_below": lambda x: torch.ops.aten._fft_r2c(x.bfloat16(), [1], 0, True),
    "real_of_complex": lambda x: torch.fft.rfft(x + 0j),
    "complex_of_real": lambda x: torch.ops.aten._fft_c2c(x, [1], 0, True),
    "no_elements": lambda x: torch.fft.fft(x[:, :0]),
    "no_elements_below": lambda x: torch.ops.aten._fft_r2c(x[:, :0], [1], 0, True),
    "no_results": lambda x: torch.fft.irfft(x, n=0),
    "twice": lambda x: torch.fft.fftn(x, dim=(0, -2)),
    "no_such_dimension": lambda x: torch.fft.ifft(x, dim=2),
    "norm": lambda x: torch.fft.rfft2(x, norm="largest"),
    "out_of_reals": lambda x: torch.fft.fft(x, out=torch.empty_like(x)),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("quiet_host_ops")
def test_refused(name):
    with pytest.raises((RuntimeError, IndexError)):
        REFUSED[name](MATRIX)
    assert_same(REFUSED[name], MATRIX)
