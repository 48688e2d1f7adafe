// What the elementwise families share: operands in the type that TensorIterator computes in, and its dtype errors.
#pragma once

#include <initializer_list>
#include <span>

#include "ops/promotion.h"

namespace tpu::ops {

// The element types an op has a kernel for, in PyTorch's groups; added up.
inline constexpr unsigned kBool = 1, kInteger = 2, kReal = 4, kComplex = 8;
inline constexpr unsigned kInexact = kReal | kComplex, kIntegral = kBool | kInteger, kNumber = kInteger | kInexact;
inline constexpr unsigned kAnything = kBool | kNumber;

/// NotImplementedError, `"lgamma" not implemented for 'ComplexFloat'`, unless `type` is one of `kinds`.
void expect_kind(const Context& c, ElementType type, unsigned kinds);
/// The name PyTorch's errors use: `Float`, `Half`, `Long`.
const char* scalar_type_name(ElementType type);

/// An operand as the kernel sees it: cast to `common`, then widened to compute_type(common). Numbers and 0-d tensors
/// are not rounded to a half type on the way, as in PyTorch's kernels for half types.
hlo::Value operand(Context& c, const char* name, ElementType common);
/// Several, broadcast to their common shape.
hlo::Values operands(Context& c, std::initializer_list<const char*> names, ElementType common);
/// A float32 value rounded to a half type, which XLA would not do for a conversion there and back.
hlo::Value round_to(const hlo::Value& x, ElementType type);
/// The run-time number `name` in x's type, in every element of x's shape.
hlo::Value number_like(Context& c, const char* name, const hlo::Value& x);

// Names of arguments, for templates.
inline constexpr const char* kSelf = "self";
inline constexpr const char* kOther = "other";

// Lowerings of one and two operands made from a function on values.
using Map = hlo::Value (*)(const hlo::Value&);
using Map2 = hlo::Value (*)(const hlo::Value&, const hlo::Value&);

/// One operand, the result in its type (floats of less than 32 bits widened inside).
template <Map f, unsigned kinds = kAnything>
hlo::Values map(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kinds);
  return {hlo::convert(f(operand(c, "self", type)), type)};
}

/// One operand, integers and bool taken as the default float type.
template <Map f, unsigned kinds = kAnything, const char* const& name = kSelf>
hlo::Values floating(Context& c) {
  ElementType type = to_floating(c, c.type(name).element);
  expect_kind(c, type, kinds);
  return {hlo::convert(f(operand(c, name, type)), type)};
}

/// Two operands, the result in their promoted type.
template <Map2 f, unsigned kinds = kAnything, const char* const& first = kSelf, const char* const& second = kOther>
hlo::Values map2(Context& c) {
  ElementType type = result_type(c, {first, second});
  expect_kind(c, type, kinds);
  hlo::Values x = operands(c, {first, second}, type);
  return {hlo::convert(f(x[0], x[1]), type)};
}

/// Two operands, integers and bool taken as the default float type.
template <Map2 f, unsigned kinds = kAnything, const char* const& first = kSelf, const char* const& second = kOther>
hlo::Values floating2(Context& c) {
  ElementType type = to_floating(c, result_type(c, {first, second}));
  expect_kind(c, type, kinds);
  hlo::Values x = operands(c, {first, second}, type);
  return {hlo::convert(f(x[0], x[1]), type)};
}

/// How float32 and float64 lie in an integer of their size.
struct FloatBits {
  ElementType word;
  int mantissa_bits;
  int bias;
};
FloatBits float_bits(ElementType type);

// Small pieces of formulas.
hlo::Value is_nan(const hlo::Value& x);
hlo::Value zeros_like(const hlo::Value& x);
hlo::Value reciprocal(const hlo::Value& x);
/// Rounds towards zero; -0.5 gives -0.
hlo::Value truncate(const hlo::Value& x);
/// The magnitude of x with the sign bit of `sign`; both float.
hlo::Value copy_sign(const hlo::Value& x, const hlo::Value& sign);
/// x != 0 as Pred, for every type; NaN counts as true.
hlo::Value truth(const hlo::Value& x);
/// All dimensions of x.
Dims all_dims(const hlo::Value& x);
/// Sum of coefficients[k] * x^k, Horner's way.
hlo::Value polynomial(const hlo::Value& x, std::initializer_list<double> coefficients);
/// Sum of c[k] T_k(t) by Clenshaw's recurrence. Terms below the precision of t's type are left out.
hlo::Value chebyshev(const hlo::Value& t, std::span<const double> c);

// Functions for which XLA:CPU calls the C library element by element (10 to 90 ms for a million), in terms of those
// that it vectorizes. Errors are a few units in the last place; complex operands go to StableHLO's own.
hlo::Value exp2(const hlo::Value& x);  // exact for whole exponents
hlo::Value log2(const hlo::Value& x);
/// x = mantissa * 2^exponent with a mantissa between sqrt(1/2) and sqrt(2); `valid` where x is normal, positive and
/// finite.
struct Split {
  hlo::Value exponent, mantissa, valid;
};
Split split_exponent(const hlo::Value& x);
hlo::Value log1p(const hlo::Value& x);
hlo::Value arctangent(const hlo::Value& x);
hlo::Value arctangent2(const hlo::Value& y, const hlo::Value& x);
hlo::Value arcsine(const hlo::Value& x);
hlo::Value arccosine(const hlo::Value& x);

}  // namespace tpu::ops
