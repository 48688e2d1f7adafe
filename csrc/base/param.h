// Param: one structural argument of an op (a dimension list, a flag, a mode name): part of the key, constant in the
// text.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "base/type.h"

namespace tpu {

/// none | bool | int | double | text | ints (int[], SymInt[], bool[]) | doubles | element type
using Param = std::variant<std::monostate, bool, int64_t, double, std::string, Dims, std::vector<double>, ElementType>;

std::string to_string(const Param& param);
void add_to(Hasher& hasher, const Param& param);

}  // namespace tpu
