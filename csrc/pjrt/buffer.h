// Buffer: an immutable array in the memory of one device; owner of a PJRT_Buffer.
#pragma once

#include <cstddef>
#include <utility>

#include "base/type.h"
#include "pjrt/device.h"
#include "pjrt/event.h"

namespace tpu::pjrt {

/// What the plugin may do with host memory given to Client::buffer_from_host. Values are those of the C ABI.
enum class HostSemantics : int {
  CopyDuringCall = 0,          // the memory is free again when the call returns
  UntilTransferCompletes = 1,  // until the release callback
  ZeroCopyReadOnly = 2,        // the buffer may be a window on the memory, until the buffer is destroyed
  ZeroCopyMutable = 3,         // the same, and a donated buffer may be written in place
};

/// Host memory must be aligned to this for zero copy; otherwise the CPU plugins copy silently.
inline constexpr size_t kZeroCopyAlignment = 64;

int buffer_type(ElementType type);
/// Throws Error(NotImplemented) for a plugin type without an ElementType.
ElementType element_type(int buffer_type);

/// Move-only; the client must outlive it. Any thread may use it, but destruction must not race with other uses.
class Buffer {
 public:
  Buffer() = default;
  /// Takes ownership, for instance of an output of Executable::execute.
  Buffer(Device& device, PJRT_Buffer* raw) : device_(&device), raw_(raw) {}
  Buffer(Buffer&& other) noexcept : device_(other.device_), raw_(std::exchange(other.raw_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(device_, other.device_);
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Buffer() {
    if (raw_ != nullptr) destroy(*device_, raw_);
  }
  /// Destroys an unwrapped buffer; 0.4 to 1 us on the CPU plugins. No-op in a forked child.
  static void destroy(Device& device, PJRT_Buffer* raw);

  explicit operator bool() const { return raw_ != nullptr; }
  PJRT_Buffer* raw() const { return raw_; }
  /// Gives up ownership.
  PJRT_Buffer* release() { return std::exchange(raw_, nullptr); }
  Device& device() const { return *device_; }

  /// Element type and shape, asked from the plugin.
  Type type() const;
  /// Bytes it occupies on the device.
  size_t device_bytes() const;
  /// Donated or deleted: every further use is an error.
  bool is_deleted() const;

  Event ready_event() const;
  bool is_ready() const;
  /// Blocks until the contents exist. Throws the plugin's error if the program that computes it failed.
  void await_ready() const;
  /// Address of the elements, row-major, on a CPU plugin; does not wait, and is valid while this buffer lives and is
  /// not donated. Throws Error(NotImplemented) on other platforms.
  const void* host_pointer() const;
  /// Waits, then writes the elements in row-major order; `size` must be exactly the bytes of type().
  void copy_to_host(void* data, size_t size) const;
  /// A copy on another (or the same) device of this client; does not wait.
  Buffer copy_to_device(Device& target) const;

 private:
  const abi::Api* api() const;  // throws Error(Internal) for an empty Buffer, which a plugin would not survive

  Device* device_ = nullptr;
  PJRT_Buffer* raw_ = nullptr;
};

/// While it lives the plugin neither frees the memory nor writes into it: a donation makes a copy instead.
class ExternalReference {
 public:
  ExternalReference() = default;
  /// The buffer must outlive the reference.
  explicit ExternalReference(const Buffer& buffer);
  ExternalReference(ExternalReference&& other) noexcept : api_(other.api_), raw_(std::exchange(other.raw_, nullptr)) {}
  ExternalReference& operator=(ExternalReference other) noexcept {
    std::swap(api_, other.api_);
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~ExternalReference();

 private:
  const abi::Api* api_ = nullptr;
  PJRT_Buffer* raw_ = nullptr;
};

}  // namespace tpu::pjrt
