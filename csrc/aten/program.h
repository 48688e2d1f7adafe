// Program: a graph of torch.compile as executables, one per way its inputs lie in memory. See Note [Tracing] in
// engine/recorder.h.
//
// The caller traces the graph once per layout: it runs the graph's ops on the stand-ins of `begin` and gives the
// results to `finish`. From then on `run` executes. Inputs that share a storage stay aliases, inputs that the graph
// writes are rebound (and donated), and results that share a storage, with each other or with an input, do so
// afterwards.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "aten/tensor.h"
#include "engine/recorder.h"

namespace tpu::aten {

class Program {
 public:
  using Tensors = std::vector<at::Tensor>;  // an undefined one stands for what is no tensor

  explicit Program(engine::Device& device);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Which of the programs serves these inputs (tensors on the device), or null: trace it first. `salt` is what else
  /// the trace depended on.
  struct Layout;
  Layout* find(const Tensors& inputs, uint64_t salt);

  /// Begins a trace on this thread: tensors that stand for the inputs. Ends with finish() or abandon().
  Tensors begin(const Tensors& inputs, uint64_t salt);
  /// Whether the trace asked for the elements of a tensor, which ended it with an error.
  bool was_read() const { return trace_ != nullptr && trace_->recorder.was_read(); }
  /// Compiles what was traced: `outputs` are the results of the graph.
  Layout* finish(const Tensors& outputs);
  void abandon();

  /// Executes. The results own new storages or lie over those of the inputs.
  Tensors run(Layout& layout, const Tensors& inputs);

  size_t layout_count() const { return layouts_.size(); }

 private:
  struct Trace {
    explicit Trace(engine::Device& device) : recorder(device, /*is_trace=*/true), tracing(recorder) {}
    engine::Recorder recorder;
    engine::Tracing tracing;
    Hash128 key;
    std::vector<at::Storage> storages;                     // stand-ins of the inputs' storages
    std::vector<engine::ValueRef> placeholders;            // what they held; empty where unset
    std::unordered_map<const engine::Value*, int> inputs;  // placeholder -> storage number
  };

  engine::Device& device_;
  std::unordered_map<Hash128, std::unique_ptr<Layout>> layouts_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace tpu::aten
