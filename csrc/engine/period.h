// Period: finds where a recording begins to repeat itself, so that a loop is cut at the same place in every turn.
//
// Note [Periods]. A cut where nothing was read has to come again at the same op, or each segment would be a new one to
// compile. Counted from the last boundary (a read, an optimizer step) it does: the same ops are cut the same way.
// A loop that never reads anything has no boundary; it has a period. When the last p ops were those of the p
// before them, and long enough for that to be no accident, segments end at multiples of p from there on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"

namespace tpu::engine {

/// Constant time and no allocation per op. Not thread-safe.
class Period {
 public:
  /// The next op. True when a turn of a repetition ends with it.
  bool add(const Hash128& key);
  /// Forgets the ops so far: a boundary.
  void reset();
  /// Ops per turn; 0 while nothing repeats.
  size_t length() const { return is_found() ? static_cast<size_t>(length_) : 0; }

 private:
  static constexpr int64_t kLongest = 2048;  // ops that are remembered
  static constexpr size_t kSlots = 1024;     // last places of ops, by their keys
  static constexpr int64_t kProof = 24;      // fewer ops in a row may repeat by accident

  struct Place {
    uint64_t key = 0;
    int64_t at = -1;
  };

  bool is_found() const { return length_ > 0 && matched_ >= length_ && matched_ >= kProof; }
  int64_t place_of(uint64_t key) const;

  std::array<uint64_t, kLongest> ops_{};
  std::array<Place, kSlots> places_{};
  int64_t begin_ = 0;    // where the ops since the last boundary begin
  int64_t count_ = 0;    // ops ever
  int64_t length_ = 0;   // of the period that is being tried
  int64_t matched_ = 0;  // ops in a row that were those of one period before
};

}  // namespace tpu::engine
