#include "engine/journal.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/hash.h"
#include "engine/device.h"
#include "engine/plan.h"
#include "engine/recorder.h"
#include "engine/runtime.h"

namespace tpu::engine {

namespace detail {

std::atomic<bool> journal_on{false};

}  // namespace detail

namespace {

struct Journal {
  std::mutex mutex;
  std::vector<Noted> programs;
  std::unordered_map<Hash128, size_t> numbers;  // by key
};

Journal& the_journal() {
  static auto* journal = new Journal;  // used until the process ends
  return *journal;
}

// Bytes of what is live on the device besides these Values.
int64_t other_bytes(const Device& device, std::span<Value* const> inputs) {
  int64_t bytes = device.memory().allocated;
  std::set<const Value*> seen;
  for (const Value* input : inputs)
    if (seen.insert(input).second) bytes -= input->type().bytes();
  return std::max<int64_t>(bytes, 0);
}

std::vector<std::string> describe_lines(const std::vector<uint64_t>& numbers) {
  std::vector<std::string> lines;
  for (uint64_t number : numbers) {
    std::string line = describe_line(number);
    if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

}  // namespace

void set_journal(bool on) {
  Journal& journal = the_journal();
  std::lock_guard<std::mutex> lock(journal.mutex);
  if (on) {
    journal.programs.clear();
    journal.numbers.clear();
  }
  detail::journal_on.store(on, std::memory_order_relaxed);
}

void note_run(const Hash128& key, Device& device, std::span<Value* const> inputs,
              const std::function<Source()>& source) {
  int64_t others = other_bytes(device, inputs);
  Journal& journal = the_journal();
  std::lock_guard<std::mutex> lock(journal.mutex);
  auto known = journal.numbers.find(key);
  if (known == journal.numbers.end()) {
    Source made = source();
    Noted first;
    first.name = program_name(made.graph);
    first.lines = describe_lines(made.lines);
    first.settings = Runtime::get().configuration().settings;
    first.graph = std::move(made.graph);
    known = journal.numbers.emplace(key, journal.programs.size()).first;
    journal.programs.push_back(std::move(first));
  }
  Noted& noted = journal.programs[known->second];
  ++noted.runs;
  noted.other_bytes = std::max(noted.other_bytes, others);
}

std::vector<Noted> journal() {
  Journal& journal = the_journal();
  std::lock_guard<std::mutex> lock(journal.mutex);
  return journal.programs;
}

std::string lower_for_tpu(const Noted& program) {
  ops::Settings settings = program.settings;
  settings.is_cpu = false;
  return graph::lower(program.graph, settings).text;
}

}  // namespace tpu::engine
