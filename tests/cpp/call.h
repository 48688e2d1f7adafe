// Calls by hand: what aten/recording.cpp makes of a torch call, without torch. For tests of graph, engine and families.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/row.h"

namespace tpu {

/// Adds one node to a graph, argument by argument in the order of the schema, then its results:
///   CallBuilder(graph, "add.Tensor").tensor("self", x).tensor("other", y).number("alpha", 1.0).fresh();
class CallBuilder {
 public:
  CallBuilder(graph::Graph& graph, const char* row) : graph_(graph) {
    graph_.nodes.emplace_back();
    call().row = ops::find_row(row);
    check(call().row != nullptr, ErrorCode::Internal, "no row is called ", row);
  }

  /// A new input, read whole. `category` is found from its rank when left out.
  CallBuilder& tensor(const char* name, const Type& type, std::optional<ops::Category> category = {}) {
    return view(name, type, graph::whole(type), category);
  }
  /// A new input, read through a view.
  CallBuilder& view(const char* name, const Type& base, const graph::View& view,
                    std::optional<ops::Category> category = {}) {
    graph_.inputs.push_back(base);
    return reread(name, static_cast<int>(graph_.inputs.size()) - 1, view, category);
  }
  /// An input that is there already (-1: an unset storage of `unset`), read through a view.
  CallBuilder& reread(const char* name, int input, const graph::View& view, std::optional<ops::Category> category = {},
                      const Type& unset = {}) {
    add_argument(name, ops::Argument::Kind::Tensor, static_cast<int>(call().operands.size()));
    add_operand(input, view, category, unset);
    return *this;
  }
  CallBuilder& tensors(const char* name, const std::vector<Type>& types) {
    add_argument(name, ops::Argument::Kind::Tensors, 0);
    for (const Type& type : types) {
      call().arguments.back().indices.push_back(static_cast<int>(call().operands.size()));
      graph_.inputs.push_back(type);
      add_operand(static_cast<int>(graph_.inputs.size()) - 1, graph::whole(type), {}, {});
    }
    return *this;
  }
  CallBuilder& none(const char* name) {
    add_argument(name, ops::Argument::Kind::None, 0);
    return *this;
  }
  CallBuilder& number(const char* name, const ops::Scalar& scalar) {
    bool is_structure = false;
    for (const ops::Special& special : call().row->specials)
      if (std::string(special.argument) == name)
        for (double value : special.values) is_structure |= scalar.value() == value;
    for (const char* constant : call().row->constants) is_structure |= std::string(constant) == name;
    using Kind = ops::Scalar::Kind;
    ElementType natural = scalar.kind == Kind::Bool     ? ElementType::Pred
                          : scalar.kind == Kind::Int    ? ElementType::S64
                          : scalar.kind == Kind::Double ? ElementType::F32
                                                        : ElementType::C64;
    add_argument(name, ops::Argument::Kind::Scalar, static_cast<int>(call().scalars.size()));
    call().scalars.push_back(scalar);
    call().structural.push_back(is_structure);
    call().scalar_categories.push_back(ops::Category::Number);
    call().scalar_exact.push_back(true);
    call().scalar_elements.push_back(natural);
    return *this;
  }
  CallBuilder& number(const char* name, double value) { return number(name, ops::Scalar::of(value)); }
  CallBuilder& number(const char* name, int value) { return number(name, ops::Scalar::of(int64_t{value})); }
  CallBuilder& param(const char* name, Param value) {
    add_argument(name, ops::Argument::Kind::Param, static_cast<int>(call().params.size()));
    call().params.push_back(std::move(value));
    return *this;
  }
  CallBuilder& param(const char* name, int value) { return param(name, Param(int64_t{value})); }
  CallBuilder& param(const char* name, const char* value) { return param(name, Param(std::string(value))); }

  // Results, in order.
  CallBuilder& fresh(const Dims& permutation = {}) {
    graph::Write write;
    write.permutation = permutation;
    return result(write, std::nullopt, std::nullopt);
  }
  CallBuilder& drop() {
    graph::Write write;
    write.kind = graph::Write::Kind::Drop;
    return result(write, std::nullopt, std::nullopt);
  }
  /// The whole storage of a tensor of this type; `donor` is the input whose memory it may take.
  CallBuilder& replace(const Type& type, int donor = -1, bool resizes = false, const Dims& permutation = {}) {
    graph::Write write;
    write.kind = graph::Write::Kind::Replace;
    write.type = type;
    write.donor = donor;
    write.resizes = resizes;
    write.permutation = permutation;
    bool is_sized = !resizes || type.count() > 0;
    return result(write, is_sized ? std::optional<Type>(type) : std::nullopt, type.element);
  }
  /// A part of an input (-1: of an unset storage of `unset`), through a view.
  CallBuilder& update(int input, const graph::View& view, const Type& unset = {}) {
    graph::Write write;
    write.kind = graph::Write::Kind::Update;
    write.type = {view.element, view.sizes};
    write.base = write.donor = input;
    write.plan = graph::plan_view(input < 0 ? unset : graph_.inputs[static_cast<size_t>(input)], view);
    write.first_start = add_starts(write.plan);
    return result(write, write.type, write.type.element);
  }

 private:
  graph::Node& node() { return graph_.nodes.back(); }
  ops::Call& call() { return node().call; }

  void add_argument(const char* name, ops::Argument::Kind kind, int index) {
    ops::Argument argument;
    argument.name = name;
    argument.kind = kind;
    argument.index = index;
    call().arguments.push_back(argument);
  }
  void add_operand(int input, const graph::View& view, std::optional<ops::Category> category, const Type& unset) {
    graph::Read read;
    read.base = input;
    read.plan = graph::plan_view(input < 0 ? unset : graph_.inputs[static_cast<size_t>(input)], view);
    read.first_start = add_starts(read.plan);
    node().reads.push_back(read);
    ops::Category natural = view.sizes.empty() ? ops::Category::ZeroDim : ops::Category::Dimensioned;
    call().operands.push_back({{view.element, view.sizes}, category.value_or(natural)});
  }
  int add_starts(const graph::ViewPlan& plan) {
    int first = graph_.start_count;
    graph_.start_count += static_cast<int>(graph::start_count(plan));
    return first;
  }
  CallBuilder& result(const graph::Write& write, std::optional<Type> target, std::optional<ElementType> element) {
    node().writes.push_back(write);
    call().targets.push_back(std::move(target));
    call().target_elements.push_back(element);
    return *this;
  }

  graph::Graph& graph_;
};

}  // namespace tpu
