#include "dist/queue.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/thread_name.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "engine/runtime.h"

namespace tpu::dist {

struct Queue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool ending = false;
};

Queue::Queue() : state_(std::make_shared<State>()), thread_([state = state_] { run(state); }) {}

Queue::~Queue() {
  engine::Blocking blocking;  // a job that calls Python back needs the GIL to end
  {
    std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->changed.notify_one();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Queue::push(std::function<void()> job) {
  if (thread_.get_id() == std::this_thread::get_id()) return job();  // see Note [Callbacks]
  {
    std::lock_guard lock(state_->mutex);
    state_->jobs.push_back([job = std::move(job), inference = c10::InferenceMode::is_enabled()] {
      c10::InferenceMode mode(inference);
      job();
    });
  }
  state_->changed.notify_one();
}

void Queue::run(const std::shared_ptr<State>& state) {
  c10::setThreadName("tpu_dist");
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->ending || !state->jobs.empty(); });
    if (state->jobs.empty()) return;
    std::function<void()> job = std::move(state->jobs.front());
    state->jobs.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // what it owned goes before the next wait
    lock.lock();
  }
}

}  // namespace tpu::dist
