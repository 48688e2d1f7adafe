// The inference path of nn.TransformerEncoderLayer: torch gives one op for the whole layer, this writes it as the ops
// it stands for, all of which have lowerings. What goes in: src [batch, length, embed_dim] and the layer's weights; out
// comes the layer's output.
#include <ATen/ops/add.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/library.h>

namespace tpu::aten {

namespace {

// torch's mask types: 0 is over positions [length, length], 1 over keys [batch, length], 2 is given in full. True, and
// -inf, mean "left out".
std::optional<at::Tensor> attention_mask(const std::optional<at::Tensor>& mask, std::optional<int64_t> type) {
  if (!mask || !mask->defined()) return std::nullopt;
  at::Tensor allowed = mask->scalar_type() == at::kBool ? at::logical_not(*mask) : *mask;
  if (allowed.dim() == 2 && type == 1) return allowed.view({allowed.size(0), 1, 1, allowed.size(1)});
  return allowed;
}

at::Tensor attention(const at::Tensor& x, int64_t heads, const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
                     const at::Tensor& proj_weight, const at::Tensor& proj_bias,
                     const std::optional<at::Tensor>& mask) {
  int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  at::Tensor qkv =
      at::linear(x, qkv_weight, qkv_bias).view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  at::Tensor mixed = at::scaled_dot_product_attention(qkv.select(0, 0), qkv.select(0, 1), qkv.select(0, 2), mask);
  return at::linear(mixed.transpose(1, 2).reshape({batch, length, width}), proj_weight, proj_bias);
}

at::Tensor encoder_layer(const at::Tensor& src, int64_t embed_dim, int64_t num_heads, const at::Tensor& qkv_weight,
                         const at::Tensor& qkv_bias, const at::Tensor& proj_weight, const at::Tensor& proj_bias,
                         bool use_gelu, bool norm_first, double eps, const at::Tensor& norm_weight_1,
                         const at::Tensor& norm_bias_1, const at::Tensor& norm_weight_2, const at::Tensor& norm_bias_2,
                         const at::Tensor& ffn_weight_1, const at::Tensor& ffn_bias_1, const at::Tensor& ffn_weight_2,
                         const at::Tensor& ffn_bias_2, const std::optional<at::Tensor>& mask,
                         std::optional<int64_t> mask_type) {
  TORCH_CHECK_NOT_IMPLEMENTED(!src.is_nested(),
                              "device tpu has no nested tensors: give the encoder layer a padded one with a mask");
  std::optional<at::Tensor> allowed = attention_mask(mask, mask_type);
  auto norm_1 = [&](const at::Tensor& x) { return at::layer_norm(x, {embed_dim}, norm_weight_1, norm_bias_1, eps); };
  auto norm_2 = [&](const at::Tensor& x) { return at::layer_norm(x, {embed_dim}, norm_weight_2, norm_bias_2, eps); };
  auto attend = [&](const at::Tensor& x) {
    return attention(x, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, allowed);
  };
  auto feed_forward = [&](const at::Tensor& x) {
    at::Tensor inner = at::linear(x, ffn_weight_1, ffn_bias_1);
    return at::linear(use_gelu ? at::gelu(inner) : at::relu(inner), ffn_weight_2, ffn_bias_2);
  };
  if (norm_first) {
    at::Tensor x = at::add(src, attend(norm_1(src)));
    return at::add(x, feed_forward(norm_2(x)));
  }
  at::Tensor x = norm_1(at::add(src, attend(src)));
  return norm_2(at::add(x, feed_forward(x)));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_transformer_encoder_layer_fwd", TORCH_FN(encoder_layer)); }

}  // namespace

}  // namespace tpu::aten
