// Kernels of our own for ops that PyTorch's CPU kernels do faster on a CPU plugin, see Note [Slow on a CPU] in
// ops/linalg.cpp: what goes in is a function that composes native ops, what comes out is the kernel to register.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace tpu::aten {

/// Whether the host does the op of the stack's arguments: its tensors are on a CPU plugin, and nobody wants to see what
/// a TPU would do.
bool belongs_to_host(const c10::OperatorHandle& op, const c10::Stack& stack);
/// Runs it there, without a warning.
void run_on_host_quietly(const c10::OperatorHandle& op, c10::Stack* stack);

template <auto* native>
void host_or(const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack) {
  if (belongs_to_host(op, *stack)) return run_on_host_quietly(op, stack);
  static const c10::KernelFunction kernel = c10::KernelFunction::makeFromUnboxedFunction(TORCH_FN(native));
  kernel.callBoxed(op, keys, stack);
}

/// The kernel: the host where it is faster and allowed, else `native`.
template <auto* native>
torch::CppFunction slow_on_cpu() {
  return torch::CppFunction::makeFromBoxedFunction<&host_or<native>>();
}

}  // namespace tpu::aten
