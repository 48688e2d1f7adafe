// Recorder: ops recorded in the deferred modes, and the cut that turns them into one program and runs it.
//
// Note [Deferred ops]. A recorded op is its description (engine/plan.h), found by the same key as its program in strict
// mode, the numbers of its operands and its run-time arguments; its results are pending Values of known types. A cut
// takes everything recorded so far (a *segment*): results that nobody holds any more are no outputs, so dead values are
// never computed; overwritten inputs are donated. The program is found by a key made of the keys of the ops, how they
// hang together and which results are wanted, so a loop that records the same ops again compiles nothing. Reading a
// pending Value cuts, as do events, synchronize(), the begin and the end of an optimizer's step, a turn of something
// that repeats itself (Note [Periods]) and a size cap. In mode auto, whether a new segment gets a program of its own is
// a matter of cost: Note [Cheaper plan].
//
// Note [Deferred errors]. What can be told from shapes and types is an error of the call, as in strict mode. A failed
// value check shows when the segment has run: then its ops run again one by one, so that only the op at fault and what
// depends on it fail and a tensor that it would have overwritten keeps its elements. The same way is taken when the
// segment does not compile, and when its execution fails and took nothing with it. The error is raised by the next
// read or synchronize(), with the Python line that recorded the op.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "engine/choice.h"
#include "engine/launcher.h"
#include "engine/path.h"
#include "engine/period.h"
#include "engine/plan.h"
#include "engine/run.h"
#include "engine/value.h"

namespace tpu::engine {

/// When ops run. Strict: at once. Fused: recorded and cut, one program per segment. Auto: the same, but a segment that
/// may never come again runs op by op. Debug: at once, and the call waits for the result.
enum class Mode : uint8_t { Strict, Fused, Auto, Debug };

/// In the order of Mode.
constexpr const char* kModeNames[] = {"strict", "fused", "auto", "debug"};
/// Error(Value) for a name that is none.
Mode mode_named(const std::string& name);

/// The mode of this process. Leaving a deferred mode cuts what was recorded, on all devices, and throws its error.
Mode mode();
void set_mode(Mode mode);

/// Where in the user's program an op is recorded, without Python: the python layer installs the pair. `capture` gives a
/// number (0: unknown) and may wait for the GIL, so it is asked only for an op that is new after those before it;
/// `describe` says what the number stands for.
struct LineHooks {
  uint64_t (*capture)() = nullptr;
  std::string (*describe)(uint64_t line) = nullptr;
};
void set_line_hooks(LineHooks hooks);
/// Where the calling thread is; 0 when nobody knows.
uint64_t capture_line();
/// `file.py:12`; empty for 0.
std::string describe_line(uint64_t line);

/// Ops recorded in order and what they use.
struct Segment {
  struct Op {
    std::shared_ptr<Plan> description;
    Hash128 key;
    size_t first_base = 0;  // its operands' places in `bases`
    size_t base_count = 0;
    uint64_t line = 0;  // where it was recorded, see LineHooks
  };

  std::vector<Op> ops;
  std::vector<int> bases;         // per operand: an input (>= 0), or ~n for result n of the segment
  std::vector<ValueRef> inputs;   // Values from outside, each once
  std::vector<ValueRef> results;  // per result of all ops, empty for one that no tensor takes
  std::vector<int> origins;       // per result: the input whose memory it may take over, or -1
  std::vector<int64_t> starts;
  std::vector<ops::Scalar> scalars;
  std::vector<uint64_t> random;  // three words per random op
  int64_t bytes = 0;             // of all results

  /// Says what is to be computed, once all is recorded: the results that somebody else holds, or `wanted`.
  void close();
  void close(std::vector<bool> wanted);
  /// Whether a result is wanted, or an op checks a value.
  bool has_purpose() const;
  /// One graph of all ops.
  graph::Graph graph() const;
  /// Where its ops were recorded.
  std::vector<uint64_t> lines() const;
  /// Lets go of everything but the memory of its lists.
  void clear();

  std::vector<bool> wanted;  // per result, and
  Hash128 key;               // of all that, once it is closed
  Hash128 prefix;            // of the ops and how they hang together
  uint64_t number = 0;       // of the segment in this process
  size_t news = 0;           // descriptions that were in no segment before
  bool is_news = true;       // it is made of those, not of known ops in another order
};

/// Note [Tracing]. torch.compile lowers a graph by calling its ops on tensors whose Values are *placeholders*: pending
/// inputs of a recorder of its own, which only the tracing thread uses and which is never cut. Reading such a Value is
/// an error, and noted, so that the caller can split its graph there.
class Recorder {
 public:
  explicit Recorder(Device& device, bool is_trace = false);

  Device& device() const { return device_; }

  /// Records one op: outputs[k] is the pending Value of description.outputs[k]. Cuts first when the segment is full.
  void record(Plan& description, const Hash128& key, const Arguments& arguments, std::span<ValueRef> outputs);
  /// A boundary: runs what was recorded. Its error waits for raise_error().
  void cut();
  /// A boundary, behind which everything up to the next is one segment, however it repeats itself: an optimizer's step
  /// does the same for each parameter, and is to read and write each only once.
  void begin_step();
  /// Between begin_step() and the next boundary. What is made of nothing then, the state of an optimizer, is made at
  /// once, so that the first step is the same program as those after it.
  bool is_in_step() const { return is_step_.load(std::memory_order_relaxed); }
  /// The end of begin_step()'s segment; a boundary where nobody asks for anything.
  void end_step();
  /// Waits for what was handed over, see Note [Launches].
  void wait_for_launch();
  /// Runs what `value` waits for, and raises the error of what was run since the last time.
  void cut_for(const Value& value);
  void raise_error();
  /// Somebody was told of `error` by a Value that failed with it.
  void forget_error(const Error& error);

  /// How many steps the tree of what was recorded has, Note [Paths].
  size_t path_steps();

  /// Tracing: the next input of the segment, a pending Value without a result behind it.
  ValueRef add_placeholder(const Type& type);
  bool was_read() const { return was_read_; }
  const Segment& segment() const { return segment_; }
  /// The number of the result that `value` is, or -1.
  int result_number(const Value& value) const;

 private:
  int base_of(Value& input);
  void note_line(uint64_t segment, size_t op, Step* step, uint64_t paths);
  void cut_at(bool is_boundary, bool is_step, bool may_hand_over);
  bool hand_over();
  void launch();
  void run(Segment& segment);
  bool runs_whole(Segment& segment);
  Plan* find_or_make(const Segment& segment);
  void run_whole(Plan& plan, Segment& segment);
  void run_one_by_one(Segment& segment);
  void keep_error(const Error& error);

  Device& device_;
  const bool is_trace_;
  bool was_read_ = false;
  std::mutex mutex_;  // of the segment; never held while anything compiles, runs or waits
  Segment segment_;
  Paths paths_;
  uint64_t path_generation_ = 0;  // of paths_, which is forgotten when it has grown too large
  Step* step_;                    // the last op, in paths_
  Period period_;
  std::atomic<bool> is_step_{false};  // since begin_step()
  std::optional<Error> error_;        // the first that nobody was told of
  std::binary_semaphore running_{1};  // one segment at a time: those before it are done
  Launcher launcher_{[this] { launch(); }};
  Segment run_;                          // that one, else empty: two segments' lists are used in turns; under running_
  Choice choice_;                        // under running_
  std::unordered_set<Hash128> refused_;  // segments that do not compile as a whole; under running_
};

/// While it lives, ops of this thread are recorded by `recorder`, whatever the mode.
class Tracing {
 public:
  explicit Tracing(Recorder& recorder);
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  Recorder* previous_;
};

namespace detail {
extern std::atomic<int> deferred;  // not zero: some thread traces, or the mode is a deferred one (or not yet known)
extern std::atomic<bool> waits;    // mode debug
Recorder* find_recorder(Device& device);
}  // namespace detail

/// Whether this thread traces.
bool is_tracing();

/// Who records ops on `device` now, or null when they run at once.
inline Recorder* recorder_of(Device& device) {
  return detail::deferred.load(std::memory_order_relaxed) == 0 ? nullptr : detail::find_recorder(device);
}

}  // namespace tpu::engine
