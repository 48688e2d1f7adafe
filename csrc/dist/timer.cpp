// Timer: when forward, backward and communication of a DistributedDataParallel step began and ended, for the figures
// that DDP logs (`_get_ddp_logging_data`). Without one registered for the device it warns in the first step.
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

namespace tpu::dist {

namespace {

// Taken on the host, where DDP does its work: backward and communication are dispatched there, and the inputs of a
// collective are waited for.
class Timer final : public c10d::Timer {
 public:
  explicit Timer(c10::Device) {}

  std::optional<int64_t> measureDifference(Event start, Event end) override {
    std::optional<int64_t> from = getTimestamp(start), to = getTimestamp(end);
    if (!from || !to || *to < *from) return std::nullopt;
    return *to - *from;
  }
};

}  // namespace

}  // namespace tpu::dist

namespace c10d {

namespace {
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kPrivateUse1, tpu::dist::Timer);
}  // namespace

}  // namespace c10d
