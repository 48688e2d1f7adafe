// One line per family: its name and the function that gives its table, defined in the file of that name.
#pragma once

#include <vector>

#include "ops/row.h"

namespace tpu::ops {

Table copy_table();  // copies, casts, fills

struct Family {
  const char* name;
  Table (*table)();
};

inline const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"copy", copy_table},
  };
  return all;
}

}  // namespace tpu::ops
