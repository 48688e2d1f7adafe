// Launcher: a thread that starts what was recorded, so that who recorded it goes on.
//
// Note [Launches]. To start a program of a training step, with its hundred arrays, takes the plugin about 0.1 ms, more
// than PyTorch takes to run a small step. Where nobody asks for a result (a step of an optimizer begins or ends, a loop
// has come round, a segment is full) and the program is known, a recorder hands its segment over. It hands over one at
// a time; the next cut waits for it, so segments run in order. What a segment's program is has been decided before, on
// the thread that recorded: nothing that is compiled depends on how far the launcher is. Mode strict never hands over.
#pragma once

#include <functional>
#include <semaphore>
#include <utility>

namespace tpu::engine {

class Launcher {
 public:
  /// `launch` is what to do on each wake(), on a thread that lives as long as the process.
  explicit Launcher(std::function<void()> launch) : launch_(std::move(launch)) {}
  void wake();

 private:
  const std::function<void()> launch_;
  std::binary_semaphore work_{0};
  bool is_started_ = false;
};

}  // namespace tpu::engine
