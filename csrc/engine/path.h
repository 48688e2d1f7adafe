// Path: the ops since the last cut, followed in a tree of those that were recorded before.
//
// Note [Paths]. A program that runs for long records the same ops again and again. So what follows a cut is a path in a
// tree whose steps are ops: an op that came here before is found by comparing its key and the numbers of its operands
// with those of the step that followed last time, and brings along the hash of everything up to it and the Python line
// of its first recording. Only an op that is new at its place is hashed, and asks Python where it is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/hash.h"
#include "base/inline_vector.h"

namespace tpu::engine {

/// One op at its place after others.
struct Step {
  Hash128 key;                    // of the op
  InlineVector<int, 6> bases;     // its operands, see Segment::bases
  Hash128 prefix;                 // of the ops up to this one, and how they hang together
  uint64_t line = 0;              // where it was recorded first, see LineHooks
  Step* next = nullptr;           // what followed last time
  std::unique_ptr<Step> child;    // first of those that followed
  std::unique_ptr<Step> sibling;  // the next of those that followed the same step
};

/// The tree. Not thread-safe.
class Paths {
 public:
  Paths() = default;
  ~Paths() { clear(); }
  Paths(const Paths&) = delete;
  Paths& operator=(const Paths&) = delete;

  /// Where a path starts.
  Step& root() { return root_; }
  /// The step of this op after `last`; `is_new` when it never came there.
  Step& follow(Step& last, const Hash128& key, std::span<const int> bases, bool& is_new);
  /// Steps in the tree.
  size_t size() const { return size_; }
  /// Forgets all; steps are gone.
  void clear();

 private:
  Step root_;
  size_t size_ = 0;
};

}  // namespace tpu::engine
