// CompileOptions: what besides the text decides which executable comes out, and its encoding.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tpu::pjrt {

/// A compiler option by its name, e.g. {"xla_cpu_enable_fast_min_max", false}.
struct Flag {
  std::string name;
  std::variant<bool, int64_t, std::string> value;
  bool operator==(const Flag& other) const { return name == other.name && value == other.value; }
};

/// `name=value`
std::string to_string(const Flag& flag);

struct CompileOptions {
  /// One compile that serves every device of the client; the device is then named at each execution.
  static constexpr int kAnyDevice = -1;

  /// Ordinal of the device it is compiled for (its executions are 0.1 us cheaper than those of kAnyDevice).
  int device = kAnyDevice;
  /// Added to the client's default flags; the same name replaces the default.
  std::vector<Flag> flags = {};
  bool use_default_flags = true;
  /// 0 to 3, or -1 for the plugin's own. 0 compiles a quarter faster, but fused loops run up to 12x slower.
  int optimization_level = -1;
};

/// The serialised CompileOptionsProto for one replica on the device with this plugin id (-1: any device). Written by
/// hand: a protobuf library in a process that holds several copies of it already asks for trouble.
std::string encode_compile_options(int device_id, const std::vector<Flag>& flags);

}  // namespace tpu::pjrt
