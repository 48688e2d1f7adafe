// Backend: the collectives of one process group for tensors on `tpu`, over host memory by torch's own Gloo.
//
// Inputs are waited for and lent read-only during the call; results come into fresh memory, which becomes the outputs'
// new Values when the collective has succeeded (Note [Binding] in dist/work.h). Collectives run one after another on a
// queue, so that all ranks run them in one order, and each begins with an agreement (dist/agreement.h). A message from
// one rank to another goes in the queue of its channel, (peer, tag, direction): messages on one channel keep their
// order, and no channel waits for another.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "dist/queue.h"
#include "dist/reduction.h"
#include "dist/work.h"

namespace tpu::dist {

inline constexpr const char* kBackendName = "tpu_dist";

/// Makes torch's Gloo backend. The python layer installs it: torch ships the class, but not the headers that its header
/// needs.
using GlooFactory = c10::intrusive_ptr<c10d::Backend> (*)(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                          int size, std::chrono::milliseconds timeout);
void set_gloo_factory(GlooFactory factory);

class Backend final : public c10d::Backend {
 public:
  struct Options final : c10d::Backend::Options {
    explicit Options(std::chrono::milliseconds timeout) : c10d::Backend::Options(kBackendName, timeout) {}
  };
  using Tensors = std::vector<at::Tensor>;
  using WorkRef = c10::intrusive_ptr<c10d::Work>;

  Backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout);

  const std::string getBackendName() const override { return kBackendName; }
  c10::intrusive_ptr<c10d::Backend::Options> getBackendOptions() override { return options_; }
  void setTimeout(std::chrono::milliseconds timeout) override;
  bool supportsSplitting() const override { return true; }
  /// The part of this group that `ranks` are, null on the other ranks.
  c10::intrusive_ptr<c10d::Backend> split(const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
                                          const c10::intrusive_ptr<c10d::Backend::Options>& options) override;
  void startCoalescing() override;
  WorkRef endCoalescing() override;
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return sequence_; }

  WorkRef broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkRef allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkRef allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  WorkRef reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkRef allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkRef allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) override;
  WorkRef _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  WorkRef allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override;
  WorkRef gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  WorkRef scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& options) override;
  WorkRef reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const c10d::ReduceScatterOptions& options) override;
  WorkRef _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkRef reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override;
  WorkRef alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) override;
  WorkRef alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;
  WorkRef barrier(const c10d::BarrierOptions& options) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_for_all_ranks) override;

  WorkRef send(Tensors& tensors, int to, int tag) override;
  WorkRef recv(Tensors& tensors, int from, int tag) override;
  WorkRef recvAnysource(Tensors& tensors, int tag) override;

 private:
  // One collective.
  struct Collective {
    c10d::OpType type;
    std::string note;  // what all ranks must agree on, and what errors call it
    std::chrono::milliseconds timeout;
    std::function<void()> exchange;    // moves the data, on the queue
    std::vector<Output> outputs = {};  // what is written
    Tensors results = {};              // what the Future gives
  };
  WorkRef submit(Collective collective);
  WorkRef remembered(WorkRef work);
  WorkRef allreduce_each(const char* name, c10d::OpType type, const Tensors& tensors,
                         const c10d::AllreduceOptions& options);
  WorkRef allgather_each(const char* name, c10d::OpType type, const Tensors& outputs, const Tensors& inputs,
                         const c10d::AllgatherOptions& options);
  WorkRef reduce_scatter_each(const char* name, c10d::OpType type, const Tensors& outputs, const Tensors& inputs,
                              const c10d::ReduceScatterOptions& options);
  WorkRef receive(Tensors& tensors, std::optional<int> from, int tag);
  Queue& channel(int peer, int tag, bool sends);
  std::chrono::milliseconds timeout_of(std::chrono::milliseconds wanted) const;
  void check_rank(const char* call, int64_t rank) const;

  const c10::intrusive_ptr<c10d::Backend> gloo_;
  const c10::intrusive_ptr<Options> options_;
  std::atomic<uint64_t> sequence_{0};  // collectives so far; autograd calls from threads of its own
  std::optional<std::vector<WorkRef>> coalescing_;
  std::mutex channels_mutex_;
  std::map<std::tuple<int, int, bool>, Queue> channels_;
  Queue collectives_;  // last: its jobs use everything above
};

}  // namespace tpu::dist
