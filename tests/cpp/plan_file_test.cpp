// engine/plan_file on the fake plugin: a plan comes back from disk as it was, and whatever goes wrong with the plugin's
// bytes only means a compile.
#include "engine/plan_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cpp/call.h"
#include "engine/run.h"
#include "engine/runtime.h"
#include "engine/transfer.h"
#include "fake_pjrt/fake_pjrt.h"

#ifdef FAKE_PJRT_PATH

namespace tpu::engine {
namespace {

namespace fs = std::filesystem;
using E = ElementType;
const Type kVector{E::F32, {4}};

FakePjrt& the_fake() {
  static auto* fake = new FakePjrt(FAKE_PJRT_PATH);
  return *fake;
}

std::string the_directory() { return ::testing::TempDir() + "/plan_file_test_" + std::to_string(getpid()); }

class PlanFile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("TORCH_TPU_CACHE_DIR", the_directory().c_str(), 1);
    the_fake();
    Runtime::start(FAKE_PJRT_PATH, 1);
  }
  static void TearDownTestSuite() { fs::remove_all(the_directory()); }
  PlanFile() : fake(the_fake()), runtime(Runtime::get()), device(runtime.device(0)) {
    fs::remove_all(the_directory());
    forget();
    fake.reset();
  }

  /// As a new process begins: nothing in memory.
  void forget() { runtime.programs().clear(); }

  /// Of an op with scalars, starts, two outputs of which one is donated to, value checks and random numbers, as far as
  /// they go together.
  Plan& make(const std::string& name) {
    Hasher hasher;
    hasher.add(name);
    Hash128 key = hasher.finish();
    if (Plan* known = find_plan(key)) return *known;
    graph::Graph graph;
    if (name == "scalars") {
      CallBuilder(graph, "add.out")
          .view("self", {E::F32, {4, 4}}, {E::F32, {4}, {4}, 1})
          .tensor("other", kVector)
          .number("alpha", 2.5)
          .replace(kVector, 1);
    } else if (name == "checks") {
      CallBuilder(graph, "index_select.out")
          .tensor("self", kVector)
          .param("dim", 0)
          .tensor("index", {E::S64, {2}})
          .replace({E::F32, {2}});
    } else if (name == "resized") {
      CallBuilder(graph, "add.out")
          .tensor("self", kVector)
          .tensor("other", kVector)
          .number("alpha", 1.0)
          .replace({E::F32, {7}}, -1, /*resizes=*/true);
    }
    return *make_plan(key, device, graph, 0);
  }
  size_t files() const {
    std::error_code missing;
    fs::directory_iterator begin(the_directory() + "/programs", missing);
    return static_cast<size_t>(std::distance(begin, fs::directory_iterator()));
  }

  FakePjrt& fake;
  Runtime& runtime;
  Device& device;
};

void expect_same(const Binding& a, const Binding& b) {
  ASSERT_EQ(a.arguments.size(), b.arguments.size());
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    EXPECT_EQ(a.arguments[i].kind, b.arguments[i].kind);
    EXPECT_EQ(a.arguments[i].element, b.arguments[i].element);
    ASSERT_EQ(a.arguments[i].uses.size(), b.arguments[i].uses.size());
    for (size_t j = 0; j < a.arguments[i].uses.size(); ++j) {
      EXPECT_EQ(a.arguments[i].uses[j].position, b.arguments[i].uses[j].position);
      EXPECT_EQ(a.arguments[i].uses[j].wanted, b.arguments[i].uses[j].wanted);
      EXPECT_EQ(a.arguments[i].uses[j].is_exact, b.arguments[i].uses[j].is_exact);
    }
  }
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    EXPECT_EQ(a.outputs[i].node, b.outputs[i].node);
    EXPECT_EQ(a.outputs[i].result, b.outputs[i].result);
    EXPECT_EQ(a.outputs[i].resized, b.outputs[i].resized);
    EXPECT_EQ(a.outputs[i].logical, b.outputs[i].logical);
    EXPECT_EQ(a.outputs[i].stored, b.outputs[i].stored);
    EXPECT_EQ(a.outputs[i].permutation, b.outputs[i].permutation);
    EXPECT_EQ(a.outputs[i].donor, b.outputs[i].donor);
  }
  ASSERT_EQ(a.checks.size(), b.checks.size());
  for (size_t i = 0; i < a.checks.size(); ++i) {
    EXPECT_EQ(a.checks[i].code, b.checks[i].code);
    EXPECT_EQ(a.checks[i].message, b.checks[i].message);
  }
  EXPECT_EQ(a.input_count, b.input_count);
  EXPECT_EQ(a.start_count, b.start_count);
  EXPECT_EQ(a.scalar_count, b.scalar_count);
  EXPECT_EQ(a.output_bytes, b.output_bytes);
  EXPECT_EQ(a.any_donor, b.any_donor);
  EXPECT_EQ(a.is_heavy, b.is_heavy);
  EXPECT_EQ(a.random_blocks, b.random_blocks);
}

TEST_F(PlanFile, ComesBackAsItWas) {
  for (const char* name : {"scalars", "checks"}) {
    Plan& made = make(name);
    EXPECT_EQ(made.origin, cache::Entry::Origin::Compiled);
    EXPECT_FALSE(made.arguments.empty() && made.checks.empty());
    const Binding kept = made;
    const std::string called = made.name;
    forget();
    fake.reset();
    Plan& loaded = make(name);
    EXPECT_EQ(fake.count("compile"), 0);
    EXPECT_EQ(fake.count("deserialize"), 1);
    EXPECT_EQ(loaded.origin, cache::Entry::Origin::Disk);
    EXPECT_EQ(loaded.name, called);
    expect_same(loaded, kept);
  }
}

TEST_F(PlanFile, ALoadedPlanRuns) {
  make("scalars");
  forget();
  Plan& plan = make("scalars");
  std::vector<float> zeros(16);
  ValueRef x = from_host(device, zeros.data(), {E::F32, {4, 4}}), y = from_host(device, zeros.data(), kVector);
  std::vector<Value*> inputs = {x.get(), y.get()};
  std::vector<ops::Scalar> scalars = {ops::Scalar::of(2.5)};
  std::vector<int64_t> starts(plan.start_count, 1);
  std::vector<Cell*> donors(2, nullptr);
  Arguments arguments;
  arguments.inputs = inputs;
  arguments.scalars = scalars;
  arguments.starts = starts;
  arguments.donors = donors;
  std::vector<ValueRef> outputs(1);
  run(plan, device, arguments, outputs);
  EXPECT_EQ(outputs[0]->type(), kVector);
  EXPECT_EQ(fake.count("execute"), 1);
}

TEST_F(PlanFile, CountsSayWhereProgramsCameFrom) {
  cache::Stats before = runtime.programs().stats();
  make("scalars");
  forget();
  make("scalars");
  make("resized");
  cache::Stats after = runtime.programs().stats();
  EXPECT_EQ(after.compiles - before.compiles, 1);
  EXPECT_EQ(after.disk_hits - before.disk_hits, 1);
  EXPECT_EQ(after.requests - before.requests, 3);
}

TEST_F(PlanFile, APlanWithoutAProgramIsNotStored) {
  EXPECT_FALSE(make("resized").executable);
  EXPECT_EQ(files(), 0u);
}

TEST_F(PlanFile, AFailedCompileLeavesNoFile) {
  fake.fail_next("compile", 3, "no");
  EXPECT_THROW(make("scalars"), Error);
  EXPECT_EQ(files(), 0u);
}

TEST_F(PlanFile, BytesThatThePluginRefusesAreCompiledAgain) {
  make("scalars");
  forget();
  fake.reset();
  fake.fail_next("deserialize", 12, "not here");
  EXPECT_EQ(make("scalars").origin, cache::Entry::Origin::Compiled);
  EXPECT_EQ(fake.count("compile"), 1);
  forget();
  EXPECT_EQ(make("scalars").origin, cache::Entry::Origin::Disk);  // what was compiled again was stored again
  EXPECT_EQ(runtime.programs().stats().entries, 1);
}

TEST_F(PlanFile, APluginThatCannotSerializeCompilesEveryTime) {
  fake.fail_next("serialize", 12, "not here");
  make("scalars");
  EXPECT_EQ(files(), 0u);
  forget();
  EXPECT_EQ(make("scalars").origin, cache::Entry::Origin::Compiled);
  EXPECT_EQ(files(), 1u);
}

TEST_F(PlanFile, ADamagedFileIsCompiledAgain) {
  make("scalars");
  for (const auto& entry : fs::directory_iterator(the_directory() + "/programs")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x7f');
  }
  forget();
  EXPECT_EQ(make("scalars").origin, cache::Entry::Origin::Compiled);
}

}  // namespace
}  // namespace tpu::engine

#endif  // FAKE_PJRT_PATH
