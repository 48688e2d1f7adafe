// Guard: the current device and the current streams of each thread, events, and waiting.
//
// Note [Streams and events]. A computation starts when its inputs are ready, whatever stream it was dispatched from;
// there is nothing that a stream could order beyond that. A stream is therefore a number which torch carries around. An
// event is "everything dispatched to the device so far is ready": record keeps the completion events of the Values that
// are not ready yet (and of those that were dropped before they were), query and synchronize ask them. Making a stream
// wait for an event (block) has nothing to do: whatever the stream runs next waits for exactly the data it reads. The
// same holds for memory, which nobody can reuse while a Value holds it.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "engine/device.h"

namespace tpu::device {

/// Ordinal of the calling thread's current device. Does not start the runtime.
int current_device();
/// Makes `device` current and gives the one that was; throws Error(InvalidArgument) when there is no such device.
int exchange_device(int device);

/// Whether torch has made a thread for a device, as autograd does at the first backward pass.
bool other_threads_came();

/// The device that torch's `device` names (no index: the current one), with the runtime started. Throws
/// Error(InvalidArgument) when it does not exist, Error(Unavailable) when the runtime cannot be used.
engine::Device& resolve(c10::Device device);

/// Waits for everything dispatched to the device, with the GIL released.
void synchronize(int device);

/// The one guard, for c10's registry.
const c10::impl::DeviceGuardImplInterface& guard();

}  // namespace tpu::device
