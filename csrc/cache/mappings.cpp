#include "cache/mappings.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace tpu::cache {

size_t mapping_count() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

bool mappings_are_scarce() {
  static const size_t limit = [] {
    size_t most = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> most;
    return most;
  }();
  return limit > 0 && mapping_count() > limit / 4 * 3;
}

}  // namespace tpu::cache
