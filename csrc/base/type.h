// Dims and Type: the shape and element type of an immutable array.
#pragma once

#include <cstdint>
#include <string>

#include "base/element_type.h"
#include "base/inline_vector.h"

namespace tpu {

/// Sizes, strides, permutations, dimension numbers.
using Dims = InlineVector<int64_t, 6>;

/// Product of the sizes; 1 for rank 0.
int64_t product(const Dims& dims);
/// Row-major strides (in elements) of `dims`; the stride of a dimension after a zero-size one counts it as 1, as torch
/// does.
Dims row_major_strides(const Dims& dims);
/// `[2, 3]`
std::string to_string(const Dims& dims);

struct Type {
  ElementType element = ElementType::F32;
  Dims dims;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t count() const { return product(dims); }
  /// Bytes of the dense array.
  int64_t bytes() const { return count() * static_cast<int64_t>(size_of(element)); }
  bool operator==(const Type& other) const { return element == other.element && dims == other.dims; }
  bool operator!=(const Type& other) const { return !(*this == other); }
};

/// The StableHLO spelling, `tensor<2x3xf32>`.
std::string to_string(const Type& type);

}  // namespace tpu
