// Profiler: what the engine did, as events of torch.profiler.
#pragma once

namespace tpu::device {

/// Makes ProfilerActivity.PrivateUse1 (shown as `TPU`) known to torch. Costs nothing until a profile runs.
void register_profiler();

}  // namespace tpu::device
