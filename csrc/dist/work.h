// Work: a collective on its way, as torch sees it: something to wait for, ask, or take a Future from.
//
// Note [Binding]. A collective works on CPU memory of its own; when it has succeeded, that memory becomes the new Value
// of each output's Cell. An output that covers its storage is bound by the thread that ran the collective, so that
// nobody needs to ask. An output that is a part of a storage makes a new Value out of the old one and the part, and two
// threads that do this to one storage at once would lose one of the parts; the user's thread may well be writing the
// other parts meanwhile. Such an output is therefore bound on the thread that waits or asks. Who takes the Future
// instead has asked: everything is bound before it is marked.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace tpu::dist {

/// What a collective writes: a tensor on `tpu`, and CPU memory that will have its new elements.
struct Output {
  at::Tensor target;
  at::Tensor host;
};

class Work final : public c10d::Work {
 public:
  /// `text` says in errors what it was; `results` are the tensors that the Future and result() give.
  Work(int rank, c10d::OpType type, std::string text, std::vector<Output> outputs, std::vector<at::Tensor> results);

  /// The end, exactly one of them, from the thread that ran it.
  void succeed(int source_rank = -1);
  void fail(const std::exception& error);

  bool isCompleted() override;
  /// Waits, with the GIL released; throws the error of the collective, and DistBackendError after `timeout` (0: none).
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override;
  int sourceRank() const override { return source_rank_; }
  std::vector<at::Tensor> result() override { return results_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  void bind_wholes();
  void bind_parts();

  const std::string text_;
  const std::vector<at::Tensor> results_;
  int source_rank_ = -1;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::mutex bind_mutex_;
  std::vector<Output> outputs_;  // not bound yet
  bool has_ended_ = false;       // well; the outputs that are left may be bound
  bool future_is_taken_ = false;
};

/// Several at once, for endCoalescing.
class CoalescedWork final : public c10d::Work {
 public:
  CoalescedWork(int rank, std::vector<c10::intrusive_ptr<c10d::Work>> works);

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override;
  std::vector<at::Tensor> result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  const std::vector<c10::intrusive_ptr<c10d::Work>> works_;
};

}  // namespace tpu::dist
