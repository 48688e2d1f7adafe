#include "ops/philox.h"

namespace tpu::ops {

namespace {

using hlo::Value;

/// High and low half of the 64-bit products with a constant.
struct Product {
  Value high, low;
};

Value low_half(const Value& x) { return hlo::convert(x, ElementType::U32); }
Value high_half(const Value& x) { return low_half(hlo::shift_right_logical(x, hlo::like(x, 32))); }

Product multiplied(const Value& x, int64_t factor) {
  Value wide = hlo::convert(x, ElementType::U64);
  wide = wide * hlo::like(wide, factor);
  return {high_half(wide), low_half(wide)};
}

}  // namespace

// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011): Philox4x32 with ten rounds.
hlo::Values philox_words(const Value& state, const Dims& dims, int count) {
  hlo::Builder& builder = *state.builder;
  Type wide{ElementType::U64, {product(dims)}};
  auto part = [&](int64_t k) { return hlo::reshape(hlo::slice(state, {k}, {k + 1}, {1}), {}); };
  auto spread = [&](const Value& x) { return hlo::broadcast(x, wide.dims); };
  // A block never crosses the end of the low half of the counter.
  Value counter = spread(part(1)) + hlo::iota(builder, wide, 0);
  Value key = part(0), high = part(2);
  Value a = low_half(counter), b = high_half(counter), c = spread(low_half(high)), d = spread(high_half(high));
  Value key_a = low_half(key), key_b = high_half(key);
  for (int round = 0; round < 10; ++round) {
    Product of_a = multiplied(a, 0xD2511F53), of_c = multiplied(c, 0xCD9E8D57);
    a = hlo::xor_(hlo::xor_(of_c.high, b), spread(key_a));
    c = hlo::xor_(hlo::xor_(of_a.high, d), spread(key_b));
    b = of_c.low;
    d = of_a.low;
    key_a = key_a + hlo::like(key_a, int64_t{0x9E3779B9});
    key_b = key_b + hlo::like(key_b, int64_t{0xBB67AE85});
  }
  hlo::Values words{a, b, c, d};
  words.resize(static_cast<size_t>(count));
  for (Value& word : words) word = hlo::reshape(word, dims);
  return words;
}

}  // namespace tpu::ops
