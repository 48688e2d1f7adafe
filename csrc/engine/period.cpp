#include "engine/period.h"

namespace tpu::engine {

int64_t Period::place_of(uint64_t key) const {
  const Place& place = places_[key % kSlots];
  bool is_known = place.key == key && place.at >= begin_ && count_ - place.at < kLongest;
  return is_known ? place.at : -1;
}

bool Period::add(const Hash128& key) {
  uint64_t op = key.low;
  bool fits =
      length_ > 0 && count_ - length_ >= begin_ && ops_[static_cast<size_t>((count_ - length_) % kLongest)] == op;
  if (fits) {
    ++matched_;
  } else {
    int64_t last = place_of(op);
    length_ = last >= 0 ? count_ - last : 0;
    matched_ = last >= 0 ? 1 : 0;
  }
  ops_[static_cast<size_t>(count_ % kLongest)] = op;
  places_[op % kSlots] = {op, count_};
  ++count_;
  return is_found() && matched_ % length_ == 0;
}

void Period::reset() {
  begin_ = count_;
  length_ = matched_ = 0;
}

}  // namespace tpu::engine
