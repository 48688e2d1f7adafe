#include "dist/queue.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/thread_name.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "engine/errand.h"
#include "engine/runtime.h"

namespace tpu::dist {

struct Queue::Job {
  std::function<void()> run;
  bool inference;
  bool is_errand;  // see Note [Errands]; not where the interpreter had begun to end before it came
};

struct Queue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
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
    bool is_errand = engine::begin_errand();
    state_->jobs.push_back({std::move(job), c10::InferenceMode::is_enabled(), is_errand});
  }
  state_->changed.notify_one();
}

void Queue::run(const std::shared_ptr<State>& state) {
  c10::setThreadName("tpu_dist");
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->ending || !state->jobs.empty(); });
    if (state->jobs.empty()) return;
    Job job = std::move(state->jobs.front());
    state->jobs.pop_front();
    lock.unlock();
    {
      c10::InferenceMode mode(job.inference);
      job.run();
      // What it owned goes before the next wait, as a part of the errand; or never.
      if (job.is_errand) {
        job.run = nullptr;
        engine::end_errand();
      } else {
        new std::function<void()>(std::move(job.run));
      }
    }
    lock.lock();
  }
}

}  // namespace tpu::dist
