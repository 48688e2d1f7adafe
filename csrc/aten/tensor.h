// Tensors on `tpu`: their Cells and Views, and how new ones are made. Nothing here dispatches.
#pragma once

#include <ATen/core/Tensor.h>

#include "device/allocator.h"
#include "engine/value.h"
#include "graph/view.h"

namespace tpu::aten {

inline bool is_tpu(const at::Tensor& tensor) { return tensor.device().type() == c10::DeviceType::PrivateUse1; }

inline engine::Cell& cell_of(const at::Tensor& tensor) {
  return device::cell_of(*tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl());
}

/// How the tensor lies over its storage.
graph::View view_of(const at::Tensor& tensor);

/// For a tensor that is dense, non-overlapping and covers its whole storage: the logical dimension of each storage
/// dimension (empty when row-major). None for all other tensors: writing to them updates a part.
std::optional<Dims> storage_order(const at::Tensor& tensor);

/// A tensor on a new storage. `strides` may be empty: row-major. An empty `value` leaves the storage unset.
at::Tensor make_tensor(engine::Device& device, c10::ScalarType dtype, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                       engine::ValueRef value);

/// Strides of `sizes` when storage dimension i is logical dimension permutation[i].
Dims strides_of(const Dims& sizes, const Dims& permutation);

/// The device that `device` names, the current one without an index; the runtime is started when needed.
engine::Device& device_of(std::optional<c10::Device> device);

}  // namespace tpu::aten
