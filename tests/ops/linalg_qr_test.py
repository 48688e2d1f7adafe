"""Family linalg_qr against LAPACK, whose reflectors have the same signs, so that factors compare element by element."""

import itertools

import pytest
import torch
from oracle import FACTOR_DTYPES, assert_same, with_strides

TOLERANCES = {torch.float32: 1e-4, torch.complex64: 1e-4, torch.float64: 1e-11, torch.complex128: 1e-11}
SHAPES = ((4, 4), (2, 3, 5, 5), (1, 1), (6, 3), (2, 3, 6), (70, 40), (0, 3, 3), (2, 0, 0), (0, 4), (4, 0))
pytestmark = pytest.mark.usefixtures("no_host_ops")  # or LAPACK would do it, Note [Slow on a CPU] in ops/linalg.cpp


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)  # other numbers may have other pivots or ranks where rounding errors decide


def tolerance(dtype):
    return {"rtol": TOLERANCES[dtype], "atol": TOLERANCES[dtype], "zero_signs": False}


def tensor(*dims, dtype=torch.float32):
    return torch.randn(*dims, dtype=dtype)


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_geqrf(dtype):
    for dims in SHAPES:
        assert_same(with_strides(torch.geqrf), tensor(*dims, dtype=dtype), **tolerance(dtype))
        out = (torch.empty(0, dtype=dtype), torch.empty(0, dtype=dtype))
        assert_same(lambda x, *out: torch.geqrf(x, out=out), tensor(*dims, dtype=dtype), *out, **tolerance(dtype))


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_qr(dtype, mode):
    for dims in SHAPES:
        function = with_strides(lambda x: torch.linalg.qr(x, mode))
        assert_same(function, tensor(*dims, dtype=dtype), **tolerance(dtype))


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_what_is_triangular_already_is_not_reflected(dtype):
    x = tensor(5, 5, dtype=dtype).triu()
    x = torch.stack([x, torch.zeros(5, 5, dtype=dtype), torch.eye(5, dtype=dtype), -x])
    assert_same(torch.geqrf, x, **tolerance(dtype))
    assert_same(torch.linalg.qr, x, **tolerance(dtype))


def test_large_and_small_elements():
    """No square of an element overflows, or vanishes."""
    for scale in (1e30, 1e-30):
        x = tensor(2, 4, 3) * scale
        q, r = torch.linalg.qr(x.to("tpu"))
        expected = torch.linalg.qr(x)
        torch.testing.assert_close(q.cpu(), expected.Q, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(r.cpu() / scale, expected.R / scale, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_householder_product(dtype):
    for dims in ((4, 4), (2, 3, 6, 4), (70, 40), (0, 4, 3), (4, 0)):
        a, taus = torch.geqrf(tensor(*dims, dtype=dtype))
        function = torch.linalg.householder_product
        assert_same(with_strides(function), a, taus, **tolerance(dtype))
        assert_same(function, a, taus[..., : taus.shape[-1] // 2], **tolerance(dtype))
        out = torch.empty(0, dtype=dtype)
        assert_same(lambda a, t, out: torch.linalg.householder_product(a, t, out=out), a, taus, out, **tolerance(dtype))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_ormqr(dtype, transpose, left):
    for dims, width in (((4, 4), 3), ((2, 3, 6, 4), 2), ((70, 40), 5), ((5, 3), 0)):
        a, taus = torch.geqrf(tensor(*dims, dtype=dtype))
        other = tensor(*dims[:-2], *((dims[-2], width) if left else (width, dims[-2])), dtype=dtype)
        function = with_strides(lambda *x: torch.ormqr(*x, left=left, transpose=transpose))
        assert_same(function, a, taus, other, **tolerance(dtype))
        out = torch.empty(0, dtype=dtype)
        function = lambda *x: torch.ormqr(*x[:3], left=left, transpose=transpose, out=x[3])  # noqa: E731
        assert_same(function, a, taus, other, out, **tolerance(dtype))


GRADIENTS = {
    "qr": lambda a: torch.linalg.qr(a),
    "r of a wide matrix": lambda a: torch.linalg.qr(a.mT)[1],
    "householder_product": lambda a: (torch.linalg.householder_product(a, a[..., 0, :] / 4),),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    for dtype in (torch.float64, torch.complex128):

        def function(a):
            a = a.detach().requires_grad_()
            loss = 0
            for x in GRADIENTS[name](a):
                weight = torch.arange(1.0, x.numel() + 1, device=a.device, dtype=torch.float64).reshape(x.shape)
                loss = loss + (x * weight).real.sum()
            return torch.autograd.grad(loss, a)

        assert_same(function, tensor(2, 5, 3, dtype=dtype), rtol=1e-9, atol=1e-9, zero_signs=False)


# ---- least squares


PROBLEMS = (((6, 3), (6, 2)), ((6, 3), (6,)), ((2, 3, 5, 4), (2, 3, 5, 1)), ((3, 6), (3, 2)), ((2, 4, 4), (2, 4)))


@pytest.mark.parametrize("driver", [None, "gelsy", "gels"])
@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_lstsq(dtype, driver):
    for a, b in PROBLEMS:
        assert_same(
            lambda a, b: tuple(torch.linalg.lstsq(a, b, driver=driver)),
            tensor(*a, dtype=dtype), tensor(*b, dtype=dtype),
            rtol=20 * TOLERANCES[dtype], atol=20 * TOLERANCES[dtype], zero_signs=False,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", FACTOR_DTYPES, ids=str)
def test_lstsq_of_less_than_full_rank(dtype):
    """The rank, and of all solutions the shortest one, also in batches whose ranks differ."""
    for (m, n), rank in itertools.product(((6, 4), (4, 6), (5, 5)), (1, 2, 3)):
        low = tensor(m, rank, dtype=dtype) @ tensor(rank, n, dtype=dtype)
        a = torch.stack([low, tensor(m, n, dtype=dtype), torch.zeros(m, n, dtype=dtype)])
        got = torch.linalg.lstsq(a.to("tpu"), tensor(3, m, 2, dtype=dtype).to("tpu"))
        assert got.rank.tolist() == [rank, min(m, n), 0]
        wide = {"rtol": 100 * TOLERANCES[dtype], "atol": 100 * TOLERANCES[dtype], "zero_signs": False}
        assert_same(lambda a, b: torch.linalg.lstsq(a, b).solution, a, tensor(3, m, 2, dtype=dtype), **wide)
    a = torch.diag(torch.tensor([1.0, 0.1, 1e-3])).to(dtype)
    for rcond in (None, 1e-2, 0.5):
        assert_same(lambda a, b, r=rcond: torch.linalg.lstsq(a, b, rcond=r), a, tensor(3, 1, dtype=dtype), **wide)


def test_gels_wants_full_rank():
    x = torch.stack([torch.eye(4)[:, :3], torch.eye(4)[:, [0, 0, 1]] * 0])
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*does not have full rank"):
        torch.linalg.lstsq(x.to("tpu"), tensor(2, 4, 1).to("tpu"), driver="gels")
