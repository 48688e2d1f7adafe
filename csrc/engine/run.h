// Run: executes a plan now, on the calling thread (mode strict).
#pragma once

#include <span>

#include "engine/plan.h"
#include "engine/value.h"
#include "ops/call.h"

namespace tpu::engine {

/// The run-time arguments of one execution.
struct Arguments {
  std::span<Value* const> inputs;  // held by the caller, one reference each
  std::span<const int64_t> starts;
  std::span<const ops::Scalar> scalars;
  uint64_t seed = 0;
  uint64_t counter = 0;  // first Philox counter of the block
  /// Per input the Cell whose memory an output may take over, or null.
  std::span<Cell* const> donors;
};

/// Executes; outputs[k] is the new Value of plan.outputs[k]. Does not wait, except for value checks. On an error no
/// output is set, and a Cell whose Value was donated holds a failed Value.
void run(Plan& plan, Device& device, const Arguments& arguments, std::span<ValueRef> outputs);

}  // namespace tpu::engine
