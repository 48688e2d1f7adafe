// Plan file: a plan with its compiled program as bytes, kept by the disk tier under the plan's key.
#pragma once

#include <memory>

#include "engine/plan.h"

namespace tpu::engine {

/// The plan that this or another process stored under `key`, ready to run, or null. Nothing is lowered or compiled. A
/// file that the plugin cannot load is removed.
std::shared_ptr<Plan> load_plan(const Hash128& key);
/// Stores a plan that has an executable, with why and for which line it was compiled. Trouble with the plugin or the
/// disk is logged and changes nothing else.
void store_plan(const Hash128& key, const Plan& plan, const std::string& cause, const std::string& line);

}  // namespace tpu::engine
