// Where a recording is cut and how a segment runs: paths, periods, and the choice of the cheaper plan. No plugin.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/choice.h"
#include "engine/path.h"
#include "engine/period.h"

namespace tpu::engine {
namespace {

Hash128 key(uint64_t n) {
  Hasher hasher;
  hasher.add(n);
  return hasher.finish();
}

/// The places (from 1) after which a turn ends.
std::vector<size_t> turns(Period& period, const std::string& ops) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < ops.size(); ++i)
    if (period.add(key(static_cast<uint64_t>(ops[i])))) ends.push_back(i + 1);
  return ends;
}

std::string repeated(const std::string& turn, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += turn;
  return all;
}

TEST(Period, ALoopIsFoundAndItsTurnsEndAtTheSameOp) {
  std::string turn = "abcdefghijklmnopqrstuvwxyz0123";  // 30 different ops
  Period period;
  EXPECT_EQ(turns(period, "XY" + repeated(turn, 4)), (std::vector<size_t>{62, 92, 122}));
  EXPECT_EQ(period.length(), 30u);
}

TEST(Period, OpsThatComeTwiceInATurnDoNotHideIt) {
  std::string turn = "abacadaeafagahaiajakalamanaoap";
  Period period;
  std::vector<size_t> ends = turns(period, repeated(turn, 6));
  ASSERT_GE(ends.size(), 3u);
  EXPECT_EQ(period.length(), turn.size());
  for (size_t i = 1; i < ends.size(); ++i) EXPECT_EQ(ends[i] - ends[i - 1], turn.size());
}

TEST(Period, AFewEqualOpsAreNoLoop) {
  Period period;
  EXPECT_TRUE(turns(period, "abccccccccdefabcabcgh").empty());
  EXPECT_EQ(period.length(), 0u);
}

TEST(Period, ABoundaryForgets) {
  Period period;
  turns(period, repeated("abcdefghijklmnopqrstuvwxyz0123", 2));
  EXPECT_EQ(period.length(), 30u);
  period.reset();
  EXPECT_EQ(period.length(), 0u);
  EXPECT_TRUE(turns(period, "abcdefghijklmnopqrstuvwxyz0123").empty());
}

TEST(Period, ALoopThatEndsIsLeftAndAnotherFound) {
  std::string one = "abcdefghijklmnopqrstuvwxyz0123", two = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  Period period;
  turns(period, repeated(one, 3));
  turns(period, repeated(two, 3));
  EXPECT_EQ(period.length(), two.size());
}

TEST(Period, TurnsLongerThanTheMemoryAreNotFound) {
  Period period;
  for (int turn = 0; turn < 3; ++turn)
    for (uint64_t op = 0; op < 3000; ++op) EXPECT_FALSE(period.add(key(op)));
}

TEST(Paths, WhatCameBeforeIsFollowed) {
  Paths paths;
  std::vector<int> bases{0, ~1};
  bool is_new = false;
  Step* first = &paths.follow(paths.root(), key(1), bases, is_new);
  EXPECT_TRUE(is_new);
  Step* second = &paths.follow(*first, key(2), bases, is_new);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(&paths.follow(paths.root(), key(1), bases, is_new), first);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(&paths.follow(*first, key(2), bases, is_new), second);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(paths.size(), 2u);
}

TEST(Paths, OtherOperandsAreAnotherPath) {
  Paths paths;
  std::vector<int> one{0, 1}, two{0, 2};
  bool is_new = false;
  Step* a = &paths.follow(paths.root(), key(1), one, is_new);
  Step* b = &paths.follow(paths.root(), key(1), two, is_new);
  EXPECT_TRUE(is_new);
  EXPECT_NE(a->prefix, b->prefix);
  EXPECT_EQ(&paths.follow(paths.root(), key(1), one, is_new), a);
  EXPECT_FALSE(is_new);
}

TEST(Paths, TheSameOpsHaveTheSameHashInEveryTree) {
  std::vector<int> bases{0};
  Hash128 prefixes[2];
  for (Hash128& prefix : prefixes) {
    Paths paths;
    bool is_new = false;
    prefix = paths.follow(paths.follow(paths.root(), key(1), bases, is_new), key(2), bases, is_new).prefix;
  }
  EXPECT_EQ(prefixes[0], prefixes[1]);
}

TEST(Paths, ADeepTreeIsForgottenWithoutRecursion) {
  Paths paths;
  bool is_new = false;
  Step* last = &paths.root();
  for (uint64_t op = 0; op < 300000; ++op) last = &paths.follow(*last, key(op), {}, is_new);
  EXPECT_EQ(paths.size(), 300000u);
  paths.clear();
  EXPECT_EQ(paths.size(), 0u);
  paths.follow(paths.root(), key(0), {}, is_new);
  EXPECT_TRUE(is_new);
}

TEST(Choice, NewOpsAreCompiledTogether) {
  Choice choice;
  EXPECT_EQ(choice.choose(key(1), /*is_news=*/true, 500, 400), Choice::Way::Whole);
  EXPECT_EQ(choice.wasted(), 0);
}

TEST(Choice, KnownOpsWithProgramsRunAndAreCompiledWhenTheyComeAgain) {
  Choice choice;
  EXPECT_EQ(choice.choose(key(1), false, 50, 0), Choice::Way::OneByOne);
  EXPECT_EQ(choice.choose(key(2), false, 50, 0), Choice::Way::OneByOne);
  EXPECT_EQ(choice.choose(key(1), false, 50, 0), Choice::Way::Later);
  EXPECT_EQ(choice.choose(key(1), false, 50, 0), Choice::Way::OneByOne);  // asked for once
}

TEST(Choice, OrdersThatNeverComeAgainAreNotCompiledForEver) {
  Choice choice;
  int compiled = 0;
  for (uint64_t n = 0; n < 100; ++n) {
    if (choice.choose(key(n), false, 40, 20) != Choice::Way::Whole) continue;
    choice.note_compile(key(n), /*on_trial=*/true, 40, 0.3);
    ++compiled;
  }
  EXPECT_GE(compiled, 1);
  EXPECT_LE(compiled, 4);
}

TEST(Choice, WhereProgramsOfOneOpTakeLongTheWholeIsCheaper) {
  Choice choice;
  EXPECT_EQ(choice.choose(key(1), false, 40, 3), Choice::Way::OneByOne);
  for (uint64_t n = 0; n < 20; ++n) choice.note_compile(key(100 + n), /*on_trial=*/false, 1, 0.2);
  EXPECT_EQ(choice.choose(key(2), false, 40, 3), Choice::Way::Whole);
}

TEST(Choice, WhatComesAgainWasNotWasted) {
  Choice choice;
  choice.note_compile(key(1), /*on_trial=*/true, 40, 0.3);
  EXPECT_DOUBLE_EQ(choice.wasted(), 0.3);
  choice.note_run(key(1));
  EXPECT_DOUBLE_EQ(choice.wasted(), 0);
  choice.note_run(key(1));
  EXPECT_DOUBLE_EQ(choice.wasted(), 0);
}

}  // namespace
}  // namespace tpu::engine
