#include "aten/signature.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace tpu::aten {

namespace {

c10::TypePtr without_optional(const c10::TypePtr& type) {
  auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

void classify(Slot& slot, const c10::Argument& argument) {
  c10::TypePtr type = without_optional(argument.real_type());
  switch (type->kind()) {
    case c10::TypeKind::TensorType: slot.kind = Slot::Kind::Tensor; return;
    case c10::TypeKind::ListType: {
      c10::TypePtr element = type->expectRef<c10::ListType>().getElementType();
      bool of_optionals = element->kind() == c10::TypeKind::OptionalType;
      bool of_tensors = without_optional(element)->kind() == c10::TypeKind::TensorType;
      slot.kind = of_tensors ? Slot::Kind::Tensors : Slot::Kind::Param;
      slot.is_indices = of_tensors && of_optionals && slot.name == "indices";
      return;
    }
    case c10::TypeKind::NumberType:
    case c10::TypeKind::FloatType: slot.kind = Slot::Kind::Scalar; return;
    case c10::TypeKind::ScalarTypeType:
      slot.kind = Slot::Kind::Param;
      slot.is_dtype = true;
      return;
    case c10::TypeKind::DeviceObjType: slot.kind = Slot::Kind::Device; return;
    case c10::TypeKind::GeneratorType: slot.kind = Slot::Kind::Generator; return;
    case c10::TypeKind::LayoutType:
    case c10::TypeKind::MemoryFormatType: slot.kind = Slot::Kind::Ignored; return;
    default:
      slot.kind = slot.name == "pin_memory" || slot.name == "non_blocking" ? Slot::Kind::Ignored : Slot::Kind::Param;
  }
}

bool contains(const std::vector<const char*>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const char* each) { return name == each; });
}

}  // namespace

Signature::Signature(const c10::FunctionSchema& schema, const ops::Row& row) {
  for (const c10::Argument& argument : schema.arguments()) {
    Slot slot;
    slot.name = argument.name();
    classify(slot, argument);
    const c10::AliasInfo* alias = argument.alias_info();
    slot.is_written = (alias != nullptr && alias->isWrite()) || contains(row.writes, slot.name);
    slot.is_read = !argument.is_out();
    slot.is_constant = contains(row.constants, slot.name);
    // An argument called `other` becomes a tensor first in torch, which wraps.
    slot.is_exact = slot.kind == Slot::Kind::Scalar && (slot.name == "value" || slot.name == "fill_value");
    for (const ops::Special& special : row.specials) {
      if (slot.name != special.argument) continue;
      slot.specials = special.values;
      // An int becomes a run-time number, but for these values.
      if (slot.kind == Slot::Kind::Param) slot.kind = Slot::Kind::Scalar;
    }
    auto number = static_cast<int>(slots.size());
    if (slot.kind == Slot::Kind::Generator) generator = number;
    if (slot.kind == Slot::Kind::Device) device = number;
    slots.push_back(std::move(slot));
  }

  std::vector<bool> covered(slots.size(), false);
  auto write_to = [&](size_t argument, bool is_returned) {
    covered[argument] = true;
    const Slot& slot = slots[argument];
    results.push_back(
        {static_cast<int>(argument), is_returned, !slot.is_read, slot.kind == Slot::Kind::Tensors, false});
  };
  for (const c10::Argument& value : schema.returns()) {
    const c10::AliasInfo* alias = value.alias_info();
    if (alias == nullptr || !alias->isWrite()) {
      c10::TypeKind kind = value.real_type()->kind();
      bool is_number = kind == c10::TypeKind::IntType || kind == c10::TypeKind::SymIntType;
      results.push_back({-1, true, false, kind == c10::TypeKind::ListType, is_number});
      continue;
    }
    for (size_t i = 0; i < slots.size(); ++i) {
      const c10::AliasInfo* other = schema.arguments()[i].alias_info();
      if (other != nullptr && other->isWrite() && other->beforeSets() == alias->beforeSets()) write_to(i, true);
    }
  }
  return_count = results.size();
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].is_written && !covered[i]) write_to(i, false);
  // Arguments that the schema does not call mutable come last, in the order in which the row names them.
  std::stable_sort(results.begin() + static_cast<std::ptrdiff_t>(return_count), results.end(),
                   [&](const Result& a, const Result& b) {
                     auto place = [&](const Result& result) {
                       const std::string& name = slots[static_cast<size_t>(result.argument)].name;
                       auto found = std::find_if(row.writes.begin(), row.writes.end(),
                                                 [&](const char* each) { return name == each; });
                       return found == row.writes.end() ? -1 : static_cast<int>(found - row.writes.begin());
                     };
                     return place(a) < place(b);
                   });
}

}  // namespace tpu::aten
