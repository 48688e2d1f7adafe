// Calls of PyTorch's CPU kernels from inside a program, on a CPU plugin: a lowering for what has no other, and for what
// XLA:CPU does badly.
//
// Note [Host kernels]. A row may say when the CPU's kernel of the same op is worth calling (Row::host_kernel). Such a
// call stays a part of its program: it neither cuts a segment nor counts as a host op. The generic lowering is what a
// TPU gets, what TORCH_TPU_HOST_KERNELS=off runs everywhere, and what says the types of the results. The choice is made
// when the call is recorded, and the switch is part of its key; so a program's key tells which lowering each op has,
// also on disk. What XLA fuses with its neighbours (Row::host_kernel_alone) has one only in a program of nothing else,
// which the lowering sees. So must it be for rows that check values: an error of a kernel fails the whole program, and
// nobody would know which op to blame. A host kernel is allowed only where docs/benchmarks.md shows its gain.
#pragma once

#include <optional>
#include <vector>

#include "ops/context.h"
#include "ops/row.h"

namespace tpu::ops {

/// What such a program calls, see pjrt/ffi.h; the call's number says which kernel, aten/host_call.h.
inline constexpr const char* kHostCallTarget = "torch_tpu_host_call";

/// The row of a call with the arguments of `torch_tpu::host_call(Tensor[] inputs, int number, *, Tensor(a!)[] out)`,
/// listed as `name`, which must live on. Not in the registry: what it means depends on the number.
Row host_call_row(const char* name);

/// What the generic lowering makes of the call.
struct Outcome {
  std::vector<std::optional<Type>> types;  // none for an undefined tensor
  bool checks_values = false;
};
Outcome outcome_of(const Call& call, const Settings& settings);
/// Emits the context's call: its host kernel, where it has one and the program is for a CPU, or its row's lowering.
hlo::Values lower_call(Context& c);

/// For calls of any size: the CPU's kernel is always worth it.
inline bool always(const Call&) { return true; }
/// Whether the elements along `dim` of `self` are neighbours in memory.
bool is_along_memory(const Call& call);
/// For floats that do not fit into the nearer caches, where a pass over memory costs more than what is done in it.
inline bool is_large(const Call& call) {
  const Type& type = call.operands[0].type;
  return (type.element == ElementType::F32 || type.element == ElementType::BF16) && type.count() >= int64_t{1} << 18;
}

}  // namespace tpu::ops
