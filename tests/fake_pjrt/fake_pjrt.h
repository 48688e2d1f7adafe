// Control of the fake plugin: a PJRT plugin that accepts any program, gives zeros, counts calls and fails on demand.
// Load it like any plugin (Plugin::load(FAKE_PJRT_PATH)), then use FakePjrt to steer it.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>

/// The exported functions of the library, found at run time because a test reaches the plugin only through dlopen.
/// Names of calls: compile, deserialize, execute, client_create, buffer_from_host, to_host, copy_to_device, await,
/// unsafe_pointer, serialize. Counters besides the calls: executables_made, executables_destroyed, buffers_made,
/// buffers_destroyed.
class FakePjrt {
 public:
  explicit FakePjrt(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) { reset(); }

  /// Counters to zero; demanded failures, refused flags and the hold are forgotten; the platform is "fake" again.
  void reset() { call<void()>("fake_pjrt_reset")(); }
  int64_t count(const char* name) { return call<int64_t(const char*)>("fake_pjrt_count")(name); }
  int64_t live_buffers() { return count("buffers_made") - count("buffers_destroyed"); }
  int64_t live_executables() { return count("executables_made") - count("executables_destroyed"); }
  /// The next calls of that name fail. "output": the next execution succeeds, but its outputs turn out to be failed;
  /// "late execute": it fails when it has taken the memory that was donated to it.
  void fail_next(const char* name, int code, const char* message, int times = 1) {
    call<void(const char*, int, const char*, int)>("fake_pjrt_fail_next")(name, code, message, times);
  }
  /// The last output of the next execution begins with these bytes.
  void give_next(const void* data, size_t size) { call<void(const void*, size_t)>("fake_pjrt_give_next")(data, size); }
  /// Clients made from now on say this platform name; with "cpu" buffers are read through their address.
  void set_platform(const char* name) { call<void(const char*)>("fake_pjrt_set_platform")(name); }
  /// Compiles that send this flag are refused the way XLA does it.
  void refuse_flag(const char* name) { call<void(const char*)>("fake_pjrt_refuse_flag")(name); }
  /// While held, outputs of executions are not ready.
  void hold(bool on) { call<void(bool)>("fake_pjrt_hold")(on); }
  std::string last_program() { return last("fake_pjrt_last_program"); }
  std::string last_compile_options() { return last("fake_pjrt_last_compile_options"); }

 private:
  template <class F>
  F* call(const char* name) {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }
  std::string last(const char* name) {
    size_t size = 0;
    const char* bytes = call<const char*(size_t*)>(name)(&size);
    return std::string(bytes, size);
  }

  void* library_;
};
