// The line of a Python program that recorded an op, for engine::LineHooks.
#pragma once

#include <cstdint>
#include <string>

namespace tpu::python {

/// A number for the innermost line of the calling thread outside of torch and this package, or for the autograd node
/// that runs; 0 when there is neither. Takes the GIL.
uint64_t capture_line();
/// `file.py:12`.
std::string describe_line(uint64_t line);
/// From now on the calling thread stands at this place, whatever its frames say: a graph that is traced knows better
/// where its ops come from. Empty: its frames say it again.
void set_place(std::string place);

}  // namespace tpu::python
