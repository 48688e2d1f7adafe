// Recording: one walk over the arguments of a call. It always gives the key and the run-time arguments; on a miss a
// second walk with the same code also writes the graph, so that the two can never disagree about what is structure.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "aten/signature.h"
#include "aten/tensor.h"
#include "engine/run.h"
#include "graph/graph.h"

namespace tpu::aten {

class Recording {
 public:
  /// `graph` null: key only. The row and the signature must outlive it.
  Recording(const ops::Row& row, const Signature& signature, graph::Graph* graph);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // One call per slot, in order.
  void tensor(const Slot& slot, const at::Tensor& tensor);
  void tensors(const Slot& slot, c10::ArrayRef<c10::IValue> list);
  void number(const Slot& slot, const c10::IValue& value);  // None included
  void number(const Slot& slot, const at::Scalar& value);
  void param(const Slot& slot, const c10::IValue& value);
  /// After all slots: where the results go. `arguments` are those of the slots.
  void results(c10::ArrayRef<c10::IValue> arguments);
  /// The same where there is one: it goes into `target`, or into a new tensor without one.
  void result(const at::Tensor* target);

  /// The device of the operands; null while none was seen.
  engine::Device* device() const { return device_; }
  void set_device(engine::Device& device) { device_ = &device; }
  Hash128 key() const;
  engine::Arguments arguments() const;
  /// The tensors that receive results, in the order of the writes of the node; undefined for new ones.
  const InlineVector<const at::Tensor*, 8>& targets() const { return targets_; }
  /// How an `out=` tensor that takes the shape `dims` from the call lies in memory: dimensions from the outermost,
  /// empty for row-major.
  Dims order_of(const Dims& dims) const;

 private:
  void use_device(const Slot& slot, const at::Tensor& tensor);
  int add_input(engine::ValueRef value);
  int add_operand(const at::Tensor& tensor, ops::Category category);
  void add_scalar(const Slot& slot, const ops::Scalar& scalar, ElementType element, ops::Category category);
  int add_starts(const graph::ViewPlan& plan);
  void add_argument(const Slot& slot, ops::Argument::Kind kind, int index);
  void add_target(const Result& result, const at::Tensor& tensor);
  void add_write(graph::Write write, std::optional<Type> target, std::optional<ElementType> element);
  void add_fresh(c10::ArrayRef<c10::IValue> arguments);
  /// The order that TensorIterator finds for the operands.
  Dims pointwise_order() const;
  Dims image_order() const;
  /// The order in which torch's transforms lay out their result: what is not transformed by descending stride, then
  /// what is.
  Dims transform_order(c10::ArrayRef<c10::IValue> arguments) const;
  Dims matrix_order() const;
  Dims fresh_order() const;

  const ops::Row& row_;
  const Signature& signature_;
  graph::Graph* graph_;
  graph::Node* node_ = nullptr;
  Hasher hasher_;
  engine::Device* device_ = nullptr;
  InlineVector<engine::Value*, 16> inputs_;  // each holds one reference
  InlineVector<engine::Cell*, 16> donors_;   // per input
  InlineVector<int64_t, 16> starts_;
  InlineVector<ops::Scalar, 8> scalars_;
  InlineVector<const at::Tensor*, 8> targets_;
  InlineVector<const at::Tensor*, 16> operands_;  // tensors that were read, for pointwise_order
};

}  // namespace tpu::aten
