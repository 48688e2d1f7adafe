// Errand: what a thread that is not Python's does with things that Python may own.
//
// Note [Errands]. The last reference to a tensor may go on a queue of tpu_dist, or on a thread of the plugin that lets
// go of host memory. torch then takes the GIL to drop the tensor's Python object, and Python ends a thread that asks
// for the GIL while the interpreter shuts down: it unwinds it through destructors that must not throw, and the process
// aborts. So such work is an errand. finish_errands(), which runs before the interpreter ends, waits for those that
// have begun; afterwards none begins, and what it would have released is left to the end of the process.
#pragma once

#include <functional>

namespace tpu::engine {

/// Begins an errand, which end_errand() ends. False when the interpreter is ending: touch nothing that is Python's.
/// The thread that shuts down may always begin one.
bool begin_errand();
void end_errand();

/// One that ends with the scope; false when it could not begin.
class Errand {
 public:
  Errand() : has_begun_(begin_errand()) {}
  ~Errand() {
    if (has_begun_) end_errand();
  }
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  explicit operator bool() const { return has_begun_; }

 private:
  const bool has_begun_;
};

/// `release` as an errand: called once at most, and destroyed after the call, both only while that is allowed.
std::function<void()> as_errand(std::function<void()> release);

/// Waits, with the GIL released, for all that have begun. From here on begin_errand() is true only on this thread.
void finish_errands();

}  // namespace tpu::engine
