#include "engine/background.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "engine/runtime.h"

namespace tpu::engine {

namespace {

class Worker {
 public:
  void add(const Hash128& key, Device& device, graph::Graph graph) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (is_stopping_) return;
    jobs_.push_back({key, &device, std::move(graph)});
    if (!is_started_) std::thread([this] { run(); }).detach();  // it ends only with the process
    is_started_ = true;
    changed_.notify_all();
  }

  void finish(bool stop) {
    Blocking blocking;
    std::unique_lock<std::mutex> lock(mutex_);
    if (stop) {
      is_stopping_ = true;
      jobs_.clear();
    }
    changed_.wait(lock, [&] { return jobs_.empty() && !is_busy_; });
  }

 private:
  struct Job {
    Hash128 key;
    Device* device;
    graph::Graph graph;
  };

  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !jobs_.empty(); });
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      is_busy_ = true;
      lock.unlock();
      try {
        make_plan(job.key, *job.device, job.graph);
      } catch (const std::exception& error) { log::at(2, "compiling in the background: ", error.what()); }
      lock.lock();
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool is_started_ = false;
  bool is_busy_ = false;
  bool is_stopping_ = false;
};

Worker& worker() {
  static auto* worker = new Worker;
  return *worker;
}

}  // namespace

void compile_later(const Hash128& key, Device& device, graph::Graph graph) {
  worker().add(key, device, std::move(graph));
}

void finish_background() { worker().finish(/*stop=*/false); }

void stop_background() { worker().finish(/*stop=*/true); }

}  // namespace tpu::engine
