#include "ops/axis.h"

#include <algorithm>
#include <limits>

#include "ops/elementwise.h"

namespace tpu::ops {

namespace {

bool contains(const Dims& dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

// The dimensions that stay, by number.
Dims kept_dims(const Fold& fold) {
  Dims kept;
  for (int64_t i = 0; i < static_cast<int64_t>(fold.sizes.size()); ++i)
    if (!contains(fold.dims, i)) kept.push_back(i);
  return kept;
}

// The order of dimensions that puts `dim` last.
Dims last_order(int64_t rank, int64_t dim) {
  Dims order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim) order.push_back(i);
  order.push_back(dim);
  return order;
}

// What has been reduced before, with a body or an initial value of its own, or XLA would join both reductions.
hlo::Value reduce_again(const hlo::Value& x, const Dims& dims, hlo::Reducer reducer) {
  hlo::Region body = hlo::body_of(reducer);
  bool is_float_sum = reducer == hlo::Reducer::Add && is_floating(x.element());
  hlo::Value init =
      is_float_sum ? hlo::constant(*x.builder, x.element(), -0.0) : hlo::identity_of(*x.builder, x.element(), reducer);
  auto swapped = [&](const hlo::Values& args) { return body({args[1], args[0]}); };
  return hlo::reduce({x}, {init}, dims, swapped)[0];
}

// Note [Extremes in lanes]
// XLA:CPU has no vector code for the maximum of a row when NaN must survive: 5.4 ms for 1024 rows of 1024 float32,
// where a sum takes 0.25 ms. The maximum of columns does become vector code. So a row is folded as the columns of [n /
// lanes, lanes] first, which leaves `lanes` numbers: 0.3 ms. What is left of a row that does not divide is made a full
// row of lanes by elements that have been seen already; an extreme does not mind.
hlo::Value extreme_in_lanes(const hlo::Value& x, const Dims& dims, hlo::Reducer reducer) {
  int64_t last = x.rank() - 1, n = x.dims().back(), lanes = 64;
  while (lanes > 8 && (n % lanes != 0 || n < 4 * lanes)) lanes /= 2;
  bool divides = n % lanes == 0 && n >= 4 * lanes;
  if (!divides && n < 256) return hlo::reduce(x, dims, reducer);
  if (!divides) lanes = 64;

  auto cut = [&](int64_t start, int64_t end) {
    Dims low(x.dims().size()), high = x.dims();
    low.back() = start;
    high.back() = end;
    return hlo::slice(x, low, high, Dims(x.dims().size(), 1));
  };
  Dims split = x.dims(), tail_dims = dims;
  split.back() = n / lanes;
  split.push_back(lanes);
  tail_dims.pop_back();
  hlo::Value found = hlo::reduce(hlo::reshape(cut(0, n / lanes * lanes), split), dims, reducer);
  if (!divides) {
    hlo::Value tail = cut(n - lanes, n);
    if (!tail_dims.empty()) tail = hlo::reduce(tail, tail_dims, reducer);
    found = reducer == hlo::Reducer::Max ? hlo::maximum(found, tail) : hlo::minimum(found, tail);
  }
  return reduce_again(found, {last + 1 - static_cast<int64_t>(dims.size())}, reducer);
}

// Note [Long rows]
// One thread sums a long row, and slowly: 500 us for 2^20 float32, where the columns of as many take 150. So it is cut
// into rows of a matrix, whose columns are summed first. Extremes gain nothing.
constexpr int64_t kColumns = 1024;
bool is_long_row(int64_t n) { return n % kColumns == 0 && n >= 64 * kColumns; }

}  // namespace

// Note [Columns in turn]
// XLA:CPU has vector code for the columns of a matrix, but not for those of an array whose rows have two dimensions:
// 530 us for 16 x 64 rows of 512 float32, where 1,024 rows take 85 (two threads). Written as a matrix it becomes such
// an array again, and so does a matrix that is a view of one. So the rows are reduced in two turns, in groups that are
// no dimensions: 60 and 70 us. Groups of 32 and more become a loop of their own and take a millisecond.
hlo::Value reduce_columns(const hlo::Value& x, const Dims& dims, hlo::Reducer reducer) {
  constexpr int64_t kFewRows = 64, kLargestGroup = 16;
  bool are_leading = dims.back() + 1 == static_cast<int64_t>(dims.size());
  int64_t rows = 1, group = kLargestGroup;
  for (int64_t dim : dims) rows *= x.dims()[static_cast<size_t>(dim)];
  while (rows % group != 0) --group;
  if (!are_leading || rows < kFewRows || group == 1) return hlo::reduce(x, dims, reducer);
  Dims grouped = {group, rows / group};
  for (size_t i = dims.size(); i < x.dims().size(); ++i) grouped.push_back(x.dims()[i]);
  return reduce_again(hlo::reduce(hlo::reshape(x, grouped), {0}, reducer), {0}, reducer);
}

int64_t Fold::count() const {
  int64_t count = 1;
  for (int64_t dim : dims) count *= sizes[static_cast<size_t>(dim)];
  return count;
}

hlo::Value Fold::reduce(const hlo::Value& x, hlo::Reducer reducer) const {
  bool extreme = reducer == hlo::Reducer::Max || reducer == hlo::Reducer::Min;
  if (dims.empty()) return x;
  if (x.rank() > 1 && static_cast<int64_t>(dims.size()) == x.rank()) {
    // XLA:CPU sums one long row five times faster than all rows of a matrix.
    return Fold{{count()}, {0}, false, is_cpu}.reduce(hlo::reshape(x, {count()}), reducer);
  }
  if (is_cpu && x.rank() == 1 && reducer == hlo::Reducer::Add && is_floating(x.element()) && is_long_row(count()))
    return hlo::reduce(reduce_columns(hlo::reshape(x, {count() / kColumns, kColumns}), {0}, reducer), {0}, reducer);
  bool in_rows = dims.back() == x.rank() - 1;
  if (is_cpu && !in_rows) return reduce_columns(x, dims, reducer);
  return is_cpu && extreme ? extreme_in_lanes(x, dims, reducer) : hlo::reduce(x, dims, reducer);
}

hlo::Value Fold::finish(const hlo::Value& reduced) const {
  if (!keepdim) return reduced;
  Dims ones = sizes;
  for (int64_t dim : dims) ones[static_cast<size_t>(dim)] = 1;
  return hlo::reshape(reduced, ones);
}

hlo::Value Fold::spread(const hlo::Value& reduced) const {
  return hlo::broadcast_in_dim(reduced, sizes, kept_dims(*this));
}

Fold fold_of(const Context& c) {
  Fold fold;
  fold.sizes = c.type("self").dims;
  Dims dims;
  const Argument* dim = c.call().find("dim");
  if (dim != nullptr && dim->kind == Argument::Kind::Param) {
    const Param& param = c.call().params[static_cast<size_t>(dim->index)];
    if (std::holds_alternative<int64_t>(param))
      dims = {c.integer("dim")};
    else
      dims = c.ints("dim");
  }
  fold.dims = wrap_dims(dims, static_cast<int64_t>(fold.sizes.size()));
  fold.is_cpu = c.settings().is_cpu;
  fold.keepdim = c.call().find("keepdim") != nullptr && c.flag("keepdim");
  return fold;
}

Fold fold_all(const Context& c, const hlo::Value& x) {
  return {x.dims(), wrap_dims({}, x.rank()), false, c.settings().is_cpu};
}

Fold fold_one(const Context& c, const hlo::Value& x, int64_t dim) {
  return {x.dims(), x.rank() == 0 ? Dims{} : Dims{dim}, false, c.settings().is_cpu};
}

hlo::Value positions(const hlo::Value& like, int64_t dim) {
  bool narrow = like.dims()[static_cast<size_t>(dim)] < std::numeric_limits<int32_t>::max();
  return hlo::iota(*like.builder, {narrow ? ElementType::S32 : ElementType::S64, like.dims()}, dim);
}

// With the limits: p = 0 counts what is not zero, p = inf and -inf are the largest and smallest |x|.
hlo::Value norm_of(Context& c, const hlo::Value& x, const Fold& fold, const char* order) {
  std::optional<double> p = c.has(order) ? c.known(order) : 2.0;
  if (p == 2.0) {
    hlo::Value real = hlo::real(x);
    hlo::Value squares = hlo::multiply(real, real);
    if (is_complex(x.element())) squares = hlo::add(squares, hlo::multiply(hlo::imag(x), hlo::imag(x)));
    return hlo::sqrt(fold.reduce(squares, hlo::Reducer::Add));
  }
  hlo::Value size = hlo::abs(x);
  if (p == 0.0) return fold.reduce(hlo::convert(truth(x), size.element()), hlo::Reducer::Add);
  if (p == 1.0) return fold.reduce(size, hlo::Reducer::Add);
  if (p == INFINITY)
    return fold.dims.empty() ? size : hlo::reduce(size, hlo::scalar_like(size, 0.0), fold.dims, hlo::Reducer::Max);
  if (p == -INFINITY) return fold.reduce(size, hlo::Reducer::Min);
  hlo::Value power = c.scalar(order, size.element());
  hlo::Value sum = fold.reduce(hlo::power(size, hlo::broadcast(power, size.dims())), hlo::Reducer::Add);
  hlo::Value inverse = hlo::divide(hlo::scalar_like(power, 1.0), power);
  return hlo::power(sum, hlo::broadcast(inverse, sum.dims()));
}

hlo::Value first_where(const Context& c, const hlo::Value& condition, int64_t dim) {
  hlo::Value position = positions(condition, dim);
  hlo::Value nowhere = hlo::like(position, condition.dims()[static_cast<size_t>(dim)]);
  return fold_one(c, condition, dim).reduce(hlo::select(condition, position, nowhere), hlo::Reducer::Min);
}

hlo::Value take_along(const hlo::Value& x, const hlo::Value& index, int64_t dim) {
  // A gather's slice must lie inside the operand, also where there is nothing to gather.
  if (index.type.count() == 0 || x.type.count() == 0)
    return hlo::constant(*x.builder, Type{x.element(), index.dims()}, 0);
  hlo::GatherDims dims;
  Dims slice_sizes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    slice_sizes.push_back(1);
    if (i == dim) continue;
    dims.operand_batching_dims.push_back(i);
    dims.start_indices_batching_dims.push_back(i);
  }
  dims.collapsed_slice_dims = {dim};
  dims.start_index_map = {dim};
  dims.index_vector_dim = index.rank();
  return hlo::gather(x, index, dims, slice_sizes);
}

hlo::Value move_to_last(const hlo::Value& x, int64_t dim) {
  return x.rank() < 2 || dim == x.rank() - 1 ? x : hlo::transpose(x, last_order(x.rank(), dim));
}

hlo::Value move_from_last(const hlo::Value& x, int64_t dim) {
  if (x.rank() < 2 || dim == x.rank() - 1) return x;
  Dims order = last_order(x.rank(), dim), back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return hlo::transpose(x, back);
}

hlo::Value widen(const hlo::Value& x) {
  return hlo::convert(x, x.element() == ElementType::Pred ? ElementType::U8 : compute_type(x.element()));
}

}  // namespace tpu::ops
