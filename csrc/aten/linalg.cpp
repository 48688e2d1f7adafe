// Ops of linear algebra that raise errors of class LinAlgError, made of one that tells what is wrong and torch's check
// of it, as torch's own are.
#include <ATen/native/Resize.h>
#include <ATen/ops/_linalg_check_errors.h>
#include <ATen/ops/linalg_cholesky_ex.h>
#include <torch/library.h>

namespace tpu::aten {

namespace {

at::Tensor checked_cholesky(const at::Tensor& self, bool upper) {
  TORCH_WARN_ONCE(
      "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch "
      "release.");
  auto [factor, info] = at::linalg_cholesky_ex(self, upper);
  at::_linalg_check_errors(info, "cholesky", self.dim() == 2);
  return factor;
}

at::Tensor& checked_cholesky_out(const at::Tensor& self, bool upper, at::Tensor& out) {
  at::Tensor factor = checked_cholesky(self, upper);
  at::native::resize_output(out, factor.sizes());
  return out.copy_(factor);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("cholesky", TORCH_FN(checked_cholesky));
  m.impl("cholesky.out", TORCH_FN(checked_cholesky_out));
}

}  // namespace tpu::aten
