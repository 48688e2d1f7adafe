// Kernel: the boxed kernel of one row. A call on `tpu` tensors goes in on torch's stack; its results come out, computed
// or being computed.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "aten/recording.h"

namespace tpu::aten {

class Kernel final : public c10::OperatorKernel {
 public:
  explicit Kernel(const ops::Row& row) : row_(row) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack);

  /// `op` is the same in all calls.
  const Signature& signature(const c10::OperatorHandle& op) {
    const Signature* known = known_.load(std::memory_order_acquire);
    return known != nullptr ? *known : make_signature(op);
  }
  /// Before the walk over a call's arguments.
  void prepare() const;
  /// The end of a call with one result of which `recording` has walked over all arguments, when its plan is known: it
  /// is in its target then, or in `fresh`. False, and nothing was done, when the call has to be made in full.
  bool run_known(Recording& recording, at::Tensor& fresh) const;

 private:
  const Signature& make_signature(const c10::OperatorHandle& op);
  void call(const c10::OperatorHandle& op, c10::Stack* stack);
  void call_without_lowering(const c10::OperatorHandle& op, c10::Stack* stack, const engine::Device& device);

  const ops::Row& row_;
  std::once_flag once_;
  std::unique_ptr<Signature> signature_;
  std::atomic<const Signature*> known_{nullptr};  // call_once alone costs as much as a hash
};

/// While one lives, kernels of this thread with an `out=` tensor give it back as it came: what torch does around them,
/// its checks and allocations, is all that is wanted.
class StandStill {
 public:
  StandStill();
  ~StandStill();
  StandStill(const StandStill&) = delete;
  StandStill& operator=(const StandStill&) = delete;
};

/// A row called by our own kernels, around the dispatcher. Rows that are only called so are listed in register.cpp.
class RowCall {
 public:
  /// `name` is the overload, "arange.start_out".
  explicit RowCall(const char* name) : RowCall(*ops::find_row(name)) {}
  /// `row` must outlive it.
  explicit RowCall(const ops::Row& row);
  RowCall(const ops::Row& row, const c10::OperatorHandle& op) : kernel_(row), op_(op) {}
  /// The arguments go in, the results come out.
  void run(c10::Stack& stack) { kernel_(op_, {}, &stack); }
  void run(c10::Stack&& stack) { run(stack); }

 private:
  Kernel kernel_;
  c10::OperatorHandle op_;
};

/// Writes `source` into `target`, both on the same `tpu` device: casts, broadcasts, and writes through target's view.
void copy_on_device(const at::Tensor& target, const at::Tensor& source);

}  // namespace tpu::aten
