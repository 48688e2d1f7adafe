// Reduction: what Gloo is asked to compute for a dtype and a ReduceOp, and how its answer is read.
//
// Gloo reduces float and integer types of some widths with the plain operators. What it lacks is carried in a type that
// it has: narrow and unsigned integers in wider ones, complex numbers as pairs, float8 in float32, booleans as bytes.
// An average is a sum and a division (of integers, rounded to zero), a PREMUL_SUM a multiplication and a sum.
#pragma once

#include <ATen/core/Tensor.h>

#include <torch/csrc/distributed/c10d/Types.hpp>

#include <string>

namespace tpu::dist {

class Reduction {
 public:
  /// Throws Error(InvalidArgument) for an op that the dtype does not have. `call` is the collective, for the message.
  Reduction(const char* call, c10::ScalarType dtype, const c10d::ReduceOp& op);

  c10d::ReduceOp gloo_op() const { return gloo_op_; }
  /// A fresh contiguous tensor for Gloo to work on in place.
  at::Tensor encode(const at::Tensor& input) const;
  /// The result of `sizes` in what Gloo left, reduced over `ranks` ranks.
  at::Tensor decode(const at::Tensor& reduced, c10::IntArrayRef sizes, int ranks) const;

 private:
  bool flips_sign() const;

  c10::ScalarType dtype_;
  c10d::ReduceOp op_;
  c10::ScalarType carrier_;
  c10d::ReduceOp gloo_op_;
};

/// "SUM"
std::string to_string(const c10d::ReduceOp& op);

}  // namespace tpu::dist
