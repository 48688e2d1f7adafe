// Family distribution: numbers of distributions that take a changing number of attempts each, and the derivatives of
// gamma and beta numbers by their parameters. What goes in: parameters in tensors; what comes out: one number each.
//
// Every element owns one counter of the op's block. Its high half, which nothing else uses, counts the attempts: so
// the generator advances by the number of elements, whatever the attempts.
#include <cmath>
#include <numbers>

#include "ops/axis.h"
#include "ops/elementwise.h"
#include "ops/philox.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ the shared moves

Value number(const Value& like, double value) { return hlo::like(like, value); }
Value both(const Value& a, const Value& b) { return hlo::and_(a, b); }
Value any(const Value& x) { return hlo::reduce(x, all_dims(x), hlo::Reducer::Or); }
Value below(const Value& x, double limit) { return hlo::lt(x, number(x, limit)); }

/// `failed` over floats; the message names no number, since checks carry integers only.
void refuse(Context& c, const Value& failed, const char* message) {
  c.require_not(failed, hlo::convert(failed, ElementType::S64), ErrorCode::InvalidArgument, message);
}

/// Uniform in (0, 1), two per element and attempt: the middles of 2^23 (float64: 2^52) equal parts.
Values uniforms(const Value& state, const Value& attempt, const Type& type) {
  Value high = hlo::reshape(hlo::convert(attempt, ElementType::U64), {1});
  Values words = philox_words(hlo::concatenate({hlo::slice(state, {0}, {2}, {1}), high}, 0), type.dims,
                              type.element == ElementType::F64 ? 4 : 2);
  int digits = type.element == ElementType::F64 ? 52 : 23;
  Values result;
  for (int i = 0; i < 2; ++i) {
    Value bits = words[static_cast<size_t>(i)];
    if (type.element == ElementType::F64) {
      Value upper = hlo::convert(words[static_cast<size_t>(i) + 2], ElementType::U64);
      bits = hlo::or_(hlo::shift_left(upper, hlo::like(upper, 32)), hlo::convert(bits, ElementType::U64));
    }
    int spare = static_cast<int>(8 * size_of(bits.element())) - digits;
    Value k = hlo::convert(hlo::shift_right_logical(bits, hlo::like(bits, spare)), type.element);
    result.push_back((k + number(k, 0.5)) * number(k, std::ldexp(1.0, -digits)));
  }
  return result;
}

/// What an attempt gives: a number, and whether it is taken.
struct Attempt {
  Value drawn, is_taken;
};

/// Attempts with fresh uniform numbers, until every element that is `open` has taken one. The others are zero.
/// Attempt 0 is left to the caller.
Value until_taken(const Value& state, const Value& open, const Values& parameters,
                  const std::function<Attempt(const Values& uniform, const Values& parameters)>& attempt) {
  constexpr int64_t kMostAttempts = 10'000;  // the chance of a hundred is less than that of a broken machine
  Value first = hlo::constant(*state.builder, ElementType::S32, 1);
  Values inits{first, open, hlo::like(parameters[0], 0), state};
  inits.insert(inits.end(), parameters.begin(), parameters.end());
  auto goes_on = [](const Values& v) -> Values {
    return {both(any(v[1]), hlo::lt(v[0], hlo::like(v[0], kMostAttempts)))};
  };
  auto step = [&](const Values& v) -> Values {
    Values mine(v.begin() + 4, v.end());
    Attempt made = attempt(uniforms(v[3], v[0], v[2].type), mine);
    Value takes = both(v[1], made.is_taken);
    Values next{v[0] + hlo::like(v[0], 1), both(v[1], hlo::not_(takes)), hlo::select(takes, made.drawn, v[2]), v[3]};
    next.insert(next.end(), mine.begin(), mine.end());
    return next;
  };
  return hlo::while_(inits, goes_on, step)[2];
}

ElementType drawing_type(Context& c, ElementType element) {
  c.expect(is_floating(element), ErrorCode::NotImplemented, "no floating-point dtype");
  return element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

Value zeroth(Context& c) { return hlo::constant(c.builder(), ElementType::S32, 0); }

// ----------------------------------------------------------------------------------------------------------- gamma

/// Marsaglia and Tsang, A simple method for generating gamma variables, 2000. Below 1 the number for alpha + 1 is
/// multiplied by u^(1 / alpha), whose logarithm may be far below what a float can hold.
struct Gamma {
  Value number, log_factor;
};

Gamma gamma_numbers(Context& c, const Value& alpha) {
  Value state = c.random_state(alpha.type.count());
  Value is_small = below(alpha, 1);
  Value d = hlo::select(is_small, alpha + number(alpha, 2.0 / 3), alpha - number(alpha, 1.0 / 3));
  Value factor = hlo::rsqrt(d * number(d, 9));
  Value open = both(hlo::ge(alpha, zeros_like(alpha)), hlo::is_finite(alpha));
  auto attempt = [](const Values& u, const Values& p) -> Attempt {
    const Value &d = p[0], &factor = p[1];
    Value z = hlo::erf_inv(u[0] + u[0] - number(d, 1)) * number(d, std::numbers::sqrt2);
    // v = (1 + t)^3, less 1: near 1 the logarithm must not lose digits.
    Value t = factor * z, less_one = t * (number(t, 3) + t * (number(t, 3) + t));
    Value right = z * z * number(z, 0.5) + d * (log1p(less_one) - less_one);
    Value takes = both(hlo::gt(t, number(t, -1)), hlo::lt(hlo::log(u[1]), right));
    return {d * (less_one + number(d, 1)), takes};
  };
  Value drawn = until_taken(state, open, {d, factor}, attempt);
  drawn = hlo::select(open, drawn, number(alpha, NAN));
  Value log_u = hlo::log(uniforms(state, zeroth(c), alpha.type)[0]);
  return {drawn, hlo::select(is_small, log_u / alpha, zeros_like(alpha))};
}

/// The smallest normal number, which torch gives instead of smaller ones.
double smallest(ElementType type) {
  return type == ElementType::F64 ? 0x1p-1022 : type == ElementType::F16 ? 0x1p-14 : 0x1p-126;
}

Values standard_gamma(Context& c) {
  ElementType element = c.type("self").element;
  Value alpha = c.tensor("self", drawing_type(c, element));
  Gamma gamma = gamma_numbers(c, alpha);
  Value drawn = gamma.number * hlo::exponential(gamma.log_factor);
  return {hlo::convert(hlo::maximum(drawn, number(drawn, smallest(element))), element)};
}

// Gamma numbers over their sum, by their logarithms: for small alpha all of them may be below what a float can hold.
Values sample_dirichlet(Context& c) {
  ElementType element = c.type("self").element;
  Value alpha = c.tensor("self", drawing_type(c, element));
  c.expect(alpha.rank() > 0, ErrorCode::InvalidArgument, "_sample_dirichlet expects at least one dimension");
  if (alpha.type.count() == 0) return {c.tensor("self")};
  Gamma gamma = gamma_numbers(c, alpha);
  Value logs = hlo::log(gamma.number) + gamma.log_factor;
  Fold last = fold_one(c, logs, logs.rank() - 1);
  Value share = hlo::exponential(logs - last.spread(last.reduce(logs, hlo::Reducer::Max)));
  share = share / last.spread(last.reduce(share, hlo::Reducer::Add));
  double most = 1 - (element == ElementType::F64   ? 0x1p-53
                     : element == ElementType::F32 ? 0x1p-24
                     : element == ElementType::F16 ? 0x1p-11
                                                   : 0x1p-8);
  share = hlo::clamp(hlo::scalar_like(share, smallest(element)), share, hlo::scalar_like(share, most));
  return {hlo::convert(share, element)};
}

// -------------------------------------------------------------------------------------- Poisson and binomial numbers

/// k log(k / mean) + mean - k, without the digits that cancel: Loader, Fast and accurate computation of binomial
/// probabilities, 2000.
Value deviance(const Value& k, const Value& mean) {
  Value d = (k - mean) / mean;
  Value series = d * d *
                 polynomial(d, {1.0 / 2, -1.0 / 6, 1.0 / 12, -1.0 / 20, 1.0 / 30, -1.0 / 42, 1.0 / 56, -1.0 / 72,
                                1.0 / 90, -1.0 / 110, 1.0 / 132, -1.0 / 156, 1.0 / 182, -1.0 / 210});
  Value one = number(d, 1), direct = (one + d) * log1p(d) - d;
  return mean * hlo::select(below(hlo::abs(d), 0.1), series, direct);
}

/// log of the Poisson probability of k.
Value log_poisson(const Value& k, const Value& mean) {
  Value direct = k * hlo::log(mean) - mean - hlo::lgamma(k + number(k, 1));
  Value inverse = reciprocal(k);
  Value correction = inverse * polynomial(inverse * inverse, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680});
  Value far =
      hlo::negate(deviance(k, mean)) - correction - number(k, 0.5) * hlo::log(k * number(k, 2 * std::numbers::pi));
  return hlo::select(below(k, 16), direct, far);
}

/// The smallest k at which the sum of the probabilities reaches u, one after the other. `first` is that of 0, the next
/// one of k + 1 is that of k times (rise - slope k) / (k + 1). Ends where a probability is below what u resolves.
Value by_inversion(const Value& u, const Value& first, const Value& mean, const Value& rise, const Value& slope) {
  auto is_open = [](const Values& v) {
    const Value &k = v[0], &rest = v[1], &p = v[2], &mean = v[3];
    Value is_over = both(hlo::gt(k, mean), below(p, p.element() == ElementType::F64 ? 0x1p-54 : 0x1p-26));
    return both(hlo::ge(rest, p), hlo::not_(is_over));
  };
  auto goes_on = [&](const Values& v) -> Values { return {any(is_open(v))}; };
  auto step = [&](const Values& v) -> Values {
    const Value &k = v[0], &rest = v[1], &p = v[2], &rise = v[4], &slope = v[5];
    Value open = is_open(v), next = k + number(k, 1);
    return {hlo::select(open, next, k),
            hlo::select(open, rest - p, rest),
            hlo::select(open, p * (rise - slope * k) / next, p),
            v[3],
            rise,
            slope};
  };
  return hlo::while_({zeros_like(u), u, first, mean, rise, slope}, goes_on, step)[0];
}

constexpr double kFewExpected = 10;  // below, counting up takes fewer steps than attempts cost

/// Hörmann's transformed rejection, the part that Poisson and binomial numbers share: us = 1/2 - |u| and the candidate.
struct Transformed {
  Value us, k;
};
Transformed transformed(const Value& u, const Value& a, const Value& b, const Value& shift) {
  Value centered = u - number(u, 0.5), us = number(u, 0.5) - hlo::abs(centered);
  return {us, hlo::floor((a / us * number(u, 2) + b) * centered + shift)};
}

// Hörmann, The transformed rejection method for generating Poisson random variables, 1993: PTRS.
Attempt poisson_attempt(const Values& u, const Values& p) {
  const Value& mean = p[0];
  Value b = number(mean, 0.931) + number(mean, 2.53) * hlo::sqrt(mean);
  Value a = number(b, -0.059) + number(b, 0.02483) * b;
  Value inverse_alpha = number(b, 1.1239) + number(b, 1.1328) / (b - number(b, 3.4));
  Value quick = number(b, 0.9277) - number(b, 3.6224) / (b - number(b, 2));
  auto [us, k] = transformed(u[0], a, b, mean + number(mean, 0.43));
  Value takes = both(hlo::ge(us, number(us, 0.07)), hlo::le(u[1], quick));
  Value out = hlo::or_(below(k, 0), both(below(us, 0.013), hlo::gt(u[1], us)));
  Value left = hlo::log(u[1] * inverse_alpha / (a / (us * us) + b));
  Value exact = both(hlo::not_(out), hlo::le(left, log_poisson(k, mean)));
  return {k, hlo::or_(takes, exact)};
}

Values poisson(Context& c) {
  ElementType element = c.type("self").element;
  Value mean = c.tensor("self", drawing_type(c, element)), zero = zeros_like(mean);
  refuse(c, hlo::not_(hlo::ge(mean, zero)), "invalid Poisson rate, expected rate to be non-negative");
  Value state = c.random_state(mean.type.count());
  Value few = below(mean, kFewExpected), many = both(hlo::not_(few), hlo::is_finite(mean));
  Value small = hlo::select(few, mean, zero);
  Value counted =
      by_inversion(uniforms(state, zeroth(c), mean.type)[0], hlo::exponential(hlo::negate(small)), small, small, zero);
  Value taken = until_taken(state, many, {hlo::select(many, mean, number(mean, kFewExpected))}, poisson_attempt);
  return {hlo::convert(hlo::select(few, counted, hlo::select(many, taken, mean)), element)};
}

// Hörmann, The generation of binomial random variates, 1993: BTRS, for p up to 1/2.
Attempt binomial_attempt(const Values& u, const Values& parameters) {
  const Value &n = parameters[0], &p = parameters[1];
  Value q = number(p, 1) - p, mean = n * p, deviation = hlo::sqrt(mean * q);
  Value b = number(p, 1.15) + number(p, 2.53) * deviation;
  Value a = number(p, -0.0873) + number(p, 0.0248) * b + number(p, 0.01) * p;
  Value quick = number(p, 0.92) - number(p, 4.2) / b;
  Value alpha = (number(p, 2.83) + number(p, 5.1) / b) * deviation;
  auto [us, k] = transformed(u[0], a, b, mean + number(p, 0.5));
  Value takes = both(hlo::ge(us, number(us, 0.07)), hlo::le(u[1], quick));
  Value out = hlo::or_(below(k, 0), hlo::gt(k, n));
  // The binomial probability is one of two Poisson numbers, given their sum.
  auto log_probability = [&](const Value& k) { return log_poisson(k, mean) + log_poisson(n - k, n * q); };
  Value mode = hlo::floor((n + number(n, 1)) * p);
  Value inside = hlo::select(out, mode, k);
  Value left = hlo::log(u[1] * alpha / (a / (us * us) + b));
  Value exact = hlo::le(left, log_probability(inside) - log_probability(mode));
  return {k, both(hlo::not_(out), hlo::or_(takes, exact))};
}

Values binomial(Context& c) {
  ElementType element = c.type("count").element;
  c.expect(c.type("prob").element == element, ErrorCode::InvalidArgument, "Found dtype ",
           scalar_type_name(c.type("prob").element), " but expected ", scalar_type_name(element));
  ElementType type = drawing_type(c, element);
  Value n = c.tensor("count", type);
  Value prob = broadcast_to(c.tensor("prob", type), n.dims());
  Value state = c.random_state(n.type.count()), zero = zeros_like(n), one = number(n, 1);
  // What is certain is left out of the loops.
  Value is_none = hlo::or_(hlo::le(n, zero), hlo::le(prob, zero)), is_all = hlo::ge(prob, one);
  Value is_valid = both(hlo::is_finite(n), hlo::not_(is_nan(prob)));
  Value open = both(is_valid, hlo::not_(hlo::or_(is_none, is_all)));
  Value is_likely = hlo::gt(prob, number(n, 0.5));
  Value p = hlo::select(is_likely, one - prob, prob);
  Value is_few = below(n * p, kFewExpected), few = both(open, is_few), many = both(open, hlo::not_(is_few));

  Value n_few = hlo::select(few, n, zero), p_few = hlo::select(few, p, zero), odds = p_few / (one - p_few);
  Value first = hlo::exponential(n_few * log1p(hlo::negate(p_few)));
  Value counted = by_inversion(uniforms(state, zeroth(c), n.type)[0], first, n_few * p_few, n_few * odds, odds);
  Value n_many = hlo::select(many, n, number(n, 100)), p_many = hlo::select(many, p, number(n, 0.5));
  Value taken = until_taken(state, many, {n_many, p_many}, binomial_attempt);
  Value drawn = hlo::select(few, counted, taken);
  drawn = hlo::select(is_likely, n - drawn, drawn);
  drawn = hlo::select(is_none, zero, hlo::select(is_all, n, drawn));
  return {hlo::convert(hlo::select(is_valid, drawn, number(n, NAN)), element)};
}

// ----------------------------------------------------------------------------------------------------- derivatives
// Note [Derivatives of samples]
// A number x with the distribution function F(x; a) moves with its parameter as if its rank were fixed:
// dx/da = -(dF/da) / (dF/dx). With y = log x (gamma) or logit x (beta) and the density g of y,
//   dF/da = integral of (log t - E log t) g below y = -(the same above y).
// The factor changes its sign once, so the side that is taken is the one on which it keeps it: nothing cancels. g is
// log-concave, and so the integrand is bounded by where g has fallen to e^-depth; Newton's method finds that distance
// from the right, where every step stays on the right. The quadrature is Gauss and Legendre's in s, distance = far s^3,
// since the steep part is near y.

struct Quadrature {
  std::vector<double> nodes, weights;  // on (0, 1)
};

Quadrature gauss_legendre(int n) {
  Quadrature q;
  for (int i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int round = 0; round < 20; ++round) {
      double before = 1, value = x;
      for (int k = 2; k <= n; ++k) {
        double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
        before = value, value = next;
      }
      slope = n * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    q.nodes.push_back((1 - x) / 2);
    q.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return q;
}

/// Of one distribution, as functions of the distance w from y and its parameters: the logarithm of g less that at y,
/// its slope, and log t - E log t.
struct Side {
  using Function = Value (*)(const Value& w, const Values& parameters);
  Function fall, slope, factor;
};

double depth_of(const Value& x) { return x.element() == ElementType::F64 ? 40 : 20; }

/// The integral over w from 0 on; `far`: at least where g has fallen to e^-depth.
Value integral(const Side& side, Value far, const Values& parameters) {
  constexpr int kSteps = 12;
  Value depth = number(far, depth_of(far));
  for (int i = 0; i < kSteps; ++i) far = far - (side.fall(far, parameters) + depth) / side.slope(far, parameters);

  Quadrature rule = gauss_legendre(far.element() == ElementType::F64 ? 64 : 32);
  std::vector<double> distances, weights;
  for (size_t i = 0; i < rule.nodes.size(); ++i) {
    double s = rule.nodes[i];
    distances.push_back(s * s * s);
    weights.push_back(rule.weights[i] * 3 * s * s);
  }
  Dims dims = far.dims(), outer = all_dims(far);
  auto last = static_cast<int64_t>(dims.size());
  dims.push_back(static_cast<int64_t>(distances.size()));
  auto spread = [&](const Value& x) { return hlo::broadcast_in_dim(x, dims, outer); };
  auto along = [&](const std::vector<double>& list) {
    return hlo::broadcast_in_dim(hlo::constant_doubles(*far.builder, list, far.element()), dims, {last});
  };
  Values wide;
  for (const Value& parameter : parameters) wide.push_back(spread(parameter));
  Value w = spread(far) * along(distances);
  Value integrand = side.factor(w, wide) * hlo::exponential(side.fall(w, wide)) * along(weights);
  return hlo::reduce(integrand, {last}, hlo::Reducer::Add) * far;
}

/// digamma(a) - log(a), by its asymptotic series where that is exact.
Value digamma_less_log(const Value& a) {
  Value inverse = reciprocal(a), square = inverse * inverse;
  Value series = hlo::negate(inverse * number(a, 0.5) +
                             square * polynomial(square, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240}));
  return hlo::select(below(a, 20), hlo::digamma(a) - hlo::log(a), series);
}

/// x away from where its logarithm ends.
Value inside(const Value& x) { return hlo::maximum(x, number(x, x.element() == ElementType::F64 ? 1e-300 : 1e-35)); }

// Gamma: g = exp(alpha y - e^y), the sign is -1 below y and 1 above. Parameters: alpha, x, sign, log x - E log t.
const Side kGammaSide = {
    [](const Value& w, const Values& p) -> Value {
      Value moved = p[2] * w;
      return p[0] * moved - p[1] * hlo::exponential_minus_one(moved);
    },
    [](const Value& w, const Values& p) -> Value { return p[2] * (p[0] - p[1] * hlo::exponential(p[2] * w)); },
    [](const Value& w, const Values& p) -> Value { return p[3] + p[2] * w; },
};

Value gamma_derivative(const Value& alpha, const Value& x) {
  Value log_ratio = hlo::select(below(alpha, 20), hlo::log(x) - hlo::log(alpha), log1p((x - alpha) / alpha));
  Value factor = log_ratio - digamma_less_log(alpha);
  Value is_lower = below(factor, 0);
  Value sign = hlo::select(is_lower, number(x, -1), number(x, 1)), depth = number(x, depth_of(x));
  Value bound = number(x, 2) * log1p((depth + alpha) / x);
  Value far = hlo::select(is_lower, (depth + x) / alpha, log1p((depth + alpha * bound) / x));
  return sign * x * integral(kGammaSide, far, {alpha, x, sign, factor});
}

Values standard_gamma_grad(Context& c) {
  ElementType element = c.type("self").element, type = drawing_type(c, element);
  Values given = broadcast_together({c.tensor("self", type), c.tensor("output", type)});
  return {hlo::convert(gamma_derivative(given[0], inside(given[1])), element)};
}

Value softplus(const Value& x) {
  return hlo::maximum(x, zeros_like(x)) + log1p(hlo::exponential(hlo::negate(hlo::abs(x))));
}

// Beta: g = t^alpha (1 - t)^beta where y = logit t. Parameters: alpha, beta, sign, y, log x, log(1 - x), E log t.
const Side kBetaSide = {
    [](const Value& w, const Values& p) -> Value {
      Value y = p[3] + p[2] * w;
      return hlo::negate(p[0] * (softplus(hlo::negate(y)) + p[4]) + p[1] * (softplus(y) + p[5]));
    },
    [](const Value& w, const Values& p) -> Value {
      Value t = hlo::logistic(p[3] + p[2] * w);
      return p[2] * (p[0] * (number(t, 1) - t) - p[1] * t);
    },
    [](const Value& w, const Values& p) -> Value { return hlo::negate(softplus(hlo::negate(p[3] + p[2] * w))) - p[6]; },
};

// The derivative of a beta number by alpha, over 1 - x: what the derivative of Dirichlet numbers is made of.
Values dirichlet_grad(Context& c) {
  ElementType element = c.type("x").element, type = drawing_type(c, element);
  Values given = broadcast_together({c.tensor("x", type), c.tensor("alpha", type), c.tensor("total", type)});
  Value x = inside(given[0]), alpha = given[1], beta = given[2] - alpha;
  x = hlo::minimum(x, number(x, 1 - (type == ElementType::F64 ? 0x1p-53 : 0x1p-24)));
  Value log_x = hlo::log(x), log_rest = log1p(hlo::negate(x));
  Value expected = digamma_less_log(alpha) - digamma_less_log(alpha + beta) - log1p(beta / alpha);
  Value is_lower = hlo::lt(log_x, expected);
  Value sign = hlo::select(is_lower, number(x, -1), number(x, 1)), depth = number(x, depth_of(x));
  Value far =
      hlo::select(is_lower, (depth - beta * log_rest) / alpha - log_rest, (depth - alpha * log_x) / beta - log_x);
  Values parameters{alpha, beta, sign, log_x - log_rest, log_x, log_rest, expected};
  return {hlo::convert(sign * x * integral(kBetaSide, far, parameters), element)};
}

}  // namespace

Table distribution_table() {
  return {
      row("_standard_gamma", standard_gamma).random().pointwise(),
      row("_standard_gamma_grad", standard_gamma_grad).pointwise(),
      row("_sample_dirichlet", sample_dirichlet).random(),
      row("_dirichlet_grad", dirichlet_grad).pointwise(),
      row("poisson", poisson).random().pointwise(),
      row("binomial", binomial).random(),
  };
}

}  // namespace tpu::ops
