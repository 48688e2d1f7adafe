// Family pool: the largest or the mean element under a sliding window, over the last one to three dimensions. What goes
// in: the tensor and its window; the backward forms get the gradient of the result.
//
// Windows are taken apart into taps (window.h): one strided slice per place, combined elementwise, which XLA fuses into
// one vectorised loop; its own reduce_window and select_and_scatter visit elements one by one.
#include <algorithm>

#include "ops/host_call.h"
#include "ops/promotion.h"
#include "ops/window.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------------ shared moves

// An int[n] argument: one number stands for all, an empty list for `fallback`.
Dims list(const Context& c, const char* name, size_t n, const Dims& fallback) {
  Dims values = c.call().find(name) ? c.ints(name) : Dims();
  if (values.empty()) return fallback;
  c.expect(values.size() == 1 || values.size() == n, ErrorCode::InvalidArgument, name,
           " must either be a single int, or a tuple of ", n, " ints");
  return values.size() == n ? values : Dims(n, values[0]);
}

Sliding sliding(const Context& c, const Dims& dims, size_t n) {
  c.expect(dims.size() == n + 1 || dims.size() == n + 2, ErrorCode::InvalidArgument, "expected a ", n + 1, "D or ",
           n + 2, "D input, got ", to_string(dims));
  Sliding window{.first = static_cast<int64_t>(dims.size() - n),
                 .input = Dims(dims.end() - n, dims.end()),
                 .size = list(c, "kernel_size", n, {}),
                 .stride = {},
                 .padding = {},
                 .dilation = {},
                 .output = {}};
  window.stride = list(c, "stride", n, window.size);
  window.padding = list(c, "padding", n, Dims(n, 0));
  window.dilation = list(c, "dilation", n, Dims(n, 1));
  for (size_t i = 0; i < n; ++i) {
    c.expect(window.size[i] > 0 && window.stride[i] > 0 && window.dilation[i] > 0, ErrorCode::InvalidArgument,
             "kernel size, stride and dilation should be greater than zero");
    // torch's kernels for volumes do not count the dilation here.
    int64_t effective = n == 3 ? window.size[i] : (window.size[i] - 1) * window.dilation[i] + 1;
    bool fits = window.padding[i] >= 0 && window.padding[i] <= effective / 2;
    c.expect(fits || n != 3, ErrorCode::InvalidArgument,
             "pad should be smaller than or equal to half of kernel size, but got kT: ", window.size[0],
             " kW: ", window.size[n - 1], " kH: ", window.size[n - 2], " padT: ", window.padding[0],
             " padW: ", window.padding[n - 1], " padH: ", window.padding[n - 2]);
    c.expect(fits, ErrorCode::InvalidArgument,
             "pad should be at most half of effective kernel size, but got pad=", window.padding[i],
             ", kernel_size=", window.size[i], " and dilation=", window.dilation[i]);
    window.output.push_back(window_positions(window.input[i], window.size[i], window.stride[i], window.padding[i],
                                             window.dilation[i], c.flag("ceil_mode")));
    c.expect(window.output[i] > 0, ErrorCode::InvalidArgument, "Given input size: ", to_string(window.input),
             ". Calculated output size: ", to_string(window.output), ". Output size is too small");
  }
  return window;
}

// `dims` with the windowed dimensions replaced.
Dims with_sizes(Dims dims, const Sliding& window, const Dims& sizes) {
  for (size_t i = 0; i < window.rank(); ++i) dims[static_cast<size_t>(window.first) + i] = sizes[i];
  return dims;
}

// 0, 1, 2, .. along windowed dimension i of an array of these dims.
hlo::Value positions(hlo::Builder& builder, const Sliding& window, const Dims& dims, size_t i, ElementType type) {
  int64_t dim = window.first + static_cast<int64_t>(i);
  hlo::Value line = hlo::iota(builder, {type, {dims[static_cast<size_t>(dim)]}}, 0);
  return hlo::broadcast_in_dim(line, dims, {dim});
}

hlo::Value is_nan(const hlo::Value& x) { return hlo::ne(x, x); }

// Adds numbers to the elements of flat positions, per plane: the backward of every max pool with indices.
// Leading dimensions are planes; the last n of both are flattened.
hlo::Value scatter_planes(const hlo::Value& values, const hlo::Value& indices, const Dims& input, size_t n,
                          bool accumulate) {
  int64_t planes = product(Dims(input.begin(), input.end() - n));
  int64_t inside = product(Dims(input.end() - n, input.end()));
  int64_t count = planes == 0 ? 0 : values.type.count() / planes;
  hlo::Builder& builder = *values.builder;
  hlo::Value zeros = hlo::constant(builder, {values.element(), {planes * inside}}, 0);
  if (planes * inside == 0 || count == 0) return hlo::reshape(zeros, input);
  Type flat{indices.element(), {planes, count}};
  hlo::Value plane = hlo::iota(builder, flat, 0) * hlo::constant(builder, flat, inside);
  hlo::Value at = hlo::reshape(hlo::reshape(indices, flat.dims) + plane, {planes * count, 1});
  hlo::ScatterDims dims{.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};
  hlo::Region body =
      accumulate ? hlo::body_of(hlo::Reducer::Add) : [](const hlo::Values& v) { return hlo::Values{v[1]}; };
  return hlo::reshape(hlo::scatter({zeros}, at, {hlo::reshape(values, {planes * count})}, dims, body)[0], input);
}

// --------------------------------------------------------------------------------------------------- max pools
// torch walks a window in row-major order from its first place inside the input and takes an element that is larger
// than the best so far or NaN. So the first of equals wins, the last NaN wins, and a window of lowest values yields its
// first place. The index is the flat position in the windowed dimensions.

constexpr int64_t kJointTaps = 9;  // windows up to this size are walked at once, larger ones one dimension at a time

struct Best {
  hlo::Value value;
  hlo::Value index;  // s32
  hlo::Value start;  // s32: the index of the first place inside the input
};

// One pass over the dimensions of `window`; `best` holds what the passes before found (no index before the first one).
// `row` has the flat distance of neighbours in each windowed dimension.
Best walk(Best best, const Sliding& window, const Dims& row) {
  hlo::Builder& builder = *best.value.builder;
  bool is_first = !best.index;
  hlo::Value low = hlo::min_value(builder, best.value.element());
  hlo::Value padded = pad_for(window, best.value, low);
  Dims dims = with_sizes(best.value.dims(), window, window.output);
  Type index{ElementType::S32, dims};
  hlo::Value base = hlo::constant(builder, index, 0),
             before = base;  // of the window's corner; of its first inner place
  for (size_t i = 0; i < window.rank(); ++i) {
    hlo::Value corner =
        positions(builder, window, dims, i, ElementType::S32) * hlo::constant(builder, index, window.stride[i]) -
        hlo::constant(builder, index, window.padding[i]);
    base = base + corner * hlo::constant(builder, index, row[i]);
    if (window.padding[i] == 0) continue;
    hlo::Value step = hlo::constant(builder, index, window.dilation[i]);
    hlo::Value outside = hlo::maximum(hlo::negate(corner), hlo::constant(builder, index, 0));
    hlo::Value places = (outside + hlo::constant(builder, index, window.dilation[i] - 1)) / step;
    before = before + places * hlo::constant(builder, index, window.dilation[i] * row[i]);
  }
  hlo::Value indices, start = before;
  if (!is_first) {
    indices = pad_for(window, best.index, hlo::constant(builder, ElementType::S32, 0));
    // Until now the first place depends on the dimensions walked before alone: any slice of this one tells it.
    Dims one = with_sizes(best.start.dims(), window, Dims(window.rank(), 1));
    start = start + broadcast_to(hlo::slice(best.start, Dims(one.size(), 0), one, Dims(one.size(), 1)), dims);
  }
  hlo::Value value = hlo::broadcast(low, dims), chosen = start;
  for (int64_t k = 0; k < window.taps(); ++k) {
    Dims place = window.place(k);
    int64_t offset = 0;
    for (size_t i = 0; i < window.rank(); ++i) offset += place[i] * window.dilation[i] * row[i];
    hlo::Value candidate = tap(window, padded, place);
    hlo::Value takes = hlo::gt(candidate, value);
    if (is_floating(candidate.element())) takes = hlo::or_(takes, is_nan(candidate));
    hlo::Value at = hlo::constant(builder, index, offset);
    if (!is_first) at = at + tap(window, indices, place);
    value = hlo::select(takes, candidate, value);
    chosen = hlo::select(takes, at, chosen);
  }
  return {value, chosen + base, start + base};
}

Best largest(const hlo::Value& x, const Sliding& window) {
  Dims row = row_major_strides(window.input);
  if (window.taps() <= kJointTaps) return walk({x, {}, {}}, window, row);
  Best best{x, {}, {}};
  for (size_t i = window.rank(); i-- > 0;) best = walk(best, window.part(i, 1), {row[i]});
  return best;
}

template <size_t n>
hlo::Values max_pool(Context& c) {
  hlo::Value x = c.tensor("self");
  Best best = largest(x, sliding(c, x.dims(), n));
  return {best.value, hlo::convert(best.index, ElementType::S64)};
}

// Every element collects the gradients of the windows that chose it.
template <size_t n>
hlo::Values max_pool_backward(Context& c) {
  Dims dims = c.type("self").dims;
  Sliding window = sliding(c, dims, n);
  hlo::Value grad = c.tensor("grad_output");
  hlo::Value chosen = hlo::convert(c.tensor("indices"), ElementType::S32);
  Dims row = row_major_strides(window.input);
  if (window.taps() > 4 * kJointTaps) return {scatter_planes(grad, chosen, dims, n, true)};
  hlo::Builder& builder = c.builder();
  Type index{ElementType::S32, grad.dims()};
  hlo::Value base = hlo::constant(builder, index, 0);
  for (size_t i = 0; i < n; ++i)
    base = base + (positions(builder, window, grad.dims(), i, ElementType::S32) *
                       hlo::constant(builder, index, window.stride[i]) -
                   hlo::constant(builder, index, window.padding[i])) *
                      hlo::constant(builder, index, row[i]);
  FoldBack fold(window);
  hlo::Value grads = fold.extended(grad);
  hlo::Value relative = fold.extended(chosen - base, hlo::constant(builder, ElementType::S32, -1));
  return {fold.sum([&](const Dims& place) {
    int64_t offset = 0;
    for (size_t i = 0; i < n; ++i) offset += place[i] * window.dilation[i] * row[i];
    hlo::Value here = fold.shifted(grads, place), at = fold.shifted(relative, place);
    return hlo::select(hlo::eq(at, hlo::like(at, offset)), here, hlo::like(here, 0));
  })};
}

// The inverse of a max pool as far as it goes: values at their positions, zeros elsewhere.
template <size_t n>
hlo::Values max_unpool(Context& c) {
  hlo::Value x = c.tensor("self"), indices = c.tensor("indices");
  c.expect(indices.element() == ElementType::S64, ErrorCode::InvalidArgument,
           "elements in indices should be type int64 but got: ", torch_name(indices.element()));
  c.expect(x.dims() == indices.dims(), ErrorCode::InvalidArgument,
           "Expected shape of indices to be same as that of the input tensor (", to_string(x.dims()),
           ") but got indices tensor with shape: ", to_string(indices.dims()));
  c.expect(x.rank() == n + 1 || x.rank() == n + 2, ErrorCode::InvalidArgument, "Input to max_unpooling", n,
           "d should be a ", n + 1, "d or ", n + 2, "d Tensor, but got a tensor with dim = ", x.rank());
  Dims sizes = c.ints("output_size"), dims = x.dims();
  c.expect(sizes.size() == n, ErrorCode::InvalidArgument, "There should be exactly ", n,
           " elements in output_size, but got ", sizes.size(), " elements.");
  for (size_t i = 0; i < n; ++i) dims[dims.size() - n + i] = sizes[i];
  hlo::Value zero = hlo::like(indices, 0), end = hlo::like(indices, product(sizes));
  c.require_not(hlo::or_(hlo::lt(indices, zero), hlo::ge(indices, end)), indices, ErrorCode::InvalidArgument,
                concat("Found an invalid max index: {} (output volumes are of size ", to_string(sizes), ")"));
  return {scatter_planes(x, indices, dims, n, false)};
}

// --------------------------------------------------------------------------------------------------- avg pools

// Sums of windows, one dimension after the other.
hlo::Value window_sum(hlo::Value x, const Sliding& window) {
  hlo::Value zero = hlo::constant(*x.builder, x.element(), 0);
  for (size_t i = 0; i < window.rank(); ++i) {
    Sliding line = window.part(i, 1);
    if (line.size[0] == 1 && line.stride[0] == 1 && line.padding[0] == 0) continue;
    hlo::Value padded = pad_for(line, x, zero);
    hlo::Value sum;
    for (int64_t k = 0; k < line.size[0]; ++k) {
      hlo::Value piece = tap(line, padded, {k});
      sum = sum ? sum + piece : piece;
    }
    x = sum;
  }
  return x;
}

// The transpose of window_sum: every element gets the sum of the windows it lies in.
hlo::Value window_spread(hlo::Value grad, const Sliding& window) {
  for (size_t i = 0; i < window.rank(); ++i) {
    Sliding line = window.part(i, 1);
    FoldBack fold(line);
    hlo::Value source = fold.extended(grad);
    grad = fold.sum([&](const Dims& place) { return fold.shifted(source, place); });
  }
  return grad;
}

// `x` divided by the number of elements that each window counts: divisor_override, or all places that lie in the padded
// input, or only those in the input.
hlo::Value divide_by_count(Context& c, const hlo::Value& x, const Sliding& window) {
  if (std::optional<int64_t> divisor = c.optional_integer("divisor_override")) {
    c.expect(*divisor != 0, ErrorCode::InvalidArgument, "divisor must be not zero");
    return x / hlo::like(x, *divisor);
  }
  bool is_uniform = true;
  int64_t places = window.taps();
  for (size_t i = 0; i < window.rank(); ++i) {
    int64_t reach = (window.output[i] - 1) * window.stride[i] + window.size[i];
    bool counts_padding = c.flag("count_include_pad");
    int64_t inside = window.input[i] + (counts_padding ? 2 : 1) * window.padding[i];
    is_uniform = is_uniform && reach <= inside && (counts_padding || window.padding[i] == 0);
  }
  if (is_uniform) return x / hlo::like(x, places);
  Type type{ElementType::S32, x.dims()};
  hlo::Builder& builder = c.builder();
  hlo::Value count = hlo::constant(builder, type, 1);
  for (size_t i = 0; i < window.rank(); ++i) {
    auto number = [&](int64_t value) { return hlo::constant(builder, type, value); };
    hlo::Value start = positions(builder, window, x.dims(), i, ElementType::S32) * number(window.stride[i]) -
                       number(window.padding[i]);
    hlo::Value end = hlo::minimum(start + number(window.size[i]), number(window.input[i] + window.padding[i]));
    if (!c.flag("count_include_pad")) {
      start = hlo::maximum(start, number(0));
      end = hlo::minimum(end, number(window.input[i]));
    }
    count = count * (end - start);
  }
  return x / hlo::convert(count, x.element());
}

template <size_t n>
hlo::Values avg_pool(Context& c) {
  hlo::Value x = c.tensor("self");
  Sliding window = sliding(c, x.dims(), n);
  x = hlo::convert(x, compute_type(x.element()));
  return {divide_by_count(c, window_sum(x, window), window)};
}

template <size_t n>
hlo::Values avg_pool_backward(Context& c) {
  Sliding window = sliding(c, c.type("self").dims, n);
  hlo::Value grad = c.tensor("grad_output");
  grad = hlo::convert(grad, compute_type(grad.element()));
  return {window_spread(divide_by_count(c, grad, window), window)};
}

// --------------------------------------------------------------------------------------------- adaptive pools
// Output o of `out` covers the inputs [floor(o in / out), ceil((o + 1) in / out)). The other way around, input i is
// covered by the outputs [floor(i out / in), ceil((i + 1) out / in)): the transpose has the same form.

int64_t longest_reach(int64_t in, int64_t out) {
  int64_t longest = 0;
  for (int64_t o = 0; o < out; ++o) longest = std::max(longest, ((o + 1) * in + out - 1) / out - o * in / out);
  return longest;
}

// The covered elements of dimension `dim`, which becomes [out, reach]; `inside` (Pred, same dims) tells which of them
// count and `index` (s32) where they come from.
struct Covered {
  hlo::Value elements, inside, index, length;  // length: s32, dims of elements without the reach
};
Covered cover(const hlo::Value& x, int64_t dim, int64_t out) {
  hlo::Builder& builder = *x.builder;
  auto d = static_cast<size_t>(dim);
  int64_t in = x.dims()[d], reach = longest_reach(in, out);
  Type line{ElementType::S32, {out}}, table{ElementType::S32, {out, reach}};
  // In 64 bits: o * in may not fit 32.
  Type wide{ElementType::S64, {out}};
  hlo::Value o = hlo::iota(builder, wide, 0);
  auto number = [&](int64_t value) { return hlo::constant(builder, wide, value); };
  hlo::Value start = hlo::convert(o * number(in) / number(out), ElementType::S32);
  hlo::Value end = hlo::convert(((o + number(1)) * number(in) + number(out - 1)) / number(out), ElementType::S32);
  hlo::Value length = end - start;
  hlo::Value at = hlo::broadcast_in_dim(start, table.dims, {0}) + hlo::iota(builder, table, 1);
  hlo::Value inside = hlo::lt(hlo::iota(builder, table, 1), hlo::broadcast_in_dim(length, table.dims, {0}));
  Dims dims = x.dims(), sizes = x.dims();
  dims.insert(d + 1, reach);
  dims[d] = out;
  hlo::Value elements;
  if (in % out == 0) {
    elements = hlo::reshape(x, dims);
  } else {
    hlo::GatherDims gather;
    for (int64_t i = 0; i < x.rank() + 1; ++i)
      if (i != dim && i != dim + 1) gather.offset_dims.push_back(i);
    gather.collapsed_slice_dims = {dim};
    gather.start_index_map = {dim};
    gather.index_vector_dim = 2;
    sizes[d] = 1;
    elements = hlo::gather(x, at, gather, sizes);
  }
  Dims without = x.dims();
  without[d] = out;
  return {elements, hlo::broadcast_in_dim(inside, dims, {dim, dim + 1}),
          hlo::broadcast_in_dim(at, dims, {dim, dim + 1}), hlo::broadcast_in_dim(length, without, {dim})};
}

hlo::Value covered_sum(const hlo::Value& x, int64_t dim, int64_t out) {
  if (x.dims()[static_cast<size_t>(dim)] == out) return x;
  Covered covered = cover(x, dim, out);
  hlo::Value elements = hlo::select(covered.inside, covered.elements, hlo::like(covered.elements, 0));
  return hlo::reduce(elements, {dim + 1}, hlo::Reducer::Add);
}

// The covered number of every position of `dim` of an array of these dims, as `x` has them.
hlo::Value covered_count(const hlo::Value& x, int64_t dim, int64_t in) {
  hlo::Builder& builder = *x.builder;
  int64_t out = x.dims()[static_cast<size_t>(dim)];
  Type wide{ElementType::S64, {out}};
  hlo::Value o = hlo::iota(builder, wide, 0);
  auto number = [&](int64_t value) { return hlo::constant(builder, wide, value); };
  hlo::Value count = ((o + number(1)) * number(in) + number(out - 1)) / number(out) - o * number(in) / number(out);
  return hlo::broadcast_in_dim(hlo::convert(count, x.element()), x.dims(), {dim});
}

void expect_adaptive(const Context& c, const Dims& dims, const Dims& sizes, size_t n) {
  c.expect(dims.size() == n + 1 || dims.size() == n + 2, ErrorCode::InvalidArgument, "adaptive pool", n, "d: Expected ",
           n + 1, "D or ", n + 2, "D tensor, but got ", to_string(dims));
  c.expect(sizes.size() == n, ErrorCode::InvalidArgument, "adaptive pool", n,
           "d: internal error: output_size.size() must be ", n);
  for (size_t i = dims.size() - n; i < dims.size(); ++i)
    c.expect(dims[i] > 0, ErrorCode::InvalidArgument, "adaptive pool", n,
             "d(): Expected input to have non-zero size for ", "non-batch dimensions, but input has sizes ",
             to_string(dims), " with dimension ", i, " being empty");
  for (int64_t size : sizes)
    c.expect(size >= 0, ErrorCode::InvalidArgument, "adaptive pool", n,
             "d: elements of output_size must be greater than or equal to 0");
}

template <size_t n>
hlo::Values adaptive_avg_pool(Context& c) {
  hlo::Value x = c.tensor("self");
  ElementType type = x.element();
  Dims sizes = c.ints("output_size");
  expect_adaptive(c, x.dims(), sizes, n);
  x = hlo::convert(x, compute_type(type));
  int64_t first = x.rank() - static_cast<int64_t>(n);
  Dims from(x.dims().end() - n, x.dims().end());
  for (size_t i = n; i-- > 0;) {
    if (sizes[i] == 0) {
      Dims dims = c.type("self").dims;
      for (size_t k = 0; k < n; ++k) dims[static_cast<size_t>(first) + k] = sizes[k];
      return {hlo::constant(c.builder(), {type, dims}, 0)};
    }
    x = covered_sum(x, first + static_cast<int64_t>(i), sizes[i]);
  }
  for (size_t i = 0; i < n; ++i) {
    int64_t dim = first + static_cast<int64_t>(i);
    if (from[i] != sizes[i]) x = x / covered_count(x, dim, from[i]);
  }
  return {hlo::convert(x, type)};
}

template <size_t n>
hlo::Values adaptive_avg_pool_backward(Context& c) {
  hlo::Value grad = c.tensor("grad_output");
  Type self = c.type("self");
  expect_adaptive(c, self.dims, Dims(grad.dims().end() - n, grad.dims().end()), n);
  c.expect(grad.element() == self.element, ErrorCode::InvalidArgument, "expected dtype ", torch_name(self.element),
           " for `grad_output` but got dtype ", torch_name(grad.element()));
  if (grad.type.count() == 0) return {hlo::constant(c.builder(), self, 0)};
  grad = hlo::convert(grad, compute_type(self.element));
  for (size_t i = self.dims.size() - n; i < self.dims.size(); ++i)
    if (grad.dims()[i] != self.dims[i]) grad = grad / covered_count(grad, static_cast<int64_t>(i), self.dims[i]);
  for (size_t i = self.dims.size() - n; i < self.dims.size(); ++i)
    grad = covered_sum(grad, static_cast<int64_t>(i), self.dims[i]);
  return {hlo::convert(grad, self.element)};
}

// The largest element with its flat index, last dimension first: of two equals the earlier index, of two NaN the later.
template <size_t n>
hlo::Values adaptive_max_pool(Context& c) {
  hlo::Value x = c.tensor("self");
  c.expect(is_floating(x.element()), ErrorCode::NotImplemented, "\"adaptive_max_pool", n, "d\" not implemented for '",
           torch_name(x.element()), "'");
  Dims sizes = c.ints("output_size");
  expect_adaptive(c, x.dims(), sizes, n);
  Dims row = row_major_strides(Dims(x.dims().end() - n, x.dims().end()));
  int64_t first = x.rank() - static_cast<int64_t>(n);
  hlo::Builder& builder = c.builder();
  hlo::Value index = hlo::constant(builder, {ElementType::S32, x.dims()}, 0);
  hlo::Value low = hlo::min_value(builder, x.element());
  hlo::Region better = [](const hlo::Values& v) {
    const hlo::Value &a = v[0], &at_a = v[1], &b = v[2], &at_b = v[3];
    hlo::Value b_wins = hlo::or_(hlo::gt(b, a), hlo::and_(hlo::eq(b, a), hlo::lt(at_b, at_a)));
    if (is_floating(a.element())) {
      hlo::Value is_later = hlo::or_(hlo::not_(is_nan(a)), hlo::gt(at_b, at_a));
      b_wins = hlo::or_(b_wins, hlo::and_(is_nan(b), is_later));
    }
    return hlo::Values{hlo::select(b_wins, b, a), hlo::select(b_wins, at_b, at_a)};
  };
  for (size_t i = n; i-- > 0;) {
    int64_t dim = first + static_cast<int64_t>(i);
    if (sizes[i] == 0) {
      Dims dims = c.type("self").dims;
      for (size_t k = 0; k < n; ++k) dims[static_cast<size_t>(first) + k] = sizes[k];
      return {hlo::constant(builder, {x.element(), dims}, 0), hlo::constant(builder, {ElementType::S64, dims}, 0)};
    }
    Covered values = cover(x, dim, sizes[i]), indices = cover(index, dim, sizes[i]);
    hlo::Value at = indices.elements + values.index * hlo::like(values.index, row[i]);
    hlo::Value inside = hlo::select(values.inside, values.elements, hlo::broadcast(low, values.elements.dims()));
    at = hlo::select(values.inside, at, hlo::broadcast(hlo::max_value(builder, ElementType::S32), at.dims()));
    hlo::Values best = hlo::reduce({inside, at}, {low, hlo::max_value(builder, ElementType::S32)}, {dim + 1}, better);
    x = best[0];
    index = best[1];
  }
  return {x, hlo::convert(index, ElementType::S64)};
}

template <size_t n>
hlo::Values adaptive_max_pool_backward(Context& c) {
  return {scatter_planes(c.tensor("grad_output"), c.tensor("indices"), c.type("self").dims, n, true)};
}

}  // namespace

Table pool_table() {
  return {
      row("max_pool2d_with_indices.out", max_pool<2>),
      row("max_pool2d_with_indices_backward.grad_input", max_pool_backward<2>).host_kernel(always),
      row("max_pool3d_with_indices", max_pool<3>).image(),
      row("max_pool3d_with_indices.out", max_pool<3>),
      row("max_pool3d_with_indices_backward", max_pool_backward<3>).image(),
      row("max_pool3d_with_indices_backward.grad_input", max_pool_backward<3>),
      row("max_unpool2d", max_unpool<2>),
      row("max_unpool2d.out", max_unpool<2>),
      row("max_unpool3d", max_unpool<3>),
      row("max_unpool3d.out", max_unpool<3>),

      row("avg_pool2d.out", avg_pool<2>),
      row("avg_pool2d_backward.grad_input", avg_pool_backward<2>),
      row("avg_pool3d.out", avg_pool<3>),
      row("avg_pool3d_backward.grad_input", avg_pool_backward<3>),

      row("_adaptive_avg_pool2d", adaptive_avg_pool<2>).image(),
      row("_adaptive_avg_pool2d_backward", adaptive_avg_pool_backward<2>).image(),
      row("_adaptive_avg_pool3d", adaptive_avg_pool<3>),
      row("_adaptive_avg_pool3d_backward", adaptive_avg_pool_backward<3>),
      row("adaptive_avg_pool2d.out", adaptive_avg_pool<2>),
      row("adaptive_avg_pool3d.out", adaptive_avg_pool<3>),
      row("adaptive_avg_pool3d_backward.grad_input", adaptive_avg_pool_backward<3>),
      row("adaptive_max_pool2d.out", adaptive_max_pool<2>),
      row("adaptive_max_pool2d_backward.grad_input", adaptive_max_pool_backward<2>),
      row("adaptive_max_pool3d.out", adaptive_max_pool<3>),
      row("adaptive_max_pool3d_backward.grad_input", adaptive_max_pool_backward<3>),
  };
}

}  // namespace tpu::ops
