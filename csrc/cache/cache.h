// Cache: key + "make the entry" -> entry; the memory tier. Bounded, least recently used first out; one maker per key.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "cache/mappings.h"
#include "pjrt/executable.h"

namespace tpu::cache {

/// What the cache keeps: an executable, and whatever the layer above derives from it to run it.
struct Entry {
  virtual ~Entry() = default;

  /// Where the program came from. Lowered: it has none, it is only a description, which no count or list shows.
  enum class Origin : uint8_t { Compiled, Disk, Lowered };

  Hash128 key;
  std::string name;  // for people: `aten::add.out f32[2, 3]`
  pjrt::Executable executable;
  double compile_seconds = 0;
  Origin origin = Origin::Compiled;
  // How often it was found in the shared map, and when last, in seconds since the epoch. Under the cache's lock.
  int64_t reads = 0;
  double last_read = 0;
};

struct Stats {
  int64_t requests = 0;  // fetches that reached the shared map (a thread's own memo answers first)
  int64_t hits = 0;
  int64_t disk_hits = 0;
  int64_t compiles = 0;
  double compile_seconds = 0;
  int64_t evictions = 0;
  int64_t entries = 0;  // programs kept now
};

/// Thread-safe. Entries are shared: one that is evicted lives on while somebody runs it.
class Cache {
 public:
  /// At most `capacity` entries. Every kPrograms programs `is_crowded` is asked; then the half that was not used lately
  /// leaves.
  explicit Cache(size_t capacity, std::function<bool()> is_crowded = mappings_are_scarce)
      : capacity_(capacity), is_crowded_(std::move(is_crowded)) {}
  static constexpr int64_t kPrograms = 64;

  /// The entry of `key`; when there is none, `make` makes it, outside the lock and once even if several threads ask. An
  /// error of `make` goes to every thread that waited for it and leaves no entry.
  std::shared_ptr<Entry> fetch(const Hash128& key, const std::function<std::shared_ptr<Entry>()>& make);
  /// The entry, or null.
  std::shared_ptr<Entry> find(const Hash128& key);
  /// Whether find() would give one; counts as no use of it.
  bool contains(const Hash128& key) const;
  void clear();
  Stats stats() const;
  /// Names, compile times and reads of all programs, most recently used first.
  struct Line {
    std::string name;
    double compile_seconds;
    int64_t reads;
    double last_read;
  };
  std::vector<Line> list() const;

  /// Grows whenever an entry leaves, so that memos of entries know when to forget theirs.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  struct Slot {
    std::shared_ptr<Entry> entry;
    std::list<Hash128>::iterator use;
  };
  struct Flight {  // a make in progress
    bool done = false;
    std::shared_ptr<Entry> entry;
    std::exception_ptr error;
  };

  std::shared_ptr<Entry> touch(const Hash128& key);
  void keep(std::shared_ptr<Entry> entry);
  void shrink(size_t size);

  const size_t capacity_;
  const std::function<bool()> is_crowded_;
  std::atomic<int64_t> programs_{0};  // ever kept
  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::unordered_map<Hash128, Slot> slots_;
  std::unordered_map<Hash128, std::shared_ptr<Flight>> flights_;
  std::list<Hash128> uses_;  // most recent first
  Stats stats_;
  std::atomic<uint64_t> generation_{1};
};

}  // namespace tpu::cache
