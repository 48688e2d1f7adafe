#include "engine/compiles.h"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "engine/runtime.h"

namespace tpu::engine {

namespace {

constexpr size_t kMostRecords = 10000;
constexpr size_t kMostTexts = 1 << 16;
constexpr std::array<std::string_view, 4> kCauses = {"dtype", "shape", "scalar kind", "options"};

struct Compiles {
  std::mutex mutex;
  std::deque<CompileRecord> records;
  std::unordered_map<Hash128, std::array<Hash128, kCauses.size()>> by_ops;  // what kCauses name, of the last such graph
  std::unordered_set<Hash128> texts;
  std::atomic<void (*)(const CompileRecord&)> listener{nullptr};
  std::atomic<int> forbidden{0};
};

Compiles& compiles() {
  static auto* compiles = new Compiles;
  return *compiles;
}

}  // namespace

std::string_view note_cause(const graph::Graph& graph) {
  Hasher ops;
  std::array<Hasher, kCauses.size()> facts;
  for (const graph::Node& node : graph.nodes) {
    ops.add(node.call.row->name_hash);
    ops.add(node.call.operands.size());
    for (const ops::Operand& operand : node.call.operands) {
      facts[0].add(static_cast<uint64_t>(operand.type.element));
      facts[1].add(operand.type.dims.size());
      for (int64_t size : operand.type.dims) facts[1].add(size);
    }
    for (const ops::Scalar& scalar : node.call.scalars) facts[2].add(static_cast<uint64_t>(scalar.kind));
  }
  facts[3].add(Runtime::get().configuration().hash);
  std::array<Hash128, kCauses.size()> hashes;
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = facts[i].finish();

  std::lock_guard<std::mutex> lock(compiles().mutex);
  auto [last, is_new] = compiles().by_ops.emplace(ops.finish(), hashes);
  if (is_new) return "first time";
  std::array<Hash128, kCauses.size()> before = std::exchange(last->second, hashes);
  for (size_t i = 0; i < hashes.size(); ++i)
    if (hashes[i] != before[i]) return kCauses[i];
  return "structure";
}

bool note_text(const std::string& text) {
  Hasher hasher;
  hasher.add(std::string_view(text));
  std::lock_guard<std::mutex> lock(compiles().mutex);
  if (compiles().texts.size() >= kMostTexts) compiles().texts.clear();
  return !compiles().texts.insert(hasher.finish()).second;
}

void note_compile(CompileRecord record) {
  if (auto listener = compiles().listener.load()) listener(record);
  std::lock_guard<std::mutex> lock(compiles().mutex);
  compiles().records.push_back(std::move(record));
  if (compiles().records.size() > kMostRecords) compiles().records.pop_front();
}

std::vector<CompileRecord> compile_records() {
  std::lock_guard<std::mutex> lock(compiles().mutex);
  return {compiles().records.begin(), compiles().records.end()};
}

void set_compile_listener(void (*listener)(const CompileRecord& record)) { compiles().listener = listener; }

NoCompiles::NoCompiles() { ++compiles().forbidden; }
NoCompiles::~NoCompiles() { --compiles().forbidden; }

void check_may_compile(const std::string& name, std::string_view cause, const std::string& line) {
  if (compiles().forbidden.load() == 0) [[likely]]
    return;
  fail(ErrorCode::Unavailable, name, " would have to be compiled (", cause, line.empty() ? "" : " at ", line,
       "), inside of torch.tpu.fail_on_recompile()");
}

}  // namespace tpu::engine
