// Bindings of aten::Program, for torch_tpu/compiler.py.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "aten/program.h"
#include "device/errors.h"
#include "device/guard.h"
#include "python/bindings.h"

namespace tpu::python {

namespace py = pybind11;

namespace {

using aten::Program;
using MaybeTensors = std::vector<std::optional<at::Tensor>>;

Program::Tensors tensors_of(const MaybeTensors& given) {
  Program::Tensors tensors;
  for (const std::optional<at::Tensor>& tensor : given) tensors.push_back(tensor.value_or(at::Tensor()));
  return tensors;
}

MaybeTensors maybe(const Program::Tensors& tensors) {
  MaybeTensors given;
  for (const at::Tensor& tensor : tensors)
    given.push_back(tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt);
  return given;
}

}  // namespace

void define_program(py::module_& module) {
  py::class_<Program>(module, "Program", "A graph as executables, one per layout of its inputs: csrc/aten/program.h.")
      .def(py::init([](int ordinal) {
        return std::make_unique<Program>(
            device::resolve(c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(ordinal))));
      }))
      .def(
          "run",
          [](Program& self, const MaybeTensors& given, uint64_t salt) -> std::optional<MaybeTensors> {
            HANDLE_TH_ERRORS
            return device::translated([&]() -> std::optional<MaybeTensors> {
              Program::Tensors inputs = tensors_of(given);
              Program::Layout* layout = self.find(inputs, salt);
              if (layout == nullptr) return std::nullopt;
              return maybe(self.run(*layout, inputs));
            });
            END_HANDLE_TH_ERRORS_PYBIND
          },
          "The results, or None when the graph must be traced for inputs that lie so. An entry is None for what is no "
          "tensor.")
      .def(
          "begin",
          [](Program& self, const MaybeTensors& given, uint64_t salt) {
            HANDLE_TH_ERRORS
            return device::translated([&] { return maybe(self.begin(tensors_of(given), salt)); });
            END_HANDLE_TH_ERRORS_PYBIND
          },
          "Begins a trace: tensors that stand for the inputs.")
      .def(
          "finish",
          [](Program& self, const MaybeTensors& given) {
            HANDLE_TH_ERRORS
            return device::translated([&] { self.finish(tensors_of(given)); });
            END_HANDLE_TH_ERRORS_PYBIND
          },
          "Ends the trace: compiles what the graph did.")
      .def(
          "abandon", [](Program& self) { self.abandon(); }, "Ends the trace without a program.")
      .def(
          "was_read", [](const Program& self) { return self.was_read(); },
          "Whether the trace failed because the elements of a tensor were asked for.");
}

}  // namespace tpu::python
