// Factories: new tensors whose storage is unset: nothing is allocated on the device before the first write.
#include <ATen/Dispatch_v2.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/RangeUtils.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

#include <cmath>

#include "aten/kernel.h"
#include "aten/tensor.h"
#include "aten/types.h"
#include "device/errors.h"

namespace tpu::aten {

namespace {

void check_options(std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                   std::optional<bool> pin_memory) {
  TORCH_CHECK(!pin_memory || !*pin_memory, "Only dense CPU tensors can be pinned");
  TORCH_CHECK_NOT_IMPLEMENTED(!layout || *layout == c10::kStrided, "device tpu has dense tensors only, got layout ",
                              *layout, "; keep sparse tensors on the CPU or call .to_dense()");
  if (dtype) device::translated([&] { element_of(*dtype); });
}

void check_sizes(c10::IntArrayRef sizes) {
  for (int64_t size : sizes)
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                 std::optional<c10::Device> device, std::optional<bool> pin_memory,
                 std::optional<at::MemoryFormat> format) {
  check_options(dtype, layout, pin_memory);
  check_sizes(sizes);
  at::detail::computeStorageNbytesContiguous(
      sizes, c10::elementSize(c10::dtype_or_default(dtype)));  // throws when it overflows
  return device::translated([&] {
    at::Tensor tensor = make_tensor(device_of(device), c10::dtype_or_default(dtype), sizes, {}, {});
    if (format && *format != at::MemoryFormat::Contiguous && *format != at::MemoryFormat::Preserve)
      tensor.unsafeGetTensorImpl()->empty_tensor_restride(*format);
    return tensor;
  });
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<c10::ScalarType> dtype,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                         std::optional<bool> pin_memory) {
  check_options(dtype, layout, pin_memory);
  check_sizes(sizes);
  TORCH_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
              ") must match dimensionality of strides (", strides.size(), ")");
  at::detail::computeStorageNbytes(sizes, strides,
                                   c10::elementSize(c10::dtype_or_default(dtype)));  // throws when it overflows
  return device::translated(
      [&] { return make_tensor(device_of(device), c10::dtype_or_default(dtype), sizes, strides, {}); });
}

// The zero tangents of forward mode: torch knows from the key that all elements are zero, and an unset storage reads so
// where it is asked.
at::Tensor efficient_zero_tensor(c10::IntArrayRef sizes, std::optional<c10::ScalarType> dtype,
                                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                                 std::optional<bool> pin_memory) {
  at::Tensor unset = empty(sizes, dtype, layout, device, pin_memory, std::nullopt);
  auto zeros = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(unset.storage()), c10::DispatchKeySet({c10::DispatchKey::PrivateUse1, c10::DispatchKey::ZeroTensor}),
      unset.dtype());
  zeros.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return zeros;
}

// The number of elements of a range depends on its numbers, which are run-time arguments of the row; so `out` is sized
// here. `closed`: torch.range, which includes the end. An int64 range counts in integers, all others in float64, as on
// the CPU.
int64_t range_size(const c10::Scalar& start, const c10::Scalar& end, const c10::Scalar& step, bool closed,
                   c10::ScalarType type) {
  if (!closed) {
    return type == at::kLong ? at::native::compute_arange_size<int64_t>(start, end, step)
                             : at::native::compute_arange_size<double>(start, end, step);
  }
  at::native::arange_check_bounds(start, end, step);
  return static_cast<int64_t>((end.toDouble() - start.toDouble()) / step.toDouble()) + 1;
}

template <bool closed>
at::Tensor& range_out(const c10::Scalar& start, const c10::Scalar& end, const c10::Scalar& step, at::Tensor& out) {
  int64_t size = range_size(start, end, step, closed, out.scalar_type());
  if (out.numel() != size) at::native::resize_output(out, {size});
  device::translated([&] {
    static auto* call = new RowCall(closed ? "range.out" : "arange.start_out");
    call->run({start, end, step, out});
  });
  return out;
}

// torch refuses a number that the element type cannot hold; the program, which gets it at run time, would wrap or
// saturate it.
at::Tensor& fill_scalar(at::Tensor& self, const c10::Scalar& value) {
  AT_DISPATCH_V2(self.scalar_type(), "fill_", AT_WRAP([&] { (void)value.to<scalar_t>(); }),
                 AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES),
                 AT_EXPAND(AT_FLOAT8_TYPES), at::kBool, at::kHalf, at::kBFloat16);
  device::translated([&] {
    static auto* call = new RowCall("fill_.Scalar");
    call->run({self, value});
  });
  return self;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("fill_.Scalar", TORCH_FN(fill_scalar));
  m.impl("arange.start_out", TORCH_FN(range_out<false>));
  m.impl("range.out", TORCH_FN(range_out<true>));
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("_efficientzerotensor", TORCH_FN(efficient_zero_tensor));
}

}  // namespace

}  // namespace tpu::aten
