#include "engine/launcher.h"

#include <thread>

namespace tpu::engine {

void Launcher::wake() {
  work_.release();
  if (is_started_) return;
  is_started_ = true;
  std::thread([this] {
    for (;;) {
      work_.acquire();
      launch_();
    }
  }).detach();
}

}  // namespace tpu::engine
