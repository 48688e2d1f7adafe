#include "engine/runtime.h"

#include <pthread.h>
#include <unistd.h>

#include <filesystem>

#include "base/build_id.h"
#include "base/env.h"
#include "base/log.h"
#include "engine/heap.h"
#include "engine/live.h"
#include "engine/recorder.h"
#include "pjrt/ffi.h"

namespace tpu::engine {

namespace {

// Written once under the mutex and never freed: tensors may be destroyed by exit handlers.
std::atomic<Runtime*> the_runtime{nullptr};
std::atomic<bool> forked{false};
std::mutex start_mutex;
BlockingHooks blocking_hooks;

// Runs in a forked child: the plugin's threads are not there, so the runtime must not be found.
void forget_runtime() {
  if (the_runtime.exchange(nullptr) != nullptr) forked.store(true);
}

int64_t memory_limit(pjrt::Device& device) {
  if (auto stats = device.memory_stats(); stats && stats->bytes_limit > 0) return stats->bytes_limit;
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

Hash128 hash_of(const ops::Settings& settings, const pjrt::Plugin& plugin, const std::vector<pjrt::Flag>& flags) {
  Hasher hasher;
  hasher.add(plugin.machine_hash());
  for (const pjrt::Flag& flag : flags) hasher.add(std::string_view(pjrt::to_string(flag)));
  hasher.add(static_cast<uint64_t>(settings.default_float));
  hasher.add(static_cast<uint64_t>(settings.precision));
  hasher.add(static_cast<uint64_t>(settings.deterministic));
  hasher.add(static_cast<uint64_t>(settings.is_cpu));
  hasher.add(static_cast<uint64_t>(settings.host_kernels));
  return hasher.finish();
}

// Under one build and one machine hash: everything else that a program depends on is in its key.
cache::Build disk_build(const pjrt::Plugin& plugin) {
  std::string file = std::filesystem::path(plugin.path()).filename().string();
  return {build_id(), plugin.machine_hash(), concat(file, ", PJRT ", plugin.api_major(), ".", plugin.api_minor())};
}

bool wants_host_kernels() {
  std::string text = env::text("TORCH_TPU_HOST_KERNELS");
  check(text == "on" || text == "off", ErrorCode::Value, "TORCH_TPU_HOST_KERNELS: expected on or off, got '", text,
        "'");
  return text == "on";
}

}  // namespace

std::string program_directory() {
  std::string directory = pjrt::cache_directory();
  return directory.empty() ? "" : directory + "/programs";
}

Runtime::Runtime(pjrt::Plugin& plugin, std::unique_ptr<pjrt::Client> client)
    : plugin_(plugin),
      client_(std::move(client)),
      programs_(static_cast<size_t>(env::integer("TORCH_TPU_CACHE_PROGRAMS"))),
      disk_(program_directory(), env::integer("TORCH_TPU_CACHE_BYTES"), disk_build(plugin)) {
  workarounds_ = pjrt::self_test(*client_);
  for (const auto& device : client_->devices())
    devices_.push_back(std::make_unique<Device>(*device, memory_limit(*device)));
  if (client_->is_cpu()) keep_freed_memory();
  ops::Settings settings;
  settings.is_cpu = client_->is_cpu();
  settings.host_kernels = settings.is_cpu && wants_host_kernels() && pjrt::has_ffi(plugin_);
  configure(settings);
}

void Runtime::start(const std::string& plugin_path, int64_t cpu_devices) {
  std::lock_guard<std::mutex> lock(start_mutex);
  if (instance() != nullptr) return;
  if (in_bad_fork()) fail_unavailable();
  pjrt::Plugin& plugin = pjrt::Plugin::load(plugin_path);
  pjrt::ClientOptions options;
  options.cpu_device_count = cpu_devices;
  auto* runtime = new Runtime(plugin, pjrt::Client::create(plugin, options));
  pthread_atfork(nullptr, nullptr, forget_runtime);
  the_runtime.store(runtime, std::memory_order_release);
  log::at(1, runtime->device_count(), " device(s) of platform ", runtime->client().platform_name(), " by ",
          plugin.path());
}

bool Runtime::in_bad_fork() { return forked.load(); }

Runtime* Runtime::instance() { return the_runtime.load(std::memory_order_acquire); }

void Runtime::fail_unavailable() {
  if (in_bad_fork()) {
    fail(ErrorCode::Unavailable,
         "the device tpu cannot be used in a process forked after its first use: the plugin's threads exist only in "
         "the parent. "
         "Start workers with the multiprocessing method 'spawn' or 'forkserver'.");
  }
  fail(ErrorCode::Unavailable, "the device tpu was not initialized");
}

Device& Runtime::device(int ordinal) {
  check(ordinal >= 0 && ordinal < device_count(), ErrorCode::InvalidArgument, "tpu:", ordinal,
        " does not exist: there ", device_count() == 1 ? "is " : "are ", device_count(),
        device_count() == 1 ? " device" : " devices", " (TORCH_TPU_CPU_DEVICES=N shows N on a CPU plugin)");
  return *devices_[static_cast<size_t>(ordinal)];
}

void Runtime::configure(const ops::Settings& settings) {
  Hash128 hash = hash_of(settings, plugin_, client_->default_flags());
  std::lock_guard<std::mutex> lock(configure_mutex_);
  for (const auto& known : configurations_) {
    if (known->hash == hash) return configuration_.store(known.get(), std::memory_order_release);
  }
  configurations_.push_back(std::make_unique<Configuration>(Configuration{settings, hash}));
  configuration_.store(configurations_.back().get(), std::memory_order_release);
}

void Runtime::synchronize(Device& device) {
  device.recorder().cut();
  device.recorder().raise_error();
  Blocking blocking;
  for (const SharedEvent& event : in_flight(device)) {
    try {
      event->await("waiting for the device");
    } catch (const Error&) {
      // The Value that failed reports it when it is read.
    }
  }
}

void set_blocking_hooks(BlockingHooks hooks) { blocking_hooks = hooks; }

Blocking::Blocking() : token_(blocking_hooks.begin != nullptr ? blocking_hooks.begin() : nullptr) {}
Blocking::~Blocking() {
  if (token_ != nullptr) blocking_hooks.end(token_);
}

}  // namespace tpu::engine
