// Plugin: a loaded PJRT plugin library and what it says about itself.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "pjrt/abi.h"

namespace tpu::pjrt {

/// Never unloaded: plugins start threads and keep static state.
class Plugin {
 public:
  /// Loads the library, or returns the object of an earlier load of the same file. Throws Error(Unavailable) when the
  /// file is missing or cannot be loaded, Error(Plugin) when it is no PJRT plugin of a version we can talk to.
  static Plugin& load(const std::string& path);
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const std::string& path() const { return path_; }
  const abi::Api* api() const { return api_; }
  int api_major() const { return api_->major; }
  int api_minor() const { return api_->minor; }
  /// All attributes as text: "xla_version" -> "2", "stablehlo_current_version" -> "1.13.3".
  const std::map<std::string, std::string>& attributes() const { return attributes_; }
  /// One of them, or "".
  std::string attribute(const std::string& name) const;
  /// Extension numbers in the plugin's order (4 layouts, 5 FFI, ...).
  const std::vector<int>& extensions() const { return extensions_; }
  bool has_extension(int type) const;

  /// Identifies the build, not the place: file size, evenly spread samples of the contents, version and attributes.
  /// Compiled programs may be kept under it. (Times and paths change when a wheel is installed again; hashing the 100
  /// to 250 MB in full would cost more than starting the plugin. Two different links of such a library differ in size
  /// or in addresses all over, so that 1 MB of samples tells them apart.)
  Hash128 build_hash() const { return build_hash_; }
  /// build_hash(), the vector features of this machine's CPU, and the variables that hold XLA's options: what a
  /// compiled program or a self-test depends on.
  Hash128 machine_hash() const { return machine_hash_; }

  /// Options that this plugin refused as unknown; they are not sent again. Thread-safe.
  bool refuses_flag(const std::string& name) const;
  void refuse_flag(const std::string& name);

 private:
  Plugin(std::string path, const abi::Api* api);

  std::string path_;
  const abi::Api* api_;
  std::map<std::string, std::string> attributes_;
  std::vector<int> extensions_;
  Hash128 build_hash_;
  Hash128 machine_hash_;
  mutable std::mutex mutex_;
  std::set<std::string> refused_flags_;
};

}  // namespace tpu::pjrt
