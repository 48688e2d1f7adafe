// All live Values of a device, for synchronize, events and reports.
#pragma once

#include <vector>

#include "engine/value.h"
#include "pjrt/event.h"

namespace tpu::engine {

/// Every Value that exists now, held. O(Values ever alive at once); not for the fast path. Holding them vetoes donation meanwhile.
std::vector<ValueRef> live_values(Device& device);
/// The ready events of all live Values that are still being computed: together, "everything dispatched so far".
std::vector<pjrt::Event> in_flight(Device& device);

}  // namespace tpu::engine
