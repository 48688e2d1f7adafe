// View: how a tensor lies over its storage's Value, and its lowering to and from StableHLO.
//
// Note [Views]. A View never becomes a node: reading one decorates an operand, writing one makes the new base. The flat
// base is seen as a row-major *container* whose dimensions follow the view's strides in descending order; the view is a
// strided window of it, transposed and broadcast. Where the window starts is a run-time argument, so that 100 offsets
// share one program; only *whether* it starts at zero is structure. What has no container (overlapping strides) is
// gathered element by element.
#pragma once

#include "base/hash.h"
#include "hlo/ops.h"

namespace tpu::graph {

/// In elements of `element`, over the storage's bytes from byte 0.
struct View {
  ElementType element = ElementType::F32;
  Dims sizes;
  Dims strides;
  int64_t offset = 0;

  int64_t count() const { return product(sizes); }
};

/// The dense row-major view of a whole value of this type.
View whole(const Type& type);
/// True when `view` is exactly the value of type `base`: same element type, same sizes, row-major, offset 0.
bool is_whole(const Type& base, const View& view);

struct ViewPlan {
  enum class Kind : uint8_t { Whole, Window, Gather };
  Kind kind = Kind::Whole;
  Type base;              // the storage's Value
  View view;              // as given
  bool is_static = true;  // starts at zero: no run-time start
  Dims permutation;  // window dimension i is view dimension permutation[i]; size-1 and stride-0 dimensions are left out
  Dims container;    // row-major; one entry per window dimension, plus a last one where the innermost stride is > 1
  Dims window;       // sizes taken from the container
  Dims steps;        // every steps[i]-th element of the window
  Dims starts;       // run-time values: where the window starts; Gather: the offset
};

/// Decomposes `view` over a Value of type `base`. Works for every view; elements beyond the base read as zero.
ViewPlan plan_view(const Type& base, const View& view);

/// The number of run-time s64 starts that lower_read and lower_write take: 0 when static.
size_t start_count(const ViewPlan& plan);
/// Adds what is structure of the plan: everything but the values of starts.
void add_to(Hasher& hasher, const ViewPlan& plan);

/// The logical value of the view. `base` has type plan.base; `starts` are 0-d S64.
hlo::Value lower_read(hlo::Value base, const ViewPlan& plan, const hlo::Values& starts);
/// The base after `update` (type view.element, dims view.sizes) is written through the view. Type plan.base again,
/// except where the base is shorter than the view reaches (Error Internal: the caller extends it first).
hlo::Value lower_write(hlo::Value base, const ViewPlan& plan, const hlo::Values& starts, hlo::Value update);

}  // namespace tpu::graph
