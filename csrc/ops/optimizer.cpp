// Family optimizer: one step of a whole optimizer, and the scaling of gradients for automatic mixed precision. What
// goes in: lists of parameters, gradients and states, and the hyperparameters as run-time numbers. What comes out: what
// is written, list by list; an empty Value leaves its tensor as it is.
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------- the shared moves

/// Step counts and rates are computed in float64 where the platform has it: 1 - beta^step cancels.
ElementType rate_type(const Context& c) { return c.settings().is_cpu ? ElementType::F64 : ElementType::F32; }

hlo::Value rate(Context& c, const char* name) { return hlo::reshape(c.tensor(name, rate_type(c)), {}); }

/// A 0-d number in every element of x, in x's type.
hlo::Value over(const hlo::Value& number, const hlo::Value& x) {
  return hlo::broadcast(hlo::convert(number, x.element()), x.dims());
}

/// What the fused optimizers share: the options around the update of one parameter.
struct Fused {
  explicit Fused(Context& c)
      : c(c),
        params(c.tensors("self")),
        grads(c.tensors("grads")),
        maximizes(c.flag("maximize")),
        scales(c.has("grad_scale")) {
    if (scales) scale = hlo::reshape(c.tensor("grad_scale"), {});
    if (c.has("found_inf")) {
      hlo::Value found = hlo::reshape(c.tensor("found_inf"), {});
      skips = hlo::ne(found, hlo::like(found, 0));
    }
  }

  /// The type in which the parameter number i is updated.
  ElementType type(size_t i) const { return compute_type(params[i].element()); }

  /// The gradient as the update sees it. When it was scaled, `unscaled` receives what is written back.
  hlo::Value gradient(size_t i, hlo::Values& unscaled) const {
    hlo::Value grad = hlo::convert(grads[i], type(i));
    if (scales) {
      grad = grad / over(scale, grad);
      unscaled.push_back(kept(grads[i], grad));
    } else {
      unscaled.push_back({});
    }
    return maximizes ? hlo::negate(grad) : grad;
  }

  /// The new value in the type of the old one, or the old one where the step is skipped.
  hlo::Value kept(const hlo::Value& old, const hlo::Value& updated) const {
    hlo::Value result = hlo::convert(updated, old.element());
    return skips ? hlo::select(skips, old, result) : result;
  }

  hlo::Value decay(hlo::Value grad, const hlo::Value& param) const {
    if (c.known("weight_decay") == 0) return grad;
    return grad + over(rate(c, "weight_decay"), param) * param;
  }

  Context& c;
  hlo::Values params, grads;
  bool maximizes, scales;
  hlo::Value scale, skips;
};

void append(hlo::Values& all, const hlo::Values& more) { all.insert(all.end(), more.begin(), more.end()); }

// ----------------------------------------------------------------------------------------------------- Adam

// Kingma and Ba 2015; the decoupled form of Loshchilov and Hutter 2019; AMSGrad of Reddi et al. 2018.
template <bool decoupled>
hlo::Values adam(Context& c) {
  Fused f(c);
  bool amsgrad = c.flag("amsgrad");
  hlo::Values means = c.tensors("exp_avgs"), squares = c.tensors("exp_avg_sqs"), largest = c.tensors("max_exp_avg_sqs");
  hlo::Values steps = c.tensors("state_steps");
  hlo::Values new_params, new_grads, new_means, new_squares, new_largest;
  hlo::Value lr = rate(c, "lr"), beta1 = rate(c, "beta1"), beta2 = rate(c, "beta2"), eps = rate(c, "eps");
  hlo::Value one = hlo::scalar_like(lr, 1.0);
  for (size_t i = 0; i < f.params.size(); ++i) {
    hlo::Value param = hlo::convert(f.params[i], f.type(i)), grad = f.gradient(i, new_grads);
    hlo::Value step = hlo::convert(hlo::reshape(steps[i], {}), lr.element());
    if (decoupled) {
      if (c.known("weight_decay") != 0) param = param * over(one - lr * rate(c, "weight_decay"), param);
    } else {
      grad = f.decay(grad, param);
    }
    hlo::Value mean = hlo::convert(means[i], f.type(i)), square = hlo::convert(squares[i], f.type(i));
    mean = mean + (grad - mean) * over(one - beta1, mean);
    square = square * over(beta2, square) + grad * grad * over(one - beta2, square);
    hlo::Value of_denominator = square;
    if (amsgrad) {
      of_denominator = hlo::maximum(hlo::convert(largest[i], f.type(i)), square);
      new_largest.push_back(f.kept(largest[i], of_denominator));
    }
    // The correction of the square is in the numbers, so that there is one division for each element.
    hlo::Value correction = hlo::sqrt(one - hlo::power(beta2, step));
    hlo::Value size = lr * correction / (one - hlo::power(beta1, step));
    hlo::Value denominator = hlo::sqrt(of_denominator) + over(eps * correction, square);
    param = param - over(size, mean) * (mean / denominator);
    new_params.push_back(f.kept(f.params[i], param));
    new_means.push_back(f.kept(means[i], mean));
    new_squares.push_back(f.kept(squares[i], square));
  }
  for (const hlo::Values* list : {&new_grads, &new_means, &new_squares}) append(new_params, *list);
  append(new_params, amsgrad ? new_largest : hlo::Values(largest.size()));
  return new_params;
}

// ------------------------------------------------------------------------------------------------ SGD, Adagrad

hlo::Values sgd(Context& c) {
  Fused f(c);
  bool has_momentum = c.known("momentum") != 0, is_first = c.flag("is_first_step"), nesterov = c.flag("nesterov");
  hlo::Values buffers = c.tensors("momentum_buffer_list");
  hlo::Values new_params, new_grads, new_buffers;
  hlo::Value lr = rate(c, "lr"), momentum = rate(c, "momentum"), one = hlo::scalar_like(lr, 1.0);
  for (size_t i = 0; i < f.params.size(); ++i) {
    hlo::Value param = hlo::convert(f.params[i], f.type(i));
    hlo::Value grad = f.decay(f.gradient(i, new_grads), param);
    if (has_momentum) {
      hlo::Value buffer = grad;
      if (!is_first) {
        hlo::Value old = hlo::convert(buffers[i], f.type(i));
        buffer = old * over(momentum, old) + grad * over(one - rate(c, "dampening"), grad);
      }
      new_buffers.push_back(f.kept(buffers[i], buffer));
      grad = nesterov ? grad + buffer * over(momentum, buffer) : buffer;
    }
    new_params.push_back(f.kept(f.params[i], param - over(lr, grad) * grad));
  }
  append(new_params, new_grads);
  append(new_params, has_momentum ? new_buffers : hlo::Values(buffers.size()));
  return new_params;
}

hlo::Values adagrad(Context& c) {
  Fused f(c);
  hlo::Values sums = c.tensors("state_sums"), steps = c.tensors("state_steps");
  hlo::Values new_params, new_grads, new_sums;
  hlo::Value lr = rate(c, "lr"), one = hlo::scalar_like(lr, 1.0);
  for (size_t i = 0; i < f.params.size(); ++i) {
    hlo::Value param = hlo::convert(f.params[i], f.type(i));
    hlo::Value grad = f.decay(f.gradient(i, new_grads), param);
    hlo::Value step = hlo::convert(hlo::reshape(steps[i], {}), lr.element());
    hlo::Value size = lr / (one + (step - one) * rate(c, "lr_decay"));
    hlo::Value sum = hlo::convert(sums[i], f.type(i)) + grad * grad;
    hlo::Value denominator = hlo::sqrt(sum) + over(rate(c, "eps"), sum);
    new_params.push_back(f.kept(f.params[i], param - over(size, grad) * grad / denominator));
    new_sums.push_back(f.kept(sums[i], sum));
  }
  append(new_params, new_grads);
  append(new_params, new_sums);
  // The steps were counted by the caller; only the overload with a number for lr declares them as written.
  if (c.is_scalar("lr") && c.call().row->name == std::string("_fused_adagrad_"))
    append(new_params, hlo::Values(steps.size()));
  return new_params;
}

// ------------------------------------------------------------------------------------- scaling of gradients

hlo::Values check_and_unscale(Context& c) {
  hlo::Value found = c.tensor("found_inf"), inverse = hlo::reshape(c.tensor("inv_scale"), {}), bad;
  hlo::Values results;
  for (const hlo::Value& grad : c.tensors("self")) {
    hlo::Value x = hlo::convert(grad, compute_type(grad.element()));
    hlo::Value infinite = hlo::not_(hlo::is_finite(x));
    Dims all;
    for (int64_t i = 0; i < x.rank(); ++i) all.push_back(i);
    hlo::Value any = hlo::reduce(infinite, all, hlo::Reducer::Or);
    bad = bad ? hlo::or_(bad, any) : any;
    results.push_back(hlo::convert(x * over(inverse, x), grad.element()));
  }
  if (bad) found = hlo::maximum(found, hlo::broadcast(hlo::convert(bad, found.element()), found.dims()));
  results.push_back(found);
  return results;
}

hlo::Values update_scale(Context& c) {
  hlo::Value scale = c.tensor("self"), tracker = c.tensor("growth_tracker");
  hlo::Value found = hlo::reshape(c.tensor("found_inf"), scale.dims()), bad = hlo::ne(found, hlo::like(found, 0));
  hlo::Value grown = scale * hlo::broadcast(c.scalar("scale_growth_factor", scale.element()), scale.dims());
  hlo::Value shrunk = scale * hlo::broadcast(c.scalar("scale_backoff_factor", scale.element()), scale.dims());
  hlo::Value count = tracker + hlo::like(tracker, 1), none = hlo::like(tracker, 0);
  hlo::Value grows = hlo::eq(count, hlo::like(count, c.integer("growth_interval")));
  hlo::Value good = hlo::select(hlo::and_(hlo::reshape(grows, scale.dims()), hlo::is_finite(grown)), grown, scale);
  hlo::Value reset = hlo::or_(hlo::reshape(bad, tracker.dims()), grows);
  return {hlo::select(bad, shrunk, good), hlo::select(reset, none, count)};
}

}  // namespace

Table optimizer_table() {
  return {
      row("_fused_adam_", adam<false>).special("weight_decay", {0}),
      row("_fused_adam_.tensor_lr", adam<false>).special("weight_decay", {0}),
      row("_fused_adamw_", adam<true>).special("weight_decay", {0}),
      row("_fused_adamw_.tensor_lr", adam<true>).special("weight_decay", {0}),
      row("_fused_sgd_", sgd).special("weight_decay", {0}).special("momentum", {0}),
      row("_fused_sgd_.tensor_lr", sgd).special("weight_decay", {0}).special("momentum", {0}),
      row("_fused_adagrad_", adagrad).special("weight_decay", {0}),
      row("_fused_adagrad_.tensor_lr", adagrad).special("weight_decay", {0}),
      row("_amp_foreach_non_finite_check_and_unscale_", check_and_unscale),
      row("_amp_update_scale_", update_scale),
  };
}

}  // namespace tpu::ops
