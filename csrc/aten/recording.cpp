#include "aten/recording.h"

#include <algorithm>
#include <utility>

#include "aten/types.h"
#include "engine/runtime.h"
#include "engine/transfer.h"
#include "ops/name.h"

namespace tpu::aten {

namespace {

// Tags keep ingredients of different kinds apart in the key.
enum Tag : uint64_t {
  kNone = 1,
  kWhole,
  kView,
  kUnset,
  kScalar,
  kSpecial,
  kParam,
  kList,
  kFresh,
  kReplace,
  kUpdate,
  kDrop,
  kStrided
};

Dims list_param(const c10::IValue& value) {
  Dims dims;
  for (const c10::IValue& item : value.toListRef()) {
    if (item.isBool())
      dims.push_back(item.toBool());
    else if (item.isInt())
      dims.push_back(item.toInt());
    else
      dims.push_back(item.toSymInt().guard_int(__FILE__, __LINE__));
  }
  return dims;
}

Param param_of(const Slot& slot, const c10::IValue& value) {
  if (value.isNone()) return {};
  if (value.isBool()) return value.toBool();
  if (slot.is_dtype) return element_of(static_cast<c10::ScalarType>(value.toInt()));
  if (value.isInt()) return value.toInt();
  if (value.isSymInt()) return value.toSymInt().guard_int(__FILE__, __LINE__);
  if (value.isDouble()) return value.toDouble();
  if (value.isString()) return value.toStringRef();
  if (value.isList()) {
    auto list = value.toListRef();
    if (!list.empty() && list[0].isDouble()) {
      std::vector<double> numbers;
      for (const c10::IValue& item : list) numbers.push_back(item.toDouble());
      return numbers;
    }
    return list_param(value);
  }
  fail(ErrorCode::NotImplemented, "argument '", slot.name, "' of kind ", value.tagKind(),
       " is not supported on device tpu");
}

ops::Scalar scalar_of(const at::Scalar& value) {
  if (value.isFloatingPoint()) return ops::Scalar::of(value.toDouble());
  if (value.isBoolean()) return ops::Scalar::of(value.toBool());
  if (value.isComplex()) return ops::Scalar::of(value.toComplexDouble().real(), value.toComplexDouble().imag());
  if (value.type() == at::kUInt64) return ops::Scalar::of(value.toUInt64());
  return ops::Scalar::of(value.toLong());
}

ElementType natural_type(const ops::Scalar& scalar) {
  ElementType floating = engine::Runtime::get().configuration().settings.default_float;
  switch (scalar.kind) {
    case ops::Scalar::Kind::Bool: return ElementType::Pred;
    case ops::Scalar::Kind::Int: return ElementType::S64;
    case ops::Scalar::Kind::Unsigned: return ElementType::U64;
    case ops::Scalar::Kind::Double: return floating;
    case ops::Scalar::Kind::Complex: return complex_of(floating);
  }
  return floating;
}

// The one element of a 0-d CPU tensor. The common ones, Python's numbers, without a call of torch.
ops::Scalar scalar_of(const at::Tensor& tensor) {
  if (!tensor.is_neg() && tensor.scalar_type() == at::kDouble) return ops::Scalar::of(*tensor.const_data_ptr<double>());
  if (tensor.scalar_type() == at::kLong) return ops::Scalar::of(*tensor.const_data_ptr<int64_t>());
  return scalar_of(tensor.item());
}

bool same_shape_whole(const engine::Value& value, const at::Tensor& tensor, ElementType element) {
  if (value.type().element != element || tensor.storage_offset() != 0 || !tensor.is_contiguous()) return false;
  c10::IntArrayRef sizes = tensor.sizes();
  const Dims& dims = value.type().dims;
  return sizes.size() == dims.size() && std::equal(dims.begin(), dims.end(), sizes.begin());
}

// The Value under `tensor`, of the tensor's element type where the whole storage is read as another one: see
// engine::retype.
engine::ValueRef value_under(const at::Tensor& tensor, ElementType element) {
  engine::Cell& cell = cell_of(tensor);
  engine::ValueRef value = cell.load();
  if (!value || value->type().element == element) return value;
  int64_t bytes = tensor.numel() * static_cast<int64_t>(tensor.itemsize());
  // Only bytes that arrived untyped: a tensor that a program reads under two types is bitcast there. Bools are read in
  // the program, which makes a 1 of every other byte.
  if (bytes == 0 || element == ElementType::Pred || bytes != value->type().bytes() ||
      value->type().element != ElementType::U8)
    return value;
  if (value->is_pending()) value->recorder()->wait_for_launch();
  if (value->is_failed() || value->is_pending()) return value;
  Type type{element, tensor.is_contiguous() ? dims_of(tensor.sizes()) : Dims{tensor.numel()}};
  return engine::retype(cell, *value, type);
}

Type flat_type(const at::Tensor& tensor, ElementType element) {
  return {element, {static_cast<int64_t>(tensor.storage().nbytes() / size_of(element))}};
}

}  // namespace

Recording::Recording(const ops::Row& row, const Signature& signature, graph::Graph* graph)
    : row_(row), signature_(signature), graph_(graph) {
  if (graph_ != nullptr) {
    graph_->nodes.emplace_back();
    node_ = &graph_->nodes.back();
    node_->call.row = &row;
  }
  hasher_.add(row.name_hash);
}

Recording::~Recording() {
  for (engine::Value* value : inputs_) value->release();
}

Hash128 Recording::key() const {
  Hasher hasher = hasher_;
  hasher.add(engine::Runtime::get().configuration().hash);
  return hasher.finish();
}

engine::Arguments Recording::arguments() const {
  engine::Arguments arguments;
  arguments.inputs = {inputs_.data(), inputs_.size()};
  arguments.donors = {donors_.data(), donors_.size()};
  arguments.starts = {starts_.data(), starts_.size()};
  arguments.scalars = {scalars_.data(), scalars_.size()};
  return arguments;
}

void Recording::use_device(const Slot& slot, const at::Tensor& tensor) {
  if (!is_tpu(tensor)) [[unlikely]]  // not check(), which would make the strings for every operand
    fail(ErrorCode::InvalidArgument, ops::full_name(row_.name),
         ": Expected all tensors to be on the same device, but found at least two devices, ",
         device_ != nullptr ? concat("tpu:", device_->ordinal()) : std::string("tpu"), " and ", tensor.device().str(),
         "! (argument '", slot.name, "')");
  engine::Device& device = cell_of(tensor).device();
  if (device_ == nullptr) device_ = &device;
  if (device_ != &device) [[unlikely]]
    fail(ErrorCode::InvalidArgument, ops::full_name(row_.name),
         ": Expected all tensors to be on the same device, but found at least two devices, tpu:", device_->ordinal(),
         " and tpu:", device.ordinal(), "! (argument '", slot.name, "')");
}

int Recording::add_input(engine::ValueRef value) {
  // A recent input may be the same Value; an older one is found only as a copy of the argument, which costs nothing but
  // its slot.
  for (size_t i = inputs_.size(), seen = 0; i-- > 0 && seen < 16; ++seen)
    if (inputs_[i] == value.get()) return static_cast<int>(i);
  if (graph_ != nullptr) graph_->inputs.push_back(value->type());
  inputs_.push_back(value.detach());
  donors_.push_back(nullptr);
  return static_cast<int>(inputs_.size()) - 1;
}

int Recording::add_starts(const graph::ViewPlan& plan) {
  int first = static_cast<int>(starts_.size());
  if (!plan.is_static)
    for (int64_t start : plan.starts) starts_.push_back(start);
  if (graph_ != nullptr) graph_->start_count = static_cast<int>(starts_.size());
  return first;
}

void Recording::add_argument(const Slot& slot, ops::Argument::Kind kind, int index) {
  if (node_ == nullptr) return;
  ops::Argument argument;
  argument.name = slot.name;
  argument.kind = kind;
  argument.index = index;
  node_->call.arguments.push_back(std::move(argument));
}

int Recording::add_operand(const at::Tensor& tensor, ops::Category category) {
  ElementType element = element_of(tensor.scalar_type());
  engine::ValueRef value = value_under(tensor, element);
  uint64_t facts = static_cast<uint64_t>(element) << 8 | static_cast<uint64_t>(category) << 16 |
                   static_cast<uint64_t>(tensor.is_conj()) << 20 | static_cast<uint64_t>(tensor.is_neg()) << 21;
  std::optional<graph::Read> read;  // made on a hit only where a view has to be planned
  int base = -1;
  if (value && same_shape_whole(*value, tensor, element)) {
    if (node_ != nullptr) read.emplace().plan = graph::plan_view(value->type(), view_of(tensor));
    base = add_input(std::move(value));
    hasher_.add(kWhole | facts | static_cast<uint64_t>(tensor.dim()) << 24 | static_cast<uint64_t>(base) << 32);
    for (int64_t size : tensor.sizes()) hasher_.add(size);
  } else {
    graph::View view = view_of(tensor);
    // An unset storage reads as zeros, which the program makes itself.
    read.emplace().plan = graph::plan_view(value ? value->type() : flat_type(tensor, element), view);
    hasher_.add((value ? kView : kUnset) | facts);
    graph::add_to(hasher_, read->plan);
    base = value ? add_input(std::move(value)) : -1;
    hasher_.add(base);
    read->first_start = add_starts(read->plan);
  }
  bool is_contiguous = !row_.reads_layout || tensor.is_contiguous();
  if (!is_contiguous) hasher_.add(kStrided);
  operands_.push_back(&tensor);
  if (node_ == nullptr) return 0;
  read->base = base;
  read->conjugates = tensor.is_conj();
  read->negates = tensor.is_neg();
  node_->reads.push_back(std::move(*read));
  node_->call.operands.push_back({{element, dims_of(tensor.sizes())}, category, is_contiguous});
  return static_cast<int>(node_->call.operands.size()) - 1;
}

void Recording::add_scalar(const Slot& slot, const ops::Scalar& scalar, ElementType element, ops::Category category) {
  bool is_structure = slot.is_constant;
  bool is_complex = scalar.kind == ops::Scalar::Kind::Complex;
  if (!is_complex)
    for (double special : slot.specials) is_structure |= scalar.value() == special;
  hasher_.add((is_structure ? kSpecial : kScalar) | static_cast<uint64_t>(scalar.kind) << 8 |
              static_cast<uint64_t>(element) << 16 | static_cast<uint64_t>(category) << 24);
  if (is_structure) {
    bool is_real = is_complex || scalar.kind == ops::Scalar::Kind::Double;
    is_real ? hasher_.add(scalar.real) : hasher_.add(scalar.integer);
    if (is_complex) hasher_.add(scalar.imag);
  }
  auto index = static_cast<int>(scalars_.size());
  scalars_.push_back(scalar);
  if (node_ == nullptr) return;
  node_->call.scalars.push_back(scalar);
  node_->call.structural.push_back(is_structure);
  node_->call.scalar_exact.push_back(slot.is_exact);
  node_->call.scalar_elements.push_back(element);
  node_->call.scalar_categories.push_back(category);
  add_argument(slot, ops::Argument::Kind::Scalar, index);
}

void Recording::tensor(const Slot& slot, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    hasher_.add(kNone);
    return add_argument(slot, ops::Argument::Kind::None, 0);
  }
  if (!is_tpu(tensor) && tensor.is_cpu() && tensor.dim() == 0 && slot.is_read && !slot.is_written) {
    bool is_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    return add_scalar(slot, scalar_of(tensor), element_of(tensor.scalar_type()),
                      is_number ? ops::Category::Number : ops::Category::ZeroDim);
  }
  use_device(slot, tensor);
  if (!slot.is_read) return add_argument(slot, ops::Argument::Kind::None, 0);
  bool is_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  ops::Category category = tensor.dim() > 0 ? ops::Category::Dimensioned
                           : is_number      ? ops::Category::Number
                                            : ops::Category::ZeroDim;
  add_argument(slot, ops::Argument::Kind::Tensor, add_operand(tensor, category));
}

void Recording::tensors(const Slot& slot, c10::ArrayRef<c10::IValue> list) {
  hasher_.add(kList | static_cast<uint64_t>(list.size()) << 8);
  std::vector<int> indices;
  for (const c10::IValue& item : list) {
    bool is_none = item.isNone() || !item.toTensor().defined();
    if (is_none) {
      hasher_.add(kNone);
      if (node_ != nullptr) indices.push_back(-1);
      continue;
    }
    const at::Tensor& tensor = item.toTensor();
    use_device(slot, tensor);
    if (!slot.is_read) continue;
    int index = add_operand(tensor, tensor.dim() > 0 ? ops::Category::Dimensioned : ops::Category::ZeroDim);
    if (node_ != nullptr) indices.push_back(index);
  }
  add_argument(slot, ops::Argument::Kind::Tensors, 0);
  if (node_ != nullptr) node_->call.arguments.back().indices = std::move(indices);
}

void Recording::number(const Slot& slot, const c10::IValue& value) {
  if (value.isNone()) {
    hasher_.add(kNone);
    return add_argument(slot, ops::Argument::Kind::None, 0);
  }
  number(slot, value.toScalar());
}

void Recording::number(const Slot& slot, const at::Scalar& value) {
  ops::Scalar scalar = scalar_of(value);
  add_scalar(slot, scalar, natural_type(scalar), ops::Category::Number);
}

void Recording::param(const Slot& slot, const c10::IValue& value) {
  // The common kinds are hashed without making a Param.
  if (value.isNone()) {
    hasher_.add(kNone);
  } else if (value.isBool()) {
    hasher_.add(kParam | 1 << 8 | static_cast<uint64_t>(value.toBool()) << 16);
  } else if (value.isInt()) {
    hasher_.add(kParam | 2 << 8);
    hasher_.add(value.toInt());
  } else {
    hasher_.add(kParam | 3 << 8);
    add_to(hasher_, param_of(slot, value));
  }
  if (node_ == nullptr) return;
  if (value.isNone()) return add_argument(slot, ops::Argument::Kind::None, 0);
  node_->call.params.push_back(param_of(slot, value));
  add_argument(slot, ops::Argument::Kind::Param, static_cast<int>(node_->call.params.size()) - 1);
}

void Recording::add_write(graph::Write write, std::optional<Type> target, std::optional<ElementType> element) {
  node_->writes.push_back(std::move(write));
  node_->call.targets.push_back(std::move(target));
  node_->call.target_elements.push_back(element);
}

void Recording::add_target(const Result& result, const at::Tensor& tensor) {
  targets_.push_back(&tensor);
  if (!tensor.defined()) {
    hasher_.add(kDrop);
    if (node_ == nullptr) return;
    graph::Write write;
    write.kind = graph::Write::Kind::Drop;
    return add_write(std::move(write), std::nullopt, std::nullopt);
  }
  ElementType element = element_of(tensor.scalar_type());
  engine::Cell& cell = cell_of(tensor);
  engine::ValueRef old = cell.load();
  int at = -1;
  for (size_t i = 0; i < inputs_.size() && old; ++i)
    if (inputs_[i] == old.get()) at = static_cast<int>(i);
  uint64_t facts = static_cast<uint64_t>(element) << 8 | static_cast<uint64_t>(result.resizes) << 16;
  std::optional<graph::Write> write;  // made on a hit only where a view has to be planned
  if (std::optional<Dims> order = storage_order(tensor)) {
    hasher_.add(kReplace | facts | static_cast<uint64_t>(tensor.dim()) << 24 |
                static_cast<uint64_t>(order->size()) << 32);
    for (int64_t size : tensor.sizes()) hasher_.add(size);
    for (int64_t dim : *order) hasher_.add(dim);
    if (node_ != nullptr) {
      write.emplace().kind = graph::Write::Kind::Replace;
      write->permutation = *order;
    }
  } else {
    write.emplace().kind = graph::Write::Kind::Update;
    write->plan = graph::plan_view(old ? old->type() : flat_type(tensor, element), view_of(tensor));
    // The view is the whole Value although not the whole storage does not happen: a Value is as long as its storage.
    hasher_.add(kUpdate | facts | static_cast<uint64_t>(static_cast<bool>(old)) << 24);
    graph::add_to(hasher_, write->plan);
    if (old) at = add_input(old);
    write->base = at;
    write->first_start = add_starts(write->plan);
  }
  hasher_.add(at);
  if (at >= 0) donors_[static_cast<size_t>(at)] = &cell;
  if (node_ == nullptr) return;
  write->donor = at;
  write->resizes = result.resizes;
  write->type = {element, dims_of(tensor.sizes())};
  bool is_sized = !result.resizes || tensor.numel() > 0;
  std::optional<Type> target = is_sized ? std::optional<Type>(write->type) : std::nullopt;
  add_write(std::move(*write), std::move(target), element);
}

Dims Recording::pointwise_order() const {
  int64_t rank = 0;
  bool is_plain = true;
  for (const at::Tensor* tensor : operands_) {
    rank = std::max(rank, tensor->dim());
    is_plain = is_plain && tensor->is_contiguous();
  }
  if (is_plain) [[likely]]
    return {};
  auto is_wide = [&](int64_t dim) {  // of the result
    return std::any_of(operands_.begin(), operands_.end(), [&](const at::Tensor* tensor) {
      int64_t at = dim - (rank - tensor->dim());
      return at >= 0 && tensor->size(at) != 1;
    });
  };
  // Whether dimension `inner` shall lie outside of `outer` (1), inside (-1), or it does not matter: the first operand
  // whose strides tell the two apart decides. A dimension that an operand is repeated along has no stride.
  auto compare = [&](int64_t inner, int64_t outer) {
    for (const at::Tensor* tensor : operands_) {
      int64_t missing = rank - tensor->dim(), a = inner - missing, b = outer - missing;
      if (a < 0 || b < 0) continue;
      int64_t stride_a = tensor->stride(a), stride_b = tensor->stride(b);
      bool is_repeated_a = tensor->size(a) == 1 && is_wide(inner),
           is_repeated_b = tensor->size(b) == 1 && is_wide(outer);
      if (is_repeated_a || is_repeated_b || stride_a == 0 || stride_b == 0) continue;
      if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
      if (tensor->size(a) > tensor->size(b)) return 1;
    }
    return 0;
  };
  Dims order;  // innermost first
  for (int64_t dim = rank; dim-- > 0;) order.push_back(dim);
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t at = i, j = i; j-- > 0;) {
      int chosen = compare(order[j], order[at]);
      if (chosen < 0) break;
      if (chosen > 0) std::swap(order[j], order[std::exchange(at, j)]);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

Dims Recording::image_order() const {
  for (size_t i = operands_.size(); i-- > 0;) {
    if (operands_[i]->dim() < 4) continue;
    switch (operands_[i]->suggest_memory_format()) {
      case at::MemoryFormat::ChannelsLast: return {0, 2, 3, 1};
      case at::MemoryFormat::ChannelsLast3d: return {0, 2, 3, 4, 1};
      default: return {};
    }
  }
  return {};
}

Dims Recording::transform_order(c10::ArrayRef<c10::IValue> arguments) const {
  const at::Tensor& self = *operands_[0];
  Dims transformed, order;
  for (size_t i = 0; i < signature_.slots.size(); ++i)
    if (signature_.slots[i].name == "dim") transformed = list_param(arguments[i]);
  for (int64_t& dim : transformed) dim = c10::maybe_wrap_dim(dim, self.dim());
  for (int64_t dim = 0; dim < self.dim(); ++dim)
    if (std::find(transformed.begin(), transformed.end(), dim) == transformed.end()) order.push_back(dim);
  auto by_stride = [&](Dims& dims, size_t count) {
    std::stable_sort(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(count),
                     [&](int64_t a, int64_t b) { return self.stride(a) > self.stride(b); });
  };
  by_stride(order, order.size());
  bool last_stays = row_.spectrum == ops::Spectrum::Half && !transformed.empty();
  by_stride(transformed, transformed.size() - (last_stays ? 1 : 0));
  for (int64_t dim : transformed) order.push_back(dim);
  return std::is_sorted(order.begin(), order.end()) ? Dims() : order;
}

// The result has the rank of the operand with most dimensions.
Dims Recording::matrix_order() const {
  Dims order;
  for (const at::Tensor* tensor : operands_)
    while (static_cast<int64_t>(order.size()) < tensor->dim()) order.push_back(static_cast<int64_t>(order.size()));
  if (order.size() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

Dims Recording::fresh_order() const {
  if (row_.is_pointwise) return pointwise_order();
  if (row_.is_matrix) return matrix_order();
  return row_.is_image ? image_order() : Dims();
}

Dims Recording::order_of(const Dims& dims) const {
  Dims order = fresh_order();
  if (order.size() != dims.size()) return {};
  // A row of a pointwise family may still make something else of its operands, glu_backward for one.
  for (const at::Tensor* tensor : operands_) {
    if (row_.is_image || row_.is_matrix) break;
    auto missing = static_cast<int64_t>(dims.size()) - tensor->dim();
    for (int64_t i = 0; i < tensor->dim(); ++i)
      if (tensor->size(i) != 1 && tensor->size(i) != dims[static_cast<size_t>(missing + i)]) return {};
  }
  return order;
}

void Recording::add_fresh(c10::ArrayRef<c10::IValue> arguments) {
  targets_.push_back(nullptr);
  Dims order = row_.spectrum == ops::Spectrum::None ? fresh_order() : transform_order(arguments);
  hasher_.add(kFresh | static_cast<uint64_t>(order.size()) << 8);
  for (int64_t dim : order) hasher_.add(dim);
  if (node_ == nullptr) return;
  graph::Write write;
  write.permutation = std::move(order);
  add_write(std::move(write), std::nullopt, std::nullopt);
}

void Recording::results(c10::ArrayRef<c10::IValue> arguments) {
  for (const Result& result : signature_.results) {
    if (result.argument < 0) {
      add_fresh(arguments);
      continue;
    }
    auto at = static_cast<size_t>(result.argument);
    if (result.is_list) {
      for (const c10::IValue& item : arguments[at].toListRef()) add_target(result, item.toTensor());
    } else if (arguments[at].isNone()) {
      static const at::Tensor undefined;
      add_target(result, undefined);
    } else {
      add_target(result, arguments[at].toTensor());
    }
  }
}

void Recording::result(const at::Tensor* target) {
  const Result& result = signature_.results[0];
  if (target == nullptr)
    add_fresh({});
  else
    add_target(result, *target);
}

}  // namespace tpu::aten
