#include "engine/device.h"

#include <algorithm>

#include "base/error.h"
#include "engine/live.h"
#include "engine/recorder.h"

namespace tpu::engine {

Device::Device(pjrt::Device& device, int64_t limit)
    : device_(device), limit_(limit), recorder_(std::make_unique<Recorder>(*this)) {}
Device::~Device() = default;

MemoryStats Device::memory() const {
  MemoryStats stats;
  stats.allocated = allocated_.load(std::memory_order_relaxed);
  stats.peak = peak_.load(std::memory_order_relaxed);
  stats.values = values_.load(std::memory_order_relaxed);
  stats.total_allocated = total_.load(std::memory_order_relaxed);
  stats.limit = limit_;
  stats.refusals = refusals_.load(std::memory_order_relaxed);
  return stats;
}

void Device::reset_peak() { peak_.store(allocated_.load(std::memory_order_relaxed), std::memory_order_relaxed); }
void Device::reset_accumulated() { total_.store(0, std::memory_order_relaxed); }

void Device::outlive(const pjrt::Buffer& buffer) noexcept {
  try {
    auto event = std::make_shared<const pjrt::Event>(buffer.ready_event());
    if (event->is_ready()) return;
    std::lock_guard<std::mutex> lock(outlived_mutex_);
    if (outlived_.size() >= forget_at_) {
      forget_ended();
      forget_at_ = std::max<size_t>(16, 2 * outlived_.size());  // so that each event is looked at a few times only
    }
    outlived_.push_back(std::move(event));
  } catch (...) {
    // Deleted by the plugin, or the runtime is gone: nothing is left to wait for.
  }
}

std::vector<SharedEvent> Device::outlived() {
  std::lock_guard<std::mutex> lock(outlived_mutex_);
  forget_ended();
  return outlived_;
}

void Device::forget_ended() {
  std::erase_if(outlived_, [](const SharedEvent& event) { return event->is_ready(); });
}

void Device::fail_out_of_memory(int64_t bytes) const {
  refusals_.fetch_add(1, std::memory_order_relaxed);
  std::vector<ValueRef> live = live_values(const_cast<Device&>(*this));
  std::sort(live.begin(), live.end(),
            [](const ValueRef& a, const ValueRef& b) { return a->type().bytes() > b->type().bytes(); });
  std::string largest;
  for (size_t i = 0; i < live.size() && i < 5; ++i)
    largest += concat(i ? ", " : " Largest live tensors: ", torch_name(live[i]->type().element),
                      to_string(live[i]->type().dims), " (", live[i]->type().bytes(), " bytes)");
  fail(ErrorCode::OutOfMemory, "tpu:", ordinal(), " is out of memory: tried to allocate ", bytes, " bytes; ",
       memory().allocated, " of ", limit_, " bytes are in use.", largest);
}

}  // namespace tpu::engine
