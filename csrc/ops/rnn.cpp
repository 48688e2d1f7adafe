// Family rnn: recurrent layers, and the steps of which others make theirs.
//
// A cell gets the gates of input and hidden state, [batch, 4 or 3 times hidden], with their biases, and gives the new
// state and the activations that the backward needs. A layer is one direction of one layer of nn.LSTM, nn.GRU or
// nn.RNN: it gets the input [time, batch, features], the state before the first step and the weights, and gives the
// hidden states [time, batch, hidden], the last state, and what the backward needs of each step.
//
// Note [Layers as loops]. The loop over time has in it what needs the step before, and nothing else: one product with
// the hidden weights and a few elementwise ops. The product of all inputs with their weights stands before the loop.
// The backward loop gives the gradients of the gates; all other gradients are products of these with what the layer
// got, behind the loop. The factors between the gradient of a state and those of its gates need no earlier step, so
// they are made for all steps at once and the loop multiplies. Tables [time, batch, ..] that a step reads and that
// nobody needs later are where it leaves its results.
#include <functional>
#include <tuple>

#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------------ shared moves

// `x` cut into n equal pieces along its last dimension, and pieces put together again.
hlo::Values pieces(const hlo::Value& x, int64_t n) {
  int64_t hidden = x.dims().back() / n;
  Dims start(x.dims().size(), 0), limit = x.dims(), strides(x.dims().size(), 1);
  hlo::Values result;
  for (int64_t i = 0; i < n; ++i) {
    start.back() = i * hidden, limit.back() = (i + 1) * hidden;
    result.push_back(hlo::slice(x, start, limit, strides));
  }
  return result;
}
hlo::Value joined(const hlo::Values& pieces) { return hlo::concatenate(pieces, pieces[0].rank() - 1); }

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

struct LstmStep {
  hlo::Values gates;  // activated
  hlo::Value cy, hy;
};

LstmStep lstm_step(const hlo::Value& sum, const hlo::Value& cx) {
  hlo::Values g = pieces(sum, 4);
  hlo::Value in = hlo::logistic(g[0]), forget = hlo::logistic(g[1]), cell = hlo::tanh(g[2]), out = hlo::logistic(g[3]);
  hlo::Value cy = forget * cx + in * cell;
  return {{in, forget, cell, out}, cy, out * hlo::tanh(cy)};
}

hlo::Values lstm_cell(Context& c) {
  expect_gates(c, "cx", 4);
  hlo::Value sum = gates(c, "input_gates", "input_bias") + gates(c, "hidden_gates", "hidden_bias");
  ElementType type = c.type("input_gates").element;
  LstmStep step = lstm_step(sum, c.tensor("cx", sum.element()));
  return {hlo::convert(step.hy, type), hlo::convert(step.cy, type), hlo::convert(joined(step.gates), type)};
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

struct GruStep {
  hlo::Values gates;  // activated
  hlo::Value hy;
};

GruStep gru_step(const hlo::Values& in, const hlo::Values& hidden, const hlo::Value& hx) {
  hlo::Value reset = hlo::logistic(in[0] + hidden[0]), update = hlo::logistic(in[1] + hidden[1]);
  hlo::Value fresh = hlo::tanh(in[2] + reset * hidden[2]);
  return {{reset, update, fresh}, fresh + update * (hx - fresh)};
}

hlo::Values gru_cell(Context& c) {
  expect_gates(c, "hx", 3);
  ElementType type = c.type("input_gates").element;
  hlo::Values in = pieces(gates(c, "input_gates", "input_bias"), 3);
  hlo::Values hidden = pieces(gates(c, "hidden_gates", "hidden_bias"), 3);
  hlo::Value hx = c.tensor("hx", in[0].element());
  GruStep step = gru_step(in, hidden, hx);
  hlo::Value workspace = hlo::concatenate({joined(step.gates), hx, hidden[2]}, 1);
  return {hlo::convert(step.hy, type), hlo::convert(workspace, type)};
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

// ------------------------------------------------------------------------------------------------------- layers

/// What a step leaves: the state for the next, and per table its new row, or nothing where the table stays.
struct Left {
  hlo::Values state, rows;
};
/// Gets the state, the row of each table at its time, and what is the same for all steps.
using Step = std::function<Left(const hlo::Values& state, const hlo::Values& rows, const hlo::Values& fixed)>;

hlo::Values starts_of_row(const hlo::Value& table, const hlo::Value& t) {
  hlo::Values starts(static_cast<size_t>(table.rank()), hlo::like(t, 0));
  starts[0] = t;
  return starts;
}
hlo::Value row_at(const hlo::Value& table, const hlo::Value& t) {
  Dims dims = table.dims(), row(dims.begin() + 1, dims.end());
  dims[0] = 1;
  return hlo::reshape(hlo::dynamic_slice(table, starts_of_row(table, t), dims), row);
}
hlo::Value with_row(const hlo::Value& table, const hlo::Value& t, const hlo::Value& row) {
  Dims dims = table.dims();
  dims[0] = 1;
  return hlo::dynamic_update_slice(table, hlo::reshape(row, dims), starts_of_row(table, t));
}

// `values` cut in parts of these sizes.
std::vector<hlo::Values> parts(const hlo::Values& values, std::initializer_list<size_t> sizes) {
  std::vector<hlo::Values> result;
  auto next = values.begin();
  for (size_t size : sizes) {
    result.emplace_back(next, next + static_cast<std::ptrdiff_t>(size));
    next += static_cast<std::ptrdiff_t>(size);
  }
  return result;
}

/// Steps through the tables [time, ..] from their first row to the last, or from the last to the first. Gives the last
/// state and the tables.
Left over_time(bool from_last, const hlo::Values& state, const hlo::Values& tables, const hlo::Values& fixed,
               const Step& step) {
  int64_t time = tables[0].dims()[0];
  hlo::Values carried{hlo::constant(*tables[0].builder, ElementType::S32, 0)};
  for (const hlo::Values& part : {state, tables, fixed}) carried.insert(carried.end(), part.begin(), part.end());
  auto goes_on = [&](const hlo::Values& v) -> hlo::Values { return {hlo::lt(v[0], hlo::like(v[0], time))}; };
  auto body = [&](const hlo::Values& v) {
    std::vector<hlo::Values> now = parts(v, {1, state.size(), tables.size(), fixed.size()});
    hlo::Value t = from_last ? hlo::like(v[0], time - 1) - v[0] : v[0];
    hlo::Values rows;
    for (const hlo::Value& table : now[2]) rows.push_back(row_at(table, t));
    Left left = step(now[1], rows, now[3]);
    hlo::Values next{v[0] + hlo::like(v[0], 1)};
    next.insert(next.end(), left.state.begin(), left.state.end());
    for (size_t i = 0; i < tables.size(); ++i)
      next.push_back(left.rows[i] ? with_row(now[2][i], t, left.rows[i]) : now[2][i]);
    next.insert(next.end(), now[3].begin(), now[3].end());
    return next;
  };
  std::vector<hlo::Values> done =
      parts(hlo::while_(carried, goes_on, body), {1, state.size(), tables.size(), fixed.size()});
  return {done[1], done[2]};
}

/// The arguments that forward and backward of a layer have in common.
struct Layer {
  Context& c;
  hlo::Value input = c.tensor("input"), hx = c.tensor("hx"), weight_ih = c.tensor("weight_ih"),
             weight_hh = c.tensor("weight_hh"), weight_hr = c.optional_tensor("weight_hr");
  ElementType type = input.element(), wide = compute_type(type);
  bool reverse = c.flag("reverse");

  hlo::Value narrow(const hlo::Value& x) const { return hlo::convert(x, type); }
  hlo::Value widen(const hlo::Value& x) const { return hlo::convert(x, wide); }
  /// What a product is made of: a CPU has no units for half types, and lacks some products of them.
  hlo::Value factor(const hlo::Value& x) const { return c.settings().is_cpu ? widen(x) : narrow(x); }
  /// A weight as the loop multiplies with it, in the layout that XLA:CPU is 8 times as fast with.
  hlo::Value turned(const hlo::Value& weight) const { return hlo::transpose(factor(weight), {1, 0}); }
  /// x [.., n] times y [n, m], in the wide type.
  hlo::Value times(const hlo::Value& x, const hlo::Value& y) const {
    hlo::DotDims dims{.lhs_contract = {x.rank() - 1}, .rhs_contract = {0}};
    return hlo::dot_general(factor(x), factor(y), dims, c.settings().precision, wide);
  }
  /// The gradient of the weight of linear: the sum over time and batch of outer products. XLA:CPU is up to 1.6 times as
  /// fast when the narrower factor comes first; the barrier keeps it from turning them around with the transpose.
  hlo::Value weight_gradient(const hlo::Value& grad, const hlo::Value& x) const {
    hlo::Value of = factor(narrow(grad));
    if (of.dims()[2] <= x.dims()[2]) return narrow(sum_of_products(of, x));
    return hlo::transpose(hlo::optimization_barrier(narrow(sum_of_products(x, of))), {1, 0});
  }
  hlo::Value sum_of_products(const hlo::Value& a, const hlo::Value& b) const {
    hlo::DotDims dims{.lhs_contract = {0, 1}, .rhs_contract = {0, 1}};
    return hlo::dot_general(factor(a), factor(b), dims, c.settings().precision, wide);
  }
  hlo::Value zeros(int64_t width, ElementType element) const {
    return hlo::constant(c.builder(), {element, {input.dims()[0], input.dims()[1], width}}, 0);
  }
  /// All inputs with their weights and a bias, [time, batch, gates].
  hlo::Value projection(const hlo::Value& bias) const {
    hlo::Value result = times(input, turned(weight_ih));
    return bias ? result + broadcast_to(bias, result.dims()) : result;
  }
  /// Of both biases, where they are the same to the gates.
  hlo::Value sum_of_biases() const {
    return c.has("bias_ih") ? c.tensor("bias_ih", wide) + c.tensor("bias_hh", wide) : hlo::Value();
  }
  /// The table one step earlier, with `first` at the first step.
  hlo::Value before(const hlo::Value& table, const hlo::Value& first) const {
    Dims start{0, 0, 0}, limit = table.dims(), one = table.dims();
    one[0] = 1;
    hlo::Value row = hlo::reshape(first, one);
    if (reverse)
      start[0] = 1;
    else
      --limit[0];
    hlo::Value rest = hlo::slice(table, start, limit, {1, 1, 1});
    return reverse ? hlo::concatenate({rest, row}, 0) : hlo::concatenate({row, rest}, 0);
  }
  /// The gradient of a final state, zeros where nobody asked for one.
  hlo::Value final_gradient(const char* name, const hlo::Value& state) const {
    return c.has(name) ? c.tensor(name, wide) : hlo::constant(c.builder(), {wide, state.dims()}, 0);
  }
};

// A result of a mode that has no such thing, or that nobody needs.
hlo::Value nothing(const Layer& l) { return hlo::constant(l.c.builder(), {l.type, {0}}, 0); }

hlo::Values lstm_layer(const Layer& l, bool keeps) {
  hlo::Values fixed{l.turned(l.weight_hh)};
  if (l.weight_hr) fixed.push_back(l.turned(l.weight_hr));
  hlo::Value cx = l.c.tensor("cx", l.wide);
  hlo::Values tables{l.projection(l.sum_of_biases()), l.zeros(l.hx.dims()[1], l.type)};
  if (keeps) tables.push_back(l.zeros(cx.dims()[1], l.wide));
  Left done = over_time(l.reverse, {l.hx, cx}, tables, fixed,
                        [&](const hlo::Values& state, const hlo::Values& rows, const hlo::Values& fixed) -> Left {
                          LstmStep step = lstm_step(rows[0] + l.times(state[0], fixed[0]), state[1]);
                          hlo::Value hy = l.narrow(step.hy);
                          if (fixed.size() > 1) hy = l.narrow(l.times(hy, fixed[1]));
                          if (!keeps) return {{hy, step.cy}, {{}, hy}};
                          return {{hy, step.cy}, {joined(step.gates), hy, step.cy}};
                        });
  hlo::Value gates = keeps ? done.rows[0] : nothing(l), cells = keeps ? done.rows[2] : nothing(l);
  return {done.rows[1], done.state[0], l.narrow(done.state[1]), l.narrow(gates), l.narrow(cells)};
}

hlo::Values gru_layer(const Layer& l, bool keeps) {
  hlo::Value bias;
  hlo::Values fixed{l.turned(l.weight_hh)}, hidden_bias;
  if (l.c.has("bias_hh")) {
    hidden_bias = pieces(l.c.tensor("bias_hh", l.wide), 3);
    fixed.push_back(hidden_bias[2]);  // the reset gate multiplies it; the others are like biases of the input
    bias = l.c.tensor("bias_ih", l.wide) + joined({hidden_bias[0], hidden_bias[1], hlo::like(hidden_bias[2], 0)});
  }
  int64_t width = l.hx.dims()[1];
  hlo::Values tables{l.projection(bias), l.zeros(width, l.type)};
  if (keeps) tables.push_back(l.zeros(width, l.wide));
  Left done = over_time(l.reverse, {l.hx}, tables, fixed,
                        [&](const hlo::Values& state, const hlo::Values& rows, const hlo::Values& fixed) -> Left {
                          hlo::Values hidden = pieces(l.times(state[0], fixed[0]), 3);
                          if (fixed.size() > 1) hidden[2] = hidden[2] + broadcast_to(fixed[1], hidden[2].dims());
                          GruStep step = gru_step(pieces(rows[0], 3), hidden, l.widen(state[0]));
                          hlo::Value hy = l.narrow(step.hy);
                          if (!keeps) return {{hy}, {{}, hy}};
                          return {{hy}, {joined(step.gates), hy, hidden[2]}};
                        });
  hlo::Value gates = keeps ? done.rows[0] : nothing(l), hidden = keeps ? done.rows[2] : nothing(l);
  return {done.rows[1], done.state[0], nothing(l), l.narrow(gates), l.narrow(hidden)};
}

hlo::Values plain_layer(const Layer& l, bool is_tanh) {
  Left done = over_time(l.reverse, {l.hx}, {l.projection(l.sum_of_biases())}, {l.turned(l.weight_hh)},
                        [&](const hlo::Values& state, const hlo::Values& rows, const hlo::Values& fixed) -> Left {
                          hlo::Value sum = rows[0] + l.times(state[0], fixed[0]);
                          hlo::Value hy = is_tanh ? hlo::tanh(sum) : hlo::maximum(sum, hlo::like(sum, 0));
                          return {{l.narrow(hy)}, {hy}};
                        });
  return {l.narrow(done.rows[0]), done.state[0], nothing(l), nothing(l), nothing(l)};
}

hlo::Values rnn_layer(Context& c) {
  Layer l{c};
  std::string mode = c.text("mode");
  if (mode == "lstm") return lstm_layer(l, c.flag("train"));
  if (mode == "gru") return gru_layer(l, c.flag("train"));
  return plain_layer(l, mode == "tanh");
}

/// What the backward loop leaves: the gradients of the gates, before they are activated, through their inputs and
/// through the hidden state, [time, batch, gates], and of the states before the first step.
struct Gradients {
  hlo::Value of_input, of_hidden, hx, cx, weight_hr;
};

// The gradient of the hidden state is the sum of what comes from the next step and of the output's own gradient.
hlo::Value arriving(const hlo::Value& from_next, const hlo::Values& rows, size_t own) {
  return own < rows.size() ? from_next + rows[own] : from_next;
}

Gradients lstm_layer_backward(const Layer& l) {
  hlo::Value gates = l.c.tensor("gates", l.wide), cells = l.c.tensor("cells", l.wide), cx = l.c.tensor("cx", l.wide);
  hlo::Values g = pieces(gates, 4);
  const hlo::Value &in = g[0], &forget = g[1], &cell = g[2], &out = g[3];
  hlo::Value tanh_cy = hlo::tanh(cells);
  hlo::Value factors = joined({cell * in * one_minus(in), l.before(cells, cx) * forget * one_minus(forget),
                               in * one_minus(cell * cell), tanh_cy * out * one_minus(out)});
  hlo::Values tables{factors, out * one_minus(tanh_cy * tanh_cy), forget}, fixed{l.factor(l.weight_hh)};
  if (l.weight_hr) {
    fixed.push_back(l.factor(l.weight_hr));
    tables.push_back(l.zeros(l.hx.dims()[1], l.wide));
  }
  size_t own = tables.size();
  if (l.c.has("grad_output")) tables.push_back(l.c.tensor("grad_output", l.wide));
  Left done = over_time(!l.reverse, {l.final_gradient("grad_hy", l.hx), l.final_gradient("grad_cy", cx)}, tables, fixed,
                        [&](const hlo::Values& state, const hlo::Values& rows, const hlo::Values& fixed) -> Left {
                          hlo::Values left(rows.size());
                          hlo::Value grad = arriving(state[0], rows, own);
                          if (fixed.size() > 1) {
                            left[3] = grad;
                            grad = l.times(l.narrow(grad), fixed[1]);
                          }
                          hlo::Value at_cell = grad * rows[1] + state[1];
                          left[0] = joined({at_cell, at_cell, at_cell, grad}) * rows[0];
                          return {{l.times(l.narrow(left[0]), fixed[0]), at_cell * rows[2]}, left};
                        });
  Gradients result{done.rows[0], done.rows[0], done.state[0], done.state[1], {}};
  if (l.weight_hr) result.weight_hr = l.weight_gradient(done.rows[3], l.narrow(out * tanh_cy));
  return result;
}

Gradients gru_layer_backward(const Layer& l) {
  hlo::Values g = pieces(l.c.tensor("gates", l.wide), 3);
  const hlo::Value &reset = g[0], &update = g[1], &fresh = g[2];
  hlo::Value hidden = l.c.tensor("cells", l.wide), before = l.widen(l.before(l.c.tensor("output"), l.hx));
  hlo::Value at_fresh = one_minus(update) * one_minus(fresh * fresh);
  hlo::Value factors = joined(
      {at_fresh * hidden * reset * one_minus(reset), (before - fresh) * update * one_minus(update), at_fresh * reset});
  hlo::Values tables{factors, at_fresh, update};
  if (l.c.has("grad_output")) tables.push_back(l.c.tensor("grad_output", l.wide));
  Left done = over_time(!l.reverse, {l.final_gradient("grad_hy", l.hx)}, tables, {l.factor(l.weight_hh)},
                        [&](const hlo::Values& state, const hlo::Values& rows, const hlo::Values& fixed) -> Left {
                          hlo::Values left(rows.size());
                          hlo::Value grad = arriving(state[0], rows, 3);
                          left[0] = joined({grad, grad, grad}) * rows[0];
                          left[1] = grad * rows[1];
                          return {{grad * rows[2] + l.times(l.narrow(left[0]), fixed[0])}, left};
                        });
  hlo::Values of_hidden = pieces(done.rows[0], 3);
  return {joined({of_hidden[0], of_hidden[1], done.rows[1]}), done.rows[0], done.state[0], {}, {}};
}

Gradients plain_layer_backward(const Layer& l, bool is_tanh) {
  hlo::Value output = l.c.tensor("output", l.wide), one = hlo::like(output, 1), zero = hlo::like(output, 0);
  hlo::Values tables{is_tanh ? one_minus(output * output) : hlo::select(hlo::le(output, zero), zero, one)};
  if (l.c.has("grad_output")) tables.push_back(l.c.tensor("grad_output", l.wide));
  Left done = over_time(!l.reverse, {l.final_gradient("grad_hy", l.hx)}, tables, {l.factor(l.weight_hh)},
                        [&](const hlo::Values& state, const hlo::Values& rows, const hlo::Values& fixed) -> Left {
                          hlo::Values left(rows.size());
                          left[0] = arriving(state[0], rows, 1) * rows[0];
                          return {{l.times(l.narrow(left[0]), fixed[0])}, left};
                        });
  return {done.rows[0], done.rows[0], done.state[0], {}, {}};
}

// Of input, hx, cx, weight_ih, weight_hh, bias_ih, bias_hh and weight_hr, those that the mask asks for.
hlo::Values rnn_layer_backward(Context& c) {
  Layer l{c};
  std::string mode = c.text("mode");
  Gradients g = mode == "lstm"  ? lstm_layer_backward(l)
                : mode == "gru" ? gru_layer_backward(l)
                                : plain_layer_backward(l, mode == "tanh");
  auto sum = [&](const hlo::Value& grad) { return l.narrow(hlo::reduce(grad, {0, 1}, hlo::Reducer::Add)); };
  hlo::Values results{l.narrow(l.times(l.narrow(g.of_input), l.weight_ih)),
                      l.narrow(g.hx),
                      g.cx ? l.narrow(g.cx) : hlo::Value(),
                      l.weight_gradient(g.of_input, l.input),
                      l.weight_gradient(g.of_hidden, l.before(c.tensor("output"), l.hx)),
                      sum(g.of_input),
                      sum(g.of_hidden),
                      g.weight_hr};
  Dims mask = c.ints("output_mask");
  for (size_t i = 0; i < results.size(); ++i)
    if (!mask[i]) results[i] = {};
  return results;
}

}  // namespace

Table rnn_table() {
  return {
      row("_thnn_fused_lstm_cell", lstm_cell), row("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward),
      row("_thnn_fused_gru_cell", gru_cell),   row("_thnn_fused_gru_cell_backward", gru_cell_backward),
      row("torch_tpu::rnn_layer", rnn_layer),  row("torch_tpu::rnn_layer_backward", rnn_layer_backward),
  };
}

}  // namespace tpu::ops
