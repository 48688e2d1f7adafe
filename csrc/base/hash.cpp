#include "base/hash.h"

#include <cstdio>

namespace tpu {

std::string to_string(const Hash128& hash) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return text;
}

}  // namespace tpu
