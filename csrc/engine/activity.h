// Activities: compiles, loads from disk, executions and copies with their times, and changes of memory, for a profiler.
// While none listens each costs one relaxed load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/device.h"

namespace tpu::engine {

struct Activity {
  enum class Kind { Compile, Load, Execute, CopyToDevice, CopyToHost, CopyBetweenDevices };

  Kind kind = Kind::Execute;
  std::string name;      // of the program; empty for copies
  int device = 0;        // ordinal
  int64_t bytes = 0;     // of copies
  int64_t begin = 0;     // nanoseconds since the epoch, when it was asked for
  int64_t returned = 0;  // when the call that asked for it returned, and
  int64_t end = 0;       // when it was done, which for an execution may be long after that
  int64_t origin = 0;    // what ActivityListener::origin() said at the begin
};

/// All functions may be called by several threads at once, `add` also by threads of the plugin.
class ActivityListener {
 public:
  virtual ~ActivityListener() = default;
  /// An activity begins on the calling thread. Gives a number of the listener's own that comes back with it; every
  /// begin is followed by one add().
  virtual int64_t origin() = 0;
  virtual void add(Activity activity) noexcept = 0;
};

/// One listener per process; null ends listening. Activities that are under way still go to the previous one.
void set_activity_listener(std::shared_ptr<ActivityListener> listener);

/// Told when a Value (its address is `value`) takes bytes of a device, or with a negative change gives them back; on
/// the thread that does it. Null: nobody.
using MemoryListener = void (*)(const Device& device, const void* value, int64_t change);
inline std::atomic<MemoryListener> memory_listener{nullptr};
inline void report_memory(const Device& device, const void* value, int64_t change) {
  if (MemoryListener listener = memory_listener.load(std::memory_order_relaxed)) [[unlikely]]
    listener(device, value, change);
}

/// One activity, from here to the end of the scope, or until an event is ready.
class ActivityScope {
 public:
  ActivityScope(Activity::Kind kind, std::string_view name, const Device& device, int64_t bytes = 0) {
    if (is_listening.load(std::memory_order_relaxed)) [[unlikely]]
      begin(kind, name, device, bytes);
  }
  ~ActivityScope() {
    if (open_ != nullptr) [[unlikely]]
      end();
  }
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

  /// The activity lasts until the buffer is computed.
  void last_until(const pjrt::Buffer& buffer) {
    if (open_ != nullptr) [[unlikely]]
      end_when_ready(buffer);
  }

 private:
  friend void set_activity_listener(std::shared_ptr<ActivityListener> listener);
  struct Open;

  void begin(Activity::Kind kind, std::string_view name, const Device& device, int64_t bytes);
  void end();
  void end_when_ready(const pjrt::Buffer& buffer);

  static inline std::atomic<bool> is_listening{false};
  Open* open_ = nullptr;
};

}  // namespace tpu::engine
