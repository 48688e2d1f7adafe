// Family rnn: one step of an LSTM or GRU after its two matrix products. What goes in: the gates of input and hidden
// state, [batch, 4 or 3 times hidden], with their biases; what comes out: the new state and the activations the
// backward needs.
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------------ shared moves

// `x` cut into n equal pieces along dimension 1.
hlo::Values pieces(const hlo::Value& x, int64_t n) {
  int64_t rows = x.dims()[0], hidden = x.dims()[1] / n;
  hlo::Values result;
  for (int64_t i = 0; i < n; ++i) result.push_back(hlo::slice(x, {0, i * hidden}, {rows, (i + 1) * hidden}, {1, 1}));
  return result;
}

// Gates plus their bias, in the compute type.
hlo::Value gates(Context& c, const char* name, const char* bias) {
  hlo::Value x = c.tensor(name);
  x = hlo::convert(x, compute_type(x.element()));
  if (!c.has(bias)) return x;
  return x + broadcast_to(c.tensor(bias, x.element()), x.dims());
}

void expect_gates(const Context& c, const char* state, int64_t n) {
  Type input = c.type("input_gates"), hidden = c.type("hidden_gates"), held = c.type(state);
  c.expect(input.rank() == 2 && input.dims == hidden.dims && held.rank() == 2 && held.dims[0] == input.dims[0] &&
               held.dims[1] * n == input.dims[1],
           ErrorCode::InvalidArgument, "expected gates [batch, ", n, " * hidden] and a state [batch, hidden], got ",
           to_string(input.dims), ", ", to_string(hidden.dims), " and ", to_string(held.dims));
}

hlo::Value one_minus(const hlo::Value& x) { return hlo::like(x, 1) - x; }
hlo::Value sum_of_rows(const hlo::Value& x) { return hlo::reduce(x, {0}, hlo::Reducer::Add); }

// -------------------------------------------------------------------------------------------------------- LSTM
// Gates in the order input, forget, cell, output: cy = forget * cx + input * cell, hy = output * tanh(cy).

hlo::Values lstm_cell(Context& c) {
  expect_gates(c, "cx", 4);
  hlo::Value sum = gates(c, "input_gates", "input_bias") + gates(c, "hidden_gates", "hidden_bias");
  ElementType type = c.type("input_gates").element;
  hlo::Value cx = c.tensor("cx", sum.element());
  hlo::Values g = pieces(sum, 4);
  hlo::Value in = hlo::logistic(g[0]), forget = hlo::logistic(g[1]), cell = hlo::tanh(g[2]), out = hlo::logistic(g[3]);
  hlo::Value cy = forget * cx + in * cell;
  hlo::Value hy = out * hlo::tanh(cy);
  hlo::Value workspace = hlo::concatenate({in, forget, cell, out}, 1);
  return {hlo::convert(hy, type), hlo::convert(cy, type), hlo::convert(workspace, type)};
}

// Gradients of the gates (all four), of cx and of each bias.
hlo::Values lstm_cell_backward(Context& c) {
  hlo::Value saved = c.tensor("workspace");
  ElementType type = compute_type(saved.element());
  hlo::Values g = pieces(hlo::convert(saved, type), 4);
  const hlo::Value &in = g[0], &forget = g[1], &cell = g[2], &out = g[3];
  hlo::Value cx = c.tensor("cx", type), tanh_cy = hlo::tanh(c.tensor("cy", type)), zero = hlo::like(cx, 0);
  hlo::Value grad_hy = c.has("grad_hy") ? c.tensor("grad_hy", type) : zero;
  hlo::Value grad_cy = c.has("grad_cy") ? c.tensor("grad_cy", type) : zero;
  hlo::Value at_cell = grad_hy * out * one_minus(tanh_cy * tanh_cy) + grad_cy;
  hlo::Value grads = hlo::concatenate({at_cell * cell * in * one_minus(in), at_cell * cx * forget * one_minus(forget),
                                       at_cell * in * one_minus(cell * cell), grad_hy * tanh_cy * out * one_minus(out)},
                                      1);
  hlo::Value bias;
  if (c.flag("has_bias")) bias = hlo::convert(sum_of_rows(grads), saved.element());
  return {hlo::convert(grads, saved.element()), hlo::convert(at_cell * forget, saved.element()), bias};
}

// --------------------------------------------------------------------------------------------------------- GRU
// Gates in the order reset, update, new: new = tanh(in_n + reset * hidden_n), hy = new + update * (hx - new).

hlo::Values gru_cell(Context& c) {
  expect_gates(c, "hx", 3);
  ElementType type = c.type("input_gates").element;
  hlo::Values in = pieces(gates(c, "input_gates", "input_bias"), 3);
  hlo::Values hidden = pieces(gates(c, "hidden_gates", "hidden_bias"), 3);
  hlo::Value hx = c.tensor("hx", in[0].element());
  hlo::Value reset = hlo::logistic(in[0] + hidden[0]), update = hlo::logistic(in[1] + hidden[1]);
  hlo::Value fresh = hlo::tanh(in[2] + reset * hidden[2]);
  hlo::Value workspace = hlo::concatenate({reset, update, fresh, hx, hidden[2]}, 1);
  return {hlo::convert(fresh + update * (hx - fresh), type), hlo::convert(workspace, type)};
}

// Gradients of input gates, hidden gates, hx and the two biases.
hlo::Values gru_cell_backward(Context& c) {
  hlo::Value saved = c.tensor("workspace");
  ElementType type = compute_type(saved.element());
  hlo::Values w = pieces(hlo::convert(saved, type), 5);
  const hlo::Value &reset = w[0], &update = w[1], &fresh = w[2], &hx = w[3], &hidden = w[4];
  hlo::Value grad = c.tensor("grad_hy", type);
  hlo::Value at_update = grad * (hx - fresh) * one_minus(update) * update;
  hlo::Value at_fresh = grad * one_minus(update) * one_minus(fresh * fresh);
  hlo::Value at_reset = at_fresh * hidden * one_minus(reset) * reset;
  hlo::Value of_input = hlo::concatenate({at_reset, at_update, at_fresh}, 1);
  hlo::Value of_hidden = hlo::concatenate({at_reset, at_update, at_fresh * reset}, 1);
  hlo::Values results{of_input, of_hidden, grad * update, {}, {}};
  if (c.flag("has_bias")) results[3] = sum_of_rows(of_input), results[4] = sum_of_rows(of_hidden);
  for (hlo::Value& result : results)
    if (result) result = hlo::convert(result, saved.element());
  return results;
}

}  // namespace

Table rnn_table() {
  return {
      row("_thnn_fused_lstm_cell", lstm_cell),
      row("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward),
      row("_thnn_fused_gru_cell", gru_cell),
      row("_thnn_fused_gru_cell_backward", gru_cell_backward),
  };
}

}  // namespace tpu::ops
