"""Products and distances: element types, beta and alpha, empty sizes, errors, gradients."""

import itertools

import pytest
import torch
from oracle import assert_same

FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
OTHERS = [torch.int64, torch.int32, torch.int8, torch.uint8, torch.complex64]
NAN, INF = float("nan"), float("inf")


def make(*sizes, dtype=torch.float32):
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(*sizes, dtype=dtype)
    return torch.randint(0, 100, sizes, dtype=dtype)


def near(dtype):
    # The CPU rounds half-precision products differently by itself; ours are exact to the last rounding.
    return {torch.bfloat16: (2e-2, 5e-2), torch.float16: (2e-3, 1e-2)}.get(dtype, (None, None))


CASES = {
    "mm": (torch.mm, (3, 4), (4, 5)),
    "mm_transposed": (lambda a, b: torch.mm(a.t(), b.t()), (4, 3), (5, 4)),
    "mm_empty_inner": (torch.mm, (3, 0), (0, 5)),
    "mm_empty": (torch.mm, (0, 4), (4, 5)),
    "bmm": (torch.bmm, (2, 3, 4), (2, 4, 5)),
    "bmm_empty": (torch.bmm, (0, 3, 4), (0, 4, 5)),
    "mv": (torch.mv, (3, 4), (4,)),
    "dot": (torch.dot, (7,), (7,)),
    "dot_empty": (torch.dot, (0,), (0,)),
    "vdot": (torch.vdot, (7,), (7,)),
    "matmul_broadcast": (torch.matmul, (2, 1, 3, 4), (5, 4, 2)),
    "addmm": (torch.addmm, (3, 5), (3, 4), (4, 5)),
    "addmm_row": (lambda s, a, b: torch.addmm(s, a, b, beta=2, alpha=3), (5,), (3, 4), (4, 5)),
    "addmm_beta_0": (lambda s, a, b: torch.addmm(s, a, b, beta=0), (3, 5), (3, 4), (4, 5)),
    "addmm_empty_inner": (lambda s, a, b: torch.addmm(s, a, b, beta=2), (3, 5), (3, 0), (0, 5)),
    "baddbmm": (lambda s, a, b: torch.baddbmm(s, a, b, beta=2, alpha=3), (2, 1, 5), (2, 3, 4), (2, 4, 5)),
    "addbmm": (lambda s, a, b: torch.addbmm(s, a, b, beta=2, alpha=3), (3, 5), (2, 3, 4), (2, 4, 5)),
    "addbmm_": (lambda s, a, b: s.clone().addbmm_(a, b), (3, 5), (2, 3, 4), (2, 4, 5)),
    "addmv": (lambda s, a, b: torch.addmv(s, a, b, beta=2, alpha=3), (3,), (3, 4), (4,)),
    "addr": (lambda s, a, b: torch.addr(s, a, b, beta=2, alpha=3), (3, 4), (3,), (4,)),
}


@pytest.mark.parametrize("dtype", FLOATS + OTHERS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_products(name, dtype):
    torch.manual_seed(0)
    function, *sizes = CASES[name]
    rtol, atol = near(dtype)
    assert_same(function, *(make(*size, dtype=dtype) for size in sizes), rtol=rtol, atol=atol, zero_signs=False)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("use_gelu", [False, True])
def test_addmm_activation(dtype, use_gelu):
    torch.manual_seed(0)
    rtol, atol = near(dtype)
    assert_same(
        lambda s, a, b: torch._addmm_activation(s, a, b, use_gelu=use_gelu),
        make(5, dtype=dtype),
        make(3, 4, dtype=dtype),
        make(4, 5, dtype=dtype),
        rtol=rtol,
        atol=atol,
    )


def test_special_values():
    nan = torch.full((2, 2), NAN)
    one = torch.ones(2, 2)
    assert_same(lambda s, a, b: torch.addmm(s, a, b, beta=0), nan, one, one)
    assert_same(torch.mm, torch.tensor([[INF, 0.0]]), torch.tensor([[0.0], [1.0]]))
    assert_same(torch.mm, torch.full((2, 2), 2**62), torch.full((2, 2), 4))
    assert_same(lambda s, a, b: torch.addmm(s, a, b, beta=0.5, alpha=2.5), *[torch.ones(2, 2, dtype=torch.int64)] * 3)


def test_conjugate_and_negative_bits():
    a, b = torch.randn(3, 4, dtype=torch.complex64), torch.randn(3, 5, dtype=torch.complex64)
    assert_same(lambda a, b: torch.mm(a.conj().t(), b), a, b)
    assert_same(lambda a, b: torch.mm(a.mH, b.conj()), a, b)
    assert_same(lambda a, b: a.conj().imag.t() @ b.imag, a, b)
    assert_same(lambda a, b: a.conj().resolve_conj() + 1, a, b)
    assert_same(lambda a, b: torch.vdot(a[0].conj(), a[1]), a, b)


@pytest.mark.parametrize("name", ["mm", "bmm", "addmm", "baddbmm"])
def test_wide_results(name):
    """Products of halves in float32, which the CPU does not have."""
    batch = [2] if "bmm" in name else []
    tensors = [torch.randn(*batch, *sizes).bfloat16() for sizes in ((3, 4), (4, 5))]
    if "add" in name:
        tensors.insert(0, torch.randn(*batch, 3, 5))
    function, there = getattr(torch, name), [t.to("tpu") for t in tensors]
    expected = function(*[t.float() for t in tensors])
    out = torch.empty(0, device="tpu")
    for got in (function(*there, out_dtype=torch.float32), function(*there, out_dtype=torch.float32, out=out)):
        assert got.dtype == torch.float32
        torch.testing.assert_close(got.cpu(), expected, rtol=1e-6, atol=1e-6)


def test_integer_products_and_wrong_results():
    a, b = torch.randn(3, 4).bfloat16(), torch.randn(4, 5).bfloat16()
    with pytest.raises(RuntimeError, match="out_dtype must be the same"):
        torch.mm(a.to("tpu"), b.to("tpu"), out_dtype=torch.float64)
    i, j = (torch.randint(-128, 128, size, dtype=torch.int8) for size in ((17, 32), (32, 8)))
    assert_same(torch._int_mm, i, j)


# Note [Few rows] in csrc/ops/matmul.cpp: some of these are multiplied the other way round.
@pytest.mark.parametrize("rows", [1, 7, 64, 65, 512])
@pytest.mark.parametrize("sizes", [(256, 256), (512, 600), (30, 40)], ids=str)
def test_linear_layers(rows, sizes):
    torch.manual_seed(0)
    inputs, outputs = sizes
    x, weight, bias = torch.randn(rows, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
    x[0, 0], weight[1, 2], weight[2], bias[3] = -0.0, NAN, 0.0, INF
    bias[2] = -0.0
    assert_same(torch.nn.functional.linear, x, weight, bias, rtol=1e-4, atol=1e-3)
    assert_same(lambda a, b: a @ b.t(), x, weight, rtol=1e-4, atol=1e-3)
    assert_same(lambda a, b, c: torch.addmm(c, a, b.t(), beta=0.5, alpha=2), x, weight, bias, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF])
@pytest.mark.parametrize("rows", [4, 30])
def test_distances(p, rows):
    torch.manual_seed(0)
    x, y = torch.randn(2, rows, 6), torch.randn(2, 5, 6)
    x[0, 0] = y[0, 0]  # a distance of zero

    def with_gradient(x, y):
        x, y = x.requires_grad_(), y.requires_grad_()
        d = torch.cdist(x, y, p)
        return d, *torch.autograd.grad(d, (x, y), torch.ones_like(d) * 0.5)

    assert_same(with_gradient, x, y, rtol=1e-4, atol=1e-3 if p == 2.0 and rows > 25 else 1e-5, zero_signs=False)

    assert_same(lambda x, y: torch.cdist(x, y, p), x[..., :0], y[..., :0])

    def of_pairs(x):
        x = x.requires_grad_()
        d = torch.nn.functional.pdist(x, p)
        return d, *torch.autograd.grad(d, x, torch.arange(1.0, d.numel() + 1, device=x.device))

    assert_same(of_pairs, torch.randn(rows, 6), rtol=1e-4, atol=1e-4, zero_signs=False)


ERRORS = {
    "mm_types": (torch.mm, torch.ones(2, 2), torch.ones(2, 2).double()),
    "mm_bool": (torch.mm, *[torch.ones(2, 2, dtype=torch.bool)] * 2),
    "mm_sizes": (torch.mm, torch.ones(2, 2), torch.ones(3, 2)),
    "dot_types": (torch.dot, torch.ones(2), torch.ones(2).double()),
    "dot_sizes": (torch.dot, torch.ones(2), torch.ones(3)),
    "dot_rank": (torch.dot, torch.ones(2, 2), torch.ones(3)),
    "addbmm_sizes": (torch.addbmm, torch.ones(2, 2), torch.ones(1, 2, 3), torch.ones(1, 2, 2)),
    "addmm_types": (torch.addmm, torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2).double()),
    "cdist_half": (torch.cdist, *[torch.ones(2, 2).half()] * 2),
    "int_mm_types": (torch._int_mm, torch.ones(2, 2), torch.ones(2, 2, dtype=torch.int8)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    assert_same(ERRORS[name][0], *ERRORS[name][1:], message=False)


@pytest.mark.parametrize("sizes", list(itertools.product([1, 3], [1, 4], [1, 5])), ids=str)
def test_out_is_resized(sizes):
    m, k, n = sizes
    out = torch.empty(0, device="tpu")
    a, b = torch.randn(m, k), torch.randn(k, n)
    torch.mm(a.to("tpu"), b.to("tpu"), out=out)
    torch.testing.assert_close(out.cpu(), a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("out_dtype", [None, torch.float32, torch.bfloat16, torch.float8_e5m2], ids=str)
@pytest.mark.parametrize("scales", ["numbers", "rows"])
def test_scaled_mm(scales, out_dtype):
    a = torch.randn(16, 32).to(torch.float8_e4m3fn)
    b = torch.randn(48, 32).to(torch.float8_e4m3fn).t()
    scale = (torch.tensor(0.5), torch.tensor([0.25])) if scales == "numbers" else (torch.rand(16, 1), torch.rand(1, 48))

    def function(a, b, bias, *scale):
        out = torch._scaled_mm(a, b, *scale, bias=bias, out_dtype=out_dtype)
        assert out.dtype == (out_dtype or torch.float8_e4m3fn)
        into = torch.empty(0, dtype=out.dtype, device=a.device)
        torch._scaled_mm(a, b, *scale, bias=bias, out_dtype=out_dtype, out=into)
        return out.float(), into.float()

    close = {None: 0.13, torch.float32: 1e-5, torch.bfloat16: 1e-2, torch.float8_e5m2: 0.26}[out_dtype]
    assert_same(function, a, b, torch.randn(48), *scale, rtol=close, atol=1e-2, zero_signs=False)
    assert_same(function, a, b, None, *scale, rtol=close, atol=1e-2, zero_signs=False)
