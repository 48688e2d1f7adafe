// Slabs: fixed-size slots for objects of one type that can be walked.
//
// Note [Slabs]. Values and Cells lie in slabs that are never given back. The first word of a slot is zero exactly while
// the slot is free or its object is being made, so all live objects can be found by walking, without a list that every
// op would have to lock: synchronize(), the out-of-memory report and the search for an address pay for the walk, ops
// pay nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

namespace tpu::engine {

/// `T` begins with an atomic word that its constructor sets to non-zero last and its destructor to zero first.
template <class T>
class Slabs {
 public:
  static void* allocate() {
    FreeSlots& slots = own;
    if (slots.head == nullptr) [[unlikely]]
      slots.refill();
    Slot* slot = slots.head;
    slots.head = slot->next();
    --slots.count;
    return slot;
  }
  static void free(void* memory) {
    FreeSlots& slots = own;
    if (slots.head == nullptr) [[unlikely]]
      leave_at_exit();
    auto* slot = static_cast<Slot*>(memory);
    slot->next() = slots.head;
    slots.head = slot;
    if (++slots.count > kSlotsPerSlab) [[unlikely]]
      slots.give_back(kSlotsPerSlab / 2);
  }
  /// Calls `visit(T&)` for every slot, live or not; the visitor reads the first word before anything else.
  template <class Visit>
  static void walk(Visit&& visit) {
    for (Slab* slab = slabs.load(std::memory_order_acquire); slab != nullptr; slab = slab->next)
      for (Slot& slot : slab->slots) visit(*reinterpret_cast<T*>(slot.bytes));
  }

 private:
  static constexpr size_t kSlotsPerSlab = 256;

  struct alignas(T) Slot {
    unsigned char bytes[sizeof(T)];
    // After the first word, which stays zero while the slot is free.
    static constexpr size_t kLinkAt = 8;
    Slot*& next() { return *reinterpret_cast<Slot**>(bytes + kLinkAt); }
  };
  struct Slab {
    Slot slots[kSlotsPerSlab] = {};
    Slab* next = nullptr;
  };
  struct FreeSlots {  // of one thread; without constructor and destructor, which every use would have to ask for
    Slot* head;
    size_t count;

    /// All but `kept`.
    void give_back(size_t kept) {
      std::lock_guard<std::mutex> lock(pool_mutex);
      for (; count > kept; --count) {
        Slot* slot = head;
        head = slot->next();
        slot->next() = pool;
        pool = slot;
      }
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
      leave_at_exit();
    }
  };

  // A thread that ends gives back what it has.
  static void leave_at_exit() {
    thread_local struct Leave {
      ~Leave() { own.give_back(0); }
    } leave;
    static_cast<void>(leave);
  }

  static inline thread_local constinit FreeSlots own{};
  static inline std::atomic<Slab*> slabs{nullptr};
  static inline std::mutex pool_mutex;
  static inline Slot* pool = nullptr;  // free slots of threads that ended, or had too many
};

}  // namespace tpu::engine
