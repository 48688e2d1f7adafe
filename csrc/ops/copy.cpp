// Family copy: the same elements in another place, type or number. What goes in: a source and the tensor it is copied
// to.
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// A float leaves for an integer type through truncation, as C does; values out of range are undefined in torch too.
hlo::Values copy(Context& c) {
  Type target = *c.target(0);
  return {broadcast_to(c.tensor("src", target.element), target.dims)};
}

hlo::Values fill(Context& c) {
  Type target = *c.target(0);
  return {hlo::broadcast(hlo::reshape(c.tensor("value", target.element), {}), target.dims)};
}

hlo::Values zero(Context& c) {
  Type target = *c.target(0);
  return {hlo::constant(c.builder(), target, 0)};
}

}  // namespace

Table copy_table() {
  return {
      row("copy_", copy),
      row("fill_.Scalar", fill),
      row("fill_.Tensor", fill),
      row("zero_", zero),
  };
}

}  // namespace tpu::ops
