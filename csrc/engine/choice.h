// Choice: whether a segment that has no program gets one, or its ops run one by one.
//
// Note [Cheaper plan]. One program for a segment costs about as much to compile as programs for a few dozen of its ops,
// and then runs faster; but a sequence of ops that never comes again (a tree of another form, an episode of another
// length) would be compiled for nothing, every time. Ops that are new with their segment are compiled with it. For
// known ops in a new order, three sums of seconds decide: what compiling the whole takes, what its ops take that have
// no program, and what was spent before on orders that did not come again. When an order that ran one by one comes
// again, it is compiled in the background. So no more is wasted than a constant times what the ops alone would have
// cost.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/hash.h"

namespace tpu::engine {

/// Not thread-safe.
class Choice {
 public:
  /// Whole: compile now. OneByOne: run the ops. Later: the same, and compile in the background.
  enum class Way { Whole, OneByOne, Later };

  /// For the segment `key` of `ops` ops, of which `missing` different ones have no program of their own. `has_news`:
  /// one was in no segment before.
  Way choose(const Hash128& key, bool has_news, size_t ops, size_t missing);
  /// A program was made, in `seconds` (0: it was on disk); `on_trial`: of known ops in a new order.
  void note_compile(const Hash128& key, bool on_trial, size_t ops, double seconds);
  /// A program that existed runs.
  void note_run(const Hash128& key);

  /// Seconds spent on programs on trial that ran once.
  double wasted() const { return wasted_; }

 private:
  double whole(size_t ops) const { return base_ + static_cast<double>(ops) * per_op_; }

  // Seconds for a program, and more for each op in it: first guesses for XLA:CPU, then what compiling took.
  double base_ = 0.02;
  double per_op_ = 0.004;
  double wasted_ = 0;
  std::unordered_map<Hash128, double> trials_;  // programs on trial that ran once: their seconds
  std::unordered_map<Hash128, int> seen_;       // how often a segment ran one by one
};

}  // namespace tpu::engine
