// Type promotion and broadcasting as PyTorch defines them, over ElementType and Dims.
#pragma once

#include <initializer_list>

#include "ops/context.h"

namespace tpu::ops {

/// torch.promote_types(a, b).
ElementType promote(ElementType a, ElementType b);
/// torch.can_cast.
bool can_cast(ElementType from, ElementType to);
/// torch.result_type over the named arguments (None and absent ones are left out): the category rules for dimensioned
/// tensors, 0-d tensors and numbers (https://docs.pytorch.org/docs/stable/tensor_attributes.html).
ElementType result_type(const Context& c, std::initializer_list<const char*> names);
/// Integers and bool become the default float type; everything else stays.
ElementType to_floating(const Context& c, ElementType type);
/// The type in which half-precision math is done: F32 for F16 and BF16 (and 8-bit floats), else itself.
ElementType compute_type(ElementType type);

/// The broadcast of two shapes; Error(InvalidArgument) in PyTorch's words when they do not fit.
Dims broadcast_dims(const Dims& a, const Dims& b);
/// `x` broadcast (right-aligned, as PyTorch does) to `dims`.
hlo::Value broadcast_to(hlo::Value x, const Dims& dims);
/// All values broadcast to their common shape.
hlo::Values broadcast_together(hlo::Values values);
/// A dimension counted from the end made positive; IndexError in PyTorch's words when out of range. Rank 0 counts as
/// rank 1.
int64_t wrap_dim(int64_t dim, int64_t rank);
/// Sorted, positive, distinct dimensions; all of them when `dims` is empty. RuntimeError when one appears twice.
Dims wrap_dims(const Dims& dims, int64_t rank);

/// 0-d constant of x's element type.
hlo::Value scalar_constant(hlo::Value x, double value);
/// Smallest / largest value of a type (-inf / inf for floating types), as a 0-d constant.
hlo::Value lowest(hlo::Builder& builder, ElementType type);
hlo::Value highest(hlo::Builder& builder, ElementType type);

}  // namespace tpu::ops
