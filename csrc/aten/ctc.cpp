// The CTC loss with lengths given as numbers: they are checked here and become tensors, so that the programs of the
// rows serve all lengths.
#include <ATen/ops/from_blob.h>
#include <ATen/ops/take.h>
#include <torch/library.h>

#include <algorithm>
#include <numeric>

#include "aten/kernel.h"
#include "aten/tensor.h"
#include "device/errors.h"

namespace tpu::aten {

namespace {

at::Tensor on_device(const std::vector<int64_t>& numbers, at::IntArrayRef sizes, const at::Tensor& like) {
  auto* data = const_cast<int64_t*>(numbers.data());  // read only
  return at::from_blob(data, sizes, at::TensorOptions().dtype(at::kLong)).to(like.device());
}

/// The arguments as the rows take them: targets padded to the longest, lengths in tensors.
struct Batch {
  at::Tensor targets, input_lengths, target_lengths;
};

void check_lengths(const at::Tensor& log_probs, const at::Tensor& targets, at::IntArrayRef input_lengths,
                   at::IntArrayRef target_lengths) {
  TORCH_CHECK(targets.scalar_type() == at::kInt || targets.scalar_type() == at::kLong,
              "targets must be int or long, got ", targets.scalar_type());
  int64_t time = log_probs.size(0), batch = log_probs.size(1);
  TORCH_CHECK(static_cast<int64_t>(input_lengths.size()) == batch, "input_lengths must be of size batch_size");
  TORCH_CHECK(static_cast<int64_t>(target_lengths.size()) == batch, "target_lengths must be of size batch_size");
  for (int64_t length : target_lengths)
    TORCH_CHECK(length >= 0, "Expected target_lengths to have value at least 0, but got value ", length,
                " (while checking arguments for ctc_loss)");
  for (int64_t length : input_lengths)
    TORCH_CHECK(length >= 0 && length <= time, "Expected input_lengths to have value at ",
                length < 0 ? "least 0" : "most " + std::to_string(time), ", but got value ", length,
                " (while checking arguments for ctc_loss)");
}

Batch batch_of(const at::Tensor& log_probs, const at::Tensor& targets, at::IntArrayRef input_lengths,
               at::IntArrayRef target_lengths) {
  check_lengths(log_probs, targets, input_lengths, target_lengths);
  auto batch = static_cast<int64_t>(target_lengths.size());
  int64_t longest = 0, total = std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t{0});
  for (int64_t length : target_lengths) longest = std::max(longest, length);
  std::vector<int64_t> lengths(input_lengths.begin(), input_lengths.end());
  lengths.insert(lengths.end(), target_lengths.begin(), target_lengths.end());
  at::Tensor both = on_device(lengths, {2, batch}, log_probs);
  Batch result{targets.to(log_probs.device()), both.select(0, 0), both.select(0, 1)};
  if (targets.dim() == 2) {
    TORCH_CHECK(targets.size(0) == batch && targets.size(1) >= longest, "Expected tensor to have size at least ",
                longest, " at dimension 1, but got size ", targets.size(1), " for targets");
    result.targets = result.targets.narrow(1, 0, longest);
    return result;
  }
  TORCH_CHECK(targets.dim() == 1, "Expected targets to have 1 or 2 dimensions, got ", targets.dim());
  TORCH_CHECK(targets.numel() == total, "Expected targets to have ", total, " elements, got ", targets.numel());
  std::vector<int64_t> places(static_cast<size_t>(batch * longest), 0);
  int64_t next = 0;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < target_lengths[static_cast<size_t>(b)]; ++i)
      places[static_cast<size_t>(b * longest + i)] = next++;
  result.targets = total == 0 ? result.targets.new_zeros({batch, longest})
                              : at::take(result.targets, on_device(places, {batch, longest}, log_probs));
  return result;
}

std::tuple<at::Tensor, at::Tensor> loss_of(const at::Tensor& log_probs, const Batch& batch, int64_t blank,
                                           bool zero_infinity) {
  return device::translated([&] {
    static auto* call = new RowCall("_ctc_loss.Tensor");
    c10::Stack stack{log_probs, batch.targets, batch.input_lengths, batch.target_lengths, blank, zero_infinity};
    call->run(stack);
    return std::tuple(stack[0].toTensor(), stack[1].toTensor());
  });
}

at::Tensor gradient_of(const at::Tensor& grad, const at::Tensor& log_probs, const Batch& batch,
                       const at::Tensor& neg_log_likelihood, const at::Tensor& log_alpha, int64_t blank,
                       bool zero_infinity) {
  return device::translated([&] {
    static auto* call = new RowCall("_ctc_loss_backward.Tensor");
    c10::Stack stack{grad,      log_probs, batch.targets, batch.input_lengths, batch.target_lengths, neg_log_likelihood,
                     log_alpha, blank,     zero_infinity};
    call->run(stack);
    return stack[0].toTensor();
  });
}

std::tuple<at::Tensor, at::Tensor> ctc_loss(const at::Tensor& log_probs, const at::Tensor& targets,
                                            at::IntArrayRef input_lengths, at::IntArrayRef target_lengths,
                                            int64_t blank, bool zero_infinity) {
  return loss_of(log_probs, batch_of(log_probs, targets, input_lengths, target_lengths), blank, zero_infinity);
}

at::Tensor ctc_loss_backward(const at::Tensor& grad, const at::Tensor& log_probs, const at::Tensor& targets,
                             at::IntArrayRef input_lengths, at::IntArrayRef target_lengths,
                             const at::Tensor& neg_log_likelihood, const at::Tensor& log_alpha, int64_t blank,
                             bool zero_infinity) {
  return gradient_of(grad, log_probs, batch_of(log_probs, targets, input_lengths, target_lengths), neg_log_likelihood,
                     log_alpha, blank, zero_infinity);
}

// Lengths in tensors may lie on the CPU, and stay unread: a graph of torch.compile contains these overloads.

Batch placed(const at::Tensor& log_probs, const at::Tensor& targets, const at::Tensor& input_lengths,
             const at::Tensor& target_lengths) {
  at::Device device = log_probs.device();
  return {targets.to(device), input_lengths.to(device), target_lengths.to(device)};
}

std::tuple<at::Tensor, at::Tensor> ctc_loss_of_tensors(const at::Tensor& log_probs, const at::Tensor& targets,
                                                       const at::Tensor& input_lengths,
                                                       const at::Tensor& target_lengths, int64_t blank,
                                                       bool zero_infinity) {
  return loss_of(log_probs, placed(log_probs, targets, input_lengths, target_lengths), blank, zero_infinity);
}

at::Tensor ctc_loss_backward_of_tensors(const at::Tensor& grad, const at::Tensor& log_probs, const at::Tensor& targets,
                                        const at::Tensor& input_lengths, const at::Tensor& target_lengths,
                                        const at::Tensor& neg_log_likelihood, const at::Tensor& log_alpha,
                                        int64_t blank, bool zero_infinity) {
  return gradient_of(grad, log_probs, placed(log_probs, targets, input_lengths, target_lengths), neg_log_likelihood,
                     log_alpha, blank, zero_infinity);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_ctc_loss", TORCH_FN(ctc_loss));
  m.impl("_ctc_loss_backward", TORCH_FN(ctc_loss_backward));
  m.impl("_ctc_loss.Tensor", TORCH_FN(ctc_loss_of_tensors));
  m.impl("_ctc_loss_backward.Tensor", TORCH_FN(ctc_loss_backward_of_tensors));
}

}  // namespace

}  // namespace tpu::aten
