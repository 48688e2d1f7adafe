// Calling the plugin: one function that calls a slot and turns a PJRT error into our Error (base/error.h).
//
// PJRT code 8 (and 13 when its text is about memory) -> OutOfMemory; 12 and absent slots -> NotImplemented; all others ->
// Plugin. The message is what we did, then the plugin's own text.
#pragma once

#include <string>

#include "base/error.h"
#include "pjrt/abi.h"

namespace tpu::pjrt {

/// Takes ownership of `error` (not null).
Error to_error(const abi::Api* api, PJRT_Error* error, const std::string& doing);
[[noreturn]] void raise_missing_slot(const std::string& doing);

/// Calls the function of the record; `doing` ("compile a program") is put together only when it fails.
template <class Args, class... Doing>
void invoke(const abi::Api* api, Args& args, const Doing&... doing) {
  auto call = abi::function<std::remove_reference_t<decltype(args.base())>>(api);
  if (call == nullptr) [[unlikely]] raise_missing_slot(concat(doing...));
  if (PJRT_Error* error = call(&args)) [[unlikely]] throw to_error(api, error, concat(doing...));
}

/// False in a child forked after the first client was made: the plugin's threads do not exist there.
bool usable_in_this_process();
/// Throws Error(Unavailable) in such a child.
void check_process(const char* doing);
/// Called by Client: from here on a forked child counts as unusable.
void watch_forks();

}  // namespace tpu::pjrt
