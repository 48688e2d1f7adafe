// The inference paths of nn.TransformerEncoderLayer and nn.MultiheadAttention: torch gives one op for the whole layer,
// this writes it as the ops it stands for, all of which have lowerings. What goes in: src [batch, length, embed_dim]
// and the layer's weights; out comes the layer's output.
#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <torch/library.h>

#include <cmath>

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

// [batch, length, 3 * width] to query, key and value, [batch, heads, length, width / heads]; the query is scaled.
std::tuple<at::Tensor, at::Tensor, at::Tensor> split_heads(const at::Tensor& qkv, const at::Tensor& bias,
                                                           int64_t heads) {
  TORCH_CHECK_NOT_IMPLEMENTED(!qkv.is_nested(), "device tpu has no nested tensors: give a padded one with a mask");
  TORCH_CHECK(qkv.dim() == 3 && qkv.size(2) % (3 * heads) == 0, "expected qkv [batch, length, 3 * heads * width], got ",
              qkv.sizes(), " for ", heads, " heads");
  int64_t batch = qkv.size(0), length = qkv.size(1), width = qkv.size(2) / (3 * heads);
  at::Tensor parts = at::add(qkv, bias).view({batch, length, 3, heads, width}).permute({2, 0, 3, 1, 4}).contiguous();
  return {parts.select(0, 0) / std::sqrt(static_cast<double>(width)), parts.select(0, 1), parts.select(0, 2)};
}

/// The projections of query, key and value, by the three parts of the joint weight.
at::Tensor projections(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                       const at::Tensor& weight) {
  if (query.is_same(key) && key.is_same(value)) return at::linear(query, weight);
  int64_t width = weight.size(0) / 3;
  auto part = [&](const at::Tensor& x, int64_t i) { return at::linear(x, weight.narrow(0, i * width, width)); };
  return at::cat({part(query, 0), part(key, 1), part(value, 2)}, 2);
}

std::tuple<at::Tensor, at::Tensor> multi_head_attention(const at::Tensor& query, const at::Tensor& key,
                                                        const at::Tensor& value, int64_t embed_dim, int64_t heads,
                                                        const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
                                                        const at::Tensor& proj_weight, const at::Tensor& proj_bias,
                                                        const std::optional<at::Tensor>& mask, bool need_weights,
                                                        bool average_weights, std::optional<int64_t> mask_type) {
  TORCH_CHECK(query.dim() == 3, "expected 3-D `query`, got ", query.dim(), "-D tensor");
  TORCH_CHECK(query.size(2) == embed_dim, "passed-in embed_dim ", embed_dim, " didn't match last dim of query ",
              query.size(2));
  TORCH_CHECK(query.sizes() == key.sizes() && key.sizes() == value.sizes(),
              "expected `key`/`query`/`value` shapes to match, got ", query.sizes(), ", ", key.sizes(), " and ",
              value.sizes());
  auto [q, k, v] = split_heads(projections(query, key, value, qkv_weight), qkv_bias, heads);
  at::Tensor scores = at::matmul(q, k.transpose(2, 3));
  if (mask && mask->defined()) {
    at::Tensor left_out = mask->scalar_type() == at::kBool ? *mask : mask->to(at::kBool);
    if (left_out.dim() == 2 && mask_type == 1) left_out = left_out.view({left_out.size(0), 1, 1, left_out.size(1)});
    scores = scores.masked_fill(left_out, -INFINITY);
  }
  at::Tensor weights = at::softmax(scores, 3);
  at::Tensor mixed = at::matmul(weights, v).transpose(1, 2).reshape(query.sizes());
  at::Tensor result = at::linear(mixed, proj_weight, proj_bias);
  if (!need_weights) return {result, at::Tensor()};
  return {result, average_weights ? weights.mean(1) : weights};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_transformer_encoder_layer_fwd", TORCH_FN(encoder_layer));
  m.impl("_native_multi_head_attention", TORCH_FN(multi_head_attention));
  m.impl("_transform_bias_rescale_qkv", TORCH_FN(split_heads));
}

}  // namespace

}  // namespace tpu::aten
