// Family convolution: forward, transposed and both gradients over any number of spatial dimensions, and the column
// forms of F.unfold and F.fold. What goes in: [batch, channels, spatial..] and weights [outer channels, inner / groups,
// kernel..].
//
// A convolution relates a big tensor (its window slides over it) to a small one. Three products cover every call:
//   gather   big, weight -> small    forward; input gradient of a transposed convolution
//   spread   small, weight -> big    transposed forward; input gradient of a plain convolution
//   relate   big, small -> weight    weight gradient of both
// and each has several forms, see Note [Forms of a convolution].
#include <algorithm>

#include "ops/host_call.h"
#include "ops/promotion.h"
#include "ops/window.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------------ shared moves

// Note [Forms of a convolution]
// Native is one stablehlo.convolution. XLA:CPU runs most of them through an im2col of its own, but some fall into a
// loop that visits element by element, 10 to 200 times slower, and take another form there (CPU milliseconds of both
// forms, for [16, 64, 56, 56] and 3x3 kernels):
//   a reversed window: never used, `reverse` of the weights is an op of its own;
//   depthwise, groups of one channel -> Taps: per kernel place one shifted multiply-add, and for the weight gradient
//   one
//     product per kernel row (Note [Rows of a weight gradient]): 93 to 6, 94 to 11 and 130 to 70;
//   other groups -> Dense: one group whose weights are zero between the groups; 16 groups: 112 to 42, 127 to 49, 9400
//   to 57; three dimensions -> Planes: a sum of convolutions over the last two; [2, 16, 16, 28, 28]: 77 to 21; a kernel
//   of more places than the input has elements, which XLA turns into a reversed one -> Columns.
// Columns gathers what every kernel place sees into one array and makes one matrix product; a 1x1 kernel is the case in
// which nothing is gathered.
enum class Form { Native, Columns, Taps, Dense, Planes };

struct Convolution {
  Sliding window;  // over the big tensor; its output is the small one
  int64_t batch, big_channels, small_channels, groups;
  ElementType element;
  Form form = Form::Native;

  int64_t big_group() const { return big_channels / groups; }
  int64_t small_group() const { return small_channels / groups; }
  int64_t spatial() const { return static_cast<int64_t>(window.rank()); }
  /// `heads` followed by `sizes`.
  static Dims joined(Dims heads, const Dims& sizes) {
    for (int64_t size : sizes) heads.push_back(size);
    return heads;
  }
  Dims big() const { return joined({batch, big_channels}, window.input); }
  Dims small() const { return joined({batch, small_channels}, window.output); }
  Dims weight() const { return joined({small_channels, big_group()}, window.size); }
};

constexpr int64_t kMostTaps = 64;          // pieces that a program is made of
constexpr int64_t kMostWeights = 1 << 24;  // elements of dense weights
constexpr int64_t kWidestRow = 128;        // elements of a row whose pairs are multiplied

Form choose_form(bool is_cpu, const Convolution& conv) {
  int64_t places = conv.window.taps();
  if (places == 1) return Form::Columns;
  if (!is_cpu) return Form::Native;
  if (conv.groups > 1 && conv.big_group() == 1 && places <= kMostTaps) return Form::Taps;
  if (conv.groups > 1 && conv.small_channels * conv.big_channels * places <= kMostWeights) return Form::Dense;
  int64_t swapped = std::min(product(conv.window.input), product(conv.window.output));
  if (places > swapped && places <= kMostTaps) return Form::Columns;
  return conv.spatial() == 3 && conv.window.size[0] <= kMostTaps ? Form::Planes : Form::Native;
}

Convolution convolution_of(const Context& c, const Type& input, const Dims& weight) {
  size_t n = input.dims.size() - 2;
  auto list = [&](const char* name) {
    Dims values = c.ints(name);
    return values.size() == n ? values : Dims(n, values.empty() ? 0 : values[0]);
  };
  bool transposed = c.flag("transposed");
  Convolution conv{.window = {.first = 2,
                              .input = {},
                              .size = Dims(weight.begin() + 2, weight.end()),
                              .stride = list("stride"),
                              .padding = list("padding"),
                              .dilation = list("dilation"),
                              .output = {}},
                   .batch = input.dims[0],
                   .big_channels = 0,
                   .small_channels = weight[0],
                   .groups = c.integer("groups"),
                   .element = input.element};
  conv.big_channels = weight[1] * conv.groups;
  Sliding& window = conv.window;
  Dims given(input.dims.begin() + 2, input.dims.end()), extra = list("output_padding");
  for (size_t i = 0; i < n; ++i) {
    int64_t reach = window.dilation[i] * (window.size[i] - 1) + 1;
    int64_t big = transposed ? (given[i] - 1) * window.stride[i] - 2 * window.padding[i] + reach + extra[i] : given[i];
    window.input.push_back(big);
    window.output.push_back(
        transposed ? given[i]
                   : window_positions(big, window.size[i], window.stride[i], window.padding[i], window.dilation[i]));
    c.expect(window.input[i] > 0 && window.output[i] > 0, ErrorCode::InvalidArgument, "convolution: input of size ",
             to_string(given), " gives an empty output");
  }
  conv.form = choose_form(c.settings().is_cpu, conv);
  return conv;
}

ElementType accumulator(const Convolution& conv) { return compute_type(conv.element); }

// 2, 3, .. for the spatial dimensions after `from` others.
Dims spatial_from(int64_t from, int64_t count) {
  Dims dims;
  for (int64_t i = 0; i < count; ++i) dims.push_back(from + i);
  return dims;
}

// ------------------------------------------------------------------------------------------------- native form

hlo::ConvDims plain_dims(int64_t n) {
  hlo::ConvDims dims;
  dims.input_spatial = dims.kernel_spatial = dims.output_spatial = spatial_from(2, n);
  return dims;
}

hlo::Value gather_native(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& weight) {
  const Sliding& window = conv.window;
  hlo::Window form{.strides = window.stride, .window_dilation = window.dilation, .low = window.padding, .high = {}};
  for (size_t i = 0; i < window.rank(); ++i) {
    // The last window need not reach the padded end.
    int64_t reach = (window.output[i] - 1) * window.stride[i] + (window.size[i] - 1) * window.dilation[i] + 1;
    form.high.push_back(std::max<int64_t>(0, reach - window.padding[i] - window.input[i]));
  }
  return hlo::convolution(big, weight, plain_dims(conv.spatial()), form, conv.groups, 1, c.settings().precision,
                          accumulator(conv));
}

// The small tensor with stride - 1 zeros between its elements, slid over by the reversed kernel.
hlo::Value spread_native(Context& c, const Convolution& conv, const hlo::Value& small, hlo::Value weight) {
  const Sliding& window = conv.window;
  int64_t n = conv.spatial();
  hlo::ConvDims dims = plain_dims(n);
  if (conv.groups == 1) {
    dims.kernel_output_feature = 1;
    dims.kernel_input_feature = 0;
  } else {
    Dims grouped = Convolution::joined({conv.groups, conv.small_group(), conv.big_group()}, window.size);
    Dims order = Convolution::joined({0, 2, 1}, spatial_from(3, n));
    weight = hlo::transpose(hlo::reshape(weight, grouped), order);
    weight = hlo::reshape(weight, Convolution::joined({conv.big_channels, conv.small_group()}, window.size));
  }
  hlo::Window form{.base_dilation = window.stride, .window_dilation = window.dilation, .low = {}, .high = {}};
  Dims start(2, 0), limit{conv.batch, conv.big_channels};
  for (size_t i = 0; i < window.rank(); ++i) {
    // Padding p of the forward is d (k - 1) - p here; where that is negative the result is cropped instead.
    int64_t low = window.dilation[i] * (window.size[i] - 1) - window.padding[i];
    int64_t high = window.input[i] + window.padding[i] - (window.output[i] - 1) * window.stride[i] - 1;
    form.low.push_back(std::max<int64_t>(0, low));
    form.high.push_back(std::max<int64_t>(0, high));
    start.push_back(std::max<int64_t>(0, -low));
    limit.push_back(start.back() + window.input[i]);
  }
  hlo::Value result = hlo::convolution(small, hlo::reverse(weight, spatial_from(2, n)), dims, form, conv.groups, 1,
                                       c.settings().precision, accumulator(conv));
  return hlo::slice(result, start, limit, Dims(limit.size(), 1));
}

// Channels take the part of the batch and the batch that of the channels: the small tensor is the kernel.
hlo::Value relate_native(Context& c, const Convolution& conv, hlo::Value big, const hlo::Value& small) {
  const Sliding& window = conv.window;
  hlo::ConvDims dims = plain_dims(conv.spatial());
  dims.input_batch = dims.kernel_output_feature = 1;
  dims.input_feature = dims.kernel_input_feature = 0;
  // So the result comes as [small channels, big channels / groups, kernel..].
  dims.output_batch = 1;
  dims.output_feature = 0;
  hlo::Window form{.strides = window.dilation, .window_dilation = window.stride, .low = window.padding, .high = {}};
  Dims limit = big.dims();
  for (size_t i = 0; i < window.rank(); ++i) {
    int64_t reach = (window.output[i] - 1) * window.stride[i] + (window.size[i] - 1) * window.dilation[i] + 1;
    int64_t high = reach - window.padding[i] - window.input[i];
    form.high.push_back(std::max<int64_t>(0, high));
    limit[2 + i] = std::min(limit[2 + i], limit[2 + i] + high);
  }
  // Elements that no window reaches.
  big = hlo::slice(big, Dims(limit.size(), 0), limit, Dims(limit.size(), 1));
  return hlo::convolution(big, small, dims, form, 1, conv.groups, c.settings().precision, accumulator(conv));
}

// ------------------------------------------------------------------------------------------------ columns form
// Columns are [batch, groups, channels / groups, places, small spatial..].

hlo::Value columns_of(const Convolution& conv, const hlo::Value& big) {
  hlo::Value padded = pad_for(conv.window, big, hlo::scalar_like(big, 0));
  Dims one = Convolution::joined({conv.batch, conv.groups, conv.big_group(), 1}, conv.window.output);
  hlo::Values taps;
  for (int64_t k = 0; k < conv.window.taps(); ++k)
    taps.push_back(hlo::reshape(tap(conv.window, padded, conv.window.place(k)), one));
  return taps.size() == 1 ? taps[0] : hlo::concatenate(taps, 3);
}
hlo::Value grouped_weight(const Convolution& conv, const hlo::Value& weight) {
  return hlo::reshape(weight, {conv.groups, conv.small_group(), conv.big_group(), conv.window.taps()});
}
hlo::Value grouped_small(const Convolution& conv, const hlo::Value& small) {
  return hlo::reshape(small, Convolution::joined({conv.batch, conv.groups, conv.small_group()}, conv.window.output));
}

hlo::Value gather_columns(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& weight) {
  hlo::DotDims dims{.lhs_batch = {0}, .rhs_batch = {1}, .lhs_contract = {2, 3}, .rhs_contract = {2, 3}};
  hlo::Value result =
      hlo::dot_general(grouped_weight(conv, weight), columns_of(conv, big), dims, c.settings().precision,
                       accumulator(conv));  // [groups, channels, batch, spatial..]
  Dims order = Convolution::joined({2, 0, 1}, spatial_from(3, conv.spatial()));
  return hlo::reshape(hlo::transpose(result, order), conv.small());
}

hlo::Value spread_columns(Context& c, const Convolution& conv, const hlo::Value& small, const hlo::Value& weight) {
  hlo::DotDims dims{.lhs_batch = {0}, .rhs_batch = {1}, .lhs_contract = {1}, .rhs_contract = {2}};
  hlo::Value columns =
      hlo::dot_general(grouped_weight(conv, weight), grouped_small(conv, small), dims, c.settings().precision,
                       accumulator(conv));  // [groups, channels, places, batch, spatial..]
  Dims order = Convolution::joined({2, 3, 0, 1}, spatial_from(4, conv.spatial()));
  columns = hlo::transpose(columns, order);
  FoldBack fold(conv.window);
  int64_t k = 0;
  return fold.sum([&](const Dims& place) {
    Dims start(columns.rank(), 0), limit = columns.dims();
    start[0] = k;
    limit[0] = ++k;
    hlo::Value one = hlo::slice(columns, start, limit, Dims(columns.rank(), 1));
    one = hlo::reshape(one, Convolution::joined({conv.batch, conv.big_channels}, conv.window.output));
    return fold.shifted(fold.extended(one), place);
  });
}

hlo::Value relate_columns(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& small) {
  hlo::DotDims dims{.lhs_batch = {1},
                    .rhs_batch = {1},
                    .lhs_contract = Convolution::joined({0}, spatial_from(3, conv.spatial())),
                    .rhs_contract = Convolution::joined({0}, spatial_from(4, conv.spatial()))};
  hlo::Value result = hlo::dot_general(grouped_small(conv, small), columns_of(conv, big), dims, c.settings().precision,
                                       accumulator(conv));  // [groups, small, big, places]
  return hlo::reshape(result, conv.weight());
}

// --------------------------------------------------------------------------------------------------- taps form
// Every big channel has small_group() small ones of its own, the lanes: lane j of channel i is small channel
// i * small_group() + j. Arrays of one lane have the channels of the big tensor.

hlo::Value lane_of(const Convolution& conv, const hlo::Value& x, int64_t dim, int64_t lane) {
  int64_t lanes = conv.small_group();
  if (lanes == 1) return x;
  Dims start(x.rank(), 0), limit = x.dims(), stride(x.rank(), 1);
  start[static_cast<size_t>(dim)] = lane;
  stride[static_cast<size_t>(dim)] = lanes;
  return hlo::slice(x, start, limit, stride);
}

// The weights of one lane and one place, at every element.
hlo::Value weight_at(const Convolution& conv, const hlo::Value& weight, int64_t lane, int64_t k, const Dims& dims) {
  hlo::Value flat = hlo::reshape(lane_of(conv, weight, 0, lane), {conv.big_channels, conv.window.taps()});
  hlo::Value one = hlo::reshape(hlo::slice(flat, {0, k}, {conv.big_channels, k + 1}, {1, 1}), {conv.big_channels});
  return hlo::broadcast_in_dim(one, dims, {1});
}

hlo::Value gather_taps(const Convolution& conv, const hlo::Value& big, const hlo::Value& weight) {
  hlo::Value padded = pad_for(conv.window, big, hlo::scalar_like(big, 0));
  Dims one = Convolution::joined({conv.batch, conv.big_channels}, conv.window.output), stacked = one;
  stacked.insert(2, 1);
  hlo::Values lanes;
  for (int64_t lane = 0; lane < conv.small_group(); ++lane) {
    hlo::Value sum;
    for (int64_t k = 0; k < conv.window.taps(); ++k) {
      hlo::Value term = tap(conv.window, padded, conv.window.place(k)) * weight_at(conv, weight, lane, k, one);
      sum = sum ? sum + term : term;
    }
    lanes.push_back(hlo::reshape(sum, stacked));
  }
  return hlo::reshape(hlo::concatenate(lanes, 2), conv.small());
}

hlo::Value spread_taps(const Convolution& conv, const hlo::Value& small, const hlo::Value& weight) {
  FoldBack fold(conv.window);
  hlo::Values lanes;
  for (int64_t lane = 0; lane < conv.small_group(); ++lane)
    lanes.push_back(fold.extended(lane_of(conv, small, 1, lane)));
  int64_t k = 0;
  return fold.sum([&](const Dims& place) {
    hlo::Value sum;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      hlo::Value here = fold.shifted(lanes[lane], place);
      hlo::Value term = here * weight_at(conv, weight, static_cast<int64_t>(lane), k, here.dims());
      sum = sum ? sum + term : term;
    }
    ++k;
    return sum;
  });
}

// Note [Rows of a weight gradient]
// The gradient at one place is the sum over batch and positions of a tap times the small tensor: one number per
// channel, out of a loop that XLA:CPU does not vectorise. As a matrix product over batch and all positions but those of
// the last dimension, all pairs of a row's elements come at once, [channel, big element, small element], and place j is
// the sum over the pairs (o * stride + j * dilation, o), a diagonal: a strided slice of the flattened pairs.
hlo::Value relate_rows(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& small) {
  const Sliding& window = conv.window;
  size_t last = window.rank() - 1;
  Sliding outer = window.part(0, last);
  hlo::Value padded = pad_for(window, big, hlo::scalar_like(big, 0));
  int64_t width = window.output[last], padded_width = padded.dims().back(), lanes = conv.small_group();
  Dims split = Convolution::joined({conv.batch, conv.big_channels, lanes}, window.output);
  hlo::Value grads = hlo::reshape(small, split);
  hlo::DotDims dims{.lhs_batch = {1},
                    .rhs_batch = {1},
                    .lhs_contract = Convolution::joined({0}, spatial_from(2, static_cast<int64_t>(last))),
                    .rhs_contract = Convolution::joined({0}, spatial_from(3, static_cast<int64_t>(last)))};
  hlo::Values places;
  for (int64_t k = 0; k < outer.taps(); ++k) {
    hlo::Value pairs = hlo::dot_general(tap(outer, padded, outer.place(k)), grads, dims, c.settings().precision);
    pairs = hlo::reshape(hlo::transpose(pairs, {0, 2, 1, 3}), {conv.small_channels, padded_width * width});
    int64_t stride = window.stride[last] * width + 1;
    for (int64_t j = 0; j < window.size[last]; ++j) {
      int64_t start = j * window.dilation[last] * width;
      hlo::Value diagonal =
          hlo::slice(pairs, {0, start}, {conv.small_channels, start + (width - 1) * stride + 1}, {1, stride});
      places.push_back(hlo::reshape(hlo::reduce(diagonal, {1}, hlo::Reducer::Add), {conv.small_channels, 1}));
    }
  }
  return hlo::reshape(hlo::concatenate(places, 1), conv.weight());
}

hlo::Value relate_taps(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& small) {
  if (conv.window.output.back() <= kWidestRow) return relate_rows(c, conv, big, small);
  hlo::Value padded = pad_for(conv.window, big, hlo::scalar_like(big, 0));
  Dims over = Convolution::joined({0}, spatial_from(2, conv.spatial()));
  hlo::Values sums;
  for (int64_t lane = 0; lane < conv.small_group(); ++lane) {
    hlo::Value grads = lane_of(conv, small, 1, lane);
    for (int64_t k = 0; k < conv.window.taps(); ++k) {
      hlo::Value sum = hlo::reduce(tap(conv.window, padded, conv.window.place(k)) * grads, over, hlo::Reducer::Add);
      sums.push_back(hlo::reshape(sum, {conv.big_channels, 1}));
    }
  }
  return hlo::reshape(hlo::concatenate(sums, 1), conv.weight());  // [channel, lane, place] in order
}

// -------------------------------------------------------------------------------------------------- dense form

Convolution ungrouped(const Convolution& conv) {
  Convolution dense = conv;
  dense.groups = 1;
  dense.form = choose_form(true, dense);
  return dense;
}
// [groups, small, groups, big, kernel..] and the elements in which both groups are the same.
Dims blocks(const Convolution& conv) {
  return Convolution::joined({conv.groups, conv.small_group(), conv.groups, conv.big_group()}, conv.window.size);
}
hlo::Value same_group(hlo::Builder& builder, const Convolution& conv) {
  Type type{ElementType::S32, {conv.groups, conv.groups}};
  return hlo::broadcast_in_dim(hlo::eq(hlo::iota(builder, type, 0), hlo::iota(builder, type, 1)), blocks(conv), {0, 2});
}
hlo::Value dense_weight(const Convolution& conv, const hlo::Value& weight) {
  Dims grouped = Convolution::joined({conv.groups, conv.small_group(), conv.big_group()}, conv.window.size);
  Dims map = Convolution::joined({0, 1}, spatial_from(3, conv.spatial() + 1));
  hlo::Value repeated = hlo::broadcast_in_dim(hlo::reshape(weight, grouped), blocks(conv), map);
  hlo::Value dense = hlo::select(same_group(*weight.builder, conv), repeated, hlo::like(repeated, 0));
  return hlo::reshape(dense, ungrouped(conv).weight());
}
hlo::Value grouped_from_dense(const Convolution& conv, const hlo::Value& dense) {
  hlo::Value split = hlo::reshape(dense, blocks(conv));
  split = hlo::select(same_group(*dense.builder, conv), split, hlo::like(split, 0));
  return hlo::reshape(hlo::reduce(split, {2}, hlo::Reducer::Add), conv.weight());
}

// ------------------------------------------------------------------------------------------------- planes form
// The first spatial dimension joins the batch: [batch, depth, channels, height, width] without its padding.

hlo::Value gather(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& weight);
hlo::Value spread(Context& c, const Convolution& conv, const hlo::Value& small, const hlo::Value& weight);
hlo::Value relate(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& small);

struct Planes {
  Sliding depth;      // over dimension 1 of the rearranged tensors
  Convolution plane;  // of one kernel plane

  explicit Planes(const Convolution& conv) : depth(conv.window.part(0, 1)), plane(conv) {
    depth.first = 1;
    plane.window = conv.window.part(1, 2);
    plane.window.first = 2;
    plane.batch = conv.batch * conv.window.output[0];
    plane.form = choose_form(true, plane);
  }
  int64_t count() const { return depth.size[0]; }
  /// [batch, channels, depth, ..] to [batch, depth, channels, ..] and back.
  static hlo::Value turned(const hlo::Value& x) { return hlo::transpose(x, {0, 2, 1, 3, 4}); }
  hlo::Value merged(const hlo::Value& turned) const {
    const Dims& dims = turned.dims();
    return hlo::reshape(turned, {plane.batch, dims[2], dims[3], dims[4]});
  }
  hlo::Value separate(const hlo::Value& merged) const {
    const Dims& dims = merged.dims();
    return hlo::reshape(merged, {plane.batch / depth.output[0], depth.output[0], dims[1], dims[2], dims[3]});
  }
  hlo::Value weight_at(const hlo::Value& weight, int64_t k) const {
    Dims start(5, 0), limit = weight.dims();
    start[2] = k;
    limit[2] = k + 1;
    return hlo::reshape(hlo::slice(weight, start, limit, Dims(5, 1)), plane.weight());
  }
};

hlo::Value gather_planes(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& weight) {
  Planes planes(conv);
  hlo::Value padded = pad_for(planes.depth, Planes::turned(big), hlo::scalar_like(big, 0)), sum;
  for (int64_t k = 0; k < planes.count(); ++k) {
    hlo::Value seen = planes.merged(tap(planes.depth, padded, {k}));
    hlo::Value term = gather(c, planes.plane, seen, planes.weight_at(weight, k));
    sum = sum ? sum + term : term;
  }
  return Planes::turned(planes.separate(sum));
}

hlo::Value spread_planes(Context& c, const Convolution& conv, const hlo::Value& small, const hlo::Value& weight) {
  Planes planes(conv);
  hlo::Value source = planes.merged(Planes::turned(small));
  FoldBack fold(planes.depth);
  hlo::Value sum = fold.sum([&](const Dims& place) {
    hlo::Value term = planes.separate(spread(c, planes.plane, source, planes.weight_at(weight, place[0])));
    return fold.shifted(fold.extended(term), place);
  });
  return Planes::turned(sum);
}

hlo::Value relate_planes(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& small) {
  Planes planes(conv);
  hlo::Value padded = pad_for(planes.depth, Planes::turned(big), hlo::scalar_like(big, 0));
  hlo::Value source = planes.merged(Planes::turned(small));
  hlo::Values parts;
  for (int64_t k = 0; k < planes.count(); ++k) {
    hlo::Value part = relate(c, planes.plane, planes.merged(tap(planes.depth, padded, {k})), source);
    Dims dims = part.dims();
    dims.insert(2, 1);
    parts.push_back(hlo::reshape(part, dims));
  }
  return hlo::concatenate(parts, 2);
}

// ------------------------------------------------------------------------------------------ the three products

hlo::Value gather(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& weight) {
  switch (conv.form) {
    case Form::Native: return gather_native(c, conv, big, weight);
    case Form::Columns: return gather_columns(c, conv, big, weight);
    case Form::Dense: return gather(c, ungrouped(conv), big, dense_weight(conv, weight));
    case Form::Planes: return gather_planes(c, conv, big, weight);
    case Form::Taps:
      return gather_taps(conv, hlo::convert(big, accumulator(conv)), hlo::convert(weight, accumulator(conv)));
  }
  fail(ErrorCode::Internal, "convolution: unknown form");
}
hlo::Value spread(Context& c, const Convolution& conv, const hlo::Value& small, const hlo::Value& weight) {
  switch (conv.form) {
    case Form::Native: return spread_native(c, conv, small, weight);
    case Form::Columns: return spread_columns(c, conv, small, weight);
    case Form::Dense: return spread(c, ungrouped(conv), small, dense_weight(conv, weight));
    case Form::Planes: return spread_planes(c, conv, small, weight);
    case Form::Taps:
      return spread_taps(conv, hlo::convert(small, accumulator(conv)), hlo::convert(weight, accumulator(conv)));
  }
  fail(ErrorCode::Internal, "convolution: unknown form");
}
hlo::Value relate(Context& c, const Convolution& conv, const hlo::Value& big, const hlo::Value& small) {
  switch (conv.form) {
    case Form::Native: return relate_native(c, conv, big, small);
    case Form::Columns: return relate_columns(c, conv, big, small);
    case Form::Dense: return grouped_from_dense(conv, relate(c, ungrouped(conv), big, small));
    case Form::Planes: return relate_planes(c, conv, big, small);
    case Form::Taps:
      return relate_taps(c, conv, hlo::convert(big, accumulator(conv)), hlo::convert(small, accumulator(conv)));
  }
  fail(ErrorCode::Internal, "convolution: unknown form");
}

void expect_same_element(const Context& c, const Type& input, const Type& weight) {
  c.expect(input.element == weight.element, ErrorCode::InvalidArgument, "Input type (", torch_name(input.element),
           ") and weight type (", torch_name(weight.element), ") should be the same");
}

hlo::Values convolution(Context& c) {
  Type input = c.type("input"), weight = c.type("weight");
  expect_same_element(c, input, weight);
  Convolution conv = convolution_of(c, input, weight.dims);
  hlo::Value result = c.flag("transposed") ? spread(c, conv, c.tensor("input"), c.tensor("weight"))
                                           : gather(c, conv, c.tensor("input"), c.tensor("weight"));
  if (c.has("bias")) result = result + hlo::broadcast_in_dim(c.tensor("bias", result.element()), result.dims(), {1});
  return {hlo::convert(result, input.element)};
}

// Gradients of input, weight and bias, each where output_mask asks for it.
hlo::Values convolution_backward(Context& c) {
  Type input = c.type("input"), weight = c.type("weight");
  Convolution conv = convolution_of(c, input, weight.dims);
  bool transposed = c.flag("transposed");
  Dims mask = c.ints("output_mask");
  hlo::Value grad = c.tensor("grad_output", input.element);
  hlo::Values results(3);
  if (mask[0]) {
    hlo::Value w = c.tensor("weight");
    results[0] = transposed ? gather(c, conv, grad, w) : spread(c, conv, grad, w);
  }
  if (mask[1]) {
    hlo::Value x = c.tensor("input");
    results[1] = transposed ? relate(c, conv, grad, x) : relate(c, conv, x, grad);
  }
  if (mask[2]) {
    Dims over = Convolution::joined({0}, spatial_from(2, conv.spatial()));
    results[2] = hlo::reduce(hlo::convert(grad, accumulator(conv)), over, hlo::Reducer::Add);
  }
  for (hlo::Value& result : results)
    if (result) result = hlo::convert(result, input.element);
  return results;
}

// ------------------------------------------------------------------------------------------------ host kernels
// Through PyTorch, oneDNN takes a third to four fifths of the time of a large Native convolution, and uses both cores
// (docs/benchmarks.md). In float32 the other forms are faster than it, but for the weight gradient of Taps and the
// gradients of a 1x1 kernel on large maps, and so is Native for few products and for the gradient of an input of few
// channels.

constexpr int64_t kManyProducts = 1 << 24;
constexpr int64_t kLargeMaps = 1 << 14;  // positions of all images
constexpr int64_t kFewChannels = 8;      // of a group

struct Extent {
  int64_t places, positions, products;  // of the kernel; of the window in one image; in all
  int64_t batch, channels;              // images, big channels of a group
  bool is_depthwise;
};

Extent extent_of(const Call& call) {
  const Dims &input = call.type("input").dims, &weight = call.type("weight").dims;
  const Dims& stride = std::get<Dims>(call.param("stride"));
  bool transposed = std::get<bool>(call.param("transposed"));
  Extent extent{1, 1, 0, input[0], weight[1], std::get<int64_t>(call.param("groups")) > 1 && weight[1] == 1};
  for (size_t i = 2; i < input.size(); ++i) {
    int64_t step = transposed || stride.empty() ? 1 : std::max<int64_t>(1, stride[std::min(i - 2, stride.size() - 1)]);
    extent.positions *= (input[i] + step - 1) / step;
    extent.places *= weight[i];
  }
  extent.products = extent.batch * extent.positions * product(weight);
  return extent;
}

bool is_large_native(const Extent& extent) {
  return extent.places > 1 && extent.places <= extent.positions && !extent.is_depthwise &&
         extent.products >= kManyProducts;
}

bool gains_by_onednn(const Call& call) {
  ElementType element = call.type("input").element;
  return element == ElementType::BF16 || (element == ElementType::F32 && is_large_native(extent_of(call)));
}

bool gradients_gain_by_onednn(const Call& call) {
  ElementType element = call.type("input").element;
  if (element != ElementType::F32) return element == ElementType::BF16;
  Extent extent = extent_of(call);
  const Dims& mask = std::get<Dims>(call.param("output_mask"));
  if (extent.is_depthwise) return mask[1] != 0 && extent.places > 1;
  if (extent.places == 1) return extent.batch * extent.positions >= kLargeMaps;
  return is_large_native(extent) && (mask[0] == 0 || extent.channels >= kFewChannels);
}

// --------------------------------------------------------------------------------------- unfold, fold, columns
// [batch, channels, height, width] to [batch, channels * places, positions] and the transpose; the batch may be
// missing.

Sliding column_window(const Context& c, const Dims& input) {
  Sliding window{.first = 2,
                 .input = input,
                 .size = c.ints("kernel_size"),
                 .stride = c.ints("stride"),
                 .padding = c.ints("padding"),
                 .dilation = c.ints("dilation"),
                 .output = {}};
  for (Dims* list : {&window.size, &window.stride, &window.padding, &window.dilation})
    if (list->size() == 1) list->push_back((*list)[0]);
  for (size_t i = 0; i < 2; ++i) {
    c.expect(
        window.size[i] > 0 && window.stride[i] > 0 && window.dilation[i] > 0 && window.padding[i] >= 0,
        ErrorCode::InvalidArgument,
        "kernel size, stride and dilation should be greater than zero and padding non-negative, but got kernel_size: ",
        to_string(window.size), ", stride: ", to_string(window.stride), ", dilation: ", to_string(window.dilation),
        ", padding: ", to_string(window.padding));
    window.output.push_back(
        window_positions(input[i], window.size[i], window.stride[i], window.padding[i], window.dilation[i]));
  }
  return window;
}

hlo::Values im2col(Context& c) {
  hlo::Value x = c.tensor("self");
  bool batched = x.rank() == 4;
  c.expect(batched || x.rank() == 3, ErrorCode::InvalidArgument,
           "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
           "but got: ",
           to_string(x.dims()));
  if (!batched) x = hlo::reshape(x, Convolution::joined({1}, x.dims()));
  Sliding window = column_window(c, {x.dims()[2], x.dims()[3]});
  c.expect(window.output[0] > 0 && window.output[1] > 0, ErrorCode::InvalidArgument, "Given input with spatial size ",
           to_string(window.input), ", calculated shape of the array of sliding blocks as ", to_string(window.output),
           ", but its components must be at least one.");
  int64_t batch = x.dims()[0], channels = x.dims()[1], count = product(window.output);
  hlo::Value padded = pad_for(window, x, hlo::scalar_like(x, 0));
  hlo::Values taps;
  for (int64_t k = 0; k < window.taps(); ++k)
    taps.push_back(hlo::reshape(tap(window, padded, window.place(k)), {batch, channels, 1, count}));
  Dims result{batch, channels * window.taps(), count};
  if (!batched) result.erase(0);
  return {hlo::reshape(hlo::concatenate(taps, 2), result)};
}

hlo::Values col2im(Context& c) {
  hlo::Value x = c.tensor("self");
  bool batched = x.rank() == 3;
  c.expect(batched || x.rank() == 2, ErrorCode::InvalidArgument,
           "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
           "input, but got: ",
           to_string(x.dims()));
  if (!batched) x = hlo::reshape(x, Convolution::joined({1}, x.dims()));
  Dims size = c.ints("output_size");
  if (size.size() == 1) size.push_back(size[0]);
  Sliding window = column_window(c, size);
  int64_t batch = x.dims()[0], places = window.taps(), count = product(window.output);
  c.expect(x.dims()[1] % places == 0, ErrorCode::InvalidArgument,
           "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
           x.dims()[1], " and kernel_size=", to_string(window.size));
  c.expect(window.output[0] > 0 && window.output[1] > 0 && x.dims()[2] == count, ErrorCode::InvalidArgument,
           "Given output_size=", to_string(size), ", kernel_size=", to_string(window.size),
           ", dilation=", to_string(window.dilation), ", padding=", to_string(window.padding),
           ", stride=", to_string(window.stride),
           ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", count,
           ", but got input.size(2)=", x.dims()[2]);
  int64_t channels = x.dims()[1] / places, k = 0;
  hlo::Value columns = hlo::reshape(x, {batch, channels, places, window.output[0], window.output[1]});
  FoldBack fold(window);
  hlo::Value result = fold.sum([&](const Dims& place) {
    Dims start(5, 0), limit = columns.dims();
    start[2] = k;
    limit[2] = ++k;
    hlo::Value one = hlo::slice(columns, start, limit, Dims(5, 1));
    one = hlo::reshape(one, {batch, channels, window.output[0], window.output[1]});
    return fold.shifted(fold.extended(one), place);
  });
  if (!batched) result = hlo::reshape(result, {channels, size[0], size[1]});
  return {result};
}

}  // namespace

Table convolution_table() {
  return {
      row("convolution_overrideable", convolution).host_kernel(gains_by_onednn, "torch_tpu::convolution"),
      row("convolution_backward_overrideable", convolution_backward)
          .host_kernel(gradients_gain_by_onednn, "torch_tpu::convolution_backward"),

      row("im2col", im2col),
      row("im2col.out", im2col),
      row("col2im", col2im),
      row("col2im.out", col2im),
  };
}

}  // namespace tpu::ops
