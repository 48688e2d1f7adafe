// Family binary: functions of two and three operands, element by element: arithmetic, comparisons, bits, selection.
// What goes in: tensors or numbers that broadcast and promote as TensorIterator does.
#include <cmath>
#include <numbers>

#include "ops/elementwise.h"

namespace tpu::ops {

namespace {

using hlo::like;
using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------- shared moves

bool is_exact(const Value& x) { return is_integral(x.element()) || x.element() == ElementType::Pred; }

Value both(const Value& a, const Value& b) { return hlo::and_(a, b); }
Value either(const Value& a, const Value& b) { return hlo::or_(a, b); }
Value is_negative(const Value& x) { return hlo::lt(x, zeros_like(x)); }
Value is_zero(const Value& x) { return hlo::eq(x, zeros_like(x)); }

/// The operands of a division, with PyTorch's check of an integer divisor. Its kernels of remainders round a number to
/// a half type before they widen it, those of quotients do not.
Values dividend_and_divisor(Context& c, ElementType common, bool rounds_numbers) {
  Value a = operand(c, "self", common), b = operand(c, "other", common);
  if (rounds_numbers) a = round_to(a, common), b = round_to(b, common);
  Values wide = broadcast_together({a, b});
  if (is_exact(b) && wide[0].type.count() > 0)
    c.require_not(is_zero(b), b, ErrorCode::InvalidArgument, "ZeroDivisionError");
  return wide;
}

/// x * the run-time number `name`, which is left out where it is known to be 1.
Value times(Context& c, const char* name, const Value& x) {
  return c.known(name) == 1.0 ? x : number_like(c, name, x) * x;
}

// ---------------------------------------------------------------------------------------------- arithmetic

Values add(Context& c) {
  ElementType common = result_type(c, {"self", "other"});
  Values x = operands(c, {"self", "other"}, common);
  return {hlo::convert(x[0] + times(c, "alpha", x[1]), common)};
}

Values subtract(Context& c) {
  ElementType common = result_type(c, {"self", "other"});
  Values x = operands(c, {"self", "other"}, common);
  return {hlo::convert(x[0] - times(c, "alpha", x[1]), common)};
}

Values rsub(Context& c) {
  bool a = c.type("self").element == ElementType::Pred, b = c.type("other").element == ElementType::Pred;
  c.expect(!a || !b, ErrorCode::InvalidArgument,
           "Subtraction, the `-` operator, with two bool tensors is not supported. "
           "Use the `^` or `logical_xor()` operator instead.");
  c.expect(!a && !b, ErrorCode::InvalidArgument,
           "Subtraction, the `-` operator, with a bool tensor is not supported. "
           "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  ElementType common = result_type(c, {"self", "other"});
  c.expect(!is_integral(common) || c.scalar_kind("alpha") != Scalar::Kind::Double, ErrorCode::InvalidArgument,
           "For integral input tensors, argument alpha must not be a floating point number.");
  Values x = operands(c, {"self", "other"}, common);
  return {hlo::convert(x[1] - times(c, "alpha", x[0]), common)};
}

Values add_relu(Context& c) {
  ElementType common = result_type(c, {"self", "other"});
  expect_kind(c, common, kReal | kInteger);
  Values x = operands(c, {"self", "other"}, common);
  Value sum = x[0] + times(c, "alpha", x[1]);
  return {hlo::convert(hlo::maximum(sum, zeros_like(sum)), common)};
}

Value product_of(const Value& a, const Value& b) { return a * b; }
Value quotient_of(const Value& a, const Value& b) { return a / b; }

/// One step of long division of x >= y > 0 in float64, both with 24 significant bits: x less a multiple of y, which is
/// exact since the digit is cut to 29 bits. Digits rounded up are taken back.
Value reduced(const Value& x, const Value& y) {
  Value bits = hlo::bitcast_convert(x / y, ElementType::S64);
  Value digit = hlo::floor(hlo::bitcast_convert(both(bits, like(bits, -(int64_t{1} << 24))), ElementType::F64));
  Value rest = x - digit * y;
  return hlo::select(is_negative(rest), rest + y, rest);
}

/// The exact remainder of float32 numbers with the sign of the dividend. XLA:CPU calls fmod element by element (50 ms
/// for a million).
Value float_remainder(const Value& a, const Value& b) {
  Value x = hlo::abs(hlo::convert(a, ElementType::F64)), y = hlo::abs(hlo::convert(b, ElementType::F64));
  Value finite = both(hlo::is_finite(x), hlo::is_finite(y));
  Value divisible = both(finite, hlo::gt(y, zeros_like(y)));
  Value divisor = hlo::select(divisible, y, like(y, 1)), dividend = hlo::select(divisible, x, zeros_like(x));
  // Rarely more than the first digit.
  auto unfinished = [](const Values& v) -> Values {
    return {hlo::reduce(hlo::ge(v[0], v[1]), all_dims(v[0]), hlo::Reducer::Or)};
  };
  auto step = [](const Values& v) -> Values { return {reduced(v[0], v[1]), v[1]}; };
  Value rest = hlo::while_({reduced(dividend, divisor), divisor}, unfinished, step)[0];
  Value value = copy_sign(hlo::convert(rest, ElementType::F32), a);
  Value whole = both(hlo::is_finite(a), hlo::eq(hlo::abs(b), like(b, HUGE_VAL)));
  return hlo::select(divisible, value, hlo::select(whole, a, like(a, NAN)));
}

Value remainder(Context& c, const Value& a, const Value& b) {
  return c.settings().is_cpu && a.element() == ElementType::F32 ? float_remainder(a, b) : hlo::remainder(a, b);
}

/// a / b rounded down. Floats the way Python does it, from the exact remainder, so that (a // b) * b + a % b = a.
Value floor_quotient(Context& c, const Value& a, const Value& b) {
  Value rest = remainder(c, a, b);
  if (is_exact(a)) {
    Value quotient = a / b;
    if (!is_signed(a.element())) return quotient;
    Value off = both(hlo::not_(is_zero(rest)), hlo::ne(is_negative(rest), is_negative(b)));
    return hlo::select(off, quotient - like(a, 1), quotient);
  }
  Value quotient = (a - rest) / b;
  Value off = both(hlo::ne(rest, zeros_like(rest)), hlo::ne(is_negative(rest), is_negative(b)));
  quotient = hlo::select(off, quotient - like(a, 1), quotient);
  // The quotient is a whole number up to rounding; a zero takes the sign of the exact quotient.
  Value down = hlo::floor(quotient);
  Value whole = hlo::select(hlo::gt(quotient - down, like(a, 0.5)), down + like(a, 1), down);
  whole = hlo::select(is_zero(quotient), copy_sign(zeros_like(a), a / b), whole);
  return hlo::select(is_zero(b), a / b, whole);
}

// PyTorch rounds the quotient of half types before it truncates, but not for a number or 0-d tensor as divisor.
Value truncated_quotient(Context& c, const Value& a, const Value& b) {
  if (is_exact(a)) return a / b;
  bool rounds = c.category("other") == Category::Dimensioned;
  return truncate(rounds ? round_to(a / b, result_type(c, {"self", "other"})) : a / b);
}

/// The remainder with the sign of the divisor.
Value floor_remainder(Context& c, const Value& a, const Value& b) {
  Value rest = remainder(c, a, b);
  if (is_exact(a) && !is_signed(a.element())) return rest;
  Value off = both(hlo::ne(rest, zeros_like(rest)), hlo::ne(is_negative(rest), is_negative(b)));
  return hlo::select(off, rest + b, rest);
}

template <auto f, bool rounds_numbers = false>
Values division(Context& c) {
  ElementType common = result_type(c, {"self", "other"});
  expect_kind(c, common, kInteger | kReal);
  Values x = dividend_and_divisor(c, common, rounds_numbers);
  return {hlo::convert(f(c, x[0], x[1]), common)};
}

Values divide_with_mode(Context& c) {
  if (!c.has("rounding_mode")) return floating2<quotient_of>(c);
  return c.text("rounding_mode") == "floor" ? division<floor_quotient>(c) : division<truncated_quotient>(c);
}

/// self + value * (tensor1 op tensor2)
template <Map2 f>
Values add_scaled(Context& c) {
  ElementType common = result_type(c, {"self", "tensor1", "tensor2"});
  expect_kind(c, common, kNumber);
  Values x = operands(c, {"self", "tensor1", "tensor2"}, common);
  return {hlo::convert(x[0] + f(times(c, "value", x[1]), x[2]), common)};
}

/// self + weight * (end - self), from the nearer end, so that weight = 1 gives `end` exactly.
Value interpolate(const Value& from, const Value& to, const Value& weight) {
  Value size = hlo::abs(weight);
  Value near = hlo::lt(size, like(size, 0.5));
  Value step = to - from;
  return hlo::select(near, from + weight * step, to - step * (like(weight, 1.0) - weight));
}

Values lerp(Context& c) {
  bool weight_is_tensor = std::string_view(c.call().row->name) == "lerp.Tensor_out";
  ElementType common = weight_is_tensor ? result_type(c, {"self", "end", "weight"}) : result_type(c, {"self", "end"});
  expect_kind(c, common, kInexact);
  if (weight_is_tensor) {
    Values x = operands(c, {"self", "end", "weight"}, common);
    return {hlo::convert(interpolate(x[0], x[1], x[2]), common)};
  }
  Values x = operands(c, {"self", "end"}, common);
  return {hlo::convert(interpolate(x[0], x[1], number_like(c, "weight", x[0])), common)};
}

// -------------------------------------------------------------------------------------------------- powers

/// Integer powers by squaring, which wrap (XLA's do not); exponents not negative.
Value repeated_product(const Value& base, const Value& exponent) {
  auto remains = [](const Values& v) -> Values { return {hlo::reduce(truth(v[2]), all_dims(v[2]), hlo::Reducer::Or)}; };
  auto step = [](const Values& v) -> Values {
    Value odd = truth(both(v[2], like(v[2], 1)));
    return {hlo::select(odd, v[0] * v[1], v[0]), v[1] * v[1], hlo::shift_right_logical(v[2], like(v[2], 1))};
  };
  return hlo::while_({like(base, 1), base, exponent}, remains, step)[0];
}

/// A negative exponent gives 0 but for the bases 1 and -1.
Value integer_power(const Value& base, const Value& exponent) {
  if (!is_signed(base.element())) return repeated_product(base, exponent);
  Value one = like(base, 1), negative = is_negative(exponent);
  Value odd = hlo::ne(both(exponent, one), zeros_like(one));
  Value unit =
      hlo::select(hlo::eq(base, one), one,
                  hlo::select(hlo::eq(base, like(base, -1)), hlo::select(odd, like(base, -1), one), zeros_like(base)));
  return hlo::select(negative, unit, repeated_product(base, hlo::maximum(exponent, zeros_like(exponent))));
}

/// log|x| of float32 numbers in float64, to 40 bits: exponent log 2 + 2 atanh((m - 1) / (m + 1)) by the series of
/// atanh.
Value wide_log(const Value& x) {
  Value size = hlo::abs(x);
  Split split = split_exponent(size);
  Value m = hlo::convert(split.mantissa, ElementType::F64), one = like(m, 1);
  Value s = (m - one) / (m + one);
  Value series = s * polynomial(s * s, {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15});
  Value value = hlo::convert(split.exponent, ElementType::F64) * like(m, std::numbers::ln2) + series;
  return hlo::select(split.valid, value, hlo::convert(hlo::log(size), ElementType::F64));
}

/// |base|^exponent as exp(exponent * log|base|) in float64, where logarithm and product keep what float32 needs; the
/// sign and the special cases as in C. XLA:CPU calls the C library element by element for its own.
Value float_power(const Value& base, const Value& exponent) {
  Value y = hlo::convert(exponent, ElementType::F64);
  Value value = hlo::convert(hlo::exponential(y * wide_log(base)), ElementType::F32);
  Value zero = zeros_like(base), one = like(base, 1);
  Value whole = hlo::eq(exponent, hlo::floor(exponent));
  Value half = exponent * like(exponent, 0.5);
  Value odd = both(whole, hlo::ne(half, hlo::floor(half)));
  Value negative = hlo::lt(copy_sign(one, base), zero);
  value = hlo::select(both(negative, odd), hlo::negate(value), value);
  Value undefined = both(both(hlo::lt(base, zero), hlo::is_finite(base)), hlo::not_(whole));
  value = hlo::select(undefined, like(base, NAN), value);
  Value unit = either(hlo::eq(base, one),
                      both(hlo::eq(base, like(base, -1)), hlo::eq(hlo::abs(exponent), like(base, HUGE_VAL))));
  return hlo::select(either(unit, hlo::eq(exponent, zero)), one, value);
}

Value raise(Context& c, const Value& base, const Value& exponent) {
  if (is_exact(base)) return integer_power(base, exponent);
  if (!c.settings().is_cpu) return hlo::power(base, exponent);
  if (base.element() == ElementType::F32) return float_power(base, exponent);
  if (base.element() != ElementType::C64) return hlo::power(base, exponent);
  ElementType wide = ElementType::C128;
  return hlo::convert(hlo::power(hlo::convert(base, wide), hlo::convert(exponent, wide)), ElementType::C64);
}

Values power(Context& c) {
  ElementType common = result_type(c, {"self", "exponent"});
  expect_kind(c, common, kNumber);
  Values x = operands(c, {"self", "exponent"}, common);
  return {hlo::convert(raise(c, x[0], x[1]), common)};
}

// Exponents that are structure have programs of their own; the meta function has refused negative ones of integers.
Value power_known(const Value& x, double exponent) {
  if (exponent == 0) return like(x, 1);
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == 0.5) return hlo::sqrt(x);
  if (exponent == -0.5) return hlo::rsqrt(x);
  if (exponent == -1) return reciprocal(x);
  return reciprocal(x * x);
}

Values power_number(Context& c) {
  ElementType common = result_type(c, {"self", "exponent"});
  std::optional<double> exponent = c.known("exponent");
  if (!exponent) {
    expect_kind(c, common, kNumber);
    Value x = operand(c, "self", common);
    Value e = number_like(c, "exponent", x);
    return {hlo::convert(is_exact(x) ? repeated_product(x, e) : raise(c, x, e), common)};
  }
  return {hlo::convert(power_known(operand(c, "self", common), *exponent), common)};
}

Values number_power(Context& c) {
  ElementType common = result_type(c, {"self", "exponent"});
  expect_kind(c, common, kNumber);
  Value e = operand(c, "exponent", common);
  return {hlo::convert(raise(c, number_like(c, "self", e), e), common)};
}

// ------------------------------------------------------------------------------- functions of two operands

/// sqrt(a^2 + b^2) without overflow on the way; infinite if any is, even beside NaN.
Value hypotenuse(const Value& a, const Value& b) {
  Value x = hlo::abs(a), y = hlo::abs(b);
  Value high = hlo::maximum(x, y), low = hlo::minimum(x, y);
  Value ratio = hlo::select(is_zero(high), high, low / high);
  Value length = high * hlo::sqrt(like(a, 1) + ratio * ratio);
  Value infinity = like(a, HUGE_VAL);
  return hlo::select(either(hlo::eq(x, infinity), hlo::eq(y, infinity)), infinity, length);
}

// In the type itself: the neighbour of a half-precision number is not that of its float32 value.
Values next_after(Context& c) {
  ElementType common = result_type(c, {"self", "other"});
  expect_kind(c, common, kReal);
  Values x = broadcast_together({c.tensor("self", common), c.tensor("other", common)});
  return {hlo::next_after(x[0], x[1])};
}

/// The sign of the second operand on the first.
Value with_sign(const Value& a, const Value& b) { return copy_sign(a, b); }

/// 0 below zero, 1 above, b at zero.
Value heaviside(const Value& a, const Value& b) {
  Value zero = zeros_like(a);
  // bool has no order here: x > 0 is x itself.
  Value above = a.element() == ElementType::Pred ? a : hlo::convert(hlo::gt(a, zero), a.element());
  return hlo::select(hlo::eq(a, zero), b, above);
}

/// x * log(y) with 0 at x = 0, but NaN where y is NaN.
template <Map logarithm>
Value times_log(const Value& x, const Value& y) {
  Value product = hlo::select(is_zero(x), zeros_like(x), x * logarithm(y));
  return hlo::select(is_nan(y), y, product);
}

/// Of two complex numbers the one with the larger (smaller) real part.
Value by_real_part(const Value& a, const Value& b, bool larger) {
  Value first = hlo::ge(hlo::real(a), hlo::real(b));
  return larger ? hlo::select(first, a, b) : hlo::select(first, b, a);
}

Value complex_logaddexp(const Value& a, const Value& b) {
  Value high = by_real_part(a, b, true), low = by_real_part(a, b, false);
  Value result = log1p(hlo::exponential(low - high)) + high;
  // Two equal infinite real parts: their difference is NaN.
  Value real = hlo::real(low), infinity = like(real, HUGE_VAL);
  Value equal = hlo::eq(real, hlo::real(high));
  result = hlo::select(both(equal, hlo::eq(real, infinity)), hlo::log(hlo::exponential(low) + hlo::exponential(high)),
                       result);
  return hlo::select(both(equal, hlo::eq(real, hlo::negate(infinity))), low, result);
}

Value natural_softplus(const Value& x) { return log1p(hlo::exponential(x)); }
Value binary_softplus(const Value& x) { return log1p(exp2(x)) * like(x, 1 / std::numbers::ln2); }

/// log(e^a + e^b) = max + log(1 + e^-|a - b|), and the same of base 2; equal infinities stay.
template <Map softplus>
Value log_of_sum(const Value& a, const Value& b) {
  if (is_complex(a.element())) return complex_logaddexp(a, b);
  Value same = both(hlo::eq(a, b), hlo::eq(hlo::abs(a), like(a, HUGE_VAL)));
  return hlo::select(same, a, hlo::maximum(a, b) + softplus(hlo::negate(hlo::abs(a - b))));
}

// fmax and fmin choose the number where one operand is NaN.
template <Map2 choose>
Value ignoring_nan(const Value& a, const Value& b) {
  if (is_exact(a)) return choose(a, b);
  return hlo::select(is_nan(a), b, hlo::select(is_nan(b), a, choose(a, b)));
}

/// Euclid's algorithm on all elements at once, until every remainder is zero.
Value common_divisor(const Value& a, const Value& b) {
  auto magnitude = [](const Value& x) { return is_signed(x.element()) ? hlo::abs(x) : x; };
  auto remains = [](const Values& x) -> Values { return {hlo::reduce(truth(x[1]), all_dims(x[1]), hlo::Reducer::Or)}; };
  auto step = [](const Values& x) -> Values {
    Value done = is_zero(x[1]);
    return {hlo::select(done, x[0], x[1]), hlo::select(done, x[1], hlo::remainder(x[0], x[1]))};
  };
  return magnitude(hlo::while_({magnitude(a), magnitude(b)}, remains, step)[0]);
}

// Narrow types are multiplied in 32 bits, as C does.
Value common_multiple(const Value& a, const Value& b) {
  ElementType wide = size_of(a.element()) < 4 ? ElementType::S32 : a.element();
  Value divisor = common_divisor(a, b);
  Value quotient = hlo::select(is_zero(divisor), zeros_like(a), a / divisor);
  Value product = hlo::convert(quotient, wide) * hlo::convert(b, wide);
  return hlo::convert(is_signed(wide) ? hlo::abs(product) : product, a.element());
}

Values complex_from(Context& c, const std::function<Value(const Value&, const Value&)>& f, const char* first,
                    const char* second) {
  ElementType a = c.type(first).element, b = c.type(second).element;
  auto fits = [](ElementType type) {
    return type == ElementType::F16 || type == ElementType::F32 || type == ElementType::F64;
  };
  c.expect(fits(a) && fits(b), ErrorCode::InvalidArgument,
           "Expected both inputs to be Half, Float or Double tensors but got ", scalar_type_name(a), " and ",
           scalar_type_name(b));
  c.expect(a == b, ErrorCode::InvalidArgument, "Expected object of scalar type ", scalar_type_name(a),
           " but got scalar type ", scalar_type_name(b), " for second argument");
  Values x = operands(c, {first, second}, a);
  return {f(x[0], x[1])};
}

Values complex_of_parts(Context& c) { return complex_from(c, hlo::complex, "real", "imag"); }

Values polar(Context& c) {
  auto rotate = [](const Value& size, const Value& angle) {
    return hlo::complex(size * hlo::cosine(angle), size * hlo::sine(angle));
  };
  return complex_from(c, rotate, "abs", "angle");
}

// ------------------------------------------------------------------------------------- comparisons, logic, bits

template <hlo::Comparison direction>
Values compare(Context& c) {
  bool ordered = direction != hlo::Comparison::Eq && direction != hlo::Comparison::Ne;
  ElementType common = result_type(c, {"self", "other"});
  expect_kind(c, common, ordered ? kIntegral | kReal : kAnything);
  // In the common type itself: a number is rounded to it before it is compared, also in half types.
  Values x = broadcast_together({c.tensor("self", common), c.tensor("other", common)});
  return {hlo::compare(x[0], x[1], direction)};
}

Value conjunction(const Value& a, const Value& b) { return hlo::and_(a, b); }
Value disjunction(const Value& a, const Value& b) { return hlo::or_(a, b); }
Value difference(const Value& a, const Value& b) { return hlo::xor_(a, b); }

template <Map2 f>
Values logical(Context& c) {
  Values x = broadcast_together({truth(c.tensor("self")), truth(c.tensor("other"))});
  return {f(x[0], x[1])};
}

// StableHLO shifts by a count out of range give 0, or the sign in an arithmetic shift right, as PyTorch's do.
Value shifted_left(const Value& a, const Value& b) { return hlo::shift_left(a, b); }
Value shifted_right(const Value& a, const Value& b) {
  return is_signed(a.element()) ? hlo::shift_right_arithmetic(a, b) : hlo::shift_right_logical(a, b);
}

// ----------------------------------------------------------------------------------------------- selection

/// min(max(self, min), max) with what bounds there are; NaN of any operand propagates, and max wins over min.
template <bool has_min, bool has_max, unsigned kinds = kInteger | kReal>
Values clamp(Context& c) {
  bool low = has_min && c.has("min"), high = has_max && c.has("max");
  ElementType common = c.type("self").element;
  if (low && high)
    common = result_type(c, {"self", "min", "max"});
  else if (low)
    common = result_type(c, {"self", "min"});
  else if (high)
    common = result_type(c, {"self", "max"});
  expect_kind(c, common, kinds);
  Values x{operand(c, "self", common)};
  if (low) x.push_back(operand(c, "min", common));
  if (high) x.push_back(operand(c, "max", common));
  x = broadcast_together(x);
  Value result = x[0];
  if (low) result = hlo::maximum(result, x[1]);
  if (high) result = hlo::minimum(result, x.back());
  return {hlo::convert(result, common)};
}

Values where(Context& c) {
  ElementType condition = c.type("condition").element;
  c.expect(condition == ElementType::Pred || condition == ElementType::U8, ErrorCode::InvalidArgument,
           "where expected condition to be a boolean tensor, but got a tensor with dtype ",
           scalar_type_name(condition));
  ElementType common = result_type(c, {"self", "other"});
  Values x = broadcast_together({truth(c.tensor("condition")), c.tensor("self", common), c.tensor("other", common)});
  return {hlo::select(x[0], x[1], x[2])};
}

Values masked_fill(Context& c) {
  Type type = c.type("self");
  c.expect(c.type("mask").element == ElementType::Pred, ErrorCode::InvalidArgument,
           "masked_fill_ only supports boolean masks, but got mask with dtype ", torch_name(c.type("mask").element));
  c.expect(c.type("value").rank() == 0, ErrorCode::InvalidArgument,
           "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", c.type("value").rank(),
           " dimension(s).");
  ElementType value_type = c.type("value").element;
  c.expect(is_complex(type.element) || !is_complex(value_type), ErrorCode::InvalidArgument,
           "value cannot be converted to type ", torch_name(type.element), " without overflow");
  Dims mask = c.type("mask").dims;
  Dims dims = broadcast_dims(type.dims, mask);
  c.expect(dims == type.dims, ErrorCode::InvalidArgument, "output with shape ", to_string(type.dims),
           " doesn't match the broadcast shape ", to_string(dims));
  Value value = hlo::reshape(c.tensor("value", type.element), {});
  return {hlo::select(broadcast_to(c.tensor("mask"), dims), hlo::broadcast(value, dims), c.tensor("self"))};
}

// Whether each element is among the test elements: all pairs, which XLA fuses into the reduction, or, where those are
// many, a binary search in the sorted test elements.
Value is_among(const Value& x, const Value& tests) {
  int64_t count = tests.type.count();
  Dims flat{x.type.count()};
  Value elements = hlo::reshape(x, flat), row = hlo::reshape(tests, {count});
  if (count <= 64 || x.element() == ElementType::Pred) {
    Dims grid{flat[0], count};
    Value equal = hlo::eq(hlo::broadcast_in_dim(elements, grid, {0}), hlo::broadcast_in_dim(row, grid, {1}));
    return hlo::reshape(hlo::reduce(equal, {1}, hlo::Reducer::Or), x.dims());
  }
  auto ascending = [](const Values& v) -> Values {
    return {hlo::compare(v[0], v[1], hlo::Comparison::Lt, is_floating(v[0].element()))};
  };
  Value sorted = hlo::sort({row}, 0, false, ascending)[0];
  auto entry = [](const Value& list, const Value& position) {
    return hlo::gather(list, hlo::reshape(position, {position.type.count(), 1}),
                       {.collapsed_slice_dims = {0}, .start_index_map = {0}, .index_vector_dim = 1}, {1});
  };
  // The last position whose entry is not above the element, bit by bit from the highest.
  int64_t top = 1;
  while (top * 2 < count) top *= 2;
  hlo::Builder& builder = *x.builder;
  Value zero = hlo::constant(builder, {ElementType::S64, flat}, 0);
  auto running = [](const Values& v) -> Values { return {hlo::gt(v[1], zeros_like(v[1]))}; };
  auto halve = [&](const Values& v) -> Values {
    Value next = v[0] + hlo::broadcast(v[1], v[0].dims());
    Value inside = hlo::lt(next, like(next, count));
    Value not_above = hlo::le(entry(v[3], hlo::minimum(next, like(next, count - 1))), v[2]);
    return {hlo::select(both(inside, not_above), next, v[0]), hlo::shift_right_logical(v[1], like(v[1], 1)), v[2],
            v[3]};
  };
  Value position =
      hlo::while_({zero, hlo::constant(builder, ElementType::S64, top), elements, sorted}, running, halve)[0];
  return hlo::reshape(hlo::eq(entry(sorted, position), elements), x.dims());
}

template <const char* const& elements, const char* const& tests>
Values is_in(Context& c) {
  ElementType common = result_type(c, {elements, tests});
  expect_kind(c, common, kIntegral | kReal);
  Value found = is_among(c.tensor(elements, common), c.tensor(tests, common));
  return {c.flag("invert") ? hlo::not_(found) : found};
}

constexpr const char* kValues = "values";
constexpr const char* kElements = "elements";
constexpr const char* kElement = "element";
constexpr const char* kTestElements = "test_elements";
constexpr const char* kTestElement = "test_element";

using enum hlo::Comparison;

}  // namespace

Table binary_table() {
  return {
      // Arithmetic.
      row("add.out", add).special("alpha", {1}),
      row("sub.out", subtract).special("alpha", {1}),
      row("rsub.Tensor", rsub).special("alpha", {1}).pointwise(),
      row("_add_relu.Scalar", add_relu).special("alpha", {1}).pointwise(),
      row("_add_relu.Tensor", add_relu).special("alpha", {1}).pointwise(),
      row("_add_relu.out", add_relu).special("alpha", {1}),
      row("_add_relu_.Scalar", add_relu).special("alpha", {1}),
      row("_add_relu_.Tensor", add_relu).special("alpha", {1}),
      row("mul.out", map2<product_of>),
      row("div.out", floating2<quotient_of>),
      row("div.out_mode", divide_with_mode),
      row("floor_divide", division<floor_quotient>).pointwise(),
      row("floor_divide.out", division<floor_quotient>),
      row("floor_divide_.Tensor", division<floor_quotient>),
      row("fmod.Tensor_out", division<remainder, true>),
      row("remainder.Tensor_out", division<floor_remainder, true>),
      row("remainder.Scalar_Tensor", division<floor_remainder, true>).pointwise(),
      row("addcmul.out", add_scaled<product_of>).special("value", {1}),
      row("addcdiv.out", add_scaled<quotient_of>).special("value", {1}),
      row("lerp.Scalar_out", lerp),
      row("lerp.Tensor_out", lerp),

      // Powers.
      row("pow.Tensor_Tensor_out", power),
      row("pow.Tensor_Scalar_out", power_number).special("exponent", {0, 1, 2, 3, 0.5, -0.5, -1, -2}),
      row("pow.Scalar_out", number_power),

      // Functions of two operands.
      row("atan2.out", floating2<arctangent2, kReal>),
      row("complex.out", complex_of_parts),
      row("copysign.out", floating2<with_sign, kReal>),
      row("fmax.out", map2<ignoring_nan<hlo::maximum>, kIntegral | kReal>),
      row("fmin.out", map2<ignoring_nan<hlo::minimum>, kIntegral | kReal>),
      row("gcd.out", map2<common_divisor, kInteger>),
      row("heaviside.out", map2<heaviside, kIntegral | kReal, kSelf, kValues>),
      row("hypot.out", map2<hypotenuse, kReal>),
      row("lcm.out", map2<common_multiple, kInteger>),
      row("logaddexp.out", map2<log_of_sum<natural_softplus>, kInexact>),
      row("logaddexp2.out", map2<log_of_sum<binary_softplus>, kReal>),
      row("maximum.out", map2<hlo::maximum, kIntegral | kReal>),
      row("minimum.out", map2<hlo::minimum, kIntegral | kReal>),
      row("nextafter.out", next_after),
      row("polar.out", polar),
      row("special_xlog1py.out", floating2<times_log<log1p>, kReal>),
      row("xlogy.OutTensor", floating2<times_log<hlo::log>, kReal>),

      // Comparisons.
      row("eq.Scalar_out", compare<Eq>),
      row("eq.Tensor_out", compare<Eq>),
      row("ge.Scalar_out", compare<Ge>),
      row("ge.Tensor_out", compare<Ge>),
      row("gt.Scalar_out", compare<Gt>),
      row("gt.Tensor_out", compare<Gt>),
      row("le.Scalar_out", compare<Le>),
      row("le.Tensor_out", compare<Le>),
      row("lt.Scalar_out", compare<Lt>),
      row("lt.Tensor_out", compare<Lt>),
      row("ne.Scalar_out", compare<Ne>),
      row("ne.Tensor_out", compare<Ne>),

      // Logic and bits.
      row("logical_and.out", logical<conjunction>),
      row("logical_or.out", logical<disjunction>),
      row("logical_xor.out", logical<difference>),
      row("bitwise_and.Tensor_out", map2<conjunction, kIntegral>),
      row("bitwise_or.Tensor_out", map2<disjunction, kIntegral>),
      row("bitwise_xor.Tensor_out", map2<difference, kIntegral>),
      row("bitwise_left_shift.Tensor_out", map2<shifted_left, kInteger>),
      row("bitwise_right_shift.Tensor_out", map2<shifted_right, kInteger>),
      row("__lshift__.Scalar", map2<shifted_left, kInteger>).pointwise(),
      row("__lshift__.Tensor", map2<shifted_left, kInteger>).pointwise(),
      row("__rshift__.Scalar", map2<shifted_right, kInteger>).pointwise(),
      row("__rshift__.Tensor", map2<shifted_right, kInteger>).pointwise(),
      row("__ilshift__.Scalar", map2<shifted_left, kInteger>),
      row("__ilshift__.Tensor", map2<shifted_left, kInteger>),
      row("__irshift__.Scalar", map2<shifted_right, kInteger>),
      row("__irshift__.Tensor", map2<shifted_right, kInteger>),

      // Selection.
      row("clamp.out", clamp<true, true>),
      row("clamp.Tensor_out", clamp<true, true>),
      row("clamp_max.out", clamp<false, true>),
      row("clamp_max.Tensor_out", clamp<false, true, kIntegral | kReal>),
      row("clamp_min.out", clamp<true, false>),
      row("clamp_min.Tensor_out", clamp<true, false, kIntegral | kReal>),
      row("isin.Scalar_Tensor_out", is_in<kElement, kTestElements>),
      row("isin.Tensor_Scalar_out", is_in<kElements, kTestElement>),
      row("isin.Tensor_Tensor_out", is_in<kElements, kTestElements>),
      row("masked_fill_.Scalar", masked_fill),
      row("masked_fill_.Tensor", masked_fill),
      row("where.self", where).pointwise(),
      row("where.self_out", where),
  };
}

}  // namespace tpu::ops
