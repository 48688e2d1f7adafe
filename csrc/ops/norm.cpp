// Family norm: mean and variance taken away, scale and shift put on: batch, layer, group and RMS norm, forward and
// backward. What goes in: the input, optional weight and bias, for batch norm the running statistics.
//
// All sums are taken in float32 for half types (float64 for double). The variance is the mean of (x - mean)^2, two
// passes as torch takes them, since E[x^2] - mean^2 cancels.
#include <cmath>
#include <limits>

#include "ops/axis.h"
#include "ops/host_call.h"
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------------ shared moves

// The input seen as an array in which some dimensions are averaged over.
struct Averaged {
  Dims over;  // the dimensions that are averaged
  Dims kept;  // the others
  double count = 0;
  bool is_cpu;

  Averaged(const Context& c, const Dims& dims, const Dims& averaged) : over(averaged), is_cpu(c.settings().is_cpu) {
    int64_t product = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      bool is_over = false;
      for (int64_t dim : over) is_over = is_over || dim == static_cast<int64_t>(i);
      if (is_over)
        product *= dims[i];
      else
        kept.push_back(static_cast<int64_t>(i));
    }
    count = static_cast<double>(product);
  }
  /// The last dimensions that are averaged are summed first, as one: XLA:CPU has vector code for rows only.
  hlo::Value sum(const hlo::Value& x) const {
    Dims front = over, dims = x.dims();
    int64_t row = 1, rank = x.rank();
    while (!front.empty() && front.back() == rank - 1) {
      row *= dims.back();
      dims.pop_back();
      front.pop_back();
      --rank;
    }
    hlo::Value rows = x;
    if (rank < x.rank()) {
      dims.push_back(row);
      rows = hlo::reduce(hlo::reshape(x, dims), {rank}, hlo::Reducer::Add);
    }
    if (front.empty()) return rows;
    bool are_columns = is_cpu && front.back() < rows.rank() - 1;
    return are_columns ? reduce_columns(rows, front, hlo::Reducer::Add) : hlo::reduce(rows, front, hlo::Reducer::Add);
  }
  hlo::Value mean(const hlo::Value& x) const {
    hlo::Value total = sum(x);
    return total * hlo::like(total, 1 / count);
  }
  /// A statistic back at every element.
  hlo::Value spread(const hlo::Value& statistic, const Dims& dims) const {
    return hlo::broadcast_in_dim(statistic, dims, kept);
  }
};

/// Averages over all dimensions but one.
Averaged all_but(const Context& c, const Dims& dims, int64_t dim) {
  Dims over;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    if (i != dim) over.push_back(i);
  return Averaged(c, dims, over);
}

struct Moments {
  hlo::Value mean, variance;
};
// A float32 sum of many large numbers has lost the digits that a small spread is made of (the CPU's kernels sum in
// double), so many elements are summed as their distances from one of them.
Moments moments(const hlo::Value& x, const Averaged& averaged) {
  constexpr double kManyElements = 1024;
  hlo::Value mean;
  if (averaged.count < kManyElements || x.type.count() == 0) {
    mean = averaged.mean(x);
  } else {
    Dims limit = x.dims(), kept;
    for (int64_t dim : averaged.over) limit[static_cast<size_t>(dim)] = 1;
    for (int64_t dim : averaged.kept) kept.push_back(x.dims()[static_cast<size_t>(dim)]);
    hlo::Value one = hlo::reshape(hlo::slice(x, Dims(limit.size(), 0), limit, Dims(limit.size(), 1)), kept);
    mean = one + averaged.mean(x - averaged.spread(one, x.dims()));
  }
  hlo::Value centred = x - averaged.spread(mean, x.dims());
  return {mean, averaged.mean(centred * centred)};
}

hlo::Value inverse_deviation(Context& c, const hlo::Value& variance) {
  return hlo::rsqrt(variance + hlo::broadcast(c.scalar("eps", variance.element()), variance.dims()));
}

// x * weight + bias where given; `spread` puts a parameter at every element.
template <class Spread>
hlo::Value affine(Context& c, hlo::Value x, const Spread& spread) {
  if (c.has("weight")) x = x * spread(c.tensor("weight", x.element()));
  if (c.has("bias")) x = x + spread(c.tensor("bias", x.element()));
  return x;
}

// The gradient of the input of (x - mean) * rstd: with g = grad * weight,
// rstd * (g - mean(g) - xhat * mean(g * xhat)).
hlo::Value input_gradient(const hlo::Value& g, const hlo::Value& xhat, const hlo::Value& rstd,
                          const Averaged& averaged) {
  const Dims& dims = g.dims();
  hlo::Value along = xhat * averaged.spread(averaged.mean(g * xhat), dims);
  return averaged.spread(rstd, dims) * (g - averaged.spread(averaged.mean(g), dims) - along);
}

bool wants(const Context& c, size_t gradient) { return c.ints("output_mask")[gradient] != 0; }

void expect_floating(const Context& c, const char* kernel, ElementType type) {
  c.expect(is_floating(type), ErrorCode::NotImplemented, "\"", kernel, "\" not implemented for '", torch_name(type),
           "'");
}

// Statistics of a half-precision input are kept in the type of its float32 parameters, else in its own type.
ElementType statistics_type(const Context& c, ElementType input, std::initializer_list<const char*> parameters) {
  for (const char* name : parameters)
    if (c.has(name)) return c.type(name).element;
  return input;
}

// -------------------------------------------------------------------------------------------------- batch norm
// Averages over all dimensions but the channels, dimension 1.

Averaged all_but_channels(const Context& c, const Dims& dims) { return all_but(c, dims, 1); }

hlo::Value per_channel(const hlo::Value& x, const Dims& dims) { return hlo::broadcast_in_dim(x, dims, {1}); }

void expect_channels(const Context& c, const char* argument) {
  const Dims& dims = c.type(c.call().find("input") ? "input" : "self").dims;
  c.expect(dims.size() >= 2, ErrorCode::InvalidArgument, "Expected at least 2 dimensions, got ", to_string(dims));
  if (!c.has(argument)) return;
  int64_t found = c.type(argument).count();
  c.expect(found == dims[1], ErrorCode::InvalidArgument, argument, " should contain ", dims[1], " elements not ",
           found);
}

// momentum * seen + (1 - momentum) * running, in the type of the running statistic; empty where there is none.
hlo::Value updated(Context& c, const char* name, const hlo::Value& seen) {
  if (!c.has(name)) return {};
  hlo::Value running = c.tensor(name, seen.element());
  hlo::Value momentum = hlo::broadcast(c.scalar("momentum", seen.element()), seen.dims());
  return hlo::convert(momentum * seen + (hlo::like(momentum, 1) - momentum) * running, c.type(name).element);
}

struct Running {
  hlo::Value mean, variance;
};
// The running variance takes the unbiased one.
Running update_running(Context& c, const Moments& found, double count) {
  hlo::Value unbiased = found.variance * hlo::like(found.variance, count / (count - 1));
  return {updated(c, "running_mean", found.mean), updated(c, "running_var", unbiased)};
}

struct BatchNorm {
  hlo::Value out, mean, rstd;
  Running running;
};
BatchNorm normalize_batch(Context& c, bool training) {
  hlo::Value input = c.tensor("input");
  expect_floating(c, "batch_norm", input.element());
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) expect_channels(c, name);
  ElementType saved = statistics_type(c, input.element(), {"weight", "bias", "running_mean"});
  hlo::Value x = hlo::convert(input, compute_type(input.element()));
  Averaged averaged = all_but_channels(c, x.dims());
  Moments found;
  Running running;
  if (training) {
    found = moments(x, averaged);
    running = update_running(c, found, averaged.count);
  } else {
    c.expect(c.has("running_mean") && c.has("running_var"), ErrorCode::InvalidArgument,
             "Expected running_mean and running_var to be defined when training=False");
    found = {c.tensor("running_mean", x.element()), c.tensor("running_var", x.element())};
    running = {c.tensor("running_mean"), c.tensor("running_var")};
  }
  hlo::Value rstd = inverse_deviation(c, found.variance);
  auto spread = [&](const hlo::Value& value) { return per_channel(value, x.dims()); };
  hlo::Value out = affine(c, (x - spread(found.mean)) * spread(rstd), spread);
  BatchNorm result{hlo::convert(out, input.element()), hlo::convert(found.mean, saved), hlo::convert(rstd, saved),
                   running};
  if (!training)
    result.mean = result.rstd = hlo::constant(c.builder(), {saved, {0}}, 0);  // nothing to save, as torch has it
  return result;
}

hlo::Values batch_norm(Context& c) {
  BatchNorm result = normalize_batch(c, c.flag("training"));
  return {result.out, result.mean, result.rstd, result.running.mean, result.running.variance};
}

hlo::Values batch_norm_no_stats(Context& c) {
  BatchNorm result = normalize_batch(c, true);
  return {result.out, result.mean, result.rstd};
}

hlo::Values batch_norm_with_update(Context& c) {
  BatchNorm result = normalize_batch(c, true);
  hlo::Value reserve = hlo::constant(c.builder(), {ElementType::U8, {0}}, 0);
  return {result.out, result.mean, result.rstd, reserve, result.running.mean, result.running.variance};
}

// What the backward needs from either the saved or the running statistics.
hlo::Values batch_norm_gradients(Context& c, bool training, const char* saved_rstd) {
  hlo::Value input = c.tensor("input");
  ElementType type = compute_type(input.element());
  hlo::Value x = hlo::convert(input, type), grad = c.tensor("grad_out", type);
  const Dims& dims = x.dims();
  Averaged averaged = all_but_channels(c, dims);
  hlo::Value mean, rstd;
  if (training) {
    mean = c.tensor("save_mean", type);
    rstd = c.tensor(saved_rstd, type);
  } else {
    mean = c.tensor("running_mean", type);
    rstd = inverse_deviation(c, c.tensor("running_var", type));
  }
  hlo::Value xhat = (x - per_channel(mean, dims)) * per_channel(rstd, dims);
  ElementType parameters = statistics_type(c, input.element(), {"weight"});
  hlo::Values results(3);
  hlo::Value sum = averaged.sum(grad), along = averaged.sum(grad * xhat);
  if (wants(c, 0)) {
    hlo::Value factor = rstd;
    if (c.has("weight")) factor = factor * c.tensor("weight", type);
    hlo::Value inner = grad;
    if (training) {
      hlo::Value share = hlo::like(sum, 1 / averaged.count);
      inner = grad - per_channel(sum * share, dims) - xhat * per_channel(along * share, dims);
    }
    results[0] = hlo::convert(per_channel(factor, dims) * inner, input.element());
  }
  if (wants(c, 1)) results[1] = hlo::convert(along, parameters);
  if (wants(c, 2)) results[2] = hlo::convert(sum, parameters);
  return results;
}

hlo::Values native_batch_norm_backward(Context& c) { return batch_norm_gradients(c, c.flag("train"), "save_invstd"); }
hlo::Values batch_norm_backward(Context& c) { return batch_norm_gradients(c, c.flag("update"), "save_var"); }

hlo::Values batch_norm_update_stats(Context& c) {
  hlo::Value input = c.tensor("input");
  expect_floating(c, "batch_norm", input.element());
  ElementType saved = statistics_type(c, input.element(), {"running_mean"});
  hlo::Value x = hlo::convert(input, compute_type(input.element()));
  Averaged averaged = all_but_channels(c, x.dims());
  Moments found = moments(x, averaged);
  Running running = update_running(c, found, averaged.count);
  return {hlo::convert(found.mean, saved), hlo::convert(found.variance, saved), running.mean, running.variance};
}

// The steps of SyncBatchNorm: local statistics, their union over processes, the normalisation, and the same backwards.

hlo::Values batch_norm_stats(Context& c) {
  hlo::Value input = c.tensor("input");
  hlo::Value x = hlo::convert(input, compute_type(input.element()));
  Moments found = moments(x, all_but_channels(c, x.dims()));
  return {found.mean, inverse_deviation(c, found.variance)};
}

hlo::Values batch_norm_elemt(Context& c) {
  hlo::Value input = c.tensor("input");
  hlo::Value x = hlo::convert(input, compute_type(input.element()));
  auto spread = [&](const hlo::Value& value) { return per_channel(value, x.dims()); };
  hlo::Value xhat = (x - spread(c.tensor("mean", x.element()))) * spread(c.tensor("invstd", x.element()));
  return {hlo::convert(affine(c, xhat, spread), input.element())};
}

// Rows of mean and invstd are processes with their own number of elements. The union of sets has the mean of all
// elements and the sum of the sets' squares plus their distances from it.
hlo::Values gather_stats(Context& c, const hlo::Value& counts) {
  ElementType type = counts.element();
  hlo::Value mean = c.tensor("mean", type), rstd = c.tensor("invstd", type);
  const Dims& dims = mean.dims();
  hlo::Value number = hlo::broadcast_in_dim(counts, dims, {0});
  hlo::Value eps = hlo::broadcast(c.scalar("eps", type), dims);
  hlo::Value variance = hlo::like(rstd, 1) / (rstd * rstd) - eps;
  auto sum = [](const hlo::Value& x) { return hlo::reduce(x, {0}, hlo::Reducer::Add); };
  hlo::Value total = sum(number);
  hlo::Value centre = sum(mean * number) / total;
  hlo::Value away = mean - hlo::broadcast_in_dim(centre, dims, {1});
  hlo::Value squares = sum((variance + away * away) * number);
  hlo::Value joint = squares / total;
  return {centre, inverse_deviation(c, joint), updated(c, "running_mean", centre),
          updated(c, "running_var", squares / (total - hlo::like(total, 1)))};
}

hlo::Values batch_norm_gather_stats_with_counts(Context& c) {
  ElementType type = compute_type(c.type("mean").element);
  return gather_stats(c, hlo::reshape(c.tensor("counts", type), {c.type("mean").dims[0]}));
}

hlo::Values batch_norm_gather_stats(Context& c) {
  ElementType type = compute_type(c.type("mean").element);
  return gather_stats(
      c, hlo::constant(c.builder(), {type, {c.type("mean").dims[0]}}, static_cast<double>(c.integer("count"))));
}

hlo::Values batch_norm_backward_reduce(Context& c) {
  hlo::Value input = c.tensor("input");
  ElementType type = compute_type(input.element());
  hlo::Value grad = c.tensor("grad_out", type);
  Averaged averaged = all_but_channels(c, grad.dims());
  hlo::Value centred = hlo::convert(input, type) - per_channel(c.tensor("mean", type), grad.dims());
  hlo::Value sum = averaged.sum(grad), along = averaged.sum(grad * centred);
  ElementType parameters = statistics_type(c, input.element(), {"weight"});
  hlo::Values results(4);
  if (c.flag("input_g")) results[0] = sum, results[1] = along;
  if (c.flag("weight_g")) results[2] = hlo::convert(along * c.tensor("invstd", type), parameters);
  if (c.flag("bias_g")) results[3] = hlo::convert(sum, parameters);
  return results;
}

hlo::Values batch_norm_backward_elemt(Context& c) {
  hlo::Value input = c.tensor("input");
  ElementType type = compute_type(input.element());
  hlo::Value grad = c.tensor("grad_out", type);
  auto spread = [&](const hlo::Value& value) { return per_channel(value, grad.dims()); };
  hlo::Value count = hlo::convert(c.tensor("count"), type);
  Dims all;
  for (int64_t i = 0; i < count.rank(); ++i) all.push_back(i);
  hlo::Value rstd = c.tensor("invstd", type);
  hlo::Value share =
      hlo::broadcast(hlo::constant(c.builder(), type, 1) / hlo::reduce(count, all, hlo::Reducer::Add), rstd.dims());
  hlo::Value centred = hlo::convert(input, type) - spread(c.tensor("mean", type));
  hlo::Value inner = grad - spread(c.tensor("sum_dy", type) * share) -
                     centred * spread(c.tensor("sum_dy_xmu", type) * share * rstd * rstd);
  hlo::Value factor = c.has("weight") ? rstd * c.tensor("weight", type) : rstd;
  return {hlo::convert(inner * spread(factor), input.element())};
}

// ------------------------------------------------------------------------------------------ layer and RMS norm
// Average over the trailing dimensions, normalized_shape. Statistics keep the rank, with ones there.

struct Layer {
  Averaged averaged;  // trailing dimensions
  Averaged rows;      // the leading ones: what parameter gradients are summed over
  Dims statistics;
  Dims trailing;

  hlo::Value spread_parameter(const hlo::Value& x, const Dims& dims) const {
    return hlo::broadcast_in_dim(x, dims, trailing);
  }
  // A saved statistic without its ones, in another type.
  hlo::Value saved(Context& c, const char* name, ElementType type) const {
    Dims leading(statistics.begin(), statistics.begin() + static_cast<int64_t>(averaged.kept.size()));
    return hlo::reshape(c.tensor(name, type), leading);
  }
};
Layer layer_of(Context& c) {
  const Dims& dims = c.type("input").dims;
  Dims shape = c.ints("normalized_shape");
  size_t outer = dims.size() - std::min(dims.size(), shape.size());
  c.expect(!shape.empty(), ErrorCode::InvalidArgument,
           "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
           "normalized_shape = ",
           to_string(shape));
  c.expect(shape == Dims(dims.begin() + outer, dims.end()), ErrorCode::InvalidArgument,
           "Given normalized_shape=", to_string(shape), ", expected input with shape [*, ", to_string(shape).substr(1),
           ", but got input of size", to_string(dims));
  for (const char* name : {"weight", "bias"})
    if (c.has(name))
      c.expect(c.type(name).dims == shape, ErrorCode::InvalidArgument, "Expected ", name,
               " to be of same shape as normalized_shape, but got ", name, " of shape ", to_string(c.type(name).dims),
               " and normalized_shape = ", to_string(shape));
  Dims leading, trailing, statistics = dims;
  for (size_t i = 0; i < dims.size(); ++i) (i < outer ? leading : trailing).push_back(static_cast<int64_t>(i));
  for (size_t i = outer; i < dims.size(); ++i) statistics[i] = 1;
  return {Averaged(c, dims, trailing), Averaged(c, dims, leading), statistics, trailing};
}

hlo::Values native_layer_norm(Context& c) {
  hlo::Value input = c.tensor("input");
  expect_floating(c, "LayerNormKernelImpl", input.element());
  Layer layer = layer_of(c);
  hlo::Value x = hlo::convert(input, compute_type(input.element()));
  Moments found = moments(x, layer.averaged);
  hlo::Value rstd = inverse_deviation(c, found.variance);
  hlo::Value xhat = (x - layer.averaged.spread(found.mean, x.dims())) * layer.averaged.spread(rstd, x.dims());
  hlo::Value out = affine(c, xhat, [&](const hlo::Value& value) { return layer.spread_parameter(value, x.dims()); });
  // Statistics stay in the compute type, as PyTorch has it for every device but the CPU.
  return {hlo::convert(out, input.element()), hlo::reshape(found.mean, layer.statistics),
          hlo::reshape(rstd, layer.statistics)};
}

hlo::Values native_layer_norm_backward(Context& c) {
  hlo::Value input = c.tensor("input");
  ElementType type = compute_type(input.element());
  Layer layer = layer_of(c);
  hlo::Value x = hlo::convert(input, type), grad = c.tensor("grad_out", type);
  hlo::Value mean = layer.saved(c, "mean", type), rstd = layer.saved(c, "rstd", type);
  hlo::Value xhat = (x - layer.averaged.spread(mean, x.dims())) * layer.averaged.spread(rstd, x.dims());
  hlo::Values results(3);
  if (wants(c, 0)) {
    hlo::Value g = c.has("weight") ? grad * layer.spread_parameter(c.tensor("weight", type), x.dims()) : grad;
    results[0] = hlo::convert(input_gradient(g, xhat, rstd, layer.averaged), input.element());
  }
  auto parameter = [&](const char* name) { return statistics_type(c, input.element(), {name}); };
  if (wants(c, 1)) results[1] = hlo::convert(layer.rows.sum(grad * xhat), parameter("weight"));
  if (wants(c, 2)) results[2] = hlo::convert(layer.rows.sum(grad), parameter("bias"));
  return results;
}

// x * rsqrt(mean(x^2) + eps): no mean is taken away.
hlo::Values fused_rms_norm(Context& c) {
  hlo::Value input = c.tensor("input");
  expect_floating(c, "rms_norm", input.element());
  Layer layer = layer_of(c);
  hlo::Value x = hlo::convert(input, compute_type(input.element()));
  hlo::Value square = layer.averaged.mean(x * x);
  double smallest =
      x.element() == ElementType::F64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  hlo::Value rstd = c.has("eps") ? inverse_deviation(c, square) : hlo::rsqrt(square + hlo::like(square, smallest));
  hlo::Value out = x * layer.averaged.spread(rstd, x.dims());
  if (c.has("weight")) out = out * layer.spread_parameter(c.tensor("weight", x.element()), x.dims());
  return {hlo::convert(out, input.element()), hlo::reshape(rstd, layer.statistics)};
}

hlo::Values fused_rms_norm_backward(Context& c) {
  hlo::Value input = c.tensor("input");
  ElementType type = compute_type(input.element());
  Layer layer = layer_of(c);
  hlo::Value x = hlo::convert(input, type), grad = c.tensor("grad_out", type);
  hlo::Value rstd = layer.averaged.spread(layer.saved(c, "rstd", type), x.dims());
  hlo::Value xhat = x * rstd;
  hlo::Values results(2);
  if (wants(c, 0)) {
    hlo::Value g = c.has("weight") ? grad * layer.spread_parameter(c.tensor("weight", type), x.dims()) : grad;
    hlo::Value along = layer.averaged.spread(layer.averaged.mean(g * xhat), x.dims());
    results[0] = hlo::convert(rstd * (g - xhat * along), input.element());
  }
  if (wants(c, 1))
    results[1] = hlo::convert(layer.rows.sum(grad * xhat), statistics_type(c, input.element(), {"weight"}));
  return results;
}

// -------------------------------------------------------------------------------------------------- group norm
// The input as [N, groups, C / groups, HxW]; averages over the last two.

struct Groups {
  Dims dims;
  int64_t n, groups;
};
Groups groups_of(Context& c) {
  int64_t n = c.integer("N"), channels = c.integer("C"), inner = c.integer("HxW"), groups = c.integer("group");
  c.expect(groups > 0 && channels % groups == 0, ErrorCode::InvalidArgument,
           "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
           to_string(c.type("input").dims), " and num_groups=", groups);
  return {{n, groups, channels / groups, inner}, n, groups};
}
hlo::Value per_group_channel(const hlo::Value& parameter, const Groups& groups) {
  return hlo::broadcast_in_dim(hlo::reshape(parameter, {groups.dims[1], groups.dims[2]}), groups.dims, {1, 2});
}

hlo::Values native_group_norm(Context& c) {
  hlo::Value input = c.tensor("input");
  expect_floating(c, "GroupNormKernelImpl", input.element());
  Groups groups = groups_of(c);
  for (const char* name : {"weight", "bias"})
    if (c.has(name))
      c.expect(c.type(name).count() == c.integer("C"), ErrorCode::InvalidArgument, "Expected ", name,
               " to be a vector of size equal to the number of channels in input, but got ", name, " of shape ",
               to_string(c.type(name).dims), " and input of shape ", to_string(input.dims()));
  ElementType saved = statistics_type(c, input.element(), {"weight", "bias"});
  hlo::Value x = hlo::reshape(hlo::convert(input, compute_type(input.element())), groups.dims);
  Averaged averaged(c, groups.dims, {2, 3});
  Moments found = moments(x, averaged);
  hlo::Value rstd = inverse_deviation(c, found.variance);
  hlo::Value xhat = (x - averaged.spread(found.mean, x.dims())) * averaged.spread(rstd, x.dims());
  hlo::Value out = affine(c, xhat, [&](const hlo::Value& value) { return per_group_channel(value, groups); });
  return {hlo::convert(hlo::reshape(out, input.dims()), input.element()), hlo::convert(found.mean, saved),
          hlo::convert(rstd, saved)};
}

hlo::Values native_group_norm_backward(Context& c) {
  hlo::Value input = c.tensor("input");
  ElementType type = compute_type(input.element());
  Groups groups = groups_of(c);
  Averaged averaged(c, groups.dims, {2, 3}), rows(c, groups.dims, {0, 3});
  auto shaped = [&](const char* name) { return hlo::reshape(c.tensor(name, type), groups.dims); };
  auto statistic = [&](const char* name) { return hlo::reshape(c.tensor(name, type), {groups.n, groups.groups}); };
  hlo::Value x = shaped("input"), grad = shaped("grad_out"), rstd = statistic("rstd");
  hlo::Value xhat = (x - averaged.spread(statistic("mean"), x.dims())) * averaged.spread(rstd, x.dims());
  ElementType parameters = statistics_type(c, input.element(), {"weight"});
  hlo::Values results(3);
  if (wants(c, 0)) {
    hlo::Value g = c.has("weight") ? grad * per_group_channel(c.tensor("weight", type), groups) : grad;
    results[0] = hlo::convert(hlo::reshape(input_gradient(g, xhat, rstd, averaged), input.dims()), input.element());
  }
  Dims channels{groups.dims[1] * groups.dims[2]};
  if (wants(c, 1)) results[1] = hlo::convert(hlo::reshape(rows.sum(grad * xhat), channels), parameters);
  if (wants(c, 2)) results[2] = hlo::convert(hlo::reshape(rows.sum(grad), channels), parameters);
  return results;
}

// ------------------------------------------------------------------------------------------------- weight norm

// v * (g / |v|), the norm over all dimensions but `dim`; the norms are saved.
hlo::Values weight_norm(Context& c) {
  hlo::Value v = c.tensor("v");
  ElementType type = compute_type(v.element());
  int64_t dim = wrap_dim(c.integer("dim"), v.rank());
  hlo::Value x = hlo::convert(v, type), g = c.tensor("g", type);
  Averaged averaged = all_but(c, x.dims(), dim);
  hlo::Value norms = hlo::sqrt(averaged.sum(x * x));
  hlo::Value factor = hlo::reshape(g, norms.dims()) / norms;
  ElementType saved = v.element() == ElementType::BF16 ? ElementType::F32 : g.element();
  return {hlo::convert(x * averaged.spread(factor, x.dims()), v.element()),
          hlo::convert(hlo::reshape(norms, g.dims()), saved)};
}

// grad_g = sum(grad * v) / |v|, grad_v = g / |v| * (grad - v * sum(grad * v) / |v|^2).
hlo::Values weight_norm_backward(Context& c) {
  hlo::Value v = c.tensor("saved_v"), g = c.tensor("saved_g");
  ElementType type = compute_type(v.element());
  hlo::Value x = hlo::convert(v, type), grad = c.tensor("grad_w", type);
  Averaged averaged = all_but(c, x.dims(), wrap_dim(c.integer("dim"), v.rank()));
  hlo::Value along = averaged.sum(grad * x);
  hlo::Value norms = hlo::reshape(c.tensor("saved_norms", type), along.dims());
  hlo::Value factor = hlo::reshape(hlo::convert(g, type), along.dims()) / norms;
  hlo::Value inner = grad - x * averaged.spread(along / (norms * norms), x.dims());
  return {hlo::convert(averaged.spread(factor, x.dims()) * inner, v.element()),
          hlo::convert(hlo::reshape(along / norms, g.dims()), g.element())};
}

bool trains_large(const Call& call) { return is_large(call) && std::get<bool>(call.param("training")); }

}  // namespace

Table norm_table() {
  return {
      row("native_batch_norm", batch_norm)
          .writing({"running_mean", "running_var"})
          .image()
          .special("momentum", {0.1})
          .constant({"eps"})
          .host_kernel(trains_large, "torch_tpu::batch_norm")
          .lending(),
      row("native_batch_norm.out", batch_norm).writing({"running_mean", "running_var"}),
      row("_native_batch_norm_legit", batch_norm).image(),
      row("_native_batch_norm_legit.out", batch_norm),
      row("_native_batch_norm_legit.no_stats", batch_norm_no_stats).image(),
      row("_native_batch_norm_legit.no_stats_out", batch_norm_no_stats),
      row("_batch_norm_with_update", batch_norm_with_update).image(),
      row("_batch_norm_with_update.out", batch_norm_with_update),
      row("native_batch_norm_backward", native_batch_norm_backward)
          .image()
          .constant({"eps"})
          .host_kernel(is_large)
          .lending(),
      row("batch_norm_backward", batch_norm_backward).image(),
      row("batch_norm_update_stats", batch_norm_update_stats).writing({"running_mean", "running_var"}),
      row("batch_norm_stats", batch_norm_stats),
      row("batch_norm_elemt", batch_norm_elemt),
      row("batch_norm_elemt.out", batch_norm_elemt),
      row("batch_norm_gather_stats", batch_norm_gather_stats).writing({"running_mean", "running_var"}),
      row("batch_norm_gather_stats_with_counts", batch_norm_gather_stats_with_counts)
          .writing({"running_mean", "running_var"}),
      row("batch_norm_backward_reduce", batch_norm_backward_reduce),
      row("batch_norm_backward_elemt", batch_norm_backward_elemt),

      row("native_layer_norm", native_layer_norm).constant({"eps"}).host_kernel(is_large).lending(),
      row("native_layer_norm_backward", native_layer_norm_backward).host_kernel(is_large).lending(),
      row("_fused_rms_norm", fused_rms_norm),
      row("_fused_rms_norm_backward", fused_rms_norm_backward),

      row("native_group_norm", native_group_norm),
      row("native_group_norm_backward", native_group_norm_backward),

      row("_weight_norm_interface", weight_norm),
      row("_weight_norm_interface_backward", weight_norm_backward),
  };
}

}  // namespace tpu::ops
