// Progress: one live line on a terminal while a thread of the user waits for compiles.
//
// Note [Live line]. The line must neither break what others print nor stay. It is drawn below the cursor, which goes
// back to where it was: half a line of the user's, or a progress bar that rewrites its own, stays as it is. Whoever
// prints meanwhile prints over it. It goes when the program is compiled, before the user's code runs on, by erasing all
// below the cursor. Nothing is drawn when standard error is no terminal, for compiles in the background, and in the
// first second of a burst of compiles.
#pragma once

#include <string>

namespace tpu::engine {

/// The calling thread compiles a program while it lives. Costs two look-ups of the environment where nothing is shown.
class Progress {
 public:
  /// `name` as in Entry::name; `line`: "train.py:12", or empty.
  Progress(const std::string& name, const std::string& line);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  const bool is_shown_;
};

}  // namespace tpu::engine
