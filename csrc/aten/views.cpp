// Views: metadata only. The tensors that come out share the Cell of the one that goes in; reading and writing through
// them is lowered in graph/view.cpp.
#include <ATen/EmptyTensor.h>
#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorShape.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "aten/tensor.h"
#include "aten/types.h"
#include "device/allocator.h"
#include "device/errors.h"

namespace tpu::aten {

namespace {

// `set_`: the tensor lies over another storage from now on.
at::Tensor& set_storage(at::Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef sizes,
                        c10::IntArrayRef strides) {
  at::native::checkSetStorage(self, std::move(source), offset, sizes, strides);
  self.unsafeGetTensorImpl()->set_storage_offset(offset);
  std::optional<c10::IntArrayRef> given =
      strides.data() != nullptr ? std::optional<c10::IntArrayRef>(strides) : std::nullopt;
  auto itemsize = static_cast<int64_t>(self.itemsize());
  Dims row_major = row_major_strides(dims_of(sizes));
  c10::IntArrayRef used = given ? *given : list_of(row_major);
  self.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, used);
  size_t needed =
      at::detail::computeStorageNbytes(sizes, used, static_cast<size_t>(itemsize), static_cast<size_t>(offset));
  if (needed > self.storage().nbytes())
    device::resize(*self.storage().unsafeGetStorageImpl(), static_cast<int64_t>(needed));
  return self;
}

at::Tensor& set_source_storage(at::Tensor& self, at::Storage source) {
  auto count = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_storage(self, std::move(source), 0, {count}, {});
}

at::Tensor& set_source_tensor(at::Tensor& self, const at::Tensor& source) {
  if (self.is_same(source)) return self;
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set_nothing(at::Tensor& self) {
  at::Storage empty(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), 0,
                                                          device::make_data(cell_of(self).device(), 0),
                                                          &device::allocator(), true));
  return set_storage(self, std::move(empty), 0, {0}, {});
}

const at::Tensor& resize(const at::Tensor& self, c10::IntArrayRef sizes, std::optional<at::MemoryFormat> format) {
  if (self.sizes() == sizes && !format) return self;
  for (int64_t size : sizes)
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(sizes);
  if (format && *format != at::MemoryFormat::Preserve) impl->empty_tensor_restride(*format);
  size_t needed = at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.itemsize(),
                                                   static_cast<size_t>(self.storage_offset()));
  if (needed > self.storage().nbytes()) {
    device::translated([&] { device::resize(*self.storage().unsafeGetStorageImpl(), static_cast<int64_t>(needed)); });
  }
  return self;
}

at::Tensor as_strided(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                      std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, sizes, strides, offset);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("as_strided", TORCH_FN(as_strided));
  m.impl("view", TORCH_FN(at::native::view));
  m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  m.impl("unfold", TORCH_FN(at::native::unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("set_", TORCH_FN(set_nothing));
  m.impl("set_.source_Storage", TORCH_FN(set_source_storage));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage));
  m.impl("set_.source_Tensor", TORCH_FN(set_source_tensor));
  m.impl("resize_", TORCH_FN(resize));
}

}  // namespace

}  // namespace tpu::aten
