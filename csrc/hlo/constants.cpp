#include <limits>

#include "hlo/attributes.h"
#include "hlo/constraint.h"
#include "hlo/literal.h"
#include "hlo/ops.h"

namespace tpu::hlo {

namespace {

template <class Number>
Value dense_list(Builder& builder, const std::vector<Number>& values, ElementType element) {
  std::string text;
  if (!values.empty()) text += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) text += ", ";
    text += literal(element, values[i]);
  }
  if (!values.empty()) text += ']';
  return builder.constant(text, {element, {static_cast<int64_t>(values.size())}});
}

/// A splat of an array without elements is no legal dense attribute; the list without elements is.
Value splat(Builder& builder, const Type& type, const std::string& text) {
  return builder.constant(type.count() == 0 ? "" : text, type);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has_infinity(ElementType element) { return float_value(element, float_bits(element, kInfinity)) == kInfinity; }

double largest_finite(ElementType element) {
  // Only the 8-bit types without infinity get here; their patterns below NaN ascend with the value.
  for (uint64_t bits = 0x7F;; --bits) {
    double value = float_value(element, bits);
    if (value == value) return value;
  }
}

}  // namespace

Value constant(Builder& builder, const Type& type, double value) {
  return splat(builder, type, literal(type.element, value));
}
Value constant(Builder& builder, const Type& type, int64_t value) {
  return splat(builder, type, literal(type.element, value));
}
Value constant(Builder& builder, ElementType element, double value) {
  return builder.constant(literal(element, value), {element, {}});
}
Value constant(Builder& builder, ElementType element, int64_t value) {
  return builder.constant(literal(element, value), {element, {}});
}
Value constant_complex(Builder& builder, ElementType element, double real, double imag) {
  return builder.constant(complex_literal(element, real, imag), {element, {}});
}
Value constant_doubles(Builder& builder, const std::vector<double>& values, ElementType element) {
  return dense_list(builder, values, element);
}
Value constant_ints(Builder& builder, const std::vector<int64_t>& values, ElementType element) {
  return dense_list(builder, values, element);
}

Value iota(Builder& builder, const Type& type, int64_t dim) {
  constexpr std::string_view op = "stablehlo.iota";
  require((kind_of(type.element) & kArithmetic) != 0, op, "expected ", name_of(kArithmetic), ", got ", show(type));
  require_dim(op, "iota_dimension", dim, type.rank());
  return builder.generic(op, {}, type, Attributes().number("iota_dimension", dim).text());
}

Value like(const Value& x, double value) { return constant(*x.builder, x.type, value); }
Value like(const Value& x, int64_t value) { return constant(*x.builder, x.type, value); }

Value max_value(Builder& builder, ElementType element) {
  if (is_floating(element)) {
    return constant(builder, element, has_infinity(element) ? kInfinity : largest_finite(element));
  }
  require(!is_complex(element), "stablehlo.constant", "no largest value of ", mlir_name(element));
  if (element == ElementType::Pred) return constant(builder, element, 1);
  // All ones, without the sign bit of a signed type; narrower than 64 bits the literal wraps.
  uint64_t ones = ~uint64_t{0} >> (64 - 8 * size_of(element));
  return constant(builder, element, static_cast<int64_t>(is_signed(element) ? ones >> 1 : ones));
}

Value min_value(Builder& builder, ElementType element) {
  if (is_floating(element)) {
    return constant(builder, element, has_infinity(element) ? -kInfinity : -largest_finite(element));
  }
  require(!is_complex(element), "stablehlo.constant", "no smallest value of ", mlir_name(element));
  if (!is_signed(element)) return constant(builder, element, 0);
  return constant(builder, element, static_cast<int64_t>(~uint64_t{0} << (8 * size_of(element) - 1)));
}

Value scalar_like(const Value& x, double value) { return constant(*x.builder, x.element(), value); }
Value scalar_like(const Value& x, int64_t value) { return constant(*x.builder, x.element(), value); }

}  // namespace tpu::hlo
