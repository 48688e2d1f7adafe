// Family sort: order and what is read off it: ranks, medians, modes, and places in a sorted sequence. Values go in;
// values and the positions they come from go out. The order is PyTorch's: NaN is the largest, -0 equals 0, equals keep
// their order.
#include <algorithm>
#include <limits>

#include "ops/axis.h"
#include "ops/elementwise.h"
#include "ops/host_call.h"
#include "ops/scan.h"
#include "ops/sort.h"

namespace tpu::ops {

namespace {

using hlo::Reducer;
using hlo::Value;
using hlo::Values;

// Note [Sorting keys]
// XLA:CPU sorts one operand with `<` as fast as std::sort, but two operands, or a comparator that knows NaN, four to
// six times slower (100,000 floats: 7.6 ms against 28 and 46 ms; torch 8 to 60 ms). So elements become integers that
// compare as they do, and the position of each element is packed below its key in one 64-bit integer: the order of
// these is the stable order, the position comes back as the low half, and values are gathered by it. Keys of 64 bits
// are sorted by their low half, then stably by their high half.

// ------------------------------------------------------------------------------------------------ shared moves

Value bits_like(const Value& x, uint64_t bits) { return hlo::like(x, static_cast<int64_t>(bits)); }

// A float's bits as a signed integer in the order of the floats: sign and magnitude become two's complement, so that
// both zeros are 0; NaN of either sign is above infinity.
Value float_key(const Value& x) {
  size_t bytes = size_of(x.element());
  ElementType integer = bytes == 8 ? ElementType::S64 : bytes == 4 ? ElementType::S32 : ElementType::S16;
  Value bits = hlo::bitcast_convert(x, integer);
  Value largest = hlo::broadcast(highest(*x.builder, integer), bits.dims());
  Value magnitude = hlo::and_(bits, largest);
  Value infinity = hlo::broadcast(hlo::bitcast_convert(highest(*x.builder, x.element()), integer), bits.dims());
  Value key = hlo::select(hlo::lt(bits, zeros_like(bits)), hlo::negate(magnitude), magnitude);
  return hlo::select(hlo::gt(magnitude, infinity), largest, key);
}

// An integer of 32 or 64 bits that orders as x does.
Value key_of(const Value& x) {
  ElementType type = x.element();
  if (is_floating(type)) {
    Value key = float_key(x);
    return key.element() == ElementType::S16 ? hlo::convert(key, ElementType::S32) : key;
  }
  if (type == ElementType::S64) return x;
  if (type == ElementType::U64) {
    Value bits = hlo::bitcast_convert(x, ElementType::S64);
    return hlo::xor_(bits, hlo::broadcast(lowest(*x.builder, ElementType::S64), bits.dims()));
  }
  return hlo::convert(x, type == ElementType::U32 ? ElementType::S64 : ElementType::S32);
}

// `high` (S64, only its low 32 bits count) above the position in the last dimension, sorted; the positions come out.
Value order_by(const Value& high) {
  Value packed = hlo::shift_left(high, hlo::like(high, 32));
  packed = hlo::or_(packed, hlo::iota(*high.builder, high.type, high.rank() - 1));
  Value sorted =
      hlo::sort({packed}, high.rank() - 1, false, [](const Values& x) { return Values{hlo::lt(x[0], x[1])}; })[0];
  return hlo::and_(sorted, bits_like(sorted, 0xffffffff));
}

// The positions (S64) of the sorted elements along the last dimension.
Value order_of(Value key, bool descending) {
  if (descending) key = hlo::not_(key);
  if (key.element() == ElementType::S32) return order_by(hlo::convert(key, ElementType::S64));
  int64_t last = key.rank() - 1;
  // The low half is unsigned, the packed integer is not: its highest bit is turned over.
  Value first = order_by(hlo::xor_(key, bits_like(key, 0x80000000)));
  Value second = order_by(hlo::shift_right_arithmetic(take_along(key, first, last), hlo::like(key, 32)));
  return take_along(first, second, last);
}

// self with `dim` last, and the way back. A 0-d tensor has one dimension of one element.
struct Lane {
  Value x;
  int64_t dim = 0;
  int64_t rank = 0;  // of self

  int64_t last() const { return x.rank() - 1; }
  int64_t size() const { return x.dims().back(); }
  /// A result that still has the last dimension.
  Value back(const Value& value) const { return rank == 0 ? hlo::reshape(value, {}) : move_from_last(value, dim); }
  /// A result of one element in the last dimension, which goes or stays.
  Value pick(const Value& value, bool keepdim) const {
    if (rank > 0 && keepdim) return move_from_last(value, dim);
    Dims dims = value.dims();
    dims.pop_back();
    return hlo::reshape(value, dims);
  }
};

Lane lane_of(Context& c) {
  Lane lane;
  Value self = c.tensor("self");
  lane.rank = self.rank();
  lane.dim = wrap_dim(c.integer("dim"), lane.rank);
  lane.x = lane.rank == 0 ? hlo::reshape(self, {1}) : move_to_last(self, lane.dim);
  return lane;
}

// Elements start .. start + count of the last dimension.
Value cut_last(const Value& x, int64_t start, int64_t count) {
  Dims low(x.dims().size()), high = x.dims();
  low.back() = start;
  high.back() = start + count;
  return hlo::slice(x, low, high, Dims(x.dims().size(), 1));
}

void expect_nonempty(const Context& c, const Lane& lane, const char* name) {
  c.expect(lane.size() > 0, ErrorCode::Index, name, "(): Expected reduction dim ", lane.dim, " to have non-zero size.");
}

// -------------------------------------------------------------------------------------------- sort, topk, kth

Values sort(Context& c) {
  c.expect(!is_complex(c.type("self").element), ErrorCode::InvalidArgument,
           " Sort does not support complex dtypes on CPU");
  Lane lane = lane_of(c);
  Value order = order_of(key_of(lane.x), c.flag("descending"));
  return {lane.back(take_along(lane.x, order, lane.last())), lane.back(order)};
}

// Whether every value of the type is a float32: then the plugins' own top_k can rank it.
bool fits_float(ElementType type) {
  return type == ElementType::F32 || ((is_floating(type) || is_integral(type)) && size_of(type) <= 2);
}

// What top_k shall rank. It goes by the order of the bits: a NaN comes first or, with its sign set, last, which is
// where the smallest elements want it.
Value ranked(const Value& x, bool largest) {
  Value bits = hlo::constant(*x.builder, ElementType::S32, int64_t{largest ? 0x7fc00000 : 0xffc00000});
  Value nan = hlo::broadcast(hlo::bitcast_convert(bits, ElementType::F32), x.dims());
  return hlo::select(is_nan(x), nan, largest ? x : hlo::negate(x));
}

Values topk(Context& c) {
  ElementType type = c.type("self").element;
  c.expect(type != ElementType::Pred, ErrorCode::InvalidArgument, "topk does not support bool dtypes on CPU");
  c.expect(!is_complex(type), ErrorCode::InvalidArgument, "topk does not support complex dtypes on CPU");
  Lane lane = lane_of(c);
  int64_t k = lane.rank == 0 ? 1 : c.integer("k");
  bool largest = c.flag("largest");
  Value order;
  if (fits_float(type) && k > 0 && lane.x.type.count() > 0) {
    order = hlo::convert(hlo::top_k(ranked(hlo::convert(lane.x, ElementType::F32), largest), k)[1], ElementType::S64);
  } else {
    order = cut_last(order_of(key_of(lane.x), largest), 0, k);
  }
  return {lane.back(take_along(lane.x, order, lane.last())), lane.back(order)};
}

Values kthvalue(Context& c) {
  expect_kind(c, c.type("self").element, kInteger | kReal);
  Lane lane = lane_of(c);
  int64_t k = c.integer("k");
  expect_nonempty(c, lane, "kthvalue");
  c.expect(k >= 1 && k <= lane.size(), ErrorCode::InvalidArgument,
           "kthvalue(): selected number k out of range for dimension ", lane.dim);
  Value index = cut_last(order_of(key_of(lane.x), false), k - 1, 1);
  Value value = take_along(lane.x, index, lane.last());
  return {lane.pick(value, c.flag("keepdim")), lane.pick(index, c.flag("keepdim"))};
}

// ------------------------------------------------------------------------------------------- median and mode

// The position of the lower median along the last dimension, which stays with one element. A NaN is the median of all,
// or, with `ignore_nan`, of nothing but NaN; they stand at the end of the order.
Value median_position(Context& c, const Value& x, bool ignore_nan) {
  int64_t last = x.rank() - 1, n = x.dims().back();
  Value order = order_of(key_of(x), false);
  if (!is_floating(x.element())) return cut_last(order, (n - 1) / 2, 1);
  Fold along = fold_one(c, x, last);
  Value nans = along.reduce(hlo::convert(is_nan(x), ElementType::S64), Reducer::Add);
  Value numbers = hlo::subtract(hlo::like(nans, n), nans);
  Value rank;
  if (ignore_nan) {
    rank = hlo::divide(hlo::subtract(numbers, hlo::like(numbers, 1)), hlo::like(numbers, 2));
    rank = hlo::maximum(rank, zeros_like(rank));
  } else {
    rank = hlo::select(hlo::gt(nans, zeros_like(nans)), numbers, hlo::like(nans, (n - 1) / 2));
  }
  along.keepdim = true;
  return take_along(order, along.finish(rank), last);
}

template <bool ignore_nan>
Values median(Context& c) {
  expect_kind(c, c.type("self").element, kInteger | kReal);
  Value x = c.tensor("self");
  if (x.type.count() == 0) {
    // What PyTorch's CPU kernel makes of a NaN in an integer.
    if (!is_floating(x.element())) return {lowest(c.builder(), x.element())};
    return {hlo::constant(c.builder(), x.element(), std::numeric_limits<double>::quiet_NaN())};
  }
  x = hlo::reshape(x, {x.type.count()});
  return {hlo::reshape(take_along(x, median_position(c, x, ignore_nan), 0), {})};
}

template <bool ignore_nan>
Values median_of_dim(Context& c) {
  expect_kind(c, c.type("self").element, kInteger | kReal);
  Lane lane = lane_of(c);
  expect_nonempty(c, lane, "median");
  Value index = median_position(c, lane.x, ignore_nan);
  Value value = take_along(lane.x, index, lane.last());
  return {lane.pick(value, c.flag("keepdim")), lane.pick(index, c.flag("keepdim"))};
}

// In the sorted elements every run of equals counts itself; the first to reach the highest count is the smallest of the
// most frequent values, and it reaches it at its last occurrence.
Values mode(Context& c) {
  expect_kind(c, c.type("self").element, kIntegral | kReal);
  Lane lane = lane_of(c);
  expect_nonempty(c, lane, "mode");
  int64_t last = lane.last(), n = lane.size();
  Value key = key_of(lane.x);
  Value order = order_of(key, false);
  Value sorted = take_along(key, order, last);
  Value position = positions(sorted, last);
  Dims shift(sorted.dims().size()), none(sorted.dims().size());
  Dims crop = shift;
  shift.back() = 1, crop.back() = -1;
  Value before = hlo::pad(sorted, hlo::scalar_like(sorted, 0), shift, crop, none);
  Value begins = hlo::or_(hlo::ne(sorted, before), hlo::eq(position, zeros_like(position)));
  // No NaN equals another.
  if (is_floating(lane.x.element())) begins = hlo::or_(begins, is_nan(take_along(lane.x, order, last)));
  Value start = running_maximum(hlo::select(begins, position, zeros_like(position)), last);
  Value run = hlo::subtract(position, start);
  Fold along = fold_one(c, run, last);
  Value longest = along.spread(along.reduce(run, Reducer::Max));
  Dims one = sorted.dims();
  one.back() = n == 0 ? 0 : 1;
  Value place = hlo::reshape(first_where(c, hlo::eq(run, longest), last), one);
  Value index = take_along(order, place, last);
  Value value = take_along(lane.x, index, last);
  return {lane.pick(value, c.flag("keepdim")), lane.pick(index, c.flag("keepdim"))};
}

// ---------------------------------------------------------------------------------- places in a sorted sequence

Value search(Context& c, const char* boundaries_name, const char* values_name, bool right, const Value& sorter) {
  ElementType type = compute_type(result_type(c, {boundaries_name, values_name}));
  Value boundaries = c.tensor(boundaries_name, type);
  Value values = c.tensor(values_name, type);
  ElementType result = c.flag("out_int32") ? ElementType::S32 : ElementType::S64;
  c.expect(c.target_element(0, result) == result, ErrorCode::InvalidArgument,
           "torch.searchsorted(): output tensor's dtype is wrong, ",
           "it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is True, but we got output "
           "tensor's dtype ",
           scalar_type_name(c.target_element(0, result)), " and out_int32 flag is ",
           c.flag("out_int32") ? "True" : "False");
  auto flat = [&](const Value& x) {
    if (!x) return x;
    int64_t length = boundaries.rank() == 1 ? x.type.count() : x.dims().back();
    int64_t rows = length == 0 ? 0 : x.type.count() / length;
    return hlo::reshape(x, boundaries.rank() == 1 ? Dims{length} : Dims{rows, length});
  };
  if (values.type.count() == 0) return hlo::constant(c.builder(), Type{result, values.dims()}, 0);
  Value places = binary_search(flat(boundaries), flat(sorter), flat(values), right);
  return hlo::convert(hlo::reshape(places, values.dims()), result);
}

Values bucketize(Context& c) {
  c.expect(c.type("boundaries").rank() == 1, ErrorCode::InvalidArgument,
           "boundaries tensor must be 1 dimension, but got dim(", c.type("boundaries").rank(), ")");
  return {search(c, "boundaries", "self", c.flag("right"), {})};
}

void expect_rows(const Context& c) {
  const Dims boundaries = c.type("sorted_sequence").dims, values = c.type("self").dims;
  bool fits = boundaries.size() == 1 || (boundaries.size() == values.size() && !boundaries.empty() &&
                                         std::equal(boundaries.begin(), boundaries.end() - 1, values.begin()));
  c.expect(!boundaries.empty() || c.is_scalar("self"), ErrorCode::InvalidArgument,
           "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
  c.expect(fits, ErrorCode::InvalidArgument,
           "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
           "boundaries tensor and input value tensor must match, but we got boundaries tensor ",
           to_string(boundaries), " and input value tensor ", to_string(values));
}

Values searchsorted(Context& c) {
  bool right = c.flag("right");
  if (c.has("side")) {
    std::string side = c.text("side");
    c.expect(side == "left" || side == "right", ErrorCode::InvalidArgument,
             "torch.searchsorted(): side can only be 'left' or 'right' but got ", side);
    c.expect(side == "right" || !right, ErrorCode::InvalidArgument,
             "torch.searchsorted(): side and right can't be set to opposites, "
             "got side of ",
             side, " while right was True");
    right = side == "right";
  }
  expect_rows(c);
  Value sorter;
  if (c.has("sorter")) {
    const Dims boundaries = c.type("sorted_sequence").dims;
    c.expect(c.type("sorter").dims == boundaries, ErrorCode::InvalidArgument,
             "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor ",
             to_string(boundaries), "and got sorter tensor ", to_string(c.type("sorter").dims));
    c.expect(c.type("sorter").element == ElementType::S64, ErrorCode::InvalidArgument,
             "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
             scalar_type_name(c.type("sorter").element));
    sorter = c.tensor("sorter");
    Value outside =
        hlo::or_(hlo::lt(sorter, zeros_like(sorter)), hlo::ge(sorter, hlo::like(sorter, boundaries.back())));
    c.require_not(outside, sorter, ErrorCode::InvalidArgument, "torch.searchsorted(): sorter index out of range");
  }
  return {search(c, "sorted_sequence", "self", right, sorter)};
}

bool has_large_rows(const Call& call) { return is_large(call) && is_along_memory(call); }

}  // namespace

// The binary search of PyTorch's CPU kernel, all elements in step. A NaN is never less than a boundary, so it comes to
// the end.
Value binary_search(const Value& boundaries, const Value& sorter, const Value& values, bool right) {
  hlo::Builder& builder = *values.builder;
  int64_t last = boundaries.rank() - 1, n = boundaries.dims().back();
  int64_t rounds = 0;
  while ((int64_t{1} << rounds) <= n) ++rounds;
  Type places = {ElementType::S64, values.dims()};
  Values inits = {hlo::constant(builder, ElementType::S32, 0), hlo::constant(builder, places, 0),
                  hlo::constant(builder, places, n), boundaries, values};
  if (sorter) inits.push_back(sorter);
  auto more = [rounds](const Values& args) { return Values{hlo::lt(args[0], hlo::like(args[0], rounds))}; };
  auto step = [&](const Values& args) {
    const Value &low = args[1], &high = args[2];
    Value middle = hlo::add(low, hlo::shift_right_arithmetic(hlo::subtract(high, low), hlo::like(low, 1)));
    Value place = args.size() > 5 ? take_along(args[5], middle, last) : middle;
    Value boundary = take_along(args[3], place, last);
    Value upper = hlo::not_(right ? hlo::gt(boundary, args[4]) : hlo::ge(boundary, args[4]));
    Value open = hlo::lt(low, high);
    Values next = args;
    next[0] = hlo::add(args[0], hlo::like(args[0], 1));
    next[1] = hlo::select(hlo::and_(open, upper), hlo::add(middle, hlo::like(middle, 1)), low);
    next[2] = hlo::select(hlo::and_(open, hlo::not_(upper)), middle, high);
    return next;
  };
  return n == 0 ? inits[1] : hlo::while_(inits, more, step)[1];
}

// Values (of any shape, or with the leading dimensions of the boundaries) to places, in their shape.
Table sort_table() {
  return {
      row("sort.values_stable", sort).host_kernel(has_large_rows),
      row("topk.values", topk).host_kernel(has_large_rows),
      row("kthvalue.values", kthvalue),

      row("median", median<false>),
      row("nanmedian", median<true>),
      row("median.dim_values", median_of_dim<false>),
      row("nanmedian.dim_values", median_of_dim<true>),
      row("mode", mode),

      row("bucketize.Tensor", bucketize),
      row("bucketize.Tensor_out", bucketize),
      row("bucketize.Scalar", bucketize),
      row("searchsorted.Tensor", searchsorted),
      row("searchsorted.Tensor_out", searchsorted),
      row("searchsorted.Scalar", searchsorted),
      row("searchsorted.Scalar_out", searchsorted),
  };
}

}  // namespace tpu::ops
