#include "aten/host_call.h"

#include <ATen/Parallel.h>
#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <torch/library.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "aten/host.h"
#include "aten/kernel.h"
#include "aten/lending.h"
#include "aten/tensor.h"
#include "aten/types.h"
#include "base/log.h"
#include "engine/errand.h"
#include "engine/journal.h"
#include "engine/recorder.h"
#include "engine/runtime.h"
#include "ops/host_call.h"
#include "ops/name.h"
#include "pjrt/ffi.h"

TORCH_LIBRARY_FRAGMENT(torch_tpu, m) { m.def("host_call(Tensor[] inputs, int number, *, Tensor(a!)[] out) -> ()"); }

namespace tpu::aten {

namespace {

/// Where a tensor lies in memory that a program lends to a kernel: dense.
struct Lent {
  c10::ScalarType dtype;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides = {};  // empty: row-major

  at::Tensor over(void* data) const {
    auto options = at::TensorOptions().dtype(dtype);
    return strides.empty() ? at::from_blob(data, sizes, options) : at::from_blob(data, sizes, strides, options);
  }
  bool is_empty() const { return c10::multiply_integers(sizes) == 0; }
};

Lent lent(const at::Tensor& tensor) { return {tensor.scalar_type(), tensor.sizes().vec()}; }

Lent lent(c10::ScalarType dtype, const Dims& sizes, const Dims& order) {
  Dims strides = order.empty() ? Dims() : strides_of(sizes, order);
  return {dtype, list_of(sizes).vec(), list_of(strides).vec()};
}

/// One argument: a constant, or how many of the operands are its tensors, or the next result.
struct Argument {
  enum class Kind : uint8_t { Constant, Tensor, Tensors, OptionalTensors, Out };
  Kind kind = Kind::Constant;
  c10::IValue constant;
  std::vector<bool> is_given = {};  // per element of a list
};

/// A call of a CPU kernel but for its tensors' elements. `number` is a hash of all of it: another process that loads
/// the program from disk has made the same call when it traced the graph.
struct HostKernel {
  c10::OperatorHandle op;
  std::string name;
  std::vector<Argument> arguments = {};
  std::vector<Lent> operands = {};
  // In order, lists flattened. Those without elements are no results of the program; none where the kernel gives an
  // undefined tensor.
  std::vector<std::optional<Lent>> results = {};
  int64_t number = 0;
  bool is_host_op = true;  // to be listed as one, or the host kernel of a row
  bool lends_results = false;
  std::set<std::string> places = {};  // where it stands in what was traced: a call that stands twice is one kernel
  std::string place = {};             // all of them
};

constexpr size_t kMostPlaces = 4;  // of one kernel

class HostKernels {
 public:
  void add(std::shared_ptr<HostKernel> kernel) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<const HostKernel>& known = all_[kernel->number];
    if (known != nullptr) kernel->places.insert(known->places.begin(), known->places.end());
    while (kernel->places.size() > kMostPlaces) kernel->places.erase(std::prev(kernel->places.end()));
    for (const std::string& place : kernel->places) kernel->place += (kernel->place.empty() ? "" : " or ") + place;
    known = std::move(kernel);
  }
  std::shared_ptr<const HostKernel> find(int64_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = all_.find(number);
    check(found != all_.end(), ErrorCode::Internal, "a program calls a host kernel that nobody made, ", number);
    return found->second;
  }

  void count(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++calls_[name];
  }
  std::map<std::string, int64_t> calls() {
    std::lock_guard<std::mutex> lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<int64_t, std::shared_ptr<const HostKernel>> all_;
  std::map<std::string, int64_t> calls_;  // of host kernels of rows
};

HostKernels& host_kernels() {
  static auto* kernels = new HostKernels;  // programs on the plugin's threads may outlive main()
  return *kernels;
}

// ------------------------------------------------------------------------------------------------ running

c10::Stack stack_of(const HostKernel& kernel, std::span<void* const> data, const std::vector<at::Tensor>& results) {
  c10::Stack stack;
  size_t next = 0, next_result = 0;
  auto take = [&] {
    size_t at = next++;
    return kernel.operands[at].over(data[at]);
  };
  for (const Argument& argument : kernel.arguments) {
    switch (argument.kind) {
      case Argument::Kind::Constant: stack.push_back(argument.constant); break;
      case Argument::Kind::Tensor: stack.emplace_back(take()); break;
      case Argument::Kind::Out: stack.emplace_back(results[next_result++]); break;
      case Argument::Kind::Tensors: {
        c10::List<at::Tensor> list;
        for (size_t i = 0; i < argument.is_given.size(); ++i) list.push_back(take());
        stack.emplace_back(std::move(list));
        break;
      }
      case Argument::Kind::OptionalTensors: {
        c10::List<std::optional<at::Tensor>> list;
        for (bool is_given : argument.is_given) list.push_back(is_given ? std::optional(take()) : std::nullopt);
        stack.emplace_back(std::move(list));
        break;
      }
    }
  }
  return stack;
}

std::vector<at::Tensor> tensors_in(const c10::Stack& stack) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : stack) {
    if (value.isTensor())
      tensors.push_back(value.toTensor());
    else
      for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
  }
  return tensors;
}

// What the thread that runs the program has switched on (modes, autocast, autograd) is none of the kernel's business.
class PlainDispatch {
 public:
  PlainDispatch()
      : keys_(c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset | c10::python_ks |
              c10::DispatchKeySet({c10::DispatchKey::Functionalize, c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                                   c10::DispatchKey::FuncTorchDynamicLayerBackMode, c10::DispatchKey::PreDispatch})) {}

 private:
  c10::impl::ExcludeDispatchKeyGuard keys_;
  at::NoGradGuard no_grad_;
};

// The results of a kernel to where the program wants them, unless they were made there.
void bring(std::vector<at::Tensor> results, const std::vector<at::Tensor>& wanted) {
  auto lies_in = [](const at::Tensor& result, const at::Tensor& place) {
    return result.defined() && place.defined() && result.data_ptr() == place.data_ptr();
  };
  auto is_done = [&](size_t r) {
    return results[r].is_same(wanted[r]) ||
           (lies_in(results[r], wanted[r]) && results[r].strides() == wanted[r].strides() &&
            results[r].scalar_type() == wanted[r].scalar_type());
  };
  // One that was made in memory for another must be out of its way first.
  for (size_t r = 0; r < results.size(); ++r) {
    bool is_in_the_way =
        std::any_of(wanted.begin(), wanted.end(), [&](const at::Tensor& place) { return lies_in(results[r], place); });
    if (is_in_the_way && !is_done(r)) results[r] = results[r].clone();
  }
  for (size_t r = 0; r < results.size(); ++r)
    if (wanted[r].defined() && !is_done(r)) wanted[r].copy_(results[r]);
}

void run_host_kernel(const pjrt::FfiCall& call) {
  std::shared_ptr<const HostKernel> kernel = host_kernels().find(call.number);
  check(call.operands.size() == kernel->operands.size(), ErrorCode::Internal, kernel->name, " got ",
        call.operands.size(), " operands, expected ", kernel->operands.size());
  engine::Errand errand;  // a kernel may be Python's
  check(static_cast<bool>(errand), ErrorCode::Unavailable, "the Python interpreter is shutting down");
  PlainDispatch plain;
  at::init_num_threads();  // what torch.set_num_threads said; a thread of the plugin does not know
  int64_t bytes = 0;
  try {
    std::vector<at::Tensor> expected;
    size_t next = 0;
    for (const std::optional<Lent>& result : kernel->results) {
      expected.emplace_back();
      if (result) expected.back() = result->over(result->is_empty() ? nullptr : call.results[next++]);
    }
    c10::Stack stack = stack_of(*kernel, call.operands, expected);
    {
      std::optional<Lending> lending;
      if (kernel->lends_results) {
        lending.emplace();
        for (const at::Tensor& result : expected)
          if (result.defined()) lending->add(result.mutable_data_ptr(), result.nbytes());
      }
      kernel->op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    }
    std::vector<at::Tensor> results = tensors_in(stack);
    check(results.size() == expected.size(), ErrorCode::Internal, kernel->name, " gave ", results.size(),
          " results, expected ", expected.size());
    for (size_t r = 0; r < results.size(); ++r) {
      if (!kernel->results[r]) continue;
      check(results[r].sizes() == kernel->results[r]->sizes, ErrorCode::Internal, kernel->name, ": result ", r,
            " has other sizes than its Meta kernel said");
    }
    bring(std::move(results), expected);
  } catch (const c10::Error& error) {
    ErrorCode code = ErrorCode::InvalidArgument;
    if (dynamic_cast<const c10::IndexError*>(&error) != nullptr) code = ErrorCode::Index;
    if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) code = ErrorCode::OutOfMemory;
    if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr) code = ErrorCode::NotImplemented;
    fail(code, kernel->name, ": ", error.what_without_backtrace());
  }
  if (!kernel->is_host_op) return host_kernels().count(kernel->name);
  for (const Lent& operand : kernel->operands)
    bytes += c10::multiply_integers(operand.sizes) * static_cast<int64_t>(c10::elementSize(operand.dtype));
  count_host_op(kernel->name, bytes, kernel->place);
}

// ------------------------------------------------------------------------------------------------ recording

/// An overload whose results are tensors that its caller made, and nothing else.
bool writes_out(const c10::OperatorHandle& op) {
  const std::vector<c10::Argument>& arguments = op.schema().arguments();
  return !arguments.empty() && arguments.back().is_out();
}

bool is_callable(const c10::OperatorHandle& op) {
  if (op.hasTag(at::Tag::nondeterministic_seeded) || op.hasTag(at::Tag::data_dependent_output) ||
      op.hasTag(at::Tag::dynamic_output_shape))
    return false;
  for (const c10::Argument& argument : op.schema().arguments()) {
    bool is_written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    if (is_written && !(argument.is_out() && argument.type()->kind() == c10::TypeKind::TensorType)) return false;
  }
  for (const c10::Argument& result : op.schema().returns()) {
    if (result.alias_info() != nullptr && !writes_out(op)) return false;
    bool is_tensor =
        result.type()->kind() == c10::TypeKind::TensorType || result.type()->isSubtypeOf(*c10::ListType::ofTensors());
    if (!is_tensor) return false;
  }
  return op.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta);
}

// The exact value of an argument that is no tensor; false for what has none.
bool add_constant(Hasher& hasher, const c10::IValue& value) {
  if (value.isNone()) {
    hasher.add(1);
  } else if (value.isBool()) {
    hasher.add(value.toBool() ? 2 : 3);
  } else if (value.isInt()) {
    hasher.add(4);
    hasher.add(value.toInt());
  } else if (value.isDouble()) {
    hasher.add(5);
    hasher.add(value.toDouble());
  } else if (value.isComplexDouble()) {
    hasher.add(6);
    hasher.add(value.toComplexDouble().real());
    hasher.add(value.toComplexDouble().imag());
  } else if (value.isString()) {
    hasher.add(7);
    hasher.add(std::string_view(value.toStringRef()));
  } else if (value.isDevice()) {
    hasher.add(8);
  } else if (value.isList()) {
    hasher.add(9);
    hasher.add(value.toListRef().size());
    for (const c10::IValue& item : value.toListRef())
      if (!add_constant(hasher, item)) return false;
  } else {
    return false;
  }
  return true;
}

// The dimensions of a dense tensor from the outermost; empty for row-major ones and those with gaps.
Dims dense_order(const at::Tensor& tensor) {
  if (tensor.is_contiguous() || !tensor.is_non_overlapping_and_dense()) return {};
  Dims order;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) order.push_back(dim);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return tensor.stride(a) > tensor.stride(b); });
  return std::is_sorted(order.begin(), order.end()) ? Dims() : order;
}

/// Sorts the arguments of a call into operands and constants.
class Sorting {
 public:
  /// `keeps_orders`: an operand that is dense in another order than row-major is lent so.
  Sorting(HostKernel& kernel, bool keeps_orders) : kernel_(kernel), keeps_orders_(keeps_orders) {
    hasher_.add(std::string_view(kernel.name));
    hasher_.add(static_cast<int>(kernel.is_host_op));
  }

  void add_out() {
    kernel_.arguments.push_back({Argument::Kind::Out, {}});
    hasher_.add(static_cast<int>(Argument::Kind::Out));
  }

  void add_result(const std::optional<Lent>& result) {
    kernel_.results.push_back(result);
    hasher_.add(result ? static_cast<int>(result->dtype) : -1);
    if (result) add(result->strides);
  }

  bool add(const c10::IValue& value) {
    Argument argument;
    if (value.isTensor() && value.toTensor().defined()) {
      argument.kind = Argument::Kind::Tensor;
      if (!add(value.toTensor())) return false;
    } else if (value.isTensorList()) {
      argument.kind = Argument::Kind::Tensors;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        argument.is_given.push_back(true);
        if (!add(tensor)) return false;
      }
      hasher_.add(argument.is_given.size());
    } else if (value.isOptionalTensorList()) {
      argument.kind = Argument::Kind::OptionalTensors;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
        argument.is_given.push_back(tensor && tensor->defined());
        hasher_.add(static_cast<int>(argument.is_given.back()));
        if (argument.is_given.back() && !add(*tensor)) return false;
      }
      hasher_.add(argument.is_given.size());
    } else {
      argument.constant = value.isTensor() ? c10::IValue() : value;
      if (!add_constant(hasher_, argument.constant)) return false;
      if (value.isDevice()) argument.constant = c10::Device(c10::DeviceType::CPU);
    }
    hasher_.add(static_cast<int>(argument.kind));
    kernel_.arguments.push_back(std::move(argument));
    return true;
  }

  int64_t number() const { return static_cast<int64_t>(hasher_.finish().low); }
  const std::vector<at::Tensor>& operands() const { return operands_; }
  const std::vector<Dims>& orders() const { return orders_; }

 private:
  bool add(const at::Tensor& tensor) {
    if (!is_tpu(tensor)) return false;
    Dims order = keeps_orders_ ? dense_order(tensor) : Dims();
    kernel_.operands.push_back(lent(tensor.scalar_type(), dims_of(tensor.sizes()), order));
    operands_.push_back(tensor);
    add(kernel_.operands.back().strides);
    orders_.push_back(std::move(order));
    hasher_.add(static_cast<int>(tensor.scalar_type()));
    hasher_.add(tensor.dim());
    for (int64_t size : tensor.sizes()) hasher_.add(size);
    return true;
  }

  void add(const std::vector<int64_t>& list) {
    hasher_.add(list.size());
    for (int64_t number : list) hasher_.add(number);
  }

  HostKernel& kernel_;
  const bool keeps_orders_;
  Hasher hasher_;
  std::vector<at::Tensor> operands_;
  std::vector<Dims> orders_;
};

class WithoutTorchFunctions {
 public:
  WithoutTorchFunctions() : saved_(at::impl::PythonTorchFunctionTLS::get_disabled_state()) {
    at::impl::PythonTorchFunctionTLS::set_disabled_state(at::impl::TorchFunctionDisabledState::ALL_DISABLED);
  }
  ~WithoutTorchFunctions() { at::impl::PythonTorchFunctionTLS::set_disabled_state(saved_); }
  WithoutTorchFunctions(const WithoutTorchFunctions&) = delete;
  WithoutTorchFunctions& operator=(const WithoutTorchFunctions&) = delete;

 private:
  at::impl::TorchFunctionDisabledState saved_;
};

// The results of the call, without elements; empty when its Meta kernel does not know.
std::optional<c10::Stack> results_of(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
  auto on_meta = [](const at::Tensor& tensor) {
    return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::DeviceType::Meta));
  };
  WithoutTorchFunctions without_functions;  // the trace runs under torch.device("tpu")
  c10::Stack stack;
  for (const c10::IValue& value : arguments) {
    if (value.isTensor()) {
      stack.emplace_back(value.toTensor().defined() ? on_meta(value.toTensor()) : at::Tensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(on_meta(tensor));
      stack.emplace_back(std::move(list));
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
        list.push_back(tensor && tensor->defined() ? std::optional(on_meta(*tensor)) : std::nullopt);
      stack.emplace_back(std::move(list));
    } else if (value.isDevice()) {
      stack.emplace_back(c10::Device(c10::DeviceType::Meta));
    } else {
      stack.push_back(value);
    }
  }
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
  } catch (const std::exception& error) {
    log::at(3, op.schema().name(), " is not called from the program: its Meta kernel says ", error.what());
    return std::nullopt;
  }
  for (const at::Tensor& tensor : tensors_in(stack))
    if (!tensor.defined() || !tensor.is_meta() || tensor.is_conj() || tensor.is_neg()) return std::nullopt;
  return stack;
}

// The row under which calls of an op are recorded and listed.
RowCall& recorded_call(const std::string& name) {
  struct Named {
    std::string name;
    ops::Row row;
    RowCall call;
    explicit Named(const std::string& op)
        : name((op.rfind("aten::", 0) == 0 ? op.substr(6) : op) + " by the host"),
          row(ops::host_call_row(name.c_str())),
          call(row, c10::Dispatcher::singleton().findSchemaOrThrow("torch_tpu::host_call", "")) {}
  };
  static std::mutex mutex;
  static auto* calls = new std::unordered_map<std::string, std::unique_ptr<Named>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Named>& call = (*calls)[name];
  if (call == nullptr) call = std::make_unique<Named>(name);
  return call->call;
}

// Before the first program that calls is compiled or loaded.
void ensure_callable() {
  static std::once_flag once;
  std::call_once(once,
                 [] { pjrt::register_ffi(engine::Runtime::get().plugin(), ops::kHostCallTarget, run_host_kernel); });
}

// The overload that has the row's kernel on the CPU.
c10::OperatorHandle host_overload(const ops::Row& row, const c10::OperatorHandle& op) {
  return *row.host_overload == '\0' ? op : c10::Dispatcher::singleton().findSchemaOrThrow(row.host_overload, "");
}

bool has_elements(const Type& type) { return type.count() > 0; }

// A number that is not structure is another one in the next run of the program.
bool is_worth_calling(const ops::Call& call) {
  return std::all_of(call.structural.begin(), call.structural.end(), std::identity()) &&
         std::all_of(call.operands.begin(), call.operands.end(),
                     [](const ops::Operand& operand) { return has_elements(operand.type); }) &&
         call.row->host_kernel_pays(call);
}

}  // namespace

void choose_host_kernel(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments, graph::Node& node) {
  const ops::Settings& settings = engine::Runtime::get().configuration().settings;
  ops::Call& call = node.call;
  if (call.row->host_kernel_pays == nullptr || !settings.host_kernels || !is_worth_calling(call)) return;
  auto kernel = std::make_shared<HostKernel>(HostKernel{host_overload(*call.row, op), ops::full_name(call.row->name)});
  kernel->is_host_op = false;
  kernel->lends_results = call.row->lends_results;
  Sorting sorting(*kernel, /*keeps_orders=*/true);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (op.schema().arguments()[i].is_out())
      sorting.add_out();
    else if (!sorting.add(arguments[i]))
      return;
  }
  ops::HostKernel chosen;
  ops::Outcome outcome = ops::outcome_of(call, settings);
  if (outcome.checks_values && !call.row->host_kernel_is_alone) return;  // an error would be nobody's
  chosen.checks_values = outcome.checks_values;
  chosen.results = std::move(outcome.types);
  for (size_t r = 0; r < chosen.results.size(); ++r) {
    std::optional<Type>& type = chosen.results[r];
    // A lowering may leave it to the result's tensor to round.
    if (type) type->element = call.target_elements[r].value_or(type->element);
    if (type && !has_elements(*type)) return;
    const Dims& order = node.writes[r].permutation;
    bool fits = type && order.size() == type->dims.size();
    chosen.result_orders.push_back(fits ? order : Dims());
    if (type)
      sorting.add_result(lent(scalar_type_of(type->element), type->dims, chosen.result_orders.back()));
    else
      sorting.add_result(std::nullopt);
  }
  chosen.operand_orders = sorting.orders();
  chosen.number = kernel->number = sorting.number();
  ensure_callable();
  host_kernels().add(std::move(kernel));
  call.host_kernel = std::move(chosen);
}

std::map<std::string, int64_t> host_kernel_calls() { return host_kernels().calls(); }

bool record_host_call(const c10::OperatorHandle& op, c10::Stack* stack) {
  // A graph that is going to be compiled for a TPU as well must not contain what a TPU cannot do.
  if (!engine::is_tracing() || engine::journal_is_on() || !is_callable(op)) return false;
  size_t count = op.schema().arguments().size(), first = stack->size() - count;
  c10::ArrayRef<c10::IValue> arguments(stack->data() + first, count);

  auto kernel = std::make_shared<HostKernel>(HostKernel{op, host_op_name(op)});
  if (std::string place = current_place(); !place.empty()) kernel->places.insert(std::move(place));
  Sorting sorting(*kernel, /*keeps_orders=*/false);
  for (size_t i = 0; i < count; ++i) {
    if (op.schema().arguments()[i].is_out()) {
      sorting.add_out();
      sorting.add_result(lent(arguments[i].toTensor()));
    } else if (!sorting.add(arguments[i])) {
      return false;
    }
  }
  if (sorting.operands().empty()) return false;
  engine::Device& device = cell_of(sorting.operands()[0]).device();
  engine::Runtime& runtime = engine::Runtime::get();
  if (!device.is_cpu() || !pjrt::has_ffi(runtime.plugin())) return false;
  std::optional<c10::Stack> results = results_of(op, arguments);
  if (!results) return false;
  ensure_callable();
  c10::Device here(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device.ordinal()));
  c10::Stack made;
  c10::List<at::Tensor> out;
  auto give = [&](const at::Tensor& tensor) {
    if (tensor.numel() != 0) out.push_back(tensor);
    return tensor;
  };
  if (writes_out(op)) {
    std::vector<at::Tensor> told = tensors_in(*results);
    for (size_t i = 0, r = 0; i < count; ++i) {
      if (!op.schema().arguments()[i].is_out()) continue;
      const at::Tensor& target = arguments[i].toTensor();
      // One that the kernel would resize, or convert its result for, is no memory to lend.
      if (target.sizes() != told[r].sizes() || target.scalar_type() != told[r].scalar_type()) return false;
      made.emplace_back(give(target));
      ++r;
    }
  } else {
    auto make = [&](const at::Tensor& meta) {
      sorting.add_result(lent(meta));
      return give(at::empty_strided(meta.sizes(), meta.strides(), meta.options().device(here)));
    };
    for (const c10::IValue& value : *results) {
      if (value.isTensor()) {
        made.emplace_back(make(value.toTensor()));
        continue;
      }
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(make(tensor));
      made.emplace_back(std::move(list));
    }
  }
  kernel->number = sorting.number();
  host_kernels().add(kernel);
  if (!out.empty()) recorded_call(kernel->name).run({c10::List<at::Tensor>(sorting.operands()), kernel->number, out});
  stack->resize(first);
  for (c10::IValue& value : made) stack->push_back(std::move(value));
  return true;
}

}  // namespace tpu::aten
