// Hooks: what torch asks an accelerator about, and the registration of everything in this folder.
#pragma once

namespace tpu::device {

/// Registers hooks, guard, both allocators and the profiler for PrivateUse1. Once per process; throws
/// Error(Unavailable) when another backend took the place already.
void register_with_torch();

}  // namespace tpu::device
