// Queue: a thread that runs jobs one after another, in the order in which they came.
#pragma once

#include <functional>
#include <memory>
#include <thread>

namespace tpu::dist {

class Queue {
 public:
  Queue();
  /// Runs what is left, with the GIL released, and ends the thread.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// `job` must not throw. It may own the owner of this queue: the thread then ends by itself.
  void push(std::function<void()> job);

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tpu::dist
