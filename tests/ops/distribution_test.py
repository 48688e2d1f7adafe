"""Family distribution: gamma, Dirichlet, Poisson and binomial numbers by chi-square and Kolmogorov-Smirnov distance,
their streams, the derivatives of gamma and beta numbers, and torch.distributions on top of them."""

import math

import pytest
import torch
import torch.distributions as D

pytestmark = pytest.mark.usefixtures("no_host_ops")
N = 100_000
LIMIT = 1.95 / math.sqrt(N)  # of the Kolmogorov-Smirnov distance at level 0.001; the seed is fixed


def full(value, n=N, dtype=torch.float32):
    return torch.full((n,), value, dtype=dtype, device="tpu")


def assert_distribution(x, cdf):
    x = x.cpu().double().sort().values
    assert x.isfinite().all()
    p, empirical = cdf(x), torch.arange(len(x) + 1, dtype=torch.float64) / len(x)
    distance = torch.maximum((p - empirical[:-1]).abs().max(), (p - empirical[1:]).abs().max())
    assert distance < LIMIT * math.sqrt(N / len(x))


def assert_counts(x, log_probability):
    """Chi-square over the values whose expected count is at least 10; the rest is one more class."""
    x = x.cpu().double()
    assert (x == x.round()).all()
    low = int(x.min())
    counts = torch.bincount((x - low).long()).double()
    expected = len(x) * log_probability(torch.arange(low, low + len(counts), dtype=torch.float64)).exp()
    common = expected >= 10
    rest = len(x) - expected[common].sum(), len(x) - counts[common].sum()
    chi2 = ((counts - expected)[common] ** 2 / expected[common]).sum() + (rest[1] - rest[0]) ** 2 / max(rest[0], 1)
    freedom = int(common.sum())
    assert chi2 < freedom + 4 * math.sqrt(2 * freedom) + 12


# ---------------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 2.5, 40.0, 1e4])
def test_gamma(alpha, dtype):
    torch.manual_seed(11)
    x = torch._standard_gamma(full(alpha, dtype=dtype))
    assert x.dtype == dtype
    assert_distribution(x, lambda t: torch.special.gammainc(torch.tensor(alpha, dtype=torch.float64), t))


def test_gamma_of_extreme_parameters():
    x = torch._standard_gamma(torch.tensor([0.0, 1e-6, float("nan"), -1.0, 1e30], device="tpu")).cpu()
    assert x[0] == torch.finfo(torch.float32).tiny  # as on the CPU
    assert x[1] >= torch.finfo(torch.float32).tiny
    assert x[2].isnan()
    assert x[3].isnan()
    torch.testing.assert_close(x[4], torch.tensor(1e30))
    assert torch._standard_gamma(torch.ones(3, dtype=torch.bfloat16, device="tpu")).dtype == torch.bfloat16
    assert torch._standard_gamma(torch.ones(0, 2, device="tpu")).shape == (0, 2)


@pytest.mark.parametrize("mean", [0.0, 0.3, 4.0, 9.9, 10.0, 37.5, 900.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_poisson(mean, dtype):
    torch.manual_seed(12)
    x = torch.poisson(full(mean, dtype=dtype))
    assert x.dtype == dtype
    if mean == 0:
        assert (x == 0).all()
        return
    assert_counts(x, lambda k: k * math.log(mean) - mean - torch.lgamma(k + 1))


def test_poisson_of_large_rates():
    torch.manual_seed(1)
    x = torch.poisson(full(1e6)).cpu().double()
    assert abs(x.mean() - 1e6) < 5 * 1e3 / math.sqrt(N)
    assert abs(x.std() - 1e3) < 10
    with pytest.raises(RuntimeError, match="invalid Poisson rate"):
        torch.poisson(full(-1.0)).cpu()
    assert torch.poisson(torch.full((4,), 3.0, dtype=torch.bfloat16, device="tpu")).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (12, 0.5), (40, 0.9), (50, 0.5), (300, 0.2), (400, 0.7), (5000, 0.001)])
def test_binomial(n, p, dtype):
    torch.manual_seed(13)
    x = torch.binomial(full(float(n), dtype=dtype), full(p, dtype=dtype))
    assert x.dtype == dtype
    total = math.lgamma(n + 1)

    def log_probability(k):
        inside = (k >= 0) & (k <= n)
        log = total - torch.lgamma(k + 1) - torch.lgamma((n - k).clamp(min=0) + 1)
        return torch.where(inside, log + k * math.log(p) + (n - k) * math.log1p(-p), -math.inf)

    assert_counts(x, log_probability)
    assert x.min() >= 0
    assert x.max() <= n


def test_binomial_of_extreme_parameters():
    n = torch.tensor([0.0, 5.0, 5.0, 5.0, 1000.0, 1000.0], device="tpu")
    p = torch.tensor([0.5, 0.0, 1.0, float("nan"), 1.0, 0.0], device="tpu")
    torch.testing.assert_close(
        torch.binomial(n, p).cpu(), torch.tensor([0, 0, 5, float("nan"), 1000, 0]), equal_nan=True
    )


def test_dirichlet():
    torch.manual_seed(14)
    alpha = torch.tensor([0.5, 2.0, 4.0], device="tpu")
    x = torch._sample_dirichlet(alpha.expand(N, 3)).cpu().double()
    torch.testing.assert_close(x.sum(-1), torch.ones(N, dtype=torch.float64), atol=1e-6, rtol=0)
    for i, a in enumerate((0.5, 2.0, 4.0)):
        assert abs(x[:, i].mean() - a / 6.5) < 0.004
        variance = a / 6.5 * (1 - a / 6.5) / 7.5
        assert abs(x[:, i].var() / variance - 1) < 0.03
    tiny = torch._sample_dirichlet(torch.full((1000, 4), 1e-3, device="tpu")).cpu()  # the gamma numbers are all 0
    assert tiny.isfinite().all()
    torch.testing.assert_close(tiny.sum(-1), torch.ones(1000))


# ---------------------------------------------------------------------------------------------------------- streams

DRAWS = {
    "gamma": (torch._standard_gamma, torch.full((1000,), 0.7)),
    "poisson": (torch.poisson, torch.linspace(0, 30, 1000)),
    "binomial": (torch.binomial, torch.full((1000,), 60.0), torch.linspace(0, 1, 1000)),
    "dirichlet": (torch._sample_dirichlet, torch.linspace(0.1, 5, 1000).reshape(10, 100)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_streams(name):
    function, *arguments = DRAWS[name]
    arguments = [x.to("tpu") for x in arguments]
    torch.manual_seed(5)
    first, after = function(*arguments), torch.rand(4, device="tpu")
    torch.manual_seed(5)
    assert torch.equal(function(*arguments), first)
    assert torch.equal(torch.rand(4, device="tpu"), after)
    assert not torch.equal(function(*arguments), first)
    compiled = torch.compile(lambda *x: function(*x))
    compiled(*arguments)  # where torch has no Meta kernel it calls the op itself to learn the shape, and so draws
    torch.manual_seed(5)
    torch.testing.assert_close(compiled(*arguments), first, rtol=1e-6, atol=0)
    assert torch.equal(torch.rand(4, device="tpu"), after)


def test_attempts_do_not_move_the_generator():
    """Whatever the parameters, a draw takes one counter per element."""
    after = []
    for mean in (0.0, 3.0, 500.0):
        torch.manual_seed(6)
        torch.poisson(full(mean, 100))
        after.append(torch.rand(3, device="tpu"))
    assert torch.equal(after[0], after[1])
    assert torch.equal(after[0], after[2])


# ------------------------------------------------------------------------------------------------------ derivatives


def derivative(cdf, log_density, parameter, x, h=1e-4):
    """-(d cdf / d parameter) / density, by central differences of float64 in two steps of Richardson's."""

    def central(h):
        return (cdf(parameter * (1 + h), x) - cdf(parameter * (1 - h), x)) / (2 * h * parameter)

    slope = (4 * central(h) - central(2 * h)) / 3
    return -slope * torch.exp(-log_density(parameter, x))


def gamma_log_density(alpha, x):
    return (alpha - 1) * x.log() - x - torch.lgamma(alpha)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_gamma_derivative(dtype):
    torch.manual_seed(1)
    alpha = torch.logspace(-1.5, 3.5, 26, dtype=torch.float64).repeat_interleave(20)
    x = torch._standard_gamma(alpha).clamp(min=1e-25)
    alpha, x = alpha.to(dtype).double(), x.to(dtype).double()
    expected = derivative(torch.special.gammainc, gamma_log_density, alpha, x)
    got = torch._standard_gamma_grad(alpha.to("tpu", dtype), x.to("tpu", dtype))
    assert got.dtype == dtype
    close = (2e-4 if dtype == torch.float32 else 2e-5) * expected.abs() + 1e-6  # of the differences too
    p = torch.special.gammainc(alpha, x)
    sure = (p > 1e-4) & (p < 1 - 1e-4)  # further out the differences lose their digits
    assert ((got.cpu().double() - expected).abs() <= close)[sure].all()
    assert sure.sum() > 400


def test_gamma_derivative_beside_the_cpu():
    """The CPU's approximation is good to about 0.1%."""
    alpha = torch.logspace(-1, 3, 30).repeat_interleave(20)
    x = torch._standard_gamma(alpha)
    expected = torch._standard_gamma_grad(alpha, x)
    got = torch._standard_gamma_grad(alpha.to("tpu"), x.to("tpu")).cpu()
    torch.testing.assert_close(got, expected, rtol=5e-3, atol=1e-5)


def logit_grid(at, *slopes):
    """From logit x down to where a density that falls with the smaller slope is gone."""
    return torch.logit(at) - torch.linspace(0, 1, 200_001, dtype=torch.float64) ** 3 * (60 / min(*slopes, 1.0) + 40)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_beta_derivative(dtype):
    """Against the trapezoid rule on a fine grid: the integral of Note [Derivatives of samples] below x. Where most of
    the distribution is below x its parts cancel, and it says nothing."""
    torch.manual_seed(2)
    some = torch.tensor([0.05, 0.3, 1.0, 2.5, 10.0, 150.0], dtype=torch.float64)
    alpha, beta = (t.reshape(-1).repeat_interleave(6) for t in torch.meshgrid(some, some, indexing="ij"))
    x = D.Beta(alpha, beta).sample().clamp(1e-6, 1 - 1e-6)
    alpha, beta, x = (t.to(dtype).double() for t in (alpha, beta, x))
    got = torch._dirichlet_grad(*(t.to("tpu", dtype) for t in (x, alpha, alpha + beta)))
    assert got.dtype == dtype
    compared = 0
    for a, b, at, value in zip(alpha, beta, x, got.cpu().double(), strict=True):
        y = logit_grid(at, float(a))
        log_t, log_rest = torch.nn.functional.logsigmoid(y), torch.nn.functional.logsigmoid(-y)
        g = torch.exp(a * (log_t - at.log()) + b * (log_rest - torch.log1p(-at)))
        parts = (log_t - torch.digamma(a) + torch.digamma(a + b)) * g
        expected, size = at * torch.trapezoid(parts, y), at * torch.trapezoid(parts.abs(), y)
        if expected.abs() > 0.03 * size.abs():
            assert abs(value - expected) < 2e-3 * abs(expected) + 1e-6, (a, b, at)
            compared += 1
    assert compared > 100


def test_beta_derivative_beside_the_cpu():
    """Of the CPU's approximation."""
    torch.manual_seed(3)
    alpha, beta = torch.rand(300) * 10 + 0.1, torch.rand(300) * 10 + 0.1
    x = D.Beta(alpha, beta).sample()
    expected = torch._dirichlet_grad(x, alpha, alpha + beta)
    got = torch._dirichlet_grad(*(t.to("tpu") for t in (x, alpha, alpha + beta))).cpu()
    torch.testing.assert_close(got, expected, rtol=2e-2, atol=1e-3)


# --------------------------------------------------------------------------------------------------- distributions


def parameter(*values):
    return torch.tensor(values, device="tpu", requires_grad=True)


REPARAMETRIZED = {
    "Gamma": (lambda a, b: D.Gamma(a, b), (2.0, 3.0), 2 / 3),
    "Beta": (lambda a, b: D.Beta(a, b), (2.0, 3.0), 2 / 5),
    "Chi2": (lambda a: D.Chi2(a), (5.0,), 5.0),
    "Dirichlet": (lambda a, b: D.Dirichlet(torch.stack([a, b], -1)), (2.0, 6.0), None),
    "StudentT": (lambda a: D.StudentT(a), (9.0,), 0.0),
    "FisherSnedecor": (lambda a, b: D.FisherSnedecor(a, b), (9.0, 12.0), 12 / 10),
}


@pytest.mark.parametrize("name", REPARAMETRIZED)
def test_reparametrized(name):
    make, values, mean = REPARAMETRIZED[name]
    torch.manual_seed(8)
    leaves = [parameter(value) for value in values]
    x = make(*leaves).rsample((20_000,))
    assert x.device.type == "tpu"
    got = torch.autograd.grad(x.mean() if mean is not None else x[..., 0].mean(), leaves)
    host = [torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in values]
    exact = make(*host).mean.sum() if mean is not None else make(*host).mean[..., 0].sum()
    exact = torch.autograd.grad(exact, host, allow_unused=True) if exact.requires_grad else [None] * len(host)
    for g, e in zip(got, exact, strict=True):  # the mean's derivative is the mean of the derivatives
        assert abs(g.item() - (0.0 if e is None else e.item())) < 0.02
    if mean is not None:
        assert abs(x.mean().item() - mean) < 0.1 * max(1, mean / 2)


def test_counting_distributions():
    torch.manual_seed(9)
    assert abs(D.Poisson(parameter(4.0)).sample((N,)).mean().item() - 4) < 0.05
    assert abs(D.Binomial(10, parameter(0.3).detach()).sample((N,)).mean().item() - 3) < 0.05
    assert abs(D.NegativeBinomial(5.0, parameter(0.4).detach()).sample((N,)).mean().item() - 10 / 3) < 0.1
