// All live Values of a device, for synchronize, events and reports, and Cells by address. See Note [Slabs].
#pragma once

#include <vector>

#include "engine/device.h"
#include "engine/value.h"

namespace tpu::engine {

/// Every Value that exists now, held. O(Values ever alive at once); not for the fast path. Holding them vetoes donation
/// meanwhile.
std::vector<ValueRef> live_values(Device& device);
/// The Cell that was given this address, or null. O(Cells): for storages that torch made around an address of ours
/// (pickling does). The caller knows that the storage lives.
Cell* find_cell(uintptr_t address);
/// The ready events of all Values that are still being computed, also of those that were dropped meanwhile: together,
/// "everything dispatched so far".
std::vector<SharedEvent> in_flight(Device& device);

}  // namespace tpu::engine
