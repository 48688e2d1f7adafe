#include "engine/value.h"

#include <mutex>
#include <vector>

#include "engine/device.h"
#include "engine/live.h"
#include "engine/runtime.h"

namespace tpu::engine {

// Note [Value slabs]. Values lie in slabs that are never given back, and a slot's holder count is zero exactly when it is free. So all
// live Values can be found by walking the slabs, without a list that every op would have to lock: synchronize() and the
// out-of-memory report pay for the walk, ops pay nothing.
namespace {

constexpr size_t kSlotsPerSlab = 256;

struct alignas(alignof(Value)) Slot {
  unsigned char bytes[sizeof(Value)];
  // The holder count is the first member of a Value and stays zero while the slot is free, so the link comes after it.
  static constexpr size_t kLinkAt = 8;
  Slot*& next() { return *reinterpret_cast<Slot**>(bytes + kLinkAt); }
};

struct Slab {
  Slot slots[kSlotsPerSlab] = {};
  Slab* next = nullptr;
};

std::atomic<Slab*> slabs{nullptr};
std::mutex pool_mutex;
Slot* pool = nullptr;  // free slots of threads that ended, or had too many

// Free slots of one thread.
struct FreeSlots {
  Slot* head = nullptr;
  size_t count = 0;

  ~FreeSlots() {
    std::lock_guard<std::mutex> lock(pool_mutex);
    while (head != nullptr) give_back();
  }
  void give_back() {
    Slot* slot = head;
    head = slot->next();
    --count;
    slot->next() = pool;
    pool = slot;
  }
  void refill() {
    std::lock_guard<std::mutex> lock(pool_mutex);
    if (pool == nullptr) {
      auto* slab = new Slab;
      for (Slot& slot : slab->slots) {
        slot.next() = pool;
        pool = &slot;
      }
      slab->next = slabs.load(std::memory_order_relaxed);
      slabs.store(slab, std::memory_order_release);
    }
    for (size_t i = 0; i < kSlotsPerSlab / 4 && pool != nullptr; ++i) {
      Slot* slot = pool;
      pool = slot->next();
      slot->next() = head;
      head = slot;
      ++count;
    }
  }
};

FreeSlots& free_slots() {
  thread_local FreeSlots own;
  return own;
}

}  // namespace

void* Value::operator new(size_t) {
  FreeSlots& slots = free_slots();
  if (slots.head == nullptr) [[unlikely]] slots.refill();
  Slot* slot = slots.head;
  slots.head = slot->next();
  --slots.count;
  return slot;
}

void Value::operator delete(void* memory) {
  FreeSlots& slots = free_slots();
  auto* slot = static_cast<Slot*>(memory);
  slot->next() = slots.head;
  slots.head = slot;
  if (++slots.count > kSlotsPerSlab) [[unlikely]] {
    std::lock_guard<std::mutex> lock(pool_mutex);
    while (slots.count > kSlotsPerSlab / 2) slots.give_back();
  }
}

Value::Value(Device& device, Type type, pjrt::Buffer buffer)
    : device_(&device), type_(type), bytes_(type.bytes()), buffer_(std::move(buffer)) {
  device.count_allocation(bytes_);
  holders_.store(1, std::memory_order_release);
}

Value::Value(Device& device, Type type, Error error)
    : device_(&device), type_(type), error_(std::make_unique<Error>(std::move(error))) {
  device.count_allocation(0);
  holders_.store(1, std::memory_order_release);
}

Value::~Value() { device_->count_release(bytes_); }

bool Value::is_ready() const {
  if (ready_.load(std::memory_order_acquire)) return true;
  if (error_ != nullptr || buffer_.is_ready()) {
    ready_.store(true, std::memory_order_release);
    return true;
  }
  return false;
}

void Value::wait() const {
  if (error_ != nullptr) throw *error_;
  if (is_ready()) {
    if (!checked_.load(std::memory_order_acquire)) buffer_.await_ready();  // ready may mean that the program failed
  } else {
    Blocking blocking;
    buffer_.await_ready();
    ready_.store(true, std::memory_order_release);
  }
  checked_.store(true, std::memory_order_release);
}

bool Value::try_retain() {
  uint32_t holders = holders_.load(std::memory_order_acquire);
  while (holders != 0) {
    if (holders_.compare_exchange_weak(holders, holders + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

std::vector<pjrt::Event> in_flight(Device& device) {
  std::vector<pjrt::Event> events;
  for (const ValueRef& value : live_values(device)) {
    try {
      if (!value->is_ready()) events.push_back(value->buffer().ready_event());
    } catch (const Error&) {
      // A call gave its memory away and still holds it: what took the memory has a Value of its own.
    }
  }
  return events;
}

std::vector<ValueRef> live_values(Device& device) {
  std::vector<ValueRef> live;
  for (Slab* slab = slabs.load(std::memory_order_acquire); slab != nullptr; slab = slab->next) {
    for (Slot& slot : slab->slots) {
      auto* value = reinterpret_cast<Value*>(slot.bytes);
      if (!value->try_retain()) continue;
      ValueRef held = ValueRef::adopt(value);
      if (&value->device() == &device) live.push_back(std::move(held));
    }
  }
  return live;
}

}  // namespace tpu::engine
