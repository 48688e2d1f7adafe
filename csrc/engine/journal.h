// Journal: which programs a run of a script consists of, so that they can be compiled for a device that is not here.
//
// Off unless `python -m torch_tpu check` (or a test) switches it on. Programs are noted in the order of their first
// run, each once; only whole programs are: segments of the deferred modes and graphs of torch.compile.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/value.h"
#include "graph/graph.h"
#include "ops/context.h"

namespace tpu::engine {

/// One program of the run.
struct Noted {
  std::string name;
  graph::Graph graph;
  ops::Settings settings;          // in force when it was noted
  std::vector<std::string> lines;  // where its ops were recorded, each once, in order
  int64_t runs = 0;
  int64_t other_bytes = 0;  // most bytes that were live while it ran and no arguments of it
};

/// What note_run() asks for when it meets a program for the first time.
struct Source {
  graph::Graph graph;
  std::vector<uint64_t> lines;  // see LineHooks
};

namespace detail {
extern std::atomic<bool> journal_on;
}  // namespace detail

inline bool journal_is_on() { return detail::journal_on.load(std::memory_order_relaxed); }
/// Switching on forgets what was noted before.
void set_journal(bool on);
/// Notes that the program of `key` is about to run.
void note_run(const Hash128& key, Device& device, std::span<Value* const> inputs,
              const std::function<Source()>& source);
/// What was noted so far, in the order of the first runs.
std::vector<Noted> journal();
/// The program's text for a TPU: what depends on the platform is lowered for that one, whatever runs here.
std::string lower_for_tpu(const Noted& program);

}  // namespace tpu::engine
