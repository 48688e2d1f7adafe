// The CHLO ops that the plugins expand themselves: same contract as ops.h, for the special functions that StableHLO
// lacks. Only those that the oldest supported plugin accepts; newer ones need an expansion of our own.
#pragma once

#include "hlo/builder.h"

namespace tpu::hlo {

// One floating operand unless stated otherwise; those marked (c) take complex too.
Value acos(const Value& x);   // (c)
Value acosh(const Value& x);  // (c)
Value asin(const Value& x);   // (c)
Value asinh(const Value& x);  // (c)
Value atan(const Value& x);   // (c)
Value atanh(const Value& x);  // (c)
Value bessel_i1e(const Value& x);
Value conj(const Value& x);  // complex; a real value is itself
Value cosh(const Value& x);  // (c)
Value digamma(const Value& x);
Value erf(const Value& x);
Value erf_inv(const Value& x);
Value erfc(const Value& x);
Value is_inf(const Value& x);      // gives Pred
Value is_neg_inf(const Value& x);  // gives Pred
Value is_pos_inf(const Value& x);  // gives Pred
Value lgamma(const Value& x);
/// The next representable value from x towards y.
Value next_after(const Value& x, const Value& y);
/// The n-th derivative of digamma; n holds non-negative integers as floats.
Value polygamma(const Value& n, const Value& x);
Value sinh(const Value& x);  // (c)
/// {values, s32 indices} of the k largest along the last dimension, NaN first.
Values top_k(const Value& x, int64_t k);
/// Hurwitz zeta.
Value zeta(const Value& x, const Value& q);

}  // namespace tpu::hlo
