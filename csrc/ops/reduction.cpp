// Family reduction: sums, products, extremes, truth, moments and norms over some or all dimensions. A tensor and the
// dimensions go in; one value (or two) per place that is left comes out.
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

// The dtype of a sum or product: the one asked for, else int64 for integers and bool, else that of self.
ElementType sum_type(const Context& c) {
  if (auto asked = c.element("dtype")) return *asked;
  ElementType type = c.type("self").element;
  return type == ElementType::Pred || is_integral(type) ? ElementType::S64 : type;
}

// self cast to `type` as PyTorch does first, then widened so that halves are summed in float32.
Value input(Context& c, ElementType type) {
  Value x = c.tensor("self");
  return hlo::convert(type == ElementType::Pred ? truth(x) : hlo::convert(x, type), compute_type(type));
}

Value divided(const Value& x, double by) {
  Value divisor = hlo::convert(hlo::constant(*x.builder, real_of(x.element()), by), x.element());
  return hlo::divide(x, hlo::broadcast(divisor, x.dims()));
}

// The fold of a reduction that has no value for nothing.
Fold nonempty_fold(const Context& c, const char* name) {
  Fold fold = fold_of(c);
  c.expect(product(fold.sizes) != 0 || fold.dims.size() != fold.sizes.size(), ErrorCode::InvalidArgument, name,
           "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
           "'dim' argument.");
  for (int64_t dim : fold.dims) {
    c.expect(fold.sizes[static_cast<size_t>(dim)] != 0, ErrorCode::Index, name, "(): Expected reduction dim ", dim,
             " to have non-zero size.");
  }
  return fold;
}

// ------------------------------------------------------------------------------------------ sums and products

template <Reducer reducer>
Values total(Context& c) {
  ElementType type = c.target_element(0, sum_type(c));
  Fold fold = fold_of(c);
  return {hlo::convert(fold.finish(fold.reduce(input(c, type), reducer)), type)};
}

Values nansum(Context& c) {
  c.expect(!is_complex(c.type("self").element), ErrorCode::InvalidArgument,
           "nansum on CPU does not support complex inputs");
  ElementType type = sum_type(c);
  Fold fold = fold_of(c);
  Value x = input(c, type);
  if (is_floating(type)) x = hlo::select(is_nan(x), zeros_like(x), x);
  return {hlo::convert(fold.finish(fold.reduce(x, Reducer::Add)), type)};
}

Value mean_of(const Value& x, const Fold& fold) {
  return divided(fold.reduce(x, Reducer::Add), static_cast<double>(fold.count()));
}

Values mean(Context& c) {
  ElementType type = c.target_element(0, c.element("dtype").value_or(c.type("self").element));
  Fold fold = fold_of(c);
  return {fold.finish(mean_of(input(c, type), fold))};
}

Values count_nonzero(Context& c) {
  Fold fold = fold_of(c);
  ElementType counter = product(fold.sizes) < (int64_t{1} << 31) ? ElementType::S32 : ElementType::S64;
  Value ones = hlo::convert(truth(c.tensor("self")), counter);
  return {hlo::convert(fold.finish(fold.reduce(ones, Reducer::Add)), ElementType::S64)};
}

// The bits of all elements, as float64 or 64-bit integer, exclusive-or'd.
Values hash(Context& c) {
  c.expect(c.integer("mode") == 0, ErrorCode::InvalidArgument, "Unknown hash_tensor mode: ", c.integer("mode"));
  expect_kind(c, c.type("self").element, kIntegral | kReal);
  Fold fold = fold_of(c);
  Value x = c.tensor("self");
  Value bits = is_floating(x.element()) ? hlo::bitcast_convert(hlo::convert(x, ElementType::F64), ElementType::U64)
                                        : hlo::convert(hlo::convert(x, ElementType::S64), ElementType::U64);
  if (!fold.dims.empty()) {
    bits = hlo::reduce(Values{bits}, Values{hlo::constant(c.builder(), ElementType::U64, 0)}, fold.dims,
                       [](const Values& x) { return Values{hlo::xor_(x[0], x[1])}; })[0];
  }
  return {fold.finish(bits)};
}

// --------------------------------------------------------------------------------------------------- extremes
// NaN wins over every number: maximum, minimum and their reductions are compiled to keep it.

template <Reducer reducer>
Values extreme(Context& c) {
  expect_kind(c, c.type("self").element, kIntegral | kReal);
  Fold fold = nonempty_fold(c, reducer == Reducer::Max ? "max" : "min");
  ElementType type = c.type("self").element;
  return {hlo::convert(fold.finish(fold.reduce(widen(c.tensor("self")), reducer)), type)};
}

Values aminmax(Context& c) {
  Values low = extreme<Reducer::Min>(c), high = extreme<Reducer::Max>(c);
  return {low[0], high[0]};
}

// The first position of the extreme, in two plain reductions: they are vectorised, a reduction of pairs is not. A NaN
// is its own place, and where there is one no number equals the extreme.
template <Reducer reducer>
Values extreme_and_position(Context& c, const Value& x, int64_t dim) {
  if (x.rank() == 0) return {x, hlo::constant(*x.builder, ElementType::S64, 0)};
  Fold fold = fold_one(c, x, dim);
  Value best = fold.reduce(x, reducer);
  Value found = hlo::eq(x, fold.spread(best));
  if (is_floating(x.element())) found = hlo::or_(found, is_nan(x));
  return {best, hlo::convert(first_where(c, found, dim), ElementType::S64)};
}

template <Reducer reducer>
Values extreme_of_dim(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kIntegral | kReal);
  Fold fold = fold_of(c);
  Values found = extreme_and_position<reducer>(c, widen(c.tensor("self")), fold.dims.empty() ? 0 : fold.dims[0]);
  return {hlo::convert(fold.finish(found[0]), type), fold.finish(found[1])};
}

template <Reducer reducer>
Values position_of(Context& c) {
  expect_kind(c, c.type("self").element, kInteger | kReal);
  Fold fold = nonempty_fold(c, reducer == Reducer::Max ? "argmax" : "argmin");
  Value x = widen(c.tensor("self"));
  bool flat = !c.has("dim") && x.rank() > 0;
  if (flat) x = hlo::reshape(x, {x.type.count()});
  return {fold.finish(extreme_and_position<reducer>(c, x, flat || fold.dims.empty() ? 0 : fold.dims[0])[1])};
}

// ------------------------------------------------------------------------------------------------------ truth

template <Reducer reducer>
Values logical(Context& c) {
  Fold fold = fold_of(c);
  return {fold.finish(fold.reduce(truth(c.tensor("self")), reducer))};
}

// ---------------------------------------------------------------------------------------------------- moments

struct Moments {
  Value mean;
  Value variance;  // real
};

// Two passes: sum((x - mean)^2) / max(0, n - correction). A sum of squares less the square of the sum would cancel.
Moments moments(Context& c, const Fold& fold) {
  ElementType type = c.type("self").element;
  c.expect(is_floating(type) || is_complex(type), ErrorCode::InvalidArgument,
           "std and var only support floating point and complex dtypes");
  Value x = input(c, type);
  Value mean = mean_of(x, fold);
  Value centered = hlo::subtract(x, fold.spread(mean));
  Value real = hlo::real(centered);
  Value squares = hlo::multiply(real, real);
  if (is_complex(type)) squares = hlo::add(squares, hlo::multiply(hlo::imag(centered), hlo::imag(centered)));
  Value sum = fold.reduce(squares, Reducer::Add);

  auto count = static_cast<double>(fold.count());
  std::optional<double> correction = c.has("correction") ? c.known("correction") : 1.0;
  if (correction) return {mean, divided(sum, std::max(0.0, count - *correction))};
  Value freedom = hlo::subtract(hlo::scalar_like(sum, count), c.scalar("correction", sum.element()));
  freedom = hlo::maximum(freedom, hlo::scalar_like(sum, 0.0));
  return {mean, hlo::divide(sum, hlo::broadcast(freedom, sum.dims()))};
}

template <bool root, bool with_mean>
Values variance(Context& c) {
  ElementType type = c.type("self").element;
  Fold fold = fold_of(c);
  Moments found = moments(c, fold);
  Value spread = root ? hlo::sqrt(found.variance) : found.variance;
  Values results = {hlo::convert(fold.finish(spread), real_of(type))};
  if (with_mean) results.push_back(hlo::convert(fold.finish(found.mean), type));
  return results;
}

// ------------------------------------------------------------------------------------------------------ norms

Values norm(Context& c, const char* order) {
  ElementType self = c.type("self").element;
  ElementType type = c.call().find("dtype") != nullptr ? c.element("dtype").value_or(self) : self;
  Fold fold = fold_of(c);
  return {fold.finish(norm_of(c, input(c, type), fold, order))};
}

Values vector_norm(Context& c) { return norm(c, "ord"); }
Values norm_p(Context& c) { return norm(c, "p"); }

// Slices along `dim` that are longer than maxnorm, scaled down to it.
Values renorm(Context& c) {
  Value x = input(c, c.type("self").element);
  int64_t dim = wrap_dim(c.integer("dim"), x.rank());
  Fold fold = fold_all(c, x);
  fold.dims.clear();
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != dim) fold.dims.push_back(i);
  Value size = norm_of(c, x, fold, "p");
  Value limit = hlo::broadcast(c.scalar("maxnorm", size.element()), size.dims());
  Value scale = hlo::select(hlo::gt(size, limit), limit / (size + hlo::like(size, 1e-7)), hlo::like(size, 1.0));
  return {hlo::convert(x * fold.spread(hlo::convert(scale, x.element())), c.type("self").element)};
}

}  // namespace

Table reduction_table() {
  const std::vector<double> orders(std::begin(kNormOrders), std::end(kNormOrders));
  return {
      row("sum.IntList_out", total<Reducer::Add>).host_kernel_alone(is_large),
      row("prod", total<Reducer::Mul>),
      row("prod.int_out", total<Reducer::Mul>),
      row("nansum", nansum),
      row("nansum.out", nansum),
      row("mean.out", mean).host_kernel_alone(is_large),
      row("count_nonzero.dim_IntList", count_nonzero),
      row("hash_tensor.out", hash),

      row("amax.out", extreme<Reducer::Max>).host_kernel_alone(is_large),
      row("amin.out", extreme<Reducer::Min>).host_kernel_alone(is_large),
      row("max", extreme<Reducer::Max>).host_kernel_alone(is_large),
      row("min", extreme<Reducer::Min>).host_kernel_alone(is_large),
      row("max.unary_out", extreme<Reducer::Max>),
      row("min.unary_out", extreme<Reducer::Min>),
      row("aminmax.out", aminmax),
      row("_aminmax", aminmax),
      row("_aminmax.dim", aminmax),
      row("max.dim_max", extreme_of_dim<Reducer::Max>),
      row("min.dim_min", extreme_of_dim<Reducer::Min>),
      row("argmax.out", position_of<Reducer::Max>),
      row("argmin.out", position_of<Reducer::Min>),

      row("all.out", logical<Reducer::And>),
      row("all.dims_out", logical<Reducer::And>),
      row("all.all_out", logical<Reducer::And>),
      row("any.out", logical<Reducer::Or>),
      row("any.dims_out", logical<Reducer::Or>),
      row("any.all_out", logical<Reducer::Or>),

      row("var.correction", variance<false, false>).special("correction", {0, 1}),
      row("var.correction_out", variance<false, false>).special("correction", {0, 1}),
      row("std.correction", variance<true, false>).special("correction", {0, 1}),
      row("std.correction_out", variance<true, false>).special("correction", {0, 1}),
      row("var_mean.correction", variance<false, true>).special("correction", {0, 1}),
      row("std_mean.correction", variance<true, true>).special("correction", {0, 1}),

      row("linalg_vector_norm.out", vector_norm).special("ord", orders),
      row("norm.out", norm_p).special("p", orders),
      row("norm.dtype_out", norm_p).special("p", orders),
      row("renorm.out", renorm).special("p", orders),
  };
}

}  // namespace tpu::ops
