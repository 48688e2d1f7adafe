// The CPU's convolutions with the arguments of the overloads that a device implements: what the host kernels of
// ops/convolution.cpp are.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <torch/library.h>

namespace tpu::aten {

namespace {

// The gradients of a convolution know their bias only by its size.
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(const at::Tensor& grad_output,
                                                                    const at::Tensor& input, const at::Tensor& weight,
                                                                    c10::IntArrayRef stride, c10::IntArrayRef padding,
                                                                    c10::IntArrayRef dilation, bool transposed,
                                                                    c10::IntArrayRef output_padding, int64_t groups,
                                                                    std::array<bool, 3> output_mask) {
  int64_t channels = grad_output.size(1);
  return at::convolution_backward(grad_output, input, weight, c10::IntArrayRef(channels), stride, padding, dilation,
                                  transposed, output_padding, groups, output_mask);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(torch_tpu, m) {
  m.def(
      "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool "
      "transposed, int[] output_padding, int groups) -> Tensor");
  m.def(
      "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[] stride, int[] padding, int[] "
      "dilation, bool transposed, int[] output_padding, int groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(torch_tpu, CPU, m) {
  m.impl("convolution", TORCH_FN(at::convolution));
  m.impl("convolution_backward", TORCH_FN(convolution_backward));
}

}  // namespace tpu::aten
