#include "hlo/literal.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace tpu::hlo {

namespace {

/// Layout of a floating type of at most 32 bits. `specials`: how the top of the range is used.
enum class Specials { Ieee, NanAllOnes, NanIsNegativeZero };
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
};

Format format_of(ElementType element) {
  switch (element) {
    case ElementType::F16: return {5, 10, 15, Specials::Ieee};
    case ElementType::BF16: return {8, 7, 127, Specials::Ieee};
    case ElementType::F32: return {8, 23, 127, Specials::Ieee};
    case ElementType::F64: return {11, 52, 1023, Specials::Ieee};
    case ElementType::F8E5M2: return {5, 2, 15, Specials::Ieee};
    case ElementType::F8E4M3FN: return {4, 3, 7, Specials::NanAllOnes};
    case ElementType::F8E4M3FNUZ: return {4, 3, 8, Specials::NanIsNegativeZero};
    case ElementType::F8E5M2FNUZ: return {5, 2, 16, Specials::NanIsNegativeZero};
    default: fail(ErrorCode::Internal, "hlo: ", mlir_name(element), " is not a floating type");
  }
}

uint64_t nan_bits(const Format& format) {
  uint64_t sign = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  if (format.specials == Specials::NanIsNegativeZero) return sign;
  if (format.specials == Specials::NanAllOnes) return sign - 1;
  uint64_t exponent = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  return exponent | uint64_t{1} << (format.mantissa_bits - 1);
}

/// The first magnitude pattern that is no finite number.
uint64_t end_of_finite(const Format& format) {
  uint64_t sign = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  if (format.specials == Specials::NanIsNegativeZero) return sign;
  if (format.specials == Specials::NanAllOnes) return sign - 1;
  return ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
}

std::string hexadecimal(ElementType element, uint64_t bits) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string text(2 + 2 * size_of(element), '0');
  text[1] = 'x';
  for (size_t i = text.size(); i-- > 2; bits >>= 4) text[i] = digits[bits & 15];
  return text;
}

/// MLIR wants a point in every float: 1e+20 must be 1.0e+20.
std::string with_point(std::string text) {
  if (text.find('.') != std::string::npos) return text;
  size_t exponent = text.find('e');
  return exponent == std::string::npos ? text + ".0" : text.insert(exponent, ".0");
}

std::string float_literal(ElementType element, double value) {
  uint64_t bits = float_bits(element, value);
  double rounded = float_value(element, bits);
  if (!std::isfinite(rounded) || (rounded == 0 && bits != 0)) return hexadecimal(element, bits);
  char buffer[40];
  char* end = element == ElementType::F64
                  ? std::to_chars(buffer, buffer + sizeof buffer, rounded).ptr
                  : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(rounded)).ptr;
  std::string text = with_point(std::string(buffer, end));
  // The parser reads a double and rounds it again.
  return float_bits(element, std::strtod(text.c_str(), nullptr)) == bits ? text : hexadecimal(element, bits);
}

int bits_of(ElementType element) { return static_cast<int>(8 * size_of(element)); }

}  // namespace

uint64_t float_bits(ElementType element, double value) {
  Format format = format_of(element);
  uint64_t sign = std::signbit(value) ? uint64_t{1} << (format.exponent_bits + format.mantissa_bits) : 0;
  if (std::isnan(value))
    return format.specials == Specials::NanIsNegativeZero ? nan_bits(format) : nan_bits(format) | sign;
  uint64_t overflow = format.specials == Specials::Ieee ? end_of_finite(format) | sign : nan_bits(format);
  if (std::isinf(value)) return overflow;
  double magnitude = std::fabs(value);
  uint64_t pattern = 0;
  if (magnitude != 0) {
    int exponent;
    std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent-1), 2^exponent)
    int unit = exponent - 1 < 1 - format.bias ? 1 - format.bias : exponent - 1;
    double scaled = std::ldexp(magnitude, format.mantissa_bits - unit);  // units in the last place, exact
    uint64_t units = static_cast<uint64_t>(std::nearbyint(scaled));      // ties to even, the default rounding mode
    // A mantissa that rounds up to the next power of two carries into the exponent by itself, as does a subnormal.
    uint64_t hidden = uint64_t{1} << format.mantissa_bits;
    pattern =
        units < hidden ? units : (static_cast<uint64_t>(unit + format.bias) << format.mantissa_bits) + units - hidden;
  }
  if (pattern >= end_of_finite(format)) return overflow;
  if (pattern == 0 && format.specials == Specials::NanIsNegativeZero) return 0;
  return pattern | sign;
}

double float_value(ElementType element, uint64_t bits) {
  Format format = format_of(element);
  uint64_t sign = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  uint64_t pattern = bits & (sign - 1);
  bool negative = (bits & sign) != 0;
  double value;
  if (format.specials == Specials::NanIsNegativeZero && bits == sign) {
    return std::numeric_limits<double>::quiet_NaN();
  } else if (pattern >= end_of_finite(format)) {
    value = format.specials == Specials::Ieee && pattern == end_of_finite(format)
                ? std::numeric_limits<double>::infinity()
                : std::numeric_limits<double>::quiet_NaN();
  } else {
    uint64_t hidden = uint64_t{1} << format.mantissa_bits;
    int exponent = static_cast<int>(pattern >> format.mantissa_bits);
    uint64_t units = (pattern & (hidden - 1)) | (exponent != 0 ? hidden : 0);
    value = std::ldexp(static_cast<double>(units), (exponent != 0 ? exponent : 1) - format.bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

std::string literal(ElementType element, double value) {
  if (is_complex(element)) return complex_literal(element, value, 0.0);
  if (is_floating(element)) return float_literal(element, value);
  if (element == ElementType::Pred) return value != 0 ? "true" : "false";
  bool is_unsigned = !is_signed(element);
  double low = is_unsigned ? 0.0 : -std::ldexp(1.0, bits_of(element) - 1);
  double end = std::ldexp(1.0, is_unsigned ? bits_of(element) : bits_of(element) - 1);
  check(value == std::trunc(value) && value >= low && value < end, ErrorCode::InvalidArgument,
        "stablehlo.constant: expected a value of ", mlir_name(element), ", got ", value);
  if (is_unsigned) return std::to_string(static_cast<uint64_t>(value));
  return std::to_string(static_cast<int64_t>(value));
}

std::string literal(ElementType element, int64_t value) {
  switch (element) {
    case ElementType::Pred: return value != 0 ? "true" : "false";
    case ElementType::S8: return std::to_string(static_cast<int8_t>(value));
    case ElementType::S16: return std::to_string(static_cast<int16_t>(value));
    case ElementType::S32: return std::to_string(static_cast<int32_t>(value));
    case ElementType::S64: return std::to_string(value);
    case ElementType::U8: return std::to_string(static_cast<uint8_t>(value));
    case ElementType::U16: return std::to_string(static_cast<uint16_t>(value));
    case ElementType::U32: return std::to_string(static_cast<uint32_t>(value));
    case ElementType::U64: return std::to_string(static_cast<uint64_t>(value));
    case ElementType::F32:
    case ElementType::C64: return literal(element, static_cast<double>(static_cast<float>(value)));  // rounds once
    default: return literal(element, static_cast<double>(value));
  }
}

std::string complex_literal(ElementType element, double real, double imag) {
  check(is_complex(element), ErrorCode::InvalidArgument, "stablehlo.constant: expected a complex type, got ",
        mlir_name(element));
  ElementType part = real_of(element);
  return "(" + float_literal(part, real) + ", " + float_literal(part, imag) + ")";
}

}  // namespace tpu::hlo
