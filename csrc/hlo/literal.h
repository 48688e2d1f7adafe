// Literals: a number and an element type go in, the exact MLIR spelling of one element comes out.
#pragma once

#include <string>

#include "base/element_type.h"

namespace tpu::hlo {

/// The bits of `value` rounded once (to nearest, ties to even) to a floating element type. Out of range becomes
/// infinity, or NaN where the type has none.
uint64_t float_bits(ElementType element, double value);
/// The value of the bits.
double float_value(ElementType element, uint64_t bits);

/// Decimal where that reads back as the same bits, else the bits in hexadecimal (infinities, NaN, -0.0). Integral types
/// refuse a value that is no integer or out of range.
std::string literal(ElementType element, double value);
/// Integers wrap to the width of the type.
std::string literal(ElementType element, int64_t value);
std::string complex_literal(ElementType element, double real, double imag);

}  // namespace tpu::hlo
