// The border to torch: tpu::Error -> the c10 exception class that becomes the Python class users expect.
#pragma once

#include <utility>

#include "base/error.h"

namespace tpu::device {

/// Throws the c10 exception of the error's code, with the error's message.
[[noreturn]] void rethrow(const Error& error);

/// Calls `function` and gives its result; a tpu::Error leaves as a c10 exception. Every function that torch calls runs
/// in it.
template <class Function>
decltype(auto) translated(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const Error& error) { rethrow(error); }
}

}  // namespace tpu::device
