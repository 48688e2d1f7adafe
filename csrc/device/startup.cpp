#include "device/startup.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include <c10/core/Device.h>

#include "base/env.h"
#include "base/error.h"
#include "base/log.h"

namespace tpu::device {

namespace {

constexpr int kUnknown = -1;
constexpr int kMostDevices = std::numeric_limits<c10::DeviceIndex>::max();

std::atomic<PluginChoice (*)()> finder{nullptr};
std::atomic<int> known_devices{kUnknown};

PluginChoice find_plugin() {
  auto find = finder.load();
  check(find != nullptr, ErrorCode::Internal, "no plugin finder is installed; import torch_tpu first");
  return find();
}

// How many devices a CPU plugin is to show.
int64_t cpu_devices(const PluginChoice& choice) {
  if (env::text("TORCH_TPU_CPU_DEVICES").empty()) return std::clamp(choice.devices, 1, kMostDevices);
  int64_t devices = env::integer("TORCH_TPU_CPU_DEVICES");
  check(devices >= 1 && devices <= kMostDevices, ErrorCode::Value, "TORCH_TPU_CPU_DEVICES: expected 1 to ",
        kMostDevices, ", got ", devices);
  return devices;
}

void warn_about_unknown_variables() {
  for (const auto& [name, closest] : env::unknown()) {
    log::warn_once(concat("the environment variable ", name, " is unknown to torch_tpu and has no effect",
                          closest.empty() ? "" : concat("; did you mean ", closest, "?")));
  }
}

}  // namespace

void set_plugin_finder(PluginChoice (*find)()) { finder = find; }

void start() {
  if (engine::Runtime::in_bad_fork()) engine::Runtime::get();  // throws
  // Without the GIL: whoever holds the mutex may have to wait for it in the finder.
  engine::Blocking blocking;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (engine::Runtime::is_started()) return;
  PluginChoice choice = find_plugin();
  check(!choice.path.empty(), ErrorCode::Unavailable, "device tpu cannot be used: ", choice.why);
  warn_about_unknown_variables();
  engine::Runtime::start(choice.path, cpu_devices(choice));
  known_devices = std::min(engine::Runtime::get().device_count(), kMostDevices);
}

int device_count(bool look_again) noexcept {
  int known = known_devices.load(std::memory_order_relaxed);
  if (known != kUnknown && (!look_again || engine::Runtime::is_started())) return known;
  int found = 0;
  try {
    PluginChoice choice = find_plugin();
    if (!choice.path.empty()) found = std::clamp(choice.devices, 1, kMostDevices);
  } catch (const std::exception&) {
    // torch may not see an exception here; the start raises the same one.
  }
  // A start that happened meanwhile knows better.
  known_devices.compare_exchange_strong(known, found);
  return known_devices.load(std::memory_order_relaxed);
}

}  // namespace tpu::device
