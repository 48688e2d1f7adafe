#include "device/allocator.h"

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include <c10/core/CachingDeviceAllocator.h>

#include "device/errors.h"
#include "device/guard.h"
#include "device/startup.h"
#include "engine/heap.h"
#include "engine/live.h"
#include "engine/runtime.h"
#include "engine/transfer.h"

namespace tpu::device {

namespace {

constexpr int kDeviceShift = 56;
constexpr uint64_t kRange = uint64_t{1} << kDeviceShift;
constexpr uint64_t kAlignment = 64;

// See Note [Addresses].
uintptr_t next_address(int device, int64_t bytes) {
  static std::array<std::atomic<uint64_t>, 128> cursors;
  // An empty storage takes a line too: its address is its own.
  uint64_t size = (static_cast<uint64_t>(bytes) + kAlignment) & ~(kAlignment - 1);
  uint64_t begin;
  do {
    begin = cursors[device].fetch_add(size, std::memory_order_relaxed) % kRange;
  } while (begin + size > kRange);  // would run into the next device's range: a new lap
  return (uint64_t{1} + device) * kRange + begin;
}

c10::Device torch_device(const engine::Device& device) {
  return c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device.ordinal()));
}

void expect_room(const engine::Device& device, int64_t bytes) {
  // No storage can be larger than the range of addresses; the device says the same of anything near it.
  check(bytes < static_cast<int64_t>(kRange / 2), ErrorCode::OutOfMemory, "tried to allocate ", bytes,
        " bytes on tpu:", device.ordinal());
  device.expect_room(bytes);
}

c10::CachingAllocator::StatArray stat(int64_t current, int64_t peak, int64_t total) {
  c10::CachingAllocator::Stat all;
  all.current = current;
  all.peak = peak;
  all.allocated = total;
  all.freed = total - current;
  return {all, {}, {}};
}

class Allocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    return translated([&] {
      engine::Device& device = resolve(c10::Device(c10::DeviceType::PrivateUse1));
      return make_data(device, static_cast<int64_t>(bytes));
    });
  }

  // Core calls it only to clone memory that it thinks it can address.
  void copy_data(void*, const void*, std::size_t) const override {
    translated(
        [] { fail(ErrorCode::NotImplemented, "the memory of device tpu has no addresses; copy the tensor instead"); });
  }

  bool initialized() override { return engine::Runtime::is_started(); }
  void emptyCache(c10::MempoolId_t) override { engine::return_freed_memory(); }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}  // see Note [Streams and events] in guard.h

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    engine::MemoryStats memory = translated([&] { return engine::Runtime::get().device(index).memory(); });
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.allocation = stats.active = stat(memory.values, memory.values, memory.values);
    stats.allocated_bytes = stat(memory.allocated, memory.peak, memory.total_allocated);
    stats.num_ooms = memory.refusals;
    stats.reserved_bytes = stats.active_bytes = stats.requested_bytes = stats.allocated_bytes;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex index) override {
    translated([&] { engine::Runtime::get().device(index).reset_accumulated(); });
  }
  void resetPeakStats(c10::DeviceIndex index) override {
    translated([&] { engine::Runtime::get().device(index).reset_peak(); });
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    engine::MemoryStats memory =
        translated([&] { return resolve(c10::Device(c10::DeviceType::PrivateUse1, index)).memory(); });
    return {std::max<int64_t>(memory.limit - memory.allocated, 0), memory.limit};
  }
};

}  // namespace

c10::DataPtr make_data(engine::Device& device, int64_t bytes, engine::ValueRef value) {
  if (!value) expect_room(device, bytes);
  auto cell = std::make_unique<engine::Cell>(device, bytes);
  cell->set_address(next_address(device.ordinal(), bytes));
  if (value) cell->store(std::move(value));
  void* address = reinterpret_cast<void*>(cell->address());
  return c10::DataPtr(address, cell.release(), &delete_cell, torch_device(device));
}

void delete_cell(void* cell) {
  // In a forked child another thread of the parent may have held the Cell's lock; nothing is worth freeing there.
  if (engine::Runtime::in_bad_fork()) [[unlikely]]
    return;
  delete static_cast<engine::Cell*>(cell);
}

engine::Cell& cell_at_address(const c10::StorageImpl& storage) {
  // A storage that torch made around the address of one of ours; it keeps that one alive in its own way.
  auto address = reinterpret_cast<uintptr_t>(storage.data_ptr().get());
  if (address != 0) {
    if (engine::Cell* cell = engine::find_cell(address)) return *cell;
  }
  fail(ErrorCode::InvalidArgument, "expected a storage on device tpu that holds data, got one on ",
       storage.device().str(),
       storage.data_ptr() ? " whose memory torch_tpu did not allocate, or which begins inside another "
                            "storage (a DLPack capsule of a part of a tensor: export a clone of it)"
                          : " without memory (a fake or meta tensor?)");
}

c10::Allocator& allocator() {
  static auto* instance = new Allocator();  // never destroyed: storages may outlive static objects
  return *instance;
}

void resize(c10::StorageImpl& storage, int64_t bytes) {
  engine::Cell& cell = cell_of(storage);
  int64_t before = cell.bytes();
  if (bytes == 0) {  // how sharded training gives memory back
    cell.store({});
    cell.set_bytes(0);
  } else if (bytes > before) {
    expect_room(cell.device(), bytes - before);
    // The old range of addresses is too short. As with any reallocation the data pointer changes.
    uintptr_t address = next_address(cell.device().ordinal(), bytes);
    c10::DataPtr& data = storage._mutable_data_ptr_no_checks();
    engine::resize(cell, bytes);
    cell.set_address(address);
    c10::Device device = data.device();
    data = c10::DataPtr(reinterpret_cast<void*>(address), data.release_context(), &delete_cell, device);
  } else if (bytes < before) {
    engine::resize(cell, bytes);
  }
  storage.set_nbytes(static_cast<size_t>(bytes));
}

}  // namespace tpu::device
