// Runtime: the one client of this process, its devices, the program cache and the settings. Made at first use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "cache/disk.h"
#include "engine/device.h"
#include "ops/context.h"
#include "pjrt/client.h"
#include "pjrt/plugin.h"
#include "pjrt/self_test.h"

namespace tpu::engine {

class Runtime {
 public:
  /// Loads the plugin, makes the client and runs the self-test. Idempotent; throws Error(Unavailable) in a forked child
  /// of a process that had a runtime, and Error(Unavailable/Plugin) when the plugin cannot be used (a later call tries
  /// again).
  static void start(const std::string& plugin_path, int64_t cpu_devices);
  static bool is_started() { return instance() != nullptr; }
  /// The process was forked after start(): the plugin's threads do not exist here and every use is an error.
  static bool in_bad_fork();
  /// The runtime; Error(Unavailable) when it was not started or the process was forked after the start.
  static Runtime& get() {
    Runtime* runtime = instance();
    if (runtime == nullptr) [[unlikely]]
      fail_unavailable();
    return *runtime;
  }

  pjrt::Plugin& plugin() { return plugin_; }
  pjrt::Client& client() { return *client_; }
  const pjrt::Workarounds& workarounds() const { return workarounds_; }
  cache::Cache& programs() { return programs_; }
  cache::Disk& disk() { return disk_; }
  int device_count() const { return static_cast<int>(devices_.size()); }
  /// Error(InvalidArgument) for an index that does not exist.
  Device& device(int ordinal);

  /// The settings that lowerings see, and their hash, which is part of every key.
  struct Configuration {
    ops::Settings settings;
    Hash128 hash;
  };
  const Configuration& configuration() const { return *configuration_.load(std::memory_order_acquire); }
  /// Takes effect for calls that begin afterwards, on any thread.
  void configure(const ops::Settings& settings);

  /// Waits until everything dispatched to the device so far is done. Errors of programs are reported by their values.
  void synchronize(Device& device);

 private:
  Runtime(pjrt::Plugin& plugin, std::unique_ptr<pjrt::Client> client);
  static Runtime* instance();
  [[noreturn]] static void fail_unavailable();

  pjrt::Plugin& plugin_;
  std::unique_ptr<pjrt::Client> client_;
  pjrt::Workarounds workarounds_;
  std::vector<std::unique_ptr<Device>> devices_;
  cache::Cache programs_;
  cache::Disk disk_;
  std::mutex configure_mutex_;
  std::vector<std::unique_ptr<Configuration>> configurations_;  // all that were ever in force: readers hold no lock
  std::atomic<const Configuration*> configuration_{nullptr};
};

/// Where programs are kept on disk; "": nowhere.
std::string program_directory();

/// The GIL, without Python: the python layer installs the pair; `begin` gives a token (null when the GIL is not held)
/// that goes to `end`. Used around compiles, waits and large copies.
struct BlockingHooks {
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
};
void set_blocking_hooks(BlockingHooks hooks);

class Blocking {
 public:
  Blocking();
  ~Blocking();
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

 private:
  void* token_;
};

}  // namespace tpu::engine
