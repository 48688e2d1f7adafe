// Host ops inside a compiled graph: on a CPU plugin the program calls PyTorch's CPU kernel itself, through the FFI, so
// that the graph stays one program. Elsewhere the graph is split around them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace tpu::aten {

/// Puts `op` into the graph that this thread is tracing, its results onto the stack. False, with the stack untouched,
/// when no graph is traced or a program cannot make the call: on a device that is no CPU, for an op that writes or
/// returns an argument, draws random numbers, or has results whose shapes its Meta kernel cannot tell.
bool record_host_call(const c10::OperatorHandle& op, c10::Stack* stack);

}  // namespace tpu::aten
