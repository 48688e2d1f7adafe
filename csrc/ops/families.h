// One line per family: its name and the function that gives its table, defined in the file of that name.
#pragma once

#include <vector>

#include "ops/row.h"

namespace tpu::ops {

Table copy_table();  // copies, casts, fills
Table activation_table();  // nonlinearities and their gradients
Table binary_table();  // arithmetic, comparisons, selection
Table special_table();  // Bessel, gamma, error functions, orthogonal polynomials
Table unary_table();  // functions of one operand

struct Family {
  const char* name;
  Table (*table)();
};

inline const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"copy", copy_table},
      {"activation", activation_table},
      {"binary", binary_table},
      {"special", special_table},
      {"unary", unary_table},
  };
  return all;
}

}  // namespace tpu::ops
