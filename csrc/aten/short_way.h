// Typed kernels of the common signatures, made from the rows: what PyTorch and boxing would do around a call whose plan
// is known already is left out, see Note [Short way] in short_way.cpp.
#pragma once

#include <torch/library.h>

#include <string>
#include <string_view>

#include "ops/row.h"

namespace tpu::aten {

/// Registers the typed kernels of `row` with `library`: of the row's own overload, or where PyTorch derives them from
/// an
/// `.out` row, of the functional and the in-place overload. Says whether the row's own overload has one.
bool add_short_ways(torch::Library& library, const ops::Row& row);

/// The row behind an overload without a namespace that PyTorch derives from it and that has a typed kernel here
/// ("add.Tensor", of "add.out"); empty for all others.
std::string_view row_behind(const std::string& overload);

}  // namespace tpu::aten
