// Bindings of the process group backend `tpu_dist`.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include <utility>

#include "dist/backend.h"
#include "python/bindings.h"

namespace py = pybind11;

namespace tpu::python {

namespace {

PyObject* gloo_maker = nullptr;  // a callable, kept until the process ends

c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                            std::chrono::milliseconds timeout) {
  py::gil_scoped_acquire gil;
  py::object made = py::reinterpret_borrow<py::object>(gloo_maker)(store, rank, size, timeout);
  return made.cast<c10::intrusive_ptr<c10d::Backend>>();
}

void define_classes(py::module_& module) {
  using dist::Backend;
  py::class_<Backend::Options, c10d::Backend::Options, c10::intrusive_ptr<Backend::Options>>(module,
                                                                                             "ProcessGroupTPUOptions")
      .def(py::init<std::chrono::milliseconds>(), py::arg("timeout"))
      .def("__deepcopy__",
           [](const Backend::Options& self, const py::dict&) { return c10::make_intrusive<Backend::Options>(self); });
  py::class_<Backend, c10d::Backend, c10::intrusive_ptr<Backend>>(module, "ProcessGroupTPU")
      .def(py::init(
               [](const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout) {
                 return c10::make_intrusive<Backend>(store, rank, size, timeout);
               }),
           py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("timeout"),
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("options", &Backend::getBackendOptions)
      // torch calls it on the ranks that are not in a new group, for backends that split a communicator.
      .def("perform_nocolor_split", [](Backend&, const c10::Device&) {}, py::arg("device"));
}

}  // namespace

void define_distributed(py::module_& module) {
  module.def(
      "define_distributed",
      [module](py::object make_gloo_in_python) mutable {
        Py_XDECREF(std::exchange(gloo_maker, make_gloo_in_python.release().ptr()));
        dist::set_gloo_factory(&make_gloo);
        define_classes(module);
      },
      "Adds the class ProcessGroupTPU; `make_gloo(store, rank, size, timeout)` makes torch's Gloo backend.");
}

}  // namespace tpu::python
