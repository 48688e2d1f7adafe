// Running values along a dimension, for the families that need one inside a formula.
#pragma once

#include "ops/context.h"

namespace tpu::ops {

/// out[i] = x[0] + .. + x[i] along `dim`; x of an integer type.
hlo::Value running_sum(const hlo::Value& x, int64_t dim);
/// out[i] = the largest of x[0 .. i] along `dim`; x of an integer type.
hlo::Value running_maximum(const hlo::Value& x, int64_t dim);

}  // namespace tpu::ops
