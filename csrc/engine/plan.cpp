#include "engine/plan.h"

#include <array>
#include <chrono>
#include <optional>

#include "base/log.h"
#include "engine/activity.h"
#include "engine/background.h"
#include "engine/compiles.h"
#include "engine/plan_file.h"
#include "engine/progress.h"
#include "engine/recorder.h"
#include "engine/runtime.h"
#include "ops/host_call.h"

namespace tpu::engine {

namespace {

// A thread's own memory of plans: direct-mapped, so that a hit is one comparison, without a lock or a reference count.
class Memo {
 public:
  Plan* find(const Hash128& key, uint64_t generation) {
    if (generation != generation_) {
      slots_.fill({});
      generation_ = generation;
      return nullptr;
    }
    Slot& slot = slots_[key.low % kSlots];
    return slot.key == key ? slot.plan.get() : nullptr;
  }
  Plan* keep(const Hash128& key, std::shared_ptr<Plan> plan) {
    Slot& slot = slots_[key.low % kSlots];
    slot = {key, std::move(plan)};
    return slot.plan.get();
  }

 private:
  static constexpr size_t kSlots = 2048;
  struct Slot {
    Hash128 key;
    std::shared_ptr<Plan> plan;
  };
  uint64_t generation_ = 0;
  std::array<Slot, kSlots> slots_;
};

Memo& memo() {
  thread_local std::unique_ptr<Memo> own = std::make_unique<Memo>();
  return *own;
}

constexpr int64_t kHeavyBytes = 256 * 1024;

// What lowering says of the graph; returns the text.
std::string describe(Plan& plan, const graph::Graph& graph) {
  plan.name = program_name(graph);
  graph::Lowered lowered = graph::lower(graph, Runtime::get().configuration().settings);
  for (const graph::Output& output : lowered.outputs) {
    plan.output_bytes += output.stored.bytes();
    plan.any_donor |= output.donor >= 0;
  }
  int64_t input_bytes = 0;
  for (const Type& type : graph.inputs) input_bytes += type.bytes();
  plan.arguments = std::move(lowered.arguments);
  plan.outputs = std::move(lowered.outputs);
  plan.checks = std::move(lowered.checks);
  plan.random_blocks = std::move(lowered.random_blocks);
  plan.input_count = graph.inputs.size();
  plan.start_count = static_cast<size_t>(graph.start_count);
  for (const graph::Node& node : graph.nodes) plan.scalar_count += node.call.scalars.size();
  // A kernel of the host may be Python's and need the GIL, on another thread than the one that runs the program.
  plan.is_heavy =
      input_bytes + plan.output_bytes > kHeavyBytes || lowered.text.find(ops::kHostCallTarget) != std::string::npos;
  plan.is_lengthy = plan.is_heavy || lowered.text.find("stablehlo.while") != std::string::npos ||
                    lowered.text.find("custom_call") != std::string::npos;
  return std::move(lowered.text);
}

std::shared_ptr<Plan> compile(Device& device, const graph::Graph& graph, CompileRecord& record) {
  auto plan = std::make_shared<Plan>();
  log::at(3, "graph\n", to_string(graph));
  std::string text = describe(*plan, graph);
  log::at(4, text);
  for (const graph::Output& output : plan->outputs) {
    if (!output.resized) continue;
    plan->origin = cache::Entry::Origin::Lowered;
    return plan;
  }
  device.expect_room(fresh_bytes(*plan));
  record.is_repeat = note_text(text);

  auto begin = std::chrono::steady_clock::now();
  {
    Progress progress(plan->name, record.line);
    ActivityScope activity(Activity::Kind::Compile, plan->name, device);
    plan->executable = device.client().compile(text);
  }
  plan->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  log::at(2, "compiled in ", plan->compile_seconds * 1e3, " ms: ", plan->name);
  return plan;
}

std::shared_ptr<Plan> load_or_compile(const Hash128& key, Device& device, const graph::Graph& graph, uint64_t line) {
  CompileRecord record;
  record.cause = note_cause(graph);
  record.line = describe_line(line);
  record.ops = graph.nodes.size();
  record.is_in_background = is_background();
  std::shared_ptr<Plan> plan = load_plan(key);
  std::optional<cache::Disk::Claim> claim;
  if (!plan) {
    claim.emplace(Runtime::get().disk().claim(key));
    if (claim->is_made()) plan = load_plan(key);
  }
  record.is_from_disk = plan != nullptr;
  if (plan) {
    log::at(3, "graph\n", to_string(graph));
    if (log::level() >= 4) log::at(4, graph::lower(graph, Runtime::get().configuration().settings).text);
  } else {
    check_may_compile(program_name(graph), record.cause, record.line);
    plan = compile(device, graph, record);
    if (plan->executable) store_plan(key, *plan, std::string(record.cause), record.line);
  }
  record.name = plan->name;
  record.seconds = plan->compile_seconds;
  if (plan->executable) note_compile(std::move(record));
  for (const graph::Node& node : graph.nodes) ops::count_program(*node.call.row);
  return plan;
}

}  // namespace

int64_t fresh_bytes(const Binding& binding) {
  int64_t bytes = binding.output_bytes;
  if (!binding.any_donor || !binding.checks.empty()) return bytes;
  for (const graph::Output& output : binding.outputs)
    if (output.donor >= 0 && output.stored.bytes() >= kDonatedBytes) bytes -= output.stored.bytes();
  return bytes;
}

std::string program_name(const graph::Graph& graph) {
  std::string name = to_string(graph.nodes[0].call);
  if (graph.nodes.size() > 1) name += concat(" and ", graph.nodes.size() - 1, " more");
  return name;
}

Plan* find_plan(const Hash128& key) {
  cache::Cache& programs = Runtime::get().programs();
  uint64_t generation = programs.generation();
  if (Plan* known = memo().find(key, generation)) return known;
  auto entry = std::static_pointer_cast<Plan>(programs.find(key));
  return entry == nullptr ? nullptr : memo().keep(key, std::move(entry));
}

bool has_plan(const Hash128& key) { return Runtime::get().programs().contains(key); }

Hash128 description_key(const Hash128& key) { return {~key.low, key.high}; }

Plan* make_description(const Hash128& description, const graph::Graph& graph) {
  auto entry = Runtime::get().programs().fetch(description, [&]() -> std::shared_ptr<cache::Entry> {
    auto plan = std::make_shared<Plan>();
    log::at(5, "description of\n", to_string(graph));
    describe(*plan, graph);
    plan->origin = cache::Entry::Origin::Lowered;
    plan->graph = graph;
    return plan;
  });
  return memo().keep(description, std::static_pointer_cast<Plan>(entry));
}

Plan* make_plan(const Hash128& key, Device& device, const graph::Graph& graph, uint64_t line) {
  std::shared_ptr<cache::Entry> entry;
  {
    Blocking blocking;
    entry = Runtime::get().programs().fetch(
        key, [&]() -> std::shared_ptr<cache::Entry> { return load_or_compile(key, device, graph, line); });
  }
  return memo().keep(key, std::static_pointer_cast<Plan>(entry));
}

}  // namespace tpu::engine
