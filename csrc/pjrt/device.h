// Device: one addressable device of a client.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pjrt/abi.h"

namespace tpu::pjrt {

class Client;

/// What the plugin's allocator says; fields it does not know are -1.
struct DeviceMemory {
  int64_t bytes_in_use = 0;
  int64_t peak_bytes_in_use = -1;
  int64_t bytes_limit = -1;
  int64_t largest_alloc = -1;
  int64_t num_allocs = -1;
};

/// Owned by its Client; its address is stable as long as the client lives.
class Device {
 public:
  Device(Client& client, PJRT_Device* raw, int ordinal);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Client& client() const { return client_; }
  PJRT_Device* raw() const { return raw_; }
  const abi::Api* api() const { return api_; }
  /// Position among the client's devices: the index in `tpu:1`.
  int ordinal() const { return ordinal_; }
  /// The plugin's global id, used in device assignments.
  int id() const { return id_; }
  const std::string& kind() const { return kind_; }
  const std::string& description() const { return description_; }
  /// Buffers of this device are ordinary host memory.
  bool is_cpu() const { return is_cpu_; }
  /// None where the plugin keeps no statistics (the CPU plugins).
  std::optional<DeviceMemory> memory_stats() const;

 private:
  Client& client_;
  const abi::Api* api_;
  PJRT_Device* raw_;
  int ordinal_;
  int id_ = 0;
  bool is_cpu_;
  std::string kind_;
  std::string description_;
};

}  // namespace tpu::pjrt
