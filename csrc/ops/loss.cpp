// Family loss: losses of a prediction and its target, and their gradients. What comes out is one number per sample, or
// their mean or sum.
#include "ops/axis.h"
#include "ops/elementwise.h"

namespace tpu::ops {

namespace {

using hlo::Reducer;
using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ shared moves

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Value sum_all(Context& c, const Value& x) { return fold_all(c, x).reduce(x, Reducer::Add); }

Value scaled(const Value& x, double factor) { return hlo::multiply(x, hlo::like(x, factor)); }

Value reduced(Context& c, const Value& loss) {
  int64_t reduction = c.integer("reduction");
  if (reduction == kNone) return loss;
  Value sum = sum_all(c, loss);
  return reduction == kSum ? sum : hlo::divide(sum, hlo::like(sum, static_cast<double>(loss.type.count())));
}

// What the gradient of every element is multiplied with: 1 / n for a mean.
double share(Context& c, int64_t count) {
  return c.integer("reduction") == kMean ? 1.0 / static_cast<double>(count) : 1.0;
}

// NaN gives 0: PyTorch's kernels ask whether x > 0.
Value at_least_zero(const Value& x) { return hlo::select(hlo::gt(x, zeros_like(x)), x, zeros_like(x)); }

Value spread_scalar(const Value& scalar, const Value& like) {
  return hlo::broadcast(hlo::reshape(scalar, {}), like.dims());
}

// ------------------------------------------------------------------------------------- losses of each element

// A loss of self and target elementwise, and its derivative by self.
using Each = Value (*)(Context&, const Value& self, const Value& target);

template <Each loss, unsigned kinds = kReal>
Values elementwise_loss(Context& c) {
  ElementType type = c.target_element(0, c.type("self").element);
  expect_kind(c, type, kinds);
  Values x = operands(c, {"self", "target"}, type);
  return {hlo::convert(reduced(c, loss(c, x[0], x[1])), type)};
}

template <Each derivative, unsigned kinds = kReal>
Values elementwise_loss_backward(Context& c) {
  ElementType type = c.target_element(0, c.type("self").element);
  expect_kind(c, type, kinds);
  Values x = operands(c, {"self", "target", "grad_output"}, type);
  Value gradient = scaled(hlo::multiply(derivative(c, x[0], x[1]), x[2]), share(c, x[0].type.count()));
  return {hlo::convert(gradient, type)};
}

Value squared(Context&, const Value& self, const Value& target) {
  Value difference = hlo::subtract(self, target);
  return hlo::multiply(difference, difference);
}

Value squared_derivative(Context&, const Value& self, const Value& target) {
  return scaled(hlo::subtract(self, target), 2);
}

// The border between the square and the line as a run-time number in every element. 1, the default, is structure and
// needs no check.
Value border(Context& c, const char* name, const Value& like, bool zero_allowed, const char* message) {
  Value number = c.scalar(name, like.element());
  if (!c.known(name)) {
    Value zero = hlo::scalar_like(number, 0.0);
    Value failed = zero_allowed ? hlo::lt(number, zero) : hlo::le(number, zero);
    c.require_not(failed, hlo::constant(c.builder(), ElementType::S64, 0), ErrorCode::InvalidArgument, message);
  }
  return hlo::broadcast(number, like.dims());
}

Value beta_like(Context& c, const Value& x) {
  return border(c, "beta", x, true, "smooth_l1_loss does not support negative values for beta.");
}

Value delta_like(Context& c, const Value& x) {
  return border(c, "delta", x, false, "huber_loss does not support non-positive values for delta.");
}

// |d| < beta ? d^2 / (2 beta) : |d| - beta / 2; for beta = 0 the square is never taken.
Value smooth_l1(Context& c, const Value& self, const Value& target) {
  Value distance = hlo::abs(hlo::subtract(self, target));
  Value beta = beta_like(c, distance);
  Value square = hlo::divide(scaled(hlo::multiply(distance, distance), 0.5), beta);
  return hlo::select(hlo::lt(distance, beta), square, hlo::subtract(distance, scaled(beta, 0.5)));
}

Value smooth_l1_derivative(Context& c, const Value& self, const Value& target) {
  Value difference = hlo::subtract(self, target);
  Value beta = beta_like(c, difference);
  return hlo::select(hlo::ge(hlo::abs(difference), beta), hlo::sign(difference), hlo::divide(difference, beta));
}

// |d| <= delta ? d^2 / 2 : delta (|d| - delta / 2)
Value huber(Context& c, const Value& self, const Value& target) {
  Value distance = hlo::abs(hlo::subtract(self, target));
  Value delta = delta_like(c, distance);
  Value line = hlo::multiply(delta, hlo::subtract(distance, scaled(delta, 0.5)));
  return hlo::select(hlo::le(distance, delta), scaled(hlo::multiply(distance, distance), 0.5), line);
}

Value huber_derivative(Context& c, const Value& self, const Value& target) {
  Value difference = hlo::subtract(self, target);
  Value delta = delta_like(c, difference);
  return hlo::clamp(hlo::negate(delta), difference, delta);
}

// ---------------------------------------------------------------------------------------- binary cross entropy

void require_probability(Context& c, const Value& x, const char* name) {
  Value inside = hlo::and_(hlo::ge(x, zeros_like(x)), hlo::le(x, hlo::like(x, 1.0)));
  c.require_not(hlo::not_(inside), hlo::constant(c.builder(), {ElementType::S64, x.dims()}, 0),
                ErrorCode::InvalidArgument, concat("all elements of ", name, " should be between 0 and 1"));
}

// The operands of both, in self's type, which the target must have too.
Values probabilities(Context& c, std::initializer_list<const char*> names) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kReal);
  c.expect(c.type("target").element == type, ErrorCode::InvalidArgument, "Found dtype ",
           scalar_type_name(c.type("target").element), " but expected ", scalar_type_name(type));
  std::vector<const char*> all(names);
  Values x;
  for (const char* name : all) x.push_back(operand(c, name, type));
  if (c.has("weight")) x.push_back(operand(c, "weight", type));
  return broadcast_together(x);
}

// (t - 1) max(log(1 - x), -100) - t max(log(x), -100)
Values binary_cross_entropy(Context& c) {
  Values x = probabilities(c, {"self", "target"});
  const Value &self = x[0], &target = x[1];
  require_probability(c, self, "input");
  require_probability(c, target, "target");
  Value floor = hlo::like(self, -100.0);
  Value no = hlo::maximum(log1p(hlo::negate(self)), floor), yes = hlo::maximum(hlo::log(self), floor);
  Value one = hlo::like(target, 1.0);
  Value loss = hlo::subtract(hlo::multiply(hlo::subtract(target, one), no), hlo::multiply(target, yes));
  if (c.has("weight")) loss = hlo::multiply(loss, x[2]);
  return {hlo::convert(reduced(c, loss), c.type("self").element)};
}

// grad (x - t) / max(x (1 - x), 1e-12)
Values binary_cross_entropy_backward(Context& c) {
  Values x = probabilities(c, {"self", "target", "grad_output"});
  const Value &self = x[0], &target = x[1], &grad = x[2];
  Value slope = hlo::multiply(self, hlo::subtract(hlo::like(self, 1.0), self));
  slope = hlo::maximum(slope, hlo::like(slope, 1e-12));
  Value gradient = hlo::divide(hlo::multiply(grad, hlo::subtract(self, target)), slope);
  if (c.has("weight")) gradient = hlo::multiply(gradient, x[3]);
  return {hlo::convert(scaled(gradient, share(c, self.type.count())), c.type("self").element)};
}

// -------------------------------------------------------------------------------------- negative log likelihood

// Samples of classes: self as [n, classes, places], target as [n, places]. A vector is one sample, a matrix has one
// place.
struct Samples {
  Value target;  // S64
  Value valid;   // target != ignore_index
  Value weight;  // of the target's class, 0 where not valid
  Dims shape;    // of target as the user gave it
  int64_t n = 1, classes = 1, places = 1;
};

Samples samples(Context& c, ElementType compute) {
  Samples s;
  const Dims sizes = c.type("self").dims;
  s.shape = c.type("target").dims;
  if (sizes.size() == 1)
    s.classes = sizes[0];
  else
    s.n = sizes[0], s.classes = sizes[1], s.places = product(Dims(sizes.begin() + 2, sizes.end()));
  s.target = hlo::reshape(c.tensor("target", ElementType::S64), {s.n, s.places});
  s.valid = hlo::ne(s.target, hlo::like(s.target, c.integer("ignore_index")));
  if (!c.has("weight")) {
    s.weight = hlo::convert(s.valid, compute);
    return s;
  }
  Value flat = hlo::reshape(s.target, {s.n * s.places});
  Value weight = hlo::reshape(take_along(c.tensor("weight", compute), flat, 0), {s.n, s.places});
  s.weight = hlo::select(s.valid, weight, zeros_like(weight));
  return s;
}

void require_targets(Context& c, const Samples& s) {
  Value low = hlo::lt(s.target, zeros_like(s.target)), high = hlo::ge(s.target, hlo::like(s.target, s.classes));
  c.require_not(hlo::and_(s.valid, hlo::or_(low, high)), s.target, ErrorCode::Index, "Target {} is out of bounds.");
}

Values nll_loss(Context& c) {
  ElementType type = c.type("self").element, compute = compute_type(type);
  expect_kind(c, type, kReal);
  Samples s = samples(c, compute);
  require_targets(c, s);
  Value x = hlo::reshape(c.tensor("self"), {s.n, s.classes, s.places});
  Value picked = take_along(x, hlo::reshape(s.target, {s.n, 1, s.places}), 1);
  picked = hlo::convert(hlo::reshape(picked, {s.n, s.places}), compute);
  Value loss = hlo::negate(hlo::multiply(picked, s.weight));
  loss = hlo::select(s.valid, loss, zeros_like(loss));
  // Several samples that stay apart have no total weight.
  if (c.integer("reduction") == kNone && c.type("self").rank() > 1) {
    return {hlo::convert(hlo::reshape(loss, s.shape), type), hlo::constant(c.builder(), type, 0)};
  }
  Value sum = sum_all(c, loss), weight = sum_all(c, s.weight);
  Value result = c.integer("reduction") == kMean ? hlo::divide(sum, weight) : sum;
  return {hlo::convert(result, type), hlo::convert(weight, type)};
}

// -weight grad at the target's class, 0 elsewhere: a select over all classes fuses, a scatter would not.
Values nll_loss_backward(Context& c) {
  ElementType type = c.type("self").element, compute = compute_type(type);
  expect_kind(c, type, kReal);
  Samples s = samples(c, compute);
  Dims cube = {s.n, s.classes, s.places};
  Value grad = c.tensor("grad_output", compute);
  if (c.integer("reduction") == kMean) grad = hlo::divide(grad, c.tensor("total_weight", compute));
  grad = c.integer("reduction") == kNone ? hlo::reshape(grad, {s.n, s.places}) : spread_scalar(grad, s.weight);
  Value at_target = hlo::broadcast_in_dim(hlo::negate(hlo::multiply(s.weight, grad)), cube, {0, 2});
  Value target = hlo::select(s.valid, s.target, hlo::like(s.target, -1));
  target = hlo::broadcast_in_dim(hlo::convert(target, ElementType::S32), cube, {0, 2});
  Value hit = hlo::eq(hlo::iota(c.builder(), target.type, 1), target);
  Value gradient = hlo::select(hit, at_target, zeros_like(at_target));
  return {hlo::convert(hlo::reshape(gradient, c.type("self").dims), type)};
}

// The structured rows have this from their meta function.
void expect_images(const Context& c) {
  const Dims &self = c.type("self").dims, &target = c.type("target").dims;
  c.expect(target.size() == 3, ErrorCode::InvalidArgument,
           "only batches of spatial targets supported (3D tensors) but got targets of dimension: ", target.size());
  c.expect(self.size() == 4, ErrorCode::InvalidArgument,
           "only batches of spatial inputs supported (4D tensors), but got input of dimension: ", self.size());
  c.expect(c.type("target").element == ElementType::S64, ErrorCode::InvalidArgument,
           "expected target dtype to be Long, but got ", scalar_type_name(c.type("target").element));
  c.expect(!c.has("weight") || c.type("weight").count() == self[1], ErrorCode::InvalidArgument,
           "weight tensor should be defined either for all or no classes");
  c.expect(self[0] == target[0] && self[2] == target[1] && self[3] == target[2], ErrorCode::InvalidArgument,
           "size mismatch (got input: ", to_string(self), " , target: ", to_string(target));
}

Values nll_loss2d(Context& c) {
  expect_images(c);
  return nll_loss(c);
}

Values nll_loss2d_backward(Context& c) {
  expect_images(c);
  return nll_loss_backward(c);
}

// --------------------------------------------------------------------------------------------- margin losses

// self as [n, classes]: a vector is one sample, a number one sample of one class.
struct Rows {
  Value x;
  int64_t n = 1, classes = 1;
};

Rows rows_of(Context& c) {
  ElementType type = c.type("self").element;
  c.expect(type == ElementType::F32 || type == ElementType::F64, ErrorCode::NotImplemented, "\"", c.call().row->name,
           "\" not implemented for '", scalar_type_name(type), "'");
  const Dims sizes = c.type("self").dims;
  c.expect(sizes.size() <= 2, ErrorCode::InvalidArgument,
           "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", to_string(sizes));
  Rows r;
  if (sizes.size() == 2) r.n = sizes[0];
  if (!sizes.empty()) r.classes = sizes.back();
  r.x = hlo::reshape(c.tensor("self"), {r.n, r.classes});
  return r;
}

// The losses of the samples [n], put together; nothing has a mean of 0 here. `vector`: the user's target has samples.
Value reduced_rows(Context& c, const Value& loss, bool vector) {
  if (c.integer("reduction") == kNone) return vector ? loss : hlo::reshape(loss, {});
  double count = c.integer("reduction") == kMean ? static_cast<double>(std::max<int64_t>(loss.type.count(), 1)) : 1.0;
  Value sum = sum_all(c, loss);
  return hlo::divide(sum, hlo::like(sum, count));
}

// The gradient that reaches each sample: [n].
Value row_gradient(Context& c, const Rows& r) {
  Value grad = c.tensor("grad_output");
  Value each =
      c.integer("reduction") == kNone ? hlo::reshape(grad, {r.n}) : hlo::broadcast(hlo::reshape(grad, {}), {r.n});
  return scaled(each, share(c, r.n) / static_cast<double>(r.classes));
}

struct Margins {
  Value violation;  // [n, classes]: max(0, margin - x[target] + x), 0 at the target
  Value hit;        // whether a class is the target
  Value weight;     // of the target's class [n], or empty
  double p;
};

Margins margins(Context& c, const Rows& r) {
  Margins m;
  m.p = c.number("p");
  c.expect(m.p == 1 || m.p == 2, ErrorCode::InvalidArgument, "only p == 1 and p == 2 supported");
  c.expect(c.type("target").count() == r.n, ErrorCode::InvalidArgument, "inconsistent target size, expected ", r.n,
           " but got ", to_string(c.type("target").dims));
  Value target = hlo::reshape(c.tensor("target", ElementType::S64), {r.n, 1});
  Value low = hlo::lt(target, zeros_like(target)), high = hlo::ge(target, hlo::like(target, r.classes));
  c.require_not(hlo::or_(low, high), target, ErrorCode::InvalidArgument, "target out of range");
  Value at_target = hlo::broadcast_in_dim(take_along(r.x, target, 1), r.x.dims(), {0, 1});
  Value margin = spread_scalar(c.scalar("margin", r.x.element()), r.x);
  m.hit = hlo::eq(hlo::iota(c.builder(), {ElementType::S64, r.x.dims()}, 1),
                  hlo::broadcast_in_dim(target, r.x.dims(), {0, 1}));
  Value gap = hlo::add(hlo::subtract(margin, at_target), r.x);
  m.violation = hlo::select(m.hit, zeros_like(gap), at_least_zero(gap));
  if (c.has("weight")) m.weight = take_along(c.tensor("weight", r.x.element()), hlo::reshape(target, {r.n}), 0);
  return m;
}

Values multi_margin_loss(Context& c) {
  Rows r = rows_of(c);
  Margins m = margins(c, r);
  Value cost = m.p == 1 ? m.violation : hlo::multiply(m.violation, m.violation);
  Value loss = scaled(fold_one(c, cost, 1).reduce(cost, Reducer::Add), 1.0 / static_cast<double>(r.classes));
  if (m.weight) loss = hlo::multiply(loss, m.weight);
  return {reduced_rows(c, loss, c.type("target").rank() > 0)};
}

Values multi_margin_loss_backward(Context& c) {
  Rows r = rows_of(c);
  Margins m = margins(c, r);
  Value grad = row_gradient(c, r);
  if (m.weight) grad = hlo::multiply(grad, m.weight);
  Value slope = m.p == 1 ? hlo::sign(m.violation) : scaled(m.violation, 2);
  Fold classes = fold_one(c, slope, 1);
  Value others = hlo::multiply(slope, classes.spread(grad));
  Value at_target = classes.spread(hlo::negate(classes.reduce(others, Reducer::Add)));
  return {hlo::reshape(hlo::select(m.hit, at_target, others), c.type("self").dims)};
}

// Each sample has a list of target classes that ends before its first -1. All pairs of a target d and another class j:
// [n, d, j], never stored, since only sums over them leave.
struct Pairs {
  Dims cube;
  Value is_pair;    // the list goes on at d, and its target is class j
  Value violation;  // max(0, 1 - x[target d] + x[j]) for targets d and classes j that are no target
  Value is_target;  // [n, j] as Pred
};

Pairs pairs_of(Context& c, const Rows& r, const Value& is_target) {
  Pairs p;
  p.cube = {r.n, r.classes, r.classes};
  Value target = hlo::reshape(c.tensor("target", ElementType::S64), {r.n, r.classes});
  Value end = first_where(c, hlo::lt(target, zeros_like(target)), 1);
  Value listed = hlo::lt(positions(target, 1), fold_one(c, target, 1).spread(end));
  Value classes = hlo::iota(c.builder(), {ElementType::S64, p.cube}, 2);
  p.is_pair = hlo::and_(hlo::eq(hlo::broadcast_in_dim(target, p.cube, {0, 1}), classes),
                        hlo::broadcast_in_dim(listed, p.cube, {0, 1}));
  p.is_target = is_target ? is_target : fold_one(c, p.is_pair, 1).reduce(p.is_pair, Reducer::Or);

  Value scores = hlo::broadcast_in_dim(r.x, p.cube, {0, 2});
  Value at_pair = hlo::select(p.is_pair, scores, zeros_like(scores));
  Value at_target = fold_one(c, at_pair, 2).reduce(at_pair, Reducer::Add);
  Value gap = hlo::add(hlo::subtract(hlo::like(scores, 1.0), hlo::broadcast_in_dim(at_target, p.cube, {0, 1})), scores);
  Value counts = hlo::and_(hlo::broadcast_in_dim(listed, p.cube, {0, 1}),
                           hlo::not_(hlo::broadcast_in_dim(p.is_target, p.cube, {0, 2})));
  p.violation = hlo::select(counts, at_least_zero(gap), zeros_like(gap));
  return p;
}

Values multilabel_margin_loss(Context& c) {
  Rows r = rows_of(c);
  c.expect(c.type("target").dims == c.type("self").dims || c.type("target").count() == c.type("self").count(),
           ErrorCode::InvalidArgument, "inconsistent target size: ", to_string(c.type("target").dims),
           " for input of size: ", to_string(c.type("self").dims));
  Value target = c.tensor("target", ElementType::S64);
  Value low = hlo::lt(target, hlo::like(target, -1)), high = hlo::ge(target, hlo::like(target, r.classes));
  c.require_not(hlo::or_(low, high), target, ErrorCode::InvalidArgument, "argument #2 'target' is out of range");
  Pairs p = pairs_of(c, r, {});
  Fold all = {p.cube, {1, 2}};
  Value loss =
      scaled(all.reduce(p.violation, Reducer::Add), 1.0 / static_cast<double>(std::max<int64_t>(r.classes, 1)));
  Value is_target = hlo::reshape(hlo::convert(p.is_target, r.x.element()), target.dims());
  return {reduced_rows(c, loss, target.rank() > 1), is_target};
}

Values multilabel_margin_loss_backward(Context& c) {
  Rows r = rows_of(c);
  Pairs p = pairs_of(c, r, truth(hlo::reshape(c.tensor("is_target"), {r.n, r.classes})));
  Value slope = hlo::sign(p.violation);
  Fold over_classes = fold_one(c, slope, 2), over_targets = fold_one(c, slope, 1);
  Value violations = over_classes.spread(over_classes.reduce(slope, Reducer::Add));
  Value gradient = hlo::subtract(slope, hlo::select(p.is_pair, violations, zeros_like(violations)));
  gradient = over_targets.reduce(gradient, Reducer::Add);
  gradient = hlo::multiply(gradient, hlo::broadcast_in_dim(row_gradient(c, r), r.x.dims(), {0}));
  return {hlo::reshape(gradient, c.type("self").dims)};
}

}  // namespace

Table loss_table() {
  return {
      row("mse_loss.out", elementwise_loss<squared>),
      row("mse_loss_backward", elementwise_loss_backward<squared_derivative>),
      row("mse_loss_backward.grad_input", elementwise_loss_backward<squared_derivative>),
      row("smooth_l1_loss.out", elementwise_loss<smooth_l1>).special("beta", {0, 1}),
      row("smooth_l1_loss_backward.grad_input", elementwise_loss_backward<smooth_l1_derivative>)
          .special("beta", {0, 1}),
      row("huber_loss", elementwise_loss<huber>).special("delta", {1}).pointwise(),
      row("huber_loss.out", elementwise_loss<huber>).special("delta", {1}).pointwise(),
      row("huber_loss_backward.out", elementwise_loss_backward<huber_derivative>).special("delta", {1}).pointwise(),

      row("binary_cross_entropy", binary_cross_entropy).pointwise(),
      row("binary_cross_entropy.out", binary_cross_entropy),
      row("binary_cross_entropy_backward", binary_cross_entropy_backward).pointwise(),
      row("binary_cross_entropy_backward.grad_input", binary_cross_entropy_backward),

      row("nll_loss_forward.output", nll_loss),
      row("nll_loss_backward.grad_input", nll_loss_backward),
      row("nll_loss2d_forward", nll_loss2d),
      row("nll_loss2d_forward.output", nll_loss2d),
      row("nll_loss2d_backward", nll_loss2d_backward),
      row("nll_loss2d_backward.grad_input", nll_loss2d_backward),

      row("multi_margin_loss", multi_margin_loss).constant({"p"}),
      row("multi_margin_loss.out", multi_margin_loss).constant({"p"}),
      row("multi_margin_loss_backward", multi_margin_loss_backward).constant({"p"}),
      row("multi_margin_loss_backward.grad_input", multi_margin_loss_backward).constant({"p"}),
      row("multilabel_margin_loss_forward", multilabel_margin_loss),
      row("multilabel_margin_loss_forward.output", multilabel_margin_loss),
      row("multilabel_margin_loss_backward", multilabel_margin_loss_backward),
      row("multilabel_margin_loss_backward.grad_input", multilabel_margin_loss_backward),
  };
}

}  // namespace tpu::ops
