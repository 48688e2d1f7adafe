#include "ops/access.h"

#include "ops/promotion.h"

namespace tpu::ops {

Dims Access::dims() const {
  Dims result;
  for (int64_t d = 0; d < rank(); ++d)
    if (whole(d)) result.push_back(sizes[d]);
  for (size_t i = 0; i < shape.size(); ++i) result.insert(static_cast<size_t>(at) + i, shape[i]);
  return result;
}

Access along(const hlo::Value& x, int64_t dim, const hlo::Value& index) {
  Access access{x.dims(), hlo::Values(x.dims().size()), index.dims(), dim};
  access.indices[static_cast<size_t>(dim)] = index;
  return access;
}

Access elementwise(const hlo::Value& x, int64_t dim, const hlo::Value& index) {
  Access access{x.dims(), {}, index.dims(), 0};
  for (int64_t d = 0; d < x.rank(); ++d)
    access.indices.push_back(d == dim ? index : hlo::iota(*index.builder, index.type, d));
  return access;
}

hlo::Value read(const hlo::Value& x, const Access& access) {
  Type result{x.element(), access.dims()};
  if (result.count() == 0) return hlo::constant(*x.builder, result, 0);
  hlo::GatherDims dims;
  Dims slice = access.sizes, column = access.shape;
  column.push_back(1);
  hlo::Values columns;
  for (int64_t d = 0, nth = 0; d < access.rank(); ++d) {
    if (access.whole(d)) {
      dims.offset_dims.push_back(access.position(nth++));
      continue;
    }
    dims.collapsed_slice_dims.push_back(d);
    dims.start_index_map.push_back(d);
    slice[d] = 1;
    columns.push_back(hlo::reshape(access.indices[static_cast<size_t>(d)], column));
  }
  dims.index_vector_dim = static_cast<int64_t>(access.shape.size());
  return hlo::gather(x, hlo::concatenate(columns, dims.index_vector_dim), dims, slice);
}

// As rows: everything behind the last indexed dimension is a row, and the dimensions before it, indexed or whole, make
// one row number. On XLA:CPU this one form of scatter is as fast as any and up to 20 times faster than windows over
// outer dimensions or batching dimensions (index_add on dimension 1 of 1024x1024: 3 ms against 17 to 40 ms).
hlo::Value write(const hlo::Value& x, const Access& access, const hlo::Value& updates, const hlo::Region& update) {
  if (updates.type.count() == 0) return x;
  int64_t last = access.rank() - 1;
  while (access.whole(last)) --last;
  int64_t inner = 1;
  for (int64_t d = last + 1; d < access.rank(); ++d) inner *= access.sizes[d];
  Dims lead = access.dims();
  lead.resize(lead.size() - static_cast<size_t>(access.rank() - 1 - last));
  Dims shape_dims;
  for (size_t i = 0; i < access.shape.size(); ++i) shape_dims.push_back(access.at + static_cast<int64_t>(i));

  hlo::Value row;
  int64_t stride = 1, nth = 0;
  for (int64_t d = 0; d <= last; ++d) nth += access.whole(d);
  int64_t rows = product(access.sizes) / inner;
  ElementType type = rows <= INT32_MAX ? ElementType::S32 : ElementType::S64;
  for (int64_t d = last; d >= 0; --d) {
    hlo::Value part =
        access.whole(d)
            ? hlo::iota(*x.builder, {type, lead}, access.position(--nth))
            : hlo::broadcast_in_dim(hlo::convert(access.indices[static_cast<size_t>(d)], type), lead, shape_dims);
    if (stride != 1) part = part * hlo::like(part, stride);
    row = row ? row + part : part;
    stride *= access.sizes[d];
  }
  int64_t count = product(lead);
  hlo::ScatterDims dims;
  dims.inserted_window_dims = {0};
  dims.scatter_dims_to_operand_dims = {0};
  dims.index_vector_dim = 1;
  Dims table{rows}, list{count};
  if (inner != 1) {
    dims.update_window_dims = {1};
    table.push_back(inner);
    list.push_back(inner);
  }
  hlo::Value written = hlo::scatter({hlo::reshape(x, table)}, hlo::reshape(row, {count}), {hlo::reshape(updates, list)},
                                    dims, update)[0];
  return hlo::reshape(written, access.sizes);
}

hlo::Value add_at(const hlo::Value& x, const Access& access, const hlo::Value& updates) {
  ElementType type = compute_type(x.element());
  hlo::Value sum = write(hlo::convert(x, type), access, hlo::convert(updates, type), hlo::body_of(hlo::Reducer::Add));
  return hlo::convert(sum, x.element());
}

hlo::Value checked(Context& c, const hlo::Value& index, const Range& range) {
  hlo::Value wide = size_of(index.element()) < 4 ? hlo::convert(index, ElementType::S64) : index;
  hlo::Value size = hlo::like(wide, range.size), zero = hlo::like(wide, 0);
  hlo::Value position = range.wraps ? hlo::select(hlo::lt(wide, zero), wide + size, wide) : wide;
  c.require_not(hlo::or_(hlo::lt(position, zero), hlo::ge(position, size)), wide, range.code, range.message);
  if (range.size == 0 && wide.type.count() != 0) {
    c.fail(range.code, range.wraps ? "index is out of bounds for dimension with size 0" : range.message);
  }
  return hlo::convert(position, range.size <= INT32_MAX ? ElementType::S32 : ElementType::S64);
}

const hlo::Region replace = [](const hlo::Values& arguments) -> hlo::Values { return {arguments[1]}; };

}  // namespace tpu::ops
