#include "device/errors.h"

#include <c10/util/Exception.h>

namespace tpu::device {

void rethrow(const Error& error) {
  const c10::SourceLocation here = {__func__, __FILE__, __LINE__};
  switch (error.code()) {
    case ErrorCode::Value: throw c10::ValueError(here, error.message());
    case ErrorCode::Type: throw c10::TypeError(here, error.message());
    case ErrorCode::Index: throw c10::IndexError(here, error.message());
    case ErrorCode::LinAlg: throw c10::LinAlgError(here, error.message());
    case ErrorCode::OutOfMemory: throw c10::OutOfMemoryError(here, error.message());
    case ErrorCode::NotImplemented: throw c10::NotImplementedError(here, error.message());
    case ErrorCode::InvalidArgument:
    case ErrorCode::Unavailable:
    case ErrorCode::Plugin:
    case ErrorCode::Internal: break;
  }
  throw c10::Error(here, error.message());
}

}  // namespace tpu::device
