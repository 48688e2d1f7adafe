#include "dist/reduction.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>

#include <array>
#include <limits>

#include "base/error.h"

namespace tpu::dist {

namespace {

using c10::ScalarType;
using c10d::ReduceOp;

ScalarType carrier_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool: return ScalarType::Byte;
    case ScalarType::Short:
    case ScalarType::UInt16: return ScalarType::Int;
    case ScalarType::UInt32:
    case ScalarType::UInt64: return ScalarType::Long;
    case ScalarType::ComplexHalf: return ScalarType::Half;
    case ScalarType::ComplexFloat: return ScalarType::Float;
    case ScalarType::ComplexDouble: return ScalarType::Double;
    default: return c10::isFloat8Type(dtype) ? ScalarType::Float : dtype;
  }
}

bool is_bitwise(ReduceOp::RedOpType op) { return op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR; }

bool has_op(ScalarType dtype, ReduceOp::RedOpType op) {
  if (c10::isComplexType(dtype)) return op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM;
  if (dtype == ScalarType::Bool) return op != ReduceOp::AVG && op != ReduceOp::PREMUL_SUM;
  if (op == ReduceOp::PREMUL_SUM) return c10::isFloatingType(dtype);
  return !is_bitwise(op) || c10::isIntegralType(dtype, /*includeBool=*/true);
}

// For bytes that are 0 or 1 a sum is a maximum, and a product a minimum.
ReduceOp gloo_op_of(ScalarType dtype, ReduceOp::RedOpType op) {
  if (op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM) return ReduceOp::SUM;
  if (dtype == ScalarType::Bool && op == ReduceOp::SUM) return ReduceOp::MAX;
  if (dtype == ScalarType::Bool && op == ReduceOp::PRODUCT) return ReduceOp::MIN;
  return op;
}

void multiply_by_factor(at::Tensor& tensor, const ReduceOp& op) {
  const auto* factor = dynamic_cast<const c10d::PreMulSumSupplement*>(op.supplement_.get());
  check(factor != nullptr, ErrorCode::InvalidArgument, "tpu_dist: PREMUL_SUM without a factor");
  if (factor->tensor_factor.defined()) {
    tensor.mul_(factor->tensor_factor.cpu());
  } else {
    tensor.mul_(factor->double_factor);
  }
}

}  // namespace

Reduction::Reduction(const char* call, ScalarType dtype, const ReduceOp& op)
    : dtype_(dtype), op_(op), carrier_(carrier_of(dtype)), gloo_op_(gloo_op_of(dtype, op)) {
  check(has_op(dtype, op), ErrorCode::InvalidArgument, "tpu_dist ", call, ": ReduceOp.", to_string(op),
        " is not defined for ", c10::toString(dtype), " tensors");
}

// Order of unsigned numbers is that of signed ones when the sign bit is flipped.
bool Reduction::flips_sign() const {
  return dtype_ == ScalarType::UInt64 && (op_ == ReduceOp::MIN || op_ == ReduceOp::MAX);
}

at::Tensor Reduction::encode(const at::Tensor& input) const {
  at::Tensor source = input;
  if (c10::isComplexType(dtype_)) source = at::view_as_real(source.contiguous());
  if (dtype_ == ScalarType::UInt64) source = source.contiguous().view(ScalarType::Long);
  at::Tensor carried = at::empty(source.sizes(), source.options().dtype(carrier_));
  carried.copy_(source);
  if (flips_sign()) carried.bitwise_xor_(std::numeric_limits<int64_t>::min());
  if (op_ == ReduceOp::PREMUL_SUM) multiply_by_factor(carried, op_);
  return carried;
}

at::Tensor Reduction::decode(const at::Tensor& reduced, c10::IntArrayRef sizes, int ranks) const {
  at::Tensor result = reduced;
  if (flips_sign()) result.bitwise_xor_(std::numeric_limits<int64_t>::min());
  if (op_ == ReduceOp::AVG) {
    if (c10::isIntegralType(carrier_, false)) {
      result.div_(ranks, "trunc");
    } else {
      result.div_(ranks);
    }
  }
  if (c10::isComplexType(dtype_)) return at::view_as_complex(result);
  if (dtype_ == ScalarType::UInt64) return result.view(dtype_);
  return result.to(dtype_).view(sizes);
}

std::string to_string(const ReduceOp& op) {
  constexpr std::array names = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM", "UNUSED"};
  return names.at(op.op_);
}

}  // namespace tpu::dist
