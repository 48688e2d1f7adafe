// Error: the one exception type of everything below the torch border. Made at the source with what was expected and
// what came; translated once, at the border, into the exception class that PyTorch users expect.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace tpu {

enum class ErrorCode {
  InvalidArgument,  // RuntimeError: shapes, dtypes, devices that do not fit
  Value,            // ValueError
  Type,             // TypeError
  Index,            // IndexError
  LinAlg,           // torch.linalg.LinAlgError: a matrix that cannot be factorized
  OutOfMemory,      // torch.OutOfMemoryError
  NotImplemented,   // NotImplementedError
  Unavailable,      // RuntimeError: no plugin, no device, after fork
  Plugin,           // RuntimeError: the plugin refused or failed; the message carries its text
  Internal,         // RuntimeError: ours, a bug
};

const char* to_string(ErrorCode code);

class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }
  /// Adds one line that says where the error passed, innermost first ("while lowering aten::mm").
  Error& add_trail(const std::string& line) {
    message_ += "\n  " + line;
    return *this;
  }

 private:
  ErrorCode code_;
  std::string message_;
};

/// Text of all parts, streamed one after another.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, concat(parts...));
}

/// Throws Error(code) with the parts as message unless `condition` holds.
template <class... Parts>
void check(bool condition, ErrorCode code, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(code, parts...);
}

}  // namespace tpu
