// The table of environment variables: name, default, meaning. Every TORCH_TPU_* variable is read through it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tpu::env {

struct Variable {
  const char* name;
  const char* fallback;
  const char* meaning;
};

/// All variables this build knows, in the order of documentation.
const std::vector<Variable>& table();
/// The value of a variable of the table, or its default. Throws Error(Internal) for a name that is not in the table.
std::string text(const char* name);
/// As text(), read as an integer; throws Error(Value) with the name and the text when it is not one.
int64_t integer(const char* name);
/// TORCH_TPU_* variables of the environment that the table does not know, with the closest known name, if any.
std::vector<std::pair<std::string, std::string>> unknown();

}  // namespace tpu::env
