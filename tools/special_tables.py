"""Writes csrc/ops/special_tables.h: Chebyshev coefficients of the special functions, computed with mpmath.

Usage: python tools/special_tables.py > csrc/ops/special_tables.h   (some minutes)

Each table holds c[0], c[1], .. of f(x) = sum c[k] T_k(t), t in [-1, 1], to more digits than float64 keeps. The list at
the end says what f and t are; it is repeated beside each table, so that the lowering can be read without this file.
"""

from mpmath import mp, mpf

mp.dps = 50
NODES = 90
STOP = mpf(10) ** -18  # relative to the largest coefficient

sqrt, exp, log, pi = mp.sqrt, mp.exp, mp.log, mp.pi


def coefficients(f):
    nodes = [mp.cos(pi * (j + mpf(1) / 2) / NODES) for j in range(NODES)]
    values = [f(t) for t in nodes]
    series = []
    for k in range(NODES):
        total = sum(v * mp.cos(pi * k * (j + mpf(1) / 2) / NODES) for j, v in enumerate(values))
        series.append(total * (1 if k == 0 else 2) / NODES)
    largest = max(abs(c) for c in series)
    while abs(series[-1]) < largest * STOP:
        series.pop()
    assert len(series) < NODES - 4, "not converged"
    return series


def of_square(f, limit):
    """f as a function of x, t = 2 (x / limit)^2 - 1."""
    return lambda t: f(limit * sqrt((t + 1) / 2))


def of_inverse(f, start):
    """f as a function of x >= start, t = 2 start / x - 1."""
    return lambda t: f(2 * start / (t + 1))


def of_inverse_square(f, start):
    """f as a function of x >= start, t = 2 (start / x)^2 - 1."""
    return lambda t: f(start / sqrt((t + 1) / 2))


def hankel(order):
    """(P, Q) of J = sqrt(2 / (pi x)) (P cos c - Q sin c), Y = .. (P sin c + Q cos c), c = x - (2 order + 1) pi / 4."""

    def p(x):
        c = x - (2 * order + 1) * pi / 4
        return sqrt(pi * x / 2) * (mp.besselj(order, x) * mp.cos(c) + mp.bessely(order, x) * mp.sin(c))

    def q(x):
        c = x - (2 * order + 1) * pi / 4
        return sqrt(pi * x / 2) * (mp.bessely(order, x) * mp.cos(c) - mp.besselj(order, x) * mp.sin(c))

    return p, q


def zeta_of(x):
    return mpf(2) / 3 * mpf(x) ** mpf(1.5)


def airy_phase(z):
    zeta = zeta_of(z)
    angle = zeta - pi / 4
    scale = sqrt(pi) * z ** mpf(0.25)
    a, b = mp.airyai(-z), mp.airybi(-z)
    cosine, sine = mp.cos(angle), mp.sin(angle)
    return scale * (cosine * a - sine * b), scale * (sine * a + cosine * b) * zeta


def from_zeta(zeta):
    return (mpf(3) / 2 * zeta) ** (mpf(2) / 3)


def normal_quantile(log_p):
    """x > 0 with log Phi(-x) = log_p."""
    guess = sqrt(-2 * log_p) - log(sqrt(-2 * log_p)) / sqrt(-2 * log_p) - mpf(0.9) / sqrt(-2 * log_p)
    return mp.findroot(lambda x: log(mp.erfc(x / sqrt(2)) / 2) - log_p, guess)


def quantile_rest(s):
    """s (s - log(s) / s - x) for the quantile x of the probability exp(-s^2 / 2)."""
    return s * (s - log(s) / s - normal_quantile(-s * s / 2))


def quantile_slope(d):
    """x / d for the quantile x of 1/2 + d."""
    return sqrt(2) * mp.erfinv(2 * d) / d if d != 0 else sqrt(2 * pi)


j0_p, j0_q = hankel(0)
j1_p, j1_q = hankel(1)
CENTER = mpf(1) / 2 - mpf("0.135")

TABLES = [
    ("Arctangent", "atan(x) / x, 0 <= x <= 1, t = 2 x^2 - 1", of_square(lambda x: mp.atan(x) / x, 1)),
    ("I0Small", "exp(-x) I0(x), 0 <= x <= 8, t = x / 4 - 1", lambda t: exp(-4 * (t + 1)) * mp.besseli(0, 4 * (t + 1))),
    (
        "I0Large",
        "sqrt(x) exp(-x) I0(x), x >= 8, t = 16 / x - 1",
        of_inverse(lambda x: sqrt(x) * exp(-x) * mp.besseli(0, x), 8),
    ),
    (
        "I1Small",
        "exp(-x) I1(x) / x, 0 <= x <= 8, t = x / 4 - 1",
        lambda t: exp(-4 * (t + 1)) * mp.besseli(1, 4 * (t + 1)) / (4 * (t + 1)),
    ),
    (
        "I1Large",
        "sqrt(x) exp(-x) I1(x), x >= 8, t = 16 / x - 1",
        of_inverse(lambda x: sqrt(x) * exp(-x) * mp.besseli(1, x), 8),
    ),
    (
        "K0Small",
        "K0(x) + log(x / 2) I0(x), 0 < x <= 2, t = x^2 / 2 - 1",
        of_square(lambda x: mp.besselk(0, x) + log(x / 2) * mp.besseli(0, x), 2),
    ),
    (
        "K0Large",
        "sqrt(x) exp(x) K0(x), x >= 2, t = 4 / x - 1",
        of_inverse(lambda x: sqrt(x) * exp(x) * mp.besselk(0, x), 2),
    ),
    (
        "K1Small",
        "x (K1(x) - log(x / 2) I1(x)), 0 < x <= 2, t = x^2 / 2 - 1",
        of_square(lambda x: x * (mp.besselk(1, x) - log(x / 2) * mp.besseli(1, x)), 2),
    ),
    (
        "K1Large",
        "sqrt(x) exp(x) K1(x), x >= 2, t = 4 / x - 1",
        of_inverse(lambda x: sqrt(x) * exp(x) * mp.besselk(1, x), 2),
    ),
    ("J0Small", "J0(x), 0 <= x <= 8, t = x^2 / 32 - 1", of_square(lambda x: mp.besselj(0, x), 8)),
    (
        "Y0Small",
        "Y0(x) - 2 / pi log(x) J0(x), 0 < x <= 8, t = x^2 / 32 - 1",
        of_square(lambda x: mp.bessely(0, x) - 2 / pi * log(x) * mp.besselj(0, x), 8),
    ),
    ("J0P", "P of order 0, x >= 8, t = 128 / x^2 - 1", of_inverse_square(j0_p, 8)),
    ("J0Q", "x Q of order 0, x >= 8, t = 128 / x^2 - 1", of_inverse_square(lambda x: x * j0_q(x), 8)),
    ("J1Small", "J1(x) / x, 0 <= x <= 8, t = x^2 / 32 - 1", of_square(lambda x: mp.besselj(1, x) / x, 8)),
    (
        "Y1Small",
        "(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, 0 < x <= 8, t = x^2 / 32 - 1",
        of_square(lambda x: (mp.bessely(1, x) - 2 / pi * (log(x) * mp.besselj(1, x) - 1 / x)) / x, 8),
    ),
    ("J1P", "P of order 1, x >= 8, t = 128 / x^2 - 1", of_inverse_square(j1_p, 8)),
    ("J1Q", "x Q of order 1, x >= 8, t = 128 / x^2 - 1", of_inverse_square(lambda x: x * j1_q(x), 8)),
    ("AiryMiddle", "Ai(x), -5 <= x <= 2, t = (2 x + 3) / 7", lambda t: mp.airyai((7 * t - 3) / 2)),
    (
        "AiryRight",
        "2 sqrt(pi) x^(1/4) exp(z) Ai(x), z = 2/3 x^(3/2), x >= 2, t = 2 z(2) / z - 1",
        of_inverse(lambda z: 2 * sqrt(pi) * from_zeta(z) ** mpf(0.25) * exp(z) * mp.airyai(from_zeta(z)), zeta_of(2)),
    ),
    (
        "AiryLeftU",
        "U of Ai(-x) = (U cos a + V sin a) / (sqrt(pi) x^(1/4)), a = z - pi / 4, x >= 5, t = 2 (z(5) / z)^2 - 1",
        of_inverse_square(lambda z: airy_phase(from_zeta(z))[0], zeta_of(5)),
    ),
    ("AiryLeftV", "z V of the same", of_inverse_square(lambda z: airy_phase(from_zeta(z))[1], zeta_of(5))),
    (
        "Erfcx",
        "(1 + 2 x) exp(x^2) erfc(x), x >= 0, t = (x - 3.75) / (x + 3.75)",
        lambda t: (lambda x: (1 + 2 * x) * exp(x * x) * mp.erfc(x))(mpf(3.75) * (1 + t) / (1 - t)),
    ),
    (
        "QuantileCenter",
        "x / d with Phi(x) = 1/2 + d, |d| <= 0.365, t = 2 (d / 0.365)^2 - 1",
        of_square(quantile_slope, CENTER),
    ),
    (
        "QuantileTail",
        "s (s - log(s) / s - x) with Phi(-x) = exp(-s^2 / 2), 2 <= s <= 8, t = (16 / s - 5) / 3",
        lambda t: quantile_rest(16 / (3 * t + 5)),
    ),
    ("QuantileFar", "the same, 8 <= s <= 40, t = 20 / s - 1.5", lambda t: quantile_rest(20 / (t + mpf(1.5)))),
]

HEAD = """// Chebyshev coefficients of the special functions: f(x) = sum c[k] T_k(t).
// Computed by tools/special_tables.py; not to be edited.
#pragma once

namespace tpu::ops::tables {
"""

if __name__ == "__main__":
    print(HEAD)
    for name, text, f in TABLES:
        series = coefficients(f)
        print(f"/// {text}")
        print(f"inline constexpr double k{name}[] = {{")
        numbers = [repr(float(c)) for c in series]
        for i in range(0, len(numbers), 4):
            print("    " + ", ".join(numbers[i : i + 4]) + ",")
        print("};\n", flush=True)
    print("}  // namespace tpu::ops::tables")
