#include "device/hooks.h"

#include <ATen/core/Generator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Storage.h>

#include "base/error.h"
#include "device/allocator.h"
#include "device/errors.h"
#include "device/generator.h"
#include "device/guard.h"
#include "device/host_allocator.h"
#include "device/profiler.h"
#include "device/startup.h"
#include "engine/runtime.h"

namespace tpu::device {

namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  void init() const override {
    translated([] { ensure_started(); });
  }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex device) const override {
    return engine::Runtime::is_started() && device < device_count();
  }

  c10::DeviceIndex deviceCount() const override { return static_cast<c10::DeviceIndex>(device_count()); }
  c10::DeviceIndex getCurrentDevice() const override { return static_cast<c10::DeviceIndex>(current_device()); }
  void setCurrentDevice(c10::DeviceIndex device) const override { exchangeDevice(device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return static_cast<c10::DeviceIndex>(translated([&] { return exchange_device(device); }));
  }
  // Negative: keep the current one (there is no device).
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? getCurrentDevice() : exchangeDevice(device);
  }

  c10::Device getDeviceFromPtr(void* address) const override {
    int device = device_of_address(address);
    translated([&] {
      check(device >= 0 && device < device_count(), ErrorCode::InvalidArgument, "no tensor on device tpu has address ",
            address);
    });
    return c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
  }
  at::Allocator* getPinnedMemoryAllocator() const override { return &host_allocator(); }
  bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    translated([&] { resize(*storage.unsafeGetStorageImpl(), static_cast<int64_t>(bytes)); });
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(existing(device));
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return at::make_generator<Generator>(static_cast<c10::DeviceIndex>(existing(device)));
  }

 private:
  /// The current device for -1. Without a plugin the one device that could be there: a seed needs no runtime.
  static int existing(c10::DeviceIndex device) {
    int ordinal = device < 0 ? current_device() : device;
    int count = std::max(device_count(), 1);
    translated([&] {
      check(ordinal < count, ErrorCode::InvalidArgument, "device tpu:", ordinal,
            " does not exist; number of devices: ", count);
    });
    return ordinal;
  }
};

}  // namespace

void register_with_torch() {
  check(!at::isPrivateUse1HooksRegistered(), ErrorCode::Unavailable,
        "another backend is registered for torch's PrivateUse1 device already");
  at::RegisterPrivateUse1HooksInterface(new Hooks());  // torch keeps these four until the very end
  c10::impl::DeviceGuardImplRegistrar guard_registrar(c10::DeviceType::PrivateUse1, &guard());
  c10::SetAllocator(c10::DeviceType::PrivateUse1, &allocator());
  at::setHostAllocator(c10::DeviceType::PrivateUse1, &host_allocator());
  register_profiler();
}

}  // namespace tpu::device
