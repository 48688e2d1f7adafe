#include "pjrt/device.h"

#include "pjrt/client.h"
#include "pjrt/status.h"

namespace tpu::pjrt {

Device::Device(Client& client, PJRT_Device* raw, int ordinal)
    : client_(client), api_(client.api()), raw_(raw), ordinal_(ordinal), is_cpu_(client.is_cpu()) {
  abi::Padded<abi::DeviceDescription> description;
  description.device = raw;
  invoke(api_, description, "describing device ", ordinal);
  abi::Padded<abi::DescriptionId> id;
  id.description = description.description;
  invoke(api_, id, "asking for the id of device ", ordinal);
  id_ = id.id;
  abi::Padded<abi::DescriptionKind> kind;
  kind.description = description.description;
  invoke(api_, kind, "asking for the kind of device ", ordinal);
  kind_.assign(kind.text, kind.size);
  abi::Padded<abi::DescriptionToString> text;
  text.description = description.description;
  invoke(api_, text, "asking for the description of device ", ordinal);
  description_.assign(text.text, text.size);
}

std::optional<DeviceMemory> Device::memory_stats() const {
  check_process("asking for memory statistics");
  abi::Padded<abi::DeviceMemoryStats> args;
  args.device = raw_;
  auto call = abi::function<abi::DeviceMemoryStats>(api_);
  if (call == nullptr) return std::nullopt;
  if (PJRT_Error* error = call(&args)) {
    Failure failure = take(api_, error);
    if (failure.code == abi::kUnimplemented) return std::nullopt;
    throw to_error(failure, concat("asking for memory statistics of ", description_));
  }
  auto value = [](const auto& number) { return number.is_set ? number.value : int64_t{-1}; };
  return DeviceMemory{args.bytes_in_use, value(args.peak_bytes_in_use), value(args.bytes_limit),
                      value(args.largest_alloc), value(args.num_allocs)};
}

}  // namespace tpu::pjrt
