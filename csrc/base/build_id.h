// build_id: which build of this code runs. What outlives the process names it, so that another build ignores it.
#pragma once

#include "base/hash.h"

namespace tpu {

/// From the build id that the linker computes of the contents of the library or program that holds this function: equal
/// in every process and place, another one after any change. Throws Error(Internal) when it was linked without one.
Hash128 build_id();

}  // namespace tpu
