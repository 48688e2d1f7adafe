#include "engine/recorder.h"

#include <algorithm>
#include <limits>

#include "base/env.h"
#include "base/log.h"
#include "engine/journal.h"
#include "engine/runtime.h"

namespace tpu::engine {

namespace {

std::atomic<int> current_mode{-1};
thread_local Recorder* tracer = nullptr;
LineHooks line_hooks;
constexpr size_t kMostLines = 1 << 18;

Mode mode_from_environment() {
  std::string text = env::text("TORCH_TPU_MODE");
  check(text == "strict" || text == "fused", ErrorCode::Value, "TORCH_TPU_MODE: expected strict or fused, got '", text,
        "'");
  return text == "fused" ? Mode::Fused : Mode::Strict;
}

size_t segment_limit() {
  static const auto limit = static_cast<size_t>(env::integer("TORCH_TPU_SEGMENT_OPS"));
  return limit;
}

// Waits for the GIL's release before a mutex that others hold while they compile.
class Turn {
 public:
  explicit Turn(std::mutex& mutex) : lock_(mutex, std::try_to_lock) {
    if (lock_.owns_lock()) return;
    Blocking blocking;
    lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace

namespace detail {

std::atomic<int> deferred{1};  // the mode is not known yet

Recorder* find_recorder(Device& device) {
  if (tracer != nullptr && &tracer->device() == &device) return tracer;
  return mode() == Mode::Strict ? nullptr : &device.recorder();
}

}  // namespace detail

bool is_tracing() { return tracer != nullptr; }

Tracing::Tracing(Recorder& recorder) : previous_(std::exchange(tracer, &recorder)) { detail::deferred.fetch_add(1); }
Tracing::~Tracing() {
  tracer = previous_;
  detail::deferred.fetch_sub(1);
}

Mode mode() {
  if (current_mode.load(std::memory_order_relaxed) < 0) set_mode(mode_from_environment());
  return static_cast<Mode>(current_mode.load(std::memory_order_relaxed));
}

void set_mode(Mode wanted) {
  int previous = current_mode.exchange(static_cast<int>(wanted));
  bool was_deferred = previous != static_cast<int>(Mode::Strict);  // unknown counts as such
  detail::deferred.fetch_add((wanted != Mode::Strict) - was_deferred);
  if (wanted != Mode::Strict || !Runtime::is_started()) return;
  Runtime& runtime = Runtime::get();
  for (int i = 0; i < runtime.device_count(); ++i) runtime.device(i).recorder().cut();
  for (int i = 0; i < runtime.device_count(); ++i) runtime.device(i).recorder().raise_error();
}

void set_line_hooks(LineHooks hooks) { line_hooks = hooks; }

uint64_t capture_line() { return line_hooks.capture != nullptr ? line_hooks.capture() : 0; }

std::string describe_line(uint64_t line) {
  return line == 0 || line_hooks.describe == nullptr ? std::string() : line_hooks.describe(line);
}

std::vector<bool> Segment::wanted() const {
  std::vector<bool> wanted;
  for (const ValueRef& result : results) wanted.push_back(result && result->holders() > 1);
  return wanted;
}

Hash128 Segment::key(const std::vector<bool>& wanted) const {
  Hasher hasher = hasher_;
  for (size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) hasher.add(k);
  return hasher.finish();
}

graph::Graph Segment::graph(const std::vector<bool>& wanted) const {
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

int Recorder::base_of(Value& input) {
  if (int number = result_number(input); number >= 0) return ~number;
  auto [place, is_new] = segment_.input_numbers_.emplace(&input, static_cast<int>(segment_.inputs.size()));
  if (is_new) {
    input.retain();
    segment_.inputs.push_back(ValueRef::adopt(&input));
  }
  return place->second;
}

void Recorder::record(Plan& description, const Hash128& key, const Arguments& arguments, std::span<ValueRef> outputs) {
  check_scalars(description, arguments.scalars);
  for (const Value* input : arguments.inputs)
    if (input->is_failed()) input->buffer();  // throws its error, here where it is used
  bool is_full = false, is_new = false;
  uint64_t segment = 0;
  size_t number = 0;
  Hash128 prefix;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Segment::Op op{description.shared_from_this(), key, segment_.bases.size(), arguments.inputs.size()};
    segment_.hasher_.add(key);
    for (Value* input : arguments.inputs) {
      segment_.bases.push_back(base_of(*input));
      segment_.hasher_.add(segment_.bases.back());
    }
    prefix = segment_.hasher_.finish();
    auto known = lines_.find(prefix);
    is_new = known == lines_.end();
    if (!is_new) op.line = known->second;
    segment = segments_;
    number = segment_.ops.size();
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
    is_full = segment_.ops.size() >= segment_limit() || segment_.bytes > device_.memory().limit / 2;
  }
  if (is_new) note_line(segment, number, prefix);
  if (is_full && !is_trace_) cut();
}

void Recorder::note_line(uint64_t segment, size_t op, const Hash128& prefix) {
  uint64_t line = capture_line();
  std::lock_guard<std::mutex> lock(mutex_);
  if (lines_.size() >= kMostLines) lines_.clear();
  lines_[prefix] = line;
  if (segments_ == segment && op < segment_.ops.size()) segment_.ops[op].line = line;
}

void Recorder::cut() {
  Turn turn(running_);
  Segment segment;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (segment_.ops.empty()) return;
    std::swap(segment, segment_);
    ++segments_;
  }
  run(segment);
}

void Recorder::cut_for(const Value& value) {
  if (is_trace_) {
    was_read_ = true;
    fail(ErrorCode::Unavailable, "the value of a tensor is needed while its graph is being compiled");
  }
  // Either it was recorded in the present segment, or another thread is running its segment, whose turn is over before
  // ours begins.
  while (value.is_pending()) cut();
  raise_error();
}

void Recorder::keep_error(const Error& error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = error;
}

void Recorder::raise_error() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::optional<Error> error = std::exchange(error_, std::nullopt);
  lock.unlock();
  if (error) throw *error;
}

void Recorder::run(Segment& segment) {
  std::vector<bool> wanted = segment.wanted();
  bool is_wanted = std::find(wanted.begin(), wanted.end(), true) != wanted.end() ||
                   std::any_of(segment.ops.begin(), segment.ops.end(),
                               [](const Segment::Op& op) { return !op.description->checks.empty(); });
  static const Error never(ErrorCode::Internal, "a result that nobody wanted was not computed");
  std::optional<Error> failure;
  try {
    if (is_wanted) run_whole(segment, wanted);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Plugin) {
      failure = error;
      keep_error(error);
    } else {
      log::at(3, "a segment of ", segment.ops.size(), " ops runs one by one: ", error.message());
      run_one_by_one(segment);
    }
  }
  for (const ValueRef& result : segment.results)
    if (result && result->is_pending()) result->become(failure ? *failure : never);
}

void Recorder::run_whole(Segment& segment, const std::vector<bool>& wanted) {
  std::vector<Value*> outputs;
  for (size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) outputs.push_back(segment.results[k].get());
  Hash128 key = segment.key(wanted);
  std::vector<Value*> inputs;
  for (const ValueRef& input : segment.inputs) inputs.push_back(input.get());
  if (journal_is_on()) [[unlikely]]
    note_run(key, device_, inputs, [&] { return Source{segment.graph(wanted), segment.lines()}; });
  Plan* plan = find_plan(key);
  if (plan == nullptr) plan = make_plan(key, device_, segment.graph(wanted));
  Arguments arguments;
  arguments.inputs = inputs;
  arguments.starts = segment.starts;
  arguments.scalars = segment.scalars;
  arguments.random = segment.random;
  arguments.cells_are_rebound = true;
  run_pending(*plan, device_, arguments, outputs);
}

// As strict mode would have, after something in the segment failed that does not concern all of it.
void Recorder::run_one_by_one(Segment& segment) {
  size_t result = 0, start = 0, scalar = 0, random = 0;
  for (const Segment::Op& op : segment.ops) {
    const Plan& description = *op.description;
    const graph::Node& node = description.graph.nodes[0];
    std::vector<Value*> inputs, outputs;
    for (size_t i = 0; i < op.base_count; ++i) {
      int base = segment.bases[op.first_base + i];
      inputs.push_back(
          (base >= 0 ? segment.inputs[static_cast<size_t>(base)] : segment.results[static_cast<size_t>(~base)]).get());
    }
    for (const graph::Output& output : description.outputs)
      outputs.push_back(segment.results[result + static_cast<size_t>(output.result)].get());
    std::vector<Cell*> donors(inputs.size(), nullptr);
    size_t random_words = node.call.row->is_random ? 3 : 0;
    Arguments arguments;
    arguments.inputs = inputs;
    arguments.donors = donors;
    arguments.starts = std::span(segment.starts).subspan(start, description.start_count);
    arguments.scalars = std::span(segment.scalars).subspan(scalar, description.scalar_count);
    arguments.random = std::span(segment.random).subspan(random, random_words);
    try {
      Hash128 key = description_key(op.key);  // the other way round
      Plan* plan = find_plan(key);
      if (plan == nullptr) plan = make_plan(key, device_, description.graph);
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
        if (old != nullptr)
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
