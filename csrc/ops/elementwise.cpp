#include "ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/special_tables.h"

namespace tpu::ops {

namespace {

unsigned kind_of(ElementType type) {
  if (type == ElementType::Pred) return kBool;
  if (is_integral(type)) return kInteger;
  return is_floating(type) ? kReal : kComplex;
}

/// `bitwise_and` of `bitwise_and.Tensor_out`, `hardtanh` of `hardtanh_`.
std::string_view base_name(const Context& c) {
  std::string_view name = c.call().row->name;
  name = name.substr(0, name.find('.'));
  while (name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  return name;
}

}  // namespace

const char* scalar_type_name(ElementType type) {
  switch (type) {
    case ElementType::Pred: return "Bool";
    case ElementType::S8: return "Char";
    case ElementType::S16: return "Short";
    case ElementType::S32: return "Int";
    case ElementType::S64: return "Long";
    case ElementType::U8: return "Byte";
    case ElementType::U16: return "UInt16";
    case ElementType::U32: return "UInt32";
    case ElementType::U64: return "UInt64";
    case ElementType::F16: return "Half";
    case ElementType::BF16: return "BFloat16";
    case ElementType::F32: return "Float";
    case ElementType::F64: return "Double";
    case ElementType::C64: return "ComplexFloat";
    case ElementType::C128: return "ComplexDouble";
    case ElementType::F8E4M3FN: return "Float8_e4m3fn";
    case ElementType::F8E5M2: return "Float8_e5m2";
    case ElementType::F8E4M3FNUZ: return "Float8_e4m3fnuz";
    case ElementType::F8E5M2FNUZ: return "Float8_e5m2fnuz";
  }
  return "?";
}

void expect_kind(const Context& c, ElementType type, unsigned kinds) {
  bool fits = (kind_of(type) & kinds) != 0 && !(is_floating(type) && size_of(type) == 1);
  c.expect(fits, ErrorCode::NotImplemented, "\"", base_name(c), "\" not implemented for '", scalar_type_name(type),
           "'");
}

hlo::Value operand(Context& c, const char* name, ElementType common) {
  ElementType compute = compute_type(common);
  if (c.category(name) != Category::Dimensioned) return c.tensor(name, compute);
  return hlo::convert(c.tensor(name, common), compute);
}

hlo::Values operands(Context& c, std::initializer_list<const char*> names, ElementType common) {
  hlo::Values values;
  for (const char* name : names) values.push_back(operand(c, name, common));
  return broadcast_together(std::move(values));
}

hlo::Value round_to(const hlo::Value& x, ElementType type) {
  if (type == ElementType::F16) return hlo::reduce_precision(x, 5, 10);
  return type == ElementType::BF16 ? hlo::reduce_precision(x, 8, 7) : x;
}

hlo::Value number_like(Context& c, const char* name, const hlo::Value& x) {
  return hlo::broadcast(c.scalar(name, x.element()), x.dims());
}

FloatBits float_bits(ElementType type) {
  return type == ElementType::F64 ? FloatBits{ElementType::S64, 52, 1023} : FloatBits{ElementType::S32, 23, 127};
}

hlo::Value is_nan(const hlo::Value& x) { return hlo::ne(x, x); }

hlo::Value zeros_like(const hlo::Value& x) { return hlo::like(x, 0); }

hlo::Value reciprocal(const hlo::Value& x) { return hlo::like(x, 1) / x; }

hlo::Value truncate(const hlo::Value& x) { return hlo::select(hlo::lt(x, zeros_like(x)), hlo::ceil(x), hlo::floor(x)); }

hlo::Value copy_sign(const hlo::Value& x, const hlo::Value& sign) {
  bool wide = size_of(x.element()) == 8;
  ElementType bits = wide ? ElementType::U64 : ElementType::U32;
  hlo::Value x_bits = hlo::bitcast_convert(x, bits);
  hlo::Value sign_bits = hlo::bitcast_convert(sign, bits);
  int64_t mask = wide ? INT64_MIN : int64_t{1} << 31;
  hlo::Value merged =
      hlo::or_(hlo::and_(x_bits, hlo::like(x_bits, ~mask)), hlo::and_(sign_bits, hlo::like(x_bits, mask)));
  return hlo::bitcast_convert(merged, x.element());
}

hlo::Value truth(const hlo::Value& x) { return x.element() == ElementType::Pred ? x : hlo::ne(x, zeros_like(x)); }

Dims all_dims(const hlo::Value& x) {
  Dims dims;
  for (int64_t i = 0; i < x.rank(); ++i) dims.push_back(i);
  return dims;
}

hlo::Value polynomial(const hlo::Value& x, std::initializer_list<double> coefficients) {
  const double* k = coefficients.end();
  hlo::Value sum = hlo::like(x, *--k);
  while (k != coefficients.begin()) sum = sum * x + hlo::like(x, *--k);
  return sum;
}

hlo::Value chebyshev(const hlo::Value& t, std::span<const double> c) {
  double largest = 0;
  for (double term : c) largest = std::max(largest, std::abs(term));
  double negligible = largest * (t.element() == ElementType::F64 ? 0 : std::ldexp(1.0, -27));
  while (c.size() > 2 && std::abs(c.back()) <= negligible) c = c.first(c.size() - 1);
  hlo::Value twice = t + t, later = zeros_like(t), sum = hlo::like(t, c.back());
  for (size_t k = c.size() - 2; k > 0; --k) {
    hlo::Value next = twice * sum - later + hlo::like(t, c[k]);
    later = sum;
    sum = next;
  }
  return t * sum - later + hlo::like(t, c[0]);
}

// 2^n from its bits times 2^f = exp(f log 2), n whole and |f| at most 1/2. Exponents beyond the type are cut to where
// both factors still give infinity or (subnormals flushed) zero.
hlo::Value exp2(const hlo::Value& x) {
  auto [word, mantissa_bits, bias] = float_bits(x.element());
  hlo::Value whole = hlo::round_nearest_even(hlo::clamp(hlo::scalar_like(x, -bias), x, hlo::scalar_like(x, bias)));
  hlo::Value bits = hlo::convert(whole, word) + hlo::constant(*x.builder, {word, x.dims()}, bias);
  hlo::Value power = hlo::bitcast_convert(hlo::shift_left(bits, hlo::like(bits, mantissa_bits)), x.element());
  hlo::Value rest = hlo::exponential((x - whole) * hlo::like(x, std::numbers::ln2));
  return power * rest;
}

Split split_exponent(const hlo::Value& x) {
  FloatBits format = float_bits(x.element());
  hlo::Value bits = hlo::bitcast_convert(x, format.word);
  // Counting from the bits of sqrt(1/2) carries into the exponent where the mantissa is above it.
  int64_t half_root = x.element() == ElementType::F64 ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
  hlo::Value above = bits - hlo::like(bits, half_root);
  hlo::Value exponent = hlo::shift_right_arithmetic(above, hlo::like(bits, format.mantissa_bits));
  hlo::Value mantissa = bits - hlo::shift_left(exponent, hlo::like(bits, format.mantissa_bits));
  hlo::Value normal = hlo::and_(hlo::ge(x, hlo::like(x, std::ldexp(1.0, 1 - format.bias))), hlo::is_finite(x));
  return {hlo::convert(exponent, x.element()), hlo::bitcast_convert(mantissa, x.element()), normal};
}

// What cannot be split (zeros, subnormals, infinities, NaN, negative numbers) goes the plain way.
hlo::Value log2(const hlo::Value& x) {
  Split split = split_exponent(x);
  hlo::Value scale = hlo::like(x, 1 / std::numbers::ln2);
  return hlo::select(split.valid, split.exponent + hlo::log(split.mantissa) * scale, hlo::log(x) * scale);
}

// x log(u) / (u - 1) with u = 1 + x: the rounding of u cancels. Goldberg, What every computer scientist should know
// about floating-point arithmetic, 1991, theorem 4.
hlo::Value log1p(const hlo::Value& x) {
  if (is_complex(x.element())) return hlo::log_plus_one(x);
  hlo::Value one = hlo::like(x, 1), u = one + x;
  hlo::Value distance = u - one;
  hlo::Value ratio = hlo::select(hlo::eq(distance, x), hlo::log(u), hlo::log(u) * (x / distance));
  return hlo::select(hlo::eq(u, one), x, ratio);
}

hlo::Value arctangent(const hlo::Value& x) {
  if (is_complex(x.element())) return hlo::atan(x);
  hlo::Value size = hlo::abs(x), one = hlo::like(x, 1);
  hlo::Value steep = hlo::gt(size, one);
  hlo::Value slope = hlo::select(steep, one / size, size);
  hlo::Value angle = slope * chebyshev(hlo::like(x, 2) * slope * slope - one, tables::kArctangent);
  return copy_sign(hlo::select(steep, hlo::like(x, std::numbers::pi / 2) - angle, angle), x);
}

// The angle in the first octant, turned back by what was turned away.
hlo::Value arctangent2(const hlo::Value& y, const hlo::Value& x) {
  hlo::Value width = hlo::abs(x), height = hlo::abs(y), one = hlo::like(x, 1);
  hlo::Value low = hlo::minimum(width, height), high = hlo::maximum(width, height);
  // Equal sizes first: both zero, both infinite.
  hlo::Value equal = hlo::select(hlo::eq(high, zeros_like(x)), high, one);
  hlo::Value slope = hlo::select(hlo::eq(low, high), equal, low / high);
  hlo::Value angle = slope * chebyshev(hlo::like(x, 2) * slope * slope - one, tables::kArctangent);
  angle = hlo::select(hlo::gt(height, width), hlo::like(x, std::numbers::pi / 2) - angle, angle);
  hlo::Value left = hlo::lt(copy_sign(one, x), zeros_like(x));
  return copy_sign(hlo::select(left, hlo::like(x, std::numbers::pi) - angle, angle), y);
}

namespace {
// sqrt(1 - x^2), NaN beyond 1.
hlo::Value complement(const hlo::Value& x) {
  hlo::Value one = hlo::like(x, 1);
  return hlo::sqrt((one - x) * (one + x));
}
}  // namespace

hlo::Value arcsine(const hlo::Value& x) {
  return is_complex(x.element()) ? hlo::asin(x) : arctangent2(x, complement(x));
}
hlo::Value arccosine(const hlo::Value& x) {
  return is_complex(x.element()) ? hlo::acos(x) : arctangent2(complement(x), x);
}

}  // namespace tpu::ops
