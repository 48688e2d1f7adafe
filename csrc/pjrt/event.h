// Event: "this is finished, or failed"; owner of a PJRT_Event.
#pragma once

#include <functional>
#include <utility>

#include "base/error.h"
#include "pjrt/abi.h"

namespace tpu::pjrt {

/// Move-only. Destroying an event neither waits nor cancels anything, and callbacks that were asked for still come.
class Event {
 public:
  Event() = default;
  Event(const abi::Api* api, PJRT_Event* raw) : api_(api), raw_(raw) {}
  Event(Event&& other) noexcept : api_(other.api_), raw_(std::exchange(other.raw_, nullptr)) {}
  Event& operator=(Event other) noexcept {
    std::swap(api_, other.api_);
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Event();

  explicit operator bool() const { return raw_ != nullptr; }
  /// Blocks; throws the plugin's error as Error with `doing` before its text. An empty event is ready.
  void await(const char* doing) const;
  /// Does not block. True for a failed event too (await() tells).
  bool is_ready() const;
  /// Calls back once, with null or the error, perhaps inside this call, perhaps on a thread of the plugin. The callback
  /// must not throw, and must not block or destroy buffers of this client where it can be helped.
  void on_ready(std::function<void(const Error*)> callback, const char* doing) const;

 private:
  const abi::Api* api_ = nullptr;
  PJRT_Event* raw_ = nullptr;
};

}  // namespace tpu::pjrt
