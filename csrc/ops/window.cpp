#include "ops/window.h"

#include <algorithm>

namespace tpu::ops {

Dims Sliding::place(int64_t k) const {
  Dims place(rank());
  for (size_t i = rank(); i-- > 0; k /= size[i]) place[i] = k % size[i];
  return place;
}

Dims Sliding::high() const {
  Dims result;
  for (size_t i = 0; i < rank(); ++i) {
    int64_t reach = (output[i] - 1) * stride[i] + (size[i] - 1) * dilation[i] + 1;
    result.push_back(std::max<int64_t>(0, reach - padding[i] - input[i]));
  }
  return result;
}

Sliding Sliding::part(size_t i, size_t count) const {
  auto some = [&](const Dims& list) { return Dims(list.begin() + i, list.begin() + i + count); };
  return {first + static_cast<int64_t>(i),
          some(input),
          some(size),
          some(stride),
          some(padding),
          some(dilation),
          some(output)};
}

int64_t window_positions(int64_t input, int64_t size, int64_t stride, int64_t padding, int64_t dilation,
                         bool ceil_mode) {
  int64_t free = input + 2 * padding - dilation * (size - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t positions = (free >= 0 ? free / stride : -((-free + stride - 1) / stride)) + 1;
  if (ceil_mode && (positions - 1) * stride >= input + padding) --positions;
  return positions;
}

namespace {
// A list with `values` at the windowed dimensions and `other` elsewhere.
Dims spread(const Sliding& window, int64_t rank, const Dims& values, int64_t other) {
  Dims result(static_cast<size_t>(rank), other);
  for (size_t i = 0; i < window.rank(); ++i) result[static_cast<size_t>(window.first) + i] = values[i];
  return result;
}
}  // namespace

hlo::Value pad_for(const Sliding& window, const hlo::Value& x, const hlo::Value& value) {
  int64_t rank = x.rank();
  return hlo::pad(x, value, spread(window, rank, window.padding, 0), spread(window, rank, window.high(), 0),
                  Dims(rank, 0));
}

hlo::Value tap(const Sliding& window, const hlo::Value& padded, const Dims& place) {
  Dims start(padded.rank(), 0), limit = padded.dims(), strides(padded.rank(), 1);
  for (size_t i = 0; i < window.rank(); ++i) {
    size_t dim = static_cast<size_t>(window.first) + i;
    start[dim] = place[i] * window.dilation[i];
    limit[dim] = start[dim] + (window.output[i] - 1) * window.stride[i] + 1;
    strides[dim] = window.stride[i];
  }
  return hlo::slice(padded, start, limit, strides);
}

// Position o and place i meet at element y = o * stride + i * dilation of the padded tensor. Elements are sorted by
// their remainder y mod stride; within one remainder r a piece lies contiguously, shifted by (i * dilation - r) /
// stride. So every remainder is a sum of shifted pieces, and interleaving the remainders gives the tensor: no interior
// padding and no scatter, both of which XLA:CPU runs element by element.
FoldBack::FoldBack(const Sliding& window) : window_(window) {
  for (size_t i = 0; i < window.rank(); ++i) {
    int64_t whole = (window.padding[i] + window.input[i] + window.stride[i] - 1) / window.stride[i];
    furthest_.push_back((window.size[i] - 1) * window.dilation[i] / window.stride[i]);
    length_.push_back(std::max(whole, window.output[i] + furthest_[i]));
  }
}

hlo::Value FoldBack::extended(const hlo::Value& x, const hlo::Value& fill) const {
  Dims high;
  for (size_t i = 0; i < window_.rank(); ++i) high.push_back(length_[i] - window_.output[i]);
  int64_t rank = x.rank();
  return hlo::pad(x, fill, spread(window_, rank, furthest_, 0), spread(window_, rank, high, 0), Dims(rank, 0));
}

hlo::Value FoldBack::shifted(const hlo::Value& extended, const Dims& place) const {
  Dims start(extended.rank(), 0), limit = extended.dims();
  for (size_t i = 0; i < window_.rank(); ++i) {
    size_t dim = static_cast<size_t>(window_.first) + i;
    start[dim] = furthest_[i] - place[i] * window_.dilation[i] / window_.stride[i];
    limit[dim] = start[dim] + length_[i];
  }
  return hlo::slice(extended, start, limit, Dims(extended.rank(), 1));
}

hlo::Value FoldBack::sum(const std::function<hlo::Value(const Dims&)>& piece) const {
  const Sliding& window = window_;
  size_t rank = window.rank();
  std::vector<hlo::Value> sums(static_cast<size_t>(product(window.stride)));
  for (int64_t k = 0; k < window.taps(); ++k) {
    Dims place = window.place(k);
    size_t remainder = 0;
    for (size_t i = 0; i < rank; ++i) {
      int64_t offset = place[i] * window.dilation[i];
      remainder = remainder * static_cast<size_t>(window.stride[i]) + static_cast<size_t>(offset % window.stride[i]);
    }
    hlo::Value value = piece(place);
    hlo::Value& sum = sums[remainder];
    sum = sum ? sum + value : value;
  }
  // Interleave the last dimension first: groups of stride values become one with a new inner dimension.
  hlo::Value any;
  for (const hlo::Value& sum : sums)
    if (sum) any = sum;
  for (hlo::Value& sum : sums)
    if (!sum) sum = hlo::like(any, 0);
  for (size_t i = rank; i-- > 0;) {
    auto step = static_cast<size_t>(window.stride[i]);
    if (step == 1) continue;
    size_t dim = static_cast<size_t>(window.first) + i;
    std::vector<hlo::Value> joined;
    for (size_t k = 0; k < sums.size(); k += step) {
      hlo::Values parts;
      for (size_t r = 0; r < step; ++r) {
        Dims dims = sums[k + r].dims();
        dims.insert(dim + 1, 1);
        parts.push_back(hlo::reshape(sums[k + r], dims));
      }
      Dims dims = sums[k].dims();
      dims[dim] *= window.stride[i];
      joined.push_back(hlo::reshape(hlo::concatenate(parts, static_cast<int64_t>(dim) + 1), dims));
    }
    sums = std::move(joined);
  }
  hlo::Value result = sums[0];
  Dims start(result.rank(), 0), limit = result.dims();
  for (size_t i = 0; i < rank; ++i) {
    size_t dim = static_cast<size_t>(window.first) + i;
    start[dim] = window.padding[i];
    limit[dim] = window.padding[i] + window.input[i];
  }
  return hlo::slice(result, start, limit, Dims(result.rank(), 1));
}

}  // namespace tpu::ops
