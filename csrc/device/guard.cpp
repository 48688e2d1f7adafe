#include "device/guard.h"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "base/error.h"
#include "device/errors.h"
#include "device/startup.h"
#include "engine/live.h"
#include "engine/runtime.h"
#include "pjrt/event.h"

namespace tpu::device {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPooledStreams = 32;  // as many as getStreamFromGlobalPool gives before it starts again

thread_local int thread_device = 0;
thread_local std::array<c10::StreamId, 128> thread_streams = {};

c10::Device torch_device(int ordinal) {
  return c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(ordinal));
}

int ordinal_of(c10::Device device) { return device.has_index() ? device.index() : thread_device; }

void check_exists(int device) {
  if (device >= 0 && device < device_count()) [[likely]]
    return;
  int count = device_count(/*look_again=*/true);
  // Without a plugin the message is the one that says what to install.
  if (count == 0 && device >= 0) return ensure_started();
  check(device >= 0 && device < count, ErrorCode::InvalidArgument, "device tpu:", device, " does not exist; there ",
        count == 1 ? "is 1 device" : concat("are ", count, " devices"), ", counted from 0");
}

/// What was dispatched to a device up to some moment. See Note [Streams and events].
class Moment {
 public:
  Moment(std::vector<engine::SharedEvent> events, bool timed) : events_(std::move(events)) {
    if (!timed) return;
    arrival_ = std::make_shared<Arrival>(events_.size() + 1);
    for (const engine::SharedEvent& event : events_) {
      event->on_ready([arrival = arrival_](const Error*) { arrival->count_down(); }, "time an event");
    }
    arrival_->count_down();
  }

  bool is_reached() const {
    if (arrival_ != nullptr) return arrival_->left.load(std::memory_order_acquire) == 0;
    for (const engine::SharedEvent& event : events_) {
      if (!event->is_ready()) return false;
    }
    return true;
  }

  void wait() const {
    engine::Blocking blocking;
    for (const engine::SharedEvent& event : events_) {
      try {
        event->await("wait for an event");
      } catch (const Error&) {
        // A program failed. Whoever reads its results gets the error.
      }
    }
    if (arrival_ == nullptr) return;
    // The callbacks run a little after the events are ready.
    while (size_t left = arrival_->left.load(std::memory_order_acquire)) arrival_->left.wait(left);
  }

  bool is_timed() const { return arrival_ != nullptr; }
  Clock::time_point time() const { return Clock::time_point(Clock::duration(arrival_->ticks.load())); }

 private:
  /// Notes the time at which the last event became ready; outlives the Moment, for callbacks cannot be called off.
  struct Arrival {
    explicit Arrival(size_t events) : left(events) {}
    void count_down() {
      ticks.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
      if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) left.notify_all();
    }
    std::atomic<size_t> left;
    std::atomic<Clock::rep> ticks{0};
  };

  std::vector<engine::SharedEvent> events_;
  std::shared_ptr<Arrival> arrival_;
};

Moment moment_of(int device, bool timed) {
  // Before the start nothing was dispatched.
  if (!engine::Runtime::is_started() && !engine::Runtime::in_bad_fork()) return Moment({}, timed);
  return Moment(engine::in_flight(engine::Runtime::get().device(device)), timed);
}

// Of the thread that loaded the library.
const std::thread::id first_thread = std::this_thread::get_id();
std::atomic<bool> has_other_threads{false};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }

  c10::Device exchangeDevice(c10::Device device) const override {
    return torch_device(translated([&] { return exchange_device(ordinal_of(device)); }));
  }
  c10::Device getDevice() const override { return torch_device(thread_device); }
  void setDevice(c10::Device device) const override {
    exchangeDevice(device);
    if (std::this_thread::get_id() != first_thread) has_other_threads.store(true, std::memory_order_relaxed);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override { thread_device = ordinal_of(device); }
  c10::DeviceIndex deviceCount() const noexcept override { return static_cast<c10::DeviceIndex>(device_count()); }

  c10::Stream getStream(c10::Device device) const override {
    return stream(device, thread_streams[ordinal_of(device)]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream(device, 0); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    static std::atomic<uint64_t> turn{0};
    return stream(device, 1 + static_cast<c10::StreamId>(turn.fetch_add(1) % kPooledStreams));
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    static std::atomic<c10::StreamId> next{1 + kPooledStreams};
    translated([&] { check_exists(ordinal_of(device)); });
    return stream(device, next.fetch_add(1));
  }
  c10::Stream exchangeStream(c10::Stream next) const override {
    return stream(next.device(), std::exchange(thread_streams[ordinal_of(next.device())], next.id()));
  }

  bool queryStream(const c10::Stream& stream) const override {
    return translated([&] { return moment_of(ordinal_of(stream.device()), false).is_reached(); });
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    translated([&] { synchronize(ordinal_of(stream.device())); });
  }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    translated([&] { synchronize(ordinal_of(torch_device(device))); });
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex device,
              const c10::EventFlag flag) const override {
    translated([&] {
      int ordinal = ordinal_of(stream.device());
      check(device == -1 || device == ordinal, ErrorCode::InvalidArgument, "an event of tpu:", int{device},
            " cannot be recorded on a stream of tpu:", ordinal);
      auto next = std::make_unique<Moment>(moment_of(ordinal, flag == c10::EventFlag::BACKEND_DEFAULT));
      delete static_cast<Moment*>(std::exchange(*event, next.release()));
    });
  }
  void block(void*, const c10::Stream&) const override {}  // see Note [Streams and events]
  bool queryEvent(void* event) const override {
    return event == nullptr || translated([&] { return static_cast<Moment*>(event)->is_reached(); });
  }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) translated([&] { static_cast<Moment*>(event)->wait(); });
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Moment*>(event); }
  double elapsedTime(void* begin, void* end, const c10::DeviceIndex) const override {
    return translated([&] {
      auto* from = static_cast<Moment*>(begin);
      auto* to = static_cast<Moment*>(end);
      check(from != nullptr && to != nullptr && from->is_timed() && to->is_timed(), ErrorCode::InvalidArgument,
            "elapsed_time needs two recorded events made with enable_timing=True");
      from->wait();
      to->wait();
      return std::chrono::duration<double, std::milli>(to->time() - from->time()).count();
    });
  }

  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits = 0;
    auto& has = capability.capability_data.supported_scalar_types;
    has.has_Bool = has.has_Byte = has.has_Char = has.has_Short = has.has_Int = has.has_Long = 1;
    has.has_UInt16 = has.has_UInt32 = has.has_UInt64 = 1;
    has.has_Half = has.has_BFloat16 = has.has_Float = has.has_Double = has.has_ComplexFloat = has.has_ComplexDouble = 1;
    has.has_Float8_e4m3fn = has.has_Float8_e5m2 = has.has_Float8_e4m3fnuz = has.has_Float8_e5m2fnuz = 1;
    return capability;
  }

 private:
  static c10::Stream stream(c10::Device device, c10::StreamId id) {
    return c10::Stream(c10::Stream::UNSAFE, torch_device(ordinal_of(device)), id);
  }
};

}  // namespace

int current_device() { return thread_device; }

bool other_threads_came() { return has_other_threads.load(std::memory_order_relaxed); }

int exchange_device(int device) {
  if (device != thread_device) check_exists(device);
  return std::exchange(thread_device, device);
}

engine::Device& resolve(c10::Device device) {
  ensure_started();
  return engine::Runtime::get().device(ordinal_of(device));
}

void synchronize(int device) {
  if (!engine::Runtime::is_started() && !engine::Runtime::in_bad_fork()) return check_exists(device);
  engine::Runtime& runtime = engine::Runtime::get();
  engine::Blocking blocking;
  runtime.synchronize(runtime.device(device));
}

const c10::impl::DeviceGuardImplInterface& guard() {
  static const auto* instance = new Guard();  // torch keeps it until the very end
  return *instance;
}

}  // namespace tpu::device
