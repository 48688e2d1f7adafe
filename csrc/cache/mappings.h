// Mappings: how much room the address space of this process has for compiled code.
#pragma once

#include <cstddef>

namespace tpu::cache {

/// Note [Mappings]. An executable of a CPU plugin takes some memory mappings (3 on average of 4,500 softmaxes, more
/// where it has many kernels), and Linux gives a process a limited number (vm.max_map_count, usually 65,530). Beyond it
/// the plugin fails to compile ("Failed to materialize symbols"), or aborts because a thread gets no stack. So the
/// cache gives up executables before that.
///
/// How many this process has now, read from /proc; 0 where there is no such file.
size_t mapping_count();
/// Whether they are more than three quarters of what it may have. Reads a line per mapping: not for a hot path.
bool mappings_are_scarce();

}  // namespace tpu::cache
