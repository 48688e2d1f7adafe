// Startup: when the runtime is made, from which plugin, and what is known about devices before that.
#pragma once

#include <string>

#include "engine/runtime.h"

namespace tpu::device {

/// What the search for a plugin found. An empty path: nothing, and `why` says what to install.
struct PluginChoice {
  std::string path;
  int devices = 0;  // how many devices it will show, as far as can be told without loading it
  std::string why;
};

/// The python layer installs the search; `find` may take the GIL and is called at most once per start or count.
void set_plugin_finder(PluginChoice (*find)());

/// Starts the runtime unless it runs. Throws Error(Unavailable) without a plugin and in a forked child of a process
/// that had a runtime; a later call tries again.
void start();
inline void ensure_started() {
  if (!engine::Runtime::is_started()) [[unlikely]]
    start();
}

/// Number of devices; of those that a start would give while the runtime is not started, so asking starts nothing. 0
/// without a plugin. Cheap: torch asks at every backward pass. `look_again` repeats the search instead of remembering
/// its last answer.
int device_count(bool look_again = false) noexcept;

}  // namespace tpu::device
