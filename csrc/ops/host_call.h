// Calls of PyTorch's CPU kernels from inside a program, on a CPU plugin: a lowering for what has no other.
#pragma once

#include "ops/row.h"

namespace tpu::ops {

/// What such a program calls, see pjrt/ffi.h; the call's number says which kernel, aten/host_call.h.
inline constexpr const char* kHostCallTarget = "torch_tpu_host_call";

/// The row of a call with the arguments of `torch_tpu::host_call(Tensor[] inputs, int number, *, Tensor(a!)[] out)`,
/// listed as `name`, which must live on. Not in the registry: what it means depends on the number.
Row host_call_row(const char* name);

}  // namespace tpu::ops
