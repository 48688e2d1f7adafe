// Axis: what the families that work along dimensions share (reduction, scan, sort, softmax, loss): folding dimensions
// away, spreading the result over them again, and looking things up along one of them.
#pragma once

#include <cmath>

#include "ops/promotion.h"

namespace tpu::ops {

/// The dimensions of a tensor that a reduction folds away, and whether they stay behind as ones.
struct Fold {
  Dims sizes;  // of the tensor
  Dims dims;   // sorted
  bool keepdim = false;
  bool is_cpu = false;  // Notes [Extremes in lanes], [Long rows] and [Columns in turn] hold

  /// Elements that are folded into one.
  int64_t count() const;
  /// `x` reduced over the dims, which are gone from the result; x itself when there are none.
  hlo::Value reduce(const hlo::Value& x, hlo::Reducer reducer) const;
  /// A reduced value with the ones that `keepdim` asks for: the result as PyTorch shapes it.
  hlo::Value finish(const hlo::Value& reduced) const;
  /// A reduced value repeated over the dims: its dims are `sizes` again.
  hlo::Value spread(const hlo::Value& reduced) const;
};

/// hlo::reduce on a CPU, over `dims` (sorted, at least one) that are not the last of x.
hlo::Value reduce_columns(const hlo::Value& x, const Dims& dims, hlo::Reducer reducer);

/// The fold that the arguments `dim` (int, int[] or None, all dims when empty) and `keepdim` describe for `self`.
Fold fold_of(const Context& c);
/// All dimensions of x, or one of them.
Fold fold_all(const Context& c, const hlo::Value& x);
Fold fold_one(const Context& c, const hlo::Value& x, int64_t dim);

/// 0, 1, 2, .. along `dim`, in S32 where it is wide enough for the dimension (its arithmetic is twice as fast), else
/// S64.
hlo::Value positions(const hlo::Value& like, int64_t dim);
/// sum(|x|^p)^(1/p) over the fold, where the number argument `order` of the call is p (2 when it is None); its special
/// values are those of `kNormOrders`.
hlo::Value norm_of(Context& c, const hlo::Value& x, const Fold& fold, const char* order);
inline constexpr double kNormOrders[] = {0, 1, 2, INFINITY, -INFINITY};

/// The first position along `dim` at which `condition` holds, dim gone; the size of dim where it holds nowhere. S32 or
/// S64.
hlo::Value first_where(const Context& c, const hlo::Value& condition, int64_t dim);

/// result[.., i, ..] = x[.., index[.., i, ..], ..] along `dim`; the other dimensions of x and index agree. Indices
/// clamp.
hlo::Value take_along(const hlo::Value& x, const hlo::Value& index, int64_t dim);
/// Dimension `dim` moved behind all others, and back. Rank 0 stays.
hlo::Value move_to_last(const hlo::Value& x, int64_t dim);
hlo::Value move_from_last(const hlo::Value& x, int64_t dim);

/// x in the type its order and sums are worked out in: bool as U8, halves as F32.
hlo::Value widen(const hlo::Value& x);

}  // namespace tpu::ops
