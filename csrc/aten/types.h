// ElementType <-> c10::ScalarType, and Dims from torch's lists.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include "base/error.h"
#include "base/type.h"

namespace tpu::aten {

/// Error(NotImplemented) for dtypes without an ElementType (quantized and sub-byte types).
ElementType element_of(c10::ScalarType type);
c10::ScalarType scalar_type_of(ElementType type);

inline Dims dims_of(c10::IntArrayRef list) { return Dims(list.begin(), list.end()); }
inline c10::IntArrayRef list_of(const Dims& dims) { return {dims.data(), dims.size()}; }

}  // namespace tpu::aten
