// Topology: devices that are not here, described by a plugin that can compile for them all the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pjrt/abi.h"
#include "pjrt/executable.h"
#include "pjrt/plugin.h"

namespace tpu::pjrt {

/// What a compiler says about a program that it accepted.
struct CompiledFacts {
  ExecutableMemory memory;
  /// Arguments, outputs and temporaries as they will lie in memory; the sum of the parts where the plugin is too old to
  /// say.
  int64_t total_allocation = 0;
  /// Of one execution; absent where the plugin counts none.
  std::optional<double> flops;
};

/// Options that a plugin takes with a topology's name, e.g. {"chips_per_host_bounds", {1, 1, 1}}.
using TopologyOptions = std::map<std::string, std::variant<std::string, std::vector<int64_t>>>;

/// Owner of a PJRT_TopologyDescription. libtpu ends the process for some names: check them first, in a child process.
class Topology {
 public:
  /// Throws Error(Plugin) with the plugin's text for a name it does not know, Error(NotImplemented) when it can compile
  /// for nothing but its own devices.
  Topology(Plugin& plugin, const std::string& name, const TopologyOptions& options = {});
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  size_t device_count() const { return devices_.size(); }
  /// "TPU v5 lite"; of the first device, the others are like it.
  std::string device_kind() const;
  /// Bytes of one device that programs may use; absent where the plugin does not say.
  std::optional<int64_t> memory_limit() const;

  /// Compiles a StableHLO module for one of the devices; throws the compiler's reason.
  CompiledFacts compile(std::string_view text) const;

 private:
  const abi::Api* api_;
  PJRT_TopologyDescription* raw_ = nullptr;
  std::vector<PJRT_DeviceDescription*> devices_;
};

}  // namespace tpu::pjrt
