// Call: one recorded op call, without torch: the row, and its arguments sorted into operands (tensors), scalars
// (run-time numbers) and params (structure). What the dispatcher saw goes in; lowerings read it through a Context.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/param.h"
#include "base/type.h"

namespace tpu::ops {

struct Row;

/// How PyTorch's type promotion ranks an operand: dimensioned tensors before 0-d tensors before Python numbers.
enum class Category : uint8_t { Dimensioned, ZeroDim, Number };

/// A number that is a run-time argument of the program. Integers and bools are kept exactly, never through double.
/// Unsigned: an integer of 2^63 and more, `integer` has its bits.
struct Scalar {
  enum class Kind : uint8_t { Bool, Int, Unsigned, Double, Complex };
  Kind kind = Kind::Int;
  int64_t integer = 0;
  double real = 0;
  double imag = 0;

  static Scalar of(bool value) { return {Kind::Bool, value, static_cast<double>(value), 0}; }
  static Scalar of(int64_t value) { return {Kind::Int, value, static_cast<double>(value), 0}; }
  static Scalar of(uint64_t value) {
    return {Kind::Unsigned, static_cast<int64_t>(value), static_cast<double>(value), 0};
  }
  static Scalar of(double value) { return {Kind::Double, 0, value, 0}; }
  static Scalar of(double real, double imag) { return {Kind::Complex, 0, real, imag}; }
  /// Whether `integer` has the value, or its bits.
  bool is_integer() const { return kind == Kind::Bool || kind == Kind::Int || kind == Kind::Unsigned; }
  /// The number as a double (integers converted); the real part of a complex number.
  double value() const { return kind == Kind::Bool || kind == Kind::Int ? static_cast<double>(integer) : real; }
};

/// Whether `type` can hold the number, as c10::Scalar::to has it: any number becomes a bool or a float, a negative
/// integer wraps in an unsigned type that can hold its magnitude.
bool fits(const Scalar& scalar, ElementType type);
/// What c10 says of a number that does not fit.
std::string overflow_message(ElementType type);

/// A tensor argument as its lowering sees it: the logical type (after the view), not how it lies in storage.
struct Operand {
  Type type;
  Category category = Category::Dimensioned;
  bool is_contiguous = true;  // only told where the row reads layouts
};

/// One argument of the schema: where its value is found in the lists of the Call.
struct Argument {
  enum class Kind : uint8_t { None, Tensor, Tensors, Scalar, Param };
  std::string name;
  Kind kind = Kind::None;
  int index = 0;             // Tensor: operand, Scalar: scalar, Param: param
  std::vector<int> indices;  // Tensors: operands, -1 for None
};

/// How a program calls PyTorch's CPU kernel in place of the row's lowering, see Note [Host kernels] in ops/host_call.h.
/// An order lists the dimensions of a tensor as they lie in memory, from the outermost; empty stands for row-major.
struct HostKernel {
  int64_t number = 0;  // says which one, see aten/host_call.h
  std::vector<std::optional<Type>> results;
  std::vector<Dims> operand_orders;
  std::vector<Dims> result_orders;
  bool checks_values = false;  // it may fail where the lowering has a value check
};

struct Call {
  const Row* row = nullptr;
  std::vector<Argument> arguments;
  std::vector<Operand> operands;
  std::vector<Scalar> scalars;   // the values of this call: only those marked structural may be read while lowering
  std::vector<bool> structural;  // per scalar: its value is part of the key and constant in the text
  std::vector<Category> scalar_categories;   // Number, or ZeroDim for a 0-d CPU tensor that became a scalar
  std::vector<bool> scalar_exact;            // written as it is: a type that cannot hold it is an error
  std::vector<ElementType> scalar_elements;  // natural type: bool, int64, default float or the 0-d tensor's dtype
  std::vector<Param> params;
  /// Per output the type of the tensor that receives it, where there is one already (`out=`, in-place, structured).
  std::vector<std::optional<Type>> targets;
  /// Its element type, also where its shape is still to be worked out.
  std::vector<std::optional<ElementType>> target_elements;
  std::optional<HostKernel> host_kernel;

  const Argument& argument(const char* name) const;  // throws Error(Internal) when the schema has no such argument
  const Argument* find(const char* name) const;      // null when the schema has no such argument
  const Type& type(const char* name) const;          // of a tensor that is given
  const Param& param(const char* name) const;        // of a structural argument that is given
};

/// `aten::add.out(self: f32[2, 3], other: 2.0, alpha: 1)`; one line, for logs and errors.
std::string to_string(const Call& call);

}  // namespace tpu::ops
