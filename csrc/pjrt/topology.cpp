#include "pjrt/topology.h"

#include <algorithm>
#include <cmath>

#include "pjrt/compile_options.h"
#include "pjrt/status.h"

namespace tpu::pjrt {
namespace {

// The value of that name, or null.
const abi::NamedValue* find(const abi::NamedValue* values, size_t count, std::string_view name) {
  // Elements may be longer than our record in a plugin newer than us; they all say so.
  const char* base = reinterpret_cast<const char*>(values);
  size_t stride = count == 0 ? 0 : std::max(values[0].struct_size, sizeof(abi::NamedValue));
  for (size_t i = 0; i < count; ++i) {
    const auto& value = *reinterpret_cast<const abi::NamedValue*>(base + i * stride);
    if (std::string_view(value.name, value.name_size) == name) return &value;
  }
  return nullptr;
}

std::vector<abi::NamedValue> as_named_values(const TopologyOptions& options) {
  std::vector<abi::NamedValue> values;
  for (const auto& [name, setting] : options) {
    abi::NamedValue value = {};
    value.struct_size = sizeof value;
    value.name = name.data();
    value.name_size = name.size();
    if (const auto* text = std::get_if<std::string>(&setting)) {
      value.kind = abi::kString;
      value.text = text->data();
      value.value_size = text->size();
    } else {
      const auto& integers = std::get<std::vector<int64_t>>(setting);
      value.kind = abi::kInt64List;
      value.integers = integers.data();
      value.value_size = integers.size();
    }
    values.push_back(value);
  }
  return values;
}

/// A program that is compiled but nowhere loaded.
class Compiled {
 public:
  Compiled(const abi::Api* api, PJRT_Executable* raw) : api_(api), raw_(raw) {}
  ~Compiled() {
    abi::Padded<abi::ExecutableDestroy> args;
    args.executable = raw_;
    invoke_quietly(api_, args);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  CompiledFacts facts() const {
    abi::Padded<abi::ExecutableMemoryStats> stats;
    stats.executable = raw_;
    invoke(api_, stats, "asking for the memory a program needs");
    CompiledFacts facts;
    facts.memory = {stats.generated_code, stats.arguments, stats.outputs, stats.aliases, stats.temporaries};
    if (facts.memory.generated_code == 0) facts.memory.generated_code = code_bytes();
    facts.total_allocation = stats.total_allocation;
    if (facts.total_allocation == 0)
      facts.total_allocation = stats.arguments + stats.outputs + stats.temporaries - stats.aliases;
    facts.flops = flops();
    return facts;
  }

 private:
  int64_t code_bytes() const {
    abi::Padded<abi::ExecutableCodeBytes> args;
    args.executable = raw_;
    return has(args) ? args.bytes : 0;
  }

  std::optional<double> flops() const {
    abi::Padded<abi::ExecutableCostAnalysis> args;
    args.executable = raw_;
    if (!has(args)) return std::nullopt;
    const abi::NamedValue* flops = find(args.properties, args.count, "flops");
    // Calls of kernels count as -1 each, so a number below zero says nothing.
    if (flops == nullptr || flops->kind != abi::kFloat || !(flops->real >= 0)) return std::nullopt;
    return flops->real;
  }

  // Asks for what a plugin need not know.
  template <class Args>
  bool has(abi::Padded<Args>& args) const {
    auto call = abi::function<Args>(api_);
    if (call == nullptr) return false;
    PJRT_Error* error = call(&args);
    if (error == nullptr) return true;
    Failure failure = take(api_, error);
    if (failure.code == abi::kUnimplemented) return false;
    throw to_error(failure, "asking for facts about a program");
  }

  const abi::Api* api_;
  PJRT_Executable* raw_;
};

}  // namespace

Topology::Topology(Plugin& plugin, const std::string& name, const TopologyOptions& options) : api_(plugin.api()) {
  std::vector<abi::NamedValue> values = as_named_values(options);
  abi::Padded<abi::TopologyCreate> args;
  args.name = name.data();
  args.name_size = name.size();
  args.options = values.data();
  args.num_options = values.size();
  invoke(api_, args, "describing the topology ", name);
  raw_ = args.topology;
  abi::Padded<abi::TopologyDescriptions> devices;
  devices.topology = raw_;
  auto list = abi::function<abi::TopologyDescriptions>(api_);
  PJRT_Error* error = list != nullptr ? list(&devices) : nullptr;
  if (error == nullptr && list != nullptr && devices.count != 0) {
    devices_.assign(devices.descriptions, devices.descriptions + devices.count);
    return;
  }
  abi::Padded<abi::TopologyDestroy> destroy;
  destroy.topology = raw_;
  invoke_quietly(api_, destroy);
  if (error != nullptr) raise(api_, error, concat("listing the devices of ", name));
  fail(ErrorCode::Plugin, "the plugin ", plugin.path(), " lists no device of the topology ", name);
}

Topology::~Topology() {
  abi::Padded<abi::TopologyDestroy> args;
  args.topology = raw_;
  invoke_quietly(api_, args);
}

std::string Topology::device_kind() const {
  abi::Padded<abi::DescriptionKind> args;
  args.description = devices_[0];
  invoke(api_, args, "asking for the kind of a device");
  return std::string(args.text, args.size);
}

std::optional<int64_t> Topology::memory_limit() const {
  abi::Padded<abi::DescriptionAttributes> args;
  args.description = devices_[0];
  invoke(api_, args, "asking for the attributes of a device");
  const abi::NamedValue* limit = find(args.attributes, args.count, "device_memory_bytes_limit");
  if (limit == nullptr || limit->kind != abi::kInt64) return std::nullopt;
  return limit->integer;
}

CompiledFacts Topology::compile(std::string_view text) const {
  constexpr std::string_view format = "mlir";
  abi::Padded<abi::Program> program;
  program.code = const_cast<char*>(text.data());  // in and out in other uses of the record; only read here
  program.code_size = text.size();
  program.format = format.data();
  program.format_size = format.size();
  std::string options = encode_compile_options(CompileOptions::kAnyDevice, {});
  abi::Padded<abi::TopologyCompile> args;
  args.topology = raw_;
  args.program = &program;
  args.options = options.data();
  args.options_size = options.size();
  invoke(api_, args, "compiling a program");
  return Compiled(api_, args.executable).facts();
}

}  // namespace tpu::pjrt
