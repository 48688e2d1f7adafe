#include "hlo/builder.h"

#include <charconv>

namespace tpu::hlo {

namespace {

void append_decimal(std::string& text, int64_t number) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

}  // namespace

Builder::Builder() {
  text_.reserve(4096);
  blocks_.push_back({-1, Captures::Forbidden, {}});
}

Value Builder::parameter(const Type& type) {
  check(!closed_, ErrorCode::Internal, "hlo: parameter after module()");
  parameters_.push_back({type});
  Value value = define(type, parameter_count() - 1);
  definitions_.back().block = 0;
  return value;
}

void Builder::set_parameter_alias(int parameter, int output) {
  check(parameter >= 0 && parameter < parameter_count(), ErrorCode::Internal, "hlo: alias of parameter ", parameter,
        ", expected one of ", parameter_count());
  parameters_[parameter].alias = output;
}

std::string Builder::module(const Values& results, const std::string& name) {
  check(!closed_ && current_ == 0, ErrorCode::Internal, "hlo: module() inside a region or for the second time");
  std::string body = std::move(text_);
  text_.clear();
  text_.reserve(body.size() + 64 * parameters_.size() + 256);
  append("module @");
  append(name);
  append(" {\n  func.func public @main(");
  for (int i = 0; i < parameter_count(); ++i) {
    const Parameter& parameter = parameters_[i];
    append(i == 0 ? "%arg" : ", %arg");
    append_number(i);
    append(": ");
    append_type(parameter.type);
    if (parameter.alias < 0) continue;
    check(parameter.alias < static_cast<int>(results.size()) && results[parameter.alias].type == parameter.type,
          ErrorCode::Internal, "hlo: parameter ", i, " of type ", to_string(parameter.type), " aliases output ",
          parameter.alias, ", which does not exist or has another type");
    append(" {tf.aliasing_output = ");
    append_number(parameter.alias);
    append(" : i32}");
  }
  append(") -> (");
  for (size_t i = 0; i < results.size(); ++i) {
    if (i != 0) append(", ");
    append_type(results[i].type);
  }
  append(") {\n");
  text_ += body;
  append("    return");
  for (size_t i = 0; i < results.size(); ++i) {
    append(i == 0 ? " " : ", ");
    append_use(results[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    append(i == 0 ? " : " : ", ");
    append_type(results[i].type);
  }
  append("\n  }\n}\n");
  closed_ = true;
  return std::move(text_);
}

Value Builder::uniform(std::string_view op, std::initializer_list<const Value*> operands) {
  for (const Value* operand : operands) check_usable(*operand);
  Value result = define((*operands.begin())->type);
  append_indent();
  append_name(result.id);
  append(" = ");
  append(op);
  const char* separator = " ";
  for (const Value* operand : operands) {
    append(separator);
    append_name(operand->id);
    separator = ", ";
  }
  append(" : ");
  append_type(result.type);
  append("\n");
  return result;
}

Value Builder::generic(std::string_view op, std::span<const Value> operands, const Type& result,
                       std::string_view attributes, std::span<const std::string> regions) {
  Value value = define(result);
  append_indent();
  append_name(value.id);
  append(" = ");
  append_generic(op, operands, attributes, regions);
  append_type(result);
  append("\n");
  return value;
}

Values Builder::generic(std::string_view op, std::span<const Value> operands, std::span<const Type> results,
                        std::string_view attributes, std::span<const std::string> regions) {
  Values values;
  values.reserve(results.size());
  append_indent();
  for (const Type& type : results) {
    if (!values.empty()) append(", ");
    values.push_back(define(type));
    append_name(values.back().id);
  }
  if (!results.empty()) append(" = ");
  append_generic(op, operands, attributes, regions);
  append("(");
  for (size_t i = 0; i < results.size(); ++i) {
    if (i != 0) append(", ");
    append_type(results[i]);
  }
  append(")\n");
  return values;
}

Value Builder::constant(std::string_view literal, const Type& type) {
  std::string key;
  key.reserve(literal.size() + 48);
  key += "stablehlo.constant dense<";
  key += literal;
  key += "> : ";
  key += to_string(type);
  auto [slot, fresh] = blocks_[current_].constants.try_emplace(std::move(key));
  if (!fresh) return slot->second;
  slot->second = define(type);
  append_indent();
  append_name(slot->second.id);
  append(" = ");
  append(slot->first);
  append("\n");
  return slot->second;
}

std::string Builder::region(std::span<const Type> arguments, const Region& fill, Captures captures, Values* results) {
  check(!closed_, ErrorCode::Internal, "hlo: region after module()");
  size_t start = text_.size();
  int outer = current_;
  blocks_.push_back({outer, captures, {}});
  current_ = static_cast<int>(blocks_.size()) - 1;
  append("{\n");
  Values values;
  values.reserve(arguments.size());
  if (!arguments.empty()) {
    append_indent();
    append("^bb0(");
    for (const Type& type : arguments) {
      if (!values.empty()) append(", ");
      values.push_back(define(type));
      append_name(values.back().id);
      append(": ");
      append_type(type);
    }
    append("):\n");
  }
  ++depth_;
  *results = fill(values);
  append_indent();
  append("stablehlo.return");
  for (size_t i = 0; i < results->size(); ++i) {
    append(i == 0 ? " " : ", ");
    append_use((*results)[i]);
  }
  for (size_t i = 0; i < results->size(); ++i) {
    append(i == 0 ? " : " : ", ");
    append_type((*results)[i].type);
  }
  append("\n");
  --depth_;
  append_indent();
  append("}");
  blocks_[current_].constants.clear();  // nobody can use a closed block's values
  current_ = outer;
  std::string text = text_.substr(start);
  text_.resize(start);
  return text;
}

Value Builder::define(const Type& type, int parameter) {
  check(!closed_, ErrorCode::Internal, "hlo: op after module()");
  definitions_.push_back({current_, parameter});
  return {this, static_cast<int>(definitions_.size()) - 1, type};
}

Value Builder::widened(const Value& narrow) const {
  auto found = widened_.find(narrow.id);
  return found != widened_.end() && is_usable(found->second) ? found->second : Value{};
}

bool Builder::is_usable(const Value& value) const {
  int home = definitions_[value.id].block;
  int block = current_;
  while (block > 0 && block != home && blocks_[block].captures == Captures::Allowed) block = blocks_[block].parent;
  return block == home;
}

// A value may be used in its own block, and further inside as long as every block on the way may capture.
void Builder::check_usable(const Value& value) const {
  check(value.builder == this, ErrorCode::Internal, "hlo: operand is ",
        value.builder == nullptr ? "an empty value" : "a value of another builder");
  int home = definitions_[value.id].block;
  for (int block = current_; block != home; block = blocks_[block].parent) {
    check(block > 0, ErrorCode::Internal, "hlo: value %", value.id, " of type ", to_string(value.type),
          " is used outside of the region that made it");
    check(blocks_[block].captures == Captures::Allowed, ErrorCode::Internal, "hlo: value %", value.id, " of type ",
          to_string(value.type), " is captured by a region that sees only its arguments");
  }
}

void Builder::append_number(int64_t number) { append_decimal(text_, number); }

void Builder::append_name(int id) {
  int parameter = definitions_[id].parameter;
  append(parameter >= 0 ? "%arg" : "%");
  append_number(parameter >= 0 ? parameter : id);
}

void Builder::append_type(const Type& type) {
  append("tensor<");
  for (int64_t size : type.dims) {
    append_number(size);
    text_ += 'x';
  }
  append(mlir_name(type.element));
  text_ += '>';
}

void Builder::append_use(const Value& value) {
  check_usable(value);
  append_name(value.id);
}

void Builder::append_generic(std::string_view op, std::span<const Value> operands, std::string_view attributes,
                             std::span<const std::string> regions) {
  text_ += '"';
  append(op);
  append("\"(");
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i != 0) append(", ");
    append_use(operands[i]);
  }
  append(")");
  for (size_t i = 0; i < regions.size(); ++i) {
    append(i == 0 ? " (" : ", ");
    append(regions[i]);
  }
  if (!regions.empty()) append(")");
  if (!attributes.empty()) {
    append(" {");
    append(attributes);
    append("}");
  }
  append(" : (");
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i != 0) append(", ");
    append_type(operands[i].type);
  }
  append(") -> ");
}

}  // namespace tpu::hlo
