// Builder: typed values and op names go in, the text of one StableHLO module comes out.
//
// Values are numbered in the order they are made and appended to one string at once; nothing is kept but the block
// each value belongs to. The functions of ops.h and chlo.h check and infer types; this file only knows text, blocks
// and names. A builder that threw is in no defined state: throw it away.
//
// C++ evaluates the arguments of a call in any order, and so `f(x) - g(x)` numbers f and g as the compiler likes. That
// is harmless for values, but parameter() is called once per statement, and a test that compares text is as careful.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/type.h"

namespace tpu::hlo {

class Builder;

/// One SSA value of a builder. Cheap enough to copy; valid as long as its builder.
struct Value {
  Builder* builder = nullptr;
  int id = -1;
  Type type;

  explicit operator bool() const { return builder != nullptr; }
  ElementType element() const { return type.element; }
  const Dims& dims() const { return type.dims; }
  int64_t rank() const { return type.rank(); }
};
using Values = std::vector<Value>;
using Types = std::vector<Type>;

/// Fills one block: gets its arguments, returns its results. Everything made inside is written into that block.
using Region = std::function<Values(const Values&)>;

/// Whether a region may use values of the blocks around it: `if` and `case` may, the others take all they need as
/// arguments (XLA would turn a captured value into a hidden argument of a computation that must not have one).
enum class Captures { Forbidden, Allowed };

/// One module with one public func.func @main.
class Builder {
 public:
  Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// The next argument of @main; allowed at any time, in any block.
  Value parameter(const Type& type);
  /// Says that output number `output` may reuse the memory of argument number `parameter` (tf.aliasing_output).
  void set_parameter_alias(int parameter, int output);
  int parameter_count() const { return static_cast<int>(parameters_.size()); }
  /// convert() to bfloat16 is written as integer arithmetic from now on, see Note [Rounding to bfloat16].
  void set_rounds_as_integers(bool rounds) { rounds_as_integers_ = rounds; }
  bool rounds_as_integers() const { return rounds_as_integers_; }
  /// The whole text, with `results` as the results of @main; `name` names the module. Closes the builder.
  std::string module(const Values& results, const std::string& name = "main");

  // What ops.cpp and chlo.cpp are made of. `op` is the full name ("stablehlo.add"), `attributes` the inside of the
  // braces, `regions` come from region().

  /// `%r = op %a, %b : type`: operands and result of one type, which is not checked here.
  Value uniform(std::string_view op, std::initializer_list<const Value*> operands);
  /// `%r = "op"(%a, %b) ({..}) {..} : (..) -> type`
  Value generic(std::string_view op, std::span<const Value> operands, const Type& result,
                std::string_view attributes = {}, std::span<const std::string> regions = {});
  Values generic(std::string_view op, std::span<const Value> operands, std::span<const Type> results,
                 std::string_view attributes = {}, std::span<const std::string> regions = {});
  Value generic(std::string_view op, std::initializer_list<Value> operands, const Type& result,
                std::string_view attributes = {}) {
    return generic(op, std::span<const Value>(operands.begin(), operands.size()), result, attributes);
  }
  /// `stablehlo.constant dense<literal> : type`; a second equal constant of the same block is the first one.
  Value constant(std::string_view literal, const Type& type);
  /// `wide` has the values of `narrow` in float32: widened() finds it while it is usable.
  void set_widened(const Value& narrow, const Value& wide) { widened_.insert_or_assign(narrow.id, wide); }
  /// An empty Value if there is none.
  Value widened(const Value& narrow) const;
  /// Every NaN among the elements of a float32 value has only zeros in the lower half of its bits.
  void set_has_short_nans(const Value& value) { definitions_[value.id].has_short_nans = true; }
  bool has_short_nans(const Value& value) const { return definitions_[value.id].has_short_nans; }
  /// Runs `fill` on fresh block arguments; gives the block as text for generic() and the values it returned.
  std::string region(std::span<const Type> arguments, const Region& fill, Captures captures, Values* results);

 private:
  struct Parameter {
    Type type;
    int alias = -1;
  };
  struct Definition {
    int block;
    int parameter;  // its number, -1 for all other values
    bool has_short_nans = false;
  };
  struct Block {
    int parent;
    Captures captures;
    std::unordered_map<std::string, Value> constants;
  };

  Value define(const Type& type, int parameter = -1);
  bool is_usable(const Value& value) const;
  void check_usable(const Value& value) const;
  void append(std::string_view text) { text_ += text; }
  void append_number(int64_t number);
  void append_name(int id);
  void append_type(const Type& type);
  void append_use(const Value& value);
  void append_indent() { text_.append(static_cast<size_t>(2 * depth_ + 4), ' '); }
  void append_generic(std::string_view op, std::span<const Value> operands, std::string_view attributes,
                      std::span<const std::string> regions);

  std::string text_;  // of the block being written; region() cuts nested blocks out of its end
  std::vector<Definition> definitions_;
  std::vector<Parameter> parameters_;
  std::vector<Block> blocks_;               // all ever made; the open ones are current_ and its parents
  std::unordered_map<int, Value> widened_;  // by the number of the bfloat16 value
  bool rounds_as_integers_ = false;
  int current_ = 0;
  int depth_ = 0;
  bool closed_ = false;
};

}  // namespace tpu::hlo
