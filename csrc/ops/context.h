// Context: what a lowering sees of its call. Arguments are asked for by their schema names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/builder.h"
#include "hlo/chlo.h"
#include "hlo/ops.h"
#include "ops/call.h"
#include "ops/row.h"

namespace tpu::ops {

/// Choices of the user or the platform that change the text; all of them are in the key.
struct Settings {
  ElementType default_float = ElementType::F32;        // torch.get_default_dtype()
  hlo::Precision precision = hlo::Precision::Highest;  // torch.get_float32_matmul_precision()
  bool deterministic = false;                          // torch.use_deterministic_algorithms
  bool is_cpu = true;                                  // platform of the plugin
  bool host_kernels = false;                           // its programs may call kernels of the CPU
};

/// A condition that the program checks while it runs, see Note [Value checks] in graph/lower.cpp.
struct Check {
  ErrorCode code;
  std::string message;  // `{}` stands for the offending number
  hlo::Value failed;    // 0-d Pred
  hlo::Value number;    // 0-d S64
};

class Context {
 public:
  /// `operands` are the logical values of call.operands, in order. `take_scalar(index, type)` gives a run-time scalar
  /// as a 0-d value; `random_state(blocks)` gives the u64[3] state of a Philox generator that owns the next `blocks`
  /// counters.
  struct Sources {
    hlo::Values operands;
    std::function<hlo::Value(int, ElementType)> take_scalar;
    std::function<hlo::Value(int64_t)> random_state;
    std::vector<bool> are_transposed = {};  // operands that are matrices whose columns lie one after the other
    bool is_alone = false;                  // the program has no other op
  };

  Context(hlo::Builder& builder, const Call& call, const Settings& settings, Sources sources);

  hlo::Builder& builder() { return builder_; }
  const Call& call() const { return call_; }
  const Settings& settings() const { return settings_; }
  /// Of all tensor arguments, in order.
  const hlo::Values& operands() const { return sources_.operands; }

  // Which arguments are there.
  bool has(const char* name) const;        // exists in the schema and is not None
  bool is_scalar(const char* name) const;  // a number (or a 0-d CPU tensor standing for one)

  // Tensors. A number where the schema has a Tensor is read as a 0-d value of its natural type.
  hlo::Value tensor(const char* name);                    // throws Internal when it is None
  hlo::Value tensor(const char* name, ElementType type);  // converted; a scalar is packed in this type directly
  hlo::Value optional_tensor(const char* name);           // empty Value when None or absent
  hlo::Values tensors(const char* name);                  // empty Values stand for None entries
  Type type(const char* name) const;                      // logical type of a tensor, natural type of a number
  Category category(const char* name) const;
  bool lies_transposed(const char* name) const;  // a matrix that is the transpose of one in memory

  bool is_alone() const { return sources_.is_alone; }  // the program has no other op

  // Run-time scalars and structure.
  hlo::Value scalar(const char* name, ElementType type);  // 0-d; a constant where the value is structure
  std::optional<double> known(const char* name) const;  // the value, where it is structure (row.special, row.constant)
  Scalar::Kind scalar_kind(const char* name) const;
  bool flag(const char* name) const;  // bool argument; False when None
  int64_t integer(const char* name) const;
  std::optional<int64_t> optional_integer(const char* name) const;
  double number(const char* name) const;  // a float argument that the row declares constant
  Dims ints(const char* name) const;      // int[]; empty when None
  std::string text(const char* name) const;
  std::optional<ElementType> element(const char* name) const;  // dtype argument

  /// The type of the tensor that receives output k, where it exists already (always for structured `.out` rows, unless
  /// the user's `out=` must be resized).
  std::optional<Type> target(size_t k) const;
  /// Its element type, or `fallback`.
  ElementType target_element(size_t k, ElementType fallback) const;

  /// The u64[3] Philox state (key, counter) of a generator that owns the next `counters` counters of the op's block.
  hlo::Value random_state(int64_t counters) { return sources_.random_state(counters); }
  /// 32 random bits (U32) or 64 (U64) for each element of `dims`; every element takes one counter of the op's block.
  hlo::Value random_bits(const Dims& dims);
  hlo::Value random_bits64(const Dims& dims);

  /// The program fails with `code` and `message` when any element of `failed` (Pred, any shape) is true. `numbers`
  /// (same shape, integer) gives the value that replaces `{}` in the message.
  void require_not(hlo::Value failed, hlo::Value numbers, ErrorCode code, const std::string& message);
  const std::vector<Check>& checks() const { return checks_; }

  /// Error(InvalidArgument) and friends with the op's name in front.
  template <class... Parts>
  [[noreturn]] void fail(ErrorCode code, const Parts&... parts) const {
    throw Error(code, concat(parts...));
  }
  template <class... Parts>
  void expect(bool condition, ErrorCode code, const Parts&... parts) const {
    if (!condition) fail(code, parts...);
  }

 private:
  const Param& param(const char* name) const;

  hlo::Builder& builder_;
  const Call& call_;
  const Settings& settings_;
  Sources sources_;
  std::vector<Check> checks_;
};

}  // namespace tpu::ops
