#include "engine/recorder.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "base/env.h"
#include "base/log.h"
#include "engine/background.h"
#include "engine/errand.h"
#include "engine/journal.h"
#include "engine/runtime.h"

namespace tpu::engine {

namespace {

std::atomic<int> current_mode{-1};
thread_local Recorder* tracer = nullptr;
LineHooks line_hooks;
std::atomic<uint64_t> segments{0};        // ever begun
constexpr size_t kMostSteps = 1 << 16;    // of a recorder's paths, some 10 MB
constexpr size_t kMostRefused = 1 << 12;  // segments
constexpr size_t kShortestSegment = 192;  // ops; turns of a short period go into one segment together

bool is_deferred(Mode mode) { return mode == Mode::Fused || mode == Mode::Auto; }

// Whether a variable of the published torch_tpu asks for something.
bool is_set(const char* name) {
  std::string text = env::text(name);
  return !text.empty() && text != "0";
}

Mode mode_from_environment() {
  std::string text = env::text("TORCH_TPU_MODE");
  if (!text.empty()) return mode_named(text);
  if (is_set("TPU_LAUNCH_BLOCKING")) return Mode::Debug;
  return is_set("TORCH_TPU_DEFER_AND_FUSE") ? Mode::Fused : Mode::Auto;
}

size_t segment_limit() {
  static const auto limit = static_cast<size_t>(env::integer("TORCH_TPU_SEGMENT_OPS"));
  return limit;
}

// Waits with the GIL released, for others hold it while they compile.
class Turn {
 public:
  explicit Turn(std::binary_semaphore& running) : running_(running) {
    if (running.try_acquire()) return;
    Blocking blocking;
    running.acquire();
  }
  ~Turn() {
    if (!is_passed_on_) running_.release();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Another thread is going to release it.
  void pass_on() { is_passed_on_ = true; }

 private:
  std::binary_semaphore& running_;
  bool is_passed_on_ = false;
};

}  // namespace

namespace detail {

std::atomic<int> deferred{1};  // the mode is not known yet
std::atomic<bool> waits{false};

Recorder* find_recorder(Device& device) {
  if (tracer != nullptr && &tracer->device() == &device) return tracer;
  return is_deferred(mode()) ? &device.recorder() : nullptr;
}

}  // namespace detail

bool is_tracing() { return tracer != nullptr; }

Tracing::Tracing(Recorder& recorder) : previous_(std::exchange(tracer, &recorder)) { detail::deferred.fetch_add(1); }
Tracing::~Tracing() {
  tracer = previous_;
  detail::deferred.fetch_sub(1);
}

Mode mode_named(const std::string& name) {
  for (size_t i = 0; i < std::size(kModeNames); ++i)
    if (name == kModeNames[i]) return static_cast<Mode>(i);
  fail(ErrorCode::Value, "mode: expected auto, fused, strict or debug, got '", name, "'");
}

Mode mode() {
  if (current_mode.load(std::memory_order_relaxed) < 0) set_mode(mode_from_environment());
  return static_cast<Mode>(current_mode.load(std::memory_order_relaxed));
}

void set_mode(Mode wanted) {
  int previous = current_mode.exchange(static_cast<int>(wanted));
  bool was_deferred = previous < 0 || is_deferred(static_cast<Mode>(previous));  // unknown counts as such
  detail::deferred.fetch_add(is_deferred(wanted) - was_deferred);
  detail::waits = wanted == Mode::Debug;
  if (previous < 0 || is_deferred(wanted) || !Runtime::is_started()) return;
  Runtime& runtime = Runtime::get();
  for (int i = 0; i < runtime.device_count(); ++i) runtime.device(i).recorder().cut();
  for (int i = 0; i < runtime.device_count(); ++i) runtime.device(i).recorder().raise_error();
}

void set_line_hooks(LineHooks hooks) { line_hooks = hooks; }

uint64_t capture_line() { return line_hooks.capture != nullptr ? line_hooks.capture() : 0; }

std::string describe_line(uint64_t line) {
  return line == 0 || line_hooks.describe == nullptr ? std::string() : line_hooks.describe(line);
}

void Segment::close() {
  std::vector<bool> held;
  for (const ValueRef& result : results) held.push_back(result && result->holders() > 1);
  close(std::move(held));
}

void Segment::close(std::vector<bool> results_wanted) {
  wanted = std::move(results_wanted);
  Hasher hasher;
  hasher.add(prefix);
  for (size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) hasher.add(k);
  key = hasher.finish();
}

bool Segment::has_purpose() const {
  return std::find(wanted.begin(), wanted.end(), true) != wanted.end() ||
         std::any_of(ops.begin(), ops.end(), [](const Op& op) { return !op.description->checks.empty(); });
}

graph::Graph Segment::graph() const {
  graph::Graph whole;
  for (const ValueRef& input : inputs) whole.inputs.push_back(input->type());
  auto inputs_before_results = static_cast<int>(inputs.size());
  std::vector<bool> is_taken(inputs.size(), false);  // inputs whose memory has a new owner
  size_t result = 0;
  for (const Op& op : ops) {
    const graph::Graph& own = op.description->graph;
    graph::Node node = own.nodes[0];
    auto renumber = [&](int base) {
      if (base < 0) return base;
      int number = bases[op.first_base + static_cast<size_t>(base)];
      return number >= 0 ? number : inputs_before_results + ~number;
    };
    for (graph::Read& read : node.reads) {
      read.base = renumber(read.base);
      read.first_start += whole.start_count;
    }
    for (graph::Write& write : node.writes) {
      write.base = renumber(write.base);
      write.first_start += whole.start_count;
      write.donor = -1;
      int origin = origins[result];
      if (wanted[result] && origin >= 0 && !is_taken[static_cast<size_t>(origin)]) {
        write.donor = origin;
        is_taken[static_cast<size_t>(origin)] = true;
      }
      ++result;
    }
    whole.start_count += own.start_count;
    whole.nodes.push_back(std::move(node));
  }
  whole.wanted = wanted;
  return whole;
}

std::vector<uint64_t> Segment::lines() const {
  std::vector<uint64_t> lines;
  for (const Op& op : ops) lines.push_back(op.line);
  return lines;
}

void Segment::clear() {
  ops.clear();
  bases.clear();
  inputs.clear();
  results.clear();
  origins.clear();
  starts.clear();
  scalars.clear();
  random.clear();
  bytes = 0;
  wanted.clear();
  prefix = {};
  news = 0;
  is_news = true;
}

int Recorder::result_number(const Value& value) const {
  bool is_own = value.is_pending() && value.recorder() == this && value.number() < segment_.results.size() &&
                segment_.results[value.number()].get() == &value;
  return is_own ? static_cast<int>(value.number()) : -1;
}

ValueRef Recorder::add_placeholder(const Type& type) {
  auto value = ValueRef::adopt(new Value(device_, type, *this, std::numeric_limits<uint32_t>::max()));
  base_of(*value);
  return value;
}

Recorder::Recorder(Device& device, bool is_trace) : device_(device), is_trace_(is_trace), step_(&paths_.root()) {
  segment_.number = ++segments;
}

int Recorder::base_of(Value& input) {
  if (int number = result_number(input); number >= 0) return ~number;
  uint64_t mark = input.mark();
  if (mark >> Value::kMarkBits == segment_.number) return static_cast<int>(mark & ((1 << Value::kMarkBits) - 1));
  auto number = segment_.inputs.size();
  input.set_mark(segment_.number << Value::kMarkBits | number);
  input.retain();
  segment_.inputs.push_back(ValueRef::adopt(&input));
  return static_cast<int>(number);
}

void Recorder::record(Plan& description, const Hash128& key, const Arguments& arguments, std::span<ValueRef> outputs) {
  check_scalars(description, arguments.scalars);
  for (const Value* input : arguments.inputs)
    if (input->is_failed()) input->wait();  // throws its error, here where it is used
  bool is_full = false, is_new = false;
  uint64_t segment = 0, paths = 0;
  size_t number = 0;
  Step* step = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Segment::Op op{description.shared_from_this(), key, segment_.bases.size(), arguments.inputs.size()};
    for (Value* input : arguments.inputs) segment_.bases.push_back(base_of(*input));
    step = step_ = &paths_.follow(*step_, key, std::span(segment_.bases).subspan(op.first_base), is_new);
    op.line = step->line;
    paths = path_generation_;
    segment = segment_.number;
    segment_.prefix = step->prefix;
    number = segment_.ops.size();
    uint64_t in_none = 0;
    bool may_be_new = description.first_segment.load(std::memory_order_relaxed) == 0;
    if (may_be_new && description.first_segment.compare_exchange_strong(in_none, segment)) ++segment_.news;
    segment_.starts.insert(segment_.starts.end(), arguments.starts.begin(), arguments.starts.end());
    segment_.scalars.insert(segment_.scalars.end(), arguments.scalars.begin(), arguments.scalars.end());
    segment_.random.insert(segment_.random.end(), arguments.random.begin(), arguments.random.end());
    const graph::Node& node = description.graph.nodes[0];
    size_t first = segment_.results.size(), next = 0;
    segment_.results.resize(first + node.writes.size());
    segment_.origins.resize(first + node.writes.size(), -1);
    for (const graph::Output& output : description.outputs) {
      size_t at = first + static_cast<size_t>(output.result);
      auto value = ValueRef::adopt(new Value(device_, output.stored, *this, static_cast<uint32_t>(at)));
      if (output.donor >= 0) {
        int base = segment_.bases[op.first_base + static_cast<size_t>(output.donor)];
        segment_.origins[at] = base >= 0 ? base : segment_.origins[static_cast<size_t>(~base)];
      }
      segment_.results[at] = value;
      outputs[next++] = std::move(value);
    }
    segment_.bytes += description.output_bytes;
    segment_.ops.push_back(std::move(op));
    size_t size = segment_.ops.size();
    bool ends_turn = period_.add(key) && !is_step_ && size >= kShortestSegment;
    is_full = ends_turn || size >= segment_limit() || segment_.bytes > device_.memory_limit() / 2;
  }
  if (is_new) note_line(segment, number, step, paths);
  if (is_full && !is_trace_) cut_at(/*is_boundary=*/false, /*is_step=*/false, /*may_hand_over=*/true);
}

void Recorder::note_line(uint64_t segment, size_t op, Step* step, uint64_t paths) {
  uint64_t line = capture_line();
  std::lock_guard<std::mutex> lock(mutex_);
  if (path_generation_ == paths) step->line = line;
  if (segment_.number == segment && op < segment_.ops.size()) segment_.ops[op].line = line;
}

size_t Recorder::path_steps() {
  std::lock_guard<std::mutex> lock(mutex_);
  return paths_.size();
}

void Recorder::cut() { cut_at(/*is_boundary=*/true, /*is_step=*/false, /*may_hand_over=*/false); }

void Recorder::begin_step() { cut_at(/*is_boundary=*/true, /*is_step=*/true, /*may_hand_over=*/true); }

void Recorder::end_step() { cut_at(/*is_boundary=*/true, /*is_step=*/false, /*may_hand_over=*/true); }

void Recorder::cut_at(bool is_boundary, bool is_step, bool may_hand_over) {
  Turn turn(running_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (is_boundary) {
      period_.reset();
      is_step_ = is_step;
    }
    if (segment_.ops.empty()) return;
    std::swap(run_, segment_);
    segment_.number = ++segments;
    if (paths_.size() > kMostSteps) {
      paths_.clear();
      ++path_generation_;
    }
    step_ = &paths_.root();
  }
  run_.close();
  if (may_hand_over && hand_over()) return turn.pass_on();
  run(run_);
}

// Note [Launches]: gives run_ and the turn to the launcher. False for what has to be compiled or decided first.
bool Recorder::hand_over() {
  bool is_known = run_.ops.size() > 1 && run_.has_purpose() && !journal_is_on() && find_plan(run_.key) != nullptr;
  if (!is_known || !begin_errand()) return false;
  launcher_.wake();
  return true;
}

void Recorder::launch() {
  run(run_);
  running_.release();
  end_errand();
}

void Recorder::wait_for_launch() { Turn turn(running_); }

void Recorder::cut_for(const Value& value) {
  if (is_trace_) {
    was_read_ = true;
    fail(ErrorCode::Unavailable, "the value of a tensor is needed while its graph is being compiled");
  }
  // Where it was recorded in an earlier segment, whose turn ends before ours begins, nothing is cut: what the next
  // segment has must not depend on how far that one is.
  if (value.is_pending()) wait_for_launch();
  while (value.is_pending()) cut();
  raise_error();
}

void Recorder::keep_error(const Error& error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = error;
}

void Recorder::forget_error(const Error& error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (error_ && error_->message() == error.message()) error_.reset();
}

void Recorder::raise_error() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::optional<Error> error = std::exchange(error_, std::nullopt);
  lock.unlock();
  if (error) throw *error;
}

void Recorder::run(Segment& segment) {
  struct Emptied {
    Segment& segment;
    ~Emptied() { segment.clear(); }
  } emptied{segment};
  static const Error never(ErrorCode::Internal, "a result that nobody wanted was not computed");
  std::optional<Error> failure;
  try {
    if (segment.has_purpose()) {
      Plan* plan = runs_whole(segment) ? find_or_make(segment) : nullptr;
      if (plan != nullptr)
        run_whole(*plan, segment);
      else
        run_one_by_one(segment);
    }
  } catch (Error& error) {
    bool has_lost = std::any_of(segment.inputs.begin(), segment.inputs.end(), [](const ValueRef& input) {
      return !input->is_failed() && input->buffer().is_deleted();
    });
    if (has_lost) {  // the program took memory and failed: nothing can be computed again
      std::string first = describe_line(segment.ops.front().line), last = describe_line(segment.ops.back().line);
      if (!first.empty()) error.add_trail(concat("in what was recorded from ", first, " to ", last));
      failure = error;
      keep_error(error);
    } else {
      log::at(3, "a segment of ", segment.ops.size(), " ops runs one by one: ", error.message());
      run_one_by_one(segment);
    }
  } catch (const std::exception& error) {  // out of memory
    failure.emplace(ErrorCode::Internal, error.what());
    keep_error(*failure);
  }
  // What only the segment holds is never read.
  for (const ValueRef& result : segment.results)
    if (result && result->holders() > 1 && result->is_pending()) result->become(failure ? *failure : never);
}

// One op is the program of mode strict.
bool Recorder::runs_whole(Segment& segment) {
  if (journal_is_on()) return true;
  if (segment.ops.size() == 1) return false;
  // What a choice depends on, seconds, differs from run to run, and with it how results are rounded.
  bool is_deterministic = Runtime::get().configuration().settings.deterministic;
  if (mode() == Mode::Fused || is_deterministic) return true;
  if (find_plan(segment.key) != nullptr) {
    choice_.note_run(segment.key);
    return true;
  }
  std::unordered_set<Hash128> different;
  size_t missing = 0;
  for (const Segment::Op& op : segment.ops)
    if (different.insert(op.key).second && !has_plan(description_key(op.key))) ++missing;
  segment.is_news = 2 * segment.news >= different.size();
  Choice::Way way = choice_.choose(segment.key, segment.is_news, segment.ops.size(), missing);
  if (way == Choice::Way::Later) compile_later(segment.key, device_, segment.graph(), segment.ops[0].line);
  return way == Choice::Way::Whole;
}

// The program of a segment; null when it cannot be compiled, now or before: its ops may be.
Plan* Recorder::find_or_make(const Segment& segment) {
  const Hash128& key = segment.key;
  if (journal_is_on()) [[unlikely]] {
    std::vector<Value*> inputs;
    for (const ValueRef& input : segment.inputs) inputs.push_back(input.get());
    note_run(key, device_, inputs, [&] { return Source{segment.graph(), segment.lines()}; });
  }
  if (Plan* plan = find_plan(key)) return plan;
  if (refused_.count(key) != 0) return nullptr;
  try {
    Plan* plan = make_plan(key, device_, segment.graph(), segment.ops[0].line);
    choice_.note_compile(key, !segment.is_news, segment.ops.size(), plan->compile_seconds);
    return plan;
  } catch (const Error& error) {
    bool may_pass = error.code() == ErrorCode::Unavailable || error.code() == ErrorCode::OutOfMemory;
    if (!may_pass && refused_.size() < kMostRefused) refused_.insert(key);
    log::at(may_pass ? 3 : 1, "a segment of ", segment.ops.size(),
            " ops cannot be compiled as one program, its ops run one by one: ", error.message());
    return nullptr;
  }
}

void Recorder::run_whole(Plan& plan, Segment& segment) {
  std::vector<Value*> inputs, outputs;
  for (const ValueRef& input : segment.inputs) inputs.push_back(input.get());
  for (size_t k = 0; k < segment.wanted.size(); ++k)
    if (segment.wanted[k]) outputs.push_back(segment.results[k].get());
  Arguments arguments;
  arguments.inputs = inputs;
  arguments.starts = segment.starts;
  arguments.scalars = segment.scalars;
  arguments.random = segment.random;
  arguments.cells_are_rebound = true;
  run_pending(plan, device_, arguments, outputs);
}

// As strict mode would have: where a program of its own does not pay, or after something in the segment failed that
// does not concern all of it.
void Recorder::run_one_by_one(Segment& segment) {
  size_t result = 0, start = 0, scalar = 0, random = 0;
  std::vector<int> uses(segment.inputs.size() + segment.results.size(), 0);  // still to come
  auto uses_of = [&](int base) -> int& {
    return uses[base >= 0 ? static_cast<size_t>(base) : segment.inputs.size() + static_cast<size_t>(~base)];
  };
  for (int base : segment.bases) ++uses_of(base);
  for (const Segment::Op& op : segment.ops) {
    const Plan& description = *op.description;
    const graph::Node& node = description.graph.nodes[0];
    std::vector<Value*> inputs, outputs;
    std::vector<ValueRef> kept;  // another holder, so that what is read again later is not given away
    for (size_t i = 0; i < op.base_count; ++i) {
      int base = segment.bases[op.first_base + i];
      const ValueRef& value =
          base >= 0 ? segment.inputs[static_cast<size_t>(base)] : segment.results[static_cast<size_t>(~base)];
      inputs.push_back(value.get());
      if (--uses_of(base) > 0) kept.push_back(value);
    }
    for (const graph::Output& output : description.outputs)
      outputs.push_back(segment.results[result + static_cast<size_t>(output.result)].get());
    size_t random_words = node.call.row->is_random ? 3 : 0;
    Arguments arguments;
    arguments.inputs = inputs;
    arguments.cells_are_rebound = true;
    arguments.starts = std::span(segment.starts).subspan(start, description.start_count);
    arguments.scalars = std::span(segment.scalars).subspan(scalar, description.scalar_count);
    arguments.random = std::span(segment.random).subspan(random, random_words);
    try {
      Hash128 key = description_key(op.key);  // the other way round
      Plan* plan = find_plan(key);
      if (plan == nullptr) {
        plan = make_plan(key, device_, description.graph, op.line);
        choice_.note_compile(key, /*on_trial=*/false, 1, plan->compile_seconds);
      }
      run_pending(*plan, device_, arguments, outputs);
    } catch (Error& error) {
      bool is_first = std::none_of(inputs.begin(), inputs.end(), [](const Value* input) { return input->is_failed(); });
      if (is_first) {
        std::string line = describe_line(op.line);
        if (!line.empty()) error.add_trail(concat("recorded at ", line));
        keep_error(error);
      }
      for (size_t k = 0; k < outputs.size(); ++k) {
        int donor = description.outputs[k].donor;
        const Value* old = is_first && donor >= 0 ? inputs[static_cast<size_t>(donor)] : nullptr;
        if (old != nullptr && !old->buffer().is_deleted())
          outputs[k]->become(old->buffer().copy_to_device(device_.pjrt()));
        else
          outputs[k]->become(error);
      }
    }
    result += node.writes.size();
    start += description.start_count;
    scalar += description.scalar_count;
    random += random_words;
  }
}

}  // namespace tpu::engine
