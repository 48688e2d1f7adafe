#include "engine/errand.h"

#include <atomic>
#include <thread>
#include <utility>

#include "engine/runtime.h"

namespace tpu::engine {

namespace {

constexpr uint64_t kClosed = uint64_t{1} << 63;

std::atomic<uint64_t> under_way{0};  // how many, and kClosed
std::atomic<std::thread::id> closer{std::thread::id()};

}  // namespace

bool begin_errand() {
  uint64_t before = under_way.fetch_add(1, std::memory_order_acq_rel);
  if ((before & kClosed) == 0 || closer.load(std::memory_order_acquire) == std::this_thread::get_id()) return true;
  end_errand();
  return false;
}

void end_errand() {
  under_way.fetch_sub(1, std::memory_order_acq_rel);
  under_way.notify_all();
}

std::function<void()> as_errand(std::function<void()> release) {
  if (!release) return release;
  return [held = new std::function<void()>(std::move(release))] {
    Errand errand;
    if (!errand) return;
    (*held)();
    delete held;
  };
}

void finish_errands() {
  if (Runtime::in_bad_fork()) return;  // they are the parent's
  Blocking blocking;
  closer.store(std::this_thread::get_id(), std::memory_order_release);
  for (uint64_t now = under_way.fetch_or(kClosed) & ~kClosed; now != 0; now = under_way.load() & ~kClosed)
    under_way.wait(now | kClosed);
}

}  // namespace tpu::engine
