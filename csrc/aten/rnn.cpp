// nn.LSTM, nn.GRU and nn.RNN: torch composes each of one cell per step of time, which is hundreds of ops; here every
// direction of every layer is one op, forward and backward, see Note [Layers as loops] in ops/rnn.cpp. What goes in is
// what torch's own ops take. Whatever has another form than nn.LSTM gives it, and derivatives of derivatives, forward
// derivatives and transforms of torch.func, are left to the composition.
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gru_native.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/rnn_relu_native.h>
#include <ATen/ops/rnn_tanh_native.h>
#include <ATen/ops/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>

TORCH_LIBRARY_FRAGMENT(torch_tpu, m) {
  m.def(
      "rnn_layer(str mode, Tensor input, Tensor hx, Tensor? cx, Tensor weight_ih, Tensor weight_hh, Tensor? bias_ih, "
      "Tensor? bias_hh, Tensor? weight_hr, bool reverse, bool train) -> "
      "(Tensor output, Tensor hy, Tensor cy, Tensor gates, Tensor cells)");
  m.def(
      "rnn_layer_backward(str mode, Tensor? grad_output, Tensor? grad_hy, Tensor? grad_cy, Tensor input, Tensor hx, "
      "Tensor? cx, Tensor weight_ih, Tensor weight_hh, Tensor? weight_hr, Tensor output, Tensor gates, Tensor cells, "
      "bool reverse, bool[8] output_mask) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
}

namespace tpu::aten {

namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;
using Mask = std::array<bool, 8>;
using Gradients = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

enum class Mode { Lstm, Gru, Tanh, Relu };
// As the ops have it.
constexpr const char* kNames[] = {"lstm", "gru", "tanh", "relu"};
constexpr int64_t kGates[] = {4, 3, 1, 1};

// ------------------------------------------------------------------------------------------------------ the ops

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> forward_op(Mode mode, const Tensor& input, const Tensor& hx,
                                                              const MaybeTensor& cx, const Tensor& weight_ih,
                                                              const Tensor& weight_hh, const MaybeTensor& bias_ih,
                                                              const MaybeTensor& bias_hh, const MaybeTensor& weight_hr,
                                                              bool reverse, bool train) {
  static auto op = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("torch_tpu::rnn_layer", "")
                       .typed<std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>(
                           c10::string_view, const Tensor&, const Tensor&, const MaybeTensor&, const Tensor&,
                           const Tensor&, const MaybeTensor&, const MaybeTensor&, const MaybeTensor&, bool, bool)>();
  return op.call(kNames[static_cast<int>(mode)], input, hx, cx, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr,
                 reverse, train);
}

Gradients backward_op(Mode mode, const MaybeTensor& grad_output, const MaybeTensor& grad_hy, const MaybeTensor& grad_cy,
                      const Tensor& input, const Tensor& hx, const MaybeTensor& cx, const Tensor& weight_ih,
                      const Tensor& weight_hh, const MaybeTensor& weight_hr, const Tensor& output, const Tensor& gates,
                      const Tensor& cells, bool reverse, Mask mask) {
  static auto op = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("torch_tpu::rnn_layer_backward", "")
                       .typed<Gradients(c10::string_view, const MaybeTensor&, const MaybeTensor&, const MaybeTensor&,
                                        const Tensor&, const Tensor&, const MaybeTensor&, const Tensor&, const Tensor&,
                                        const MaybeTensor&, const Tensor&, const Tensor&, const Tensor&, bool, Mask)>();
  return op.call(kNames[static_cast<int>(mode)], grad_output, grad_hy, grad_cy, input, hx, cx, weight_ih, weight_hh,
                 weight_hr, output, gates, cells, reverse, mask);
}

// Their shapes, for graphs that torch traces. Sizes may be symbols.

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> meta_forward(
    c10::string_view mode, const Tensor& input, const Tensor& hx, const MaybeTensor& cx, const Tensor& weight_ih,
    const Tensor& /*weight_hh*/, const MaybeTensor& /*bias_ih*/, const MaybeTensor& /*bias_hh*/,
    const MaybeTensor& /*weight_hr*/, bool /*reverse*/, bool train) {
  c10::SymInt time = input.sym_size(0), batch = input.sym_size(1);
  bool is_lstm = mode == kNames[0], is_gru = mode == kNames[1];
  auto empty = [&](c10::SymIntArrayRef sizes) { return at::empty_symint(sizes, input.options()); };
  auto kept = [&](bool exists, const c10::SymInt& width) {
    return exists && train ? empty({time, batch, width}) : empty({c10::SymInt(0)});
  };
  const Tensor& last = is_lstm ? *cx : hx;
  return {empty({time, batch, hx.sym_size(1)}), empty(hx.sym_sizes()),
          is_lstm ? empty(last.sym_sizes()) : empty({c10::SymInt(0)}), kept(is_lstm || is_gru, weight_ih.sym_size(0)),
          kept(is_lstm || is_gru, last.sym_size(1))};
}

Gradients meta_backward(c10::string_view /*mode*/, const MaybeTensor& /*grad_output*/, const MaybeTensor& /*grad_hy*/,
                        const MaybeTensor& /*grad_cy*/, const Tensor& input, const Tensor& hx, const MaybeTensor& cx,
                        const Tensor& weight_ih, const Tensor& weight_hh, const MaybeTensor& weight_hr,
                        const Tensor& /*output*/, const Tensor& /*gates*/, const Tensor& /*cells*/, bool /*reverse*/,
                        Mask mask) {
  auto empty = [&](size_t i, c10::SymIntArrayRef sizes) {
    return mask[i] ? at::empty_symint(sizes, input.options()) : Tensor();
  };
  auto like = [&](size_t i, const MaybeTensor& x) { return x ? empty(i, x->sym_sizes()) : Tensor(); };
  c10::SymInt bias = weight_ih.sym_size(0);
  return {like(0, input),     like(1, hx),      like(2, cx),      like(3, weight_ih),
          like(4, weight_hh), empty(5, {bias}), empty(6, {bias}), like(7, weight_hr)};
}

// ------------------------------------------------------------------------------------ one direction of one layer

struct Weights {
  Tensor ih, hh;
  MaybeTensor bias_ih, bias_hh, hr;
};

/// Output, and the states after the last step; only an LSTM has two.
struct Outcome {
  Tensor output, hy, cy;
};

/// The arguments of torch's ops.
struct Arguments {
  Mode mode;
  Tensor input, hx;  // hx, cx: [layers * directions, batch, ..]
  MaybeTensor cx;
  at::TensorList params;
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional, batch_first;
};

Outcome composed(const Arguments& a) {
  if (a.mode == Mode::Lstm) {
    auto [output, hy, cy] = at::native::lstm(a.input, {a.hx, *a.cx}, a.params, a.has_biases, a.layers, a.dropout,
                                             a.train, a.bidirectional, a.batch_first);
    return {output, hy, cy};
  }
  using Compose = std::tuple<Tensor, Tensor> (*)(const Tensor&, const Tensor&, at::TensorList, bool, int64_t, double,
                                                 bool, bool, bool);
  Compose compose = at::native::rnn_relu;
  if (a.mode == Mode::Gru) compose = at::native::gru;
  if (a.mode == Mode::Tanh) compose = at::native::rnn_tanh;
  auto [output, hy] =
      compose(a.input, a.hx, a.params, a.has_biases, a.layers, a.dropout, a.train, a.bidirectional, a.batch_first);
  return {output, hy, {}};
}

/// The gradients as functions that can be differentiated again: those of the composition.
std::vector<Tensor> composed_gradients(Mode mode, const std::vector<Tensor>& inputs, const std::vector<Tensor>& grads,
                                       bool reverse, const Mask& mask) {
  // Each input is another tensor than all others, also where one is given twice.
  std::vector<Tensor> own, wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    own.push_back(inputs[i].defined() ? inputs[i].view_as(inputs[i]) : inputs[i]);
    if (mask[i]) wanted.push_back(own[i]);
  }
  std::vector<Tensor> params;
  for (size_t i = 3; i < own.size(); ++i)
    if (own[i].defined()) params.push_back(own[i]);
  MaybeTensor cx = own[2].defined() ? MaybeTensor(own[2].unsqueeze(0)) : std::nullopt;
  Outcome made = composed({mode, reverse ? own[0].flip({0}) : own[0], own[1].unsqueeze(0), cx, params, own[5].defined(),
                           1, 0, false, false, false});
  std::vector<Tensor> outputs{reverse ? made.output.flip({0}) : made.output, made.hy[0]};
  if (cx) outputs.push_back(made.cy[0]);
  std::vector<Tensor> from, with;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!grads[i].defined()) continue;
    from.push_back(outputs[i]);
    with.push_back(grads[i]);
  }
  std::vector<Tensor> found = torch::autograd::grad(from, wanted, with, /*retain_graph=*/std::nullopt,
                                                    /*create_graph=*/true, /*allow_unused=*/true);
  std::vector<Tensor> result(inputs.size());
  for (size_t i = 0, next = 0; i < inputs.size(); ++i)
    if (mask[i]) result[i] = found[next++];
  return result;
}

MaybeTensor maybe(const Tensor& tensor) { return tensor.defined() ? MaybeTensor(tensor) : std::nullopt; }

class LayerFunction : public torch::autograd::Function<LayerFunction> {
 public:
  static std::vector<Tensor> forward(torch::autograd::AutogradContext* context, int64_t mode, const Tensor& input,
                                     const Tensor& hx, const MaybeTensor& cx, const Tensor& weight_ih,
                                     const Tensor& weight_hh, const MaybeTensor& bias_ih, const MaybeTensor& bias_hh,
                                     const MaybeTensor& weight_hr, bool reverse) {
    at::AutoDispatchBelowADInplaceOrView below;
    auto [output, hy, cy, gates, cells] = forward_op(static_cast<Mode>(mode), input, hx, cx, weight_ih, weight_hh,
                                                     bias_ih, bias_hh, weight_hr, reverse, /*train=*/true);
    context->saved_data["mode"] = mode;
    context->saved_data["reverse"] = reverse;
    context->set_materialize_grads(false);
    auto given = [](const MaybeTensor& tensor) { return tensor.value_or(Tensor()); };
    context->save_for_backward({input, hx, given(cx), weight_ih, weight_hh, given(bias_ih), given(bias_hh),
                                given(weight_hr), output, gates, cells});
    if (cx) return {output, hy, cy};
    return {output, hy};
  }

  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context, std::vector<Tensor> grads) {
    std::vector<Tensor> saved = context->get_saved_variables();
    auto mode = static_cast<Mode>(context->saved_data["mode"].toInt());
    bool reverse = context->saved_data["reverse"].toBool();
    Mask mask;
    size_t edge = 0;
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = saved[i].defined() && context->needs_input_grad(edge++);
    std::vector<Tensor> inputs(saved.begin(), saved.begin() + mask.size()), found;
    if (std::none_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); }))
      found.resize(mask.size());
    else if (at::GradMode::is_enabled())
      found = composed_gradients(mode, inputs, grads, reverse, mask);
    else
      found = gradients(mode, saved, grads, reverse, mask);
    found.insert(found.begin(), Tensor());  // mode
    found.emplace_back();                   // reverse
    return found;
  }

 private:
  static std::vector<Tensor> gradients(Mode mode, const std::vector<Tensor>& saved, const std::vector<Tensor>& grads,
                                       bool reverse, const Mask& mask) {
    at::AutoDispatchBelowADInplaceOrView below;
    MaybeTensor grad_cy = grads.size() > 2 ? maybe(grads[2]) : std::nullopt;
    Gradients all = backward_op(mode, maybe(grads[0]), maybe(grads[1]), grad_cy, saved[0], saved[1], maybe(saved[2]),
                                saved[3], saved[4], maybe(saved[7]), saved[8], saved[9], saved[10], reverse, mask);
    return std::apply([](auto&... each) { return std::vector<Tensor>{each...}; }, all);
  }
};

Outcome layer(Mode mode, const Tensor& input, const Tensor& hx, const MaybeTensor& cx, const Weights& w, bool reverse) {
  bool needs_gradient = input.requires_grad() || hx.requires_grad() || w.ih.requires_grad() || w.hh.requires_grad();
  for (const MaybeTensor* each : {&cx, &w.bias_ih, &w.bias_hh, &w.hr})
    needs_gradient = needs_gradient || (*each && (*each)->requires_grad());
  if (needs_gradient && at::GradMode::is_enabled()) {
    std::vector<Tensor> made = LayerFunction::apply(static_cast<int64_t>(mode), input, hx, cx, w.ih, w.hh, w.bias_ih,
                                                    w.bias_hh, w.hr, reverse);
    return {made[0], made[1], cx ? made[2] : Tensor()};
  }
  at::AutoDispatchBelowADInplaceOrView below;
  auto [output, hy, cy, gates, cells] =
      forward_op(mode, input, hx, cx, w.ih, w.hh, w.bias_ih, w.bias_hh, w.hr, reverse, /*train=*/false);
  return {output, hy, cy};
}

// -------------------------------------------------------------------------------------------------- torch's ops

bool is_autocast() { return at::autocast::is_autocast_enabled(at::kPrivateUse1); }

bool is_projected(const Arguments& a) { return a.cx && a.hx.sym_size(2) != a.cx->sym_size(2); }

std::vector<Weights> weights_of(const Arguments& a) {
  std::vector<Weights> result;
  for (auto next = a.params.begin(); next != a.params.end();) {
    Weights& w = result.emplace_back();
    w.ih = *next++, w.hh = *next++;
    if (a.has_biases) w.bias_ih = *next++, w.bias_hh = *next++;
    if (is_projected(a)) w.hr = *next++;
  }
  return result;
}

/// Whether a tensor is one that the layers take; with a forward derivative it is not.
bool is_plain(const Tensor& tensor, const Arguments& a) {
  return tensor.defined() && tensor.layout() == c10::kStrided && tensor.device() == a.input.device() &&
         at::isFloatingType(tensor.scalar_type()) && tensor.element_size() > 1 &&
         (tensor.scalar_type() == a.input.scalar_type() || is_autocast()) && !tensor._fw_grad(0).defined();
}

bool has_sizes(const Tensor& tensor, c10::SymIntArrayRef sizes) { return tensor.sym_sizes().equals(sizes); }

bool is_in_transform() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode) ||
         c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerBackMode);
}

/// Whether the arguments are as nn.LSTM gives them; torch's composition says what is wrong with others.
bool is_regular(const Arguments& a) {
  if (is_in_transform()) return false;
  int64_t directions = a.bidirectional ? 2 : 1, gates = kGates[static_cast<int>(a.mode)];
  for (const Tensor* each : {&a.input, &a.hx})
    if (!is_plain(*each, a) || each->dim() != 3) return false;
  if (a.cx && (!is_plain(*a.cx, a) || a.cx->dim() != 3)) return false;
  if (a.layers < 1 || a.input.sym_size(a.batch_first ? 1 : 0) < 1) return false;
  auto per_direction = static_cast<size_t>(2 + (a.has_biases ? 2 : 0) + (is_projected(a) ? 1 : 0));
  if (a.params.size() != static_cast<size_t>(a.layers * directions) * per_direction) return false;
  if (!std::all_of(a.params.begin(), a.params.end(), [&](const Tensor& each) { return is_plain(each, a); }))
    return false;

  c10::SymInt states = a.layers * directions, batch = a.input.sym_size(a.batch_first ? 0 : 1);
  c10::SymInt width = a.hx.sym_size(2), hidden = a.cx ? a.cx->sym_size(2) : width, features = a.input.sym_size(2);
  if (!has_sizes(a.hx, {states, batch, width}) || (a.cx && !has_sizes(*a.cx, {states, batch, hidden}))) return false;
  int64_t number = 0;
  for (const Weights& w : weights_of(a)) {
    if (number++ == directions) features = width * directions;
    if (!has_sizes(w.ih, {hidden * gates, features}) || !has_sizes(w.hh, {hidden * gates, width})) return false;
    if (w.bias_ih && !(has_sizes(*w.bias_ih, {hidden * gates}) && has_sizes(*w.bias_hh, {hidden * gates})))
      return false;
    if (w.hr && !has_sizes(*w.hr, {width, hidden})) return false;
  }
  return true;
}

/// What autocast makes of the arguments of linear and of the cells: all of them lower.
void cast_lower(Tensor& tensor) {
  tensor = at::autocast::cached_cast(at::autocast::get_autocast_dtype(at::kPrivateUse1), tensor, at::kPrivateUse1);
}
void cast_lower(MaybeTensor& tensor) {
  if (tensor) cast_lower(*tensor);
}

Outcome recurrent(Arguments a) {
  if (!is_regular(a)) return composed(a);
  std::vector<Weights> weights = weights_of(a);
  Tensor x = a.batch_first ? a.input.transpose(0, 1) : a.input;
  if (is_autocast()) {
    cast_lower(x), cast_lower(a.hx), cast_lower(a.cx);
    for (Weights& w : weights) {
      cast_lower(w.ih), cast_lower(w.hh);
      cast_lower(w.bias_ih), cast_lower(w.bias_hh), cast_lower(w.hr);
    }
  }
  std::vector<Tensor> hx = a.hx.unbind(0), cx, hy, cy;
  if (a.cx) cx = a.cx->unbind(0);
  size_t directions = a.bidirectional ? 2 : 1;
  for (size_t number = 0; number < weights.size(); number += directions) {
    std::vector<Tensor> outputs;
    for (size_t d = 0; d < directions; ++d) {
      size_t i = number + d;
      Outcome made = layer(a.mode, x, hx[i], a.cx ? MaybeTensor(cx[i]) : std::nullopt, weights[i], d == 1);
      outputs.push_back(made.output);
      hy.push_back(made.hy);
      cy.push_back(made.cy);
    }
    x = directions == 1 ? outputs[0] : at::cat(outputs, 2);
    bool is_last = number + directions == weights.size();
    if (a.dropout != 0 && a.train && !is_last) x = at::dropout(x, a.dropout, /*train=*/true);
  }
  return {a.batch_first ? x.transpose(0, 1) : x, at::stack(hy), a.cx ? at::stack(cy) : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, at::TensorList hx, at::TensorList params, bool has_biases,
                                        int64_t layers, double dropout, bool train, bool bidirectional,
                                        bool batch_first) {
  if (hx.size() != 2)  // it says so
    return at::native::lstm(input, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first);
  Outcome made = recurrent(
      {Mode::Lstm, input, hx[0], hx[1], params, has_biases, layers, dropout, train, bidirectional, batch_first});
  return {made.output, made.hy, made.cy};
}

template <Mode mode>
std::tuple<Tensor, Tensor> without_cells(const Tensor& input, const Tensor& hx, at::TensorList params, bool has_biases,
                                         int64_t layers, double dropout, bool train, bool bidirectional,
                                         bool batch_first) {
  Outcome made = recurrent(
      {mode, input, hx, std::nullopt, params, has_biases, layers, dropout, train, bidirectional, batch_first});
  return {made.output, made.hy};
}

void register_kernels(torch::Library& m) {
  m.impl("lstm.input", TORCH_FN(lstm));
  m.impl("gru.input", TORCH_FN(without_cells<Mode::Gru>));
  m.impl("rnn_tanh.input", TORCH_FN(without_cells<Mode::Tanh>));
  m.impl("rnn_relu.input", TORCH_FN(without_cells<Mode::Relu>));
}

// Above autograd, where the composition would be, and below it for tensors of inference mode.
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { register_kernels(m); }
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { register_kernels(m); }

TORCH_LIBRARY_IMPL(torch_tpu, Meta, m) {
  m.impl("rnn_layer", TORCH_FN(meta_forward));
  m.impl("rnn_layer_backward", TORCH_FN(meta_backward));
}

}  // namespace

}  // namespace tpu::aten
