// Generator: the random state of one device, (seed, offset) of a Philox4x32-10 stream, kept on the host.
//
// A random op takes a block of counters; the program that draws the numbers gets (seed, offset) as run-time arguments.
// How far the offset moves depends on sizes only, never on data, so that eager, fused and compiled code give the same
// numbers.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace tpu::device {

/// The first counter of a block of the stream of `seed`.
struct Block {
  uint64_t seed;
  uint64_t offset;
};

class Generator final : public c10::GeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex device);

  /// Takes the next `counters` counters (of four 32-bit words each). Thread-safe; the caller must not hold mutex_.
  Block take(uint64_t counters);

  // As everywhere in torch, callers of the functions below hold mutex_.
  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  /// 16 bytes, seed then offset, little-endian, as a uint8 tensor on the CPU.
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  /// From here on this generator and `other` draw from one and the same stream. torch.compile swaps states so.
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) override;
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;

  static c10::DeviceType device_type() { return c10::DeviceType::PrivateUse1; }

 private:
  struct State {
    std::mutex mutex;  // its own: two generators may share a state
    uint64_t seed = c10::default_rng_seed_val;
    uint64_t offset = 0;
  };

  Generator(c10::DeviceIndex device, std::shared_ptr<State> state);
  Generator* clone_impl() const override;

  std::shared_ptr<State> state_;
};

/// The generator that an op uses: `given` (Error(InvalidArgument) when it belongs to another device), else the default
/// one of device number `device`.
Generator& generator_of(const std::optional<at::Generator>& given, int device);
/// The default generator of a device; lives as long as the process and exists before the runtime is started.
const at::Generator& default_generator(int device);
/// Gives `seed` to the default generators of all devices, also those that do not exist yet.
void seed_default_generators(uint64_t seed);

}  // namespace tpu::device
