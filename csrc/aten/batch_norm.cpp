// The CPU's batch norm without writing to its arguments: the host kernel of a row in ops/norm.cpp.
#include <ATen/ops/native_batch_norm.h>
#include <torch/library.h>

namespace tpu::aten {

namespace {

using Statistics = std::optional<at::Tensor>;

// Output, mean and reciprocal deviation of the batch, and the new running mean and variance.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> batch_norm(
    const at::Tensor& input, const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
    const Statistics& running_mean, const Statistics& running_var, bool training, double momentum, double eps) {
  auto copy = [](const Statistics& running) { return running ? running->clone() : at::Tensor(); };
  at::Tensor mean = copy(running_mean), variance = copy(running_var);
  auto [output, batch_mean, batch_rstd] =
      at::native_batch_norm(input, weight, bias, mean, variance, training, momentum, eps);
  return {output, batch_mean, batch_rstd, mean, variance};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(torch_tpu, m) {
  m.def(
      "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(torch_tpu, CPU, m) { m.impl("batch_norm", TORCH_FN(batch_norm)); }

}  // namespace tpu::aten
