#include "hlo/constraint.h"
#include "hlo/ops.h"

namespace tpu::hlo {

namespace {

/// Branches without arguments; all return the types of the first.
Values branch(std::string_view op, const Value& choice, std::span<const Region> branches) {
  std::vector<std::string> regions;
  Types results;
  for (size_t i = 0; i < branches.size(); ++i) {
    Values returned;
    regions.push_back(choice.builder->region({}, branches[i], Captures::Allowed, &returned));
    if (i == 0) {
      for (const Value& value : returned) results.push_back(value.type);
    }
    require_types(op, "a branch", returned, results);
  }
  return choice.builder->generic(op, std::span(&choice, 1), results, {}, regions);
}

}  // namespace

Values case_(const Value& index, const std::vector<Region>& branches) {
  constexpr std::string_view op = "stablehlo.case";
  require_scalar(op, "index", index, ElementType::S32);
  require(!branches.empty(), op, "expected at least one branch");
  return branch(op, index, branches);
}

Values if_(const Value& predicate, const Region& on_true, const Region& on_false) {
  constexpr std::string_view op = "stablehlo.if";
  require_scalar(op, "predicate", predicate, ElementType::Pred);
  Region branches[] = {on_true, on_false};
  return branch(op, predicate, branches);
}

Values while_(const Values& inits, const Region& cond, const Region& body) {
  constexpr std::string_view op = "stablehlo.while";
  require(!inits.empty(), op, "expected at least one operand");
  Types types;
  for (const Value& init : inits) {
    require_value(op, init);
    types.push_back(init.type);
  }
  Builder& builder = *inits[0].builder;
  Values goes_on, next;
  Type pred{ElementType::Pred, {}};
  std::string regions[2];
  regions[0] = builder.region(types, cond, Captures::Forbidden, &goes_on);
  require_types(op, "cond", goes_on, std::span(&pred, 1));
  regions[1] = builder.region(types, body, Captures::Forbidden, &next);
  require_types(op, "body", next, types);
  return builder.generic(op, inits, types, {}, regions);
}

}  // namespace tpu::hlo
