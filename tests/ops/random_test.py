"""Family random: distributions by moments and Kolmogorov-Smirnov distance, ranges, streams, and errors."""

import math

import pytest
import torch
from oracle import outcome

N = 200_000
LIMIT = 1.95 / math.sqrt(N)  # of the Kolmogorov-Smirnov distance at level 0.001; the seed is fixed


def normal_cdf(x):
    return torch.special.ndtr(x)


def drawn(fill, dtype=torch.float32, n=N):
    torch.manual_seed(1234)
    return fill(torch.empty(n, dtype=dtype, device="tpu")).cpu()


CONTINUOUS = {
    "uniform": (lambda t: t.uniform_(), lambda x: x.clamp(0, 1)),
    "uniform(-3, 5)": (lambda t: t.uniform_(-3, 5), lambda x: ((x + 3) / 8).clamp(0, 1)),
    "normal": (lambda t: t.normal_(), normal_cdf),
    "normal(2, 3)": (lambda t: t.normal_(2, 3), lambda x: normal_cdf((x - 2) / 3)),
    "exponential": (lambda t: t.exponential_(), lambda x: -torch.expm1(-x)),
    "exponential(2.5)": (lambda t: t.exponential_(2.5), lambda x: -torch.expm1(-2.5 * x)),
    "cauchy(1, 2)": (lambda t: t.cauchy_(1, 2), lambda x: 0.5 + torch.atan((x - 1) / 2) / math.pi),
    "log_normal(0.5, 0.7)": (lambda t: t.log_normal_(0.5, 0.7), lambda x: normal_cdf((x.log() - 0.5) / 0.7)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype):
    fill, cdf = CONTINUOUS[name]
    x = drawn(fill, dtype).double().sort().values
    assert x.isfinite().all()
    empirical = torch.arange(N + 1, dtype=torch.float64) / N
    p = cdf(x)
    distance = torch.maximum((p - empirical[:-1]).abs().max(), (p - empirical[1:]).abs().max())
    assert distance < LIMIT


# Halves are coarse, so that mean and standard deviation are compared instead.
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("fill", "mean", "std"),
    [
        (lambda t: t.uniform_(), 0.5, 12**-0.5),
        (lambda t: t.normal_(), 0, 1),
        (lambda t: t.normal_(-1, 0.5), -1, 0.5),
        (lambda t: t.exponential_(2), 0.5, 0.5),
    ],
)
def test_halves(fill, mean, std, dtype):
    x = drawn(fill, dtype).double()
    step = torch.finfo(dtype).eps  # uniform_ draws multiples of it from below, as the CPU does
    assert abs(x.mean() - mean) < 5 * std / math.sqrt(N) + step
    assert abs(x.std() - std) < 0.01 * std + step


def test_independence():
    x = drawn(lambda t: t.normal_()).double()
    for lag in (1, 2, 3, 4, 7, 512):
        assert abs((x[lag:] * x[:-lag]).mean()) < 5 / math.sqrt(N)
    y = drawn(lambda t: t.uniform_()).double()
    cells = torch.bincount((y[0::2] * 8).long() * 8 + (y[1::2] * 8).long(), minlength=64).double()
    chi2 = ((cells - N / 128) ** 2 / (N / 128)).sum()
    assert chi2 < 63 + 5 * math.sqrt(2 * 63)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (1000, 1001), (2, 2)])
def test_uniform_excludes_its_upper_bound(bounds, dtype):
    x = drawn(lambda t: t.uniform_(*bounds), dtype).double()
    assert (x >= bounds[0]).all()
    assert (x < bounds[1]).all() or bounds[0] == bounds[1]


def test_positive_draws_stay_positive():
    assert (drawn(lambda t: t.exponential_()) > 0).all()
    assert (drawn(lambda t: t.geometric_(0.9)) >= 1).all()


DISCRETE = {
    "bernoulli(0.3)": (lambda t: t.bernoulli_(0.3), 0.3, math.sqrt(0.21)),
    "bernoulli(tensor)": (lambda t: t.bernoulli_(torch.tensor([0.2], device="tpu")), 0.2, 0.4),
    "geometric(0.25)": (lambda t: t.geometric_(0.25), 4, math.sqrt(0.75) / 0.25),
    "random(10)": (lambda t: t.random_(10), 4.5, math.sqrt(99 / 12)),
    "random(-5, 20)": (lambda t: t.random_(-5, 20), 7, math.sqrt(624 / 12)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.int32, torch.int8, torch.float64], ids=str)
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name, dtype):
    fill, mean, std = DISCRETE[name]
    x = drawn(fill, dtype).double()
    assert abs(x.mean() - mean) < 5 * std / math.sqrt(N)
    assert abs(x.std() - std) < 0.02 * std


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_coins(p):
    assert (drawn(lambda t: t.bernoulli_(p)) == p).all()
    assert (torch.bernoulli(torch.full((1000,), p, device="tpu")).cpu() == p).all()


@pytest.mark.parametrize(
    "dtype",
    [
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.bfloat16,
        torch.float32,
        torch.float64,
    ],
    ids=str,
)
def test_random_covers_the_range_of_its_dtype(dtype):
    x = drawn(lambda t: t.random_(), dtype).double()
    tops = {torch.bool: 1, torch.bfloat16: 2**8, torch.float32: 2**24, torch.float64: 2**53}
    top = tops.get(dtype) or torch.iinfo(dtype).max
    assert x.min() >= 0
    assert x.max() <= top
    assert abs(x.mean() / top - 0.5) < 0.01
    assert x.max() > 0.99 * top


def test_random_in_wide_ranges():
    wide = drawn(lambda t: t.random_(-(2**62), 2**62), torch.int64)
    assert abs(wide.double().mean()) < 2**62 * 0.01
    full = drawn(lambda t: t.random_(-(2**63), None), torch.int64)
    assert full.min() < -(2**62)
    assert full.max() > 2**62
    middling = drawn(lambda t: t.random_(0, 3 * 2**32), torch.int64).double()
    assert abs(middling.mean() / (3 * 2**32) - 0.5) < 0.01


def test_other_bounds_are_no_other_program():
    x = torch.empty(1000, dtype=torch.int64, device="tpu")
    x.random_(3, 7)  # into a tensor that holds nothing yet, as torch.randint does
    x.random_(3, 7)
    before = torch.tpu.cache_stats()["misses"]
    for bounds in ((0, 2), (-(2**40), 5), (10,), (1, 2**50), (-9, None), (-(2**63), 2**63 - 1)):
        x.random_(*bounds)
        low, high = (0, *bounds)[-2:]
        assert x.min().item() >= low
        assert high is None or x.max().item() < high
    x.random_(1, 5), x.random_(2)
    torch.randint(4, 9, (1000,), device="tpu")
    used = torch.tpu.cache_stats()["misses"] - before
    assert used <= 2  # the minimum and the maximum


def test_integers_are_even():
    """Chi-square of ranges that are no power of two, and the ends of a wide one."""
    for high in (10, 1000):
        counts = torch.bincount(drawn(lambda t: t.random_(high), torch.int64), minlength=high).double()  # noqa: B023
        assert len(counts) == high
        chi2 = ((counts - N / high) ** 2 / (N / high)).sum()
        assert chi2 < high + 5 * math.sqrt(2 * high)


def test_normal_with_tensors():
    torch.manual_seed(0)
    mean = torch.tensor([[0.0], [100.0]], device="tpu").expand(2, N // 2)
    std = torch.tensor([1.0, 3.0], device="tpu").repeat(N // 4)
    for x in (torch.normal(mean, std), torch.normal(mean, 1.0), torch.normal(2.0, std)):
        assert x.dtype == torch.float32
    x = torch.normal(mean, std).cpu()
    assert abs(x[1].mean() - 100) < 0.05
    assert abs(x[0, 1::2].std() - 3) < 0.05
    z = torch.randn(N, dtype=torch.complex64, device="tpu").cpu()
    assert abs(z.real.std() - 0.5**0.5) < 0.01
    assert abs((z.abs() ** 2).mean() - 1) < 0.02


def test_dropout():
    torch.manual_seed(0)
    x = torch.full((N,), 2.0, device="tpu", requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    kept = (y != 0).cpu()
    assert abs(kept.double().mean() - 0.75) < 0.01
    torch.testing.assert_close(y.detach().cpu()[kept], torch.full((int(kept.sum()),), 2 / 0.75))
    y.sum().backward()
    torch.testing.assert_close(x.grad.cpu(), torch.where(kept, 1 / 0.75, 0.0))
    assert torch.equal(torch.nn.functional.dropout(x, 0.25, training=False), x)
    assert (torch.nn.functional.dropout(x, 1.0) == 0).all()


@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial(replacement):
    torch.manual_seed(0)
    weights = torch.tensor([[1.0, 0.0, 3.0, 6.0], [5.0, 5.0, 0.0, 10.0]], device="tpu")
    draws = torch.multinomial(weights.repeat(2000, 1), 3, replacement=replacement).cpu()
    assert draws.dtype == torch.int64
    assert draws.shape == (4000, 3)
    for row in range(2):
        mine = draws[row::2]
        if not replacement:
            assert (mine.sort(-1).values.diff(dim=-1) > 0).all()
        expected = weights[row].cpu() / weights[row].sum().cpu()
        first = torch.bincount(mine[:, 0], minlength=4) / len(mine)
        torch.testing.assert_close(first, expected, atol=0.05, rtol=0)
        assert first[expected == 0].sum() == 0
    single = torch.multinomial(torch.tensor([0.0, 0.0, 1.0], device="tpu"), 1)
    assert single.tolist() == [2]


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 70_000])
def test_randperm(n):
    torch.manual_seed(0)
    x = torch.randperm(n, device="tpu").cpu()
    assert torch.equal(x.sort().values, torch.arange(n))
    if n >= 1000:
        assert not torch.equal(x, torch.arange(n))
        assert abs(x[: n // 2].double().mean() / n - 0.5) < 0.05
    assert torch.randperm(5, dtype=torch.int32, device="tpu").dtype == torch.int32


def test_known_answer():
    """Philox4x32-10 with key and counter 0 (kat_vectors of Random123)."""
    torch.manual_seed(0)
    assert torch.empty(1, dtype=torch.int32, device="tpu").random_().item() == 0x6627E8D5 >> 1
    torch.manual_seed(0)
    assert torch.empty((), dtype=torch.int64, device="tpu").random_().item() == 0xE169C58D6627E8D5 >> 1


def test_an_element_does_not_depend_on_the_size():
    torch.manual_seed(3)
    small = torch.randn(5, device="tpu")
    torch.manual_seed(3)
    assert torch.equal(torch.randn(7, 11, device="tpu").flatten()[:5], small)


def test_streams():
    torch.manual_seed(7)
    a = torch.rand(10, device="tpu"), torch.randn(3, device="tpu")
    torch.manual_seed(7)
    b = torch.rand(10, device="tpu"), torch.randn(3, device="tpu")
    assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
    assert not torch.equal(torch.rand(10, device="tpu"), a[0])
    generator = torch.Generator(device="tpu").manual_seed(7)
    assert torch.equal(torch.rand(10, device="tpu", generator=generator), a[0])


ERRORS = {
    "normal": lambda t: t.normal_(0, -1),
    "uniform": lambda t: t.uniform_(1, 0),
    "bernoulli": lambda t: t.bernoulli_(1.5),
    "exponential": lambda t: t.exponential_(0),
    "cauchy": lambda t: t.cauchy_(0, 0),
    "log_normal": lambda t: t.log_normal_(0, 0),
    "geometric": lambda t: t.geometric_(1),
    "random": lambda t: t.random_(3, 3),
    "random of a number that the dtype has not": lambda t: t.to(torch.int8).random_(0, 300),
    "uniform of integers": lambda t: t.long().uniform_(),
    "normal of integers": lambda t: t.long().normal_(),
    "multinomial": lambda t: torch.multinomial(t - 1, 1),
    "multinomial of zeros": lambda t: torch.multinomial(t * 0, 1),
    "multinomial without replacement": lambda t: torch.multinomial(t, 9),
    "normal of tensors": lambda t: torch.normal(t, -t),
    "bernoulli of tensors": lambda t: torch.bernoulli(t * 2),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    expected = outcome(ERRORS[name], [torch.ones(4)], "cpu")
    got = outcome(ERRORS[name], [torch.ones(4)], "tpu")
    assert isinstance(expected, Exception)
    assert type(got) is type(expected)
    assert str(got)[:12] == str(expected)[:12]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_shapes(shape):
    for x in (
        torch.rand(shape, device="tpu"),
        torch.randn(shape, device="tpu", dtype=torch.float64),
        torch.randint(5, shape, device="tpu"),
        torch.bernoulli(torch.rand(shape, device="tpu")),
    ):
        assert x.shape == shape
        assert x.cpu().shape == shape
