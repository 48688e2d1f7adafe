#include "aten/tensor.h"

#include <algorithm>

#include "aten/types.h"
#include "device/guard.h"
#include "device/startup.h"
#include "engine/runtime.h"

namespace tpu::aten {

graph::View view_of(const at::Tensor& tensor) {
  return {element_of(tensor.scalar_type()), dims_of(tensor.sizes()), dims_of(tensor.strides()),
          tensor.storage_offset()};
}

std::optional<Dims> storage_order(const at::Tensor& tensor) {
  if (tensor.storage_offset() != 0) return std::nullopt;
  auto bytes = static_cast<int64_t>(tensor.storage().nbytes());
  if (tensor.numel() * static_cast<int64_t>(tensor.itemsize()) != bytes) return std::nullopt;
  if (tensor.is_contiguous()) return Dims();
  if (!tensor.is_non_overlapping_and_dense()) return std::nullopt;
  Dims order;
  for (int64_t i = 0; i < tensor.dim(); ++i) order.push_back(i);
  // Size-1 dimensions may have any stride; they keep their place among equals.
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return tensor.stride(a) > tensor.stride(b); });
  return order;
}

Dims strides_of(const Dims& sizes, const Dims& permutation) {
  if (permutation.empty()) return row_major_strides(sizes);
  Dims stored;
  for (int64_t dim : permutation) stored.push_back(sizes[static_cast<size_t>(dim)]);
  Dims stored_strides = row_major_strides(stored), strides(sizes.size(), 1);
  for (size_t i = 0; i < permutation.size(); ++i) strides[static_cast<size_t>(permutation[i])] = stored_strides[i];
  return strides;
}

at::Tensor make_tensor(engine::Device& device, c10::ScalarType dtype, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                       engine::ValueRef value) {
  auto itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  int64_t extent = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      extent = 0;
      break;
    }
    extent = strides.empty() ? extent * sizes[i] : extent + (sizes[i] - 1) * strides[i];
  }
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<size_t>(extent * itemsize),
      device::make_data(device, extent * itemsize, std::move(value)), &device::allocator(), /*resizable=*/true);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::scalarTypeToTypeMeta(dtype));
  if (!strides.empty()) {
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  } else if (sizes.size() != 1 || sizes[0] != 0) {  // a new TensorImpl is of shape [0]
    tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  }
  return tensor;
}

engine::Device& device_of(std::optional<c10::Device> device) {
  if (device && device->type() != c10::DeviceType::PrivateUse1) [[unlikely]]
    fail(ErrorCode::InvalidArgument, "expected a tpu device, got ", device->str());
  return device::resolve(device ? *device : c10::Device(c10::DeviceType::PrivateUse1));
}

}  // namespace tpu::aten
