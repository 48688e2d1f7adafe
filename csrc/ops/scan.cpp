// Family scan: running sums, products, extremes and log-sum-exps. A tensor and a dimension go in; at every place the
// combination of all elements up to it comes out.
#include "ops/scan.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ops/axis.h"
#include "ops/elementwise.h"
#include "ops/host_call.h"

namespace tpu::ops {

namespace {

using hlo::Reducer;
using hlo::Value;
using hlo::Values;

// What is combined: one or more values that travel together, such as an extreme and its position. `combine` is
// associative and commutative (a position decides ties), works on any shape, and makes its constants from its
// arguments.
struct Combination {
  std::vector<ElementType> accumulate;  // the types in which it is worked out
  Values identity;                      // 0-d, of these types
  std::function<Values(const Values&, const Values&)> combine;
};

// Note [Scans]
// StableHLO has no scan, and its usual substitutes are slow on XLA:CPU: for a cumsum of 1024 x 1024 along the rows
// reduce_window takes 21 ms (7 ms along the columns) and the log-step form 25 ms (19 ms), torch 8 ms (1 ms). Three
// forms are used:
//  - small: a reduction over a triangle, out[i] = combine(j <= i ? x[j] : identity). One fusion, compiled in 35 ms
//  instead of
//    70 to 120 ms; its work grows with the square of the dimension.
//  - loop: the dimension is brought to the front and a while loop walks it, updating the array in place: 0.6 ms (3.6 ms
//  with
//    the transposes). Rows are combined as vectors, and since only one row is held in the accumulator it may be
//    float64, as PyTorch's CPU kernels have it.
//  - blocked loop: where there are few rows to be combined at once, the dimension is cut into blocks that are walked
//  side by side; their
//    totals are scanned and combined with the blocks after them (2 ms for 2^20 elements in one dimension).

Values converted(const Values& values, const std::vector<ElementType>& types) {
  Values result;
  for (size_t k = 0; k < values.size(); ++k) result.push_back(hlo::convert(values[k], types[k]));
  return result;
}

std::vector<ElementType> element_types(const Values& values) {
  std::vector<ElementType> types;
  for (const Value& value : values) types.push_back(value.element());
  return types;
}

// x[n, m] -> [n, m] over the triangle j <= i of [i, j, m].
Values small_scan(const Combination& of, const Values& x) {
  hlo::Builder& builder = *x[0].builder;
  int64_t n = x[0].dims()[0], m = x[0].dims()[1];
  Dims cube = {n, n, m};
  Type counts = {ElementType::S32, cube};
  Value inside = hlo::le(hlo::iota(builder, counts, 1), hlo::iota(builder, counts, 0));
  Values inputs, inits;
  for (size_t k = 0; k < x.size(); ++k) {
    inits.push_back(of.identity[k]);
    Value rows = hlo::broadcast_in_dim(hlo::convert(x[k], of.accumulate[k]), cube, {1, 2});
    inputs.push_back(hlo::select(inside, rows, hlo::broadcast(inits[k], cube)));
  }
  size_t width = x.size();
  Values result = hlo::reduce(inputs, inits, {1}, [&](const Values& args) {
    auto middle = args.begin() + static_cast<std::ptrdiff_t>(width);
    return of.combine(Values(args.begin(), middle), Values(middle, args.end()));
  });
  return converted(result, element_types(x));
}

// x[n, m] -> [n, m], row after row. One value alone is updated where it lies. Of several, the new row of each depends
// on the old rows of all, so that updating in place would make XLA copy whole arrays in every step: they are read from
// one array and written to another.
Values loop_scan(const Combination& of, const Values& x) {
  hlo::Builder& builder = *x[0].builder;
  int64_t n = x[0].dims()[0], m = x[0].dims()[1];
  size_t width = x.size();
  Values inits = {hlo::constant(builder, ElementType::S32, 0)};
  for (size_t k = 0; k < width; ++k) inits.push_back(hlo::broadcast(of.identity[k], {1, m}));
  inits.insert(inits.end(), x.begin(), x.end());
  size_t in = 1 + width, out = in;  // the first array that is read, the first that is written
  if (width > 1) {
    out += width;
    for (const Value& value : x) inits.push_back(hlo::constant(builder, value.type, 0));
  }
  auto more = [n](const Values& args) { return Values{hlo::lt(args[0], hlo::like(args[0], n))}; };
  auto step = [&](const Values& args) {
    Values starts = {args[0], hlo::like(args[0], 0)};
    Values before, row;
    for (size_t k = 0; k < width; ++k) {
      before.push_back(args[1 + k]);
      row.push_back(hlo::convert(hlo::dynamic_slice(args[in + k], starts, {1, m}), of.accumulate[k]));
    }
    Values after = of.combine(before, row);
    Values next = {hlo::add(args[0], hlo::like(args[0], 1))};
    next.insert(next.end(), after.begin(), after.end());
    for (size_t k = in; k < out; ++k) next.push_back(args[k]);
    for (size_t k = 0; k < width; ++k) {
      const Value& array = args[out + k];
      next.push_back(hlo::dynamic_update_slice(array, hlo::convert(after[k], array.element()), starts));
    }
    return next;
  };
  Values last = hlo::while_(inits, more, step);
  return Values(last.begin() + static_cast<std::ptrdiff_t>(out), last.end());
}

// How a dimension of n elements with m others beside it is walked: `blocks` blocks of `length`.
struct Plan {
  int64_t blocks = 1;
  int64_t length = 0;
};

Plan plan_of(int64_t n, int64_t m) {
  constexpr int64_t kRowIsWide = 256, kWorthBlocks = 16384, kLanes = 4096, kShortest = 16;
  if (m >= kRowIsWide || n < kWorthBlocks) return {1, n};
  int64_t blocks = std::min(n / kShortest, kLanes / m);
  int64_t length = (n + blocks - 1) / blocks;
  return {(n + length - 1) / length, length};
}

// x[length, blocks * m] scanned in place; then the exclusive scan of the blocks' totals [blocks, m] is combined in.
Values join_blocks(const Combination& of, const Values& x, const Plan& plan, int64_t m) {
  Values totals, before, local;
  for (size_t k = 0; k < x.size(); ++k) {
    Value last = hlo::slice(x[k], {plan.length - 1, 0}, {plan.length, plan.blocks * m}, {1, 1});
    totals.push_back(hlo::reshape(last, {plan.blocks, m}));
  }
  Values scanned = loop_scan(of, totals);
  for (size_t k = 0; k < x.size(); ++k) {
    Value start = hlo::convert(of.identity[k], x[k].element());
    Value exclusive = hlo::pad(scanned[k], start, {1, 0}, {-1, 0}, {0, 0});
    Value row = hlo::reshape(exclusive, {plan.blocks * m});
    before.push_back(hlo::convert(hlo::broadcast_in_dim(row, x[k].dims(), {1}), of.accumulate[k]));
    local.push_back(hlo::convert(x[k], of.accumulate[k]));
  }
  return converted(of.combine(before, local), element_types(x));
}

// A transpose that does not see dimensions of size 1: XLA:CPU is fastest with two.
Value transposed(const Value& x, const Dims& order) {
  Dims sizes, kept, result, number(x.dims().size(), -1);
  for (int64_t i = 0; i < x.rank(); ++i) {
    int64_t size = x.dims()[static_cast<size_t>(i)];
    if (size != 1) number[static_cast<size_t>(i)] = static_cast<int64_t>(sizes.size()), sizes.push_back(size);
  }
  for (int64_t i : order) {
    result.push_back(x.dims()[static_cast<size_t>(i)]);
    if (number[static_cast<size_t>(i)] >= 0) kept.push_back(number[static_cast<size_t>(i)]);
  }
  return hlo::reshape(hlo::transpose(hlo::reshape(x, sizes), kept), result);
}

// Values of equal dims, scanned along `dim`; the results have the element types of x.
Values scan(const Combination& of, const Values& x, int64_t dim) {
  constexpr int64_t kSmallWork = 65536;
  const Dims sizes = x[0].dims();
  if (sizes.empty() || product(sizes) == 0) return x;
  auto at = sizes.begin() + dim;
  int64_t n = *at, outer = product(Dims(sizes.begin(), at)), inner = product(Dims(at + 1, sizes.end()));
  int64_t m = outer * inner;
  bool small = n * n * m <= kSmallWork;
  Plan plan = small ? Plan{1, n} : plan_of(n, m);
  int64_t padding = plan.blocks * plan.length - n;

  Values rows;
  for (size_t k = 0; k < x.size(); ++k) {
    // Sums of blocks are stored before they are joined: a half type would round twice.
    Value value = plan.blocks > 1 ? hlo::convert(x[k], compute_type(x[k].element())) : x[k];
    value = hlo::reshape(value, {outer, n, inner});
    if (padding > 0) {
      value = hlo::pad(value, hlo::convert(of.identity[k], value.element()), {0, 0, 0}, {0, padding, 0}, {0, 0, 0});
    }
    value = hlo::reshape(value, {outer, plan.blocks, plan.length, inner});
    rows.push_back(hlo::reshape(transposed(value, {2, 1, 0, 3}), {plan.length, plan.blocks * m}));
  }
  rows = small ? small_scan(of, rows) : loop_scan(of, rows);
  if (plan.blocks > 1) rows = join_blocks(of, rows, plan, m);

  Values results;
  for (size_t k = 0; k < x.size(); ++k) {
    Value value = hlo::convert(rows[k], x[k].element());
    value = transposed(hlo::reshape(value, {plan.length, plan.blocks, outer, inner}), {2, 1, 0, 3});
    value = hlo::reshape(value, {outer, plan.blocks * plan.length, inner});
    results.push_back(hlo::reshape(hlo::slice(value, {0, 0, 0}, {outer, n, inner}, {1, 1, 1}), sizes));
  }
  return results;
}

// PyTorch's CPU kernels accumulate floats in double; a TPU has no fast double.
ElementType accumulator(const Context& c, ElementType type) {
  if (!c.settings().is_cpu) return compute_type(type);
  if (type == ElementType::C64) return ElementType::C128;
  return is_floating(type) ? ElementType::F64 : type;
}

// A combination of single values of `type`.
Combination combination(Context& c, ElementType type, double identity,
                        std::function<Values(const Values&, const Values&)> combine) {
  ElementType accumulate = accumulator(c, type);
  Value start = hlo::constant(c.builder(), is_complex(accumulate) ? real_of(accumulate) : accumulate, identity);
  return {{accumulate}, {hlo::convert(start, accumulate)}, std::move(combine)};
}

// ------------------------------------------------------------------------------------------------- lowerings

template <Value (*combine)(const Value&, const Value&)>
Values cumulative(Context& c, double identity) {
  ElementType self = c.type("self").element;
  ElementType type = c.target_element(
      0, c.element("dtype").value_or(is_integral(self) || self == ElementType::Pred ? ElementType::S64 : self));
  Combination of =
      combination(c, type, identity, [](const Values& a, const Values& b) { return Values{combine(a[0], b[0])}; });
  Value x = c.tensor("self");
  x = type == ElementType::Pred ? truth(x) : hlo::convert(x, type);
  return scan(of, {x}, wrap_dim(c.integer("dim"), x.rank()));
}

Values cumsum(Context& c) { return cumulative<hlo::add>(c, 0); }
Values cumprod(Context& c) { return cumulative<hlo::multiply>(c, 1); }

// The extreme so far and the last position that has it; a NaN is never left again, except for a later NaN.
template <bool maximum>
Values running_extreme(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kIntegral | kReal);
  Value x = widen(c.tensor("self"));
  int64_t dim = wrap_dim(c.integer("dim"), x.rank());
  if (x.rank() == 0) return {c.tensor("self"), hlo::constant(c.builder(), ElementType::S64, 0)};
  auto combine = [](const Values& a, const Values& b) {
    Value better = maximum ? hlo::gt(b[0], a[0]) : hlo::lt(b[0], a[0]);
    Value equal = hlo::eq(b[0], a[0]);
    if (is_floating(a[0].element())) {
      Value nan_a = is_nan(a[0]), nan_b = is_nan(b[0]);
      better = hlo::or_(better, hlo::and_(nan_b, hlo::not_(nan_a)));
      equal = hlo::or_(equal, hlo::and_(nan_a, nan_b));
    }
    Value take = hlo::or_(better, hlo::and_(equal, hlo::gt(b[1], a[1])));
    return Values{hlo::select(take, b[0], a[0]), hlo::select(take, b[1], a[1])};
  };
  // No identity is needed that equals no element: where one does, the position -1 loses the tie.
  hlo::Builder& builder = c.builder();
  Value position = hlo::iota(builder, {ElementType::S64, x.dims()}, dim);
  Value worst = maximum ? lowest(builder, x.element()) : highest(builder, x.element());
  Combination of = {{x.element(), ElementType::S64}, {worst, hlo::constant(builder, ElementType::S64, -1)}, combine};
  Values found = scan(of, {x, position}, dim);
  return {hlo::convert(found[0], type), found[1]};
}

// log(exp(a) + exp(b)) = max + log(1 + exp(min - max)), and a where both are the same infinity.
Values log_add_exp(const Values& arguments, const Values& others) {
  const Value &a = arguments[0], &b = others[0];
  Value larger, smaller, same;
  if (is_complex(a.element())) {
    // The order of the real parts; what has real part -inf adds nothing.
    Value first = hlo::ge(hlo::real(a), hlo::real(b));
    larger = hlo::select(first, a, b), smaller = hlo::select(first, b, a);
    Value low = hlo::real(smaller);
    same = hlo::eq(low, hlo::like(low, -INFINITY));
  } else {
    larger = hlo::maximum(a, b), smaller = hlo::minimum(a, b);
    same = hlo::and_(hlo::eq(a, b), hlo::not_(hlo::is_finite(a)));
  }
  Value sum = hlo::add(larger, log1p(hlo::exponential(hlo::subtract(smaller, larger))));
  return {hlo::select(same, larger, sum)};
}

Values logcumsumexp(Context& c) {
  ElementType type = c.type("self").element;
  expect_kind(c, type, kInexact);
  Value x = c.tensor("self");
  Combination of = combination(c, type, -INFINITY, log_add_exp);
  return scan(of, {x}, wrap_dim(c.integer("dim"), x.rank()));
}

}  // namespace

hlo::Value running_sum(const hlo::Value& x, int64_t dim) {
  auto combine = [](const Values& a, const Values& b) { return Values{hlo::add(a[0], b[0])}; };
  return scan({{x.element()}, {hlo::constant(*x.builder, x.element(), 0)}, combine}, {x}, dim)[0];
}

hlo::Value running_maximum(const hlo::Value& x, int64_t dim) {
  auto combine = [](const Values& a, const Values& b) { return Values{hlo::maximum(a[0], b[0])}; };
  return scan({{x.element()}, {lowest(*x.builder, x.element())}, combine}, {x}, dim)[0];
}

Table scan_table() {
  return {
      // The steps of `scan` shift and add whole arrays, a loop of the CPU goes through once.
      row("cumsum.out", cumsum).host_kernel(is_along_memory),
      row("cumprod.out", cumprod),
      row("_cummax_helper", running_extreme<true>),
      row("_cummin_helper", running_extreme<false>),
      row("_logcumsumexp", logcumsumexp),
      row("_logcumsumexp.out", logcumsumexp),
  };
}

}  // namespace tpu::ops
