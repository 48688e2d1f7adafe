// add, sub, mul and div of tensors: the structured `.out` rows serve them, but the hottest calls deserve a shorter way.
//
// Note [Short way]. For a structured op torch runs the meta function (a TensorIterator), allocates the output, boxes
// the call, and then reaches our `.out` kernel: 2 us more than a functional kernel of ours, as much as the plugin takes
// for the op. When nothing is left to decide (one dtype, one shape, row-major, or a number beside a tensor), the
// functional form of the same row runs at once. All other calls take torch's way, with its promotion, broadcasting and
// errors.
#include <ATen/ops/add_meta.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/div_meta.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mul_meta.h>
#include <ATen/ops/mul_ops.h>
#include <ATen/ops/sub_meta.h>
#include <ATen/ops/sub_ops.h>
#include <torch/library.h>

#include "aten/kernel.h"
#include "aten/tensor.h"
#include "device/errors.h"

namespace tpu::aten {

namespace {

bool is_short(const at::Tensor& self, const at::Tensor& other) {
  if (!is_tpu(self) || !self.is_contiguous() || !at::isFloatingType(self.scalar_type())) return false;
  if (is_tpu(other)) {
    return other.scalar_type() == self.scalar_type() && other.sizes() == self.sizes() && other.is_contiguous() &&
           other.device() == self.device();
  }
  // A Python number takes the tensor's dtype, unless it is complex. A 0-d tensor beside a number is promoted by torch.
  return other.unsafeGetTensorImpl()->is_wrapped_number() && !other.is_complex() && self.dim() > 0;
}

// The functional form of an `.out` row.
class Short {
 public:
  Short(const char* out_row, const char* name)
      : row_(ops::functional_form(*ops::find_row(out_row), name)), call_(row_) {}

  template <class... Args>
  at::Tensor operator()(const Args&... args) {
    c10::Stack stack;
    stack.reserve(sizeof...(args));
    (stack.emplace_back(args), ...);
    device::translated([&] { call_.run(stack); });
    return std::move(stack[0]).toTensor();
  }

 private:
  ops::Row row_;
  RowCall call_;
};

// torch's way: the meta function allocates the output.
template <class Meta>
struct Functional final : Meta {
  at::Tensor result;

  void set_output_raw_strided(int64_t number, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options) override {
    // Without strides the options carry the memory format.
    result = strides.empty() ? at::empty(sizes, options) : at::empty_strided(sizes, strides, options);
    Meta::set_output_raw_strided(number, sizes, strides, options);
  }
  void set_output_strided(int64_t number, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options) override {
    set_output_raw_strided(number, sizes, strides, options);
  }
  const at::Tensor& maybe_get_output(int64_t) override { return result; }
};

template <class Meta, class OutOp, class... Scalars>
at::Tensor long_way(const at::Tensor& self, const at::Tensor& other, const Scalars&... scalars) {
  Functional<Meta> op;
  op.meta(self, other, scalars...);
  return OutOp::call(self, other, scalars..., op.result);
}

at::Tensor add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  static auto* short_way = new Short("add.out", "add.Tensor");
  if (is_short(self, other)) return (*short_way)(self, other, alpha);
  return long_way<at::meta::structured_add_Tensor, at::_ops::add_out>(self, other, alpha);
}

at::Tensor sub(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  static auto* short_way = new Short("sub.out", "sub.Tensor");
  if (is_short(self, other)) return (*short_way)(self, other, alpha);
  return long_way<at::meta::structured_sub_Tensor, at::_ops::sub_out>(self, other, alpha);
}

at::Tensor mul(const at::Tensor& self, const at::Tensor& other) {
  static auto* short_way = new Short("mul.out", "mul.Tensor");
  if (is_short(self, other)) return (*short_way)(self, other);
  return long_way<at::meta::structured_mul_Tensor, at::_ops::mul_out>(self, other);
}

at::Tensor div(const at::Tensor& self, const at::Tensor& other) {
  static auto* short_way = new Short("div.out", "div.Tensor");
  if (is_short(self, other)) return (*short_way)(self, other);
  return long_way<at::meta::structured_div_Tensor, at::_ops::div_out>(self, other);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.Tensor", TORCH_FN(add));
  m.impl("sub.Tensor", TORCH_FN(sub));
  m.impl("mul.Tensor", TORCH_FN(mul));
  m.impl("div.Tensor", TORCH_FN(div));
}

}  // namespace

}  // namespace tpu::aten
