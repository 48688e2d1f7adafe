#include "engine/choice.h"

#include <algorithm>

namespace tpu::engine {

namespace {

constexpr size_t kMostRemembered = 1 << 14;

}  // namespace

Choice::Way Choice::choose(const Hash128& key, bool is_news, size_t ops, size_t missing) {
  if (is_news) return Way::Whole;
  double singles = static_cast<double>(missing) * (base_ + per_op_);
  if (wasted_ + whole(ops) <= singles) return Way::Whole;
  if (seen_.size() >= kMostRemembered) seen_.clear();
  return ++seen_[key] == 2 ? Way::Later : Way::OneByOne;
}

void Choice::note_compile(const Hash128& key, bool on_trial, size_t ops, double seconds) {
  if (seconds > 0 && ops == 1) base_ += (std::max(0.0, seconds - per_op_) - base_) / 8;
  if (seconds > 0 && ops > 1) {
    double measured = std::max(0.0, seconds - base_) / static_cast<double>(ops);
    per_op_ += (measured - per_op_) / 8;
  }
  if (!on_trial) return;
  if (trials_.size() >= kMostRemembered) trials_.clear();
  trials_[key] = seconds;
  wasted_ += seconds;
}

void Choice::note_run(const Hash128& key) {
  if (trials_.empty()) return;
  auto trial = trials_.find(key);
  if (trial == trials_.end()) return;
  wasted_ = std::max(0.0, wasted_ - trial->second);
  trials_.erase(trial);
}

}  // namespace tpu::engine
