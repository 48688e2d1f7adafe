// The parts of the module `torch_tpu._C` that have a file of their own.
#pragma once

#include <pybind11/pybind11.h>

namespace tpu::python {

void define_shutdown(pybind11::module_& module);
void define_program(pybind11::module_& module);
void define_check(pybind11::module_& module);
void define_cache(pybind11::module_& module);
/// define_distributed(make_gloo) of the module adds the class ProcessGroupTPU to it; the classes that this one derives
/// from exist once torch.distributed is imported.
void define_distributed(pybind11::module_& module);

}  // namespace tpu::python
