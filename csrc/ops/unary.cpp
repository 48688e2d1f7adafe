// Family unary: functions of one operand, element by element. What goes in: one tensor and at most a few numbers.
#include <cmath>
#include <numbers>

#include "ops/elementwise.h"
#include "ops/host_call.h"

namespace tpu::ops {

namespace {

using hlo::like;
using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------- shared moves

/// Integers (and bool, where it has a kernel) stay as they are: floor, round, ceil, trunc.
template <Map f, unsigned kinds = kInteger | kReal>
Values unless_integral(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kinds);
  Value x = operand(c, "self", type);
  return {is_floating(type) ? hlo::convert(f(x), type) : x};
}

/// A Pred result.
template <Map f, unsigned kinds = kAnything>
Values predicate(Context& c) {
  expect_kind(c, c.type("self").element, kinds);
  return {f(c.tensor("self"))};
}

/// Real and imaginary part changed on their own.
template <class F>
Value by_parts(const Value& z, F f) {
  return is_complex(z.element()) ? hlo::complex(f(hlo::real(z)), f(hlo::imag(z))) : f(z);
}

// ---------------------------------------------------------------------------------- sign, parts, predicates

/// Of a complex number a real one.
Values absolute(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kNumber);
  Value x = operand(c, "self", type);
  if (is_signed(type)) x = hlo::abs(x);
  return {hlo::convert(x, real_of(type))};
}

/// 0 or pi of a real number (NaN stays), the argument of a complex one.
Value angle_of(const Value& x) {
  if (is_complex(x.element())) return arctangent2(hlo::imag(x), hlo::real(x));
  Value by_sign = hlo::select(hlo::lt(x, zeros_like(x)), like(x, std::numbers::pi), zeros_like(x));
  return hlo::select(is_nan(x), x, by_sign);
}

// PyTorch's sign of NaN and of both zeros is +0, StableHLO's is NaN and the zero itself.
Value sign_of(const Value& x) {
  if (x.element() == ElementType::Pred) return x;
  if (!is_signed(x.element())) return hlo::convert(truth(x), x.element());
  if (!is_floating(x.element())) return hlo::sign(x);
  Value zero = zeros_like(x);
  return hlo::convert(hlo::gt(x, zero), x.element()) - hlo::convert(hlo::lt(x, zero), x.element());
}

/// sign_of, and z / |z| of a complex number.
Value complex_sign(const Value& x) {
  if (!is_complex(x.element())) return sign_of(x);
  Value size = hlo::abs(x);
  Value is_zero = hlo::eq(size, zeros_like(size));
  return hlo::select(is_zero, like(x, 0), x / hlo::complex(size, zeros_like(size)));
}

Value sign_bit(const Value& x) {
  if (x.element() == ElementType::Pred) return hlo::constant(*x.builder, x.type, 0);
  if (!is_floating(x.element())) return hlo::lt(x, zeros_like(x));
  // Through the bits, which tell -0 and the sign of NaN.
  static constexpr ElementType widths[] = {ElementType::S8,  ElementType::S8,  ElementType::S16,
                                           ElementType::S16, ElementType::S32, ElementType::S32,
                                           ElementType::S32, ElementType::S32, ElementType::S64};
  Value bits = hlo::bitcast_convert(x, widths[size_of(x.element())]);
  return hlo::lt(bits, zeros_like(bits));
}

Value not_a_number(const Value& x) {
  bool may_be = is_floating(x.element()) || is_complex(x.element());
  return may_be ? is_nan(x) : hlo::constant(*x.builder, {ElementType::Pred, x.dims()}, 0);
}

template <int sign>
Value is_infinity(const Value& x) {
  if (!is_floating(x.element())) return hlo::constant(*x.builder, {ElementType::Pred, x.dims()}, 0);
  return hlo::eq(x, like(x, sign * HUGE_VAL));
}

Value negated_truth(const Value& x) { return hlo::not_(truth(x)); }
Value bits_flipped(const Value& x) { return hlo::not_(x); }
Value negated(const Value& x) { return hlo::negate(x); }

// ------------------------------------------------------------------------------------- exponents, logarithms

Value log10(const Value& x) { return hlo::log(x) * like(x, 1 / std::numbers::ln10); }

Value exp2_any(const Value& x) {
  return is_complex(x.element()) ? hlo::exponential(x * like(x, std::numbers::ln2)) : exp2(x);
}

Value log2_any(const Value& x) {
  return is_complex(x.element()) ? hlo::log(x) * like(x, 1 / std::numbers::ln2) : log2(x);
}

Value inverse(const Value& x) { return like(x, 1) / x; }

/// sin(pi x) / (pi x), 1 at 0.
Value sinc(const Value& x) {
  Value scaled = x * like(x, std::numbers::pi);
  return hlo::select(hlo::eq(x, like(x, 0)), like(x, 1), hlo::sine(scaled) / scaled);
}

// ------------------------------------------------------------------------------------------ sine and cosine

// XLA:CPU's sine takes 10 ms for a million float32 numbers, a quarter turn in float64 and a Taylor polynomial a tenth
// of that. Beyond kFarthest, where the two pieces of pi / 2 no longer do, and for infinities and NaN the whole array
// goes XLA's way.
constexpr double kFarthest = 1e6;
constexpr double kHalfPiHigh =
    0x1.921fb54400000p+0;  // 33 bits, so that its products with whole numbers below 2^20 are exact
constexpr double kHalfPiLow = 0x1.0b4611a626331p-34;

/// x less `quarters` quarter turns, in float32 within [-pi / 4, pi / 4].
struct Turn {
  Value quarters, sine, cosine;
};
Turn turn(const Value& x) {
  Value wide = hlo::convert(x, ElementType::F64);
  Value count = hlo::round_nearest_even(wide * like(wide, 2 / std::numbers::pi));
  Value rest =
      hlo::convert((wide - count * like(wide, kHalfPiHigh)) - count * like(wide, kHalfPiLow), ElementType::F32);
  rest = hlo::select(hlo::eq(x, like(x, 0)), x, rest);  // -0 stays
  Value square = rest * rest;
  Value sine = rest * polynomial(square, {1, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880});
  Value cosine = polynomial(square, {1, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800});
  return {hlo::convert(count, ElementType::S32), sine, cosine};
}

Value has_bit(const Value& x, int bit) { return truth(hlo::and_(x, like(x, bit))); }

Value sine_of(const Turn& t) {
  Value value = hlo::select(has_bit(t.quarters, 1), t.cosine, t.sine);
  return hlo::select(has_bit(t.quarters, 2), hlo::negate(value), value);
}
Value near_sine(const Value& x) { return sine_of(turn(x)); }
Value near_cosine(const Value& x) {
  Turn t = turn(x);
  t.quarters = t.quarters + like(t.quarters, 1);
  return sine_of(t);
}
Value near_tangent(const Value& x) {
  Turn t = turn(x);
  Value odd = has_bit(t.quarters, 1);
  return hlo::select(odd, hlo::negate(t.cosine), t.sine) / hlo::select(odd, t.sine, t.cosine);
}

/// `near` where it holds for all elements, else `anywhere`.
template <Map near, Map anywhere>
Values trigonometric(Context& c) {
  ElementType type = to_floating(c, c.type("self").element);
  Value x = operand(c, "self", type);
  if (!c.settings().is_cpu || x.element() != ElementType::F32) return {hlo::convert(anywhere(x), type)};
  // A loop of at most one round: XLA:CPU would compute both branches of an `if`. It would also take out of the loop
  // what does not change in it, so x is made to change.
  Value is_near = hlo::reduce(hlo::le(hlo::abs(x), like(x, kFarthest)), all_dims(x), hlo::Reducer::And);
  auto pending = [](const Values& v) -> Values { return {v[0]}; };
  auto replace = [](const Values& v) -> Values { return {hlo::not_(v[0]), hlo::negate(v[1]), anywhere(v[1])}; };
  return {hlo::convert(hlo::while_({hlo::not_(is_near), x, near(x)}, pending, replace)[2], type)};
}

// ------------------------------------------------------------------------------------------------- rounding

Value fraction(const Value& x) { return x - truncate(x); }

// Rounds x * 10^d and scales back; the power of ten is exact in the type up to 10^10 (float32) and 10^22 (float64).
Values round_decimals(Context& c) {
  ElementType type = c.type("self").element;
  int64_t decimals = c.integer("decimals");
  expect_kind(c, type, kReal);
  Value x = operand(c, "self", type);
  if (decimals == 0) return {hlo::convert(hlo::round_nearest_even(x), type)};
  // A barrier keeps XLA from dividing by a constant through its reciprocal.
  Value scale = hlo::optimization_barrier(hlo::constant(c.builder(), x.element(), std::pow(10.0, std::abs(decimals))));
  scale = hlo::broadcast(scale, x.dims());
  Value rounded =
      decimals > 0 ? hlo::round_nearest_even(x * scale) / scale : hlo::round_nearest_even(x / scale) * scale;
  return {hlo::convert(rounded, type)};
}

// --------------------------------------------------------------------------------------------------- others

// The exponent field of the bits, of a subnormal number that of its mantissa as an integer: XLA's arithmetic flushes
// subnormals.
Values frexp(Context& c) {
  ElementType type = c.type("self").element;
  c.expect(is_floating(type), ErrorCode::InvalidArgument, "torch.frexp() only supports floating-point dtypes");
  Value x = operand(c, "self", type);
  FloatBits format = float_bits(x.element());
  ElementType word = format.word;
  // The mantissa is in [1/2, 1), not in [1, 2).
  int mantissa_bits = format.mantissa_bits, bias = format.bias - 1;
  int64_t low_mask = (int64_t{1} << mantissa_bits) - 1, exponent_mask = 2 * format.bias + 1;
  auto exponent_field = [&](const Value& bits) {
    return hlo::and_(hlo::shift_right_logical(bits, like(bits, mantissa_bits)), like(bits, exponent_mask));
  };

  Value bits = hlo::bitcast_convert(x, word);
  Value field = exponent_field(bits);
  Value low = hlo::and_(bits, like(bits, low_mask));
  Value is_subnormal = hlo::and_(hlo::eq(field, zeros_like(field)), hlo::ne(low, zeros_like(low)));
  Value normal_bits = hlo::bitcast_convert(hlo::convert(low, x.element()), word);
  Value exponent = hlo::select(is_subnormal, exponent_field(normal_bits) - like(bits, 2 * bias + mantissa_bits),
                               field - like(bits, bias));
  Value mantissa = hlo::select(is_subnormal, hlo::and_(normal_bits, like(bits, low_mask)), low);
  mantissa = hlo::bitcast_convert(hlo::or_(mantissa, like(bits, int64_t{bias} << mantissa_bits)), x.element());

  Value unchanged = hlo::or_(hlo::eq(field, like(field, exponent_mask)),
                             hlo::and_(hlo::eq(field, zeros_like(field)), hlo::eq(low, zeros_like(low))));
  mantissa = hlo::select(unchanged, x, copy_sign(mantissa, x));
  exponent = hlo::select(unchanged, zeros_like(exponent), exponent);
  return {hlo::convert(mantissa, type), hlo::convert(exponent, ElementType::S32)};
}

Values nan_to_num(Context& c) {
  ElementType type = c.type("self").element;
  Value self = c.tensor("self");
  if (!is_floating(type) && !is_complex(type)) return {self};
  auto replace = [&](const Value& x) {
    auto number = [&](const char* name, Value otherwise) {
      return hlo::broadcast(c.has(name) ? c.scalar(name, x.element()) : otherwise, x.dims());
    };
    ElementType part = x.element();
    // The finite extremes, as constants of the type.
    double largest = part == ElementType::F64    ? 1.7976931348623157e308
                     : part == ElementType::F16  ? 65504.0
                     : part == ElementType::BF16 ? 3.3895313892515355e38
                                                 : 3.4028234663852886e38;
    Value nan = number("nan", hlo::constant(c.builder(), part, 0.0));
    Value high = number("posinf", hlo::constant(c.builder(), part, largest));
    Value low = number("neginf", hlo::constant(c.builder(), part, -largest));
    Value finite = hlo::select(is_infinity<-1>(x), low, hlo::select(is_infinity<1>(x), high, x));
    return hlo::select(is_nan(x), nan, finite);
  };
  return {by_parts(self, replace)};
}

/// log Gamma_p(x) = p (p - 1) / 4 log pi + sum over j < p of lgamma(x - j / 2).
Values mvlgamma(Context& c) {
  int64_t p = c.integer("p");
  ElementType type = to_floating(c, c.type("self").element);
  c.expect(p >= 1, ErrorCode::InvalidArgument, "p has to be greater than or equal to 1");
  expect_kind(c, type, kReal);
  Value x = operand(c, "self", type);
  Dims dims = x.dims(), map = all_dims(x);
  dims.push_back(p);
  Type grid{x.element(), dims};
  Value shifted = hlo::broadcast_in_dim(x, dims, map) -
                  hlo::iota(c.builder(), grid, x.rank()) * hlo::constant(c.builder(), grid, 0.5);
  Value sum = hlo::reduce(hlo::lgamma(shifted), {x.rank()}, hlo::Reducer::Add);
  double offset = static_cast<double>(p * (p - 1)) / 4 * std::log(std::numbers::pi);
  return {hlo::convert(sum + like(x, offset), type)};
}

Values angle(Context& c) {
  ElementType type = to_floating(c, c.type("self").element);
  return {hlo::convert(angle_of(operand(c, "self", type)), real_of(type))};
}

}  // namespace

Table unary_table() {
  return {
      // Sign and parts.
      row("abs.out", absolute),
      row("angle", angle).pointwise(),
      row("angle.out", angle),
      row("conj_physical.out", map<hlo::conj>),
      row("neg.out", map<negated, kNumber>),
      row("sgn.out", map<complex_sign>),
      row("sign.out", map<sign_of, kIntegral | kReal>),

      // Predicates.
      row("bitwise_not.out", map<bits_flipped, kIntegral>),
      row("isnan", predicate<not_a_number>).pointwise(),
      row("isneginf.out", predicate<is_infinity<-1>, kIntegral | kReal>),
      row("isposinf.out", predicate<is_infinity<1>, kIntegral | kReal>),
      row("logical_not.out", predicate<negated_truth>),
      row("signbit.out", predicate<sign_bit, kIntegral | kReal>),

      // Exponents, logarithms, roots.
      row("exp.out", floating<hlo::exponential>),
      row("exp2.out", floating<exp2_any>),
      row("expm1.out", floating<hlo::exponential_minus_one>),
      row("log.out", floating<hlo::log>),
      row("log10.out", floating<log10>),
      row("log1p.out", floating<log1p>),
      row("log2.out", floating<log2_any>),
      row("reciprocal.out", floating<inverse>),
      row("rsqrt.out", floating<hlo::rsqrt>),
      row("sqrt.out", floating<hlo::sqrt>),

      // Trigonometric and hyperbolic.
      row("acos.out", floating<arccosine>),
      row("acosh.out", floating<hlo::acosh>),
      row("asin.out", floating<arcsine>),
      row("asinh.out", floating<hlo::asinh>),
      row("atan.out", floating<arctangent>),
      row("atanh.out", floating<hlo::atanh>),
      row("cos.out", trigonometric<near_cosine, hlo::cosine>).host_kernel_alone(is_large),
      row("cosh.out", floating<hlo::cosh>),
      row("sin.out", trigonometric<near_sine, hlo::sine>).host_kernel_alone(is_large),
      row("sinc.out", floating<sinc>),
      row("sinh.out", floating<hlo::sinh>),
      row("tan.out", trigonometric<near_tangent, hlo::tan>),
      row("tanh.out", floating<hlo::tanh>),

      // Error and gamma functions.
      row("erf.out", floating<hlo::erf, kReal>),
      row("erfc.out", floating<hlo::erfc, kReal>),
      row("erfinv.out", floating<hlo::erf_inv, kReal>),
      row("lgamma.out", floating<hlo::lgamma, kReal>),
      row("mvlgamma.out", mvlgamma),

      // Rounding and pieces of floats.
      row("ceil.out", unless_integral<hlo::ceil>),
      row("floor.out", unless_integral<hlo::floor>),
      row("frac.out", map<fraction, kReal>),
      row("frexp.Tensor_out", frexp),
      row("nan_to_num.out", nan_to_num),
      row("round.out", unless_integral<hlo::round_nearest_even>),
      row("round.decimals_out", round_decimals),
      row("trunc.out", unless_integral<truncate>),
  };
}

}  // namespace tpu::ops
