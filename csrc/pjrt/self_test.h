// Self-test: tiny programs that show which known faults a CPU plugin has, and the workarounds for them.
#pragma once

#include <string>
#include <vector>

#include "pjrt/client.h"

namespace tpu::pjrt {

/// What lowerings and compiles must do differently on this plugin. All are part of a program's key.
struct Workarounds {
  /// x / constant is computed as x * (1 / constant), one rounding too many: put the divisor behind a barrier.
  bool constant_division_is_reciprocal = false;
  /// x / (a broadcast scalar argument) likewise.
  bool scalar_division_is_reciprocal = false;
  /// The fastest flags that keep NaN in elementwise and reducing min and max, and the width of vectors.
  std::vector<Flag> compile_flags;
  /// No flags did keep NaN everywhere: lowerings must not rely on min and max for it.
  bool min_max_drops_nan = false;

  bool operator==(const Workarounds& other) const = default;
};

/// One line per fact, for the doctor and the log.
std::string to_string(const Workarounds& workarounds);

/// Finds the workarounds for the client's plugin and makes their flags the client's default flags. Takes about half a
/// second for a plugin and machine seen for the first time; after that the answer comes from a small file in the cache
/// directory (TORCH_TPU_CACHE_DIR). On platforms other than CPU nothing is run and nothing needs a workaround.
/// A fault in the test itself is never an error: it counts as a failed candidate.
Workarounds self_test(Client& client);
/// The same without reading or writing the file and without touching the client's flags.
Workarounds run_self_test(Client& client);

/// The directory for files that outlive the process: TORCH_TPU_CACHE_DIR, "" (no files) if that is `off` or there is no
/// home directory.
std::string cache_directory();

}  // namespace tpu::pjrt
