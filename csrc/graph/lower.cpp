#include <algorithm>

#include "graph/graph.h"
#include "ops/elementwise.h"
#include "ops/host_call.h"
#include "ops/name.h"
#include "ops/promotion.h"

namespace tpu::graph {

namespace {

using hlo::Value;
using hlo::Values;

// The program's run-time arguments apart from its inputs, declared when first asked for.
class RuntimeArguments {
 public:
  RuntimeArguments(hlo::Builder& builder, const Graph& graph) : builder_(builder), start_count_(graph.start_count) {
    for (const Node& node : graph.nodes) {
      scalar_count_ += static_cast<int64_t>(node.call.scalars.size());
      random_count_ += node.call.row->is_random ? 1 : 0;
    }
  }

  Values starts(const ViewPlan& plan, int first) {
    Values values;
    for (size_t i = 0; i < start_count(plan); ++i) {
      Value vector = declare(RuntimeArgument::Kind::Starts, ElementType::S64, start_count_);
      values.push_back(element(vector, first + static_cast<int64_t>(i)));
    }
    return values;
  }

  // Scalars are packed in the type in which torch computes with them: floats of up to 32 bits as F32, integers and
  // bools as S64. A bool made of a fraction is true, so there the number's own kind decides.
  Value scalar(int64_t position, ElementType wanted, ops::Scalar::Kind kind, bool is_exact) {
    ElementType packed = ops::compute_type(wanted);
    if (packed == ElementType::Pred && kind == ops::Scalar::Kind::Double) packed = ElementType::F64;
    if (packed == ElementType::Pred && kind == ops::Scalar::Kind::Complex) packed = ElementType::C128;
    if (packed == ElementType::Pred || is_integral(packed)) packed = ElementType::S64;
    Value value = element(declare(RuntimeArgument::Kind::Scalars, packed, scalar_count_), position);
    for (RuntimeArgument& argument : declared_)
      if (argument.kind == RuntimeArgument::Kind::Scalars && argument.element == packed)
        argument.uses.push_back({static_cast<int>(position), wanted, is_exact});
    if (wanted == ElementType::Pred) return hlo::ne(value, hlo::scalar_like(value, 0));
    return hlo::convert(value, wanted);
  }

  // The node that is lowered now draws random numbers, from a block of its own.
  void begin_random_node() { random_blocks_.push_back(0); }

  Value random_state(int64_t blocks) {
    check(!random_blocks_.empty(), ErrorCode::Internal, "random numbers are asked for by a row that is not random()");
    Value state = declare(RuntimeArgument::Kind::Random, ElementType::U64, 3 * random_count_);
    auto node = static_cast<int64_t>(random_blocks_.size()) - 1;
    if (random_count_ > 1) state = hlo::slice(state, {3 * node}, {3 * node + 3}, {1});
    if (random_blocks_.back() > 0)
      state = hlo::add(state, hlo::constant_ints(builder_, {0, random_blocks_.back(), 0}, ElementType::U64));
    random_blocks_.back() += blocks;
    return state;
  }

  const std::vector<RuntimeArgument>& declared() const { return declared_; }
  const std::vector<int64_t>& random_blocks() const { return random_blocks_; }

 private:
  Value declare(RuntimeArgument::Kind kind, ElementType element, int64_t count) {
    for (size_t i = 0; i < declared_.size(); ++i)
      if (declared_[i].kind == kind && declared_[i].element == element) return values_[i];
    declared_.push_back({kind, element, {}});
    values_.push_back(builder_.parameter({element, {count}}));
    return values_.back();
  }

  static Value element(const Value& vector, int64_t at) {
    return hlo::reshape(hlo::slice(vector, {at}, {at + 1}, {1}), {});
  }

  hlo::Builder& builder_;
  int64_t start_count_;
  int64_t scalar_count_ = 0;
  std::vector<RuntimeArgument> declared_;
  Values values_;
  int64_t random_count_ = 0;
  std::vector<int64_t> random_blocks_;  // of the random nodes so far
};

// The storage that a view lies over; an unset one is all zeros.
Value base_of(hlo::Builder& builder, const Values& bases, int base, const ViewPlan& plan) {
  return base >= 0 ? bases[static_cast<size_t>(base)] : hlo::constant(builder, plan.base, 0);
}

// The result as its tensor stores it, and what became of it.
Value bind_result(Value result, const Write& write, const ops::Call& call, const Values& bases,
                  RuntimeArguments& arguments, Output& output) {
  output.logical = result.type;
  if (write.kind == Write::Kind::Replace || write.kind == Write::Kind::Update) {
    check(ops::can_cast(result.element(), write.type.element), ErrorCode::InvalidArgument, "result type ",
          ops::scalar_type_name(result.element()), " can't be cast to the desired output type ",
          ops::scalar_type_name(write.type.element));
    result = hlo::convert(result, write.type.element);
    output.logical.element = write.type.element;
    if (result.dims() != write.type.dims) {
      check(write.resizes, ErrorCode::InvalidArgument, ops::full_name(call.row->name), ": output with shape ",
            to_string(write.type.dims), " doesn't match the broadcast shape ", to_string(result.dims()));
      output.resized = true;
      output.stored = result.type;
      return result;
    }
  }
  if (write.kind == Write::Kind::Update) {
    Value base = base_of(*result.builder, bases, write.base, write.plan);
    output.stored = base.type;
    return lower_write(base, write.plan, arguments.starts(write.plan, write.first_start), result);
  }
  if (write.permutation.size() == static_cast<size_t>(result.rank()) && !write.permutation.empty()) {
    output.permutation = write.permutation;
    result = hlo::transpose(result, write.permutation);
  }
  output.stored = result.type;
  return result;
}

Value pack_checks(hlo::Builder& builder, const std::vector<ops::Check>& checks) {
  Value packed = hlo::constant(builder, Type{ElementType::S64, {2}}, 0);
  for (size_t i = checks.size(); i-- > 0;) {
    Value number = hlo::constant_ints(builder, {static_cast<int64_t>(i) + 1}, ElementType::S64);
    Value pair = hlo::concatenate({number, hlo::reshape(checks[i].number, {1})}, 0);
    packed = hlo::select(checks[i].failed, pair, packed);
  }
  return packed;
}

}  // namespace

Lowered lower(const Graph& graph, const ops::Settings& settings) {
  hlo::Builder builder;
  builder.set_rounds_as_integers(settings.is_cpu);
  Values bases;
  for (const Type& type : graph.inputs) bases.push_back(builder.parameter(type));
  RuntimeArguments arguments(builder, graph);

  Lowered lowered;
  Values results;
  std::vector<ops::Check> checks;
  int64_t first_scalar = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    ops::Context::Sources sources;
    for (const Read& read : node.reads) {
      Value operand = lower_read(base_of(builder, bases, read.base, read.plan), read.plan,
                                 arguments.starts(read.plan, read.first_start));
      if (read.conjugates) operand = hlo::complex(hlo::real(operand), hlo::negate(hlo::imag(operand)));
      if (read.negates) operand = hlo::negate(operand);
      sources.operands.push_back(operand);
      sources.are_transposed.push_back(read.plan.permutation == Dims{1, 0});
    }
    sources.take_scalar = [&](int index, ElementType type) {
      auto at = static_cast<size_t>(index);
      return arguments.scalar(first_scalar + index, type, node.call.scalars[at].kind, node.call.scalar_exact[at]);
    };
    sources.is_alone = graph.nodes.size() == 1;
    if (node.call.row->is_random) arguments.begin_random_node();
    sources.random_state = [&](int64_t blocks) { return arguments.random_state(blocks); };
    ops::Context context(builder, node.call, settings, std::move(sources));
    Values values = ops::lower_call(context);
    check(values.size() == node.writes.size(), ErrorCode::Internal, ops::full_name(node.call.row->name),
          ": the lowering gave ", values.size(), " results, the schema has ", node.writes.size());
    for (size_t k = 0; k < values.size(); ++k) {
      size_t number = bases.size() - graph.inputs.size();
      bases.emplace_back();
      if (!values[k] || node.writes[k].kind == Write::Kind::Drop) continue;  // an undefined tensor
      Output output;
      output.node = static_cast<int>(n);
      output.result = static_cast<int>(k);
      bases.back() = bind_result(values[k], node.writes[k], node.call, bases, arguments, output);
      if (!graph.wanted.empty() && !graph.wanted[number]) continue;
      results.push_back(bases.back());
      int donor = node.writes[k].donor;
      bool fits =
          donor >= 0 && static_cast<size_t>(donor) < graph.inputs.size() && !output.resized &&
          graph.inputs[static_cast<size_t>(donor)] == output.stored &&
          std::none_of(
              lowered.outputs.begin(), lowered.outputs.end(), [&](const Output& o) { return o.donor == donor; });
      if (fits) {
        output.donor = donor;
        builder.set_parameter_alias(donor, static_cast<int>(results.size()) - 1);
      }
      lowered.outputs.push_back(output);
    }
    for (const ops::Check& check : context.checks()) checks.push_back(check);
    first_scalar += static_cast<int64_t>(node.call.scalars.size());
  }
  if (!checks.empty()) results.push_back(pack_checks(builder, checks));
  for (const ops::Check& check : checks) lowered.checks.push_back({check.code, check.message});
  lowered.arguments = arguments.declared();
  lowered.random_blocks = arguments.random_blocks();
  lowered.text = builder.module(results);
  return lowered;
}

}  // namespace tpu::graph
