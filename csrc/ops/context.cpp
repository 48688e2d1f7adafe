#include "ops/context.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ops/name.h"
#include "ops/philox.h"
#include "ops/promotion.h"

namespace tpu::ops {

const Argument* Call::find(const char* name) const {
  for (const Argument& argument : arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

const Argument& Call::argument(const char* name) const {
  const Argument* found = find(name);
  check(found != nullptr, ErrorCode::Internal, full_name(row->name), " has no argument '", name, "'");
  return *found;
}

const Type& Call::type(const char* name) const { return operands[static_cast<size_t>(argument(name).index)].type; }

const Param& Call::param(const char* name) const { return params[static_cast<size_t>(argument(name).index)]; }

std::string to_string(const Scalar& scalar) {
  switch (scalar.kind) {
    case Scalar::Kind::Bool: return scalar.integer ? "True" : "False";
    case Scalar::Kind::Int: return std::to_string(scalar.integer);
    case Scalar::Kind::Unsigned: return std::to_string(static_cast<uint64_t>(scalar.integer));
    case Scalar::Kind::Double: return concat(scalar.real);
    case Scalar::Kind::Complex: return concat("(", scalar.real, "+", scalar.imag, "j)");
  }
  return "?";
}

std::string to_string(const Call& call) {
  auto operand_text = [&](int index) {
    if (index < 0) return std::string("None");
    const Type& type = call.operands[static_cast<size_t>(index)].type;
    return concat(torch_name(type.element), to_string(type.dims));
  };
  std::string text = concat(full_name(call.row->name), "(");
  bool first = true;
  for (const Argument& argument : call.arguments) {
    if (argument.kind == Argument::Kind::None) continue;
    if (!first) text += ", ";
    first = false;
    text += argument.name + ": ";
    switch (argument.kind) {
      case Argument::Kind::Tensor: text += operand_text(argument.index); break;
      case Argument::Kind::Scalar: text += to_string(call.scalars[static_cast<size_t>(argument.index)]); break;
      case Argument::Kind::Param: text += to_string(call.params[static_cast<size_t>(argument.index)]); break;
      case Argument::Kind::Tensors:
        text += "[";
        for (size_t i = 0; i < argument.indices.size(); ++i)
          text += (i ? ", " : "") + operand_text(argument.indices[i]);
        text += "]";
        break;
      case Argument::Kind::None: break;
    }
  }
  return text + ")";
}

Context::Context(hlo::Builder& builder, const Call& call, const Settings& settings, Sources sources)
    : builder_(builder), call_(call), settings_(settings), sources_(std::move(sources)) {}

bool Context::has(const char* name) const {
  const Argument* argument = call_.find(name);
  return argument != nullptr && argument->kind != Argument::Kind::None;
}

bool Context::is_scalar(const char* name) const {
  const Argument* argument = call_.find(name);
  return argument != nullptr && argument->kind == Argument::Kind::Scalar;
}

hlo::Value Context::tensor(const char* name) {
  const Argument& argument = call_.argument(name);
  if (argument.kind == Argument::Kind::Scalar) return scalar(name, type(name).element);
  check(argument.kind == Argument::Kind::Tensor, ErrorCode::Internal, full_name(call_.row->name), ": argument '", name,
        "' is no tensor");
  return sources_.operands[static_cast<size_t>(argument.index)];
}

hlo::Value Context::tensor(const char* name, ElementType type) {
  if (is_scalar(name)) return scalar(name, type);
  return hlo::convert(tensor(name), type);
}

hlo::Value Context::optional_tensor(const char* name) { return has(name) ? tensor(name) : hlo::Value(); }

hlo::Values Context::tensors(const char* name) {
  hlo::Values values;
  for (int index : call_.argument(name).indices)
    values.push_back(index < 0 ? hlo::Value() : sources_.operands[static_cast<size_t>(index)]);
  return values;
}

Type Context::type(const char* name) const {
  const Argument& argument = call_.argument(name);
  if (argument.kind == Argument::Kind::Scalar) return {call_.scalar_elements[static_cast<size_t>(argument.index)], {}};
  check(argument.kind == Argument::Kind::Tensor, ErrorCode::Internal, full_name(call_.row->name), ": argument '", name,
        "' is no tensor");
  return call_.operands[static_cast<size_t>(argument.index)].type;
}

bool Context::lies_transposed(const char* name) const {
  const Argument& argument = call_.argument(name);
  auto index = static_cast<size_t>(argument.index);
  return argument.kind == Argument::Kind::Tensor && index < sources_.are_transposed.size() &&
         sources_.are_transposed[index];
}

Category Context::category(const char* name) const {
  const Argument& argument = call_.argument(name);
  if (argument.kind == Argument::Kind::Scalar) return call_.scalar_categories[static_cast<size_t>(argument.index)];
  check(argument.kind == Argument::Kind::Tensor, ErrorCode::Internal, full_name(call_.row->name), ": argument '", name,
        "' is no tensor");
  return call_.operands[static_cast<size_t>(argument.index)].category;
}

bool fits(const Scalar& scalar, ElementType type) {
  if (!is_integral(type)) return true;
  if (scalar.kind == Scalar::Kind::Unsigned) return type == ElementType::U64;
  size_t bits = size_of(type) * 8;
  bool is_exact = scalar.kind == Scalar::Kind::Bool || scalar.kind == Scalar::Kind::Int;
  if (bits == 64 && is_exact) return true;
  int value_bits = static_cast<int>(bits) - (is_signed(type) ? 1 : 0);
  double limit = std::ldexp(1.0, value_bits);
  if (!is_exact) return scalar.real < limit && scalar.real >= (is_signed(type) ? -limit : -(limit - 1));
  auto whole = static_cast<int64_t>(limit);
  return scalar.integer < whole && scalar.integer >= (is_signed(type) ? -whole : -(whole - 1));
}

std::string overflow_message(ElementType type) {
  // In C++'s names.
  std::string name = type == ElementType::S32 ? "int" : concat(torch_name(type), "_t");
  return concat("value cannot be converted to type ", name, " without overflow");
}

hlo::Value Context::scalar(const char* name, ElementType type) {
  const Argument& argument = call_.argument(name);
  check(argument.kind == Argument::Kind::Scalar, ErrorCode::Internal, full_name(call_.row->name), ": argument '", name,
        "' is no number");
  auto index = static_cast<size_t>(argument.index);
  if (!call_.structural[index]) return sources_.take_scalar(argument.index, type);
  const Scalar& value = call_.scalars[index];
  expect(!call_.scalar_exact[index] || fits(value, type), ErrorCode::InvalidArgument, overflow_message(type));
  if (is_complex(type)) {
    return hlo::constant_complex(builder_, type, value.value(), value.kind == Scalar::Kind::Complex ? value.imag : 0);
  }
  if (is_floating(type)) return hlo::constant(builder_, type, value.value());
  bool exact = value.is_integer();
  int64_t integer = exact ? value.integer : static_cast<int64_t>(value.real);
  return hlo::constant(builder_, type,
                       type == ElementType::Pred ? int64_t{exact ? integer != 0 : value.real != 0} : integer);
}

std::optional<double> Context::known(const char* name) const {
  const Argument* argument = call_.find(name);
  if (argument == nullptr || argument->kind != Argument::Kind::Scalar) return std::nullopt;
  auto index = static_cast<size_t>(argument->index);
  if (!call_.structural[index] || call_.scalars[index].kind == Scalar::Kind::Complex) return std::nullopt;
  return call_.scalars[index].value();
}

Scalar::Kind Context::scalar_kind(const char* name) const {
  const Argument& argument = call_.argument(name);
  check(argument.kind == Argument::Kind::Scalar, ErrorCode::Internal, full_name(call_.row->name), ": argument '", name,
        "' is no number");
  return call_.scalars[static_cast<size_t>(argument.index)].kind;
}

const Param& Context::param(const char* name) const {
  static const Param none;
  const Argument& argument = call_.argument(name);
  if (argument.kind == Argument::Kind::None) return none;
  check(argument.kind == Argument::Kind::Param, ErrorCode::Internal, full_name(call_.row->name), ": argument '", name,
        "' is not structural");
  return call_.params[static_cast<size_t>(argument.index)];
}

namespace {
template <class T>
T param_as(const Param& param, const Call& call, const char* name) {
  const T* value = std::get_if<T>(&param);
  check(value != nullptr, ErrorCode::Internal, full_name(call.row->name), ": argument '", name, "' is ",
        to_string(param), ", not of the kind the lowering reads");
  return *value;
}
}  // namespace

bool Context::flag(const char* name) const {
  const Param& value = param(name);
  return !std::holds_alternative<std::monostate>(value) && param_as<bool>(value, call_, name);
}

int64_t Context::integer(const char* name) const { return param_as<int64_t>(param(name), call_, name); }

std::optional<int64_t> Context::optional_integer(const char* name) const {
  const Param& value = param(name);
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  return param_as<int64_t>(value, call_, name);
}

double Context::number(const char* name) const {
  std::optional<double> value = known(name);
  check(value.has_value(), ErrorCode::Internal, full_name(call_.row->name), ": the row must declare '", name,
        "' constant");
  return *value;
}

Dims Context::ints(const char* name) const {
  const Param& value = param(name);
  if (std::holds_alternative<std::monostate>(value)) return {};
  return param_as<Dims>(value, call_, name);
}

std::string Context::text(const char* name) const { return param_as<std::string>(param(name), call_, name); }

std::optional<ElementType> Context::element(const char* name) const {
  const Param& value = param(name);
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  return param_as<ElementType>(value, call_, name);
}

std::optional<Type> Context::target(size_t k) const {
  return k < call_.targets.size() ? call_.targets[k] : std::nullopt;
}

ElementType Context::target_element(size_t k, ElementType fallback) const {
  return k < call_.target_elements.size() ? call_.target_elements[k].value_or(fallback) : fallback;
}

hlo::Value Context::random_bits(const Dims& dims) { return philox_words(random_state(product(dims)), dims, 1)[0]; }

hlo::Value Context::random_bits64(const Dims& dims) {
  hlo::Values words = philox_words(random_state(product(dims)), dims, 2);
  hlo::Value low = hlo::convert(words[0], ElementType::U64), high = hlo::convert(words[1], ElementType::U64);
  return hlo::or_(hlo::shift_left(high, hlo::like(high, 32)), low);
}

void Context::require_not(hlo::Value failed, hlo::Value numbers, ErrorCode code, const std::string& message) {
  if (product(failed.dims()) == 0) return;
  // The number of any failing element will do: one reduction marks the others with a number that none of them is.
  hlo::Value wide = hlo::convert(numbers, ElementType::S64);
  hlo::Value none = hlo::min_value(builder_, ElementType::S64);
  wide = hlo::maximum(wide, hlo::like(wide, std::numeric_limits<int64_t>::min() + 1));
  hlo::Value marked = hlo::select(failed, wide, hlo::broadcast(none, wide.dims()));
  Dims all;
  for (int64_t i = 0; i < failed.rank(); ++i) all.push_back(i);
  hlo::Value number = hlo::reduce(marked, all, hlo::Reducer::Max);
  checks_.push_back({code, message, hlo::ne(number, none), number});
}

}  // namespace tpu::ops
