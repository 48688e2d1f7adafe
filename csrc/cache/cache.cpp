#include "cache/cache.h"

#include <chrono>
#include <exception>

#include "base/error.h"

namespace tpu::cache {

namespace {

// Every thread gets an Error of its own: callers add lines to it, and a rethrown exception is one object for all.
[[noreturn]] void rethrow(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& shared) { throw Error(shared); }
}

}  // namespace

std::shared_ptr<Entry> Cache::touch(const Hash128& key) {
  auto found = slots_.find(key);
  if (found == slots_.end()) return nullptr;
  uses_.splice(uses_.begin(), uses_, found->second.use);
  Entry& entry = *found->second.entry;
  ++entry.reads;
  entry.last_read = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return found->second.entry;
}

void Cache::keep(std::shared_ptr<Entry> entry) {
  uses_.push_front(entry->key);
  Hash128 key = entry->key;
  slots_[key] = Slot{std::move(entry), uses_.begin()};
  shrink(capacity_);
}

void Cache::shrink(size_t size) {
  while (slots_.size() > size) {
    slots_.erase(uses_.back());
    uses_.pop_back();
    ++stats_.evictions;
    generation_.fetch_add(1, std::memory_order_acq_rel);
  }
}

std::shared_ptr<Entry> Cache::fetch(const Hash128& key, const std::function<std::shared_ptr<Entry>()>& make) {
  std::shared_ptr<Flight> flight;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    ++stats_.requests;
    if (auto entry = touch(key)) {
      ++stats_.hits;
      return entry;
    }
    auto flying = flights_.find(key);
    if (flying != flights_.end()) {
      flight = flying->second;
      landed_.wait(lock, [&] { return flight->done; });
      if (flight->error) rethrow(flight->error);
      ++stats_.hits;
      return flight->entry;
    }
    flight = std::make_shared<Flight>();
    flights_[key] = flight;
  }
  try {
    flight->entry = make();
    flight->entry->key = key;
  } catch (...) { flight->error = std::current_exception(); }
  bool is_program = !flight->error && flight->entry->origin != Entry::Origin::Lowered;
  bool is_crowded = is_program && programs_.fetch_add(1) % kPrograms == kPrograms - 1 && is_crowded_();
  std::lock_guard<std::mutex> lock(mutex_);
  flight->done = true;
  flights_.erase(key);
  landed_.notify_all();
  if (flight->error) rethrow(flight->error);
  if (flight->entry->origin == Entry::Origin::Compiled) ++stats_.compiles;
  if (flight->entry->origin == Entry::Origin::Disk) ++stats_.disk_hits;
  stats_.compile_seconds += flight->entry->compile_seconds;
  if (is_crowded) shrink(slots_.size() / 2);
  keep(flight->entry);
  return flight->entry;
}

std::shared_ptr<Entry> Cache::find(const Hash128& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  return touch(key);
}

bool Cache::contains(const Hash128& key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return slots_.count(key) != 0;
}

void Cache::clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  slots_.clear();
  uses_.clear();
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

Stats Cache::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Stats stats = stats_;
  for (const auto& slot : slots_) stats.entries += slot.second.entry->origin != Entry::Origin::Lowered ? 1 : 0;
  return stats;
}

std::vector<Cache::Line> Cache::list() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Line> rows;
  for (const Hash128& key : uses_) {
    const Entry& entry = *slots_.at(key).entry;
    if (entry.origin != Entry::Origin::Lowered)
      rows.push_back({entry.name, entry.compile_seconds, entry.reads, entry.last_read});
  }
  return rows;
}

}  // namespace tpu::cache
