// Device: one `tpu:i`, with its memory counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/type.h"
#include "pjrt/client.h"
#include "pjrt/event.h"

namespace tpu::engine {

class Recorder;

/// Bytes and counts of live Values, by us: the CPU plugins keep no statistics.
struct MemoryStats {
  int64_t allocated = 0;        // bytes in live Values
  int64_t peak = 0;             // highest `allocated` since the last reset
  int64_t values = 0;           // live Values
  int64_t total_allocated = 0;  // bytes ever allocated
  int64_t limit = 0;            // bytes of the device
  int64_t refusals = 0;         // errors for lack of memory
};

using SharedEvent = std::shared_ptr<const pjrt::Event>;

class Device {
 public:
  Device(pjrt::Device& device, int64_t limit);
  ~Device();

  pjrt::Device& pjrt() const { return device_; }
  pjrt::Client& client() const { return device_.client(); }
  int ordinal() const { return device_.ordinal(); }
  bool is_cpu() const { return device_.is_cpu(); }
  /// What records ops on this device in the deferred modes; shared by all threads.
  Recorder& recorder() { return *recorder_; }

  MemoryStats memory() const;
  int64_t memory_limit() const { return limit_; }
  void reset_peak();
  void reset_accumulated();
  void count_allocation(int64_t bytes) {
    values_.fetch_add(1, std::memory_order_relaxed);
    total_.fetch_add(bytes, std::memory_order_relaxed);
    int64_t now = allocated_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
  }
  /// Bytes that a Value does not have any more.
  void count_shrinkage(int64_t bytes) { allocated_.fetch_sub(bytes, std::memory_order_relaxed); }
  void count_release(int64_t bytes) {
    values_.fetch_sub(1, std::memory_order_relaxed);
    allocated_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  /// Error(OutOfMemory) when `bytes` more than what is live cannot fit; a request that large would end the process.
  void expect_room(int64_t bytes) const {
    if (bytes > limit_ - allocated_.load(std::memory_order_relaxed)) [[unlikely]]
      fail_out_of_memory(bytes);
  }

  /// Remembers that `buffer`, which is about to be destroyed, is perhaps still being computed.
  void outlive(const pjrt::Buffer& buffer) noexcept;
  /// The ready events of such buffers that are not computed yet.
  std::vector<SharedEvent> outlived();

 private:
  void forget_ended();
  [[noreturn]] void fail_out_of_memory(int64_t bytes) const;

  pjrt::Device& device_;
  const int64_t limit_;
  std::atomic<int64_t> allocated_{0}, peak_{0}, values_{0}, total_{0};
  std::unique_ptr<Recorder> recorder_;
  mutable std::atomic<int64_t> refusals_{0};
  std::mutex outlived_mutex_;
  std::vector<SharedEvent> outlived_;
  size_t forget_at_ = 16;
};

}  // namespace tpu::engine
