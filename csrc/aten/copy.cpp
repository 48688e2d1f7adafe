// Copies: between host and device, between devices, and one element to Python. Values are immutable, so a copy of a
// whole tensor on one device is one more reference.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/_to_copy.h>
#include <ATen/ops/conj_physical.h>
#include <ATen/ops/constant_pad_nd_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/neg.h>
#include <c10/core/Scalar.h>
#include <torch/library.h>

#include <algorithm>

#include "aten/host.h"
#include "aten/kernel.h"
#include "aten/tensor.h"
#include "aten/types.h"
#include "device/errors.h"
#include "device/guard.h"
#include "engine/activity.h"
#include "engine/transfer.h"

namespace tpu::aten {

namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

// `tensor` with its conjugate and negative bits carried out, so that only elements are left to copy. On the device a
// row reads through the bits; torch's own resolve_conj would come back to this file.
at::Tensor resolved(const at::Tensor& tensor) {
  if (!is_tpu(tensor)) return tensor.resolve_conj().resolve_neg();
  at::Tensor plain = at::empty(tensor.sizes(), tensor.options());
  copy_on_device(plain, tensor);
  return plain;
}

// The whole of `source` becomes the whole of `target` without a copy, when both lie alike.
bool share(const at::Tensor& target, const at::Tensor& source) {
  if (target.scalar_type() != source.scalar_type() || target.sizes() != source.sizes()) return false;
  std::optional<Dims> to = storage_order(target), from = storage_order(source);
  if (!to || !from || *to != *from) return false;
  cell_of(target).store(cell_of(source).load());
  return true;
}

void copy_to_device(const at::Tensor& target, const at::Tensor& source) {
  engine::Device& device = cell_of(target).device();
  // Cast and broadcast on the host, in the order of the target's storage, so that the device gets plain bytes.
  std::optional<Dims> order = storage_order(target);
  at::Tensor elements = source.to(target.scalar_type());
  if (elements.sizes() != target.sizes()) elements = elements.expand(target.sizes());
  if (!order) {
    elements = elements.contiguous();
    Type type{element_of(target.scalar_type()), dims_of(elements.sizes())};
    at::Tensor dense = make_tensor(device, target.scalar_type(), elements.sizes(), {},
                                   engine::from_host(device, elements.const_data_ptr(), type));
    return copy_on_device(target, dense);
  }
  if (!order->empty()) elements = elements.permute(list_of(*order));
  elements = elements.contiguous();
  Type type{element_of(target.scalar_type()), dims_of(elements.sizes())};
  cell_of(target).store(engine::from_host(device, elements.const_data_ptr(), type));
}

void copy_to_host(const at::Tensor& target, const at::Tensor& source) {
  at::Tensor lent = host_alias(source);  // waits
  engine::ActivityScope activity(engine::Activity::Kind::CopyToHost, "", cell_of(source).device(),
                                 static_cast<int64_t>(lent.nbytes()));
  target.copy_(lent);
}

void copy_between_devices(const at::Tensor& target, const at::Tensor& source) {
  engine::Device& device = cell_of(target).device();
  at::Tensor there = source.is_contiguous() && storage_order(source) ? source : source.contiguous();
  engine::ValueRef value = cell_of(there).load();
  if (value) value = engine::to_device(*value, device);
  at::Tensor here = make_tensor(device, there.scalar_type(), there.sizes(), {}, std::move(value));
  if (!share(target, here)) copy_on_device(target, here);
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  (void)non_blocking;  // copies to the host must end before they return unless the memory is pinned; copying always is
                       // allowed
  if (is_tpu(target) && !same_bits(source, target)) {
    at::Tensor plain = resolved(source);
    if (target.is_conj()) plain = at::conj_physical(plain);
    if (target.is_neg()) plain = at::neg(plain);
    // The bits of the target stay: its elements are stored as they are seen through them.
    at::Tensor under = target.is_conj() ? target.conj() : target;
    copy_from(plain, under.is_neg() ? under._neg_view() : under, non_blocking);
    return target;
  }
  TORCH_CHECK(target.numel() == 0 || at::is_expandable_to(source.sizes(), target.sizes()), "The size of tensor a (",
              target.sizes(), ") must match the size of tensor b (", source.sizes(), ")");
  at::assert_no_internal_overlap(target);
  at::assert_no_partial_overlap(target, source);
  device::translated([&] {
    if (target.numel() == 0) return;
    if (!is_tpu(target)) {
      copy_to_host(target, source);
    } else if (!is_tpu(source)) {
      if (!source.is_cpu()) [[unlikely]]
        fail(ErrorCode::InvalidArgument, "cannot copy from ", source.device().str(), " to ", target.device().str());
      copy_to_device(target, resolved(source));
    } else if (source.device() != target.device()) {
      copy_between_devices(target, source);
    } else if (!share(target, source)) {
      copy_on_device(target, source);
    }
  });
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target) {
  target.resize_(source.sizes());
  return copy_from(source, target, false);
}

// Another storage with the same Value: a clone that copies when one of the two is written.
at::Tensor lazy_clone(const at::Tensor& self) {
  return device::translated([&] {
    auto bytes = static_cast<int64_t>(self.storage().nbytes());
    engine::Cell& cell = cell_of(self);
    auto storage = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), static_cast<size_t>(bytes),
        device::make_data(cell.device(), bytes, cell.load()), &device::allocator(), /*resizable=*/true);
    auto clone = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), self.dtype());
    clone.unsafeGetTensorImpl()->set_storage_offset(self.storage_offset());
    clone.unsafeGetTensorImpl()->set_sizes_and_strides(self.sizes(), self.strides());
    clone._set_conj(self.is_conj());
    clone._set_neg(self.is_neg());
    return clone;
  });
}

// A pad that only crops is the copy of a view, with its strides.
at::Tensor constant_pad(const at::Tensor& self, c10::IntArrayRef pad, const c10::Scalar& value) {
  if (std::all_of(pad.begin(), pad.end(), [](int64_t width) { return width <= 0; }))
    return at::native::constant_pad_nd(self, pad, value);
  return device::translated([&] {
    static auto* call = new RowCall("constant_pad_nd");
    c10::Stack stack{self, pad, value};
    call->run(stack);
    return std::move(stack[0]).toTensor();
  });
}

c10::Scalar local_scalar(const at::Tensor& self) {
  return device::translated([&]() -> c10::Scalar {
    at::Tensor host = host_alias(self);  // waits
    engine::ActivityScope activity(engine::Activity::Kind::CopyToHost, "", cell_of(self).device(),
                                   static_cast<int64_t>(self.itemsize()));
    return host.item();
  });
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  m.impl("constant_pad_nd", TORCH_FN(constant_pad));
  m.impl("_lazy_clone", TORCH_FN(lazy_clone));
  m.impl("_local_scalar_dense", TORCH_FN(local_scalar));
}

// The bits are handled inside: materializing them first would copy, and so come back here.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace

}  // namespace tpu::aten
