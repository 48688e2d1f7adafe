// Background: compiles programs that nobody waits for yet, on a thread of its own.
#pragma once

#include "engine/plan.h"

namespace tpu::engine {

/// Makes the plan of `key` some time, one after another; find_plan() then finds it. An error is logged, and whoever
/// needs the program meets it again.
void compile_later(const Hash128& key, Device& device, graph::Graph graph);
/// Waits until nothing is left to compile. Releases the GIL.
void finish_background();
/// Drops what has not begun, and waits for what has; nothing is compiled afterwards. Before the process ends.
void stop_background();

}  // namespace tpu::engine
