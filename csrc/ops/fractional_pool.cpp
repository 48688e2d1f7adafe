// Family fractional_pool: max pools whose windows stand at random steps. What goes in: the input and one random number
// per plane and dimension; what comes out: the largest element of each window and its flat position in the plane.
//
// Graham, Fractional max-pooling, 2014: pseudorandom sequences of increments. Window i of a dimension starts at
// floor(alpha (i + u)) - floor(alpha u), the last one where it just fits.
#include <cmath>

#include "ops/access.h"
#include "ops/elementwise.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

/// [planes, positions] of S32: where the windows of one dimension start. torch works it out in the dtype of the input.
Value starts(const Value& random, int64_t input, int64_t window, int64_t output) {
  hlo::Builder& builder = *random.builder;
  Dims dims{random.dims()[0], output};
  ElementType type = random.element();
  Value wide = hlo::convert(random, compute_type(type));
  auto rounded = [&](const Value& x) { return round_to(x, type); };
  Value number = hlo::iota(builder, {ElementType::S32, dims}, 1);
  Value last = hlo::like(number, input - window);
  if (output == 1) return last;
  Value alpha = hlo::broadcast(rounded(rounded(hlo::constant(builder, wide.element(), input - window)) /
                                       rounded(hlo::constant(builder, wide.element(), output - 1))),
                               dims);
  Value u = hlo::broadcast_in_dim(wide, dims, {0}), i = rounded(hlo::convert(number, wide.element()));
  Value at = hlo::convert(rounded(rounded(i + u) * alpha), ElementType::S32);
  Value first = hlo::convert(rounded(u * alpha), ElementType::S32);
  return hlo::select(hlo::eq(number, hlo::like(number, output - 1)), last, at - first);
}

Dims joined(Dims first, const Dims& second) {
  for (int64_t size : second) first.push_back(size);
  return first;
}

/// What one call is about, with batch and channels as planes.
template <size_t n>
struct Pool {
  Dims input, window, output;  // of the n dimensions
  Dims leading;                // batch and channels
  int64_t planes;

  Dims dims(const Dims& inner) const { return joined(leading, inner); }
};

template <size_t n>
Pool<n> pool_of(Context& c) {
  Pool<n> p;
  Dims dims = c.type("self").dims;
  c.expect(dims.size() == n + 1 || dims.size() == n + 2, ErrorCode::InvalidArgument, "fractional_max_pool", n,
           "d: Expected ", n + 1, "D or ", n + 2, "D tensor, but got ", to_string(dims));
  p.input = Dims(dims.end() - n, dims.end());
  p.leading = Dims(dims.begin(), dims.end() - n);
  p.planes = product(p.leading);
  p.window = c.ints("kernel_size");
  p.output = c.ints("output_size");
  c.expect(p.window.size() == n && p.output.size() == n, ErrorCode::InvalidArgument, "fractional_max_pool", n,
           "d: kernel_size and output_size must have ", n, " elements");
  for (size_t i = 0; i < n; ++i) {
    c.expect(p.output[i] > 0, ErrorCode::InvalidArgument, "fractional_max_pool", n,
             "d: output_size must be positive, got ", to_string(p.output));
    c.expect(p.output[i] + p.window[i] - 1 <= p.input[i], ErrorCode::InvalidArgument, "fractional_max_pool", n,
             "d: pool size ", p.window[i], " too large relative to input size ", p.input[i]);
  }
  return p;
}

/// [planes, output.., window..]: all elements of all windows.
template <size_t n>
Value windows(const Pool<n>& p, const Value& x, const Values& first) {
  Dims places = joined({p.planes}, p.output), slice = joined({1}, p.window);
  Dims column = places;
  column.push_back(1);
  hlo::GatherDims dims;
  dims.collapsed_slice_dims = {0};
  dims.index_vector_dim = static_cast<int64_t>(n) + 1;
  Values columns{hlo::reshape(hlo::iota(*x.builder, {ElementType::S32, places}, 0), column)};
  for (size_t i = 0; i < n; ++i) {
    columns.push_back(hlo::reshape(hlo::broadcast_in_dim(first[i], places, {0, static_cast<int64_t>(i) + 1}), column));
    dims.offset_dims.push_back(static_cast<int64_t>(n + 1 + i));
  }
  for (int64_t i = 0; i <= static_cast<int64_t>(n); ++i) dims.start_index_map.push_back(i);
  return hlo::gather(x, hlo::concatenate(columns, dims.index_vector_dim), dims, slice);
}

// The first of equals wins, and the last NaN. The random numbers are in the order of the dimensions in 3-d, in 2-d the
// other way round.
template <size_t n>
Values fractional_max_pool(Context& c) {
  Value x = c.tensor("self"), random = c.tensor("random_samples");
  ElementType type = x.element();
  expect_kind(c, type, kReal);
  Pool<n> p = pool_of<n>(c);
  c.expect(random.element() == type, ErrorCode::InvalidArgument,
           "Expect _random_samples to have the same dtype as input");
  int64_t count = static_cast<int64_t>(n);
  c.expect(random.rank() == 3 && random.dims()[2] == count && random.dims()[0] * random.dims()[1] >= p.planes,
           ErrorCode::InvalidArgument, "Expect _random_samples to have size [batch, channels, ", n, "], got ",
           to_string(random.dims()));
  if (p.planes == 0)
    return {hlo::constant(c.builder(), {type, p.dims(p.output)}, 0),
            hlo::constant(c.builder(), {ElementType::S64, p.dims(p.output)}, 0)};
  random = hlo::reshape(random, {random.dims()[0] * random.dims()[1], count});
  Values first;
  for (int64_t i = 0; i < count; ++i) {
    int64_t column = n == 2 ? 1 - i : i;
    Value u = hlo::reshape(hlo::slice(random, {0, column}, {p.planes, column + 1}, {1, 1}), {p.planes});
    first.push_back(
        starts(u, p.input[static_cast<size_t>(i)], p.window[static_cast<size_t>(i)], p.output[static_cast<size_t>(i)]));
  }
  Dims places = joined({p.planes}, p.output), taps = places;
  taps.push_back(product(p.window));
  Value seen = hlo::reshape(windows<n>(p, hlo::reshape(x, joined({p.planes}, p.input)), first), taps);
  Value tap = hlo::iota(c.builder(), {ElementType::S32, taps}, count + 1);
  Value zero = hlo::constant(c.builder(), ElementType::S32, 0);
  auto better = [](const Values& v) -> Values {
    const Value &a = v[0], &at_a = v[1], &b = v[2], &at_b = v[3];
    Value wins = hlo::or_(hlo::gt(b, a), hlo::and_(hlo::eq(b, a), hlo::lt(at_b, at_a)));
    wins = hlo::or_(wins, hlo::and_(is_nan(b), hlo::or_(hlo::not_(is_nan(a)), hlo::gt(at_b, at_a))));
    return {hlo::select(wins, b, a), hlo::select(wins, at_b, at_a)};
  };
  Values best = hlo::reduce({seen, tap}, {hlo::min_value(c.builder(), type), zero}, {count + 1}, better);

  // From the place in the window to the one in the plane.
  Value index = hlo::like(best[1], 0), rest = best[1];
  int64_t stride = 1;
  for (size_t i = n; i-- > 0;) {
    Value size = hlo::like(rest, p.window[i]);
    Value at = hlo::remainder(rest, size) + hlo::broadcast_in_dim(first[i], places, {0, static_cast<int64_t>(i) + 1});
    index = index + at * hlo::like(at, stride);
    rest = rest / size;
    stride *= p.input[i];
  }
  return {hlo::reshape(best[0], p.dims(p.output)),
          hlo::reshape(hlo::convert(index, ElementType::S64), p.dims(p.output))};
}

template <size_t n>
Values fractional_max_pool_backward(Context& c) {
  Pool<n> p = pool_of<n>(c);
  Value grad = c.tensor("grad_output"), index = c.tensor("indices");
  Dims expected = p.dims(p.output);
  c.expect(grad.dims() == expected, ErrorCode::InvalidArgument, "fractional_max_pool", n,
           "d_backward: gradOutput has unexpected size, expected ", to_string(expected), ", got ",
           to_string(grad.dims()));
  int64_t inside = product(p.input), count = product(p.output);
  Value zeros = hlo::constant(c.builder(), {grad.element(), {p.planes, inside}}, 0);
  if (grad.type.count() == 0) return {hlo::reshape(zeros, p.dims(p.input))};
  index =
      hlo::convert(hlo::reshape(index, {p.planes, count}), inside <= INT32_MAX ? ElementType::S32 : ElementType::S64);
  Value sum = add_at(zeros, elementwise(zeros, 1, index), hlo::reshape(grad, {p.planes, count}));
  return {hlo::reshape(sum, p.dims(p.input))};
}

}  // namespace

Table fractional_pool_table() {
  return {
      row("fractional_max_pool2d.output", fractional_max_pool<2>),
      row("fractional_max_pool2d_backward.grad_input", fractional_max_pool_backward<2>),
      row("fractional_max_pool3d.output", fractional_max_pool<3>),
      row("fractional_max_pool3d_backward", fractional_max_pool_backward<3>),
      row("fractional_max_pool3d_backward.grad_input", fractional_max_pool_backward<3>),
  };
}

}  // namespace tpu::ops
