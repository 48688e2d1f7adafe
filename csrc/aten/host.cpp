#include "aten/host.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Generator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "aten/host_call.h"
#include "aten/types.h"
#include "base/env.h"
#include "base/log.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/guard.h"
#include "engine/recorder.h"
#include "engine/runtime.h"
#include "engine/transfer.h"

namespace tpu::aten {

namespace {

// Where the host does them it is because the size of their results depends on data, which it must see anyway: no
// lowering is missing (aten/sized_by_data.cpp has them for a TPU), and they are neither counted nor warned about.
const std::unordered_set<std::string> kSizedByData = {
    "aten::nonzero",
    "aten::masked_select",
    "aten::_unique",
    "aten::_unique2",
    "aten::unique_dim",
    "aten::unique_consecutive",
    "aten::unique_dim_consecutive",
    "aten::equal",
    "aten::is_set_to",
    "aten::_local_scalar_dense",
    "aten::index",
    "aten::_index_put_impl_",  // with masks, see Note [Masks as indices] in ops/indexing.cpp
};

// They take lengths on the CPU beside data on the device, on every device.
const std::unordered_set<std::string> kTakesCpuTensors = {"aten::_pack_padded_sequence"};

constexpr size_t kMostHostPlaces = 32;  // of an op: code made at run time has new lines for ever

struct Counts {
  std::mutex mutex;
  std::map<std::string, HostOp> by_name;
};

Counts& counts() {
  static auto* all = new Counts;
  return *all;
}

std::atomic<int> policy{-1};

HostPolicy policy_from_environment() {
  std::string text = env::text("TORCH_TPU_HOST_OPS");
  if (text == "allow") return HostPolicy::Allow;
  if (text == "warn") return HostPolicy::Warn;
  check(text == "error", ErrorCode::Value, "TORCH_TPU_HOST_OPS: expected allow, warn or error, got '", text, "'");
  return HostPolicy::Error;
}

at::Tensor cpu_tensor(c10::Storage storage, const at::Tensor& like) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                         like.dtype());
  tensor.unsafeGetTensorImpl()->set_storage_offset(like.storage_offset());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
  tensor._set_conj(like.is_conj());
  tensor._set_neg(like.is_neg());
  return tensor;
}

c10::Storage storage_of(at::DataPtr data, size_t bytes) {
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes, std::move(data),
                                                            c10::GetCPUAllocator(), /*resizable=*/true));
}

// The type of a Value that holds a whole storage: the tensor's own where it covers the storage, else flat.
Type stored_type(const at::Tensor& tensor, int64_t bytes) {
  ElementType element = element_of(tensor.scalar_type());
  Type own{element, dims_of(tensor.sizes())};
  if (tensor.is_contiguous() && tensor.storage_offset() == 0 && own.bytes() == bytes) return own;
  return {element, {bytes / static_cast<int64_t>(size_of(element))}};
}

engine::ValueRef value_or_zeros(const at::Tensor& tensor) {
  return engine::load_or_zeros(cell_of(tensor), stored_type(tensor, static_cast<int64_t>(tensor.storage().nbytes())));
}

// The storage of a `tpu` tensor as CPU memory that nobody may write.
c10::Storage lent_storage(const at::Tensor& tensor) {
  size_t bytes = tensor.storage().nbytes();
  engine::ValueRef value = value_or_zeros(tensor);
  if (!value->device().is_cpu() || bytes == 0) {
    at::DataPtr memory = c10::GetCPUAllocator()->allocate(bytes);
    if (bytes != 0) engine::to_host(*value, memory.get());
    return storage_of(std::move(memory), bytes);
  }
  value->wait();
  auto* address = const_cast<void*>(value->buffer().host_pointer());
  auto release = [](void* held) { static_cast<engine::Value*>(held)->release(); };
  return storage_of(at::DataPtr(address, value.detach(), release, c10::Device(c10::DeviceType::CPU)), bytes);
}

// A copy of it that belongs to the caller.
c10::Storage own_storage(const at::Tensor& tensor) {
  size_t bytes = tensor.storage().nbytes();
  at::DataPtr memory = c10::GetCPUAllocator()->allocate(bytes);
  if (bytes != 0) engine::to_host(*value_or_zeros(tensor), memory.get());
  return storage_of(std::move(memory), bytes);
}

// A Value on the memory of a CPU storage from now on.
engine::ValueRef value_on(engine::Device& device, const c10::Storage& storage, const Type& type) {
  auto* held = new c10::Storage(storage);
  return engine::adopt_host(device, const_cast<void*>(storage.data()), type, [held] { delete held; });
}

// One call on the host: which CPU storage stands for which storage on `tpu`.
class HostCall {
 public:
  HostCall(const c10::OperatorHandle& op, bool counts) : op_(op), counts_(counts) {}

  void run(c10::Stack* stack) {
    const c10::FunctionSchema& schema = op_.schema();
    size_t argument_count = schema.arguments().size(), first = stack->size() - argument_count;
    std::vector<c10::IValue> original(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end());
    // Written storages first: an argument that shares one must see the copy.
    for (bool written : {true, false}) {
      for (size_t i = 0; i < argument_count; ++i) {
        const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
        if ((alias != nullptr && alias->isWrite()) == written) (*stack)[first + i] = to_host(original[i], written);
      }
    }
    check_same_device();
    if (device_ == nullptr) device_ = &device_of(std::nullopt);
    supply_generator(schema, stack, first);
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    if (counts_) count_host_op(host_op_name(op_), bytes_, current_place());

    write_back(original);
    size_t returns = schema.returns().size(), at = stack->size() - returns;
    for (size_t r = 0; r < returns; ++r) (*stack)[at + r] = from_host((*stack)[at + r], original, schema, r);
  }

 private:
  at::Tensor to_host(const at::Tensor& tensor, bool written) {
    if (tensor.defined() && tensor.is_cpu() && tensor.dim() > 0) has_cpu_tensor_ = true;
    if (!tensor.defined() || !is_tpu(tensor)) return tensor;
    engine::Device& device = cell_of(tensor).device();
    if (device_ == nullptr) device_ = &device;
    check(device_ == &device, ErrorCode::InvalidArgument, "aten::", op_.schema().name(),
          ": Expected all tensors to be on the same device, but found at least two devices, tpu:", device_->ordinal(),
          " and tpu:", device.ordinal(), "!");
    auto* storage = tensor.storage().unsafeGetStorageImpl();
    auto found = storages_.find(storage);
    if (found == storages_.end()) {
      bytes_ += static_cast<int64_t>(storage->nbytes());
      found = storages_.emplace(storage, written ? own_storage(tensor) : lent_storage(tensor)).first;
      if (written) written_.push_back(storage);
    }
    return cpu_tensor(found->second, tensor);
  }

  c10::IValue to_host(const c10::IValue& value, bool written) {
    if (value.isTensor()) return to_host(value.toTensor(), written);
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(to_host(tensor, written));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? std::optional<at::Tensor>(to_host(*tensor, written)) : std::nullopt);
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == c10::DeviceType::PrivateUse1) {
      if (device_ == nullptr) device_ = &device_of(value.toDevice());
      return c10::Device(c10::DeviceType::CPU);
    }
    return value;
  }

  // The CPU kernel itself would take tensors from both sides.
  void check_same_device() const {
    if (!has_cpu_tensor_ || storages_.empty() || kTakesCpuTensors.count(op_.schema().name()) != 0) return;
    fail(ErrorCode::InvalidArgument, op_.schema().name(),
         ": Expected all tensors to be on the same device, but found at least two devices, tpu:", device_->ordinal(),
         " and cpu!");
  }

  // A random op draws from a generator of its own, seeded from the device's stream: the global CPU generator is never
  // touched.
  void supply_generator(const c10::FunctionSchema& schema, c10::Stack* stack, size_t first) {
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      if (schema.arguments()[i].name() != "generator") continue;
      c10::IValue& value = (*stack)[first + i];
      std::optional<at::Generator> given;
      if (!value.isNone()) given = value.toGenerator();
      if (given && given->device().is_cpu()) continue;
      device::Block block = device::generator_of(given, device_->ordinal()).take(1);
      value = at::detail::createCPUGenerator(block.seed ^ (block.offset * 0x9E3779B97F4A7C15ull));
    }
  }

  void write_back(const std::vector<c10::IValue>& original) {
    for (auto* storage : written_) {
      c10::Storage& host = storages_.at(storage);
      auto bytes = static_cast<int64_t>(host.nbytes());
      Type type{ElementType::U8, {bytes}};
      for (const c10::IValue& value : original) {
        if (!value.isTensor() || !value.toTensor().defined()) continue;
        const at::Tensor& tensor = value.toTensor();
        if (tensor.storage().unsafeGetStorageImpl() == storage) type = stored_type(tensor, bytes);
      }
      engine::Cell& cell = device::cell_of(*storage);
      cell.set_bytes(bytes);
      storage->set_nbytes(static_cast<size_t>(bytes));
      cell.store(value_on(*device_, host, type));
    }
  }

  at::Tensor from_host(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cpu()) return tensor;
    auto* host = tensor.storage().unsafeGetStorageImpl();
    for (auto& [storage, lent] : storages_) {
      if (lent.unsafeGetStorageImpl() != host) continue;
      // A view of an argument: a view of the original.
      auto shared = c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage));
      auto view = at::detail::make_tensor<c10::TensorImpl>(
          std::move(shared), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), tensor.dtype());
      view.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset());
      view.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides());
      return view;
    }
    return from_host_tensor(*device_, tensor);
  }

  c10::IValue from_host(const c10::IValue& value, const std::vector<c10::IValue>& original,
                        const c10::FunctionSchema& schema, size_t number) {
    const c10::AliasInfo* alias = schema.returns()[number].alias_info();
    if (alias != nullptr && alias->isWrite()) {
      for (size_t i = 0; i < original.size(); ++i) {
        const c10::AliasInfo* other = schema.arguments()[i].alias_info();
        if (other == nullptr || !other->isWrite() || other->beforeSets() != alias->beforeSets()) continue;
        if (original[i].isTensor() &&
            value.isTensor()) {  // a kernel may leave its result as a conjugate or negative view
          original[i].toTensor()._set_conj(value.toTensor().is_conj());
          original[i].toTensor()._set_neg(value.toTensor().is_neg());
        }
        if (original[i].isTensor() && value.isTensor() && original[i].toTensor().sizes() != value.toTensor().sizes()) {
          // The kernel resized its `out=`.
          original[i].toTensor().unsafeGetTensorImpl()->set_sizes_and_strides(value.toTensor().sizes(),
                                                                              value.toTensor().strides());
        }
        return original[i];
      }
    }
    if (value.isTensor()) return from_host(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(from_host(tensor));
      return list;
    }
    return value;
  }

  const c10::OperatorHandle& op_;
  const bool counts_;
  engine::Device* device_ = nullptr;
  bool has_cpu_tensor_ = false;  // of at least one dimension; a 0-d one stands for a number
  std::unordered_map<c10::StorageImpl*, c10::Storage> storages_;
  std::vector<c10::StorageImpl*> written_;
  int64_t bytes_ = 0;
};

}  // namespace

HostPolicy host_policy() {
  int known = policy.load(std::memory_order_relaxed);
  if (known < 0) policy.store(known = static_cast<int>(policy_from_environment()));
  return static_cast<HostPolicy>(known);
}

void set_host_policy(HostPolicy wanted) { policy.store(static_cast<int>(wanted)); }

std::vector<HostOp> host_ops() {
  std::lock_guard<std::mutex> lock(counts().mutex);
  std::vector<HostOp> rows;
  for (const auto& entry : counts().by_name) rows.push_back(entry.second);
  std::stable_sort(rows.begin(), rows.end(), [](const HostOp& a, const HostOp& b) { return a.calls > b.calls; });
  return rows;
}

void reset_host_ops() {
  std::lock_guard<std::mutex> lock(counts().mutex);
  counts().by_name.clear();
}

std::string host_op_name(const c10::OperatorHandle& op) {
  return concat(op.schema().name(), op.schema().overload_name().empty() ? "" : ".", op.schema().overload_name());
}

std::string current_place() { return engine::describe_line(engine::capture_line()); }

void count_host_op(const std::string& name, int64_t bytes, const std::string& place) {
  std::lock_guard<std::mutex> lock(counts().mutex);
  HostOp& row = counts().by_name[name];
  row.name = name;
  ++row.calls;
  row.bytes += bytes;
  bool is_known = !place.empty() && (row.places.size() < kMostHostPlaces || row.places.count(place) != 0);
  ++row.places[is_known ? place : "elsewhere"];
}

bool has_host_kernel(const c10::OperatorHandle& op) {
  return op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
}

void run_on_host(const c10::OperatorHandle& op, c10::Stack* stack, bool has_lowering) {
  std::string name = host_op_name(op);
  check(has_host_kernel(op), ErrorCode::NotImplemented, name,
        " is not implemented on device tpu: it has neither a lowering nor a CPU kernel");
  if (kSizedByData.count(op.schema().name()) != 0) return HostCall(op, /*counts=*/false).run(stack);
  check(host_policy() != HostPolicy::Error, ErrorCode::NotImplemented, name,
        " has no lowering for the device tpu, and host ops are set to 'error'");
  if (!record_host_call(op, stack)) HostCall(op, /*counts=*/true).run(stack);
  // A call that the CPU refuses as well is no news about this device.
  if (has_lowering || host_policy() != HostPolicy::Warn) return;
  log::warn_once(concat(name,
                        " has no lowering for the device tpu and runs on the host; torch.tpu.host_ops() lists such "
                        "ops, torch.tpu.set_host_ops('error') makes them errors"));
}

void host_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet, c10::Stack* stack) {
  device::translated([&] { run_on_host(op, stack); });
}

at::Tensor host_alias(const at::Tensor& tensor) { return cpu_tensor(lent_storage(tensor), tensor); }

at::Tensor from_host_tensor(engine::Device& device, const at::Tensor& tensor) {
  // The memory is taken over when it is the tensor's alone, starts where the storage starts and lies densely.
  at::Tensor dense = tensor;
  auto bytes = static_cast<int64_t>(tensor.numel() * tensor.itemsize());
  bool takes_over = tensor.storage_offset() == 0 && tensor.is_non_overlapping_and_dense() &&
                    static_cast<int64_t>(tensor.storage().nbytes()) >= bytes &&
                    reinterpret_cast<uintptr_t>(tensor.storage().data()) % pjrt::kZeroCopyAlignment == 0;
  if (!takes_over) dense = tensor.clone(at::MemoryFormat::Contiguous);
  Type type{element_of(dense.scalar_type()), {dense.numel()}};
  if (dense.is_contiguous()) type.dims = dims_of(dense.sizes());
  engine::ValueRef value = bytes == 0 ? engine::zeros(device, type) : value_on(device, dense.storage(), type);
  at::Tensor result = make_tensor(device, dense.scalar_type(), dense.sizes(), dense.strides(), std::move(value));
  result._set_conj(tensor.is_conj());
  result._set_neg(tensor.is_neg());
  return result;
}

}  // namespace tpu::aten
