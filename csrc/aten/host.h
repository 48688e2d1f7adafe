// The host path: an op without a lowering runs through PyTorch's CPU kernel, on the same memory where the plugin's
// memory is host memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <string>
#include <vector>

#include "aten/tensor.h"

namespace tpu::aten {

enum class HostPolicy { Allow, Warn, Error };

/// What to do when an op goes to the host; from TORCH_TPU_HOST_OPS until it is set.
HostPolicy host_policy();
void set_host_policy(HostPolicy policy);

struct HostOp {
  std::string name;
  int64_t calls = 0;
  int64_t bytes = 0;                      // of tensors read and written
  std::map<std::string, int64_t> places;  // calls by the line of Python that made them, see count_host_op
};
/// "aten::cdist", "mylib::op.out".
std::string host_op_name(const c10::OperatorHandle& op);
/// `place` is "file.py:12", or "the backward pass, SvdBackward0"; "elsewhere" stands for an unknown one (empty), and
/// for all that come after the first few of an op.
void count_host_op(const std::string& name, int64_t bytes, const std::string& place);
/// Where the calling thread is in the user's program.
std::string current_place();
/// Every op that went to the host since the last reset, most called first.
std::vector<HostOp> host_ops();
void reset_host_ops();

/// True when the CPU, or a composite kernel, can run the op.
bool has_host_kernel(const c10::OperatorHandle& op);
/// Runs the op on the stack's arguments with a CPU kernel. Inputs are lent read-only; written arguments work on a fresh
/// copy that becomes the Cell's new Value when the kernel has succeeded.
/// An op that has a lowering and is only faster so is not warned about.
void run_on_host(const c10::OperatorHandle& op, c10::Stack* stack, bool has_lowering = false);
/// The same as the fallback kernel of the dispatch key.
void host_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack);

/// A CPU tensor over the elements of `tensor`, waited for: the same memory on a CPU plugin (read-only!), a copy
/// elsewhere. It keeps the Value alive.
at::Tensor host_alias(const at::Tensor& tensor);
/// A `tpu` tensor with the elements of a CPU tensor: its memory without a copy where that is possible, so the CPU
/// tensor must not be written any more.
at::Tensor from_host_tensor(engine::Device& device, const at::Tensor& tensor);

}  // namespace tpu::aten
