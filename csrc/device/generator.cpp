#include "device/generator.h"

#include <array>
#include <cstring>

#include <ATen/EmptyTensor.h>
#include <c10/core/TensorImpl.h>

#include "base/error.h"
#include "device/errors.h"
#include "device/guard.h"

namespace tpu::device {

namespace {

constexpr size_t kStateBytes = 16;

// Default generators exist from their first use on, which may be before anybody knows how many devices there are; until
// then they have the seed that was last given to all.
struct Defaults {
  std::mutex mutex;
  uint64_t seed = c10::default_rng_seed_val;
  std::array<at::Generator, 128> generators;
};

Defaults& defaults() {
  static auto* instance = new Defaults();
  return *instance;
}

}  // namespace

Generator::Generator(c10::DeviceIndex device) : Generator(device, std::make_shared<State>()) {}

Generator::Generator(c10::DeviceIndex device, std::shared_ptr<State> state)
    : c10::GeneratorImpl(c10::Device(device_type(), device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      state_(std::move(state)) {}

Block Generator::take(uint64_t counters) {
  std::lock_guard lock(mutex_);
  std::lock_guard state_lock(state_->mutex);
  Block block = {state_->seed, state_->offset};
  state_->offset += counters;
  return block;
}

void Generator::set_current_seed(uint64_t seed) {
  std::lock_guard lock(state_->mutex);
  state_->seed = seed;
  state_->offset = 0;
}

void Generator::set_offset(uint64_t offset) {
  std::lock_guard lock(state_->mutex);
  state_->offset = offset;
}

uint64_t Generator::get_offset() const {
  std::lock_guard lock(state_->mutex);
  return state_->offset;
}

uint64_t Generator::current_seed() const {
  std::lock_guard lock(state_->mutex);
  return state_->seed;
}

uint64_t Generator::seed() {
  uint64_t seed = c10::detail::getNonDeterministicRandom();
  set_current_seed(seed);
  return seed;
}

void Generator::set_state(const c10::TensorImpl& state) {
  translated([&] {
    check(state.device().is_cpu() && state.dtype() == caffe2::TypeMeta::Make<uint8_t>() && state.is_contiguous() &&
              static_cast<size_t>(state.numel()) == kStateBytes,
          ErrorCode::Type, "the state of a tpu generator is a contiguous uint8 tensor of ", kStateBytes,
          " elements on the CPU, got ", state.numel(), " elements of ", state.dtype().name(), " on ",
          state.device().str());
  });
  uint64_t words[2];
  std::memcpy(words, state.data(), kStateBytes);
  std::lock_guard lock(state_->mutex);
  state_->seed = words[0];
  state_->offset = words[1];
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const {
  at::TensorBase state =
      at::detail::empty_cpu({static_cast<int64_t>(kStateBytes)}, at::TensorOptions().dtype(at::kByte));
  uint64_t words[2];
  {
    std::lock_guard lock(state_->mutex);
    words[0] = state_->seed;
    words[1] = state_->offset;
  }
  std::memcpy(state.mutable_data_ptr(), words, kStateBytes);
  return state.getIntrusivePtr();
}

void Generator::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) {
  auto* generator = dynamic_cast<Generator*>(other.get());
  translated([&] { check(generator != nullptr, ErrorCode::Type, "expected the state of a tpu generator"); });
  state_ = generator->state_;
}

c10::intrusive_ptr<c10::GeneratorImpl> Generator::graphsafe_get_state() const {
  return c10::intrusive_ptr<c10::GeneratorImpl>::reclaim(new Generator(device_.index(), state_));
}

Generator* Generator::clone_impl() const {
  auto state = std::make_shared<State>();
  std::lock_guard lock(state_->mutex);
  state->seed = state_->seed;
  state->offset = state_->offset;
  return new Generator(device_.index(), std::move(state));
}

Generator& generator_of(const std::optional<at::Generator>& given, int device) {
  if (!given.has_value() || !given->defined()) {
    return *static_cast<Generator*>(default_generator(device).unsafeGetGeneratorImpl());
  }
  c10::Device owner = given->device();
  if (!owner.is_privateuseone() || owner.index() != device) [[unlikely]]
    fail(ErrorCode::InvalidArgument, "expected a generator of tpu:", device, ", got one of ", owner.str());
  return *static_cast<Generator*>(given->unsafeGetGeneratorImpl());
}

const at::Generator& default_generator(int device) {
  Defaults& all = defaults();
  std::lock_guard lock(all.mutex);
  at::Generator& generator = all.generators.at(device);
  if (!generator.defined()) {
    generator = at::make_generator<Generator>(static_cast<c10::DeviceIndex>(device));
    generator.set_current_seed(all.seed);
  }
  return generator;
}

void seed_default_generators(uint64_t seed) {
  Defaults& all = defaults();
  std::lock_guard lock(all.mutex);
  all.seed = seed;
  for (at::Generator& generator : all.generators) {
    if (!generator.defined()) continue;
    std::lock_guard generator_lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

}  // namespace tpu::device
