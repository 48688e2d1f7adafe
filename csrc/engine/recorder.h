// Recorder: ops recorded in the deferred modes, and the cut that turns them into one program and runs it.
//
// Note [Deferred ops]. A recorded op is its description (engine/plan.h), found by the same key as its program in strict
// mode, the numbers of its operands and its run-time arguments; its results are pending Values of known types. A cut
// takes everything recorded so far (a *segment*): results that nobody holds any more are no outputs, so dead values are
// never computed; overwritten inputs are donated. The program is found by a key made of the keys of the ops, how they
// hang together and which results are wanted, so a loop that records the same ops again compiles nothing. Reading a
// pending Value cuts, as do events, synchronize(), the optimizer-step hook and a size cap.
//
// Note [Deferred errors]. What can be told from shapes and types is an error of the call, as in strict mode. A failed
// value check shows when the segment has run: then its ops run again one by one, so that only the op at fault and what
// depends on it fail and a tensor that it would have overwritten keeps its elements. The error is raised by the next
// read or synchronize(), with the Python line that recorded the op.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/plan.h"
#include "engine/run.h"
#include "engine/value.h"

namespace tpu::engine {

/// When ops run: at once, or recorded and cut.
enum class Mode : uint8_t { Strict, Fused };

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

  /// The results that somebody else holds.
  std::vector<bool> wanted() const;
  Hash128 key(const std::vector<bool>& wanted) const;
  /// One graph of all ops.
  graph::Graph graph(const std::vector<bool>& wanted) const;
  /// Where its ops were recorded.
  std::vector<uint64_t> lines() const;

 private:
  friend class Recorder;
  std::unordered_map<const Value*, int> input_numbers_;
  Hasher hasher_;  // of the ops so far and how they hang together
};

/// Note [Tracing]. torch.compile lowers a graph by calling its ops on tensors whose Values are *placeholders*: pending
/// inputs of a recorder of its own, which only the tracing thread uses and which is never cut. Reading such a Value is
/// an error, and noted, so that the caller can split its graph there.
class Recorder {
 public:
  explicit Recorder(Device& device, bool is_trace = false) : device_(device), is_trace_(is_trace) {}

  Device& device() const { return device_; }

  /// Records one op: outputs[k] is the pending Value of description.outputs[k]. Cuts first when the segment is full.
  void record(Plan& description, const Hash128& key, const Arguments& arguments, std::span<ValueRef> outputs);
  /// Runs what was recorded. Its error waits for raise_error().
  void cut();
  /// Runs what `value` waits for, and raises the error of what was run since the last time.
  void cut_for(const Value& value);
  void raise_error();

  /// Tracing: the next input of the segment, a pending Value without a result behind it.
  ValueRef add_placeholder(const Type& type);
  bool was_read() const { return was_read_; }
  const Segment& segment() const { return segment_; }
  /// The number of the result that `value` is, or -1.
  int result_number(const Value& value) const;

 private:
  int base_of(Value& input);
  void note_line(uint64_t segment, size_t op, const Hash128& prefix);
  void run(Segment& segment);
  void run_whole(Segment& segment, const std::vector<bool>& wanted);
  void run_one_by_one(Segment& segment);
  void keep_error(const Error& error);

  Device& device_;
  const bool is_trace_;
  bool was_read_ = false;
  std::mutex mutex_;  // of the segment; never held while anything compiles, runs or waits
  Segment segment_;
  uint64_t segments_ = 0;                        // cut so far
  std::unordered_map<Hash128, uint64_t> lines_;  // by the ops up to the one that was recorded there
  std::optional<Error> error_;                   // the first that nobody was told of
  std::mutex running_;                           // one segment at a time: those before it are done
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
Recorder* find_recorder(Device& device);
}  // namespace detail

/// Whether this thread traces.
bool is_tracing();

/// Who records ops on `device` now, or null when they run at once.
inline Recorder* recorder_of(Device& device) {
  return detail::deferred.load(std::memory_order_relaxed) == 0 ? nullptr : detail::find_recorder(device);
}

}  // namespace tpu::engine
