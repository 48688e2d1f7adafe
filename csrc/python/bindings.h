// The parts of the module `torch_tpu._C` that have a file of their own.
#pragma once

#include <pybind11/pybind11.h>

namespace tpu::python {

void define_program(pybind11::module_& module);

}  // namespace tpu::python
