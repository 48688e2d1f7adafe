// Reductions of segments: data is cut along an axis into pieces of given lengths, and each piece is reduced. Written as
// native ops: the number of its segment for every position of the axis, then scatters and gathers.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "aten/slow_on_cpu.h"

namespace tpu::aten {

namespace {

/// The segments of `data`: sizes have those of data up to the axis.
struct Segments {
  int64_t axis, count;
  at::Tensor lengths;  // [.., count]
  at::Tensor number;   // of its segment for every element of data; `count` behind the last one

  /// [.., count, ..] to the shape of data: what belongs to the segment of each element.
  at::Tensor spread(const at::Tensor& of_segments) const {
    return of_segments.gather(axis, number.clamp_max(std::max<int64_t>(count - 1, 0)));
  }
  /// Lengths as they stand beside a result of `dim` dimensions, at least 1.
  at::Tensor sizes(const at::Tensor& like) const {
    at::Tensor result = lengths.to(like.scalar_type());
    while (result.dim() < like.dim()) result = result.unsqueeze(-1);
    return result.clamp_min(1);
  }
  at::Tensor is_empty(const at::Tensor& like) const {
    at::Tensor result = lengths.eq(0);
    while (result.dim() < like.dim()) result = result.unsqueeze(-1);
    return result.expand_as(like);
  }
};

at::Tensor ends_of(const std::optional<at::Tensor>& lengths, const std::optional<at::Tensor>& offsets, int64_t axis) {
  if (lengths && lengths->defined()) return lengths->to(at::kLong).cumsum(axis);
  return offsets->to(at::kLong).narrow(axis, 1, offsets->size(axis) - 1);
}

Segments segments_of(const at::Tensor& data, const std::optional<at::Tensor>& lengths,
                     const std::optional<at::Tensor>& offsets, int64_t axis) {
  bool has_lengths = lengths && lengths->defined();
  TORCH_CHECK(has_lengths || (offsets && offsets->defined()),
              "segment_reduce(): Either lengths or offsets must be defined.");
  const at::Tensor& given = has_lengths ? *lengths : *offsets;
  axis = at::maybe_wrap_dim(axis, data.dim());
  TORCH_CHECK(given.dim() == axis + 1, "segment_reduce(): Expected ", has_lengths ? "lengths" : "offsets", " to have ",
              axis + 1, " dimensions, one more than the axis, got ", given.dim());
  for (int64_t d = 0; d < axis; ++d)
    TORCH_CHECK(given.size(d) == data.size(d), "segment_reduce(): sizes of ", has_lengths ? "lengths" : "offsets",
                " and data differ in dimension ", d, ": ", given.size(d), " and ", data.size(d));
  Segments s{axis, has_lengths ? given.size(axis) : given.size(axis) - 1, {}, {}};
  s.lengths = has_lengths ? given.to(at::kLong) : given.to(at::kLong).diff(1, axis);
  at::Tensor ends = ends_of(lengths, offsets, axis).contiguous();
  std::vector<int64_t> shape(given.sizes().begin(), given.sizes().end());
  shape.back() = data.size(axis);
  at::Tensor places = at::arange(data.size(axis), ends.options()).expand(shape).contiguous();
  s.number = at::searchsorted(ends, places, /*out_int32=*/false, /*right=*/true);
  while (s.number.dim() < data.dim()) s.number = s.number.unsqueeze(-1);
  s.number = s.number.expand(data.sizes());
  return s;
}

void check_lengths(const at::Tensor& data, const Segments& s) {
  if (s.lengths.numel() == 0) return;
  at::Tensor sums = s.lengths.sum(s.axis);
  at::Tensor facts = at::stack({s.lengths.min(), sums.min(), sums.max()}).cpu();
  TORCH_CHECK(facts[0].item<int64_t>() >= 0, "lengths contains negative value!");
  int64_t size = data.size(s.axis);
  TORCH_CHECK(facts[1].item<int64_t>() == size && facts[2].item<int64_t>() == size,
              "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
              "!unsafe.");
}

/// scatter_reduce's name of the reduction.
std::string_view scattering(std::string_view reduce) {
  if (reduce == "max") return "amax";
  if (reduce == "min") return "amin";
  if (reduce == "mean" || reduce == "sum") return "sum";
  TORCH_CHECK(reduce == "prod", "Unsupported reduction given! ", reduce);
  return "prod";
}

double neutral(std::string_view reduce) {
  if (reduce == "max") return -INFINITY;
  if (reduce == "min") return INFINITY;
  return reduce == "prod" ? 1 : 0;
}

/// Each segment reduced, from `initial` on. What lies behind the last segment goes into one more, which is cut off.
at::Tensor reduced(const Segments& s, const at::Tensor& data, std::string_view reduce, const at::Scalar& initial) {
  std::vector<int64_t> shape(data.sizes().begin(), data.sizes().end());
  shape[static_cast<size_t>(s.axis)] = s.count + 1;
  at::Tensor result = at::full(shape, initial, data.options());
  if (data.numel() > 0) result = result.scatter_reduce(s.axis, s.number, data, scattering(reduce));
  return result.narrow(s.axis, 0, s.count).contiguous();
}

at::Tensor segment_reduce(const at::Tensor& data, std::string_view reduce, const std::optional<at::Tensor>& lengths,
                          const std::optional<at::Tensor>& indices, const std::optional<at::Tensor>& offsets,
                          int64_t axis, bool unsafe, const std::optional<at::Scalar>& initial) {
  TORCH_CHECK(!indices || !indices->defined(), "segment_reduce(): indices based reduction is not supported yet.");
  Segments s = segments_of(data, lengths, offsets, axis);
  if (!unsafe && lengths && lengths->defined()) check_lengths(data, s);
  at::Tensor result = reduced(s, data, reduce, initial ? *initial : at::Scalar(neutral(reduce)));
  if (reduce != "mean") return result;
  result = result / s.sizes(result);
  return initial ? result : result.masked_fill(s.is_empty(result), NAN);
}

/// 1 where an element is its segment's extreme, or NaN, shared among equals.
at::Tensor shares_of_extreme(const Segments& s, const at::Tensor& data, const at::Tensor& output) {
  at::Tensor is_it = data.eq(s.spread(output)).logical_or(data.isnan()).to(data.scalar_type());
  return is_it / s.spread(reduced(s, is_it, "sum", 0)).clamp_min(1);
}

/// The product of all other elements of the segment. By division, but where that is by zero or NaN.
at::Tensor products_of_others(const Segments& s, const at::Tensor& data, const at::Tensor& output,
                              const at::Scalar& initial) {
  at::Tensor is_nan = data.isnan(), is_odd = is_nan.logical_or(data.eq(0));
  auto total = [&](const at::Tensor& condition) {
    return s.spread(reduced(s, condition.to(data.scalar_type()), "sum", 0));
  };
  at::Tensor rest = s.spread(reduced(s, data.masked_fill(is_odd, 1), "prod", initial));
  at::Tensor other_nans = total(is_nan) - is_nan.to(data.scalar_type());
  rest = rest.masked_fill(total(is_odd).gt(1), 0).masked_fill(other_nans.gt(0), NAN);
  return at::where(is_odd, rest, s.spread(output) / data);
}

at::Tensor segment_reduce_backward(const at::Tensor& grad, const at::Tensor& output, const at::Tensor& data,
                                   std::string_view reduce, const std::optional<at::Tensor>& lengths,
                                   const std::optional<at::Tensor>& offsets, int64_t axis,
                                   const std::optional<at::Scalar>& initial) {
  Segments s = segments_of(data, lengths, offsets, axis);
  if (data.numel() == 0 || s.count == 0) return at::zeros_like(data);
  at::Tensor result = s.spread(grad);
  if (reduce == "max" || reduce == "min") result = result * shares_of_extreme(s, data, output);
  if (reduce == "mean") result = s.spread(grad / s.sizes(grad));
  if (reduce == "prod") result = result * products_of_others(s, data, output, initial ? *initial : at::Scalar(1));
  return result.masked_fill(s.number.ge(s.count), 0);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("segment_reduce", slow_on_cpu<&segment_reduce>());
  m.impl("_segment_reduce_backward", slow_on_cpu<&segment_reduce_backward>());
}

}  // namespace

}  // namespace tpu::aten
