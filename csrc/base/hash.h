// Hash128: 128-bit hashes of named ingredients, wide enough that a collision need not be expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tpu {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Hash128& other) const { return low == other.low && high == other.high; }
  bool operator!=(const Hash128& other) const { return !(*this == other); }
};

/// 32 hexadecimal digits.
std::string to_string(const Hash128& hash);

/// Two lanes of multiply-and-fold mixing with independent odd constants; order-sensitive, not cryptographic.
class Hasher {
 public:
  void add(uint64_t word) {
    low_ = fold(low_ ^ word, 0x9E3779B97F4A7C15ull);
    high_ = fold(high_ + word, 0xD6E8FEB86659FD93ull) ^ word;
  }
  void add(std::string_view text) {
    add(text.size());
    while (!text.empty()) {
      uint64_t word = 0;
      size_t take = text.size() < 8 ? text.size() : 8;
      std::memcpy(&word, text.data(), take);
      add(word);
      text.remove_prefix(take);
    }
  }
  void add(const char* text) { add(std::string_view(text)); }
  void add(double number) {
    uint64_t word;
    std::memcpy(&word, &number, 8);
    add(word);
  }
  void add(int64_t word) { add(static_cast<uint64_t>(word)); }
  void add(int word) { add(static_cast<uint64_t>(static_cast<int64_t>(word))); }
  void add(const Hash128& hash) {
    add(hash.low);
    add(hash.high);
  }
  Hash128 finish() const { return {fold(low_, 0xA0761D6478BD642Full), fold(high_, 0xE7037ED1A0B428DBull)}; }

 private:
  static uint64_t fold(uint64_t a, uint64_t b) {
    __uint128_t wide = static_cast<__uint128_t>(a ^ (b >> 32)) * b;
    return static_cast<uint64_t>(wide) ^ static_cast<uint64_t>(wide >> 64);
  }

  uint64_t low_ = 0x243F6A8885A308D3ull;
  uint64_t high_ = 0x13198A2E03707344ull;
};

}  // namespace tpu

template <>
struct std::hash<tpu::Hash128> {
  size_t operator()(const tpu::Hash128& hash) const { return hash.low; }
};
