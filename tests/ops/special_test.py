"""Family special against the CPU: over the ranges where its expansions change, and at the special values."""

import pytest
import torch
from oracle import assert_same

S = torch.special
NAN, INF = float("nan"), float("inf")
AXIS = torch.cat(
    [torch.linspace(-30, 30, 241), torch.linspace(-3, 3, 61), torch.tensor([1e-3, -1e-3, 1e-6, 60.0, 80.0])]
)
POSITIVE = torch.cat([torch.linspace(0.05, 40, 200), torch.tensor([1e-3, 1e-5, 80.0, 300.0])])
UNIT = torch.cat([torch.linspace(0.001, 0.999, 200), torch.tensor([1e-10, 1e-30, 0.134, 0.136, 0.865, 1 - 1e-6])])
ENDS = torch.tensor([NAN, INF, -INF, 0.0, -0.0, -1.0, 1.0, 2.0, 8.0, -8.0, -2.5])

# name: (function, arguments within its domain, relative and absolute tolerance in float32; float64 has its own)
UNARY = {
    "i0": (torch.i0, AXIS),
    "i0e": (S.i0e, AXIS),
    "i1": (S.i1, AXIS),
    "i1e": (S.i1e, AXIS),
    "modified_bessel_i0": (S.modified_bessel_i0, AXIS),
    "modified_bessel_i1": (S.modified_bessel_i1, AXIS),
    "modified_bessel_k0": (S.modified_bessel_k0, POSITIVE),
    "modified_bessel_k1": (S.modified_bessel_k1, POSITIVE),
    "scaled_modified_bessel_k0": (S.scaled_modified_bessel_k0, POSITIVE),
    "scaled_modified_bessel_k1": (S.scaled_modified_bessel_k1, POSITIVE),
    "bessel_j0": (S.bessel_j0, AXIS),
    "bessel_j1": (S.bessel_j1, AXIS),
    "bessel_y0": (S.bessel_y0, POSITIVE),
    "bessel_y1": (S.bessel_y1, POSITIVE),
    "spherical_bessel_j0": (S.spherical_bessel_j0, AXIS),
    "airy_ai": (S.airy_ai, AXIS / 2),
    "erfcx": (S.erfcx, torch.linspace(-9, 60, 500)),
    "log_ndtr": (S.log_ndtr, AXIS),
    "ndtri": (S.ndtri, UNIT),
    "entr": (S.entr, AXIS),
    "digamma": (torch.digamma, POSITIVE),
    "lgamma": (torch.lgamma, POSITIVE),
    "polygamma_1": (lambda x: torch.polygamma(1, x), AXIS + 0.01),
    "polygamma_2": (lambda x: torch.polygamma(2, x), POSITIVE),
    "polygamma_5": (lambda x: torch.polygamma(5, x), POSITIVE),
    "erfinv": (torch.erfinv, UNIT * 2 - 1),
    "ndtr": (S.ndtr, AXIS),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_range(name, dtype):
    function, x = UNARY[name]
    # Where a function oscillates or grows, the rounding of its argument in PyTorch's own float32 kernel decides.
    rtol, atol = (2e-5, 2e-6) if dtype == torch.float32 else (2e-9, 1e-11)
    if name.startswith(
        ("bessel", "airy")
    ):  # PyTorch's own float64 is off by up to 4e-7, and 3e-6 for airy_ai, ours by 1e-15
        rtol, atol = max(rtol, 1e-4), max(atol, 4e-6)
    assert_same(function, x.to(dtype), rtol=rtol, atol=atol, zero_signs=False)


@pytest.mark.parametrize("name", UNARY)
def test_ends(name):
    skipped = {
        "polygamma_1": [INF, -INF],
        "polygamma_2": [-INF],
        "polygamma_5": [-INF],
        "lgamma": [],
        "bessel_j0": [INF, -INF],
        "bessel_j1": [INF, -INF],
        "bessel_y0": [INF],
        "bessel_y1": [INF],
    }.get(name, [])
    x = torch.tensor([v for v in ENDS.tolist() if v not in skipped])
    assert_same(UNARY[name][0], x, rtol=2e-5, atol=2e-6, zero_signs=False)


POLYNOMIALS = [n for n in dir(S) if "polynomial" in n]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name, dtype):
    x = torch.tensor([-2.0, -1.0, -0.9, -0.3, 0.0, 0.25, 0.5, 0.99, 1.0, 1.5, 3.0], dtype=dtype)[:, None]
    n = torch.tensor([-1, 0, 1, 2, 3, 5, 7, 10, 12], dtype=dtype)[None, :]
    rtol, atol = (2e-4, 2e-4) if dtype == torch.float32 else (1e-9, 1e-9)
    assert_same(getattr(S, name), x, n, rtol=rtol, atol=atol, zero_signs=False)
    assert_same(lambda x: getattr(S, name)(x, 3), x, rtol=rtol, atol=atol, zero_signs=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("function", [torch.igamma, torch.igammac])
def test_incomplete_gamma(function, dtype):
    a = torch.tensor([0.01, 0.5, 1, 2.5, 9, 19, 21, 60, 500, 1e4], dtype=dtype)[:, None]
    x = torch.tensor([0.001, 0.3, 1, 2, 3.5, 9, 20, 24, 61, 520, 1.01e4], dtype=dtype)[None, :]
    rtol, atol = (2e-5, 1e-6) if dtype == torch.float32 else (1e-7, 1e-10)
    assert_same(function, a, x, rtol=rtol, atol=atol)
    ends = torch.tensor([NAN, INF, 0.0, -1.0, 1.0], dtype=dtype)
    assert_same(function, ends[:, None], ends[None, :])


def test_zeta():
    s = torch.tensor([0.5, 1, 1.5, 2, 3, 4, 10])[:, None]
    q = torch.tensor([-30.5, -3, -2.5, -0.5, 0, 0.5, 1, 2.5, 30, NAN])[None, :]
    assert_same(S.zeta, s, q, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("function", [torch.i0, S.entr, S.ndtri, torch.digamma, S.airy_ai])
def test_dtypes(function):
    assert_same(function, torch.tensor([0, 1]), rtol=2e-5, atol=2e-6)
    assert_same(function, torch.tensor([True, False]), rtol=2e-5, atol=2e-6)
    assert_same(function, torch.empty(0, 3))
    assert_same(function, torch.tensor(0.5), rtol=2e-5, atol=2e-6)
    assert_same(function, torch.tensor([1 + 1j]), message=False)


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1", "airy"])
def test_bessel_in_float64(name):
    scipy = pytest.importorskip("scipy.special")
    x = torch.linspace(0.1, 30, 400, dtype=torch.float64)
    if name == "airy":
        x = torch.cat([x, -x]) / 3
        expected, function = scipy.airy(x.numpy())[0], S.airy_ai
    else:
        expected, function = getattr(scipy, name)(x.numpy()), getattr(S, f"bessel_{name}")
    torch.testing.assert_close(function(x.to("tpu")).cpu(), torch.from_numpy(expected), rtol=1e-13, atol=5e-15)
