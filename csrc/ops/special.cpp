// Family special: Bessel, Airy, error, gamma and zeta functions and orthogonal polynomials. What goes in: one or two
// tensors of floats. Expansions are Chebyshev sums (special_tables.h) on pieces of the axis; DLMF is
// https://dlmf.nist.gov.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "ops/elementwise.h"
#include "ops/special_tables.h"

namespace tpu::ops {

namespace {

using hlo::like;
using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------- shared moves

constexpr const char* kX = "x";
constexpr const char* kN = "n";
constexpr int64_t kMostTerms = 20000;  // of a loop: more than the incomplete gamma functions need up to a = 1e6

/// scale * x + offset
Value line(const Value& x, double scale, double offset) { return x * like(x, scale) + like(x, offset); }
/// scale / x + offset
Value over(double scale, const Value& x, double offset) { return like(x, scale) / x + like(x, offset); }
Value at_most(const Value& x, double limit) { return hlo::le(x, like(x, limit)); }
Value below(const Value& x, double limit) { return hlo::lt(x, like(x, limit)); }
Value equals(const Value& x, double value) { return hlo::eq(x, like(x, value)); }
Value both(const Value& a, const Value& b) { return hlo::and_(a, b); }
Value either(const Value& a, const Value& b) { return hlo::or_(a, b); }
Value fourth_root(const Value& x) { return hlo::sqrt(hlo::sqrt(x)); }
/// `x` where the condition holds, a constant elsewhere, and the reverse.
Value otherwise(const Value& condition, const Value& x, double constant) {
  return hlo::select(condition, x, like(x, constant));
}
Value except(const Value& condition, double constant, const Value& x) {
  return hlo::select(condition, like(x, constant), x);
}

// ------------------------------------------------------------------------------- modified Bessel functions, DLMF 10.25

/// exp(-|x|) I(x), order 0; order 1 without its sign.
Value scaled_i0_of(const Value& size) {
  return hlo::select(at_most(size, 8), chebyshev(line(size, 0.25, -1), tables::kI0Small),
                     chebyshev(over(16, size, -1), tables::kI0Large) * hlo::rsqrt(size));
}
Value scaled_i1_of(const Value& size) {
  return hlo::select(at_most(size, 8), size * chebyshev(line(size, 0.25, -1), tables::kI1Small),
                     chebyshev(over(16, size, -1), tables::kI1Large) * hlo::rsqrt(size));
}

Value i0e(const Value& x) { return scaled_i0_of(hlo::abs(x)); }
Value i0(const Value& x) {
  Value size = hlo::abs(x);
  return hlo::exponential(size) * scaled_i0_of(size);
}
// Odd: the sign of x, NaN and zero included, comes back by copying it.
Value i1e(const Value& x) { return copy_sign(scaled_i1_of(hlo::abs(x)), x); }
Value i1(const Value& x) {
  Value size = hlo::abs(x);
  return copy_sign(hlo::exponential(size) * scaled_i1_of(size), x);
}

/// Infinite at 0, NaN below.
Value on_positive(const Value& x, const Value& value) {
  return except(equals(x, 0), HUGE_VAL, except(below(x, 0), NAN, value));
}

/// K of order 0 or 1, times exp(x) where `scaled`.
template <int order, bool scaled>
Value modified_k(const Value& x) {
  // Near 0: K0 = s - log(x / 2) I0 and K1 = s / x + log(x / 2) I1, s smooth in x^2.
  Value grown = hlo::exponential(x), logarithm = hlo::log(line(x, 0.5, 0));
  Value square = line(x * x, 0.5, -1);
  Value near = order == 0 ? chebyshev(square, tables::kK0Small) - logarithm * grown * scaled_i0_of(x)
                          : chebyshev(square, tables::kK1Small) / x + logarithm * grown * scaled_i1_of(x);
  Value far = hlo::rsqrt(x) *
              (order == 0 ? chebyshev(over(4, x, -1), tables::kK0Large) : chebyshev(over(4, x, -1), tables::kK1Large));
  if (scaled)
    near = near * grown;
  else
    far = far * hlo::exponential(hlo::negate(x));
  return on_positive(x, hlo::select(at_most(x, 2), near, far));
}

// ------------------------------------------------------------------------------------------ Bessel functions,
// DLMF 10.2

/// cos and sin of x - pi / 4, times sqrt(2): without the rounding of the difference.
struct Phase {
  Value cosine, sine;
};
Phase turned_back(const Value& x) {
  Value cosine = hlo::cosine(x), sine = hlo::sine(x);
  return {cosine + sine, sine - cosine};
}

/// Hankel's form for x >= 8: J0 = sqrt(2 / (pi x)) (P cos a - Q sin a), Y0 = .. (P sin a + Q cos a), a = x - pi / 4;
/// order 1 is turned back by another quarter.
Value hankel(const Value& x, int order, bool second_kind) {
  Phase a = turned_back(x);
  if (order == 1) a = {a.sine, hlo::negate(a.cosine)};
  Value t = over(128, x * x, -1);
  Value p = chebyshev(t, order == 0 ? std::span<const double>(tables::kJ0P) : tables::kJ1P);
  Value q = chebyshev(t, order == 0 ? std::span<const double>(tables::kJ0Q) : tables::kJ1Q) / x;
  Value wave = second_kind ? p * a.sine + q * a.cosine : p * a.cosine - q * a.sine;
  return wave * hlo::rsqrt(line(x, std::numbers::pi, 0));
}

Value square_of_eighth(const Value& x) { return line(x * x, 1.0 / 32, -1); }

Value bessel_j0(const Value& x) {
  Value size = hlo::abs(x);
  return hlo::select(at_most(size, 8), chebyshev(square_of_eighth(x), tables::kJ0Small), hankel(size, 0, false));
}
Value bessel_j1(const Value& x) {
  Value size = hlo::abs(x);
  Value far = hankel(size, 1, false);
  return hlo::select(at_most(size, 8), x * chebyshev(square_of_eighth(x), tables::kJ1Small),
                     hlo::select(below(x, 0), hlo::negate(far), far));
}

/// Negative infinity at 0, NaN below.
Value on_positive_second_kind(const Value& x, const Value& value) {
  return except(equals(x, 0), -HUGE_VAL, except(below(x, 0), NAN, value));
}
constexpr double kTwoOverPi = 2 / std::numbers::pi;

Value bessel_y0(const Value& x) {
  Value small = chebyshev(square_of_eighth(x), tables::kY0Small) +
                line(hlo::log(x) * chebyshev(square_of_eighth(x), tables::kJ0Small), kTwoOverPi, 0);
  return on_positive_second_kind(x, hlo::select(at_most(x, 8), small, hankel(x, 0, true)));
}
Value bessel_y1(const Value& x) {
  Value j1 = x * chebyshev(square_of_eighth(x), tables::kJ1Small);
  Value small =
      x * chebyshev(square_of_eighth(x), tables::kY1Small) + line(hlo::log(x) * j1 - reciprocal(x), kTwoOverPi, 0);
  return on_positive_second_kind(x, hlo::select(at_most(x, 8), small, hankel(x, 1, true)));
}

/// sin(x) / x, by its series where that is better; 0 at infinity.
Value spherical_bessel_j0(const Value& x) {
  Value series =
      polynomial(x * x, {1, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800});
  Value size = hlo::abs(x);
  Value value = hlo::select(below(size, 0.5), series, hlo::sine(x) / x);
  return except(equals(size, HUGE_VAL), 0, value);
}

// ---------------------------------------------------------------------------------------------- Airy function,
// DLMF 9.7

Value airy_ai(const Value& x) {
  const double root_pi = std::sqrt(std::numbers::pi);
  auto zeta_at = [](double x) { return 2.0 / 3 * x * std::sqrt(x); };
  Value size = hlo::abs(x);
  Value zeta = line(size * hlo::sqrt(size), 2.0 / 3, 0), root = fourth_root(size);
  // Right of 2 it decays as exp(-zeta).
  Value right = hlo::exponential(hlo::negate(zeta)) * chebyshev(over(2 * zeta_at(2), zeta, -1), tables::kAiryRight) /
                line(root, 2 * root_pi, 0);
  // Left of -5 it swings with the angle zeta - pi / 4.
  Phase a = turned_back(zeta);
  Value t = over(2 * zeta_at(5) * zeta_at(5), zeta * zeta, -1);
  Value wave = chebyshev(t, tables::kAiryLeftU) * a.cosine + chebyshev(t, tables::kAiryLeftV) / zeta * a.sine;
  Value left = wave / line(root, std::numbers::sqrt2 * root_pi, 0);
  Value middle = chebyshev(line(x, 2.0 / 7, 3.0 / 7), tables::kAiryMiddle);
  Value value = hlo::select(below(x, -5), left, hlo::select(at_most(x, 2), middle, right));
  return except(equals(size, HUGE_VAL), NAN, value);  // as PyTorch, though the limits are 0
}

// --------------------------------------------------------------------------------------------------- error functions

/// exp(x^2) with x^2 split so that the square's rounding does not grow in the exponential.
Value exponential_of_square(const Value& x) {
  bool wide = x.element() == ElementType::F64;
  Value high = hlo::reduce_precision(x, wide ? 11 : 8, wide ? 25 : 11);
  return hlo::exponential(high * high) * hlo::exponential((x - high) * (x + high));
}

/// exp(x^2) erfc(x); left of 0 by erfc(-x) = 2 - erfc(x).
Value erfcx(const Value& x) {
  Value size = hlo::abs(x);
  Value t = like(x, 1) - like(x, 7.5) / (size + like(x, 3.75));
  Value right = chebyshev(t, tables::kErfcx) / line(size, 2, 1);
  Value twice = exponential_of_square(x);
  return hlo::select(below(x, 0), except(below(x, -30), HUGE_VAL, twice + twice - right), right);
}

/// log of the normal distribution function.
Value log_ndtr(const Value& x) {
  Value scaled = line(x, std::numbers::sqrt2 / 2, 0);
  Value left = hlo::log(line(erfcx(hlo::negate(scaled)), 0.5, 0)) - scaled * scaled;
  return hlo::select(below(x, -1), left, log1p(line(hlo::erfc(scaled), -0.5, 0)));
}

/// The quantile of the normal distribution; in the tails as a function of s = sqrt(-2 log p).
Value ndtri(const Value& p) {
  Value distance = line(p, 1, -0.5), one = like(p, 1);
  Value t = distance * like(p, 1 / 0.365);
  Value center = distance * chebyshev(line(t * t, 2, -1), tables::kQuantileCenter);
  Value left = below(p, 0.5);
  Value log_p = hlo::log(hlo::select(left, p, one - p));
  Value s = hlo::sqrt(line(log_p, -2, 0));
  Value rest = hlo::select(at_most(s, 8), chebyshev(over(16.0 / 3, s, -5.0 / 3), tables::kQuantileTail),
                           chebyshev(over(20, s, -1.5), tables::kQuantileFar));
  Value tail = s - (hlo::log(s) + rest) / s;
  Value value = hlo::select(at_most(hlo::abs(distance), 0.365), center, hlo::select(left, hlo::negate(tail), tail));
  value = except(equals(p, 0), -HUGE_VAL, except(equals(p, 1), HUGE_VAL, value));
  return except(either(below(p, 0), hlo::gt(p, one)), NAN, value);
}

/// -x log(x), 0 at 0, negative infinity below.
Value entropy(const Value& x) {
  Value value =
      hlo::select(hlo::gt(x, zeros_like(x)), hlo::negate(x) * hlo::log(x), except(equals(x, 0), 0, like(x, -HUGE_VAL)));
  return hlo::select(is_nan(x), x, value);
}

// --------------------------------------------------------------------------------------------- gamma and zeta
// functions

/// A pole at zero takes the sign of zero, the other poles are NaN.
Value digamma(const Value& x) {
  return hlo::select(equals(x, 0), copy_sign(like(x, HUGE_VAL), hlo::negate(x)), hlo::digamma(x));
}

/// Whether any element is true, as a 0-d value.
Value any(const Value& x) { return hlo::reduce(x, all_dims(x), hlo::Reducer::Or); }

/// Hurwitz's zeta(s, q) = sum over k of (q + k)^-s. chlo.zeta is right for q > 0; terms left of that are added one by
/// one here (their powers are real only for whole s), and at q = 0, -1, .. there is a pole.
Value hurwitz_zeta(const Value& s, const Value& q) {
  Value pole = both(at_most(q, 0), hlo::eq(q, hlo::floor(q)));
  Value adding = both(below(q, 0), both(hlo::not_(pole), hlo::eq(s, hlo::floor(s))));
  auto unfinished = [](const Values& v) -> Values {
    return {both(any(below(v[1], 0)), hlo::lt(v[0], like(v[0], kMostTerms)))};
  };
  auto step = [](const Values& v) -> Values {
    Value left = below(v[1], 0);
    Value term = hlo::power(v[1], hlo::negate(v[3]));
    return {v[0] + like(v[0], 1), hlo::select(left, line(v[1], 1, 1), v[1]), hlo::select(left, v[2] + term, v[2]),
            v[3]};
  };
  Value count = hlo::constant(*q.builder, ElementType::S64, 0);
  Values done = hlo::while_({count, otherwise(adding, q, 1), zeros_like(q), s}, unfinished, step);
  Value value = hlo::select(adding, done[2] + hlo::zeta(s, done[1]), hlo::zeta(s, q));
  value = except(pole, HUGE_VAL, value);
  return except(equals(s, 1), HUGE_VAL, except(below(s, 1), NAN, value));
}

/// pi^2 / sin^2(pi x) - trigamma(1 - x) on the left, DLMF 5.15.6.
Value trigamma(const Value& x) {
  Value left = below(x, 0.5), two = like(x, 2);
  Value right = hlo::zeta(two, hlo::select(left, line(x, -1, 1), x));
  Value reflected = like(x, std::numbers::pi) / hlo::sine(line(x, std::numbers::pi, 0));
  return hlo::select(left, reflected * reflected - right, right);
}

/// The n-th derivative of digamma is (-1)^(n + 1) n! zeta(n + 1, x), DLMF 5.15.1 and 25.11.12.
Values polygamma(Context& c) {
  int64_t n = c.integer("n");
  c.expect(n >= 0, ErrorCode::InvalidArgument, "polygamma(n, x) does not support negative n.");
  if (n == 0) return floating<digamma, kReal>(c);
  ElementType type = to_floating(c, c.type("self").element);
  expect_kind(c, type, kReal);
  Value x = operand(c, "self", type);
  double factor = n % 2 == 0 ? -1 : 1;
  for (int64_t k = 2; k <= std::min<int64_t>(n, 171); ++k) factor *= static_cast<double>(k);
  Value value = n == 1 ? trigamma(x) : like(x, factor) * hurwitz_zeta(like(x, n + 1), x);
  return {hlo::convert(value, type)};
}

constexpr double kPrecision = 0x1p-53;

/// sum over n of x^n / ((a + 1) .. (a + n)), DLMF 8.7.1; meant for x < a + 1.
Value lower_series(const Value& a, const Value& x) {
  Value zero = hlo::constant(*a.builder, ElementType::S64, 0);
  auto unfinished = [](const Values& v) -> Values {
    Value large = hlo::gt(v[1], line(v[2], kPrecision, 0));
    return {both(any(large), hlo::lt(v[0], like(v[0], kMostTerms)))};
  };
  auto step = [](const Values& v) -> Values {
    Value count = v[0] + like(v[0], 1);
    Value term = v[1] * v[4] / (v[3] + hlo::broadcast(hlo::convert(count, v[1].element()), v[1].dims()));
    return {count, term, v[2] + term, v[3], v[4]};
  };
  return hlo::while_({zero, like(a, 1), like(a, 1), a, x}, unfinished, step)[2];
}

/// The continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ..)), DLMF 8.9.2, by Lentz's method as in Thompson
/// and Barnett, Coulomb and Bessel functions of complex arguments and order, 1986; meant for x >= a + 1.
Value upper_fraction(const Value& a, const Value& x) {
  Value zero = hlo::constant(*a.builder, ElementType::S64, 0);
  Value start = reciprocal(x + like(x, 1) - a);
  auto unfinished = [](const Values& v) -> Values {
    Value far = hlo::gt(hlo::abs(line(v[4], 1, -1)), like(v[4], 4 * kPrecision));
    return {both(any(far), hlo::lt(v[0], like(v[0], kMostTerms)))};
  };
  auto step = [](const Values& v) -> Values {
    auto [c, d, value, a, x] = std::tie(v[1], v[2], v[3], v[5], v[6]);
    Value count = v[0] + like(v[0], 1);
    Value i = hlo::broadcast(hlo::convert(count, c.element()), c.dims());
    Value numerator = i * (a - i), denominator = x + like(x, 1) - a + i + i;
    Value new_c = denominator + numerator / c;
    Value new_d = reciprocal(denominator + numerator * d);
    Value change = new_c * new_d;
    return {count, new_c, new_d, value * change, change, a, x};
  };
  // The first c is infinite; the change starts away from 1.
  return hlo::while_({zero, like(a, 1e300), start, start, zeros_like(a), a, x}, unfinished, step)[3];
}

/// x^a e^-x / Gamma(a + 1); for large a by Stirling's series, DLMF 5.11.1, so that the large logarithms cancel before
/// they round.
Value gamma_density(const Value& a, const Value& x) {
  Value direct = hlo::exponential(a * hlo::log(x) - x - hlo::lgamma(line(a, 1, 1)));
  Value inverse = reciprocal(a);
  Value correction =
      inverse * polynomial(inverse * inverse, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188});
  Value exponent = a * log1p((x - a) / a) - (x - a) - correction;
  Value stirling = hlo::exponential(exponent) * hlo::rsqrt(line(a, 2 * std::numbers::pi, 0));
  return hlo::select(below(a, 20), direct, stirling);
}

/// The regularized incomplete gamma functions P (lower) and Q = 1 - P, in float64 whatever the type.
template <bool upper>
Value incomplete_gamma(const Value& a_given, const Value& x_given) {
  Value a = hlo::convert(a_given, ElementType::F64), x = hlo::convert(x_given, ElementType::F64);
  Value infinite_a = equals(a, HUGE_VAL), infinite_x = equals(x, HUGE_VAL), zero_a = equals(a, 0),
        zero_x = equals(x, 0);
  Value negative = either(below(a, 0), below(x, 0));
  Value special = either(either(negative, either(infinite_a, infinite_x)), either(zero_a, zero_x));

  Value by_series = hlo::lt(x, line(a, 1, 1));
  Value density = gamma_density(a, x);
  // Elements of the other branch get arguments at which a loop is done at once.
  Value in_series = both(by_series, hlo::not_(special)), in_fraction = hlo::not_(either(by_series, special));
  Value p = density * lower_series(otherwise(in_series, a, 1), otherwise(in_series, x, 0));
  Value q = density * a * upper_fraction(otherwise(in_fraction, a, 1), otherwise(in_fraction, x, 2));
  Value one = like(a, 1);
  Value value = upper ? hlo::select(by_series, one - p, q) : hlo::select(by_series, p, one - q);

  // All of the mass lies above x for x = 0 and infinite a, below it for infinite x and a = 0.
  constexpr double above = upper ? 1 : 0;
  value = except(infinite_x, 1 - above, value);
  value = hlo::select(infinite_a, except(infinite_x, NAN, like(x, above)), value);
  value = except(zero_x, above, value);
  value = hlo::select(zero_a, otherwise(hlo::gt(x, zeros_like(x)), like(x, 1 - above), NAN), value);
  return hlo::convert(except(negative, NAN, value), a_given.element());
}

// ------------------------------------------------------------------------------------------------ orthogonal
// polynomials

/// One family: p_0 = 1, p_1 = first(x), p_(k+1) = next(k, x, p_(k-1), p_k), DLMF 18.9.
struct Recurrence {
  Value (*first)(const Value& x);
  Value (*next)(const Value& k, const Value& x, const Value& before, const Value& now);
};

/// p_n(x) for whole n > 0, n and x of one shape; 1 for n = 0.
Value recur(const Value& x, const Value& n, const Recurrence& family) {
  Value one = hlo::constant(*x.builder, x.element(), 1.0);
  Value last = hlo::reduce(n, all_dims(n), hlo::Reducer::Max);
  auto unfinished = [](const Values& v) -> Values { return {hlo::lt(v[0], v[1])}; };
  auto step = [&](const Values& v) -> Values {
    Value k = hlo::broadcast(v[0], v[2].dims());
    Value going = hlo::lt(k, v[5]);
    Value next = family.next(k, v[4], v[2], v[3]);
    return {v[0] + like(v[0], 1), v[1], hlo::select(going, v[3], v[2]), hlo::select(going, next, v[3]), v[4], v[5]};
  };
  Value value = hlo::while_({one, last, like(x, 1), family.first(x), x, n}, unfinished, step)[3];
  return except(equals(n, 0), 1, value);
}

/// The order as a whole number; negative for one that is none (int64 of NaN or infinity is in PyTorch).
Value order_of(const Value& n) { return otherwise(hlo::is_finite(n), truncate(n), -1); }
Value is_even(const Value& n) {
  Value half = line(n, 0.5, 0);
  return hlo::eq(half, hlo::floor(half));
}
Value vanishing_below_zero(const Value& n, const Value& value) { return except(below(n, 0), 0, value); }

enum class Chebyshev { T, U, V, W };

Value chebyshev_next(const Value&, const Value& x, const Value& before, const Value& now) {
  return (x + x) * now - before;
}

/// Inside (-1, 1) in trigonometric form, DLMF 18.5.1-4, at the ends by its limits, outside by recurrence.
template <Chebyshev kind, bool shifted>
Value chebyshev_polynomial(const Value& given, const Value& degree) {
  Value x = shifted ? line(given, 2, -1) : given;
  Value n = order_of(degree), even = is_even(n), one = like(x, 1);
  Value angle = arccosine(x), half = line(angle, 0.5, 0), middle = line(n, 1, 0.5) * angle;
  Value size = hlo::abs(x), inside = both(below(size, 1), hlo::gt(n, like(n, 6)));
  Value at_end = equals(size, 1), above = hlo::gt(x, zeros_like(x));
  auto alternating = [&](const Value& value) { return hlo::select(even, value, hlo::negate(value)); };

  constexpr Recurrence families[] = {{[](const Value& x) { return x; }, chebyshev_next},
                                     {[](const Value& x) { return x + x; }, chebyshev_next},
                                     {[](const Value& x) { return line(x, 2, -1); }, chebyshev_next},
                                     {[](const Value& x) { return line(x, 2, 1); }, chebyshev_next}};
  Value value = recur(x, except(either(inside, at_end), 0, n), families[static_cast<int>(kind)]);
  // At 1 and, up to the sign (-1)^n, at -1.
  Value closed, right, left;
  switch (kind) {
    case Chebyshev::T: closed = hlo::cosine(n * angle), right = one, left = one; break;
    case Chebyshev::U:
      closed = hlo::sine(line(n, 1, 1) * angle) / hlo::sine(angle), right = line(n, 1, 1), left = right;
      break;
    case Chebyshev::V: closed = hlo::cosine(middle) / hlo::cosine(half), right = one, left = line(n, 2, 1); break;
    case Chebyshev::W: closed = hlo::sine(middle) / hlo::sine(half), right = line(n, 2, 1), left = one; break;
  }
  value = hlo::select(inside, closed, value);
  value = hlo::select(at_end, hlo::select(above, right, alternating(left)), value);
  return vanishing_below_zero(n, value);
}

Value hermite_h_first(const Value& x) { return x + x; }
Value hermite_h_next(const Value& k, const Value& x, const Value& before, const Value& now) {
  return (x + x) * now - (k + k) * before;
}
Value itself(const Value& x) { return x; }
Value hermite_he_next(const Value& k, const Value& x, const Value& before, const Value& now) {
  return x * now - k * before;
}
Value laguerre_first(const Value& x) { return line(x, -1, 1); }
Value laguerre_next(const Value& k, const Value& x, const Value& before, const Value& now) {
  return ((line(k, 2, 1) - x) * now - k * before) / line(k, 1, 1);
}
Value legendre_next(const Value& k, const Value& x, const Value& before, const Value& now) {
  return (line(k, 2, 1) * x * now - k * before) / line(k, 1, 1);
}

// Beyond these degrees the values overflow almost everywhere; PyTorch gives NaN there, which also bounds the loop.
Value beyond_hermite(const Value& n) { return hlo::gt(n, like(n, n.element() == ElementType::F64 ? 512 : 128)); }

template <Map first, auto next>
Value hermite(const Value& x, const Value& degree) {
  Value n = order_of(degree), beyond = beyond_hermite(n);
  Value value = recur(x, except(beyond, 0, n), {first, next});
  return vanishing_below_zero(n, except(beyond, NAN, value));
}

Value laguerre(const Value& x, const Value& degree) {
  Value n = order_of(degree);
  return vanishing_below_zero(n, except(equals(x, 0), 1, recur(x, n, {laguerre_first, laguerre_next})));
}

Value legendre(const Value& x, const Value& degree) {
  Value n = order_of(degree), one = like(x, 1);
  Value at_end = equals(hlo::abs(x), 1);
  Value end = hlo::select(either(hlo::gt(x, zeros_like(x)), is_even(n)), one, hlo::negate(one));
  return vanishing_below_zero(n, hlo::select(at_end, end, recur(x, n, {itself, legendre_next})));
}

template <Map f>
constexpr Lower kReal1 = floating<f, kReal>;
template <Map f>
constexpr Lower kRealX = floating<f, kReal, kX>;
template <Map2 f>
constexpr Lower kPolynomial = floating2<f, kReal, kX, kN>;

}  // namespace

Table special_table() {
  using enum Chebyshev;
  return {
      // Modified Bessel functions.
      row("i0.out", kReal1<i0>),
      row("special_i0e.out", kReal1<i0e>),
      row("special_i1.out", kReal1<i1>),
      row("special_i1e.out", kReal1<i1e>),
      row("special_modified_bessel_i0.out", kReal1<i0>),
      row("special_modified_bessel_i1.out", kReal1<i1>),
      row("special_modified_bessel_k0.out", kReal1<modified_k<0, false>>),
      row("special_modified_bessel_k1.out", kReal1<modified_k<1, false>>),
      row("special_scaled_modified_bessel_k0.out", kRealX<modified_k<0, true>>),
      row("special_scaled_modified_bessel_k1.out", kRealX<modified_k<1, true>>),

      // Bessel and Airy functions.
      row("special_bessel_j0.out", kReal1<bessel_j0>),
      row("special_bessel_j1.out", kReal1<bessel_j1>),
      row("special_bessel_y0.out", kReal1<bessel_y0>),
      row("special_bessel_y1.out", kReal1<bessel_y1>),
      row("special_spherical_bessel_j0.out", kRealX<spherical_bessel_j0>),
      row("special_airy_ai.out", kRealX<airy_ai>),

      // Error functions.
      row("special_erfcx.out", kReal1<erfcx>),
      row("special_log_ndtr.out", kReal1<log_ndtr>),
      row("special_ndtri.out", kReal1<ndtri>),
      row("special_entr.out", kReal1<entropy>),

      // Gamma and zeta functions.
      row("digamma.out", kReal1<digamma>),
      row("polygamma.out", polygamma),
      row("special_zeta.out", floating2<hurwitz_zeta, kReal>),
      row("igamma.out", map2<incomplete_gamma<false>, kReal>),
      row("igammac.out", map2<incomplete_gamma<true>, kReal>),

      // Orthogonal polynomials.
      row("special_chebyshev_polynomial_t.out", kPolynomial<chebyshev_polynomial<T, false>>),
      row("special_chebyshev_polynomial_u.out", kPolynomial<chebyshev_polynomial<U, false>>),
      row("special_chebyshev_polynomial_v.out", kPolynomial<chebyshev_polynomial<V, false>>),
      row("special_chebyshev_polynomial_w.out", kPolynomial<chebyshev_polynomial<W, false>>),
      row("special_shifted_chebyshev_polynomial_t.out", kPolynomial<chebyshev_polynomial<T, true>>),
      row("special_shifted_chebyshev_polynomial_u.out", kPolynomial<chebyshev_polynomial<U, true>>),
      row("special_shifted_chebyshev_polynomial_v.out", kPolynomial<chebyshev_polynomial<V, true>>),
      row("special_shifted_chebyshev_polynomial_w.out", kPolynomial<chebyshev_polynomial<W, true>>),
      row("special_hermite_polynomial_h.out", kPolynomial<hermite<hermite_h_first, hermite_h_next>>),
      row("special_hermite_polynomial_he.out", kPolynomial<hermite<itself, hermite_he_next>>),
      row("special_laguerre_polynomial_l.out", kPolynomial<laguerre>),
      row("special_legendre_polynomial_p.out", kPolynomial<legendre>),
  };
}

}  // namespace tpu::ops
