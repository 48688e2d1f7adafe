#include "engine/run.h"

#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "engine/activity.h"
#include "engine/recorder.h"
#include "engine/runtime.h"

namespace tpu::engine {

namespace {

// Small vectors that were sent before, by their bytes: `x * 2` in a loop transfers nothing.
class SmallVectors {
 public:
  /// What must outlive the dispatch beyond the slots goes into `kept`: a long vector, sent anew, and what lost its
  /// slot.
  PJRT_Buffer* find_or_send(Device& device, ElementType element, const void* data, int64_t count,
                            std::vector<pjrt::Buffer>& kept) {
    size_t bytes = static_cast<size_t>(count) * size_of(element);
    if (bytes > kBytes) {
      kept.push_back(send(device, element, data, count));
      return kept.back().raw();
    }
    Hasher hasher;
    std::array<uint64_t, kBytes / 8> words{};
    std::memcpy(words.data(), data, bytes);
    for (size_t i = 0; i * 8 < bytes; ++i) hasher.add(words[i]);
    hasher.add(static_cast<uint64_t>(element) | bytes << 8);
    Slot& slot = slots_[hasher.finish().low % kSlots];
    bool same = slot.device == &device && slot.element == element && slot.bytes == bytes && slot.words == words;
    if (!same) {
      // What was here may be an argument of this very call, whose vectors can fall on the same slot.
      kept.push_back(std::exchange(slot.buffer, send(device, element, data, count)));
      slot.device = &device;
      slot.element = element;
      slot.bytes = bytes;
      slot.words = words;
    }
    return slot.buffer.raw();
  }

 private:
  static constexpr size_t kSlots = 256;
  static constexpr size_t kBytes = 64;
  struct Slot {
    Device* device = nullptr;
    ElementType element = ElementType::F32;
    size_t bytes = 0;
    std::array<uint64_t, kBytes / 8> words{};
    pjrt::Buffer buffer;
  };

  static pjrt::Buffer send(Device& device, ElementType element, const void* data, int64_t count) {
    return device.client().buffer_from_host(data, {element, {count}}, device.pjrt());
  }

  std::array<Slot, kSlots> slots_;
};

SmallVectors& small_vectors() {
  thread_local std::unique_ptr<SmallVectors> own = std::make_unique<SmallVectors>();
  return *own;
}

template <class T>
T as(const ops::Scalar& scalar) {
  bool exact = scalar.is_integer() && (std::is_integral_v<T> || scalar.kind != ops::Scalar::Kind::Unsigned);
  return exact ? static_cast<T>(scalar.integer) : static_cast<T>(scalar.real);
}

void check_scalar(const graph::ScalarUse& use, const ops::Scalar& scalar) {
  // A double beyond int64 has no integer to wrap to, whoever gave it.
  bool is_lost =
      is_integral(use.wanted) && scalar.kind == ops::Scalar::Kind::Double && !(std::abs(scalar.real) < 0x1p63);
  if (is_lost || (use.is_exact && !ops::fits(scalar, use.wanted))) [[unlikely]]
    fail(ErrorCode::InvalidArgument, ops::overflow_message(use.wanted));
}

// The scalars that the program reads of one vector, packed in its type; what it does not read stays zero.
PJRT_Buffer* send_scalars(Device& device, const graph::RuntimeArgument& argument, std::span<const ops::Scalar> scalars,
                          std::vector<pjrt::Buffer>& kept) {
  InlineVector<double, 16> words;  // enough room for every packed type: at most 16 bytes each
  words.resize(scalars.size() * 2);
  void* data = words.data();
  for (const graph::ScalarUse& use : argument.uses) {
    auto i = static_cast<size_t>(use.position);
    const ops::Scalar& scalar = scalars[i];
    check_scalar(use, scalar);
    double imag = scalar.kind == ops::Scalar::Kind::Complex ? scalar.imag : 0;
    switch (argument.element) {
      case ElementType::F32: static_cast<float*>(data)[i] = as<float>(scalar); break;
      case ElementType::F64: static_cast<double*>(data)[i] = as<double>(scalar); break;
      case ElementType::S64: static_cast<int64_t*>(data)[i] = as<int64_t>(scalar); break;
      case ElementType::C64:
        static_cast<float*>(data)[2 * i] = as<float>(scalar);
        static_cast<float*>(data)[2 * i + 1] = static_cast<float>(imag);
        break;
      case ElementType::C128:
        static_cast<double*>(data)[2 * i] = as<double>(scalar);
        static_cast<double*>(data)[2 * i + 1] = imag;
        break;
      default: fail(ErrorCode::Internal, "no scalars are packed as ", torch_name(argument.element));
    }
  }
  return small_vectors().find_or_send(device, argument.element, data, static_cast<int64_t>(scalars.size()), kept);
}

// Reads s64[2] of a program with checks and throws what failed, see Note [Value checks].
void raise_failed_check(const Plan& plan, const pjrt::Buffer& packed) {
  int64_t pair[2] = {0, 0};
  packed.copy_to_host(pair, sizeof pair);
  if (pair[0] == 0) return;
  const graph::Check& check = plan.checks[static_cast<size_t>(pair[0] - 1)];
  std::string message = check.message;
  size_t hole = message.find("{}");
  if (hole != std::string::npos) message.replace(hole, 2, std::to_string(pair[1]));
  fail(check.code, message);
}

// Donation is declared by the program and vetoed here for inputs that somebody else holds, so that timing never causes
// a compile.
class Donation {
 public:
  Donation(const Plan& plan, const Arguments& arguments) {
    if (!plan.any_donor) return;
    for (const graph::Output& output : plan.outputs) {
      if (output.donor < 0) continue;
      // Programs with value checks keep their inputs: a failed check must not have destroyed anything.
      bool is_worth = plan.checks.empty() && output.stored.bytes() >= kDonatedBytes;
      if (!is_worth || !take(arguments, static_cast<size_t>(output.donor))) vetoed_.push_back(output.donor);
    }
  }

  std::span<const int64_t> vetoed() const { return {vetoed_.data(), vetoed_.size()}; }
  // The program failed: what was given away is gone.
  void fail(Device& device, const Error& error) const {
    for (Cell* cell : cells_)
      cell->store(ValueRef::adopt(new Value(device, {ElementType::U8, {cell->bytes()}}, error)));
  }

 private:
  bool take(const Arguments& arguments, size_t input) {
    Value* value = arguments.inputs[input];
    if (arguments.cells_are_rebound) {
      if (value->holders() != 1) return false;
    } else {
      Cell* cell = arguments.donors[input];
      if (cell == nullptr || !cell->take_for_donation(value, 1)) return false;
      cells_.push_back(cell);
    }
    value->set_donated();
    return true;
  }

  InlineVector<int64_t, 8> vetoed_;
  InlineVector<Cell*, 8> cells_;
};

// Runs the program and its checks: one buffer per output. On an error no buffer is left.
template <class Take>
void execute(Plan& plan, Device& device, const Arguments& arguments, Take&& take) {
  device.expect_room(fresh_bytes(plan));
  InlineVector<PJRT_Buffer*, 24> args;
  for (const Value* input : arguments.inputs) args.push_back(input->buffer().raw());
  std::vector<pjrt::Buffer> kept;
  std::optional<pjrt::Buffer> random;
  for (const graph::RuntimeArgument& argument : plan.arguments) {
    switch (argument.kind) {
      case graph::RuntimeArgument::Kind::Starts:
        args.push_back(small_vectors().find_or_send(device, ElementType::S64, arguments.starts.data(),
                                                    static_cast<int64_t>(arguments.starts.size()), kept));
        break;
      case graph::RuntimeArgument::Kind::Scalars:
        args.push_back(send_scalars(device, argument, arguments.scalars, kept));
        break;
      case graph::RuntimeArgument::Kind::Random: {
        Type type{ElementType::U64, {static_cast<int64_t>(arguments.random.size())}};
        random.emplace(device.client().buffer_from_host(arguments.random.data(), type, device.pjrt()));
        args.push_back(random->raw());
        break;
      }
    }
  }

  Donation donation(plan, arguments);
  InlineVector<PJRT_Buffer*, 16> results(plan.executable.num_outputs(), nullptr);
  pjrt::Launch launch;
  launch.device = &device.pjrt();
  launch.non_donatable = donation.vetoed();
  ActivityScope activity(Activity::Kind::Execute, plan.name, device);
  try {
    std::optional<Blocking> blocking;
    if (plan.is_heavy) blocking.emplace();
    plan.executable.execute({args.data(), args.size()}, {results.data(), results.size()}, launch);
  } catch (Error& error) {
    error.add_trail(concat("while running ", plan.name));
    donation.fail(device, error);
    throw;
  }
  auto give = [&](size_t k, pjrt::Buffer buffer) {
    if (k == 0) activity.last_until(buffer);
    take(k, std::move(buffer));
  };
  if (plan.checks.empty()) {
    for (size_t k = 0; k < plan.outputs.size(); ++k) give(k, pjrt::Buffer(device.pjrt(), results[k]));
    return;
  }
  std::vector<pjrt::Buffer> buffers;
  for (PJRT_Buffer* result : results) buffers.emplace_back(device.pjrt(), result);
  {
    std::optional<Blocking> blocking;
    if (plan.is_heavy) blocking.emplace();
    raise_failed_check(plan, buffers.back());
  }
  for (size_t k = 0; k < plan.outputs.size(); ++k) give(k, std::move(buffers[k]));
}

}  // namespace

void run(Plan& plan, Device& device, const Arguments& arguments, std::span<ValueRef> outputs) {
  execute(plan, device, arguments, [&](size_t k, pjrt::Buffer buffer) {
    outputs[k] = ValueRef::adopt(new Value(device, plan.outputs[k].stored, std::move(buffer), plan.is_lengthy));
  });
  if (detail::waits.load(std::memory_order_relaxed)) [[unlikely]]
    for (const ValueRef& output : outputs.first(plan.outputs.size())) output->wait();
}

void run_pending(Plan& plan, Device& device, const Arguments& arguments, std::span<Value* const> outputs) {
  execute(plan, device, arguments,
          [&](size_t k, pjrt::Buffer buffer) { outputs[k]->become(std::move(buffer), plan.is_lengthy); });
}

void check_scalars(const Plan& plan, std::span<const ops::Scalar> scalars) {
  for (const graph::RuntimeArgument& argument : plan.arguments)
    for (const graph::ScalarUse& use : argument.uses) check_scalar(use, scalars[static_cast<size_t>(use.position)]);
}

}  // namespace tpu::engine
