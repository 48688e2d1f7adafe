#include "engine/activity.h"

#include <chrono>
#include <mutex>
#include <utility>

namespace tpu::engine {

namespace {

std::mutex listener_mutex;

std::shared_ptr<ActivityListener>& the_listener() {
  static auto* listener = new std::shared_ptr<ActivityListener>;  // used by threads that outlive static objects
  return *listener;
}

int64_t now() {
  auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

struct ActivityScope::Open {
  Activity activity;
  std::shared_ptr<ActivityListener> listener;

  void close() {
    activity.end = now();
    if (activity.returned == 0) activity.returned = activity.end;
    listener->add(std::move(activity));
  }
};

void set_activity_listener(std::shared_ptr<ActivityListener> listener) {
  std::lock_guard<std::mutex> lock(listener_mutex);
  ActivityScope::is_listening.store(listener != nullptr, std::memory_order_relaxed);
  the_listener() = std::move(listener);
}

void ActivityScope::begin(Activity::Kind kind, std::string_view name, const Device& device, int64_t bytes) {
  std::shared_ptr<ActivityListener> listener;
  {
    std::lock_guard<std::mutex> lock(listener_mutex);
    listener = the_listener();
  }
  if (listener == nullptr) return;
  int64_t origin = listener->origin();
  open_ = new Open{{kind, std::string(name), device.ordinal(), bytes, now(), 0, 0, origin}, std::move(listener)};
}

void ActivityScope::end() { std::unique_ptr<Open>(std::exchange(open_, nullptr))->close(); }

void ActivityScope::end_when_ready(const pjrt::Buffer& buffer) {
  pjrt::Event ready = buffer.ready_event();
  std::shared_ptr<Open> open(std::exchange(open_, nullptr));
  open->activity.returned = now();
  ready.on_ready([open](const Error*) { open->close(); }, "profiling a program");
}

}  // namespace tpu::engine
