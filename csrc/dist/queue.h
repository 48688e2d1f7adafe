// Queue: a thread that runs jobs one after another, in the order in which they came.
//
// Note [Callbacks]. What hangs on a Future runs on the thread that marks it, which is a queue's, and may itself call a
// collective and wait for it (PowerSGD does). A job that is pushed from the queue's own thread therefore runs at once.
// So nothing waits for itself, and the order is the same on all ranks: a collective of a callback comes before those
// that were called after the callback was hung up, whether or not they are in the queue already.
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

  /// `job` must not throw. It runs in the inference mode of the caller, in which its tensors were made. It may own the
  /// owner of this queue: the thread then ends by itself.
  void push(std::function<void()> job);

 private:
  struct Job;
  struct State;
  static void run(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tpu::dist
