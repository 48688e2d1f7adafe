// Places in sorted lists, for the families that need one inside a formula.
#pragma once

#include "ops/context.h"

namespace tpu::ops {

/// For each of `values` how many of the ascending `boundaries` are less than it (`right`: or equal to it), in S64:
/// [rows, n] or [n] boundaries, as many rows of values. `sorter`, where it is given, is the order that sorts them.
hlo::Value binary_search(const hlo::Value& boundaries, const hlo::Value& sorter, const hlo::Value& values, bool right);

}  // namespace tpu::ops
