// Calling the plugin: one function that calls a slot and turns a PJRT error into our Error (base/error.h).
//
// PJRT code 8 (and 13 when its text is about memory) -> OutOfMemory; 11 -> Index; 12 and absent slots ->
// NotImplemented; others -> Plugin. The message is what we did, then the plugin's own text.
#pragma once

#include <atomic>
#include <string>

#include "base/error.h"
#include "pjrt/abi.h"

namespace tpu::pjrt {

/// A PJRT error, read and destroyed.
struct Failure {
  int code;  // abi::Code
  std::string text;
};

/// Takes ownership of `error` (not null).
Failure take(const abi::Api* api, PJRT_Error* error);
Error to_error(const Failure& failure, const std::string& doing);
[[noreturn]] void raise(const abi::Api* api, PJRT_Error* error, const std::string& doing);
[[noreturn]] void raise_missing(const std::string& doing);

template <class Args>
auto function_or_raise(const abi::Api* api, const char* doing) {
  auto call = abi::function<Args>(api);
  if (call == nullptr) [[unlikely]]
    raise_missing(doing);
  return call;
}

/// Calls the function of the record; `doing` ("compiling a program") is put together only when it fails.
template <class Args, class... Doing>
void invoke(const abi::Api* api, abi::Padded<Args>& args, const Doing&... doing) {
  auto call = abi::function<Args>(api);
  if (call == nullptr) [[unlikely]]
    raise_missing(concat(doing...));
  if (PJRT_Error* error = call(&args)) [[unlikely]]
    raise(api, error, concat(doing...));
}

/// For destructors: an absent slot or an error is nothing that anybody could act on.
template <class Args>
void invoke_quietly(const abi::Api* api, abi::Padded<Args>& args) noexcept {
  auto call = abi::function<Args>(api);
  PJRT_Error* error = call != nullptr ? call(&args) : nullptr;
  if (error == nullptr) return;
  abi::Padded<abi::ErrorDestroy> destroy;
  destroy.error = error;
  abi::function<abi::ErrorDestroy>(api)(&destroy);
}

/// True in a child forked after the first client was made: the plugin's threads do not exist there, a compile would
/// hang.
extern std::atomic<bool> in_forked_child;
/// From here on a forked child counts as such.
void watch_forks();
/// Throws Error(Unavailable) in such a child.
inline void check_process(const char* doing) {
  check(!in_forked_child.load(std::memory_order_relaxed), ErrorCode::Unavailable, doing,
        ": the device was used before this process was forked, and cannot be used in the child; start processes with "
        "the 'spawn' or 'forkserver' method, or touch the device only in the children");
}

}  // namespace tpu::pjrt
