// Attention: torch asks the device which kernel scaled_dot_product_attention should take. Ours is the row of the
// overrideable pair wherever it fits, else the composite of matrix products and softmax.
#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/native/transformers/attention.h>
#include <torch/library.h>

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

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_fused_sdp_choice", TORCH_FN(choose_attention)); }

}  // namespace

}  // namespace tpu::aten

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &tpu::aten::choose_attention)
}
