// Family softmax: softmax and log-softmax along one dimension, with a mask if asked, and their gradients.
#include <cmath>

#include "ops/axis.h"
#include "ops/elementwise.h"
#include "ops/host_call.h"

namespace tpu::ops {

namespace {

using hlo::Reducer;
using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ shared moves

Fold along_dim(Context& c, const Value& x) { return fold_one(c, x, wrap_dim(c.integer("dim"), x.rank())); }

Value floats(Context& c, const char* name) {
  Value x = c.tensor(name);
  expect_kind(c, x.element(), kReal);
  return hlo::convert(x, compute_type(x.element()));
}

// x less its largest element, so that no exponential overflows.
Value shifted(const Value& x, const Fold& along) {
  return hlo::subtract(x, along.spread(along.reduce(x, Reducer::Max)));
}

Value softmax_of(const Value& x, const Fold& along) {
  Value e = hlo::exponential(shifted(x, along));
  return hlo::divide(e, along.spread(along.reduce(e, Reducer::Add)));
}

Value softmax_gradient(const Value& grad, const Value& output, const Fold& along) {
  Value weighted = hlo::multiply(grad, output);
  return hlo::subtract(weighted, hlo::multiply(output, along.spread(along.reduce(weighted, Reducer::Add))));
}

// -------------------------------------------------------------------------------------------------- lowerings

Values softmax(Context& c) {
  Value x = floats(c, "self");
  return {softmax_of(x, along_dim(c, x))};
}

Values log_softmax(Context& c) {
  Value x = floats(c, "self");
  Fold along = along_dim(c, x);
  Value less = shifted(x, along);
  return {hlo::subtract(less, along.spread(hlo::log(along.reduce(hlo::exponential(less), Reducer::Add))))};
}

Values softmax_backward(Context& c) {
  Value grad = floats(c, "grad_output");
  return {softmax_gradient(grad, floats(c, "output"), along_dim(c, grad))};
}

Values log_softmax_backward(Context& c) {
  Value grad = floats(c, "grad_output");
  Fold along = along_dim(c, grad);
  Value sum = along.spread(along.reduce(grad, Reducer::Add));
  return {hlo::subtract(grad, hlo::multiply(hlo::exponential(floats(c, "output")), sum))};
}

// The mask in the dims of x. Kinds: 0 is [L, L] for x[B, H, L, L], 1 is [B, L] for the same x, 2 has the dims of x.
Value mask_like(Context& c, const Value& x, std::optional<int64_t> kind) {
  Value mask = c.tensor("mask");
  c.expect(mask.element() == ElementType::Pred, ErrorCode::InvalidArgument, "Mask should be a boolean tensor");
  if (kind == 1 && mask.rank() == 2) mask = hlo::reshape(mask, {mask.dims()[0], 1, 1, mask.dims()[1]});
  return broadcast_to(mask, x.dims());
}

Fold masked_dim(Context& c, const Value& x) {
  return fold_one(c, x, wrap_dim(c.optional_integer("dim").value_or(-1), x.rank()));
}

// Masked places count as -inf; where all are masked the result is NaN, as PyTorch's.
Values masked_softmax(Context& c) {
  ElementType type = c.type("self").element;
  Value x = floats(c, "self");
  Value mask = mask_like(c, x, c.optional_integer("mask_type"));
  Value kept = hlo::select(mask, hlo::like(x, -INFINITY), x);
  return {hlo::convert(softmax_of(kept, masked_dim(c, x)), type)};
}

Values masked_softmax_backward(Context& c) {
  ElementType type = c.type("grad_output").element;
  Value grad = floats(c, "grad_output"), output = floats(c, "output");
  Value mask = mask_like(c, grad, {});
  Value zero = zeros_like(grad);
  // A masked place takes no part; its output may be NaN.
  Value gradient =
      softmax_gradient(hlo::select(mask, zero, grad), hlo::select(mask, zero, output), masked_dim(c, grad));
  return {hlo::convert(gradient, type)};
}

}  // namespace

Table softmax_table() {
  return {
      row("_softmax.out", softmax).host_kernel(is_large),
      row("_log_softmax.out", log_softmax).host_kernel(is_large),
      row("_softmax_backward_data.out", softmax_backward).host_kernel(is_large),
      row("_log_softmax_backward_data.out", log_softmax_backward).host_kernel(is_large),
      row("_masked_softmax", masked_softmax),
      row("_masked_softmax_backward", masked_softmax_backward),
  };
}

}  // namespace tpu::ops
