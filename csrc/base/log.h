// Logging: the ladder TORCH_TPU_DEBUG=1..5, one stage deeper per step, on standard error.
//   1 device and cache summary   2 each executable with its time   3 each graph with its Python line
//   4 its StableHLO              5 every op call
#pragma once

#include "base/error.h"

namespace tpu::log {

/// The level from TORCH_TPU_DEBUG, read once. Cheap enough for the fast path.
int level();
void write(int level, const std::string& line);

template <class... Parts>
void at(int wanted, const Parts&... parts) {
  if (level() >= wanted) [[unlikely]]
    write(wanted, concat(parts...));
}
/// A warning for the user, once per distinct text; goes to standard error until the Python side sets a sink.
void warn_once(const std::string& line);
/// Where warnings go (the Python side routes them into `warnings`); null restores standard error.
void set_warning_sink(void (*sink)(const std::string&));

}  // namespace tpu::log
