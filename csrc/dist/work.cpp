#include "dist/work.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include <utility>

#include "aten/host.h"
#include "aten/tensor.h"
#include "base/error.h"
#include "device/errors.h"
#include "engine/runtime.h"

namespace tpu::dist {

namespace {

using Future = c10::ivalue::Future;

std::vector<c10::Device> devices_of(const std::vector<at::Tensor>& tensors) {
  std::vector<c10::Device> devices;
  for (const at::Tensor& tensor : tensors) devices.push_back(tensor.device());
  return devices;  // the Future removes duplicates
}

// The new elements become the target's, as in any other write that autograd does not see.
void bind(const Output& output) {
  c10::InferenceMode inference(output.target.is_inference());  // the only mode in which such a tensor may be written
  at::NoGradGuard no_grad;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  device::translated([&] {
    engine::Device& device = aten::cell_of(output.target).device();
    output.target.copy_(aten::from_host_tensor(device, output.host));
  });
}

}  // namespace

Work::Work(int rank, c10d::OpType type, std::string text, std::vector<Output> outputs, std::vector<at::Tensor> results)
    : c10d::Work(rank, type, concat("tpu_dist:", text).c_str()),
      text_(std::move(text)),
      results_(std::move(results)),
      future_(c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()), devices_of(results_))),
      outputs_(std::move(outputs)) {}

void Work::succeed(int source_rank) {
  source_rank_ = source_rank;
  try {
    std::lock_guard lock(bind_mutex_);
    bind_wholes();
    has_ended_ = true;
    if (future_is_taken_) bind_parts();
  } catch (const std::exception& error) { return fail(error); }
  finish();
  future_->markCompleted(c10::IValue(results_));
}

void Work::fail(const std::exception& error) {
  std::string message = concat("tpu_dist: ", text_, " failed on rank ", rank_, ": ");
  const auto* ours = dynamic_cast<const c10::Error*>(&error);
  message += ours != nullptr ? ours->what_without_backtrace() : error.what();
  auto exception = std::make_exception_ptr(c10::DistBackendError({__func__, __FILE__, __LINE__}, message));
  finish(exception);
  future_->setError(exception);
}

bool Work::isCompleted() {
  if (!c10d::Work::isCompleted()) return false;
  synchronize();
  return true;
}

bool Work::wait(std::chrono::milliseconds timeout) {
  engine::Blocking blocking;
  std::unique_lock lock(mutex_);
  auto is_completed = [this] { return completed_; };
  if (timeout == kNoTimeout) {
    cv_.wait(lock, is_completed);
  } else if (!cv_.wait_for(lock, timeout, is_completed)) {
    C10_THROW_ERROR(DistBackendError, concat("tpu_dist: ", text_, " on rank ", rank_, " timed out: not finished after ",
                                             timeout.count(), " ms"));
  }
  if (exception_) std::rethrow_exception(exception_);
  lock.unlock();
  synchronize();
  return true;
}

void Work::synchronize() {
  std::lock_guard lock(bind_mutex_);
  if (has_ended_) bind_parts();
}

c10::intrusive_ptr<Future> Work::getFuture() {
  std::lock_guard lock(bind_mutex_);
  future_is_taken_ = true;
  if (has_ended_) bind_parts();
  return future_;
}

// See Note [Binding].
void Work::bind_wholes() {
  std::vector<Output> parts;
  for (Output& output : outputs_) {
    if (aten::storage_order(output.target)) {
      bind(output);
    } else {
      parts.push_back(std::move(output));
    }
  }
  outputs_ = std::move(parts);
}

void Work::bind_parts() {
  for (const Output& output : std::exchange(outputs_, {})) bind(output);
}

CoalescedWork::CoalescedWork(int rank, std::vector<c10::intrusive_ptr<c10d::Work>> works)
    : c10d::Work(rank, c10d::OpType::COALESCED), works_(std::move(works)) {}

bool CoalescedWork::isCompleted() {
  bool all = true;
  for (const auto& work : works_) all = work->isCompleted() && all;
  return all;
}

bool CoalescedWork::isSuccess() const { return exception() == nullptr; }

std::exception_ptr CoalescedWork::exception() const {
  for (const auto& work : works_) {
    if (std::exception_ptr found = work->exception()) return found;
  }
  return nullptr;
}

bool CoalescedWork::wait(std::chrono::milliseconds timeout) {
  for (const auto& work : works_) work->wait(timeout);
  return true;
}

void CoalescedWork::synchronize() {
  for (const auto& work : works_) work->synchronize();
}

std::vector<at::Tensor> CoalescedWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& work : works_) {
    for (at::Tensor& tensor : work->result()) all.push_back(std::move(tensor));
  }
  return all;
}

c10::intrusive_ptr<Future> CoalescedWork::getFuture() {
  c10::List<c10::intrusive_ptr<Future>> futures(c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
  for (const auto& work : works_) futures.push_back(work->getFuture());
  auto tensors = [this_result = result()](Future& all) -> c10::IValue {
    all.waitAndThrow();
    return this_result;
  };
  return c10::collectAll(futures)->then(tensors, c10::ListType::create(c10::TensorType::get()));
}

}  // namespace tpu::dist
