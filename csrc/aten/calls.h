// Calls: which ops a program calls on `tpu`, counted while somebody asks, for `python -m torch_tpu ops script.py`.
//
// torch's dispatcher tells of every call (at::RecordFunction, as it tells torch.profiler), so nothing of ours is on the
// way of a call while this is off.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tpu::aten {

struct OpCalls {
  std::string name;                  // "aten::add.out"
  int64_t calls = 0;                 // with those that failed
  int64_t failed = 0;                // ended with an exception
  std::set<c10::ScalarType> dtypes;  // of the `tpu` tensors that went in or came out
};

/// Counts from now on, by all threads, or not any more. On forgets what was counted before.
void count_calls(bool on);
/// Counted are the overloads that a device must answer for, as they come to its kernels: not those that torch composes
/// of them, and once a call that passes through autocast, a mode, a transform or another overload of its op. In the
/// order of their names.
std::vector<OpCalls> counted_calls();

}  // namespace tpu::aten
