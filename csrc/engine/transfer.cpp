#include "engine/transfer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "engine/activity.h"
#include "engine/device.h"
#include "engine/errand.h"
#include "engine/runtime.h"

namespace tpu::engine {

namespace {

// Copies below this size take less time than handing over the GIL.
constexpr int64_t kLongCopyBytes = 256 * 1024;

ValueRef send(Device& device, const void* data, const Type& type, pjrt::HostSemantics semantics,
              std::function<void()> release) {
  int64_t bytes = type.bytes();
  try {
    device.expect_room(bytes);
  } catch (...) {
    if (release) release();  // once, whatever happens; from here on the client sees to it
    throw;
  }
  std::optional<Blocking> blocking;
  if (bytes > kLongCopyBytes) blocking.emplace();
  std::optional<ActivityScope> activity;  // none where the memory is only lent
  if (semantics == pjrt::HostSemantics::CopyDuringCall || !device.is_cpu())
    activity.emplace(Activity::Kind::CopyToDevice, "", device, bytes);
  pjrt::Buffer buffer =
      device.client().buffer_from_host(data, type, device.pjrt(), semantics, as_errand(std::move(release)));
  return ValueRef::adopt(new Value(device, type, std::move(buffer)));
}

// Zeroed memory, aligned for zero copy. Never null, also for 0 bytes.
void* zeroed(int64_t bytes) {
  size_t size = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 63) / 64 * 64;
  void* data = std::aligned_alloc(pjrt::kZeroCopyAlignment, size);
  check(data != nullptr, ErrorCode::OutOfMemory, "no host memory for ", bytes, " bytes");
  std::memset(data, 0, size);
  return data;
}

}  // namespace

ValueRef from_host(Device& device, const void* data, const Type& type) {
  return send(device, data, type, pjrt::HostSemantics::CopyDuringCall, nullptr);
}

ValueRef wrap_host(Device& device, const void* data, const Type& type, std::function<void()> release) {
  auto semantics =
      device.is_cpu() ? pjrt::HostSemantics::ZeroCopyReadOnly : pjrt::HostSemantics::UntilTransferCompletes;
  return send(device, data, type, semantics, std::move(release));
}

ValueRef adopt_host(Device& device, void* data, const Type& type, std::function<void()> release) {
  auto semantics = device.is_cpu() ? pjrt::HostSemantics::ZeroCopyMutable : pjrt::HostSemantics::UntilTransferCompletes;
  return send(device, data, type, semantics, std::move(release));
}

void to_host(const Value& value, void* data) {
  value.wait();
  int64_t bytes = value.type().bytes();
  if (bytes == 0) return;
  std::optional<Blocking> blocking;
  if (bytes > kLongCopyBytes) blocking.emplace();
  ActivityScope activity(Activity::Kind::CopyToHost, "", value.device(), bytes);
  value.buffer().copy_to_host(data, static_cast<size_t>(bytes));
}

ValueRef zeros(Device& device, const Type& type) {
  device.expect_room(type.bytes());
  void* data = zeroed(type.bytes());
  return adopt_host(device, data, type, [data] { std::free(data); });
}

ValueRef to_device(const Value& value, Device& device) {
  int64_t bytes = value.type().bytes();
  device.expect_room(bytes);
  ActivityScope activity(Activity::Kind::CopyBetweenDevices, "", device, bytes);
  ValueRef copy = ValueRef::adopt(
      new Value(device, value.type(), value.buffer().copy_to_device(device.pjrt()), bytes > kLongCopyBytes));
  activity.last_until(copy->buffer());
  return copy;
}

ValueRef load_or_zeros(Cell& cell, const Type& unset) {
  ValueRef value = cell.load();
  if (value) return value;
  value = zeros(cell.device(), unset);
  cell.store(value);
  return value;
}

void resize(Cell& cell, int64_t bytes) {
  ValueRef old = cell.load();
  if (!old || old->type().bytes() == bytes) return cell.set_bytes(bytes);
  // Whole elements of the old type, so that no bitcast is needed later; bytes where they do not fit.
  auto unit = static_cast<int64_t>(size_of(old->type().element));
  Type type{old->type().element, {bytes / unit}};
  if (bytes % unit != 0) type = {ElementType::U8, {bytes}};
  cell.device().expect_room(bytes);
  int64_t old_bytes = old->type().bytes();
  void* data = zeroed(std::max(bytes, old_bytes));
  to_host(*old, data);
  cell.store(adopt_host(cell.device(), data, type, [data] { std::free(data); }));
  cell.set_bytes(bytes);
}

ValueRef retype(Cell& cell, const Value& value, const Type& type) {
  ValueRef typed;
  if (cell.device().is_cpu()) {
    value.wait();
    // The new Value reads the old one's memory and holds it.
    auto* held = const_cast<Value*>(&value);
    held->retain();
    typed = wrap_host(cell.device(), value.buffer().host_pointer(), type, [held] { held->release(); });
  } else {
    void* data = zeroed(type.bytes());
    to_host(value, data);
    typed = adopt_host(cell.device(), data, type, [data] { std::free(data); });
  }
  cell.store(typed);
  return typed;
}

}  // namespace tpu::engine
