// The extension module torch_tpu._C: bindings only. In: calls of python/torch_tpu/. Out: the layers below as plain
// Python values. Importing it registers the backend with torch, which loads no plugin and starts nothing.
#include <ATen/dlpack.h>
#include <Python.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/headeronly/version.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "aten/calls.h"
#include "aten/host.h"
#include "aten/host_call.h"
#include "aten/register.h"
#include "base/env.h"
#include "base/log.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/guard.h"
#include "device/hooks.h"
#include "device/startup.h"
#include "engine/background.h"
#include "engine/compiles.h"
#include "engine/errand.h"
#include "engine/recorder.h"
#include "engine/runtime.h"
#include "hlo/ops.h"
#include "ops/row.h"
#include "pjrt/ffi.h"
#include "pjrt/self_test.h"
#include "python/bindings.h"
#include "python/lines.h"

namespace py = pybind11;

namespace tpu::python {

namespace {

// What every binding goes through: our errors become c10's, c10's become Python's, and warnings are raised as Python
// warnings when the call returns.
template <class Result, class... Args>
auto guarded(Result (*function)(Args...)) {
  return [function](Args... args) -> Result {
    HANDLE_TH_ERRORS
    return device::translated([&] { return function(std::forward<Args>(args)...); });
    END_HANDLE_TH_ERRORS_PYBIND
  };
}

template <class Function>
void define(py::module_& module, const char* name, Function function, const char* doc) {
  module.def(name, guarded(+function), doc);
}

// --- the GIL around compiles, waits and large copies

void* release_gil() {
  if (!Py_IsInitialized() || !PyGILState_Check()) return nullptr;
  return PyEval_SaveThread();
}

void take_gil(void* token) {
  if (token == nullptr) return;
  try {
    PyEval_RestoreThread(static_cast<PyThreadState*>(token));
  } catch (...) {
    // The interpreter is shutting down and ends this (daemon) thread by unwinding it, which would abort the process at
    // the first destructor on the way. Sleep until the process ends, as Python itself does from 3.14 on.
    for (;;) pause();
  }
}

// --- warnings and the search for a plugin

void warn(const std::string& line) {
  // Where torch's Python bindings catch warnings, one without a C++ source position names the Python line that made the
  // call. torch's own handler, which is there in calls through torch.ops, prints the position.
  bool is_caught = typeid(*c10::WarningUtils::get_warning_handler()) != typeid(c10::WarningHandler);
  c10::SourceLocation here{__func__, __FILE__, __LINE__}, none{nullptr, nullptr, 0};
  c10::warn(c10::Warning(c10::UserWarning(), is_caught ? none : here, line, /*verbatim=*/true));
}

PyObject* compile_listener = nullptr;  // a callable, kept until the process ends

py::tuple as_tuple(const engine::CompileRecord& record) {
  return py::make_tuple(record.name, std::string(record.cause), record.line, record.ops, record.seconds,
                        record.is_from_disk, record.is_in_background, record.is_repeat);
}

void tell_of_compile(const engine::CompileRecord& record) {
  engine::Errand errand;
  if (!errand) return;
  py::gil_scoped_acquire gil;
  try {
    py::reinterpret_borrow<py::object>(compile_listener)(as_tuple(record));
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt))
      PyErr_SetInterrupt();  // Ctrl-C that came meanwhile is for the user's program
    else
      error.discard_as_unraisable("torch_tpu's listener for compiles");
  }
}

PyObject* finder = nullptr;  // a callable, kept until the process ends

device::PluginChoice find_plugin() {
  py::gil_scoped_acquire gil;
  py::object found = py::reinterpret_borrow<py::object>(finder)();
  return {found.attr("path").cast<std::string>(), found.attr("devices").cast<int>(),
          found.attr("why").cast<std::string>()};
}

engine::Device& device_of(int ordinal) {
  device::ensure_started();
  return engine::Runtime::get().device(ordinal);
}

void define_startup(py::module_& module) {
  define(
      module, "set_plugin_finder",
      [](py::object callable) {
        Py_XDECREF(std::exchange(finder, callable.release().ptr()));
        device::set_plugin_finder(&find_plugin);
      },
      "Installs the function that finds a plugin; it returns an object with `path`, `devices` and `why`.");
  define(module, "start", [] { device::ensure_started(); }, "Starts the runtime unless it runs.");
  define(module, "is_started", [] { return engine::Runtime::is_started(); }, "Whether the runtime runs.");
  define(
      module, "in_bad_fork", [] { return engine::Runtime::in_bad_fork(); },
      "Whether this process was forked from one whose runtime ran.");
  define(
      module, "plugin",
      [] {
        device::ensure_started();
        engine::Runtime& runtime = engine::Runtime::get();
        py::dict facts;
        facts["path"] = runtime.plugin().path();
        facts["pjrt_api"] = concat(runtime.plugin().api_major(), ".", runtime.plugin().api_minor());
        facts["platform"] = runtime.client().platform_name();
        facts["platform_version"] = runtime.client().platform_version();
        facts["is_cpu"] = runtime.client().is_cpu();
        facts["attributes"] = py::cast(runtime.plugin().attributes());
        facts["workarounds"] = to_string(runtime.workarounds());
        return facts;
      },
      "Facts about the loaded plugin.");
}

void define_devices(py::module_& module) {
  define(
      module, "device_count", [] { return device::device_count(/*look_again=*/true); },
      "Number of devices; does not start the runtime.");
  define(module, "current_device", [] { return device::current_device(); }, "Index of the thread's current device.");
  define(
      module, "exchange_device", [](int ordinal) { return device::exchange_device(ordinal); },
      "Makes a device current; returns the index of the one that was.");
  define(
      module, "synchronize", [](int ordinal) { device::synchronize(ordinal); },
      "Waits for everything dispatched to a device.");
  define(
      module, "device_facts",
      [](int ordinal) {
        engine::Device& device = device_of(ordinal);
        py::dict facts;
        facts["kind"] = device.pjrt().kind();
        facts["description"] = device.pjrt().description();
        facts["id"] = device.pjrt().id();
        facts["is_cpu"] = device.is_cpu();
        facts["total_memory"] = device.memory().limit;
        return facts;
      },
      "What the plugin says about a device.");
}

void define_memory(py::module_& module) {
  define(
      module, "memory",
      [](int ordinal) {
        engine::MemoryStats stats = device_of(ordinal).memory();
        py::dict counts;
        counts["allocated"] = stats.allocated;
        counts["peak"] = stats.peak;
        counts["values"] = stats.values;
        counts["total_allocated"] = stats.total_allocated;
        counts["limit"] = stats.limit;
        return counts;
      },
      "Bytes and numbers of live arrays on a device.");
  define(module, "reset_peak_memory", [](int ordinal) { device_of(ordinal).reset_peak(); }, "Peak becomes current.");
  define(
      module, "reset_accumulated_memory", [](int ordinal) { device_of(ordinal).reset_accumulated(); },
      "The totals start again from zero.");
}

void define_random(py::module_& module) {
  define(
      module, "default_generator",
      [](int ordinal) {
        return py::reinterpret_steal<py::object>(THPGenerator_Wrap(device::default_generator(ordinal)));
      },
      "The default torch.Generator of a device.");
  define(
      module, "seed_all", [](uint64_t seed) { device::seed_default_generators(seed); },
      "Seeds the default generators of all devices, also before the runtime is started.");
}

void on_recorders(void (engine::Recorder::*action)()) {
  if (!engine::Runtime::is_started()) return;
  engine::Runtime& runtime = engine::Runtime::get();
  for (int i = 0; i < runtime.device_count(); ++i) (runtime.device(i).recorder().*action)();
}

void define_modes(py::module_& module) {
  define(
      module, "mode", [] { return std::string(engine::kModeNames[static_cast<int>(engine::mode())]); },
      "When ops run.");
  define(
      module, "set_mode", [](const std::string& name) { engine::set_mode(engine::mode_named(name)); },
      "Sets when ops run; leaving a deferred mode runs what was recorded.");
  define(
      module, "cut", [] { on_recorders(&engine::Recorder::cut); },
      "Starts what was recorded, on all devices. Its errors are raised where its results are read.");
  define(
      module, "begin_step", [] { on_recorders(&engine::Recorder::begin_step); },
      "The same, before an optimizer's step, which stays together; a thread does it where the program is known.");
  define(module, "end_step", [] { on_recorders(&engine::Recorder::end_step); }, "The same, after it.");
  define(
      module, "path_steps", [](int ordinal) { return device_of(ordinal).recorder().path_steps(); },
      "How many steps the tree of what was recorded on a device has.");
  define(
      module, "finish_background", [] { engine::finish_background(); },
      "Waits for what is compiled in the background.");
}

void define_programs(py::module_& module) {
  define(
      module, "rows",
      [] {
        std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> rows;
        for (const ops::Row* row : ops::all_rows()) {
          std::vector<std::string> named(row->constants.begin(), row->constants.end());
          named.insert(named.end(), row->writes.begin(), row->writes.end());
          for (const ops::Special& special : row->specials) named.emplace_back(special.argument);
          rows.emplace_back(row->name, row->family, std::move(named));
        }
        return rows;
      },
      "Every op with a lowering: overload, family, and the arguments of the schema that the row names.");
  define(module, "row_programs", &ops::row_programs, "In how many programs of this process each row is, by overload.");
  define(
      module, "cache_stats",
      [] {
        py::dict counts;
        cache::Stats stats = engine::Runtime::is_started() ? engine::Runtime::get().programs().stats() : cache::Stats();
        counts["requests"] = stats.requests;
        counts["hits"] = stats.hits;
        counts["misses"] = stats.compiles + stats.disk_hits;
        counts["disk_hits"] = stats.disk_hits;
        counts["compiles"] = stats.compiles;
        counts["compile_seconds"] = stats.compile_seconds;
        counts["evictions"] = stats.evictions;
        counts["entries"] = stats.entries;
        cache::DiskStats disk =
            engine::Runtime::is_started() ? engine::Runtime::get().disk().stats() : cache::DiskStats();
        counts["disk_misses"] = disk.misses;
        counts["disk_removed"] = disk.removed;
        counts["disk_bytes_read"] = disk.bytes_read;
        counts["disk_bytes_written"] = disk.bytes_written;
        return counts;
      },
      "Counts of the program cache.");
  define(
      module, "compile_records",
      [] {
        py::list rows;
        for (const engine::CompileRecord& record : engine::compile_records()) rows.append(as_tuple(record));
        return rows;
      },
      "Programs that were compiled or loaded from disk, in order: name, cause, line, ops, seconds, from disk, in the "
      "background, a repeat.");
  define(
      module, "set_compile_listener",
      [](py::object listener) {
        compile_listener = listener.release().ptr();
        engine::set_compile_listener(&tell_of_compile);
      },
      "Calls it with such a tuple after each compile, on whatever thread compiled.");
  py::class_<engine::NoCompiles>(module, "NoCompiles").def(py::init<>());
  define(
      module, "programs",
      [] {
        py::list rows;
        if (!engine::Runtime::is_started()) return rows;
        for (const cache::Cache::Line& line : engine::Runtime::get().programs().list())
          rows.append(py::make_tuple(line.name, line.compile_seconds, line.reads, line.last_read));
        return rows;
      },
      "Name, compile seconds, reads and last read of every program that is kept, most recently used first.");
  define(
      module, "clear_programs",
      [] {
        if (engine::Runtime::is_started()) engine::Runtime::get().programs().clear();
      },
      "Forgets every compiled program.");
  define(
      module, "plugin_add_us",
      [](int calls) {
        engine::Device& device = device::resolve(c10::Device(c10::DeviceType::PrivateUse1));
        const Type type{ElementType::F32, {64, 64}};
        hlo::Builder builder;
        hlo::Value x = builder.parameter(type);
        hlo::Value y = builder.parameter(type);
        pjrt::Executable add = device.client().compile(builder.module({hlo::add(x, y)}));
        std::vector<float> ones(64 * 64, 1.0f);
        pjrt::Buffer a = device.client().buffer_from_host(ones.data(), type, device.pjrt());
        pjrt::Buffer b = device.client().buffer_from_host(ones.data(), type, device.pjrt());
        std::array<PJRT_Buffer*, 2> args{a.raw(), b.raw()};
        std::array<PJRT_Buffer*, 1> outputs{};
        pjrt::Launch launch;
        launch.device = &device.pjrt();
        auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) {
          add.execute(args, outputs, launch);
          pjrt::Buffer::destroy(device.pjrt(), outputs[0]);
        }
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls;
      },
      "Microseconds that the plugin itself takes for a 64x64 add, output released: what a cached op is measured "
      "against.");
}

// In the order of aten::HostPolicy.
constexpr const char* kHostPolicies[] = {"allow", "warn", "error"};

engine::Runtime& started() {
  device::ensure_started();
  return engine::Runtime::get();
}

void define_host_ops(py::module_& module) {
  define(
      module, "host_ops",
      [] {
        std::vector<std::tuple<std::string, int64_t, int64_t, std::map<std::string, int64_t>>> rows;
        for (aten::HostOp& op : aten::host_ops())
          rows.emplace_back(std::move(op.name), op.calls, op.bytes, std::move(op.places));
        return rows;
      },
      "Ops that ran on the host: name, calls, bytes of tensors, calls by Python line; most called first.");
  define(module, "reset_host_ops", [] { aten::reset_host_ops(); }, "Forgets what ran on the host.");
  define(
      module, "host_policy", [] { return std::string(kHostPolicies[static_cast<int>(aten::host_policy())]); },
      "What happens when an op goes to the host: allow, warn or error.");
  define(
      module, "set_host_policy",
      [](const std::string& policy) {
        for (int i = 0; i < 3; ++i) {
          if (policy == kHostPolicies[i]) return aten::set_host_policy(static_cast<aten::HostPolicy>(i));
        }
        fail(ErrorCode::Value, "expected allow, warn or error, got '", policy, "'");
      },
      "Chooses what happens when an op goes to the host.");
  define(
      module, "host_kernels", [] { return started().configuration().settings.host_kernels; },
      "Whether programs call PyTorch's CPU kernels where those are faster.");
  define(
      module, "set_host_kernels",
      [](bool on) {
        engine::Runtime& runtime = started();
        ops::Settings settings = runtime.configuration().settings;
        check(!on || pjrt::has_ffi(runtime.plugin()), ErrorCode::NotImplemented, "programs of the plugin ",
              runtime.plugin().path(), " cannot call kernels of the CPU");
        settings.host_kernels = on;
        runtime.configure(settings);
      },
      "Chooses it for ops that are called from now on.");
  define(module, "host_kernel_calls", &aten::host_kernel_calls,
         "How often programs called each host kernel, by overload.");
}

void define_calls(py::module_& module) {
  define(
      module, "count_calls", [](bool on) { aten::count_calls(on); },
      "Switches on or off that calls of ops on tpu tensors are counted; on forgets the earlier ones.");
  define(
      module, "counted_calls",
      [] {
        py::list rows;
        for (const aten::OpCalls& op : aten::counted_calls()) {
          py::list dtypes;
          for (c10::ScalarType dtype : op.dtypes) dtypes.append(py::cast(dtype));
          rows.append(py::make_tuple(op.name, op.calls, op.failed, dtypes));
        }
        return rows;
      },
      "What was counted, by name: name, calls, how many of them failed, dtypes of tpu tensors that went in or out.");
  define(
      module, "set_place", [](std::string place) { set_place(std::move(place)); },
      "Where this thread is in the user's program, 'file.py:12', until it is set again; '': its frames say it.");
}

void define_exchange(py::module_& module) {
  define(
      module, "host_alias", [](const at::Tensor& tensor) { return aten::host_alias(tensor); },
      "A CPU tensor on the memory of a tpu tensor where the plugin has host memory, else a copy. Waits. Not to be "
      "written.");
  define(
      module, "set_read_only",
      [](py::object capsule) {
        auto* exported =
            static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
        if (exported == nullptr) throw py::error_already_set();
        exported->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
      },
      "Tells the consumer of a versioned DLPack capsule that it must not write.");
}

void define_environment(py::module_& module) {
  define(
      module, "environment",
      [] {
        py::list rows;
        for (const env::Variable& row : env::table()) rows.append(py::make_tuple(row.name, row.fallback, row.meaning));
        return rows;
      },
      "The variables TORCH_TPU_*: name, default, meaning.");
  define(
      module, "unknown_variables", [] { return env::unknown(); },
      "TORCH_TPU_* variables that have no effect, with the closest known name.");
  define(module, "debug_level", [] { return log::level(); }, "The level of TORCH_TPU_DEBUG.");
}

}  // namespace

}  // namespace tpu::python

PYBIND11_MODULE(_C, module) {
  using namespace tpu;
  using namespace tpu::python;
  device::translated([] {
    device::register_with_torch();
    aten::register_rows();
  });
  engine::set_blocking_hooks({&release_gil, &take_gil});
  engine::set_line_hooks({&capture_line, &describe_line});
  log::set_warning_sink(&warn);
  module.attr("built_for_torch") = concat(TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR);
  define_startup(module);
  define_shutdown(module);
  define_devices(module);
  define_memory(module);
  define_random(module);
  define_modes(module);
  define_programs(module);
  define_program(module);
  define_check(module);
  define_cache(module);
  define_host_ops(module);
  define_calls(module);
  define_exchange(module);
  define_environment(module);
  define_distributed(module);
}
