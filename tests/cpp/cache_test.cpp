// cache: bound and order of leaving, one maker per key over threads, failing makers, counts, generation.
#include "cache/cache.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/error.h"

namespace tpu::cache {
namespace {

Hash128 key(uint64_t number) { return {number, ~number}; }

std::shared_ptr<Entry> entry(const std::string& name, double seconds = 0.5) {
  auto made = std::make_shared<Entry>();
  made->name = name;
  made->compile_seconds = seconds;
  return made;
}

/// Fetches and counts the makes.
struct Maker {
  Cache& cache;
  int made = 0;

  std::shared_ptr<Entry> fetch(uint64_t number) {
    return cache.fetch(key(number), [&] {
      ++made;
      return entry(std::to_string(number));
    });
  }
};

std::vector<std::string> names(const Cache& cache) {
  std::vector<std::string> result;
  for (const Cache::Line& line : cache.list()) result.push_back(line.name);
  return result;
}

using Names = std::vector<std::string>;

TEST(Cache, GivesUpTheOlderHalfWhenThereIsNoRoom) {
  int asked = 0;
  Cache cache(8192, [&] { return ++asked == 2; });
  Maker maker{cache};
  for (uint64_t i = 0; i < 2 * Cache::kPrograms - 1; ++i) maker.fetch(i);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(cache.stats().evictions, 0);
  uint64_t generation = cache.generation();
  maker.fetch(1000);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(cache.stats().evictions, Cache::kPrograms);  // of 127, 63 stay
  EXPECT_GT(cache.generation(), generation);
  EXPECT_EQ(cache.find(key(0)), nullptr);
  EXPECT_NE(cache.find(key(2 * Cache::kPrograms - 2)), nullptr);
  EXPECT_NE(cache.find(key(1000)), nullptr);
}

TEST(Cache, CountsTheMappingsOfTheProcess) {
  size_t before = mapping_count();
  if (before == 0) GTEST_SKIP() << "no /proc/self/maps here";
  constexpr size_t kPage = 4096;
  std::vector<void*> pages;
  for (int i = 0; i < 64; ++i) {  // alternating rights, so that neighbours are not merged
    void* page = mmap(nullptr, kPage, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    pages.push_back(page);
  }
  EXPECT_GE(mapping_count(), before + 32);
  for (void* page : pages) munmap(page, kPage);
}

TEST(Cache, MakesOnceAndFindsAgain) {
  Cache cache(8);
  Maker maker{cache};
  EXPECT_EQ(cache.find(key(1)), nullptr);
  std::shared_ptr<Entry> first = maker.fetch(1);
  EXPECT_EQ(first->name, "1");
  EXPECT_EQ(first->key, key(1));
  EXPECT_EQ(maker.fetch(1), first);
  EXPECT_EQ(cache.find(key(1)), first);
  EXPECT_EQ(maker.made, 1);
  Stats stats = cache.stats();
  EXPECT_EQ(stats.requests, 2);
  EXPECT_EQ(stats.hits, 1);
  EXPECT_EQ(stats.compiles, 1);
  EXPECT_EQ(stats.compile_seconds, 0.5);
  EXPECT_EQ(stats.evictions, 0);
  EXPECT_EQ(stats.entries, 1);
}

TEST(Cache, ToContainIsNoUse) {
  Cache cache(2);
  Maker maker{cache};
  for (uint64_t i : {1, 2}) maker.fetch(i);
  EXPECT_TRUE(cache.contains(key(1)));
  EXPECT_FALSE(cache.contains(key(3)));
  EXPECT_EQ(names(cache), (Names{"2", "1"}));
  EXPECT_EQ(cache.list()[1].reads, 0);
  EXPECT_EQ(cache.stats().requests, 2);
  maker.fetch(3);
  EXPECT_FALSE(cache.contains(key(1)));
}

TEST(Cache, LeastRecentlyUsedLeavesFirst) {
  Cache cache(3);
  Maker maker{cache};
  for (uint64_t i : {1, 2, 3}) maker.fetch(i);
  EXPECT_EQ(names(cache), (Names{"3", "2", "1"}));
  maker.fetch(1);      // a fetch is a use
  cache.find(key(2));  // and so is a find
  uint64_t before = cache.generation();
  std::shared_ptr<Entry> three = cache.find(key(3));
  cache.find(key(2));
  maker.fetch(4);
  EXPECT_EQ(names(cache), (Names{"4", "2", "3"}));
  EXPECT_GT(cache.generation(), before);
  maker.fetch(5);
  EXPECT_EQ(names(cache), (Names{"5", "4", "2"}));
  EXPECT_EQ(three->name, "3");  // evicted, and alive while it is held
  EXPECT_EQ(cache.stats().evictions, 2);
  EXPECT_EQ(cache.stats().entries, 3);
  EXPECT_EQ(maker.made, 5);
  EXPECT_EQ(maker.fetch(3)->name, "3");
  EXPECT_EQ(maker.made, 6);
}

TEST(Cache, GenerationStandsStillWhileNothingLeaves) {
  Cache cache(3);
  Maker maker{cache};
  uint64_t before = cache.generation();
  for (uint64_t i : {1, 2, 3, 2, 1}) maker.fetch(i);
  EXPECT_EQ(cache.generation(), before);
  cache.clear();
  EXPECT_GT(cache.generation(), before);
  EXPECT_EQ(cache.stats().entries, 0);
  EXPECT_EQ(cache.find(key(1)), nullptr);
  EXPECT_EQ(names(cache), Names{});
  maker.fetch(1);
  EXPECT_EQ(maker.made, 4);
}

TEST(Cache, CapacityZeroKeepsNothing) {
  Cache cache(0);
  Maker maker{cache};
  EXPECT_EQ(maker.fetch(1)->name, "1");
  EXPECT_EQ(maker.fetch(1)->name, "1");
  EXPECT_EQ(maker.made, 2);
  EXPECT_EQ(cache.stats().entries, 0);
}

/// Runs `action` in `count` threads that start together; the results in order.
template <class Action>
auto in_threads(int count, Action action) {
  std::vector<decltype(action())> results(static_cast<size_t>(count));
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      results[static_cast<size_t>(i)] = action();
    });
  for (std::thread& thread : threads) thread.join();
  return results;
}

TEST(Cache, OneMakerPerKey) {
  Cache cache(8);
  std::atomic<int> made{0};
  auto results = in_threads(8, [&] {
    return cache.fetch(key(1), [&] {
      ++made;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return entry("slow");
    });
  });
  EXPECT_EQ(made, 1);
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
  EXPECT_EQ(cache.stats().requests, 8);
  EXPECT_EQ(cache.stats().hits, 7);
  EXPECT_EQ(cache.stats().compiles, 1);
}

TEST(Cache, OtherKeysDoNotWaitForAMake) {
  Cache cache(8);
  std::atomic<bool> making{false}, go_on{false};
  std::thread slow([&] {
    cache.fetch(key(1), [&] {
      making = true;
      while (!go_on) std::this_thread::yield();
      return entry("slow");
    });
  });
  while (!making) std::this_thread::yield();
  EXPECT_EQ(cache.fetch(key(2), [] { return entry("quick"); })->name, "quick");
  EXPECT_EQ(cache.find(key(1)), nullptr);  // not there yet, and find does not wait
  go_on = true;
  slow.join();
  EXPECT_EQ(cache.find(key(1))->name, "slow");
}

TEST(Cache, AFailingMakeReachesAllWaitersAndLeavesNothing) {
  Cache cache(8);
  std::atomic<int> made{0};
  auto messages = in_threads(6, [&]() -> std::string {
    try {
      cache.fetch(key(1), [&]() -> std::shared_ptr<Entry> {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        fail(ErrorCode::Plugin, "does not compile");
      });
      return "no error";
    } catch (const Error& error) { return error.message(); }
  });
  for (const std::string& message : messages) EXPECT_EQ(message, "does not compile");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(cache.find(key(1)), nullptr);
  EXPECT_EQ(cache.stats().entries, 0);
  EXPECT_EQ(cache.stats().compiles, 0);
  // The key is free for another try, whatever was thrown.
  EXPECT_THROW(cache.fetch(key(1), []() -> std::shared_ptr<Entry> { throw std::runtime_error("other"); }),
               std::runtime_error);
  EXPECT_EQ(cache.fetch(key(1), [] { return entry("now"); })->name, "now");
}

// What add_trail of one thread's error does must not be seen by another: they share one exception object.
TEST(Cache, WaitersMayAddToTheirErrors) {
  Cache cache(8);
  auto messages = in_threads(4, [&]() -> std::string {
    try {
      cache.fetch(key(1), [&]() -> std::shared_ptr<Entry> {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        fail(ErrorCode::Plugin, "broken");
      });
    } catch (Error& error) { return error.add_trail("in the caller").message(); }
    return "no error";
  });
  for (const std::string& message : messages) EXPECT_EQ(message, "broken\n  in the caller");
}

TEST(Cache, ManyThreadsManyKeys) {
  Cache cache(16);
  std::atomic<int> wrong{0};
  in_threads(4, [&] {
    for (uint64_t i = 0; i < 2000; ++i) {
      uint64_t number = (i * 7) % 40;
      if (cache.fetch(key(number), [&] { return entry(std::to_string(number)); })->name != std::to_string(number))
        ++wrong;
      if (i % 500 == 0) cache.clear();
    }
    return 0;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache.stats().entries, 16);
  EXPECT_EQ(cache.stats().requests, 8000);
  EXPECT_EQ(cache.stats().hits + cache.stats().compiles, 8000);
}

}  // namespace
}  // namespace tpu::cache
