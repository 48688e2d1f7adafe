#include "aten/slow_on_cpu.h"

#include "aten/host.h"
#include "aten/tensor.h"
#include "device/errors.h"
#include "engine/journal.h"

namespace tpu::aten {

namespace {

bool is_on_cpu_plugin(const at::Tensor& tensor) {
  return tensor.defined() && is_tpu(tensor) && cell_of(tensor).device().is_cpu();
}

bool any_on_cpu_plugin(const c10::IValue& value) {
  if (value.isTensor()) return is_on_cpu_plugin(value.toTensor());
  if (!value.isTensorList()) return false;
  for (const at::Tensor& tensor : value.toTensorVector())
    if (is_on_cpu_plugin(tensor)) return true;
  return false;
}

}  // namespace

bool belongs_to_host(const c10::OperatorHandle& op, const c10::Stack& stack) {
  if (host_policy() == HostPolicy::Error || engine::journal_is_on()) return false;
  size_t count = op.schema().arguments().size();
  for (size_t i = stack.size() - count; i < stack.size(); ++i)
    if (any_on_cpu_plugin(stack[i])) return true;
  return false;
}

void run_on_host_quietly(const c10::OperatorHandle& op, c10::Stack* stack) {
  device::translated([&] { run_on_host(op, stack, /*has_lowering=*/true); });
}

}  // namespace tpu::aten
