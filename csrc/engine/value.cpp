#include "engine/value.h"

#include <vector>

#include "engine/activity.h"
#include "engine/device.h"
#include "engine/live.h"
#include "engine/recorder.h"
#include "engine/runtime.h"
#include "engine/slab.h"

namespace tpu::engine {

void* Value::operator new(size_t) { return Slabs<Value>::allocate(); }
void Value::operator delete(void* memory) { Slabs<Value>::free(memory); }
void* Cell::operator new(size_t) { return Slabs<Cell>::allocate(); }
void Cell::operator delete(void* memory) { Slabs<Cell>::free(memory); }

Value::Value(Device& device, Type type, pjrt::Buffer buffer, bool is_lengthy)
    : is_lengthy_(is_lengthy),
      is_counted_(true),
      device_(&device),
      type_(type),
      bytes_(type.bytes()),
      buffer_(std::move(buffer)) {
  device.count_allocation(bytes_);
  report_memory(device, this, bytes_);
  holders_.store(1, std::memory_order_release);
}

Value::Value(Device& device, Type type, Error error)
    : state_(State::Failed), device_(&device), type_(type), error_(std::make_unique<Error>(std::move(error))) {
  holders_.store(1, std::memory_order_release);
}

Value::Value(Device& device, Type type, Recorder& recorder, uint32_t number)
    : state_(State::Pending), device_(&device), type_(type), recorder_(&recorder), number_(number) {
  holders_.store(1, std::memory_order_release);
}

Value::~Value() {
  if (is_lengthy_ && !ready_.load(std::memory_order_acquire)) device_->outlive(buffer_);
  if (is_counted_) device_->count_release(bytes_);
  if (bytes_ != 0) report_memory(*device_, this, -bytes_);
}

void Value::become(pjrt::Buffer buffer, bool is_lengthy) {
  is_lengthy_ = is_lengthy;
  bytes_ = type_.bytes();
  is_counted_ = true;
  device_->count_allocation(bytes_);
  report_memory(*device_, this, bytes_);
  buffer_ = std::move(buffer);
  state_.store(State::Ready, std::memory_order_release);
}

void Value::become(Error error) {
  error_ = std::make_unique<Error>(std::move(error));
  state_.store(State::Failed, std::memory_order_release);
}

void Value::settle() const {
  if (is_pending()) recorder_->cut_for(*this);
  if (is_failed()) throw Error(*error_);
}

void Value::set_donated() {
  is_lengthy_ = false;
  int64_t bytes = std::exchange(bytes_, 0);
  if (bytes == 0) return;
  device_->count_shrinkage(bytes);
  report_memory(*device_, this, -bytes);
}

bool Value::is_ready() const {
  if (ready_.load(std::memory_order_acquire)) return true;
  State state = state_.load(std::memory_order_acquire);
  if (state == State::Pending) return false;
  if (state == State::Failed || buffer_.is_ready()) {
    ready_.store(true, std::memory_order_release);
    return true;
  }
  return false;
}

void Value::wait() const {
  if (is_failed()) device_->recorder().forget_error(*error_);
  buffer();
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

Cell* find_cell(uintptr_t address) {
  Cell* found = nullptr;
  Slabs<Cell>::walk([&](Cell& cell) {
    if (cell.address() == address) found = &cell;
  });
  return found;
}

std::vector<SharedEvent> in_flight(Device& device) {
  // First the Values: one that is dropped in between appears twice, the other way round it would not appear.
  std::vector<SharedEvent> events;
  device.recorder().cut();
  for (const ValueRef& value : live_values(device)) {
    try {
      if (value->is_pending() || value->is_ready()) continue;
      events.push_back(std::make_shared<pjrt::Event>(value->buffer().ready_event()));
    } catch (const Error&) {
      // A call gave its memory away and still holds it: what took the memory has a Value of its own.
    }
  }
  std::vector<SharedEvent> dropped = device.outlived();
  events.insert(events.end(), dropped.begin(), dropped.end());
  return events;
}

std::vector<ValueRef> live_values(Device& device) {
  std::vector<ValueRef> live;
  Slabs<Value>::walk([&](Value& value) {
    if (!value.try_retain()) return;
    ValueRef held = ValueRef::adopt(&value);
    if (&value.device() == &device) live.push_back(std::move(held));
  });
  return live;
}

}  // namespace tpu::engine
