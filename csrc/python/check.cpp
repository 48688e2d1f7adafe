// Bindings for `python -m torch_tpu check`: the journal of a run, and compiling for a topology.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "device/errors.h"
#include "engine/journal.h"
#include "pjrt/topology.h"
#include "python/bindings.h"

namespace tpu::python {

namespace py = pybind11;

namespace {

py::list journal() {
  py::list rows;
  for (const engine::Noted& program : engine::journal()) {
    py::dict row;
    row["name"] = program.name;
    row["runs"] = program.runs;
    row["lines"] = program.lines;
    row["other_bytes"] = program.other_bytes;
    row["text"] = py::none();
    row["error"] = py::none();
    try {
      row["text"] = engine::lower_for_tpu(program);
    } catch (const Error& error) { row["error"] = error.message(); }
    rows.append(row);
  }
  return rows;
}

py::dict describe_topology(const std::string& plugin, const std::string& name, const pjrt::TopologyOptions& options) {
  pjrt::Topology topology(pjrt::Plugin::load(plugin), name, options);
  py::dict facts;
  facts["devices"] = topology.device_count();
  facts["kind"] = topology.device_kind();
  facts["memory_limit"] = topology.memory_limit();
  return facts;
}

py::dict compile_for_topology(const std::string& plugin, const std::string& name, const std::string& text,
                              const pjrt::TopologyOptions& options) {
  pjrt::CompiledFacts compiled;
  {
    py::gil_scoped_release no_gil;
    compiled = pjrt::Topology(pjrt::Plugin::load(plugin), name, options).compile(text);
  }
  py::dict facts;
  facts["flops"] = compiled.flops;
  facts["total_allocation"] = compiled.total_allocation;
  facts["generated_code"] = compiled.memory.generated_code;
  facts["arguments"] = compiled.memory.arguments;
  facts["outputs"] = compiled.memory.outputs;
  facts["aliases"] = compiled.memory.aliases;
  facts["temporaries"] = compiled.memory.temporaries;
  return facts;
}

}  // namespace

void define_check(py::module_& module) {
  module.def(
      "set_journal", [](bool on) { engine::set_journal(on); },
      "Switches on or off that programs are noted as they run; on forgets the earlier ones.");
  module.def(
      "journal",
      [] {
        HANDLE_TH_ERRORS
        return device::translated([] { return journal(); });
        END_HANDLE_TH_ERRORS_PYBIND
      },
      "The programs that ran, each once: name, runs, lines, other_bytes (live besides its arguments), and its text for "
      "a "
      "TPU or the error why it has none.");
  module.def(
      "describe_topology",
      [](const std::string& plugin, const std::string& name, const pjrt::TopologyOptions& options) {
        HANDLE_TH_ERRORS
        return device::translated([&] { return describe_topology(plugin, name, options); });
        END_HANDLE_TH_ERRORS_PYBIND
      },
      py::arg("plugin"), py::arg("topology"), py::arg("options") = pjrt::TopologyOptions(),
      "Number of devices, their kind and bytes of memory. libtpu may end the process for a bad name.");
  module.def(
      "compile_for_topology",
      [](const std::string& plugin, const std::string& name, const std::string& text,
         const pjrt::TopologyOptions& options) {
        HANDLE_TH_ERRORS
        return device::translated([&] { return compile_for_topology(plugin, name, text, options); });
        END_HANDLE_TH_ERRORS_PYBIND
      },
      py::arg("plugin"), py::arg("topology"), py::arg("text"), py::arg("options") = pjrt::TopologyOptions(),
      "Compiles StableHLO text for a device of a topology, as the plugin knows it: FLOPs and bytes of memory. Raises "
      "the "
      "compiler's reason; some programs end the process.");
}

}  // namespace tpu::python
