"""Family linalg against the CPU: factors, triangular systems, small products."""

import itertools

import pytest
import torch
import torch_tpu._C as core
from oracle import FACTOR_DTYPES, assert_same, compare

TOLERANCES = {torch.float32: 2e-5, torch.complex64: 2e-5, torch.float64: 1e-11, torch.complex128: 1e-11}
pytestmark = pytest.mark.usefixtures("no_host_ops")  # or some rows would stay on the host, Note [Slow on a CPU]


def tolerance(dtype):
    return {"rtol": TOLERANCES[dtype], "atol": TOLERANCES[dtype], "zero_signs": False}


def positive(*dims, dtype=torch.float32):
    """Positive definite matrices of condition about 10."""
    x = torch.randn(*dims, dtype=dtype)
    return x @ x.mH / dims[-1] + torch.eye(dims[-1], dtype=dtype)


CROSS = {
    "vectors": ((3,), (3,), -1),
    "rows": ((5, 3), (5, 3), -1),
    "columns": ((3, 5), (3, 5), 0),
    "broadcast": ((4, 1, 3), (1, 5, 3), 2),
    "none": ((0, 3), (0, 3), 1),
}


@pytest.mark.parametrize("name", CROSS)
def test_cross(name):
    first, second, dim = CROSS[name]

    def function(a, b):
        return torch.linalg.cross(a, b, dim=dim)

    for dtype in (torch.float32, torch.float64, torch.complex64, torch.bfloat16):
        close = {torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.complex64: 1e-5}.get(dtype, 1e-12)
        a, b = torch.randn(*first).to(dtype), torch.randn(*second).to(dtype)
        assert_same(function, a, b, rtol=close, atol=close, zero_signs=False)
    a, b = torch.randint(-9, 9, first), torch.randint(-9, 9, second)
    assert_same(function, a, b)
    assert_same(function, a.to(torch.uint8), b.to(torch.uint8))


def test_gradient_of_cross():
    def function(a, b):
        a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
        weight = torch.arange(1.0, 16.0, device=a.device).reshape(5, 3)
        return torch.autograd.grad((torch.linalg.cross(a, b) * weight).sum(), (a, b))

    assert_same(function, torch.randn(5, 3), torch.randn(1, 3), rtol=1e-5, atol=1e-5)


def test_linear_combination():
    function = torch.ops.aten._compute_linear_combination
    for dtype in (torch.float32, torch.float64):
        x, c = torch.randn(3, 2, 4, dtype=dtype), torch.randn(5, 3, dtype=dtype)
        assert_same(function, x, c, **tolerance(dtype))
    x, c = torch.randn(3, 2, 4, dtype=torch.complex64), torch.randn(5, 3, dtype=torch.complex64)
    got = function(x.to("tpu"), c.to("tpu"))  # the CPU's is wrong where coefficients have imaginary parts
    torch.testing.assert_close(got.cpu(), torch.einsum("ni,ijk->njk", c, x), rtol=1e-5, atol=1e-5)
    assert_same(function, torch.randint(9, (3, 2)), torch.randint(9, (5, 3)))
    assert_same(function, torch.randn(3), torch.randn(5, 3), rtol=1e-5, atol=1e-5)


# ---- factors


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_cholesky(dtype, upper):
    def function(x):
        return torch.linalg.cholesky_ex(x, upper=upper)

    for dims in ((4, 4), (2, 3, 5, 5), (1, 1), (70, 70), (0, 3, 3), (2, 0, 0)):
        assert_same(function, positive(*dims, dtype=dtype), **tolerance(dtype))


@pytest.mark.parametrize("upper", [False, True])
def test_the_other_triangle_is_not_read(upper):
    x = positive(4, 4, dtype=torch.complex64)
    x = (x.triu() if upper else x.tril()) + 5j * torch.eye(4)  # nor the imaginary part of the diagonal
    assert_same(lambda x: torch.linalg.cholesky_ex(x, upper=upper), x, **tolerance(x.dtype))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_first_minor_that_is_not_positive(dtype, upper):
    """The info of LAPACK, for every place and several kinds of badness; good neighbours in the batch keep theirs."""
    n = 6
    batch = []
    for place, bad in itertools.product(range(n), (-3.0, float("nan"), float("-inf"), -1e-3)):
        x = positive(n, n, dtype=dtype)
        x[place, place] = bad
        if place + 2 < n:
            x[place + 2, place + 2] = -9.0  # only the first one counts
        batch += [x, positive(n, n, dtype=dtype)]
    ones = torch.ones(n, n, dtype=dtype)  # of rank one: the second pivot is zero
    nan_below = torch.eye(n, dtype=dtype)
    nan_below[4, 1] = nan_below[1, 4] = float("nan")  # comes to the diagonal at 5
    batch = torch.stack([*batch, ones, nan_below, torch.zeros(n, n, dtype=dtype)])

    expected = torch.linalg.cholesky_ex(batch, upper=upper)
    got = torch.linalg.cholesky_ex(batch.to("tpu"), upper=upper)
    assert torch.equal(got.info.cpu(), expected.info)
    good = expected.info == 0
    compare(got.L.cpu()[good], expected.L[good], **{**tolerance(dtype), "rtol": 1e-4, "atol": 1e-4})
    assert expected.info[-3:].tolist() == [2, 5, 1]


def test_cholesky_says_what_is_wrong():
    x = positive(3, 4, 4)
    x[1, 2, 2] = -1.0
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*leading minor of order 3"):
        torch.linalg.cholesky(x.to("tpu"))


def test_gradient_of_cholesky():
    def function(x):
        x = x.detach().requires_grad_()
        weight = torch.arange(1.0, 17.0, device=x.device).reshape(4, 4)
        return torch.autograd.grad((torch.linalg.cholesky(x @ x.mT + torch.eye(4, device=x.device)) * weight).sum(), x)

    assert_same(function, torch.randn(2, 4, 4), rtol=1e-4, atol=1e-4)


# ---- triangular systems


SYSTEMS = (((4, 4), (4, 3)), ((2, 1, 5, 5), (3, 5, 2)), ((20, 20), (20, 9)), ((0, 0), (0, 3)), ((3, 2, 2), (2, 0)))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_solve_triangular(dtype, upper, left):
    for (a, b), unit in itertools.product(SYSTEMS, (False, True)):
        b = b if left else (*b[:-2], b[-1], b[-2])
        x, b = positive(*a, dtype=dtype), torch.randn(*b, dtype=dtype)  # both triangles are full: one is not read

        def function(a, b, unit=unit):
            result = torch.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unit)
            out = torch.empty_like(result)
            torch.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unit, out=out)
            resized = torch.empty(0, dtype=b.dtype, device=b.device)
            torch.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unit, out=resized)
            return result, result.stride(), out, resized

        assert_same(function, x, b, **tolerance(dtype))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_cholesky_solve(dtype, upper):
    for a, b in SYSTEMS:
        factor = torch.linalg.cholesky(positive(*a, dtype=dtype), upper=upper)

        def function(b, a):
            x = torch.cholesky_solve(b, a, upper)
            return x, x.stride()

        assert_same(function, torch.randn(*b, dtype=dtype), factor, **tolerance(dtype))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_cholesky_inverse(dtype, upper):
    for dims in ((4, 4), (2, 3, 5, 5), (1, 1), (40, 40), (0, 3, 3), (2, 0, 0)):
        factor = torch.linalg.cholesky(positive(*dims, dtype=dtype), upper=upper)

        def function(x, out):
            result = torch.cholesky_inverse(x, upper)
            return result, result.stride() if x.numel() > 0 else (), torch.cholesky_inverse(x, upper, out=out)

        assert_same(function, factor, torch.empty(0, dtype=dtype), **tolerance(dtype))


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
def test_old_cholesky():
    for upper, x in itertools.product((False, True), (positive(2, 4, 4), positive(3, 3, dtype=torch.complex64))):
        assert_same(lambda x, u=upper: torch.cholesky(x, u), x, **tolerance(x.dtype))
        assert_same(lambda x, out, u=upper: torch.cholesky(x, u, out=out), x, torch.empty_like(x), **tolerance(x.dtype))
    assert_same(torch.cholesky, -torch.eye(3))
    assert_same(torch.cholesky, torch.stack([torch.eye(3), -torch.eye(3)]))


def test_gradient_of_solve_triangular():
    def function(a, b):
        a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
        x = torch.linalg.solve_triangular(a, b, upper=True)
        return torch.autograd.grad((x * x).sum(), (a, b))

    assert_same(function, positive(2, 4, 4), torch.randn(4, 3), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
def test_old_triangular_solve(dtype, upper):
    for transpose, unit in itertools.product((False, True), (False, True)):
        assert_same(
            lambda b, a, t=transpose, u=unit: torch.triangular_solve(b, a, upper, t, u),
            torch.randn(2, 4, 3, dtype=dtype), positive(4, 4, dtype=dtype), **tolerance(dtype),
        )  # fmt: skip


def test_a_cpu_plugin_leaves_factors_to_lapack():
    """Note [Slow on a CPU] in ops/linalg.cpp."""
    if not core.device_facts(0)["is_cpu"]:
        pytest.skip("not a CPU plugin")
    torch.tpu.set_host_ops("allow")  # until the end of the test
    torch.tpu.reset_host_ops()
    x = positive(3, 3).to("tpu")
    torch.linalg.solve_triangular(torch.linalg.cholesky(x), x, upper=False)
    names = {op.name for op in torch.tpu.host_ops()}
    assert {"aten::linalg_cholesky_ex.L", "aten::linalg_solve_triangular"} <= names, names
