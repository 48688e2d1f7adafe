// Signature: what an overload's schema says about each argument and result, worked out once per op.
#pragma once

#include <ATen/core/function_schema.h>

#include <string>
#include <vector>

#include "ops/row.h"

namespace tpu::aten {

struct Slot {
  enum class Kind : uint8_t {
    Tensor,   // Tensor, Tensor?
    Tensors,  // Tensor[], Tensor?[]
    Scalar,   // Scalar, float and their optionals: run-time numbers
    Param,    // int, bool, str, dtype and lists: structure
    Device,
    Generator,
    Ignored,  // layout, memory format, pin_memory, non_blocking: nothing that a program depends on
  };
  std::string name;
  Kind kind = Kind::Ignored;
  bool is_dtype = false;     // Param: the int is a c10::ScalarType
  bool is_read = true;       // false for `out=`
  bool is_written = false;   // mutable in the schema, or named by row.writes
  bool is_indices = false;   // Tensors: CPU entries are moved and masks may become positions, as in torch's own kernels
  bool is_constant = false;  // Scalar: the value is structure
  bool is_exact = false;     // Scalar: torch's kernels write it as it is, so the dtype must be able to hold it
  std::vector<double> specials;  // Scalar: these values are structure
};

/// Where one result of the lowering goes.
struct Result {
  int argument = -1;  // the written argument; -1: a new tensor
  bool is_returned = false;
  bool resizes = false;    // `out=` takes the result's shape
  bool is_list = false;    // the argument is a list: one result per element
  bool is_number = false;  // an int, which no lowering gives: 0 is returned
};

struct Signature {
  std::vector<Slot> slots;
  std::vector<Result> results;  // returns in order, then written arguments that are not returned
  size_t return_count = 0;
  int generator = -1;  // slot number
  int device = -1;

  Signature(const c10::FunctionSchema& schema, const ops::Row& row);
};

}  // namespace tpu::aten
