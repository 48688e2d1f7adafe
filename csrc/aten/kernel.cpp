#include "aten/kernel.h"

#include <ATen/Context.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/nonzero.h>

#include <unordered_set>

#include "aten/host.h"
#include "aten/host_call.h"
#include "aten/types.h"
#include "base/log.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/guard.h"
#include "device/startup.h"
#include "engine/journal.h"
#include "engine/recorder.h"
#include "engine/runtime.h"
#include "engine/transfer.h"
#include "ops/name.h"

namespace tpu::aten {

namespace {

// Calls whose lowering said NotImplemented (a dtype, a mode): they go to the host without asking again.
class HostCalls {
 public:
  bool contains(const Hash128& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    return keys_.count(key) != 0;
  }
  void add(const Hash128& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    keys_.insert(key);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<Hash128> keys_;
};

HostCalls& host_calls() {
  static auto* calls = new HostCalls;
  return *calls;
}

bool is_mask(const at::Tensor& index) { return index.scalar_type() == at::kBool || index.scalar_type() == at::kByte; }

template <class Condition>
bool any_index(const c10::IValue& value, const Condition& condition) {
  for (const c10::IValue& item : value.toListRef())
    if (!item.isNone() && item.toTensor().defined() && condition(item.toTensor())) return true;
  return false;
}

// Indices given on the CPU are moved to self's device.
c10::IValue placed_indices(const c10::IValue& value, const at::Tensor& self) {
  c10::List<std::optional<at::Tensor>> placed;
  for (const c10::IValue& item : value.toListRef()) {
    bool is_none = item.isNone() || !item.toTensor().defined();
    placed.push_back(is_none ? std::optional<at::Tensor>() : item.toTensor().to(self.device()));
  }
  return placed;
}

// `x[mask]` is `x[mask.nonzero()]`: a bool or byte tensor becomes one position tensor per dimension.
c10::IValue expanded_indices(const c10::IValue& value, const at::Tensor& self) {
  c10::List<std::optional<at::Tensor>> expanded;
  for (const c10::IValue& item : value.toListRef()) {
    if (item.isNone() || !item.toTensor().defined()) {
      expanded.push_back(std::nullopt);
      continue;
    }
    at::Tensor index = item.toTensor();
    if (!is_mask(index)) {
      expanded.push_back(std::move(index));
      continue;
    }
    auto first = static_cast<int64_t>(expanded.size());
    for (int64_t j = 0; j < index.dim(); ++j) {
      check(first + j < self.dim(), ErrorCode::Index, "too many indices for tensor of dimension ", self.dim());
      check(index.size(j) == self.size(first + j), ErrorCode::Index, "The shape of the mask ",
            to_string(dims_of(index.sizes())), " at index ", j, " does not match the shape of the indexed tensor ",
            to_string(dims_of(self.sizes())), " at index ", first + j);
    }
    at::Tensor positions = at::nonzero(index);
    if (index.dim() == 0) {
      // A 0-d mask adds a dimension; torch unsqueezes self for it before the kernel is called, so this is a 1-d mask of
      // one element.
      expanded.push_back(positions.new_zeros({positions.size(0)}));
      continue;
    }
    for (int64_t j = 0; j < index.dim(); ++j) expanded.push_back(positions.select(1, j));
  }
  return expanded;
}

void walk(Recording& recording, const Signature& signature, c10::ArrayRef<c10::IValue> arguments) {
  for (size_t i = 0; i < signature.slots.size(); ++i) {
    const Slot& slot = signature.slots[i];
    const c10::IValue& value = arguments[i];
    switch (slot.kind) {
      case Slot::Kind::Tensor: {
        static const at::Tensor undefined;
        recording.tensor(slot, value.isNone() ? undefined : value.toTensor());
        break;
      }
      case Slot::Kind::Tensors:
        recording.tensors(slot, value.isNone() ? c10::ArrayRef<c10::IValue>() : value.toListRef());
        break;
      case Slot::Kind::Scalar: recording.number(slot, value); break;
      case Slot::Kind::Param: recording.param(slot, value); break;
      case Slot::Kind::Device:
      case Slot::Kind::Generator:
      case Slot::Kind::Ignored: break;
    }
  }
  recording.results(arguments);
}

engine::Device& device_for(const Recording& recording, const Signature& signature,
                           c10::ArrayRef<c10::IValue> arguments) {
  if (recording.device() != nullptr) return *recording.device();
  std::optional<c10::Device> given;
  if (signature.device >= 0 && !arguments[static_cast<size_t>(signature.device)].isNone()) {
    given = arguments[static_cast<size_t>(signature.device)].toDevice();
  }
  return device_of(given);
}

// torch's global settings that change programs, compared at every call, so that a change by the user is seen without a
// hook. The matmul precision takes torch 100 ns to tell, so only ops with dots or convolutions ask for it.
void follow_global_settings(bool contracts) {
  static std::atomic<uint32_t> followed{~0u}, followed_precision{~0u};
  const at::Context& context = at::globalContext();
  c10::ScalarType default_float = c10::typeMetaToScalarType(c10::get_default_dtype());
  uint32_t wanted = static_cast<uint32_t>(default_float) | static_cast<uint32_t>(context.deterministicAlgorithms())
                                                               << 8;
  uint32_t precision = contracts ? static_cast<uint32_t>(context.float32MatmulPrecision()) : followed_precision.load();
  if (followed.load(std::memory_order_relaxed) == wanted &&
      followed_precision.load(std::memory_order_relaxed) == precision) [[likely]]
    return;
  engine::Runtime& runtime = engine::Runtime::get();
  ops::Settings settings = runtime.configuration().settings;
  settings.default_float = element_of(default_float);
  settings.deterministic = context.deterministicAlgorithms();
  if (contracts) {
    switch (context.float32MatmulPrecision()) {
      case at::Float32MatmulPrecision::HIGHEST: settings.precision = hlo::Precision::Highest; break;
      case at::Float32MatmulPrecision::HIGH: settings.precision = hlo::Precision::High; break;
      case at::Float32MatmulPrecision::MEDIUM: settings.precision = hlo::Precision::Default; break;
    }
  }
  runtime.configure(settings);
  followed.store(wanted, std::memory_order_relaxed);
  followed_precision.store(precision, std::memory_order_relaxed);
}

// Gives the `out=` tensors the shape of their results. True when any changed.
bool resize_outputs(const engine::Plan& plan, const Recording& recording) {
  bool changed = false;
  for (const graph::Output& output : plan.outputs) {
    if (!output.resized) continue;
    const at::Tensor& target = *recording.targets()[static_cast<size_t>(output.result)];
    const Dims& dims = output.logical.dims;
    bool resized = at::native::resize_output(target, list_of(dims));
    if (Dims order = recording.order_of(dims); resized && !order.empty())
      target.unsafeGetTensorImpl()->set_sizes_and_strides(list_of(dims), list_of(strides_of(dims, order)));
    changed = true;
  }
  return changed;
}

// What an optimizer makes of nothing, its state, is made at once: see Recorder::is_in_step().
bool is_state(const engine::Recorder* recorder, const Recording& recording) {
  return recorder != nullptr && recorder->is_in_step() && recording.arguments().inputs.empty();
}

// Who records the call; null when it runs at once.
engine::Recorder* recorder_for(engine::Device& device, const Recording& recording) {
  engine::Recorder* recorder = engine::recorder_of(device);
  return is_state(recorder, recording) ? nullptr : recorder;
}

// Zeros for the whole memory of `tensor` by a transfer, which costs no compile. False, and nothing was done, for a
// tensor that is a part of it.
bool send_zeros(engine::Device& device, const at::Tensor& tensor) {
  std::optional<Dims> order = storage_order(tensor);
  if (!order || tensor.is_neg()) return false;
  Dims dims = dims_of(tensor.sizes());
  Type type{element_of(tensor.scalar_type()), dims};
  for (size_t i = 0; i < order->size(); ++i) type.dims[i] = dims[static_cast<size_t>((*order)[i])];
  cell_of(tensor).store(engine::zeros(device, type));
  return true;
}

at::Tensor new_tensor(engine::Device& device, const graph::Output& output, engine::ValueRef value) {
  Dims strides;
  if (!output.permutation.empty()) strides = strides_of(output.logical.dims, output.permutation);
  return make_tensor(device, scalar_type_of(output.logical.element), list_of(output.logical.dims), list_of(strides),
                     std::move(value));
}

thread_local bool stands_still = false;

}  // namespace

StandStill::StandStill() { stands_still = true; }
StandStill::~StandStill() { stands_still = false; }

void Kernel::prepare() const {
  device::ensure_started();
  follow_global_settings(row_.contracts);
}

bool Kernel::run_known(Recording& recording, at::Tensor& fresh) const {
  if (recording.device() == nullptr) return false;
  engine::Device& device = *recording.device();
  engine::Recorder* recorder = recorder_for(device, recording);
  Hash128 key = recording.key();
  if (recorder != nullptr) key = engine::description_key(key);
  engine::Plan* plan = engine::find_plan(key);
  if (plan == nullptr || plan->outputs.size() != 1) return false;
  const graph::Output& output = plan->outputs[0];
  const at::Tensor* target = recording.targets()[static_cast<size_t>(output.result)];
  if (target != nullptr && output.resized) return false;
  if (log::level() >= 5) log::write(5, concat("call ", plan->name));
  engine::ValueRef value;
  if (recorder != nullptr)
    recorder->record(*plan, key, recording.arguments(), {&value, 1});
  else
    engine::run(*plan, device, recording.arguments(), {&value, 1});
  if (target != nullptr)
    cell_of(*target).store(std::move(value));
  else
    fresh = new_tensor(device, output, std::move(value));
  return true;
}

const Signature& Kernel::make_signature(const c10::OperatorHandle& op) {
  std::call_once(once_, [&] {
    signature_ = std::make_unique<Signature>(op.schema(), row_);
    known_.store(signature_.get(), std::memory_order_release);
  });
  return *signature_;
}

void Kernel::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, c10::Stack* stack) {
  if (stands_still && op.schema().arguments().back().is_out()) [[unlikely]] {
    c10::IValue out = std::move(stack->back());
    stack->resize(stack->size() - op.schema().arguments().size());
    stack->push_back(std::move(out));
    return;
  }
  device::translated([&] { call(op, stack); });
}

// The host does it, but for masks as indices where self would have to travel there, or nothing may: then they become
// positions first, see Note [Masks as indices] in ops/indexing.cpp.
void Kernel::call_without_lowering(const c10::OperatorHandle& op, c10::Stack* stack, const engine::Device& device) {
  const Signature& signature = this->signature(op);
  size_t first = stack->size() - signature.slots.size();
  bool stays = device.is_cpu() && host_policy() != HostPolicy::Error;
  for (size_t i = 0; i < signature.slots.size() && !stays; ++i) {
    c10::IValue& value = (*stack)[first + i];
    if (!signature.slots[i].is_indices || !any_index(value, is_mask)) continue;
    value = expanded_indices(value, (*stack)[first].toTensor());
    return call(op, stack);
  }
  run_on_host(op, stack);
}

void Kernel::call(const c10::OperatorHandle& op, c10::Stack* stack) {
  const Signature& signature = this->signature(op);
  size_t first = stack->size() - signature.slots.size();
  for (size_t i = 0; i < signature.slots.size(); ++i) {
    c10::IValue& value = (*stack)[first + i];
    if (signature.slots[i].is_indices && any_index(value, [](const at::Tensor& index) { return !is_tpu(index); }))
      value = placed_indices(value, (*stack)[first].toTensor());
  }
  c10::ArrayRef<c10::IValue> arguments(stack->data() + first, signature.slots.size());
  prepare();

  std::optional<Recording> recording;
  recording.emplace(row_, signature, nullptr);
  walk(*recording, signature, arguments);
  engine::Device& device = device_for(*recording, signature, arguments);
  if (row_.is_slow_on_cpu && device.is_cpu() && host_policy() != HostPolicy::Error && has_host_kernel(op) &&
      !engine::journal_is_on()) {  // what is noted for a TPU is what a TPU would run
    recording.reset();
    return run_on_host(op, stack, /*has_lowering=*/true);
  }
  engine::Recorder* recorder = engine::recorder_of(device);
  if (is_state(recorder, *recording)) [[unlikely]] {
    // Most state is zeros, of the shape of each parameter, and only in the first step.
    static const ops::Row* zeroing = ops::find_row("zero_");
    if (&row_ == zeroing && send_zeros(device, arguments[0].toTensor())) {
      recording.reset();
      stack->resize(first + 1);  // the tensor itself
      return;
    }
    recorder = nullptr;
  }
  Hash128 key = recording->key();
  if (recorder != nullptr) key = engine::description_key(key);
  engine::Plan* plan = engine::find_plan(key);
  if (plan == nullptr) [[unlikely]] {
    if (host_calls().contains(key)) {
      recording.reset();
      return call_without_lowering(op, stack, device);
    }
    graph::Graph graph;
    recording.emplace(row_, signature, &graph);
    walk(*recording, signature, arguments);
    try {
      choose_host_kernel(op, arguments, graph.nodes[0]);
      plan = recorder != nullptr ? engine::make_description(key, graph)
                                 : engine::make_plan(key, device, graph, engine::capture_line());
    } catch (Error& error) {
      if (error.code() == ErrorCode::NotImplemented && has_host_kernel(op)) {
        log::at(3, ops::full_name(row_.name), " goes to the host: ", error.message());
        host_calls().add(key);
        recording.reset();
        return call_without_lowering(op, stack, device);
      }
      throw error.add_trail(concat("in ", to_string(graph.nodes[0].call), " on tpu"));
    }
  }
  if (!plan->executable && resize_outputs(*plan, *recording)) {
    recording.reset();
    return call(op, stack);
  }
  if (log::level() >= 5) log::write(5, concat("call ", plan->name));

  engine::Arguments run_arguments = recording->arguments();
  std::array<uint64_t, 3> random{};
  if (row_.is_random) run_arguments.random = random;
  if (!plan->random_blocks.empty() && plan->random_blocks[0] > 0) {
    std::optional<at::Generator> given;
    if (signature.generator >= 0) {
      const c10::IValue& value = arguments[static_cast<size_t>(signature.generator)];
      if (!value.isNone()) given = value.toGenerator();
    }
    device::Block block =
        device::generator_of(given, device.ordinal()).take(static_cast<uint64_t>(plan->random_blocks[0]));
    random = {block.seed, block.offset, 0};
  }
  std::array<engine::ValueRef, 8> few;
  std::vector<engine::ValueRef> many;
  std::span<engine::ValueRef> outputs(few);
  if (plan->outputs.size() > few.size()) {
    many.resize(plan->outputs.size());
    outputs = many;
  }
  if (recorder != nullptr)
    recorder->record(*plan, key, run_arguments, outputs);
  else
    engine::run(*plan, device, run_arguments, outputs);

  // Bind: new tensors, or another Value in the Cell of a tensor that exists.
  InlineVector<uint32_t, 8> made(recording->targets().size(), 0);  // result -> output number + 1
  for (size_t k = 0; k < plan->outputs.size(); ++k) {
    const graph::Output& output = plan->outputs[k];
    made[static_cast<size_t>(output.result)] = static_cast<uint32_t>(k) + 1;
    const at::Tensor* target = recording->targets()[static_cast<size_t>(output.result)];
    if (target != nullptr) cell_of(*target).store(std::move(outputs[k]));
  }
  std::array<c10::IValue, 8> returned_few;
  std::vector<c10::IValue> returned_many;
  std::span<c10::IValue> returned(returned_few);
  if (signature.return_count > returned_few.size()) {
    returned_many.resize(signature.return_count);
    returned = returned_many;
  }
  for (size_t r = 0; r < signature.return_count; ++r) {
    const Result& result = signature.results[r];
    if (result.argument >= 0) {
      returned[r] = arguments[static_cast<size_t>(result.argument)];
    } else if (made[r] == 0) {
      if (result.is_number)
        returned[r] = int64_t{0};
      else
        returned[r] = at::Tensor();
    } else {
      returned[r] = new_tensor(device, plan->outputs[made[r] - 1], std::move(outputs[made[r] - 1]));
    }
  }
  recording.reset();
  stack->resize(first);
  for (size_t r = 0; r < signature.return_count; ++r) stack->push_back(std::move(returned[r]));
}

RowCall::RowCall(const ops::Row& row)
    : kernel_(row), op_([&] {
        std::string_view full = row.name;
        size_t dot = full.find('.');
        std::string base = ops::full_name(full.substr(0, dot));
        std::string overload(dot == full.npos ? "" : full.substr(dot + 1));
        return c10::Dispatcher::singleton().findSchemaOrThrow(base.c_str(), overload.c_str());
      }()) {}

void copy_on_device(const at::Tensor& target, const at::Tensor& source) {
  static auto* call = new RowCall("copy_");
  call->run({target, source, false});
}

}  // namespace tpu::aten
