// PyTorch's CPU kernels called by programs of a CPU plugin themselves, through the FFI: host ops inside a compiled
// graph, which stays one program (elsewhere it is split around them), and host kernels of rows, see Note [Host kernels]
// in ops/host_call.h.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <string>

#include "graph/graph.h"

namespace tpu::aten {

/// Puts `op` into the graph that this thread is tracing, its results onto the stack. False, with the stack untouched,
/// when no graph is traced or a program cannot make the call: on a device that is no CPU, for an op that writes or
/// returns an argument, draws random numbers, or has results whose shapes its Meta kernel cannot tell.
bool record_host_call(const c10::OperatorHandle& op, c10::Stack* stack);

/// Decides whether the program of `node`, a call of `op` with these arguments, calls the row's host kernel, and notes
/// that in node.call. Throws what the row's lowering throws.
void choose_host_kernel(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments, graph::Node& node);
/// How often programs of this process called each host kernel, by the overload of its row.
std::map<std::string, int64_t> host_kernel_calls();

}  // namespace tpu::aten
