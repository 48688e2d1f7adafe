// Attention: torch asks the device which kernel scaled_dot_product_attention should take. Ours is the row of the
// overrideable pair wherever it fits, else the composite of matrix products and softmax.
#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <cmath>
#include <string_view>

#include "aten/kernel.h"

namespace tpu::aten {

namespace {

int64_t choose_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                         std::optional<double> scale, bool enable_gqa) {
  (void)mask, (void)dropout, (void)is_causal, (void)scale;
  auto is_dense = [](const at::Tensor& tensor) {
    return tensor.dim() == 4 && !tensor.is_nested() && tensor.numel() > 0;
  };
  bool fits = is_dense(query) && is_dense(key) && is_dense(value) && at::isFloatingType(query.scalar_type()) &&
              query.size(0) == key.size(0) && query.size(0) == value.size(0) && key.size(1) == value.size(1) &&
              (query.size(1) == key.size(1) || (enable_gqa && query.size(1) % key.size(1) == 0));
  bool is_allowed = at::globalContext().userEnabledOverrideableSDP();
  return static_cast<int64_t>(fits && is_allowed ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

// The CPU's attention with the arguments and results of the overrideable pair: what the host kernels of
// ops/attention.cpp are, for calls without dropout and bias.

std::vector<at::Tensor> attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                  const std::optional<at::Tensor>& bias, double dropout, bool is_causal, bool,
                                  std::optional<double> scale) {
  auto [output, logsumexp] =
      at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, is_causal, bias, scale);
  at::Tensor seed = at::zeros({}, at::kLong), none;
  return {output, logsumexp, none, none, none, none, seed, seed, none};
}

std::vector<at::Tensor> attention_backward(const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
                                           const at::Tensor& value, const std::optional<at::Tensor>& bias,
                                           std::array<bool, 4>, const at::Tensor& out, const at::Tensor& logsumexp,
                                           const std::optional<at::Tensor>&, const std::optional<at::Tensor>&, int64_t,
                                           int64_t, double dropout, bool is_causal, const at::Tensor&,
                                           const at::Tensor&, std::optional<double> scale) {
  auto [of_query, of_key, of_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      grad_out, query, key, value, out, logsumexp, dropout, is_causal, bias, scale);
  return {of_query, of_key, of_value, at::Tensor()};
}

// A caller who writes out the scale that is the default, as the models of Hugging Face do, gets what a caller without
// one gets: programs for which it is a constant, and the host kernel. `query`: which argument that is; the scale is the
// last.
template <size_t query>
void attention_row(const c10::OperatorHandle& op, c10::DispatchKeySet, c10::Stack* stack) {
  static auto* call = new RowCall(*ops::find_row(op.schema().name().substr(std::string_view("aten::").size())), op);
  c10::IValue& scale = stack->back();
  const at::Tensor& q = (*stack)[stack->size() - op.schema().arguments().size() + query].toTensor();
  bool is_default = scale.isDouble() && q.dim() > 0 &&
                    std::abs(scale.toDouble() * std::sqrt(static_cast<double>(q.size(-1))) - 1) < 1e-15;
  if (is_default) scale = c10::IValue();
  call->run(*stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_fused_sdp_choice", TORCH_FN(choose_attention));
  m.impl("_scaled_dot_product_fused_attention_overrideable",
         torch::CppFunction::makeFromBoxedFunction<&attention_row<0>>());
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward",
         torch::CppFunction::makeFromBoxedFunction<&attention_row<1>>());
}

TORCH_LIBRARY_FRAGMENT(torch_tpu, m) {
  m.def(
      "attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, float dropout_p, bool is_causal, bool "
      "return_debug_mask, float? scale) -> Tensor[]");
  m.def(
      "attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool[4] "
      "grad_input_mask, Tensor out, Tensor logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, int max_q, int max_k, "
      "float dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, float? scale) -> Tensor[]");
}

TORCH_LIBRARY_IMPL(torch_tpu, CPU, m) {
  m.impl("attention", TORCH_FN(attention));
  m.impl("attention_backward", TORCH_FN(attention_backward));
}

}  // namespace

}  // namespace tpu::aten

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &tpu::aten::choose_attention)
}
