"""Family linalg_lu against LAPACK: factors with the same pivots, systems, inverses, determinants."""

import itertools

import pytest
import torch
from oracle import FACTOR_DTYPES, assert_same, with_strides

TOLERANCES = {torch.float32: 2e-4, torch.complex64: 2e-4, torch.float64: 1e-10, torch.complex128: 1e-10}
SHAPES = ((4, 4), (2, 3, 5, 5), (1, 1), (6, 3), (2, 3, 6), (0, 3, 3), (2, 0, 0), (0, 4), (4, 0))
SQUARE = tuple(shape for shape in SHAPES if shape[-1] == shape[-2])
LARGE = ((70, 70), (2, 130, 65), (65, 130), (100, 100))  # of more than one block of columns
pytestmark = pytest.mark.usefixtures("no_host_ops")  # or LAPACK would do it, Note [Slow on a CPU] in ops/linalg.cpp


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)  # other numbers may have other pivots or ranks where rounding errors decide


def tolerance(dtype):
    return {"rtol": TOLERANCES[dtype], "atol": TOLERANCES[dtype], "zero_signs": False}


def tensor(*dims, dtype=torch.float32):
    return torch.randn(*dims, dtype=dtype)


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_lu_factor(dtype):
    for dims in SHAPES:
        assert_same(with_strides(torch.linalg.lu_factor_ex), tensor(*dims, dtype=dtype), **tolerance(dtype))
        out = [torch.empty(0, dtype=dtype), torch.empty(0, dtype=torch.int32), torch.empty(0, dtype=torch.int32)]
        function = lambda x, *out: torch.linalg.lu_factor_ex(x, out=out)  # noqa: E731
        assert_same(function, tensor(*dims, dtype=dtype), *out, **tolerance(dtype))


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_lu(dtype):
    for dims in SHAPES:
        assert_same(with_strides(torch.linalg.lu), tensor(*dims, dtype=dtype), **tolerance(dtype))


@pytest.mark.parametrize("dims", LARGE)
def test_blocks_of_columns(dims):
    x = tensor(*dims, dtype=torch.float64)
    assert_same(torch.linalg.lu_factor_ex, x, **tolerance(x.dtype))
    for dtype in (torch.float32, torch.complex64):
        x = tensor(*dims, dtype=dtype)
        p, lower, upper = (part.cpu() for part in torch.linalg.lu(x.to("tpu")))
        assert lower.abs().max() <= 1.5  # |re| + |im| of a multiplier is at most sqrt(2) of the pivot's
        torch.testing.assert_close(p @ lower @ upper, x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_lu_unpack(dtype):
    for dims, data, pivots in itertools.product((*SHAPES, (70, 70)), (True, False), (True, False)):
        lu, rows = torch.linalg.lu_factor(tensor(*dims, dtype=dtype))
        function = with_strides(lambda a, b, d=data, p=pivots: torch.lu_unpack(a, b, d, p))
        assert_same(function, lu, rows, rtol=0, atol=0, zero_signs=False)
    assert_same(torch.lu_unpack, torch.eye(3), torch.tensor([1, 4, 3], dtype=torch.int32))
    assert_same(torch.lu_unpack, torch.eye(3), torch.tensor([1, 2, 0], dtype=torch.int32))


def test_lu_without_pivots():
    x = tensor(2, 70, 70, dtype=torch.float64) + 70 * torch.eye(70, dtype=torch.float64)
    lu, pivots, info = torch.linalg.lu_factor_ex(x.to("tpu"), pivot=False)
    assert torch.equal(pivots.cpu(), torch.arange(1, 71, dtype=torch.int32).expand(2, 70)) and not info.any()
    lower, upper = lu.cpu().tril(-1) + torch.eye(70, dtype=torch.float64), lu.cpu().triu()
    torch.testing.assert_close(lower @ upper, x, rtol=1e-12, atol=1e-12)
    nothing, lower, upper = torch.linalg.lu(x.to("tpu"), pivot=False)
    assert nothing.shape == (0,)
    torch.testing.assert_close((lower @ upper).cpu(), x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_ties_and_zeros(dtype):
    """Of equal elements the first is the pivot; a column of zeros is passed over, and the first one is told."""
    ties = torch.tensor([[1, 2, 3], [-1, 1, 1], [1, 5, -2]], dtype=dtype)
    zeros = torch.zeros(3, 3, dtype=dtype)
    middle = torch.tensor([[2, 1, 0, 1], [4, 2, 1, 1], [2, 1, 3, 1], [0, 0, 1, 0]], dtype=dtype)  # of rank 3
    assert_same(torch.linalg.lu_factor_ex, torch.stack([ties, zeros, torch.eye(3, dtype=dtype)]), **tolerance(dtype))
    assert_same(torch.linalg.lu_factor_ex, middle, **tolerance(dtype))
    large = tensor(80, 80, dtype=dtype)
    large[:, 70] = 0
    assert_same(lambda x: torch.linalg.lu_factor_ex(x).info, large)


def test_pivots_of_complex_numbers():
    """LAPACK compares |re| + |im|, and not the moduli."""
    x = torch.tensor([[0.75 + 0.75j, 1], [1.2, 1j]], dtype=torch.complex64)
    assert_same(torch.linalg.lu_factor_ex, x, **tolerance(x.dtype))


SOLVED = (((4, 4), (4, 3)), ((2, 1, 5, 5), (3, 5, 2)), ((70, 70), (70, 2)), ((0, 0), (0, 3)), ((3, 2, 2), (2, 0)))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_lu_solve(dtype, adjoint, left):
    for a, b in (
        ((4, 4), (4, 3)),
        ((2, 1, 5, 5), (3, 5, 2)),
        ((70, 70), (70, 2)),
        ((0, 0), (0, 3)),
        ((3, 2, 2), (2, 0)),
    ):
        b = b if left else (*b[:-2], b[-1], b[-2])
        lu, pivots = torch.linalg.lu_factor(tensor(*a, dtype=dtype))
        function = with_strides(lambda *x: torch.linalg.lu_solve(*x, left=left, adjoint=adjoint))
        wide = {**tolerance(dtype), "rtol": 20 * TOLERANCES[dtype], "atol": 20 * TOLERANCES[dtype]}
        assert_same(function, lu, pivots, tensor(*b, dtype=dtype), **wide)


def well_conditioned(*dims, dtype):
    return tensor(*dims, dtype=dtype) + dims[-1] ** 0.5 * 2 * torch.eye(dims[-1], dtype=dtype)


SYSTEMS = (
    ((4, 4), (4, 3)), ((4, 4), (4,)), ((2, 1, 5, 5), (3, 5, 2)), ((2, 3, 3), (2, 3)), ((70, 70), (70, 5)),
    ((0, 0), (0, 3)), ((2, 3, 3), (3, 0)), ((0, 3, 3), (0, 3, 1)),
)  # fmt: skip


@pytest.mark.parametrize("is_turned", [True, False])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_solve(dtype, is_turned):
    """With the factors, which the gradients use."""
    for a, b in SYSTEMS[:3] if is_turned else SYSTEMS:
        x = well_conditioned(*a, dtype=dtype)
        x = x.mT.contiguous().mT if is_turned else x
        function = with_strides(torch.ops.aten._linalg_solve_ex)
        assert_same(function, x, tensor(*b, dtype=dtype), **tolerance(dtype))
        if len(b) > 1 and len(b) == len(a):
            function = with_strides(lambda a, b: torch.ops.aten._linalg_solve_ex(a, b, left=False))
            assert_same(function, x, tensor(*b[:-2], b[-1], b[-2], dtype=dtype), **tolerance(dtype))


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_inverse(dtype):
    for dims in (*SQUARE, (70, 70)):
        assert_same(with_strides(torch.linalg.inv_ex), well_conditioned(*dims, dtype=dtype), **tolerance(dtype))
    singular = torch.stack([torch.eye(3, dtype=dtype), torch.ones(3, 3, dtype=dtype)])
    assert torch.linalg.inv_ex(singular.to("tpu")).info.tolist() == [0, 2]


def test_errors_say_which_matrix_is_singular():
    x = torch.stack([torch.eye(3), torch.ones(3, 3)])
    for function in (torch.linalg.inv, torch.linalg.lu_factor, lambda a: torch.linalg.solve(a, a)):
        assert_same(function, x)
        assert_same(function, x[1])
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 1"):
        torch.linalg.inv(x.to("tpu"))


@pytest.mark.parametrize("is_turned", [True, False])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_determinants(dtype, is_turned):
    """With the factors, Note [Layout of factors] in ops/linalg_lu.cpp."""
    for dims in ((4, 4), (2, 3, 5, 5)) if is_turned else (*SQUARE, (70, 70)):
        x = tensor(*dims, dtype=dtype) / max(1, dims[-1]) ** 0.5
        x = x.mT.contiguous().mT if is_turned else x
        assert_same(with_strides(torch.ops.aten._linalg_det), x, **tolerance(dtype))
        assert_same(with_strides(torch.ops.aten._linalg_slogdet), x, **tolerance(dtype))
    assert_same(torch.linalg.slogdet, torch.zeros(3, 3, dtype=dtype))


GRADIENTS = {
    "solve": lambda a, b: torch.linalg.solve(a, b),
    "solve from the right": lambda a, b: torch.linalg.solve(a, b.mT, left=False),
    "inverse": lambda a, b: torch.linalg.inv(a) @ b,
    "det": lambda a, b: torch.linalg.det(a) * b.abs().sum(),
    "slogdet": lambda a, b: torch.linalg.slogdet(a).logabsdet * b.abs().sum(),
    "lu": lambda a, b: torch.linalg.lu(a)[1] @ torch.linalg.lu(a)[2] @ b,
    "lu_factor": lambda a, b: torch.linalg.lu_factor(a).LU @ b,
    "lu_solve": lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b),
}


@pytest.mark.parametrize("is_turned", [True, False])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, is_turned):
    for dtype in (torch.float64, torch.complex128):
        weight = tensor(2, 4, 4, dtype=dtype)

        def function(a, b, weight):
            a = a.mT.contiguous().mT if is_turned else a
            a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
            result = GRADIENTS[name](a, b)
            loss = (result * weight[..., : result.shape[-1]]).abs().sum() if result.dim() > 1 else result.abs().sum()
            return torch.autograd.grad(loss, (a, b))

        a, b = well_conditioned(2, 4, 4, dtype=dtype), tensor(2, 4, 4, dtype=dtype)
        assert_same(function, a, b, weight, rtol=1e-9, atol=1e-9, zero_signs=False)
