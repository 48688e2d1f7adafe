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
  /// Three words per random node: seed, first Philox counter of its block, 0.
  std::span<const uint64_t> random;
  /// Per input the Cell whose memory an output may take over, or null.
  std::span<Cell* const> donors;
  /// The Cells of overwritten inputs hold their new Values already: an input with no other holder may be given away.
  bool cells_are_rebound = false;
};

/// Executes; outputs[k] is the new Value of plan.outputs[k]. Does not wait, except for value checks. On an error no
/// output is set, and a Cell whose Value was donated holds a failed Value.
void run(Plan& plan, Device& device, const Arguments& arguments, std::span<ValueRef> outputs);
/// The same for Values that wait for their results: outputs[k] becomes ready; nothing happens to them on an error.
void run_pending(Plan& plan, Device& device, const Arguments& arguments, std::span<Value* const> outputs);
/// Error(InvalidArgument) for a number that the type in which the program wants it cannot hold.
void check_scalars(const Plan& plan, std::span<const ops::Scalar> scalars);

}  // namespace tpu::engine
