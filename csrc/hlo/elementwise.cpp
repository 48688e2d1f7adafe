#include "hlo/attributes.h"
#include "hlo/constraint.h"
#include "hlo/ops.h"

namespace tpu::hlo {

namespace {

Value unary(std::string_view op, const Value& x, Kinds kinds) {
  require_kind(op, x, kinds);
  return x.builder->uniform(op, {&x});
}

Value binary(std::string_view op, const Value& a, const Value& b, Kinds kinds) {
  require_kind(op, a, kinds);
  require_same(op, a, b);
  return a.builder->uniform(op, {&a, &b});
}

// Sums, differences, products and quotients: a NaN that they return is an operand's or has zeros below.
Value arithmetic(std::string_view op, const Value& a, const Value& b, Kinds kinds) {
  Value result = binary(op, a, b, kinds);
  Builder& builder = *a.builder;
  if (builder.has_short_nans(a) && builder.has_short_nans(b)) builder.set_has_short_nans(result);
  return result;
}

Type with_element(const Value& x, ElementType element) { return {element, x.dims()}; }

// Note [Rounding to bfloat16]
// XLA:CPU's own code for rounding to 16 bits is slow, and a value that is rounded and widened again, as between two
// ops, goes through 16-bit lanes. Written with integers it stays in float32's lanes: add half of the last kept bit, one
// more if that bit is set (ties to even), and clear the lower half. A rounded value is kept beside its bfloat16 form,
// so that the next op takes it as it is. 150 ops of 2000x2000 (benchmarks/run.py): 90 ms before, 49 this way.
//
// Adding to the bits of a NaN could carry it into the sign. A NaN whose lower half is zero is safe, and that is what
// all those have that come from bfloat16 values by arithmetic: processors return an operand's NaN or their default one,
// both with zeros below. All others are replaced by the default one, as PyTorch does.
Value round_to_bf16(const Value& x) {
  Builder& builder = *x.builder;
  Value bits = bitcast_convert(x, ElementType::U32);
  Value last = and_(shift_right_logical(bits, like(bits, 16)), like(bits, 1));
  Value wide = and_(bits + (last + like(bits, 0x7FFF)), like(bits, int64_t{0xFFFF0000}));
  if (!builder.has_short_nans(x)) wide = select(ne(x, x), like(bits, 0x7FC00000), wide);
  Value half = convert(shift_right_logical(wide, like(bits, 16)), ElementType::U16);
  Value narrow = bitcast_convert(half, ElementType::BF16);
  Value widened = bitcast_convert(wide, ElementType::F32);
  builder.set_has_short_nans(widened);
  builder.set_widened(narrow, widened);
  return narrow;
}

/// compare_type is implied by the element type, but for the total order of floats.
const char* compare_type(ElementType element, bool total_order) {
  if (is_floating(element)) return total_order ? "TOTALORDER" : "FLOAT";
  if (is_complex(element)) return "FLOAT";
  return is_signed(element) ? "SIGNED" : "UNSIGNED";
}

const char* direction_name(Comparison direction) {
  static constexpr const char* names[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  return names[static_cast<int>(direction)];
}

}  // namespace

Value abs(const Value& x) {
  constexpr std::string_view op = "stablehlo.abs";
  require_kind(op, x, kSigned | kFloat | kComplex);
  if (!is_complex(x.element())) return x.builder->uniform(op, {&x});
  return x.builder->generic(op, {x}, with_element(x, real_of(x.element())));
}

Value add(const Value& a, const Value& b) { return arithmetic("stablehlo.add", a, b, kAny); }
Value and_(const Value& a, const Value& b) { return binary("stablehlo.and", a, b, kLogical); }
Value atan2(const Value& y, const Value& x) { return binary("stablehlo.atan2", y, x, kInexact); }

Value bitcast_convert(const Value& x, ElementType element) {
  constexpr std::string_view op = "stablehlo.bitcast_convert";
  require_value(op, x);
  if (x.element() == element) return x;
  require((kind_of(x.element()) & kNumber) != 0 && (kind_of(element) & kNumber) != 0, op,
          "expected integer or floating-point types on both sides, got ", show(x), " to ", mlir_name(element));
  Type result = with_element(x, element);
  int64_t from = static_cast<int64_t>(size_of(x.element()));
  int64_t to = static_cast<int64_t>(size_of(element));
  if (from > to) result.dims.push_back(from / to);
  if (from < to) {
    require(x.rank() > 0 && x.dims().back() == to / from, op, "expected a last dimension of ", to / from, " for ",
            mlir_name(element), ", got ", show(x));
    result.dims.pop_back();
  }
  return x.builder->generic(op, {x}, result);
}

Value cbrt(const Value& x) { return unary("stablehlo.cbrt", x, kInexact); }
Value ceil(const Value& x) { return unary("stablehlo.ceil", x, kFloat); }

Value clamp(const Value& min, const Value& x, const Value& max) {
  constexpr std::string_view op = "stablehlo.clamp";
  require_kind(op, x, kPred | kNumber);
  for (const Value* bound : {&min, &max}) {
    require_value(op, *bound);
    require(bound->element() == x.element() && (bound->rank() == 0 || bound->dims() == x.dims()), op,
            "expected bounds 0-d or of type ", show(x), ", got ", show(*bound));
  }
  if (min.type == x.type && max.type == x.type) return x.builder->uniform(op, {&min, &x, &max});
  return x.builder->generic(op, {min, x, max}, x.type);
}

Value compare(const Value& a, const Value& b, Comparison direction, bool total_order) {
  constexpr std::string_view op = "stablehlo.compare";
  require_value(op, a);
  require_same(op, a, b);
  require(!is_complex(a.element()) || direction == Comparison::Eq || direction == Comparison::Ne, op,
          "expected EQ or NE for complex operands, got ", direction_name(direction));
  std::string attributes = "compare_type = #stablehlo<comparison_type ";
  attributes += compare_type(a.element(), total_order);
  attributes += ">, comparison_direction = #stablehlo<comparison_direction ";
  attributes += direction_name(direction);
  attributes += ">";
  return a.builder->generic(op, {a, b}, with_element(a, ElementType::Pred), attributes);
}

Value complex(const Value& real, const Value& imag) {
  constexpr std::string_view op = "stablehlo.complex";
  require_value(op, real);
  require_same(op, real, imag);
  require(real.element() == ElementType::F32 || real.element() == ElementType::F64, op, "expected f32 or f64, got ",
          show(real));
  return real.builder->generic(op, {real, imag}, with_element(real, complex_of(real.element())));
}

Value convert(const Value& x, ElementType element) {
  constexpr std::string_view op = "stablehlo.convert";
  require_value(op, x);
  if (x.element() == element) return x;
  Builder& builder = *x.builder;
  bool rounds = x.element() == ElementType::F32 && element == ElementType::BF16;
  if (rounds && builder.rounds_as_integers()) return round_to_bf16(x);
  bool widens = x.element() == ElementType::BF16 && element == ElementType::F32;
  if (Value wide = widens ? builder.widened(x) : Value{}) return wide;
  Value result = builder.generic(op, {x}, with_element(x, element));
  if (widens) builder.set_has_short_nans(result);
  return result;
}

Value cosine(const Value& x) { return unary("stablehlo.cosine", x, kInexact); }
Value count_leading_zeros(const Value& x) { return unary("stablehlo.count_leading_zeros", x, kInteger); }
Value divide(const Value& a, const Value& b) { return arithmetic("stablehlo.divide", a, b, kArithmetic); }
Value exponential(const Value& x) { return unary("stablehlo.exponential", x, kInexact); }
Value exponential_minus_one(const Value& x) { return unary("stablehlo.exponential_minus_one", x, kInexact); }
Value floor(const Value& x) { return unary("stablehlo.floor", x, kFloat); }

Value imag(const Value& x) {
  constexpr std::string_view op = "stablehlo.imag";
  require_kind(op, x, kInexact);
  return x.builder->generic(op, {x}, with_element(x, real_of(x.element())));
}

Value is_finite(const Value& x) {
  constexpr std::string_view op = "stablehlo.is_finite";
  require_kind(op, x, kFloat);
  return x.builder->generic(op, {x}, with_element(x, ElementType::Pred));
}

Value log(const Value& x) { return unary("stablehlo.log", x, kInexact); }
Value log_plus_one(const Value& x) { return unary("stablehlo.log_plus_one", x, kInexact); }
Value logistic(const Value& x) { return unary("stablehlo.logistic", x, kInexact); }
Value maximum(const Value& a, const Value& b) { return binary("stablehlo.maximum", a, b, kPred | kNumber); }
Value minimum(const Value& a, const Value& b) { return binary("stablehlo.minimum", a, b, kPred | kNumber); }
Value multiply(const Value& a, const Value& b) { return arithmetic("stablehlo.multiply", a, b, kAny); }
Value negate(const Value& x) { return unary("stablehlo.negate", x, kArithmetic); }
Value not_(const Value& x) { return unary("stablehlo.not", x, kLogical); }

Values optimization_barrier(const Values& values) {
  constexpr std::string_view op = "stablehlo.optimization_barrier";
  if (values.empty()) return {};
  Types types;
  for (const Value& value : values) {
    require_value(op, value);
    types.push_back(value.type);
  }
  return values[0].builder->generic(op, values, types);
}
Value optimization_barrier(const Value& x) { return optimization_barrier(Values{x})[0]; }

Value or_(const Value& a, const Value& b) { return binary("stablehlo.or", a, b, kLogical); }
Value popcnt(const Value& x) { return unary("stablehlo.popcnt", x, kInteger); }
Value power(const Value& base, const Value& exponent) { return binary("stablehlo.power", base, exponent, kArithmetic); }

Value real(const Value& x) {
  constexpr std::string_view op = "stablehlo.real";
  require_kind(op, x, kInexact);
  if (!is_complex(x.element())) return x;
  return x.builder->generic(op, {x}, with_element(x, real_of(x.element())));
}

Value reduce_precision(const Value& x, int exponent_bits, int mantissa_bits) {
  constexpr std::string_view op = "stablehlo.reduce_precision";
  require_kind(op, x, kFloat);
  require(exponent_bits >= 1 && mantissa_bits >= 0, op, "expected exponent_bits >= 1 and mantissa_bits >= 0, got ",
          exponent_bits, " and ", mantissa_bits);
  Attributes attributes;
  attributes.number("exponent_bits", exponent_bits, "i32").number("mantissa_bits", mantissa_bits, "i32");
  return x.builder->generic(op, {x}, x.type, attributes.text());
}

Value remainder(const Value& a, const Value& b) { return binary("stablehlo.remainder", a, b, kNumber); }
Value round_nearest_afz(const Value& x) { return unary("stablehlo.round_nearest_afz", x, kFloat); }
Value round_nearest_even(const Value& x) { return unary("stablehlo.round_nearest_even", x, kFloat); }
Value rsqrt(const Value& x) { return unary("stablehlo.rsqrt", x, kInexact); }

Value select(const Value& predicate, const Value& on_true, const Value& on_false) {
  constexpr std::string_view op = "stablehlo.select";
  require_kind(op, predicate, kPred);
  require_value(op, on_true);
  require_same(op, on_true, on_false);
  require(predicate.rank() == 0 || predicate.dims() == on_true.dims(), op, "expected a predicate 0-d or of dims ",
          show(on_true.dims()), ", got ", show(predicate));
  return predicate.builder->generic(op, {predicate, on_true, on_false}, on_true.type);
}

Value shift_left(const Value& a, const Value& b) { return binary("stablehlo.shift_left", a, b, kInteger); }
Value shift_right_arithmetic(const Value& a, const Value& b) {
  return binary("stablehlo.shift_right_arithmetic", a, b, kInteger);
}
Value shift_right_logical(const Value& a, const Value& b) {
  return binary("stablehlo.shift_right_logical", a, b, kInteger);
}
Value sign(const Value& x) { return unary("stablehlo.sign", x, kSigned | kFloat | kComplex); }
Value sine(const Value& x) { return unary("stablehlo.sine", x, kInexact); }
Value sqrt(const Value& x) { return unary("stablehlo.sqrt", x, kInexact); }
Value subtract(const Value& a, const Value& b) { return arithmetic("stablehlo.subtract", a, b, kArithmetic); }
Value tan(const Value& x) { return unary("stablehlo.tan", x, kInexact); }
Value tanh(const Value& x) { return unary("stablehlo.tanh", x, kInexact); }
Value xor_(const Value& a, const Value& b) { return binary("stablehlo.xor", a, b, kLogical); }

}  // namespace tpu::hlo
