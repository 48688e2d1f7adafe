#include "pjrt/ffi.h"

#include <xmmintrin.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "pjrt/status.h"

namespace tpu::pjrt {

namespace {

// See Note [FFI records].
namespace frame {

constexpr int kMajor = 0, kMinor = 1;
constexpr int kMetadata = 1;  // type of the extension that asks for the version
constexpr int kExecute = 3;
constexpr int kScalar = 3;  // kind of an attribute

enum Code { kInvalidArgument = 3, kResourceExhausted = 8, kOutOfRange = 11, kUnimplemented = 12, kInternal = 13 };

struct Head {
  size_t struct_size;
  abi::Extension* extensions;
};

struct Buffer : Head {
  int element;
  void* data;
  int64_t rank;
  int64_t* dims;
};

struct Buffers : Head {
  int64_t size;
  int* kinds;
  Buffer** buffers;
};

struct Bytes {
  const char* data;
  size_t size;
};

struct Scalar {
  int element;
  void* value;
};

struct Attributes : Head {
  int64_t size;
  int* kinds;
  Bytes** names;
  void** values;
};

struct Version : Head {
  int major;
  int minor;
};

struct Metadata {
  size_t struct_size;
  Version version;
  uint32_t traits;
};

struct MetadataExtension : abi::Extension {
  Metadata* metadata;
};

struct Error;

struct CreateError : Head {
  const char* message;
  int code;
};

struct Api : Head {
  Version version;
  const void* internal;
  Error* (*create_error)(CreateError*);
};

struct Frame : Head {
  const Api* api;
  void* context;
  int stage;
  Buffers operands;
  Buffers results;
  Attributes attributes;
};

}  // namespace frame

// Extension 5 of the PJRT table.
struct RegisterArgs {
  size_t struct_size;
  const char* target;
  size_t target_size;
  frame::Error* (*handler)(frame::Frame*);
  const char* platform;
  size_t platform_size;
  uint32_t traits;
};

struct FfiExtension : abi::Extension {
  void* register_type;
  void* add_user_data;
  PJRT_Error* (*register_handler)(RegisterArgs*);
};

constexpr int kFfi = 5;

FfiExtension* extension_of(const Plugin& plugin) {
  for (abi::Extension* extension = plugin.api()->extensions; extension != nullptr; extension = extension->next)
    if (extension->type == kFfi) return static_cast<FfiExtension*>(extension);
  return nullptr;
}

// The handler that the plugin calls gets nothing that says for whom, so each function has a handler of its own.
constexpr size_t kMostFunctions = 4;
FfiFunction functions[kMostFunctions];

int code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Index: return frame::kOutOfRange;
    case ErrorCode::OutOfMemory: return frame::kResourceExhausted;
    case ErrorCode::NotImplemented: return frame::kUnimplemented;
    case ErrorCode::Internal: return frame::kInternal;
    default: return frame::kInvalidArgument;
  }
}

std::vector<void*> addresses(const frame::Buffers& buffers) {
  std::vector<void*> found;
  for (int64_t i = 0; i < buffers.size; ++i) found.push_back(buffers.buffers[i]->data);
  return found;
}

int64_t number_of(const frame::Attributes& attributes) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const frame::Bytes& name = *attributes.names[i];
    if (attributes.kinds[i] != frame::kScalar || std::string_view(name.data, name.size) != "number") continue;
    int64_t number = 0;
    std::memcpy(&number, static_cast<frame::Scalar*>(attributes.values[i])->value, sizeof(number));
    return number;
  }
  return 0;
}

// Programs run with denormals flushed to zero; kernels written for ordinary threads expect them.
class Denormals {
 public:
  Denormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ & ~kFlushAndIgnore); }
  ~Denormals() { _mm_setcsr(saved_); }
  Denormals(const Denormals&) = delete;
  Denormals& operator=(const Denormals&) = delete;

 private:
  static constexpr unsigned kFlushAndIgnore = 0x8040;
  unsigned saved_;
};

frame::Error* answer(FfiFunction function, frame::Frame* call) {
  for (abi::Extension* extension = call->extensions; extension != nullptr; extension = extension->next) {
    if (extension->type != frame::kMetadata) continue;
    frame::Metadata& metadata = *static_cast<frame::MetadataExtension*>(extension)->metadata;
    metadata.version.major = frame::kMajor;
    metadata.version.minor = frame::kMinor;
    metadata.traits = 0;
    return nullptr;
  }
  if (call->stage != frame::kExecute) return nullptr;
  frame::CreateError error{};
  error.struct_size = sizeof(error);
  std::string text;
  try {
    Denormals denormals;
    std::vector<void*> operands = addresses(call->operands), results = addresses(call->results);
    function({operands, results, number_of(call->attributes)});
    return nullptr;
  } catch (const Error& failure) {
    text = failure.message();
    error.code = code_of(failure.code());
  } catch (const std::exception& failure) {
    text = failure.what();
    error.code = frame::kInternal;
  }
  error.message = text.c_str();
  return call->api->create_error(&error);
}

template <size_t Number>
frame::Error* handler(frame::Frame* call) {
  return answer(functions[Number], call);
}

constexpr decltype(&handler<0>) handlers[kMostFunctions] = {handler<0>, handler<1>, handler<2>, handler<3>};

}  // namespace

bool has_ffi(const Plugin& plugin) {
  FfiExtension* extension = extension_of(plugin);
  return extension != nullptr && extension->struct_size >= sizeof(FfiExtension) &&
         extension->register_handler != nullptr;
}

void register_ffi(const Plugin& plugin, const char* target, FfiFunction function) {
  static std::mutex mutex;
  static size_t count = 0;
  std::lock_guard<std::mutex> lock(mutex);
  check(has_ffi(plugin), ErrorCode::NotImplemented, "the plugin ", plugin.path(), " calls no functions of ours");
  check(count < kMostFunctions, ErrorCode::Internal, "more than ", kMostFunctions, " functions for the plugin");
  functions[count] = function;
  RegisterArgs args{};
  args.struct_size = sizeof(args);
  args.target = target;
  args.target_size = std::strlen(target);
  args.handler = handlers[count++];
  args.platform = "Host";
  args.platform_size = 4;
  if (PJRT_Error* error = extension_of(plugin)->register_handler(&args))
    raise(plugin.api(), error, concat("registering ", target));
}

}  // namespace tpu::pjrt
