// Family attention: softmax(scale * query key^T + bias) value. What goes in: query [batch, heads, L, E], key and value
// [batch, key heads, S, E], an optional bias that broadcasts to [batch, heads, L, S], dropout and a causal mask.
//
// Scores and the softmax are float32 for half types; probabilities are rounded to the operands' type for the second
// product. The forward keeps one number per row (the log of the sum of exponentials), from which the backward makes the
// probabilities again (Dao et al., https://arxiv.org/abs/2205.14135, algorithm 4).
#include <cmath>
#include <optional>

#include "ops/axis.h"
#include "ops/host_call.h"
#include "ops/philox.h"
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------------ shared moves

struct Shape {
  int64_t batch, heads, key_heads, rows, columns;
  int64_t group() const { return heads / key_heads; }
  /// [batch, heads, L, S]
  Dims scores() const { return {batch, heads, rows, columns}; }
};

Shape shape_of(const Context& c) {
  Type query = c.type("query"), key = c.type("key"), value = c.type("value");
  c.expect(query.rank() == 4 && key.rank() == 4 && value.rank() == 4, ErrorCode::InvalidArgument,
           "scaled_dot_product_attention: Expected query, key and value of 4 dimensions, got ", to_string(query.dims),
           ", ", to_string(key.dims), " and ", to_string(value.dims));
  c.expect(query.element == key.element && query.element == value.element, ErrorCode::InvalidArgument,
           "Expected query, key, and value to have the same dtype, but got query.dtype: ", torch_name(query.element),
           " key.dtype: ", torch_name(key.element), " and value.dtype: ", torch_name(value.element), " instead.");
  c.expect(is_floating(query.element), ErrorCode::InvalidArgument,
           "Expected query, key, and value to be of a floating dtype, but got ", torch_name(query.element));
  Shape shape{query.dims[0], query.dims[1], key.dims[1], query.dims[2], key.dims[2]};
  bool fits = key.dims[0] == shape.batch && value.dims[0] == shape.batch && value.dims[1] == shape.key_heads &&
              value.dims[2] == shape.columns && key.dims[3] == query.dims[3] &&
              (shape.key_heads == shape.heads || (shape.key_heads > 0 && shape.heads % shape.key_heads == 0));
  c.expect(fits, ErrorCode::InvalidArgument, "scaled_dot_product_attention: sizes of query ", to_string(query.dims),
           ", key ", to_string(key.dims), " and value ", to_string(value.dims), " do not fit");
  return shape;
}

// Query heads that share a key head become more rows of it: [batch, heads, L, x] as [batch, key heads, group * L, x],
// and back. So grouped queries need no copies of key and value.
hlo::Value grouped(const hlo::Value& x, const Shape& shape) {
  return hlo::reshape(x, {shape.batch, shape.key_heads, shape.group() * shape.rows, x.dims()[3]});
}
hlo::Value ungrouped(const hlo::Value& x, const Shape& shape) {
  return hlo::reshape(x, {shape.batch, shape.heads, shape.rows, x.dims()[3]});
}

// Batched matrix products, accumulated in the compute type: `a` and `b` contract the dimensions given.
hlo::Value product(Context& c, const hlo::Value& a, int64_t a_dim, const hlo::Value& b, int64_t b_dim) {
  hlo::DotDims dims{.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contract = {a_dim}, .rhs_contract = {b_dim}};
  return hlo::dot_general(a, b, dims, c.settings().precision, compute_type(a.element()));
}

hlo::Value infinity_like(const hlo::Value& x) { return hlo::like(x, INFINITY); }

// One statistic per row [batch, heads, L] at every score.
hlo::Value per_row(const hlo::Value& x, const Dims& dims) { return hlo::broadcast_in_dim(x, dims, {0, 1, 2}); }

hlo::Value scale_of(Context& c, ElementType type) {
  if (c.has("scale")) return c.scalar("scale", type);
  return hlo::constant(c.builder(), type, 1 / std::sqrt(static_cast<double>(c.type("query").dims[3])));
}

// The query times scale. Half types keep theirs, which would be rounded, and scale the scores instead.
bool scales_query(const hlo::Value& query) { return compute_type(query.element()) == query.element(); }
hlo::Value scaled_query(Context& c) {
  hlo::Value query = c.tensor("query");
  return scales_query(query) ? query * hlo::broadcast(scale_of(c, query.element()), query.dims()) : query;
}

// scale * query key^T + bias; -inf above the diagonal that starts in the upper left corner.
hlo::Value scores_of(Context& c, const Shape& shape, const hlo::Value& query) {
  hlo::Value scores = ungrouped(product(c, grouped(query, shape), 3, c.tensor("key"), 3), shape);
  ElementType type = scores.element();
  if (!scales_query(query)) scores = scores * hlo::broadcast(scale_of(c, type), scores.dims());
  if (c.has("attn_bias")) {
    hlo::Value bias = c.tensor("attn_bias");
    if (bias.element() == ElementType::Pred) {
      scores = hlo::select(broadcast_to(bias, scores.dims()), scores, hlo::negate(infinity_like(scores)));
    } else {
      scores = scores + broadcast_to(hlo::convert(bias, type), scores.dims());
    }
  }
  if (!c.flag("is_causal")) return scores;
  Type index{ElementType::S32, {shape.rows, shape.columns}};
  hlo::Value visible = hlo::ge(hlo::iota(c.builder(), index, 0), hlo::iota(c.builder(), index, 1));
  return hlo::select(broadcast_to(visible, scores.dims()), scores, hlo::negate(infinity_like(scores)));
}

// Which probabilities survive dropout, as 1 / (1 - p) or 0. `state` is the generator's u64[3].
hlo::Value dropout_factor(Context& c, const hlo::Value& state, const Dims& dims, ElementType type) {
  hlo::Value bits = philox_words(state, dims, 1)[0];
  // 24 bits are exact in float32.
  hlo::Value top = hlo::convert(hlo::shift_right_logical(bits, hlo::like(bits, 8)), ElementType::F32);
  hlo::Value p = c.scalar("dropout_p", ElementType::F32);
  hlo::Value one = hlo::scalar_like(p, 1);
  hlo::Value keeps = hlo::ge(top * hlo::like(top, 0x1p-24), hlo::broadcast(p, dims));
  hlo::Value factor = hlo::select(hlo::ge(p, one), hlo::scalar_like(p, 0), one / (one - p));
  return hlo::select(keeps, hlo::broadcast(hlo::convert(factor, type), dims),
                     hlo::constant(c.builder(), {type, dims}, 0));
}

bool drops(const Context& c) { return c.known("dropout_p") != 0.0; }

// Sums over the dimensions along which `dims` was broadcast to x's dims.
hlo::Value sum_to(const hlo::Value& x, const Dims& dims) {
  size_t extra = x.dims().size() - dims.size();
  Dims over;
  for (size_t i = 0; i < x.dims().size(); ++i)
    if (i < extra || dims[i - extra] != x.dims()[i]) over.push_back(static_cast<int64_t>(i));
  return over.empty() ? x : hlo::reshape(hlo::reduce(x, over, hlo::Reducer::Add), dims);
}

// --------------------------------------------------------------------------------------------------- lowerings

// output, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, philox_seed, philox_offset, debug_attn_mask. Dense inputs have
// no cumulative lengths; max_q and max_k are numbers, which the call fills in.
hlo::Values fused_attention(Context& c) {
  Shape shape = shape_of(c);
  hlo::Value value = c.tensor("value");
  hlo::Value scores = scores_of(c, shape, scaled_query(c));
  ElementType type = scores.element();
  hlo::Value largest = fold_one(c, scores, 3).reduce(scores, hlo::Reducer::Max);
  // A row without any visible column has probability zero everywhere, not NaN.
  hlo::Value nothing = hlo::eq(largest, hlo::negate(infinity_like(largest)));
  hlo::Value shift = hlo::select(nothing, hlo::like(largest, 0), largest);
  hlo::Value weights = hlo::exponential(scores - per_row(shift, scores.dims()));
  hlo::Value sum = hlo::reduce(weights, {3}, hlo::Reducer::Add);
  hlo::Value logsumexp = shift + hlo::log(sum);
  hlo::Value seed = hlo::constant(c.builder(), ElementType::S64, 0), offset = seed;
  if (drops(c)) {
    hlo::Value state = c.random_state(tpu::product(shape.scores()));
    weights = weights * dropout_factor(c, state, scores.dims(), type);
    hlo::Value words = hlo::bitcast_convert(state, ElementType::S64);
    seed = hlo::reshape(hlo::slice(words, {0}, {1}, {1}), {});
    offset = hlo::reshape(hlo::slice(words, {1}, {2}, {1}), {});
  }
  hlo::Value total = product(c, grouped(hlo::convert(weights, value.element()), shape), 3, value, 2);
  hlo::Value divisor = hlo::select(nothing, hlo::like(sum, 1), sum);
  hlo::Value output = ungrouped(total, shape);
  output = output / per_row(divisor, output.dims());
  return {hlo::convert(output, value.element()), hlo::convert(logsumexp, type), {}, {}, {}, {}, seed, offset, {}};
}

hlo::Values fused_attention_backward(Context& c) {
  Shape shape = shape_of(c);
  hlo::Value query = scaled_query(c), key = c.tensor("key"), value = c.tensor("value");
  ElementType half = query.element(), type = compute_type(half);
  hlo::Value grad = c.tensor("grad_out"), logsumexp = c.tensor("logsumexp", type);
  hlo::Value scores = scores_of(c, shape, query);
  const Dims& dims = scores.dims();
  hlo::Value nothing = hlo::eq(logsumexp, hlo::negate(infinity_like(logsumexp)));
  hlo::Value shift = hlo::select(nothing, infinity_like(logsumexp), logsumexp);  // exp(-inf) = 0
  hlo::Value probabilities = hlo::exponential(scores - per_row(shift, dims));
  hlo::Value kept = probabilities, factor;
  if (drops(c)) {
    hlo::Value words =
        hlo::concatenate({hlo::reshape(c.tensor("philox_seed"), {1}), hlo::reshape(c.tensor("philox_offset"), {1}),
                          hlo::constant(c.builder(), {ElementType::S64, {1}}, 0)},
                         0);
    factor = dropout_factor(c, hlo::bitcast_convert(words, ElementType::U64), dims, type);
    kept = kept * factor;
  }
  Dims mask = c.ints("grad_input_mask");
  hlo::Values results(4);
  if (mask[2])
    results[2] = hlo::convert(product(c, grouped(hlo::convert(kept, half), shape), 2, grouped(grad, shape), 2), half);

  hlo::Value inner = ungrouped(product(c, grouped(grad, shape), 3, value, 3), shape);
  if (factor) inner = inner * factor;
  hlo::Value along = hlo::reduce(hlo::convert(grad, type) * c.tensor("out", type), {3}, hlo::Reducer::Add);
  hlo::Value score_grad = probabilities * (inner - per_row(along, dims));
  if (mask[3] && c.has("attn_bias")) {
    Type bias = c.type("attn_bias");
    results[3] = hlo::convert(sum_to(score_grad, bias.dims), bias.element);
  }
  hlo::Value rows = grouped(hlo::convert(score_grad, half), shape);
  auto scaled = [&](const hlo::Value& x) { return x * hlo::broadcast(scale_of(c, type), x.dims()); };
  if (mask[0]) results[0] = hlo::convert(scaled(ungrouped(product(c, rows, 3, key, 2), shape)), half);
  if (mask[1]) {
    hlo::Value result = product(c, rows, 2, grouped(query, shape), 2);
    results[1] = hlo::convert(scales_query(query) ? result : scaled(result), half);
  }
  return results;
}

// The CPU's kernel keeps no matrix of scores in memory. It takes as many key heads as heads, and values as long as
// keys. Dropout other than 0 and a scale that is given are no structure, so such calls stay with the lowering. In
// bfloat16 it works on blocks of float32 that a short row of keys does not fill: the lowering takes half its time
// there.
bool gains_by_flash(const Call& call) {
  constexpr int64_t kManyScores = int64_t{1} << 20;
  const Type &query = call.type("query"), &key = call.type("key");
  const Dims& value = call.type("value").dims;
  if (query.element == ElementType::BF16 && key.dims[2] <= 128) return false;
  return call.argument("attn_bias").kind == Argument::Kind::None && value.size() == 4 &&
         (query.element == ElementType::F32 || query.element == ElementType::BF16) && query.dims[1] == key.dims[1] &&
         query.dims[3] == value[3] && query.dims[0] * query.dims[1] * query.dims[2] * key.dims[2] >= kManyScores;
}

}  // namespace

Table attention_table() {
  return {
      row("_scaled_dot_product_fused_attention_overrideable", fused_attention)
          .random()
          .special("dropout_p", {0})
          .host_kernel(gains_by_flash, "torch_tpu::attention")
          .lending(),
      row("_scaled_dot_product_fused_attention_overrideable_backward", fused_attention_backward)
          .special("dropout_p", {0})
          .host_kernel(gains_by_flash, "torch_tpu::attention_backward")
          .lending(),
  };
}

}  // namespace tpu::ops
