"""Family linalg_eigh against LAPACK: eigenvalues element by element; eigenvectors, whose phases are free, by what they
are for."""

import pytest
import torch
from oracle import FACTOR_DTYPES, assert_same

TOLERANCES = {torch.float32: 2e-5, torch.complex64: 2e-5, torch.float64: 1e-12, torch.complex128: 1e-12}
SHAPES = ((4, 4), (2, 3, 5, 5), (1, 1), (2, 2), (3, 3), (64, 64), (33, 33))
EMPTY = ((0, 3, 3), (2, 0, 0))
pytestmark = pytest.mark.usefixtures("no_host_ops")  # or LAPACK would do it, Note [Slow on a CPU] in ops/linalg.cpp


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)  # other numbers may have other pivots or ranks where rounding errors decide


def hermitian(*dims, dtype):
    x = torch.randn(*dims, dtype=dtype)
    return (x + x.mH) / (2 * max(1, dims[-1])) ** 0.5


def check(x, dtype, given=None, uplo="L"):
    """Eigenvalues and eigenvectors of x, of which the device sees `given`."""
    values, vectors = torch.linalg.eigh((x if given is None else given).to("tpu"), UPLO=uplo)
    expected = torch.linalg.eigh(x)
    assert (values.dtype, values.shape, values.stride()) == (expected[0].dtype, expected[0].shape, expected[0].stride())
    assert (vectors.dtype, vectors.shape) == (expected[1].dtype, expected[1].shape)
    assert vectors.stride() == expected[1].stride()
    values, vectors = values.cpu(), vectors.cpu()
    close = {"rtol": TOLERANCES[dtype], "atol": TOLERANCES[dtype] * max(1.0, expected[0].abs().max().item())}
    torch.testing.assert_close(values, expected[0], **close)
    torch.testing.assert_close(x @ vectors, vectors * values.unsqueeze(-2), **close)
    unit = torch.eye(x.shape[-1], dtype=dtype).expand(x.shape)
    torch.testing.assert_close(vectors.mH @ vectors, unit, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_eigh(dtype):
    for dims in SHAPES:
        check(hermitian(*dims, dtype=dtype), dtype)
    for dims in EMPTY:
        assert_same(torch.linalg.eigh, hermitian(*dims, dtype=dtype))


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_one_triangle_is_read(dtype):
    x = hermitian(5, 5, dtype=dtype)
    noise = torch.randn(5, 5, dtype=dtype)
    check(x, dtype, x.tril() + noise.triu(1), "L")
    check(x, dtype, x.triu() + noise.tril(-1), "U")
    if dtype.is_complex:
        check(x, dtype, x + 3j * torch.eye(5), "L")  # nor are the imaginary parts on the diagonal


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_eigenvalues_that_are_alike(dtype):
    n = 6
    q = torch.linalg.qr(torch.randn(n, n, dtype=dtype))[0]
    for spectrum in ([1, 1, 1, 2, 2, 3], [0, 0, 0, 0, 0, 1], [-1, -1, 1, 1, 1e-3, -1e-3], [1e4, 1, 1, 1, 1, -1e4]):
        values = torch.tensor(spectrum, dtype=torch.float64).to(dtype)
        x = q * values @ q.mH
        check((x + x.mH) / 2, dtype)
    check(torch.zeros(3, 4, 4, dtype=dtype), dtype)
    check(torch.eye(4, dtype=dtype) * 1e-20, dtype)
    check(torch.diag(torch.tensor([3.0, -1, 2, 0])).to(dtype), dtype)


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_eigvalsh(dtype):
    for dims in (*SHAPES, *EMPTY):
        x = hermitian(*dims, dtype=dtype)
        close = {"rtol": TOLERANCES[dtype], "atol": 3 * TOLERANCES[dtype], "zero_signs": False}
        assert_same(torch.linalg.eigvalsh, x, **close)
        assert_same(lambda x: torch.linalg.eigvalsh(x, UPLO="U"), x, **close)


def test_what_is_not_finite_is_an_error():
    for bad in (float("nan"), float("inf")):
        x = torch.eye(3).expand(2, 3, 3).clone()
        x[1, 2, 0] = bad
        with pytest.raises(torch.linalg.LinAlgError, match=r"linalg.eigh: \(Batch element 1\): .*failed to converge"):
            torch.linalg.eigh(x.to("tpu"))
        with pytest.raises(torch.linalg.LinAlgError, match=r"linalg.eigh: The algorithm failed to converge"):
            torch.linalg.eigvalsh(x[1].to("tpu"))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients_of_eigh(dtype):
    def function(x):
        x = x.detach().requires_grad_()
        values, vectors = torch.linalg.eigh(x)
        weight = torch.arange(1.0, 5.0, device=x.device, dtype=torch.float64)
        projector = vectors[..., :2] @ vectors[..., :2].mH  # free of phases
        return torch.autograd.grad((values * weight).sum() + (projector * weight).real.sum(), x)

    assert_same(function, hermitian(2, 4, 4, dtype=dtype), rtol=1e-9, atol=1e-9, zero_signs=False)


# ---- matrix_exp


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_matrix_exp(dtype):
    close = {"rtol": 10 * TOLERANCES[dtype], "atol": 10 * TOLERANCES[dtype], "zero_signs": False}
    for dims in (*SHAPES, *EMPTY):
        assert_same(torch.linalg.matrix_exp, torch.randn(*dims, dtype=dtype) / max(1, dims[-1]) ** 0.5, **close)
    sizes = torch.tensor([0, 1e-9, 0.1, 1, 5, 20], dtype=torch.float64).reshape(6, 1, 1)
    x = (sizes * hermitian(6, 4, 4, dtype=dtype)).to(dtype)
    x = x - 20 * torch.eye(4, dtype=dtype)  # nothing grows
    assert_same(lambda x: torch.linalg.matrix_exp(x).diagonal(dim1=-2, dim2=-1).log(), x, rtol=1e-3, atol=1e-3)
    rotation = torch.tensor([[0, -100.0], [100, 0]], dtype=dtype)
    assert_same(torch.linalg.matrix_exp, rotation, rtol=0, atol=200 * TOLERANCES[dtype], zero_signs=False)
    assert_same(torch.linalg.matrix_exp, torch.full((2, 2), float("nan"), dtype=dtype))


def test_gradient_of_matrix_exp():
    def function(x):
        x = x.detach().requires_grad_()
        weight = torch.arange(1.0, 17.0, device=x.device, dtype=x.dtype).reshape(4, 4)
        return torch.autograd.grad((torch.linalg.matrix_exp(x) * weight).sum(), x)

    assert_same(function, torch.randn(2, 4, 4, dtype=torch.float64), rtol=1e-9, atol=1e-9, zero_signs=False)
