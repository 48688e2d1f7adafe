// Random integers between bounds: torch checks the bounds and moves them to numbers that the dtype has; the row gets
// them as run-time numbers, so that one program serves all bounds.
#include <ATen/native/DistributionTemplates.h>
#include <torch/library.h>

#include "aten/kernel.h"
#include "device/errors.h"

namespace tpu::aten {

namespace {

void draw(at::TensorIterator& iterator, int64_t from, c10::IValue to, std::optional<at::Generator> generator) {
  static auto* call = new RowCall("random_.from");
  at::Tensor self = iterator.tensor(0);
  device::translated([&] { call->run({self, from, std::move(to), std::move(generator)}); });
}

/// What torch's template calls: with the number of integers from `from` on, or for all of int64.
template <class Generator>
struct Draw {
  void operator()(at::TensorIterator& iterator, uint64_t range, int64_t from, std::optional<at::Generator> generator) {
    auto to = static_cast<int64_t>(static_cast<uint64_t>(from) + range);
    draw(iterator, from, to, std::move(generator));
  }
  void operator()(at::TensorIterator& iterator, std::optional<at::Generator> generator) {
    draw(iterator, std::numeric_limits<int64_t>::min(), {}, std::move(generator));
  }
};

at::Tensor& random_from(at::Tensor& self, int64_t from, std::optional<int64_t> to,
                        std::optional<at::Generator> generator) {
  return at::native::templates::random_from_to_impl<Draw, at::Generator>(self, from, to, std::move(generator));
}

at::Tensor& random_to(at::Tensor& self, int64_t to, std::optional<at::Generator> generator) {
  return random_from(self, 0, to, std::move(generator));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("random_.from", TORCH_FN(random_from));
  m.impl("random_.to", TORCH_FN(random_to));
}

}  // namespace

}  // namespace tpu::aten
