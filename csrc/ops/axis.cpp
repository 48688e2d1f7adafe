#include "ops/axis.h"

#include <algorithm>
#include <limits>

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

}  // namespace

int64_t Fold::count() const {
  int64_t count = 1;
  for (int64_t dim : dims) count *= sizes[static_cast<size_t>(dim)];
  return count;
}

hlo::Value Fold::reduce(const hlo::Value& x, hlo::Reducer reducer) const {
  return dims.empty() ? x : hlo::reduce(x, dims, reducer);
}

hlo::Value Fold::finish(const hlo::Value& reduced) const {
  if (!keepdim) return reduced;
  Dims ones = sizes;
  for (int64_t dim : dims) ones[static_cast<size_t>(dim)] = 1;
  return hlo::reshape(reduced, ones);
}

hlo::Value Fold::spread(const hlo::Value& reduced) const { return hlo::broadcast_in_dim(reduced, sizes, kept_dims(*this)); }

Fold fold_of(const Context& c) {
  Fold fold;
  fold.sizes = c.type("self").dims;
  Dims dims;
  const Argument* dim = c.call().find("dim");
  if (dim != nullptr && dim->kind == Argument::Kind::Param) {
    const Param& param = c.call().params[static_cast<size_t>(dim->index)];
    if (std::holds_alternative<int64_t>(param)) dims = {c.integer("dim")};
    else dims = c.ints("dim");
  }
  fold.dims = wrap_dims(dims, static_cast<int64_t>(fold.sizes.size()));
  fold.keepdim = c.call().find("keepdim") != nullptr && c.flag("keepdim");
  return fold;
}

Fold fold_all(const hlo::Value& x) { return {x.dims(), wrap_dims({}, x.rank())}; }
Fold fold_one(const hlo::Value& x, int64_t dim) { return {x.dims(), x.rank() == 0 ? Dims{} : Dims{dim}}; }

hlo::Value positions(const hlo::Value& like, int64_t dim) {
  bool narrow = like.dims()[static_cast<size_t>(dim)] < std::numeric_limits<int32_t>::max();
  return hlo::iota(*like.builder, {narrow ? ElementType::S32 : ElementType::S64, like.dims()}, dim);
}

hlo::Value first_where(const hlo::Value& condition, int64_t dim) {
  hlo::Value position = positions(condition, dim);
  hlo::Value nowhere = hlo::like(position, condition.dims()[static_cast<size_t>(dim)]);
  // Not from max_value: an empty dimension must not give an index that does not exist.
  hlo::Value init = hlo::scalar_like(position, condition.dims()[static_cast<size_t>(dim)]);
  return hlo::reduce(hlo::select(condition, position, nowhere), init, {dim}, hlo::Reducer::Min);
}

hlo::Value take_along(const hlo::Value& x, const hlo::Value& index, int64_t dim) {
  // A gather's slice must lie inside the operand, also where there is nothing to gather.
  if (index.type.count() == 0 || x.type.count() == 0) return hlo::constant(*x.builder, Type{x.element(), index.dims()}, 0);
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
