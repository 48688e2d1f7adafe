// Family activation: the nonlinearities of neural networks and their gradients. What goes in: the input (or the output
// where the gradient is written in it), for gradients grad_output, and a few run-time numbers.
#include <cmath>
#include <numbers>

#include "ops/elementwise.h"
#include "ops/host_call.h"

namespace tpu::ops {

namespace {

using hlo::like;
using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------- shared moves

/// f(c, x) of the input, in its type.
template <auto f, unsigned kinds = kReal>
Values forward(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kinds);
  return {hlo::convert(f(c, operand(c, "self", type)), type)};
}

/// f(c, gradient, x) where x is the argument `input`, in their promoted type.
template <auto f, const char* const& input, unsigned kinds = kReal, const char* const& gradient>
Values backward_of(Context& c) {
  ElementType type = result_type(c, {gradient, input});
  expect_kind(c, type, kinds);
  Values x = operands(c, {gradient, input}, type);
  return {hlo::convert(f(c, x[0], x[1]), type)};
}

constexpr const char* kOutput = "output";
constexpr const char* kSelfOrResult = "self_or_result";
constexpr const char* kGradOutput = "grad_output";
constexpr const char* kGradOut = "grad_out";

template <auto f, const char* const& input = kSelf, unsigned kinds = kReal>
Values backward(Context& c) {
  return backward_of<f, input, kinds, kGradOutput>(c);
}

Value one(const Value& x) { return like(x, 1); }
Value zero(const Value& x) { return like(x, 0); }
Value either(const Value& a, const Value& b) { return hlo::or_(a, b); }
Value both(const Value& a, const Value& b) { return hlo::and_(a, b); }
/// The product with a run-time number, left out where that is known to be 1.
Value times(Context& c, const char* name, const Value& x) {
  return c.known(name) == 1.0 ? x : x * number_like(c, name, x);
}

// ---------------------------------------------------------------------------------------------- rectifiers

Value relu(Context& c, const Value& x) {
  c.expect(x.element() != ElementType::Pred, ErrorCode::InvalidArgument, "Boolean inputs not supported for relu");
  return hlo::select(hlo::lt(x, zero(x)), zero(x), x);  // keeps NaN and -0
}

Value threshold(Context& c, const Value& x) {
  return hlo::select(hlo::le(x, number_like(c, "threshold", x)), number_like(c, "value", x), x);
}
Value threshold_backward(Context& c, const Value& g, const Value& x) {
  return hlo::select(hlo::le(x, number_like(c, "threshold", x)), zero(g), g);
}

Value leaky_relu(Context& c, const Value& x) {
  return hlo::select(hlo::gt(x, zero(x)), x, x * number_like(c, "negative_slope", x));
}
Value leaky_relu_backward(Context& c, const Value& g, const Value& x) {
  return hlo::select(hlo::gt(x, zero(x)), g, g * number_like(c, "negative_slope", g));
}

/// scale * x above 0, alpha * scale * (exp(input_scale * x) - 1) below.
Value elu(Context& c, const Value& x) {
  Value below = times(c, "alpha", hlo::exponential_minus_one(times(c, "input_scale", x)));
  return times(c, "scale", hlo::select(hlo::lt(x, zero(x)), below, x));
}
// In terms of the result y: alpha * scale * exp(input_scale * x) is y + alpha * scale.
Value elu_backward(Context& c, const Value& g, const Value& x) {
  Value scale = times(c, "scale", one(x));
  Value growth = c.flag("is_result") ? x + times(c, "alpha", scale)
                                     : times(c, "alpha", scale * hlo::exponential(times(c, "input_scale", x)));
  Value slope = hlo::select(hlo::le(x, zero(x)), times(c, "input_scale", growth), scale);
  return g * slope;
}

// Rows without a meta function check the output themselves.
Values prelu(Context& c) {
  ElementType type = c.type("self").element;
  c.expect(c.type("weight").element == type, ErrorCode::InvalidArgument, "prelu: Type promoting not supported. Got ",
           scalar_type_name(type), " and ", scalar_type_name(c.type("weight").element));
  expect_kind(c, type, kReal);
  Values x = operands(c, {"self", "weight"}, type);
  return {hlo::convert(hlo::select(hlo::gt(x[0], zero(x[0])), x[0], x[1] * x[0]), type)};
}
Values prelu_backward(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kReal);
  Values x = operands(c, {"grad_output", "self", "weight"}, type);
  Value above = hlo::gt(x[1], zero(x[1]));
  Value of_input = hlo::select(above, x[0], x[2] * x[0]);
  Value of_weight = hlo::select(above, zero(x[0]), x[1] * x[0]);
  return {hlo::convert(of_input, type), hlo::convert(of_weight, type)};
}

// Training: a slope for every element that is not positive, drawn from [lower, upper) and kept in `noise` (1
// elsewhere). Evaluation: the slope in the middle; `noise` stays.
Values rrelu(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kReal);
  Value x = operand(c, "self", type);
  Value low = number_like(c, "lower", x), high = number_like(c, "upper", x);
  if (!c.flag("training")) {
    Value slope = (low + high) * like(x, 0.5);
    return {hlo::convert(hlo::select(hlo::gt(x, zero(x)), x, x * slope), type), c.tensor("noise")};
  }
  // As many bits as the mantissa holds.
  Value uniform;
  if (type == ElementType::F64) {
    Value bits = c.random_bits64(x.dims());
    uniform = hlo::convert(hlo::shift_right_logical(bits, like(bits, 11)), type) * like(x, std::ldexp(1.0, -53));
  } else {
    Value bits = c.random_bits(x.dims());
    uniform = hlo::convert(hlo::shift_right_logical(bits, like(bits, 8)), x.element()) * like(x, std::ldexp(1.0, -24));
  }
  Value slope = hlo::select(hlo::le(x, zero(x)), low + uniform * (high - low), one(x));
  return {hlo::convert(x * slope, type), hlo::convert(slope, c.type("noise").element)};
}

// ------------------------------------------------------------------------------------- pieces of straight lines

Values hardtanh(Context& c) {
  ElementType type = c.type("self").element;
  c.expect(type != ElementType::Pred, ErrorCode::InvalidArgument, "Bool inputs not supported for hardtanh");
  expect_kind(c, type, kInteger | kReal);
  c.expect(is_signed(type) || c.known("min_val").value_or(0) >= 0, ErrorCode::InvalidArgument,
           "cannot do hardtanh on an unsigned type with negative limits");
  Value x = operand(c, "self", type);
  Value bounded = hlo::minimum(hlo::maximum(x, number_like(c, "min_val", x)), number_like(c, "max_val", x));
  return {hlo::convert(bounded, type)};
}
Value hardtanh_backward(Context& c, const Value& g, const Value& x) {
  Value inside = both(hlo::gt(x, number_like(c, "min_val", x)), hlo::lt(x, number_like(c, "max_val", x)));
  return hlo::select(inside, g, zero(g));
}

/// min(max(x + 3, 0), 6) / 6
Value hard_gate(const Value& x) {
  return hlo::minimum(hlo::maximum(x + like(x, 3), zero(x)), like(x, 6)) * like(x, 1.0 / 6);
}
Value hardsigmoid(Context&, const Value& x) { return hard_gate(x); }
Value hardsigmoid_backward(Context&, const Value& g, const Value& x) {
  Value inside = both(hlo::gt(x, like(x, -3)), hlo::lt(x, like(x, 3)));
  return hlo::select(inside, g * like(g, 1.0 / 6), zero(g));
}
Value hardswish(Context&, const Value& x) { return x * hard_gate(x); }
Value hardswish_backward(Context&, const Value& g, const Value& x) {
  Value inside = g * (x * like(x, 1.0 / 3) + like(x, 0.5));
  return hlo::select(hlo::le(x, like(x, -3)), zero(g), hlo::select(hlo::lt(x, like(x, 3)), inside, g));
}

Value within_lambda(Context& c, const Value& x) {
  Value bound = number_like(c, "lambd", x);
  return both(hlo::ge(x, hlo::negate(bound)), hlo::le(x, bound));
}
Value hardshrink(Context& c, const Value& x) { return hlo::select(within_lambda(c, x), zero(x), x); }
// x * 0 keeps NaN and the sign of zero.
Value softshrink(Context& c, const Value& x) {
  Value bound = number_like(c, "lambd", x);
  Value below = hlo::select(hlo::lt(x, hlo::negate(bound)), x + bound, x * zero(x));
  return hlo::select(hlo::gt(x, bound), x - bound, below);
}
Value shrink_backward(Context& c, const Value& g, const Value& x) {
  return hlo::select(within_lambda(c, x), zero(g), g);
}

// ------------------------------------------------------------------------------------------- smooth functions

// Gradients of complex functions take the conjugate of the derivative.
Value sigmoid_backward(Context&, const Value& g, const Value& y) { return g * hlo::conj((one(y) - y) * y); }
Value tanh_backward(Context&, const Value& g, const Value& y) { return g * hlo::conj(one(y) - y * y); }

Value silu(Context&, const Value& x) { return x * hlo::logistic(x); }
Value silu_backward(Context&, const Value& g, const Value& x) {
  Value gate = hlo::logistic(x);
  return g * hlo::conj(gate * (one(x) + x * (one(x) - gate)));
}

// x * Phi(x), or its approximation 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): Hendrycks and Gimpel, Gaussian
// Error Linear Units, arXiv:1606.08415.
constexpr double kCubic = 0.044715;
const double kInner = std::sqrt(2 / std::numbers::pi);

bool is_tanh_form(const Context& c) {
  std::string form = c.text("approximate");
  c.expect(form == "none" || form == "tanh", ErrorCode::InvalidArgument,
           "approximate argument must be either none or tanh.");
  return form == "tanh";
}
Value normal_cdf(const Value& x) { return (one(x) + hlo::erf(x * like(x, std::numbers::sqrt2 / 2))) * like(x, 0.5); }
Value gelu(Context& c, const Value& x) {
  if (!is_tanh_form(c)) return x * normal_cdf(x);
  Value inner = (x + x * x * x * like(x, kCubic)) * like(x, kInner);
  return x * like(x, 0.5) * (one(x) + hlo::tanh(inner));
}
Value gelu_backward(Context& c, const Value& g, const Value& x) {
  if (!is_tanh_form(c)) {
    Value density = hlo::exponential(x * x * like(x, -0.5)) * like(x, kInner / 2);
    return g * (normal_cdf(x) + x * density);
  }
  Value square = x * x;
  Value t = hlo::tanh((x + x * square * like(x, kCubic)) * like(x, kInner));
  Value inner_slope = (one(x) + square * like(x, 3 * kCubic)) * like(x, kInner);
  Value half = like(x, 0.5);
  return g * (half * (one(x) + t) + half * x * (one(x) - t * t) * inner_slope);
}

/// log(1 + e^(beta x)) / beta, and x itself where beta x is above the threshold.
Value softplus(Context& c, const Value& x) {
  Value scaled = times(c, "beta", x);
  Value smooth = log1p(hlo::exponential(scaled));
  if (c.known("beta") != 1.0) smooth = smooth / number_like(c, "beta", x);
  return hlo::select(hlo::gt(scaled, number_like(c, "threshold", x)), x, smooth);
}
Value softplus_backward(Context& c, const Value& g, const Value& x) {
  Value scaled = times(c, "beta", x);
  return hlo::select(hlo::gt(scaled, number_like(c, "threshold", x)), g, g * hlo::logistic(scaled));
}

Value mish(Context&, const Value& x) { return x * hlo::tanh(log1p(hlo::exponential(x))); }

/// min(x, 0) - log(1 + z) with z = exp(-|x|), which is kept for the gradient.
Values log_sigmoid(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kReal);
  Value x = operand(c, "self", type);
  Value z = hlo::exponential(hlo::negate(hlo::abs(x)));
  Value result = hlo::minimum(x, zero(x)) - log1p(z);
  return {hlo::convert(result, type), hlo::convert(z, type)};
}
// 1 - sigmoid(x) from z, on the side where nothing cancels. The buffer of another device's forward may be empty.
Values log_sigmoid_backward(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kReal);
  Values x = operands(c, {"grad_output", "self"}, type);
  return {hlo::convert(x[0] * hlo::logistic(hlo::negate(x[1])), type)};
}

/// log(x / (1 - x)), x first limited to [eps, 1 - eps] where eps is given.
Values logit(Context& c) {
  ElementType type = to_floating(c, c.type("self").element);
  expect_kind(c, type, kReal);
  Value x = operand(c, "self", type);
  if (c.has("eps")) {
    Value eps = number_like(c, "eps", x);
    x = hlo::minimum(hlo::maximum(x, eps), one(x) - eps);
  }
  return {hlo::convert(hlo::log(x / (one(x) - x)), type)};
}
Value logit_backward(Context& c, const Value& g, const Value& x) {
  Value low = zero(x);
  Value outside = like(g, NAN);
  if (c.has("eps")) {
    low = number_like(c, "eps", x);
    outside = zero(g);
  }
  Value is_outside = either(hlo::lt(x, low), hlo::gt(x, one(x) - low));
  return hlo::select(is_outside, outside, g / (x * (one(x) - x)));
}

// ------------------------------------------------------------------------------------------- gated linear unit

/// The two halves of x along its dimension `dim`.
std::pair<Value, Value> halves(const Value& x, int64_t dim) {
  Dims start(x.dims().size(), 0), middle = x.dims(), strides(x.dims().size(), 1);
  auto d = static_cast<size_t>(dim);
  middle[d] /= 2;
  Value first = hlo::slice(x, start, middle, strides);
  start[d] = middle[d];
  return {first, hlo::slice(x, start, x.dims(), strides)};
}

int64_t gate_dim(Context& c, const char* name) {
  Type type = c.type(name);
  c.expect(type.rank() > 0, ErrorCode::InvalidArgument, "glu does not support 0-dimensional tensors");
  int64_t dim = wrap_dim(c.integer("dim"), type.rank());
  int64_t size = type.dims[static_cast<size_t>(dim)];
  c.expect(size % 2 == 0, ErrorCode::InvalidArgument, "Halving dimension must be even, but dimension ", dim,
           " is size ", size);
  return dim;
}

Values glu(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kReal);
  auto [a, b] = halves(operand(c, "self", type), gate_dim(c, "self"));
  return {hlo::convert(a * hlo::logistic(b), type)};
}

Values glu_backward(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kReal);
  int64_t dim = gate_dim(c, "self");
  auto [a, b] = halves(operand(c, "self", type), dim);
  Value gate = hlo::logistic(b);
  Value of_a = gate * operand(c, "grad_output", type);
  Value of_b = a * (one(gate) - gate) * of_a;
  return {hlo::convert(hlo::concatenate({of_a, of_b}, dim), type)};
}

// Forward derivatives: the product rule on a * gate(b), and on its gradient.
Values glu_jvp(Context& c) {
  ElementType type = c.type("glu").element;
  int64_t dim = gate_dim(c, "x");
  auto [a, b] = halves(operand(c, "x", type), dim);
  auto [da, db] = halves(operand(c, "dx", type), dim);
  Value gate = hlo::logistic(b);
  return {hlo::convert(da * gate + operand(c, "glu", type) * (one(gate) - gate) * db, type)};
}

Values glu_backward_jvp(Context& c) {
  ElementType type = c.type("x").element;
  int64_t dim = gate_dim(c, "x");
  auto [a, b] = halves(operand(c, "x", type), dim);
  auto [da, db] = halves(operand(c, "dx", type), dim);
  auto [grad_a, grad_b] = halves(operand(c, "grad_x", type), dim);
  Value g = operand(c, "grad_glu", type), dg = operand(c, "dgrad_glu", type);
  Value gate = hlo::logistic(b), rest = one(gate) - gate;
  Value dgate = gate * rest * db;
  Value d_of_a = dgate * g + gate * dg;
  Value d_of_b = da * rest * grad_a - a * dgate * grad_a + a * rest * d_of_a;
  return {hlo::convert(hlo::concatenate({d_of_a, d_of_b}, dim), type)};
}

constexpr unsigned kOrdered = kInteger | kReal;

bool is_large_in_bf16(const Call& call) { return is_large(call) && call.operands[0].type.element == ElementType::BF16; }

}  // namespace

Table activation_table() {
  return {
      // Rectifiers.
      row("relu", forward<relu, kBool | kOrdered>).pointwise(),
      row("relu_", forward<relu, kBool | kOrdered>),
      row("threshold.out", forward<threshold, kOrdered>),
      row("threshold_backward.grad_input", backward<threshold_backward, kSelf, kOrdered>),
      row("leaky_relu.out", forward<leaky_relu>),
      row("leaky_relu_backward.grad_input", backward<leaky_relu_backward>),
      row("elu.out", forward<elu>).special("alpha", {1}).special("scale", {1}).special("input_scale", {1}),
      row("elu_backward.grad_input", backward<elu_backward, kSelfOrResult>)
          .special("alpha", {1})
          .special("scale", {1})
          .special("input_scale", {1}),
      row("_prelu_kernel", prelu).pointwise(),
      row("_prelu_kernel_backward", prelu_backward).pointwise(),
      row("rrelu_with_noise", rrelu).random().pointwise(),
      row("rrelu_with_noise.out", rrelu).random(),
      row("rrelu_with_noise_", rrelu).random(),

      // Pieces of straight lines.
      row("hardtanh", hardtanh).special("min_val", {-1}).pointwise(),
      row("hardtanh.out", hardtanh).special("min_val", {-1}),
      row("hardtanh_", hardtanh).special("min_val", {-1}),
      row("hardtanh_backward", backward<hardtanh_backward>).pointwise(),
      row("hardtanh_backward.grad_input", backward<hardtanh_backward>),
      row("hardsigmoid.out", forward<hardsigmoid>),
      row("hardsigmoid_backward.grad_input", backward<hardsigmoid_backward>),
      row("hardswish", forward<hardswish>).pointwise(),
      row("hardswish.out", forward<hardswish>),
      row("hardswish_", forward<hardswish>),
      row("hardswish_backward", backward<hardswish_backward>).pointwise(),
      row("hardshrink.out", forward<hardshrink>),
      row("hardshrink_backward.grad_input", backward_of<shrink_backward, kSelf, kReal, kGradOut>),
      row("softshrink.out", forward<softshrink>),
      row("softshrink_backward.grad_input", backward<shrink_backward>),

      // Smooth functions.
      row("sigmoid.out", floating<hlo::logistic>),
      row("sigmoid_backward.grad_input", backward<sigmoid_backward, kOutput, kInexact>),
      row("tanh_backward.grad_input", backward<tanh_backward, kOutput, kInexact>),
      row("silu.out", forward<silu, kInexact>),
      row("silu_backward.grad_input", backward<silu_backward, kSelf, kInexact>),
      row("gelu.out", forward<gelu>).host_kernel_alone(is_large_in_bf16),
      row("gelu_backward.grad_input", backward<gelu_backward>),
      row("softplus.out", forward<softplus>).special("beta", {1}),
      row("softplus_backward.grad_input", backward<softplus_backward>).special("beta", {1}),
      row("mish.out", forward<mish>),
      row("log_sigmoid_forward", log_sigmoid).pointwise(),
      row("log_sigmoid_forward.output", log_sigmoid),
      row("log_sigmoid_backward", log_sigmoid_backward).pointwise(),
      row("log_sigmoid_backward.grad_input", log_sigmoid_backward),
      row("logit", logit).pointwise(),
      row("logit.out", logit),
      row("logit_", logit),
      row("logit_backward.grad_input", backward<logit_backward>),

      // Gated linear unit.
      row("glu.out", glu),
      row("glu_backward", glu_backward),
      row("glu_backward.grad_input", glu_backward),
      row("glu_jvp", glu_jvp),
      row("glu_backward_jvp", glu_backward_jvp),
  };
}

}  // namespace tpu::ops
