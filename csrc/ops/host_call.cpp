#include "ops/host_call.h"

#include "base/hash.h"
#include "ops/context.h"
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

hlo::CustomCall call_of(int64_t number) {
  hlo::CustomCall call;
  call.backend_config = concat("{number = ", number, " : i64}");
  return call;
}

hlo::Values host_call(Context& c) {
  c.expect(c.settings().is_cpu, ErrorCode::NotImplemented, "a program for a TPU cannot call a kernel of the CPU");
  hlo::Types results;
  for (size_t k = 0; k < c.call().targets.size(); ++k) results.push_back(*c.target(k));
  return hlo::custom_call(c.builder(), kHostCallTarget, c.tensors("inputs"), results, call_of(c.integer("number")));
}

}  // namespace

Row host_call_row(const char* name) {
  Row row = ops::row(name, host_call);
  row.family = "host";
  Hasher hasher;
  hasher.add(std::string_view(name));
  row.name_hash = hasher.finish().low;
  return row;
}

bool is_along_memory(const Call& call) {
  const Dims& dims = call.type("self").dims;
  if (dims.empty()) return false;
  int64_t dim = wrap_dim(std::get<int64_t>(call.param("dim")), static_cast<int64_t>(dims.size()));
  return product(Dims(dims.begin() + dim + 1, dims.end())) == 1;
}

Outcome outcome_of(const Call& call, const Settings& settings) {
  hlo::Builder scratch;
  Context::Sources sources;
  for (const Operand& operand : call.operands) sources.operands.push_back(scratch.parameter(operand.type));
  sources.take_scalar = [&](int, ElementType type) { return scratch.parameter({type, {}}); };
  Context context(scratch, call, settings, std::move(sources));
  Outcome outcome;
  for (const hlo::Value& value : call.row->lower(context))
    outcome.types.push_back(value ? std::optional(value.type) : std::nullopt);
  outcome.checks_values = !context.checks().empty();
  return outcome;
}

hlo::Values lower_call(Context& c) {
  const std::optional<HostKernel>& kernel = c.call().host_kernel;
  bool is_called = kernel && c.settings().is_cpu && (c.is_alone() || !c.call().row->host_kernel_is_alone);
  if (!is_called) return c.call().row->lower(c);
  hlo::CustomCall call = call_of(kernel->number);
  call.operand_orders = kernel->operand_orders;
  hlo::Types given;
  for (size_t r = 0; r < kernel->results.size(); ++r) {
    if (!kernel->results[r]) continue;
    given.push_back(*kernel->results[r]);
    call.output_orders.push_back(kernel->result_orders[r]);
  }
  hlo::Values made = hlo::custom_call(c.builder(), kHostCallTarget, c.operands(), given, call);
  hlo::Values results(kernel->results.size());
  for (size_t r = 0, next = 0; r < results.size(); ++r)
    if (kernel->results[r]) results[r] = made[next++];
  if (kernel->checks_values) {
    // Never true; but who reads it has waited for the kernel, which throws.
    hlo::Value no = hlo::constant(c.builder(), {ElementType::Pred, {}}, 0);
    c.require_not(no, hlo::constant(c.builder(), {ElementType::S64, {}}, 0), ErrorCode::Internal, "");
  }
  return results;
}

}  // namespace tpu::ops
