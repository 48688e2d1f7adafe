// FFI: functions of ours that programs of a CPU plugin call, by stablehlo.custom_call with api_version 4.
//
// Note [FFI records]. The plugin gives its registration function in extension 5 of the PJRT table, and hands a *call
// frame* to a function for each call, and once to ask for the version of the frame that the function understands. All
// records begin with their size and grow at their end; this file declares the oldest frame, version 0.1, which plugins
// since 2025-11 accept (facts/pjrt.md, 2.7). Operands and results are dense, in the layouts that the call names
// (row-major when it names none).
#pragma once

#include <cstdint>
#include <span>

#include "pjrt/plugin.h"

namespace tpu::pjrt {

struct FfiCall {
  std::span<void* const> operands;
  std::span<void* const> results;
  int64_t number;  // the attribute `number : i64` of the call
};

/// May run on any thread, and in several at once. An Error that it throws ends the program with that error: its text,
/// and Index, OutOfMemory and NotImplemented as they are. Denormal numbers count as such meanwhile, which they do not
/// in the programs around it.
using FfiFunction = void (*)(const FfiCall&);

/// Whether programs of this plugin can call functions of ours.
bool has_ffi(const Plugin& plugin);
/// Makes `function` what `target` calls in programs compiled or loaded from here on. Throws NotImplemented without
/// has_ffi(). Once per name and process.
void register_ffi(const Plugin& plugin, const char* target, FfiFunction function);

}  // namespace tpu::pjrt
