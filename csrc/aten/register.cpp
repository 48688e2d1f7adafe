// Registration: every row becomes a boxed kernel of its overload; what has no row runs on the host.
#include "aten/register.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_embedding_bag_backward_native.h>
#include <torch/library.h>

#include "aten/host.h"
#include "aten/kernel.h"
#include "aten/short_way.h"
#include "aten/tensor.h"

namespace tpu::aten {

namespace {

// Rows behind a kernel of our own: copies come as _copy_from, which knows both devices, ranges are sized, fill values,
// bounds and lengths are checked first, pads that only crop are views, a scale of attention may be the default.
bool is_called_by_us(std::string_view name) {
  return name == "copy_" || name == "fill_.Scalar" || name == "arange.start_out" || name == "range.out" ||
         name == "constant_pad_nd" || name == "random_.from" || name == "_ctc_loss.Tensor" ||
         name == "_ctc_loss_backward.Tensor" || name.starts_with("_scaled_dot_product_fused_attention_overrideable");
}

// `p.data = x.to("tpu")` and Module.to keep the identity of parameters when both are dense tensors of these two
// devices.
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  auto is_dense = [](const at::Tensor& tensor) {
    return tensor.layout() == c10::kStrided && (tensor.is_cpu() || is_tpu(tensor)) &&
           !tensor.unsafeGetTensorImpl()->is_python_dispatch();
  };
  return is_dense(self) && is_dense(from);
}

// Frees of the memory are ordered by PJRT after every use.
void record_stream(at::Tensor&, c10::Stream) {}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&host_fallback>()); }

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", TORCH_FN(has_compatible_shallow_copy_type));
  m.impl("record_stream", TORCH_FN(record_stream));
  // Chooses between _embedding_bag_dense_backward, a row, and its sparse sibling; registered for CPU and CUDA only.
  m.impl("_embedding_bag_backward", TORCH_FN(at::native::_embedding_bag_backward_symint));
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", TORCH_FN(has_compatible_shallow_copy_type));
}

}  // namespace

void register_rows() {
  // Lives as long as the process: destroying it would take the kernels away from tensors that outlive this library's
  // statics.
  auto make = [](const char* name) {
    return new torch::Library(torch::Library::IMPL, name, c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  };
  static torch::Library *aten = make("aten"), *own = make("torch_tpu");
  for (const ops::Row* row : ops::all_rows()) {
    torch::Library& library = std::string_view(row->name).starts_with("torch_tpu::") ? *own : *aten;
    if (is_called_by_us(row->name) || add_short_ways(library, *row)) continue;
    library.impl(row->name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(*row)));
  }
}

}  // namespace tpu::aten
