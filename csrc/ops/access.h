// Access: the elements of a tensor that index tensors pick, to be read or written. What gather, index, embedding,
// interpolation and sampling have in common.
#pragma once

#include <string>

#include "ops/context.h"

namespace tpu::ops {

/// Elements x[.., index, ..]: per dimension of x an index tensor, or an empty Value for the whole dimension.
struct Access {
  Dims sizes;           // of x
  hlo::Values indices;  // one per dimension; those that are there have dims `shape`
  Dims shape;
  int64_t at = 0;  // where `shape` stands among the whole dimensions of the result

  bool whole(int64_t d) const { return !indices[static_cast<size_t>(d)]; }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  /// Of the elements: `shape` put among the sizes of the whole dimensions.
  Dims dims() const;
  /// Position in dims() of whole dimension number `nth`.
  int64_t position(int64_t nth) const { return nth < at ? nth : nth + static_cast<int64_t>(shape.size()); }
};

/// x[:, .., index, .., :] with `index` (any rank) in dimension `dim`.
Access along(const hlo::Value& x, int64_t dim, const hlo::Value& index);
/// Element by element as gather and scatter define it: dimension `dim` from `index`, the others from the position in
/// it.
Access elementwise(const hlo::Value& x, int64_t dim, const hlo::Value& index);

/// The elements. Indices must be in range: XLA clamps others.
hlo::Value read(const hlo::Value& x, const Access& access);
/// x with `update` applied to (old element, new element) of the access; `updates` has access.dims().
hlo::Value write(const hlo::Value& x, const Access& access, const hlo::Value& updates, const hlo::Region& update);
/// x with `updates` added at the access: sums many half-precision numbers in float32 and rounds once.
hlo::Value add_at(const hlo::Value& x, const Access& access, const hlo::Value& updates);

/// How an op reads its index values.
struct Range {
  int64_t size;
  bool wraps;  // negative values count from the end
  ErrorCode code;
  std::string message;  // `{}` is the index
};
inline Range in_self(int64_t size) { return {size, false, ErrorCode::Index, "index out of range in self"}; }
/// The index with negative values made positive, checked; as int32 where every position fits.
hlo::Value checked(Context& c, const hlo::Value& index, const Range& range);

/// The region that keeps the new element.
extern const hlo::Region replace;

}  // namespace tpu::ops
