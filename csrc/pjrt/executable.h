// Executable: a loaded program; owner of a PJRT_LoadedExecutable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/type.h"
#include "pjrt/buffer.h"
#include "pjrt/compile_options.h"

namespace tpu::pjrt {

/// Bytes that the compiler planned for one execution.
struct ExecutableMemory {
  int64_t generated_code = 0;
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t aliases = 0;
  int64_t temporaries = 0;
};

/// How one execution differs from another.
struct Launch {
  /// Where to run; required, also for a program compiled for one device (it must be that one).
  Device* device = nullptr;
  /// Argument numbers that must not be donated this time although the program declares it.
  std::span<const int64_t> non_donatable = {};
  /// The same non-zero number on all devices of one collective run, another one for the next run.
  int id = 1;
  /// If set, receives an event for the end of the whole execution (0.3 to 0.5 us; outputs have their own events).
  Event* done = nullptr;
};

/// Move-only; the client must outlive it. Executions may run at the same time on several threads.
class Executable {
 public:
  Executable() = default;
  /// Takes ownership of `raw`. Made by Client::compile and Client::deserialize.
  Executable(Client& client, PJRT_LoadedExecutable* raw, int device);
  Executable(Executable&& other) noexcept { swap(other); }
  Executable& operator=(Executable other) noexcept {
    swap(other);
    return *this;
  }
  ~Executable() { reset(); }

  explicit operator bool() const { return raw_ != nullptr; }

  /// The fast path: allocates nothing and makes no event. `args` are the parameters in order, `outputs` (exactly
  /// num_outputs()) receive buffers that the caller owns; wrap them in Buffer(device, raw). Arguments need not be
  /// ready. Types and shapes are NOT checked, neither here nor by the plugins: the caller's key guarantees them. On an
  /// error nothing is left in `outputs`, and donated arguments may or may not be deleted (Buffer::is_deleted). Errors
  /// during an asynchronous execution are reported by the outputs, when they are awaited.
  void execute(std::span<PJRT_Buffer* const> args, std::span<PJRT_Buffer*> outputs, const Launch& launch) const;

  size_t num_outputs() const { return num_outputs_; }
  /// Ordinal of its device or CompileOptions::kAnyDevice.
  int device() const { return device_; }
  /// Asked from the plugin.
  std::vector<Type> output_types() const;
  ExecutableMemory memory_stats() const;
  /// For Client::deserialize, by the same plugin build on the same kind of machine. Not checksummed by the plugins.
  std::string serialize() const;
  /// Empty where the plugin has none.
  std::string fingerprint() const;

 private:
  void swap(Executable& other) noexcept;
  void reset() noexcept;

  Client* client_ = nullptr;
  const abi::Api* api_ = nullptr;
  PJRT_Error* (*execute_)(abi::LoadedExecutableExecute*) = nullptr;
  PJRT_LoadedExecutable* raw_ = nullptr;
  PJRT_Executable* description_ = nullptr;  // owned too
  size_t num_outputs_ = 0;
  int device_ = CompileOptions::kAnyDevice;
};

}  // namespace tpu::pjrt
