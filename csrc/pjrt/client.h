// Client: a running instance of a plugin with its devices; makes executables and buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/type.h"
#include "pjrt/buffer.h"
#include "pjrt/compile_options.h"
#include "pjrt/device.h"
#include "pjrt/executable.h"
#include "pjrt/plugin.h"

namespace tpu::pjrt {

struct ClientOptions {
  /// Devices that a CPU plugin shows (1 to 1024); sent to every plugin, ignored where unknown.
  int64_t cpu_device_count = 1;
};

/// All functions are thread-safe, and none takes the GIL. In a child forked after the first client was made, all that
/// would need the plugin's threads throws Error(Unavailable); destructors do nothing there.
class Client {
 public:
  static std::unique_ptr<Client> create(Plugin& plugin, const ClientOptions& options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Plugin& plugin() const { return plugin_; }
  const abi::Api* api() const { return api_; }
  PJRT_Client* raw() const { return raw_; }
  const std::string& platform_name() const { return platform_name_; }
  const std::string& platform_version() const { return platform_version_; }
  bool is_cpu() const { return is_cpu_; }

  int device_count() const { return static_cast<int>(devices_.size()); }
  /// Throws Error(InvalidArgument) outside 0 .. device_count() - 1.
  Device& device(int ordinal) const;
  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }

  /// Flags sent with every compile unless CompileOptions names them: on a CPU plugin those that keep NaN in min and
  /// max, first the slow safe ones, then what self_test() found. Part of a program's key.
  std::vector<Flag> default_flags() const;
  void set_default_flags(std::vector<Flag> flags);

  /// Compiles StableHLO text (10 ms and up). An option that the plugin does not know is dropped, and remembered.
  Executable compile(std::string_view text, const CompileOptions& options = {});
  /// Loads what Executable::serialize gave; options.device must be the one it was compiled with. The caller must have
  /// checked that the bytes are whole and from the same Plugin::machine_hash(): plugins load damaged code without a
  /// word.
  Executable deserialize(std::string_view bytes, const CompileOptions& options = {});

  /// A buffer of `type` from host memory. `byte_strides` (one per dimension, 0 and negative allowed) describe the
  /// memory if it is not dense row-major. `release` is called exactly once, when the plugin no longer reads the memory,
  /// also when this throws; for CopyDuringCall before it returns, otherwise perhaps on a plugin thread, and for zero
  /// copy not before the buffer is destroyed.
  Buffer buffer_from_host(const void* data, const Type& type, Device& device,
                          HostSemantics semantics = HostSemantics::CopyDuringCall,
                          std::function<void()> release = nullptr, std::span<const int64_t> byte_strides = {});

 private:
  Client(Plugin& plugin, PJRT_Client* raw);
  std::vector<Flag> flags_for(const CompileOptions& options) const;

  Plugin& plugin_;
  const abi::Api* api_;
  PJRT_Client* raw_;
  std::string platform_name_;
  std::string platform_version_;
  bool is_cpu_ = false;
  std::vector<std::unique_ptr<Device>> devices_;
  mutable std::mutex flags_mutex_;
  std::vector<Flag> default_flags_;
};

}  // namespace tpu::pjrt
