// Bindings of the process group backend `tpu_dist`.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace tpu::python {

/// Defines _C.define_distributed(make_gloo), which adds the class ProcessGroupTPU to the module; the classes that it
/// derives from exist once torch.distributed is imported.
void define_distributed(pybind11::module_& module);

}  // namespace tpu::python
