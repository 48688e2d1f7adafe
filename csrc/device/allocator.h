// Allocator: bytes on a device -> a DataPtr whose context is an engine::Cell and whose address is synthetic.
//
// Note [Addresses]. What torch sees as data pointer can never be dereferenced: PJRT owns the memory, moves a storage to
// another buffer at each in-place write, and there may be no memory at all yet. User code still compares data pointers
// (tied weights, overlap checks), so every storage, also an empty one, has an address of its own. Addresses lie outside
// the canonical range of x86-64 and ARM (a stray read faults at once instead of returning garbage), are aligned to 64
// bytes and are handed out upwards, one range of 2^56 bytes per device, so that an address names its device without a
// map. They are not reused: a range lasts for 72 petabytes of allocations, after which it starts again from its
// beginning.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>

#include <cstdint>

#include "engine/device.h"
#include "engine/value.h"

namespace tpu::device {

/// A new storage's memory: owns a Cell of `bytes` with `value` (or unset), on `device`. Throws Error(OutOfMemory) for
/// an unset Cell that is larger than what is left of the device.
c10::DataPtr make_data(engine::Device& device, int64_t bytes, engine::ValueRef value = {});

/// The deleter of every DataPtr made here; a DataPtr is ours exactly when it has it.
void delete_cell(void* cell);

/// The Cell behind `data`; null when it was not made here (a user's own pointer, a null DataPtr).
inline engine::Cell* cell_of(const c10::DataPtr& data) {
  return data.get_deleter() == &delete_cell ? static_cast<engine::Cell*>(data.get_context()) : nullptr;
}

/// The Cell that a storage with a foreign deleter borrows its address from; throws Error(InvalidArgument) when there is
/// none.
engine::Cell& cell_at_address(const c10::StorageImpl& storage);

/// The Cell of a storage on `tpu`; throws Error(InvalidArgument) when the storage has none.
inline engine::Cell& cell_of(const c10::StorageImpl& storage) {
  engine::Cell* cell = cell_of(storage.data_ptr());
  if (cell == nullptr) [[unlikely]]
    return cell_at_address(storage);
  return *cell;
}

/// Ordinal of the device that `address` was handed out for, or -1 for an address that is not ours.
inline int device_of_address(const void* address) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(address) >> 56) - 1;
}

/// The one allocator, registered for PrivateUse1 (c10::GetAllocator gives the same).
c10::Allocator& allocator();

/// The storage gets `bytes` bytes: its Cell stays, and a Value in it becomes a flat one that is cut or followed by
/// zeros.
void resize(c10::StorageImpl& storage, int64_t bytes);

}  // namespace tpu::device
