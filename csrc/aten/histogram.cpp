// Histograms: what goes in are samples, and bins as a number (of equal width between bounds that are given or the
// extremes of the data, which the host reads) or as edges; what comes out is how many samples, or how much weight, fell
// into each bin. A program has the number of bins and the shape of the samples as structure, never the bounds.
#include <ATen/TensorOperators.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "aten/slow_on_cpu.h"

namespace tpu::aten {

namespace {

void check_floating(const at::Tensor& self, const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble, "\"", name,
                              "\" not implemented for '", self.scalar_type(), "'");
}

/// Smallest and largest element of each column, [2, columns], on the host.
at::Tensor extremes(const at::Tensor& columns) {
  auto [low, high] = at::aminmax(columns, 0);
  return at::stack({low, high}).to(at::kDouble).cpu();
}

struct Bounds {
  double low = 0, high = 0;

  bool are_finite() const { return std::isfinite(low) && std::isfinite(high); }
};

// ------------------------------------------------------------------------------------------------------------ histc

Bounds histc_bounds(const at::Tensor& self, const at::Scalar& min, const at::Scalar& max) {
  Bounds bounds{min.toDouble(), max.toDouble()};
  if (bounds.low == bounds.high && self.numel() > 0) {
    at::Tensor found = extremes(self.reshape({-1, 1}));
    bounds = {found[0][0].item<double>(), found[1][0].item<double>()};
  }
  if (bounds.low == bounds.high) --bounds.low, ++bounds.high;
  TORCH_CHECK(bounds.are_finite(), "range of [", bounds.low, ", ", bounds.high, "] is not finite");
  TORCH_CHECK(bounds.low < bounds.high, "max must be larger than min");
  return bounds;
}

at::Tensor equal_counts(const at::Tensor& self, int64_t bins, const at::Scalar& min, const at::Scalar& max) {
  TORCH_CHECK(bins > 0, "bins must be > 0");
  check_floating(self, "histogram_cpu");
  Bounds bounds = histc_bounds(self, min, max);
  at::Tensor x = self.reshape(-1);
  at::Tensor is_inside = x.ge(bounds.low).logical_and(x.le(bounds.high));
  at::Tensor place = x.sub(bounds.low).mul(static_cast<double>(bins)).div(bounds.high - bounds.low);
  place = place.masked_fill(is_inside.logical_not(), 0).to(at::kLong).clamp(0, bins - 1);
  return at::zeros({bins}, self.options()).scatter_add(0, place, is_inside.to(self.scalar_type()));
}

at::Tensor& histc_out(const at::Tensor& self, int64_t bins, const at::Scalar& min, const at::Scalar& max,
                      at::Tensor& out) {
  at::Tensor result = equal_counts(self, bins, min, max);
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "torch.histogram: input tensor and hist tensor should have the ",
              "same dtype, but got input ", self.scalar_type(), " and hist ", out.scalar_type());
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

// ------------------------------------------------------------------------------------------- of several dimensions

/// Samples [count, dimensions], and what each weighs.
struct Samples {
  at::Tensor points;
  std::optional<at::Tensor> weights;
};

Samples samples_of(const at::Tensor& self, const std::optional<at::Tensor>& weight) {
  check_floating(self, "histogramdd");
  TORCH_CHECK(self.dim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions, but got ",
              self.dim());
  int64_t dimensions = self.size(-1);
  Samples samples{self.reshape({dimensions == 0 ? 0 : self.numel() / dimensions, dimensions}), std::nullopt};
  if (!weight || !weight->defined()) return samples;
  TORCH_CHECK(weight->scalar_type() == self.scalar_type(),
              "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
              "dtype, but got input(",
              self.scalar_type(), "), and weight(", weight->scalar_type(), ")");
  TORCH_CHECK(weight->numel() == samples.points.size(0),
              "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
              "excluding its innermost dimension, but got input with shape ",
              self.sizes(), " and weight with shape ", weight->sizes());
  samples.weights = weight->reshape(-1);
  return samples;
}

/// Equal bins between the bounds of each dimension, [bins + 1] edges each.
std::vector<at::Tensor> equal_bins(const at::Tensor& points, at::IntArrayRef bins,
                                   const std::optional<at::ArrayRef<double>>& range) {
  auto dimensions = static_cast<size_t>(points.size(1));
  TORCH_CHECK(bins.size() == dimensions, "torch.histogramdd: expected bins to have one entry per dimension, ",
              dimensions, ", got ", bins.size());
  TORCH_CHECK(!range || range->size() == 2 * dimensions, "torch.histogramdd: for a ", dimensions,
              "-dimensional histogram range should have ", 2 * dimensions, " elements, but got ",
              range ? range->size() : 0);
  at::Tensor found;
  if (!range && points.numel() > 0) found = extremes(points);
  std::vector<at::Tensor> edges;
  for (size_t d = 0; d < dimensions; ++d) {
    TORCH_CHECK(bins[d] > 0, "torch.histogramdd(): bins must be > 0, but got ", bins[d], " for dimension ", d);
    auto column = static_cast<int64_t>(d);
    Bounds bounds{0, 1};
    if (range) bounds = {(*range)[2 * d], (*range)[2 * d + 1]};
    if (found.defined()) bounds = {found[0][column].item<double>(), found[1][column].item<double>()};
    TORCH_CHECK(bounds.are_finite(), "torch.histogramdd: dimension ", d, "'s range [", bounds.low, ", ", bounds.high,
                "] is not finite");
    TORCH_CHECK(bounds.low <= bounds.high, "torch.histogramdd: min should not exceed max, but got min ", bounds.low,
                " max ", bounds.high, " for dimension ", d);
    if (bounds.low == bounds.high) bounds.low -= 0.5, bounds.high += 0.5;
    edges.push_back(at::linspace(bounds.low, bounds.high, bins[d] + 1, points.options()));
  }
  return edges;
}

/// The weight in each bin, [bins, ..]. A bin has its lower edge, the last one its upper edge too.
at::Tensor histogram(const Samples& samples, at::ArrayRef<at::Tensor> edges, bool density) {
  TORCH_CHECK(static_cast<int64_t>(edges.size()) == samples.points.size(1), "torch.histogramdd: expected ",
              samples.points.size(1), " sequences of bin edges for a ", samples.points.size(1),
              "-dimensional histogram but got ", edges.size());
  at::TensorOptions options = samples.points.options();
  at::Tensor place = at::zeros({samples.points.size(0)}, options.dtype(at::kLong)), is_inside;
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < edges.size(); ++d) {
    at::Tensor x = samples.points.select(1, static_cast<int64_t>(d)).contiguous(), edge = edges[d].contiguous();
    TORCH_CHECK(edge.scalar_type() == x.scalar_type(), "torch.histogramdd: input tensor and bins tensors should have ",
                "the same dtype, but got input with dtype ", x.scalar_type(), " and bins for dimension ", d,
                " with dtype ", edge.scalar_type());
    TORCH_CHECK(edge.dim() == 1 && edge.numel() > 0, "torch.histogramdd: bins tensor for dimension ", d,
                " should be 1-dimensional and not empty, but got sizes ", edge.sizes());
    int64_t bins = edge.numel() - 1;
    at::Tensor at = at::searchsorted(edge, x, /*out_int32=*/false, /*right=*/true) - 1;
    at::Tensor inside = x.ge(edge.select(0, 0)).logical_and(x.le(edge.select(0, bins)));
    is_inside = is_inside.defined() ? is_inside.logical_and(inside) : inside;
    place = place * bins + at.clamp(0, std::max<int64_t>(bins - 1, 0));
    sizes.push_back(bins);
  }
  at::Tensor weights = samples.weights ? *samples.weights : at::ones({place.size(0)}, options);
  at::Tensor counts = at::zeros({c10::multiply_integers(sizes)}, options);
  if (counts.numel() > 0)
    counts = counts.scatter_add(0, place.masked_fill(is_inside.logical_not(), 0),
                                weights.masked_fill(is_inside.logical_not(), 0));
  counts = counts.reshape(sizes);
  if (!density) return counts;
  counts = counts / counts.sum();
  for (size_t d = 0; d < edges.size(); ++d) {
    std::vector<int64_t> shape(edges.size(), 1);
    shape[d] = sizes[d];
    counts = counts / edges[d].diff().reshape(shape);
  }
  return counts;
}

std::vector<at::Tensor> histogramdd_bin_edges(const at::Tensor& self, at::IntArrayRef bins,
                                              std::optional<at::ArrayRef<double>> range,
                                              const std::optional<at::Tensor>& weight, bool) {
  return equal_bins(samples_of(self, weight).points, bins, range);
}

at::Tensor histogramdd_from_bin_cts(const at::Tensor& self, at::IntArrayRef bins,
                                    std::optional<at::ArrayRef<double>> range, const std::optional<at::Tensor>& weight,
                                    bool density) {
  Samples samples = samples_of(self, weight);
  return histogram(samples, equal_bins(samples.points, bins, range), density);
}

at::Tensor histogramdd_from_bin_tensors(const at::Tensor& self, at::TensorList bins,
                                        const std::optional<at::Tensor>& weight, bool density) {
  return histogram(samples_of(self, weight), bins, density);
}

// ------------------------------------------------------------------------------------------------ of one dimension

using Histogram = std::tuple<at::Tensor, at::Tensor>;

Histogram histogram_bin_ct(const at::Tensor& self, int64_t bins, std::optional<at::ArrayRef<double>> range,
                           const std::optional<at::Tensor>& weight, bool density) {
  Samples samples = samples_of(self.reshape({-1, 1}), weight);
  std::vector<at::Tensor> edges = equal_bins(samples.points, bins, range);
  return {histogram(samples, edges, density), edges[0]};
}

Histogram histogram_bins_tensor(const at::Tensor& self, const at::Tensor& bins, const std::optional<at::Tensor>& weight,
                                bool density) {
  return {histogram(samples_of(self.reshape({-1, 1}), weight), {bins}, density), bins.clone()};
}

std::tuple<at::Tensor&, at::Tensor&> give(const Histogram& result, at::Tensor& hist, at::Tensor& edges) {
  for (auto [out, value] : {std::pair(&hist, &std::get<0>(result)), std::pair(&edges, &std::get<1>(result))}) {
    TORCH_CHECK(out->scalar_type() == value->scalar_type(), "torch.histogram: input tensor and output tensors should ",
                "have the same dtype, but got input ", value->scalar_type(), " and output ", out->scalar_type());
    at::native::resize_output(*out, value->sizes());
    out->copy_(*value);
  }
  return std::forward_as_tuple(hist, edges);
}

std::tuple<at::Tensor&, at::Tensor&> histogram_bin_ct_out(const at::Tensor& self, int64_t bins,
                                                          std::optional<at::ArrayRef<double>> range,
                                                          const std::optional<at::Tensor>& weight, bool density,
                                                          at::Tensor& hist, at::Tensor& edges) {
  return give(histogram_bin_ct(self, bins, range, weight, density), hist, edges);
}

std::tuple<at::Tensor&, at::Tensor&> histogram_bins_tensor_out(const at::Tensor& self, const at::Tensor& bins,
                                                               const std::optional<at::Tensor>& weight, bool density,
                                                               at::Tensor& hist, at::Tensor& edges) {
  return give(histogram_bins_tensor(self, bins, weight, density), hist, edges);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("histc", slow_on_cpu<&equal_counts>());
  m.impl("histc.out", slow_on_cpu<&histc_out>());
  m.impl("histogram.bin_ct", slow_on_cpu<&histogram_bin_ct>());
  m.impl("histogram.bin_ct_out", slow_on_cpu<&histogram_bin_ct_out>());
  m.impl("histogram.bins_tensor", slow_on_cpu<&histogram_bins_tensor>());
  m.impl("histogram.bins_tensor_out", slow_on_cpu<&histogram_bins_tensor_out>());
  m.impl("_histogramdd_bin_edges", slow_on_cpu<&histogramdd_bin_edges>());
  m.impl("_histogramdd_from_bin_cts", slow_on_cpu<&histogramdd_from_bin_cts>());
  m.impl("_histogramdd_from_bin_tensors", slow_on_cpu<&histogramdd_from_bin_tensors>());
}

}  // namespace

}  // namespace tpu::aten
