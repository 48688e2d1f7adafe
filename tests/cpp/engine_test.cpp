// engine on the fake plugin: what a hit costs, donation, failures, memory counts, Values and Cells over threads, value
// checks, transfers. The fake is no CPU, gives zeros and has 1 MiB.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cpp/call.h"
#include "engine/activity.h"
#include "engine/background.h"
#include "engine/errand.h"
#include "engine/live.h"
#include "engine/recorder.h"
#include "engine/run.h"
#include "engine/runtime.h"
#include "engine/transfer.h"
#include "fake_pjrt/fake_pjrt.h"

#ifdef FAKE_PJRT_PATH

namespace tpu::engine {
namespace {

using E = ElementType;
const Type kVector{E::F32, {4}};
const float kOnes[] = {1, 2, 3, 4};
const Type kLarge{E::F32, {1 << 14}};  // worth a donation

FakePjrt& the_fake() {
  static auto* fake = new FakePjrt(FAKE_PJRT_PATH);
  return *fake;
}

class Engine : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("TORCH_TPU_CACHE_DIR", "off", 1);
    setenv("TORCH_TPU_MODE", "strict", 1);
    the_fake();
    Runtime::start(FAKE_PJRT_PATH, 2);
  }
  Engine() : fake(the_fake()), runtime(Runtime::get()), device(runtime.device(0)) { fake.reset(); }
  ~Engine() override {
    fake.reset();
    EXPECT_EQ(live_values(device).size(), 0u);
    EXPECT_EQ(device.memory().allocated, 0);
    EXPECT_EQ(device.memory().values, 0);
  }

  ValueRef ones() { return from_host(device, kOnes, kVector); }
  ValueRef large() { return from_host(device, std::vector<float>(1 << 14, 1.0f).data(), kLarge); }

  FakePjrt& fake;
  Runtime& runtime;
  Device& device;
};

/// The code and text of the Error that `action` throws.
template <class Action>
std::string error_of(Action action, ErrorCode code) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return "";
}

Hash128 key_named(const std::string& name) {
  Hasher hasher;
  hasher.add(name);
  hasher.add(Runtime::get().configuration().hash);
  return hasher.finish();
}

/// As the aten layer does it: find, else make.
Plan& plan_of(const std::string& name, Device& device, const std::function<void(graph::Graph&)>& fill) {
  Hash128 key = key_named(name);
  if (Plan* known = find_plan(key)) return *known;
  graph::Graph graph;
  fill(graph);
  return *make_plan(key, device, graph, 0);
}

Plan& add_plan(Device& device) {
  return plan_of("add", device, [](graph::Graph& graph) {
    CallBuilder(graph, "add.out")
        .tensor("self", kVector)
        .tensor("other", kVector)
        .number("alpha", 1.0)
        .replace(kVector);
  });
}

/// x += 1 elementwise in place: output 0 may take the memory of input 0.
Plan& in_place_plan(Device& device) {
  return plan_of("neg_", device,
                 [](graph::Graph& graph) { CallBuilder(graph, "neg.out").tensor("self", kLarge).replace(kLarge, 0); });
}

ValueRef run_one(Plan& plan, Device& device, std::vector<Value*> inputs, std::vector<ops::Scalar> scalars = {},
                 std::vector<Cell*> donors = {}) {
  Arguments arguments;
  arguments.inputs = inputs;
  arguments.scalars = scalars;
  donors.resize(inputs.size(), nullptr);
  arguments.donors = donors;
  std::vector<ValueRef> outputs(plan.outputs.size());
  run(plan, device, arguments, outputs);
  return outputs[0];
}

ValueRef record_neg(Recorder& recorder, Value* x, Cell* cell = nullptr);

// ---------------------------------------------------------------------------------------------------- the hit path

TEST_F(Engine, AHitExecutesAndDoesNothingElse) {
  ValueRef x = ones(), y = ones();
  run_one(add_plan(device), device, {x.get(), y.get()});
  fake.reset();
  cache::Stats before = runtime.programs().stats();
  for (int i = 0; i < 10; ++i) {
    ValueRef z = run_one(add_plan(device), device, {x.get(), y.get()});
    EXPECT_EQ(z->type(), kVector);
  }
  EXPECT_EQ(fake.count("execute"), 10);
  EXPECT_EQ(fake.count("compile"), 0);
  EXPECT_EQ(fake.count("buffer_from_host"), 0);
  EXPECT_EQ(fake.count("to_host"), 0);
  EXPECT_EQ(fake.count("await"), 0);
  EXPECT_EQ(fake.count("unsafe_pointer"), 0);
  EXPECT_EQ(fake.count("buffers_made"), 10);
  EXPECT_EQ(fake.count("buffers_destroyed"), 10);
  EXPECT_EQ(runtime.programs().stats().requests, before.requests);  // the thread's own memo answered
}

TEST_F(Engine, EqualScalarsAreSentOnce) {
  auto plan = [&]() -> Plan& {
    return plan_of("mul", device, [](graph::Graph& graph) {
      CallBuilder(graph, "mul.out").tensor("self", kVector).number("other", 2.5).replace(kVector);
    });
  };
  ValueRef x = ones();
  auto multiply = [&](double by) { run_one(plan(), device, {x.get()}, {ops::Scalar::of(by)}); };
  multiply(2.5);
  fake.reset();
  for (int i = 0; i < 5; ++i) multiply(2.5);
  EXPECT_EQ(fake.count("buffer_from_host"), 0);
  multiply(3.5);
  EXPECT_EQ(fake.count("buffer_from_host"), 1);
  for (int i = 0; i < 5; ++i) multiply(3.5), multiply(2.5);
  EXPECT_EQ(fake.count("buffer_from_host"), 1);
  multiply(0.0);
  multiply(-0.0);  // other bits, another vector
  EXPECT_EQ(fake.count("buffer_from_host"), 3);
  EXPECT_EQ(fake.count("compile"), 0);
}

// XLA would make some integer of it, and C++ promises nothing at all.
TEST_F(Engine, NumbersThatAreNoIntegerAreRefused) {
  const Type integers{E::S32, {4}};
  Plan& plan = plan_of("fill integers", device, [&](graph::Graph& graph) {
    CallBuilder(graph, "fill_.Scalar")
        .reread("self", -1, graph::whole(integers), {}, integers)
        .number("value", 2.5)
        .replace(integers);
  });
  EXPECT_NO_THROW(run_one(plan, device, {}, {ops::Scalar::of(2.5)}));
  for (double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e30, 0x1p63}) {
    EXPECT_EQ(error_of([&] { run_one(plan, device, {}, {ops::Scalar::of(value)}); }, ErrorCode::InvalidArgument),
              "value cannot be converted to type int without overflow");
  }
}

TEST_F(Engine, LongVectorsAreSentEachTime) {
  auto plan = [&]() -> Plan& {
    return plan_of("twenty", device, [](graph::Graph& graph) {
      for (int i = 0; i < 20; ++i) {
        CallBuilder builder(graph, "mul.out");
        if (i == 0)
          builder.tensor("self", kVector);
        else
          builder.reread("self", 0, graph::whole(kVector));
        builder.number("other", 2.5).replace(kVector);
      }
    });
  };
  ValueRef x = ones();
  std::vector<ops::Scalar> scalars(20, ops::Scalar::of(0.5));
  run_one(plan(), device, {x.get()}, scalars);
  fake.reset();
  run_one(plan(), device, {x.get()}, scalars);
  EXPECT_EQ(fake.count("buffer_from_host"), 1);
  EXPECT_EQ(fake.live_buffers(), 0);  // the vector and the outputs are gone
}

TEST_F(Engine, RandomStateIsSentEachTime) {
  auto plan = [&]() -> Plan& {
    return plan_of("uniform_", device, [](graph::Graph& graph) {
      CallBuilder(graph, "uniform_")
          .reread("self", -1, graph::whole(kVector), {}, kVector)
          .number("from", 0.0)
          .number("to", 1.0)
          .none("generator")
          .replace(kVector);
    });
  };
  EXPECT_EQ(plan().random_blocks, std::vector<int64_t>{kVector.count()});
  EXPECT_EQ(plan().input_count, 0u);
  fake.reset();
  run_one(plan(), device, {}, {ops::Scalar::of(0.0), ops::Scalar::of(1.0)});
  run_one(plan(), device, {}, {ops::Scalar::of(0.0), ops::Scalar::of(1.0)});
  EXPECT_EQ(fake.count("buffer_from_host"), 2);
}

TEST_F(Engine, PlansAreForgottenWithTheirPrograms) {
  add_plan(device);
  EXPECT_NE(find_plan(key_named("add")), nullptr);
  runtime.programs().clear();
  EXPECT_EQ(find_plan(key_named("add")), nullptr);
  fake.reset();
  add_plan(device);
  EXPECT_EQ(fake.count("compile"), 1);
}

TEST_F(Engine, ThreadsShareProgramsAndHaveTheirOwnMemo) {
  ValueRef x = ones(), y = ones();
  runtime.programs().clear();
  fake.reset();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) run_one(add_plan(device), device, {x.get(), y.get()});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.count("compile"), 1);
  EXPECT_EQ(fake.count("execute"), 200);
}

TEST_F(Engine, AnOutputToResizeIsNotCompiled) {
  Plan& plan = plan_of("resized", device, [](graph::Graph& graph) {
    CallBuilder(graph, "add.out")
        .tensor("self", kVector)
        .tensor("other", kVector)
        .number("alpha", 1.0)
        .replace({E::F32, {0}}, -1, true);
  });
  EXPECT_EQ(fake.count("compile"), 0);
  EXPECT_FALSE(plan.executable);
  ASSERT_EQ(plan.outputs.size(), 1u);
  EXPECT_EQ(plan.outputs[0].logical, kVector);
}

TEST_F(Engine, SettingsAreInTheHash) {
  const Runtime::Configuration& before = runtime.configuration();
  ops::Settings settings = before.settings;
  settings.precision = hlo::Precision::Default;
  runtime.configure(settings);
  const Runtime::Configuration& fast = runtime.configuration();
  EXPECT_NE(fast.hash, before.hash);
  EXPECT_EQ(fast.settings.precision, hlo::Precision::Default);
  EXPECT_EQ(before.settings.precision, hlo::Precision::Highest);  // whoever reads the old one is not disturbed
  settings = before.settings;
  settings.default_float = E::F64;
  runtime.configure(settings);
  EXPECT_NE(runtime.configuration().hash, before.hash);
  EXPECT_NE(runtime.configuration().hash, fast.hash);
  runtime.configure(before.settings);
  EXPECT_EQ(&runtime.configuration(), &before);
}

// ---------------------------------------------------------------------------------------------------- donation

TEST_F(Engine, ASoleHolderIsDonated) {
  Cell cell(device, kLarge.bytes());
  cell.store(large());
  ValueRef x = cell.load();
  Plan& plan = in_place_plan(device);
  EXPECT_TRUE(plan.any_donor);
  ValueRef y = run_one(plan, device, {x.get()}, {}, {&cell});
  EXPECT_TRUE(x->buffer().is_deleted());
  EXPECT_FALSE(cell.load());  // the caller stores the output
  cell.store(y);
  EXPECT_FALSE(y->buffer().is_deleted());
}

TEST_F(Engine, DonatedMemoryIsCountedOnce) {
  Plan& plan = in_place_plan(device);
  EXPECT_EQ(fresh_bytes(plan), 0);
  EXPECT_EQ(fresh_bytes(add_plan(device)), kVector.bytes());
  Cell cell(device, kLarge.bytes());
  cell.store(large());
  device.reset_peak();
  ValueRef x = cell.load();
  ValueRef y = run_one(plan, device, {x.get()}, {}, {&cell});
  EXPECT_EQ(device.memory().peak, kLarge.bytes());
  EXPECT_EQ(device.memory().allocated, kLarge.bytes());
  x = {};
  EXPECT_EQ(device.memory().allocated, kLarge.bytes());
  // Recorded, too.
  device.reset_peak();
  cell.store(std::move(y));
  x = cell.load();
  Value* old = x.get();
  y = record_neg(device.recorder(), old, &cell);
  x = {};
  cell.store(y);
  device.recorder().cut();
  EXPECT_EQ(device.memory().peak, kLarge.bytes());
}

TEST_F(Engine, SmallArraysAreNotWorthADonation) {
  Cell cell(device, 16);
  cell.store(ones());
  ValueRef x = cell.load();
  Plan& plan = plan_of("small neg_", device, [](graph::Graph& graph) {
    CallBuilder(graph, "neg.out").tensor("self", kVector).replace(kVector, 0);
  });
  run_one(plan, device, {x.get()}, {}, {&cell});
  EXPECT_FALSE(x->buffer().is_deleted());
}

TEST_F(Engine, AnotherHolderVetoesDonation) {
  Cell cell(device, kLarge.bytes());
  cell.store(large());
  ValueRef x = cell.load(), saved = x;
  ValueRef y = run_one(in_place_plan(device), device, {x.get()}, {}, {&cell});
  EXPECT_FALSE(x->buffer().is_deleted());
  EXPECT_EQ(cell.load().get(), x.get());
}

TEST_F(Engine, AVetoCompilesNothing) {
  Plan& plan = in_place_plan(device);
  fake.reset();
  for (bool veto : {false, true, false, true}) {
    Cell cell(device, kLarge.bytes());
    cell.store(large());
    ValueRef x = cell.load(), saved = veto ? x : ValueRef();
    run_one(plan, device, {x.get()}, {}, {&cell});
    EXPECT_EQ(x->buffer().is_deleted(), !veto);
  }
  EXPECT_EQ(fake.count("compile"), 0);
}

TEST_F(Engine, AnInputWithoutACellIsNotDonated) {
  ValueRef x = large();
  run_one(in_place_plan(device), device, {x.get()}, {}, {nullptr});
  EXPECT_FALSE(x->buffer().is_deleted());
}

TEST_F(Engine, AnotherCellVetoesDonation) {
  Cell cell(device, kLarge.bytes()), alias(device, kLarge.bytes());
  cell.store(large());
  alias.store(cell.load());
  ValueRef x = cell.load();
  run_one(in_place_plan(device), device, {x.get()}, {}, {&cell});
  EXPECT_FALSE(x->buffer().is_deleted());
  alias.store({});
  run_one(in_place_plan(device), device, {x.get()}, {}, {&cell});
  EXPECT_TRUE(x->buffer().is_deleted());
}

// Another thread may synchronize while a call still holds the Value whose memory it gave away.
TEST_F(Engine, SynchronizePassesOverDonatedValues) {
  Cell cell(device, kLarge.bytes());
  cell.store(large());
  ValueRef x = cell.load();
  run_one(in_place_plan(device), device, {x.get()}, {}, {&cell});
  ASSERT_TRUE(x->buffer().is_deleted());
  EXPECT_NO_THROW(runtime.synchronize(device));
}

// ---------------------------------------------------------------------------------------------------- recording

/// Records y = -x (in the memory of `cell`, when given) as the aten layer does it.
ValueRef record_neg(Recorder& recorder, Value* x, Cell* cell) {
  Hash128 key = description_key(key_named(cell != nullptr ? "neg_" : "recorded neg"));
  Plan* description = find_plan(key);
  if (description == nullptr) {
    graph::Graph graph;
    CallBuilder(graph, "neg.out").tensor("self", kLarge).replace(kLarge, cell != nullptr ? 0 : -1);
    description = make_description(key, graph);
  }
  Arguments arguments;
  arguments.inputs = {&x, 1};
  ValueRef y;
  recorder.record(*description, key, arguments, {&y, 1});
  return y;
}

TEST_F(Engine, ARecordingIsOneProgramAndOneExecution) {
  Recorder& recorder = device.recorder();
  for (int round = 0; round < 2; ++round) {
    ValueRef x = large();
    fake.reset();
    ValueRef y = record_neg(recorder, x.get());
    ValueRef z = record_neg(recorder, y.get());
    y = {};  // nobody wants it
    EXPECT_TRUE(z->is_pending());
    EXPECT_EQ(device.memory().allocated, kLarge.bytes());  // pending Values have no memory yet
    EXPECT_EQ(fake.count("execute"), 0);
    EXPECT_NO_THROW(z->buffer());
    EXPECT_FALSE(z->is_pending());
    EXPECT_EQ(fake.count("execute"), 1);
    EXPECT_EQ(fake.count("compile"), round == 0 ? 1 : 0);
    EXPECT_EQ(device.memory().allocated, 2 * kLarge.bytes());
  }
}

TEST_F(Engine, ARecordingGivesAwayWhatItOverwrote) {
  Recorder& recorder = device.recorder();
  for (bool is_held : {false, true}) {
    Cell cell(device, kLarge.bytes());
    cell.store(large());
    ValueRef x = cell.load(), saved = is_held ? x : ValueRef();
    Value* old = x.get();
    ValueRef y = record_neg(recorder, old, &cell);
    x = {};
    cell.store(y);
    fake.reset();
    recorder.cut();
    recorder.raise_error();
    EXPECT_EQ(cell.load().get(), y.get());
    if (is_held) { EXPECT_FALSE(saved->buffer().is_deleted()); }
    EXPECT_EQ(device.memory().allocated, (is_held ? 2 : 1) * kLarge.bytes());
  }
}

TEST_F(Engine, NothingRunsForResultsThatNobodyHolds) {
  ValueRef x = large();
  fake.reset();
  record_neg(device.recorder(), x.get());
  device.recorder().cut();
  EXPECT_EQ(fake.count("execute"), 0);
  EXPECT_EQ(x->holders(), 1u);
}

TEST_F(Engine, AFailedRecordingThatTookNothingRunsOneByOne) {
  set_mode(Mode::Fused);
  for (int failures : {1, 2}) {
    ValueRef x = large();
    ValueRef y = record_neg(device.recorder(), record_neg(device.recorder(), x.get()).get());
    fake.fail_next("execute", 13, "the chip is on fire", failures);
    device.recorder().cut();
    if (failures == 1) {
      EXPECT_NO_THROW(device.recorder().raise_error());
      EXPECT_NO_THROW(y->buffer());
      continue;
    }
    error_of([&] { device.recorder().raise_error(); }, ErrorCode::Plugin);
    EXPECT_NO_THROW(device.recorder().raise_error());  // raised once
    std::string message = error_of([&] { y->buffer(); }, ErrorCode::Plugin);
    EXPECT_NE(message.find("the chip is on fire"), std::string::npos) << message;
    EXPECT_EQ(error_of([&] { record_neg(device.recorder(), y.get()); }, ErrorCode::Plugin), message);
    EXPECT_NO_THROW(record_neg(device.recorder(), x.get())->buffer());
  }
  set_mode(Mode::Strict);
}

TEST_F(Engine, KnownSegmentsAreHandedOverInOrder) {
  set_mode(Mode::Fused);
  Recorder& recorder = device.recorder();
  auto step = [&](Value* x) {
    ValueRef y = record_neg(recorder, record_neg(recorder, x).get());
    recorder.end_step();
    return y;
  };
  ValueRef first = large(), x = step(first.get());
  recorder.wait_for_launch();
  int64_t executed = fake.count("execute"), compiled = fake.count("compile");
  for (int i = 0; i < 200; ++i) x = step(x.get());
  recorder.wait_for_launch();
  EXPECT_FALSE(x->is_pending());
  EXPECT_EQ(fake.count("execute"), executed + 200);
  // A read waits for what was handed over and cuts nothing that came after.
  ValueRef y = step(x.get()), z = record_neg(recorder, y.get());
  EXPECT_NO_THROW(y->buffer());
  EXPECT_TRUE(z->is_pending());
  EXPECT_EQ(fake.count("compile"), compiled);
  EXPECT_NO_THROW(z->buffer());
  set_mode(Mode::Strict);
}

TEST_F(Engine, WhatFailsWhereItWasHandedOverIsToldWhereItIsRead) {
  set_mode(Mode::Fused);
  Recorder& recorder = device.recorder();
  ValueRef x = large();
  auto step = [&] {
    ValueRef y = record_neg(recorder, record_neg(recorder, x.get()).get());
    recorder.end_step();
    return y;
  };
  step()->wait();
  fake.fail_next("execute", 13, "the chip is on fire", 2);
  ValueRef y = step();
  std::string message = error_of([&] { y->wait(); }, ErrorCode::Plugin);
  EXPECT_NE(message.find("the chip is on fire"), std::string::npos) << message;
  EXPECT_NO_THROW(step()->wait());
  EXPECT_TRUE(y->is_failed());
  EXPECT_EQ(error_of([&] { record_neg(recorder, y.get()); }, ErrorCode::Plugin), message);
  EXPECT_NO_THROW(recorder.raise_error());
  set_mode(Mode::Strict);
}

TEST_F(Engine, AFailedRecordingThatTookMemoryFailsItsResults) {
  set_mode(Mode::Fused);
  Cell cell(device, kLarge.bytes());
  cell.store(large());
  ValueRef x = cell.load(), kept = large();
  ValueRef y = record_neg(device.recorder(), x.get(), &cell), z = record_neg(device.recorder(), kept.get());
  cell.store(y);
  x = {};
  fake.fail_next("late execute", 13, "the chip is on fire");
  device.recorder().cut();
  error_of([&] { device.recorder().raise_error(); }, ErrorCode::Plugin);
  for (const ValueRef& result : {y, z}) error_of([&] { result->buffer(); }, ErrorCode::Plugin);
  EXPECT_NO_THROW(record_neg(device.recorder(), kept.get())->buffer());  // later results are right
  set_mode(Mode::Strict);
}

TEST_F(Engine, ASegmentThatDoesNotCompileRunsOneByOneAndIsNotTriedAgain) {
  set_mode(Mode::Fused);
  auto run_chain = [&](int code) {
    ValueRef x = large();
    for (int i = 0; i < 7; ++i) x = record_neg(device.recorder(), x.get());
    fake.reset();
    fake.fail_next("compile", code, "no such instruction");
    EXPECT_NO_THROW(x->buffer());
    return fake.count("execute");
  };
  record_neg(device.recorder(), large().get())->buffer();  // the program of one op
  EXPECT_EQ(run_chain(8), 7);                              // out of memory, which may pass
  EXPECT_EQ(fake.count("compile"), 1);
  EXPECT_EQ(run_chain(3), 7);
  EXPECT_EQ(fake.count("compile"), 1);
  EXPECT_EQ(run_chain(3), 7);
  EXPECT_EQ(fake.count("compile"), 0);
  EXPECT_NO_THROW(device.recorder().raise_error());
  set_mode(Mode::Strict);
}

TEST_F(Engine, ACompileThatFailsInTheBackgroundChangesNothing) {
  set_mode(Mode::Auto);
  record_neg(device.recorder(), large().get())->buffer();  // the program of one op
  for (int turn = 0; turn < 4; ++turn) {
    ValueRef x = large();
    for (int i = 0; i < 6; ++i) x = record_neg(device.recorder(), x.get());
    fake.reset();
    fake.fail_next("compile", 3, "no such instruction");
    EXPECT_NO_THROW(x->buffer());
    finish_background();
    EXPECT_EQ(fake.count("execute"), 6) << turn;
    EXPECT_EQ(fake.count("compile"), turn == 1 ? 1 : 0) << turn;
  }
  EXPECT_NO_THROW(device.recorder().raise_error());
  set_mode(Mode::Strict);
}

TEST_F(Engine, KnownOpsInANewOrderRunOneByOneAndAreCompiledWhenTheyComeAgain) {
  set_mode(Mode::Auto);
  auto run_chain = [&](int length) {
    ValueRef x = large();
    for (int i = 0; i < length; ++i) x = record_neg(device.recorder(), x.get());
    fake.reset();
    EXPECT_NO_THROW(x->buffer());
  };
  run_chain(1);  // one op is the program of mode strict
  for (int turn = 0; turn < 2; ++turn) {
    run_chain(5);
    EXPECT_EQ(fake.count("execute"), 5);
    finish_background();
    EXPECT_EQ(fake.count("compile"), turn);
  }
  run_chain(5);
  EXPECT_EQ(fake.count("execute"), 1);
  EXPECT_EQ(fake.count("compile"), 0);
  set_mode(Mode::Strict);
}

TEST_F(Engine, WhatAnOptimizersStepMakesOfNothingIsKnown) {
  Recorder& recorder = device.recorder();
  EXPECT_FALSE(recorder.is_in_step());
  recorder.begin_step();
  EXPECT_TRUE(recorder.is_in_step());
  recorder.cut();
  EXPECT_FALSE(recorder.is_in_step());
}

TEST_F(Engine, ATraceIsNeverCutAndKnowsThatItWasRead) {
  Recorder trace(device, /*is_trace=*/true);
  ValueRef x = trace.add_placeholder(kLarge);
  ValueRef y = record_neg(trace, x.get());
  EXPECT_EQ(trace.result_number(*y), 0);
  EXPECT_EQ(trace.result_number(*x), -1);
  EXPECT_FALSE(trace.was_read());
  error_of([&] { y->buffer(); }, ErrorCode::Unavailable);
  EXPECT_TRUE(trace.was_read());
  EXPECT_TRUE(y->is_pending());
  {
    Tracing tracing(trace);
    EXPECT_EQ(recorder_of(device), &trace);
  }
  EXPECT_EQ(recorder_of(device), nullptr);
}

// ---------------------------------------------------------------------------------------------------- failures

TEST_F(Engine, AFailedExecutionFailsTheDonatedCell) {
  Cell cell(device, kLarge.bytes());
  cell.store(large());
  ValueRef x = cell.load();
  Plan& plan = in_place_plan(device);
  fake.fail_next("execute", 13, "the chip is on fire");
  std::string message = error_of([&] { run_one(plan, device, {x.get()}, {}, {&cell}); }, ErrorCode::Plugin);
  EXPECT_NE(message.find("the chip is on fire"), std::string::npos) << message;
  EXPECT_NE(message.find("while running aten::neg.out"), std::string::npos) << message;

  ValueRef failed = cell.load();
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->is_failed());
  EXPECT_TRUE(failed->is_ready());
  EXPECT_EQ(error_of([&] { failed->buffer(); }, ErrorCode::Plugin), message);
  EXPECT_EQ(error_of([&] { failed->wait(); }, ErrorCode::Plugin), message);
  std::vector<float> out(1 << 14);
  EXPECT_EQ(error_of([&] { to_host(*failed, out.data()); }, ErrorCode::Plugin), message);
  // As an operand, too; and nothing is executed.
  fake.reset();
  EXPECT_EQ(error_of([&] { run_one(plan, device, {failed.get()}); }, ErrorCode::Plugin), message);
  EXPECT_EQ(fake.count("execute"), 0);
  EXPECT_NO_THROW(runtime.synchronize(device));
  // And a Cell recovers when it is written.
  cell.store(large());
  EXPECT_NO_THROW(to_host(*cell.load(), out.data()));
}

TEST_F(Engine, AFailedExecutionLeavesOthersAlone) {
  Cell cell(device, kLarge.bytes());
  cell.store(large());
  ValueRef x = cell.load(), saved = x;
  fake.fail_next("execute", 13, "no");
  error_of([&] { run_one(in_place_plan(device), device, {x.get()}, {}, {&cell}); }, ErrorCode::Plugin);
  EXPECT_EQ(cell.load().get(), x.get());
  std::vector<float> out(1 << 14);
  to_host(*x, out.data());
  EXPECT_EQ(out[3], 1.0f);
}

TEST_F(Engine, AResultThatFailsLaterFailsItsReaders) {
  ValueRef x = ones(), y = ones();
  Plan& plan = add_plan(device);
  fake.fail_next("output", 13, "went wrong on the way");
  ValueRef z = run_one(plan, device, {x.get(), y.get()});
  EXPECT_FALSE(z->is_failed());
  float out[4];
  for (int i = 0; i < 3; ++i) {
    std::string message = error_of([&] { to_host(*z, out); }, ErrorCode::Plugin);
    EXPECT_NE(message.find("went wrong on the way"), std::string::npos) << message;
  }
  EXPECT_NO_THROW(runtime.synchronize(device));
  EXPECT_NO_THROW(to_host(*x, out));
}

TEST_F(Engine, SynchronizeWaitsAndLeavesErrorsToReaders) {
  ValueRef x = ones(), y = ones();
  Plan& plan = add_plan(device);
  fake.fail_next("output", 13, "went wrong on the way");
  fake.hold(true);
  ValueRef z = run_one(plan, device, {x.get(), y.get()});
  EXPECT_FALSE(z->is_ready());
  EXPECT_EQ(in_flight(device).size(), 1u);
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    runtime.synchronize(device);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(done);
  fake.hold(false);
  waiter.join();
  EXPECT_TRUE(z->is_ready());
  EXPECT_TRUE(in_flight(device).empty());
  EXPECT_THROW(z->wait(), Error);
}

TEST_F(Engine, SynchronizeWaitsForLengthyWorkWhoseResultWasDropped) {
  ValueRef x = ones(), y = ones();
  Plan& plan = add_plan(device);
  fake.hold(true);
  run_one(plan, device, {x.get(), y.get()});
  EXPECT_TRUE(in_flight(device).empty());  // brief: not worth remembering
  plan.is_lengthy = true;
  int64_t buffers = fake.live_buffers();
  run_one(plan, device, {x.get(), y.get()});
  EXPECT_EQ(in_flight(device).size(), 1u);
  EXPECT_EQ(fake.live_buffers(), buffers);  // the memory is not kept
  for (int i = 0; i < 100; ++i) run_one(plan, device, {x.get(), y.get()});
  EXPECT_EQ(in_flight(device).size(), 101u);
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    runtime.synchronize(device);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(done);
  fake.hold(false);
  waiter.join();
  EXPECT_TRUE(in_flight(device).empty());
  run_one(plan, device, {x.get(), y.get()});
  EXPECT_TRUE(in_flight(device).empty());  // it was ready when it was dropped
  plan.is_lengthy = false;
}

TEST_F(Engine, AListenerSeesActivities) {
  struct Listener final : ActivityListener {
    int64_t origin() override { return 7; }
    void add(Activity activity) noexcept override {
      EXPECT_EQ(activity.origin, 7);
      EXPECT_LE(activity.begin, activity.returned);
      EXPECT_LE(activity.returned, activity.end);
      seen.push_back(activity);
    }
    std::vector<Activity> seen;
  };
  auto listener = std::make_shared<Listener>();
  ValueRef x = ones(), y = ones();
  Plan& plan = add_plan(device);
  run_one(plan, device, {x.get(), y.get()});
  set_activity_listener(listener);
  fake.hold(true);
  ValueRef z = run_one(plan, device, {x.get(), y.get()});
  EXPECT_TRUE(listener->seen.empty());  // it lasts until the result is ready
  set_activity_listener(nullptr);
  fake.hold(false);
  runtime.synchronize(device);
  ASSERT_EQ(listener->seen.size(), 1u);  // also after the listening has ended
  EXPECT_EQ(listener->seen[0].kind, Activity::Kind::Execute);
  EXPECT_EQ(listener->seen[0].name, plan.name);

  set_activity_listener(listener);
  ones();
  float out[4];
  to_host(*z, out);
  fake.fail_next("execute", 13, "no");
  EXPECT_THROW(run_one(plan, device, {x.get(), y.get()}), Error);
  set_activity_listener(nullptr);
  ones();
  ASSERT_EQ(listener->seen.size(), 4u);
  EXPECT_EQ(listener->seen[1].kind, Activity::Kind::CopyToDevice);
  EXPECT_EQ(listener->seen[1].bytes, 16);
  EXPECT_EQ(listener->seen[2].kind, Activity::Kind::CopyToHost);
  EXPECT_EQ(listener->seen[3].kind, Activity::Kind::Execute);  // failed, but it was under way
}

TEST_F(Engine, AProgramThatDoesNotCompileLeavesNothing) {
  runtime.programs().clear();
  fake.fail_next("compile", 3, "cannot compile this");
  std::string message = error_of([&] { add_plan(device); }, ErrorCode::Plugin);
  EXPECT_NE(message.find("cannot compile this"), std::string::npos) << message;
  EXPECT_EQ(find_plan(key_named("add")), nullptr);
  ValueRef x = ones();
  EXPECT_NO_THROW(run_one(add_plan(device), device, {x.get(), x.get()}));
}

TEST_F(Engine, AFailedTransferLeavesNothing) {
  fake.fail_next("buffer_from_host", 8, "no room");
  EXPECT_THROW(ones(), Error);
  // Scalars, too: the vector that could not be sent is not taken for sent.
  Plan& plan = plan_of("mul2", device, [](graph::Graph& graph) {
    CallBuilder(graph, "mul.out").tensor("self", kVector).number("other", 2.5).replace(kVector);
  });
  ValueRef x = ones();
  fake.fail_next("buffer_from_host", 8, "no room");
  EXPECT_THROW(run_one(plan, device, {x.get()}, {ops::Scalar::of(77.0)}), Error);
  EXPECT_NO_THROW(run_one(plan, device, {x.get()}, {ops::Scalar::of(77.0)}));
}

// ---------------------------------------------------------------------------------------------------- value checks

Plan& checked_plan(Device& device) {
  return plan_of("gather", device, [](graph::Graph& graph) {
    CallBuilder(graph, "gather.out")
        .tensor("self", kVector)
        .param("dim", 0)
        .tensor("index", {E::S64, {4}})
        .param("sparse_grad", Param(false))
        .replace(kVector, 0);
  });
}

TEST_F(Engine, AFailedCheckIsRaisedByTheCall) {
  Plan& plan = checked_plan(device);
  ASSERT_EQ(plan.checks.size(), 1u);
  const int64_t indices[] = {0, 1, 2, 3};
  Cell cell(device, 16);
  cell.store(ones());
  ValueRef x = cell.load(), index = from_host(device, indices, {E::S64, {4}});
  EXPECT_NO_THROW(run_one(plan, device, {x.get(), index.get()}));
  const int64_t failed[] = {1, 17};
  fake.give_next(failed, sizeof failed);
  std::string message =
      error_of([&] { run_one(plan, device, {x.get(), index.get()}, {}, {&cell, nullptr}); }, plan.checks[0].code);
  EXPECT_NE(message.find("17"), std::string::npos) << message;
  EXPECT_EQ(message.find("{}"), std::string::npos) << message;
  EXPECT_FALSE(x->buffer().is_deleted());  // a failed check must not have destroyed its operand
  EXPECT_EQ(cell.load().get(), x.get());
}

// "On an error no output is set": the caller's tensors keep what they had.
TEST_F(Engine, AFailedCheckGivesNoOutput) {
  Plan& plan = checked_plan(device);
  const int64_t indices[] = {0, 1, 2, 3}, failed[] = {1, 17};
  ValueRef x = ones(), index = from_host(device, indices, {E::S64, {4}});
  std::vector<Value*> inputs = {x.get(), index.get()};
  std::vector<Cell*> donors(2, nullptr);
  Arguments arguments;
  arguments.inputs = inputs;
  arguments.donors = donors;
  std::vector<ValueRef> outputs(1);
  fake.give_next(failed, sizeof failed);
  EXPECT_THROW(run(plan, device, arguments, outputs), Error);
  EXPECT_FALSE(outputs[0]);
}

// ---------------------------------------------------------------------------------------------------- memory

TEST_F(Engine, CountsLiveBytesAndPeak) {
  device.reset_peak();
  device.reset_accumulated();
  EXPECT_EQ(device.memory().peak, 0);
  {
    ValueRef x = ones(), y = ones();
    EXPECT_EQ(device.memory().allocated, 32);
    EXPECT_EQ(device.memory().values, 2);
    ValueRef z = run_one(add_plan(device), device, {x.get(), y.get()});
    EXPECT_EQ(device.memory().allocated, 48);
    ValueRef same = z;
    EXPECT_EQ(device.memory().allocated, 48);
  }
  MemoryStats stats = device.memory();
  EXPECT_EQ(stats.allocated, 0);
  EXPECT_EQ(stats.peak, 48);
  EXPECT_EQ(stats.total_allocated, 48);
  EXPECT_EQ(stats.limit, 1 << 20);
  device.reset_peak();
  EXPECT_EQ(device.memory().peak, 0);
  EXPECT_EQ(runtime.device(1).memory().values, 0);
}

TEST_F(Engine, OutOfMemoryNamesTheLargest) {
  ValueRef big = zeros(device, {E::S8, {700, 1000}}), small = ones();
  fake.reset();
  std::string message = error_of([&] { zeros(device, {E::F32, {100, 1000}}); }, ErrorCode::OutOfMemory);
  EXPECT_EQ(message,
            "tpu:0 is out of memory: tried to allocate 400000 bytes; 700016 of 1048576 bytes are in use. Largest live "
            "tensors: "
            "int8[700, 1000] (700000 bytes), float32[4] (16 bytes)");
  EXPECT_EQ(fake.count("buffer_from_host"), 0);
  EXPECT_NO_THROW(zeros(runtime.device(1), {E::F32, {100, 1000}}));
  big = {};
  EXPECT_NO_THROW(zeros(device, {E::F32, {100, 1000}}));
}

TEST_F(Engine, OutOfMemoryBeforeCompilingAndBeforeRunning) {
  auto fill = [](graph::Graph& graph) {
    CallBuilder(graph, "fill_.Scalar")
        .reread("self", -1, graph::whole({E::F32, {500000}}), {}, {E::F32, {500000}})
        .number("value", 2.0)
        .replace({E::F32, {500000}});
  };
  error_of([&] { plan_of("too big", device, fill); }, ErrorCode::OutOfMemory);
  EXPECT_EQ(fake.count("compile"), 0);
  auto half = [](graph::Graph& graph) {
    CallBuilder(graph, "fill_.Scalar")
        .reread("self", -1, graph::whole({E::F32, {150000}}), {}, {E::F32, {150000}})
        .number("value", 2.0)
        .replace({E::F32, {150000}});
  };
  Plan& plan = plan_of("half", device, half);
  ValueRef one = run_one(plan, device, {}, {ops::Scalar::of(2.0)});
  fake.reset();
  error_of([&] { run_one(plan, device, {}, {ops::Scalar::of(2.0)}); }, ErrorCode::OutOfMemory);
  EXPECT_EQ(fake.count("execute"), 0);
}

TEST_F(Engine, FarTooMuchIsOutOfMemory) {
  error_of([&] { zeros(device, {E::F32, {int64_t{1} << 40}}); }, ErrorCode::OutOfMemory);
  error_of([&] { from_host(device, kOnes, {E::F32, {int64_t{1} << 40}}); }, ErrorCode::OutOfMemory);
}

// ---------------------------------------------------------------------------------------------------- Values and Cells

TEST_F(Engine, LiveValuesAreFoundWhateverThreadMadeThem) {
  std::vector<ValueRef> kept;
  for (int i = 0; i < 1000; ++i) kept.push_back(ones());
  EXPECT_EQ(live_values(device).size(), 1000u);
  std::vector<std::vector<ValueRef>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) mine.push_back(ones());
      mine.resize(200);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live_values(device).size(), 1800u);
  EXPECT_EQ(device.memory().values, 1800);
  ValueRef elsewhere = from_host(runtime.device(1), kOnes, kVector);
  EXPECT_EQ(live_values(device).size(), 1800u);
  EXPECT_EQ(live_values(runtime.device(1)).size(), 1u);
  made.clear();  // released by a thread that did not make them
  EXPECT_EQ(live_values(device).size(), 1000u);
}

TEST_F(Engine, WalkingWhileOthersMakeAndRelease) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        ValueRef a = ones(), b = a;
        a = ones();
      }
    });
  for (int i = 0; i < 200; ++i)
    for (const ValueRef& value : live_values(device)) ASSERT_EQ(value->type(), kVector);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Engine, ACellKeepsOneValueAndReadersKeepTheirs) {
  Cell cell(device, 16);
  EXPECT_FALSE(cell.load());
  ValueRef first = ones(), second = ones();
  cell.store(first);
  ValueRef reader = cell.load();
  EXPECT_EQ(first->holders(), 3u);
  cell.store(second);
  EXPECT_EQ(reader.get(), first.get());
  EXPECT_EQ(first->holders(), 2u);
  EXPECT_EQ(second->holders(), 2u);
  cell.store({});
  EXPECT_EQ(second->holders(), 1u);
}

TEST_F(Engine, ACellOverThreads) {
  Cell cell(device, 16);
  cell.store(ones());
  std::atomic<int64_t> donations{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; ++i) {
        ValueRef value = cell.load();
        if (value) { ASSERT_EQ(value->type(), kVector); }
        if (t == 0 && i % 3 == 0) cell.store(ones());
        if (t == 1 && value && cell.take_for_donation(value.get(), 1)) {
          ++donations;
          ASSERT_EQ(value->holders(), 1u);  // nobody else can have it any more
          cell.store(ones());
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  cell.store({});
}

// ---------------------------------------------------------------------------------------------------- transfers

TEST_F(Engine, ToTheDeviceAndBack) {
  float out[4] = {};
  to_host(*ones(), out);
  EXPECT_EQ(std::memcmp(out, kOnes, sizeof out), 0);
  to_host(*zeros(device, kVector), out);
  for (float value : out) EXPECT_EQ(value, 0.0f);
  ValueRef nothing = zeros(device, {E::F32, {0, 3}});
  EXPECT_NO_THROW(to_host(*nothing, out));
  EXPECT_EQ(device.memory().allocated, 0);
}

TEST_F(Engine, BetweenDevices) {
  ValueRef here = ones(), there = to_device(*here, runtime.device(1));
  EXPECT_EQ(&there->device(), &runtime.device(1));
  EXPECT_EQ(runtime.device(1).memory().allocated, 16);
  float out[4];
  to_host(*there, out);
  EXPECT_EQ(out[2], 3.0f);
  EXPECT_EQ(error_of([&] { runtime.device(2); }, ErrorCode::InvalidArgument),
            "tpu:2 does not exist: there are 2 devices (TORCH_TPU_CPU_DEVICES=N shows N on a CPU plugin)");
  error_of([&] { runtime.device(-1); }, ErrorCode::InvalidArgument);
}

TEST_F(Engine, WrappedMemoryIsReleasedOnce) {
  std::atomic<int> released{0};
  alignas(64) float memory[4] = {5, 6, 7, 8};
  {
    ValueRef value = wrap_host(device, memory, kVector, [&] { ++released; });
    ValueRef owned = adopt_host(device, memory, kVector, [&] { ++released; });
  }
  EXPECT_EQ(released, 2);
  fake.fail_next("buffer_from_host", 8, "no");
  EXPECT_THROW(wrap_host(device, memory, kVector, [&] { ++released; }), Error);
  EXPECT_EQ(released, 3);
}

// The promise of transfer.h, "called once", holds for an allocation that does not fit, too; or host memory would leak.
TEST_F(Engine, MemoryThatDoesNotFitIsReleased) {
  std::atomic<int> released{0};
  std::vector<float> memory(500000);
  EXPECT_THROW(adopt_host(device, memory.data(), {E::F32, {500000}}, [&] { ++released; }), Error);
  EXPECT_EQ(released, 1);
}

TEST_F(Engine, UnsetCellsBecomeZerosWhenRead) {
  Cell cell(device, 16);
  ValueRef value = load_or_zeros(cell, kVector);
  EXPECT_EQ(cell.load().get(), value.get());
  EXPECT_EQ(load_or_zeros(cell, {E::F64, {2}}).get(), value.get());
}

TEST_F(Engine, ResizedCellsKeepTheirFirstBytes) {
  Cell cell(device, 16);
  cell.store(ones());
  float out[6] = {};
  resize(cell, 24);
  EXPECT_EQ(cell.bytes(), 24);
  EXPECT_EQ(cell.load()->type(), (Type{E::F32, {6}}));
  to_host(*cell.load(), out);
  EXPECT_EQ(out[3], 4.0f);
  EXPECT_EQ(out[4], 0.0f);
  resize(cell, 6);
  EXPECT_EQ(cell.load()->type(), (Type{E::U8, {6}}));
  resize(cell, 0);
  EXPECT_EQ(device.memory().allocated, 0);
  Cell unset(device, 16);
  resize(unset, 32);
  EXPECT_FALSE(unset.load());
  EXPECT_EQ(unset.bytes(), 32);
}

// A resize that fails leaves the Cell as it was.
TEST_F(Engine, AResizeThatDoesNotFitChangesNothing) {
  Cell cell(device, 16);
  cell.store(ones());
  ValueRef before = cell.load();
  error_of([&] { resize(cell, 1 << 22); }, ErrorCode::OutOfMemory);
  EXPECT_EQ(cell.load().get(), before.get());
  EXPECT_EQ(cell.bytes(), 16);
}

TEST_F(Engine, RetypedCellsHaveTheSameBytes) {
  Cell cell(device, 16);
  cell.store(ones());
  ValueRef typed = retype(cell, *cell.load(), {E::S32, {2, 2}});
  EXPECT_EQ(cell.load().get(), typed.get());
  EXPECT_EQ(typed->type(), (Type{E::S32, {2, 2}}));
  int32_t out[4];
  to_host(*typed, out);
  EXPECT_EQ(out[0], 0x3f800000);
}

// ---------------------------------------------------------------------------------------------------- blocking, fork

std::atomic<int> begun{0}, ended{0};

TEST_F(Engine, WaitsAndCompilesLetOthersRun) {
  begun = ended = 0;
  static int token;
  set_blocking_hooks({[]() -> void* { return ++begun, &token; }, [](void*) { ++ended; }});
  ValueRef x = ones();
  runtime.programs().clear();
  Plan& plan = add_plan(device);
  EXPECT_EQ(begun, 1);
  ValueRef y = run_one(plan, device, {x.get(), x.get()});
  EXPECT_EQ(begun, 1);  // a small program is dispatched without
  float out[4];
  to_host(*y, out);  // ready: no wait
  EXPECT_EQ(begun, 1);
  fake.hold(true);
  y = run_one(plan, device, {x.get(), x.get()});
  std::thread later([&] {
    while (begun < 2) std::this_thread::yield();
    fake.hold(false);
  });
  y->wait();
  later.join();
  EXPECT_EQ(begun, 2);
  fake.fail_next("compile", 3, "no");
  runtime.programs().clear();
  EXPECT_THROW(add_plan(device), Error);
  EXPECT_EQ(begun, ended);
  set_blocking_hooks({});
}

TEST_F(Engine, AForkedChildIsTold) {
  pid_t child = fork();
  if (child == 0) {
    bool right = false;
    try {
      Runtime::get();
    } catch (const Error& error) {
      right = error.code() == ErrorCode::Unavailable && error.message().find("forked") != std::string::npos;
    }
    right = right && Runtime::in_bad_fork() && !Runtime::is_started();
    try {
      Runtime::start(FAKE_PJRT_PATH, 1);
      right = false;
    } catch (const Error&) {}
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(Runtime::in_bad_fork());
  EXPECT_NO_THROW(ones());
}

// The last test: what it closes stays closed.
TEST_F(Engine, ErrandsEndBeforePythonDoes) {
  std::atomic<int> released{0};
  std::atomic<bool> has_begun{false}, may_end{false};
  std::thread other([&] {
    ASSERT_TRUE(begin_errand());
    has_begun = true;
    has_begun.notify_all();
    may_end.wait(false);
    ++released;
    end_errand();
  });
  has_begun.wait(false);
  std::thread opener([&] {
    may_end = true;
    may_end.notify_all();
  });
  finish_errands();
  EXPECT_EQ(released, 1);
  other.join();
  opener.join();

  auto late = as_errand([&] { ++released; });
  std::thread([&] {
    EXPECT_FALSE(begin_errand());
    late();
  }).join();
  EXPECT_EQ(released, 1);
  late();  // on the thread that ends the interpreter
  EXPECT_EQ(released, 2);
}

}  // namespace
}  // namespace tpu::engine

#endif
