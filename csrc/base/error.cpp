#include "base/error.h"

namespace tpu {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument: return "invalid argument";
    case ErrorCode::Value: return "value";
    case ErrorCode::Type: return "type";
    case ErrorCode::Index: return "index";
    case ErrorCode::LinAlg: return "linear algebra";
    case ErrorCode::OutOfMemory: return "out of memory";
    case ErrorCode::NotImplemented: return "not implemented";
    case ErrorCode::Unavailable: return "unavailable";
    case ErrorCode::Plugin: return "plugin";
    case ErrorCode::Internal: return "internal";
  }
  return "unknown";
}

}  // namespace tpu
