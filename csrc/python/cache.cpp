// Bindings for `python -m torch_tpu cache`: the files of the disk cache, without a runtime.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "base/build_id.h"
#include "device/errors.h"
#include "engine/runtime.h"
#include "pjrt/plugin.h"
#include "python/bindings.h"

namespace tpu::python {

namespace py = pybind11;

namespace {

// Of a file that may be damaged: whatever its bytes are.
py::str text_of(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

py::dict as_dict(const cache::DiskFile& file) {
  py::dict row;
  row["path"] = text_of(file.path);
  row["bytes"] = file.bytes;
  row["used"] = file.used;
  row["fault"] = file.fault;
  if (!file.fault.empty()) return row;
  row["written"] = file.written;
  row["name"] = text_of(file.about.name);
  row["cause"] = text_of(file.about.cause);
  row["line"] = text_of(file.about.line);
  row["seconds"] = file.about.seconds;
  row["core"] = to_string(file.build.core);
  row["machine"] = to_string(file.build.machine);
  row["plugin"] = text_of(file.build.plugin);
  return row;
}

}  // namespace

void define_cache(py::module_& module) {
  module.def("program_directory", &engine::program_directory, "Where programs are kept on disk; empty: nowhere.");
  module.def(
      "cached_files",
      [](const std::string& directory, bool whole) {
        std::vector<cache::DiskFile> files;
        {
          py::gil_scoped_release no_gil;
          files = cache::list_files(directory, whole);
        }
        py::list rows;
        for (const cache::DiskFile& file : files) rows.append(as_dict(file));
        return rows;
      },
      "The files of a cache directory, last used first; `whole`: compares their checksums.");
  module.def("core_build", [] { return to_string(build_id()); }, "Which build of this module it is.");
  module.def(
      "machine_of",
      [](const std::string& plugin) {
        HANDLE_TH_ERRORS
        return device::translated([&] { return to_string(pjrt::Plugin::load(plugin).machine_hash()); });
        END_HANDLE_TH_ERRORS_PYBIND
      },
      "What programs of a plugin on this processor depend on. Loads the plugin, and starts nothing.");
}

}  // namespace tpu::python
