// Transfers: host memory to Values and back, and the few things that change a Cell without a program.
#pragma once

#include <functional>

#include "engine/value.h"

namespace tpu::engine {

/// A Value with a copy of dense row-major host memory; the memory is free again on return.
ValueRef from_host(Device& device, const void* data, const Type& type);
/// A Value on the memory itself where the plugin can (CPU, 64-byte aligned), else a copy. The memory must not change;
/// `release` is called once when it is no longer needed, perhaps on another thread.
ValueRef wrap_host(Device& device, const void* data, const Type& type, std::function<void()> release);
/// As wrap_host, for memory that belongs to the Value alone from now on: a donation may write into it.
ValueRef adopt_host(Device& device, void* data, const Type& type, std::function<void()> release);
/// Waits and copies all elements, row-major.
void to_host(const Value& value, void* data);
ValueRef zeros(Device& device, const Type& type);
/// A copy on another device.
ValueRef to_device(const Value& value, Device& device);

/// The Value of the Cell; an unset Cell first becomes zeros of `unset`.
ValueRef load_or_zeros(Cell& cell, const Type& unset);
/// Changes the size: the Value becomes a flat one, cut, or followed by zeros.
void resize(Cell& cell, int64_t bytes);
/// The Cell's Value as one of another type with the same bytes, without a copy on a CPU plugin: how a loaded
/// checkpoint, whose storages arrive as bytes, gets its type once.
ValueRef retype(Cell& cell, const Value& value, const Type& type);

}  // namespace tpu::engine
