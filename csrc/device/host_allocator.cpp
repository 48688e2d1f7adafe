#include "device/host_allocator.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>

#include <c10/util/Exception.h>

#include "pjrt/buffer.h"

namespace tpu::device {

namespace {

class HostAllocator final : public at::HostAllocator {
 public:
  at::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, at::DeviceType::CPU};
    size_t rounded = (bytes + pjrt::kZeroCopyAlignment - 1) / pjrt::kZeroCopyAlignment * pjrt::kZeroCopyAlignment;
    void* memory = rounded < bytes ? nullptr : std::aligned_alloc(pjrt::kZeroCopyAlignment, rounded);
    TORCH_CHECK_WITH(OutOfMemoryError, memory != nullptr, "tried to allocate ", bytes, " bytes of pinned host memory");
    std::unique_lock lock(mutex_);
    ranges_.emplace(reinterpret_cast<uintptr_t>(memory), bytes);
    stats_.allocations.increase(1);
    stats_.active_requests.increase(1);
    stats_.allocated_bytes.increase(bytes);
    stats_.active_bytes.increase(bytes);
    ++stats_.num_host_alloc;
    return {memory, memory, &release, at::DeviceType::CPU};
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
  // Copies from host memory end during the call, and whoever copies to it keeps the storage alive: memory that torch
  // gives back is not in use.
  bool record_event(void* pointer, void*, c10::Stream) override { return contains(pointer); }
  void empty_cache() override {}

  at::HostStats get_stats() override {
    std::shared_lock lock(mutex_);
    return stats_;
  }
  void reset_accumulated_stats() override {
    std::unique_lock lock(mutex_);
    for (auto* stat : stats()) stat->reset_accumulated();
    stats_.num_host_alloc = stats_.num_host_free = 0;
  }
  void reset_peak_stats() override {
    std::unique_lock lock(mutex_);
    for (auto* stat : stats()) stat->reset_peak();
  }

  bool contains(const void* pointer) const {
    auto address = reinterpret_cast<uintptr_t>(pointer);
    std::shared_lock lock(mutex_);
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return false;
    auto [begin, bytes] = *std::prev(after);
    return address < begin + bytes;
  }

 private:
  static void release(void* memory);

  std::array<c10::CachingAllocator::Stat*, 4> stats() {
    return {&stats_.allocations, &stats_.active_requests, &stats_.allocated_bytes, &stats_.active_bytes};
  }

  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, size_t> ranges_;  // begin -> bytes
  at::HostStats stats_;
};

HostAllocator& instance() {
  static auto* allocator = new HostAllocator();  // never destroyed: tensors may outlive static objects
  return *allocator;
}

void HostAllocator::release(void* memory) {
  if (memory == nullptr) return;
  HostAllocator& self = instance();
  {
    std::unique_lock lock(self.mutex_);
    auto range = self.ranges_.find(reinterpret_cast<uintptr_t>(memory));
    size_t bytes = range->second;
    self.ranges_.erase(range);
    self.stats_.allocations.decrease(1);
    self.stats_.active_requests.decrease(1);
    self.stats_.allocated_bytes.decrease(bytes);
    self.stats_.active_bytes.decrease(bytes);
    ++self.stats_.num_host_free;
  }
  std::free(memory);
}

}  // namespace

at::HostAllocator& host_allocator() { return instance(); }

bool is_pinned(const void* address) { return instance().contains(address); }

}  // namespace tpu::device
