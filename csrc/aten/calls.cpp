#include "aten/calls.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "aten/host.h"
#include "aten/short_way.h"
#include "aten/tensor.h"

namespace tpu::aten {

namespace {

/// What is asked about an op once.
struct Kind {
  std::string name;
  std::string base;  // without the overload
  size_t argument_count = 0;
  size_t return_count = 0;
};

struct Counted {
  std::mutex mutex;
  at::CallbackHandle observer = at::INVALID_CALLBACK_HANDLE;
  std::unordered_map<c10::OperatorName, std::unique_ptr<const Kind>> kinds;  // null: torch composes it of others
  std::map<std::string, OpCalls> by_name;
};

Counted& counted() {
  static auto* all = new Counted;  // threads may call ops until the process ends
  return *all;
}

bool is_answered_by_device(const c10::OperatorHandle& op) {
  using c10::DispatchKey;
  if (op.hasKernelForDispatchKey(DispatchKey::PrivateUse1)) return true;
  return !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) &&
         !op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional);
}

// What the device answers for: the row, where the overload is one that PyTorch derives from it.
std::string listed_name(const c10::OperatorHandle& op) {
  std::string name = host_op_name(op);
  constexpr std::string_view kNamespace = "aten::";
  if (!name.starts_with(kNamespace)) return name;
  std::string_view row = row_behind(name.substr(kNamespace.size()));
  return row.empty() ? name : concat(kNamespace, row);
}

const Kind* kind_of(const c10::OperatorName& name) {
  std::lock_guard<std::mutex> lock(counted().mutex);
  auto [known, is_new] = counted().kinds.try_emplace(name);
  if (!is_new) return known->second.get();
  std::optional<c10::OperatorHandle> op = c10::Dispatcher::singleton().findSchema(name);
  if (op && is_answered_by_device(*op))
    known->second = std::make_unique<const Kind>(
        Kind{listed_name(*op), name.name, op->schema().arguments().size(), op->schema().returns().size()});
  return known->second.get();
}

// A tensor that comes to the device's kernels as it is: no stand-in of a trace, whose device is only said, and no
// wrapper, whose layer calls the op again on what it wraps.
bool is_plain(const at::Tensor& tensor) {
  using c10::DispatchKey;
  constexpr c10::DispatchKeySet wrappers({DispatchKey::Python, DispatchKey::Functionalize,
                                          DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchGradWrapper,
                                          DispatchKey::BatchedNestedTensor});
  return tensor.defined() && is_tpu(tensor) && !tensor.key_set().has_any(wrappers);
}

/// A call between its begin and its end.
struct OpenCall : at::ObserverContext {
  const Kind* kind = nullptr;
  OpenCall* outer = nullptr;  // of the same thread
  int exceptions = 0;
  bool is_on_device = false;
  bool names_device = false;    // without a tensor, as a factory does
  bool passes_through = false;  // it called the same op again, on what a layer unwrapped, or its `.out` form
  std::set<c10::ScalarType> dtypes;

  void add(const c10::IValue& value) {
    if (value.isTensor()) {
      if (!is_plain(value.toTensor())) return;
      is_on_device = true;
      dtypes.insert(value.toTensor().scalar_type());
    } else if (value.isList()) {
      for (const c10::IValue& item : value.toListRef()) {
        if (!item.isTensor() && !item.isNone()) break;
        add(item);
      }
    } else if (value.isDevice()) {
      names_device |= value.toDevice().type() == c10::DeviceType::PrivateUse1;
    }
  }
};

thread_local OpenCall* innermost = nullptr;

template <class Values>
void add_last(OpenCall& call, const Values& values, size_t count) {
  for (size_t i = values.size() - std::min(count, values.size()); i < values.size(); ++i) call.add(values[i]);
}

std::unique_ptr<at::ObserverContext> begin_call(const at::RecordFunction& function) {
  std::optional<c10::OperatorName> name = function.operator_name();
  const Kind* kind = name ? kind_of(*name) : nullptr;
  if (kind == nullptr) return nullptr;
  auto call = std::make_unique<OpenCall>();
  call->kind = kind;
  call->exceptions = std::uncaught_exceptions();
  add_last(*call, function.inputs(), kind->argument_count);
  call->outer = std::exchange(innermost, call.get());
  return call;
}

void end_call(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* call = static_cast<OpenCall*>(context);
  if (call == nullptr) return;
  innermost = call->outer;
  bool has_failed = std::uncaught_exceptions() > call->exceptions;
  if (!has_failed)
    add_last(*call, function.outputs(), call->kind->return_count);
  else if (call->names_device && !c10::impl::TorchDispatchModeTLS::any_modes_set())
    call->is_on_device = true;
  if (!call->is_on_device || call->passes_through) return;
  for (OpenCall* outer = call->outer; outer != nullptr; outer = outer->outer)
    outer->passes_through |= outer->kind->base == call->kind->base;
  std::lock_guard<std::mutex> lock(counted().mutex);
  OpCalls& row = counted().by_name[call->kind->name];
  row.name = call->kind->name;
  ++row.calls;
  row.failed += has_failed;
  row.dtypes.insert(call->dtypes.begin(), call->dtypes.end());
}

}  // namespace

void count_calls(bool on) {
  std::lock_guard<std::mutex> lock(counted().mutex);
  at::CallbackHandle& observer = counted().observer;
  if (on) counted().by_name.clear();
  if (on == (observer != at::INVALID_CALLBACK_HANDLE)) return;
  if (on) {
    observer = at::addGlobalCallback(at::RecordFunctionCallback(&begin_call, &end_call)
                                         .needsInputs(true)
                                         .needsOutputs(true)
                                         .scopes({at::RecordScope::FUNCTION}));
  } else {
    at::removeCallback(std::exchange(observer, at::INVALID_CALLBACK_HANDLE));
  }
}

std::vector<OpCalls> counted_calls() {
  std::lock_guard<std::mutex> lock(counted().mutex);
  std::vector<OpCalls> rows;
  for (const auto& entry : counted().by_name) rows.push_back(entry.second);
  return rows;
}

}  // namespace tpu::aten
