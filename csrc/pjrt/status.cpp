#include "pjrt/status.h"

#include <pthread.h>

#include <mutex>

namespace tpu::pjrt {

std::atomic<bool> in_forked_child{false};

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { in_forked_child.store(true); }); });
}

Failure take(const abi::Api* api, PJRT_Error* error) {
  Failure failure{abi::kUnknown, {}};
  abi::Padded<abi::ErrorCode> code;
  code.error = error;
  if (PJRT_Error* second = abi::function<abi::ErrorCode>(api)(&code)) {
    abi::Padded<abi::ErrorDestroy> destroy;
    destroy.error = second;
    abi::function<abi::ErrorDestroy>(api)(&destroy);
  } else {
    failure.code = code.code;
  }
  abi::Padded<abi::ErrorMessage> message;
  message.error = error;
  abi::function<abi::ErrorMessage>(api)(&message);
  if (message.message != nullptr) failure.text.assign(message.message, message.size);
  abi::Padded<abi::ErrorDestroy> destroy;
  destroy.error = error;
  abi::function<abi::ErrorDestroy>(api)(&destroy);
  return failure;
}

namespace {

bool mentions_memory(const std::string& text) {
  for (const char* phrase : {"out of memory", "Out of memory", "RESOURCE_EXHAUSTED", "allocat"})
    if (text.find(phrase) != std::string::npos) return true;
  return false;
}

ErrorCode code_of(const Failure& failure) {
  if (failure.code == abi::kResourceExhausted) return ErrorCode::OutOfMemory;
  if (failure.code == abi::kInternal && mentions_memory(failure.text)) return ErrorCode::OutOfMemory;
  if (failure.code == abi::kOutOfRange) return ErrorCode::Index;
  if (failure.code == abi::kUnimplemented) return ErrorCode::NotImplemented;
  return ErrorCode::Plugin;
}

}  // namespace

Error to_error(const Failure& failure, const std::string& doing) {
  return Error(code_of(failure), concat(doing, ": the plugin says: ", failure.text, " (PJRT code ", failure.code, ")"));
}

void raise(const abi::Api* api, PJRT_Error* error, const std::string& doing) {
  throw to_error(take(api, error), doing);
}

void raise_missing(const std::string& doing) {
  fail(ErrorCode::NotImplemented, doing, ": this plugin is too old or incomplete, it has no such function");
}

}  // namespace tpu::pjrt
