// Plan: a lowered and compiled graph with all that running it again needs; found by key on the fast path.
#pragma once

#include <atomic>
#include <memory>

#include "cache/cache.h"
#include "engine/device.h"
#include "graph/graph.h"

namespace tpu::engine {

/// What running a program takes besides the program. A field added here must be added in plan_file.cpp, or that does
/// not compile.
struct Binding {
  std::vector<graph::RuntimeArgument> arguments;
  std::vector<graph::Output> outputs;
  std::vector<graph::Check> checks;
  std::vector<int64_t> random_blocks;  // per random node
  size_t input_count = 0;
  size_t start_count = 0;
  size_t scalar_count = 0;
  int64_t output_bytes = 0;
  bool any_donor = false;
  /// Another Python thread should run meanwhile: it moves many bytes, or calls a kernel that may be Python's.
  bool is_heavy = false;
  /// Takes long, or may (it has a loop or calls a library): its outputs are waited for even when they are dropped.
  bool is_lengthy = false;
};

/// Without an executable it is a *description*: the types of the outputs and what else recording the op needs, or, when
/// an `out=` tensor must be resized first, only the logical types.
struct Plan : cache::Entry, Binding, std::enable_shared_from_this<Plan> {
  /// What it was made of, where that is needed again: in a description only.
  graph::Graph graph;
  /// The segment in which it was recorded first (engine/recorder.h); 0: in none. In a description only.
  std::atomic<uint64_t> first_segment{0};
};

/// A donation costs an XLA plugin some 4 us, more than the memory of a smaller array is worth.
constexpr int64_t kDonatedBytes = 64 * 1024;

/// Bytes that running it takes beside its inputs: of the outputs that are to take over no memory.
int64_t fresh_bytes(const Binding& binding);

/// How programs of this graph are called in lists and logs.
std::string program_name(const graph::Graph& graph);
/// The plan of `key`, or null. No lock when this thread asked for the key before. The plan lives at least until the
/// calling thread's next call of find_plan or make_plan.
Plan* find_plan(const Hash128& key);
/// Whether find_plan would find one; counts as no use of it.
bool has_plan(const Hash128& key);
/// The key of the description that belongs to `key`.
Hash128 description_key(const Hash128& key);
/// Lowers the graph and keeps the description under `description`; nothing is compiled.
Plan* make_description(const Hash128& description, const graph::Graph& graph);
/// Keeps the plan of `key`, loaded from disk or lowered and compiled; waits when another thread is doing so. Releases
/// the GIL. `line`: where the graph was recorded, for the list of compiles (engine/compiles.h).
Plan* make_plan(const Hash128& key, Device& device, const graph::Graph& graph, uint64_t line);

}  // namespace tpu::engine
