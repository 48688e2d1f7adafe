// Value: an immutable array on a device, and Cell: the mutable slot that a torch storage owns.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/type.h"
#include "pjrt/buffer.h"

namespace tpu::engine {

class Device;
class Recorder;

/// An immutable array: *pending* (recorded, see engine/recorder.h), *ready* (owns a PJRT buffer, possibly still being
/// computed) or *failed* (reading rethrows the error). Pending ends once, in one of the other two. Nobody writes into
/// the memory of a ready Value, except a donation by its only holder. Reference counted.
class Value {
 public:
  /// `is_lengthy`: what computes it may take long, so that synchronize() waits for it even if nobody holds it any more.
  Value(Device& device, Type type, pjrt::Buffer buffer, bool is_lengthy = false);
  Value(Device& device, Type type, Error error);
  /// Pending: result `number` of a recording. What it needs of the device is not counted before it is ready.
  Value(Device& device, Type type, Recorder& recorder, uint32_t number);
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  static void* operator new(size_t bytes);
  static void operator delete(void* memory);

  const Type& type() const { return type_; }
  Device& device() const { return *device_; }
  bool is_failed() const { return state_.load(std::memory_order_acquire) == State::Failed; }
  bool is_pending() const { return state_.load(std::memory_order_acquire) == State::Pending; }
  /// The buffer; runs what a pending Value needs, and throws the error of a failed one.
  const pjrt::Buffer& buffer() const {
    if (state_.load(std::memory_order_acquire) != State::Ready) [[unlikely]]
      settle();
    return buffer_;
  }
  /// Who recorded it, and the number of the result there, while it is pending.
  Recorder* recorder() const { return recorder_; }
  uint32_t number() const { return number_; }
  /// A number that a recording gave it, with the recording's own: what was numbered elsewhere since has to be numbered
  /// again.
  static constexpr int kMarkBits = 24;
  uint64_t mark() const { return mark_.load(std::memory_order_relaxed); }
  void set_mark(uint64_t mark) { mark_.store(mark, std::memory_order_relaxed); }
  /// The end of pending.
  void become(pjrt::Buffer buffer, bool is_lengthy = false);
  void become(Error error);
  /// Whether its program has ended, well or not.
  bool is_ready() const;
  /// Waits until the array is computed, with the GIL released; throws the error of its program.
  void wait() const;

  void retain() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  uint32_t holders() const { return holders_.load(std::memory_order_acquire); }
  /// Its memory goes to another Value, which counts it from now on and whose readiness implies that of this one. For
  /// its only holder.
  void set_donated();
  /// One more holder, unless there is none any more: for those who found it by walking, see Note [Slabs].
  bool try_retain();

 private:
  enum class State : uint8_t { Ready, Pending, Failed };

  ~Value();
  void settle() const;

  std::atomic<uint32_t> holders_{0};  // first member, and zero until the constructor has ended: Note [Slabs]
  mutable std::atomic<bool> ready_{false};
  mutable std::atomic<bool> checked_{false};
  std::atomic<State> state_{State::Ready};
  bool is_lengthy_ = false;
  bool is_counted_ = false;  // by the device: it has had an array
  Device* device_;
  Type type_;
  int64_t bytes_ = 0;
  pjrt::Buffer buffer_;
  std::unique_ptr<Error> error_;
  Recorder* recorder_ = nullptr;
  uint32_t number_ = 0;
  std::atomic<uint64_t> mark_{0};
};

/// Owning pointer to a Value.
class ValueRef {
 public:
  ValueRef() = default;
  /// Takes over one reference.
  static ValueRef adopt(Value* value) {
    ValueRef ref;
    ref.value_ = value;
    return ref;
  }
  ValueRef(const ValueRef& other) : value_(other.value_) {
    if (value_ != nullptr) value_->retain();
  }
  ValueRef(ValueRef&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  ValueRef& operator=(ValueRef other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~ValueRef() {
    if (value_ != nullptr) value_->release();
  }
  Value* get() const { return value_; }
  Value* operator->() const { return value_; }
  Value& operator*() const { return *value_; }
  explicit operator bool() const { return value_ != nullptr; }
  /// Gives the reference away.
  Value* detach() { return std::exchange(value_, nullptr); }

 private:
  Value* value_ = nullptr;
};

/// What a c10::Storage owns: a mutable pointer to the current Value, and the storage's size. No Value means *unset*:
/// allocated, never written; a read gives zeros. Loads and stores may come from several threads (autograd, DataLoader).
///
/// Note [Cell word]. Pointer and lock are one word: the lowest bit is set while some thread copies the pointer and
/// raises the count, a handful of instructions, so that a Value cannot be freed between the two.
class Cell {
 public:
  Cell(Device& device, int64_t bytes) : device_(device), bytes_(bytes) {}
  ~Cell() {
    set_address(0);
    store(ValueRef());
  }
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  static void* operator new(size_t bytes);
  static void operator delete(void* memory);

  Device& device() const { return device_; }
  int64_t bytes() const { return bytes_; }
  void set_bytes(int64_t bytes) { bytes_ = bytes; }

  /// The current Value; empty when unset.
  ValueRef load() const {
    uintptr_t word = lock();
    auto* value = reinterpret_cast<Value*>(word);
    if (value != nullptr) value->retain();
    word_.store(word, std::memory_order_release);
    return ValueRef::adopt(value);
  }
  void store(ValueRef value) {
    uintptr_t old = lock();
    word_.store(reinterpret_cast<uintptr_t>(value.detach()), std::memory_order_release);
    ValueRef::adopt(reinterpret_cast<Value*>(old));  // releases outside the lock
  }
  /// Takes `value` out of the Cell when the Cell and the caller are its only holders (`callers` references are the
  /// caller's), so that its memory may be donated. False, and nothing happened, otherwise.
  bool take_for_donation(const Value* value, uint32_t callers) {
    uintptr_t word = lock();
    bool mine = reinterpret_cast<Value*>(word) == value && value->holders() == callers + 1;
    word_.store(mine ? 0 : word, std::memory_order_release);
    if (mine) reinterpret_cast<Value*>(word)->release();
    return mine;
  }

  /// The synthetic address that torch sees; set by the allocator (device/allocator.cpp), zero before that.
  uintptr_t address() const { return address_.load(std::memory_order_acquire); }
  void set_address(uintptr_t address) { address_.store(address, std::memory_order_release); }

 private:
  uintptr_t lock() const {
    uintptr_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      word &= ~uintptr_t{1};
      if (word_.compare_exchange_weak(word, word | 1, std::memory_order_acquire, std::memory_order_relaxed))
        return word;
    }
  }

  std::atomic<uintptr_t> address_{0};  // first member: Note [Slabs]
  mutable std::atomic<uintptr_t> word_{0};
  Device& device_;
  int64_t bytes_;
};

}  // namespace tpu::engine
