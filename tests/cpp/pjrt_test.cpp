// The PJRT layer: against the fake plugin (counts, failures, leaks, bad arguments) and against every CPU plugin that is
// installed (compile, run, read, donate, errors, two devices).
#include "pjrt/client.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "fake_pjrt/fake_pjrt.h"
#include "pjrt/ffi.h"
#include "pjrt/self_test.h"
#include "pjrt/topology.h"

/// Asked by AddressSanitizer: an impossible allocation must fail as it does without it, or there is no test of that.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace tpu::pjrt {
namespace {

/// The code and text of the Error that `action` throws.
template <class Action>
std::pair<std::string, std::string> error_of(Action action) {
  try {
    action();
  } catch (const Error& error) { return {to_string(error.code()), error.what()}; }
  return {"none", ""};
}

#define EXPECT_ERROR(expected_code, expected_text, ...)                                   \
  do {                                                                                    \
    auto [code, text] = error_of([&] { __VA_ARGS__; });                                   \
    EXPECT_EQ(code, to_string(ErrorCode::expected_code)) << text;                         \
    EXPECT_NE(text.find(expected_text), std::string::npos) << "the message is: " << text; \
  } while (false)

const char* const kAdd = R"(func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
})";

const char* const kAddInPlace = R"(func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32},
    %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
})";

const Type kVector{ElementType::F32, {4}};
alignas(64) const float kOnes[] = {1, 2, 3, 4};

std::vector<float> read(const Buffer& buffer) {
  std::vector<float> values(static_cast<size_t>(buffer.type().count()));
  buffer.copy_to_host(values.data(), values.size() * sizeof(float));
  return values;
}

Buffer run(const Executable& program, Device& device, std::vector<PJRT_Buffer*> arguments,
           std::vector<int64_t> non_donatable = {}) {
  PJRT_Buffer* output = nullptr;
  program.execute(arguments, {&output, 1}, {.device = &device, .non_donatable = non_donatable});
  return Buffer(device, output);
}

// ---- files that are no plugins --------------------------------------------------------------------------------------

TEST(PjrtPlugin, MissingFile) {
  EXPECT_ERROR(Unavailable, "there is no PJRT plugin at '/no/such/plugin.so'", Plugin::load("/no/such/plugin.so"));
  EXPECT_ERROR(Unavailable, "there is no PJRT plugin", Plugin::load("/tmp"));
}

TEST(PjrtPlugin, NotALibrary) {
  EXPECT_ERROR(Unavailable, "cannot load the PJRT plugin", Plugin::load(TESTS_DIR "/CMakeLists.txt"));
}

TEST(PjrtPlugin, LibraryWithoutEntry) {
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&dladdr), &info), 0);  // the C library
  if (std::string(info.dli_fname).find(".so") == std::string::npos) GTEST_SKIP() << "linked statically";
  EXPECT_ERROR(Plugin, "it has no function GetPjrtApi", Plugin::load(info.dli_fname));
}

TEST(PjrtCompileOptions, Bytes) {
  // Field 3: device_ordinal -1, one replica, one partition; field 4: portable.
  EXPECT_EQ(encode_compile_options(-1, {}),
            std::string("\x1A\x0F\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x20\x01\x28\x01\x20\x01", 19));
  std::string placed = encode_compile_options(300, {{"a", true}, {"b", std::string("c")}, {"d", int64_t{0}}});
  EXPECT_NE(placed.find(std::string("\x4A\x0A\x08\x01\x10\x01\x1A\x04\x0A\x02\xAC\x02", 12)), std::string::npos);
  EXPECT_NE(placed.find(std::string("\x3A\x07\x0A\x01"
                                    "a\x12\x02\x10\x01",
                                    9)),
            std::string::npos);
  EXPECT_NE(placed.find(std::string("\x3A\x08\x0A\x01"
                                    "b\x12\x03\x0A\x01"
                                    "c",
                                    10)),
            std::string::npos);
  EXPECT_NE(placed.find(std::string("\x3A\x07\x0A\x01"
                                    "d\x12\x02\x18\x00",
                                    9)),
            std::string::npos);
}

// ---- the fake plugin ------------------------------------------------------------------------------------------------

#ifdef FAKE_PJRT_PATH

class Fake : public ::testing::Test {
 protected:
  Fake() : plugin(Plugin::load(FAKE_PJRT_PATH)), fake(FAKE_PJRT_PATH) { start(1); }
  ~Fake() override {
    client.reset();
    EXPECT_EQ(fake.live_buffers(), 0);
    EXPECT_EQ(fake.live_executables(), 0);
    fake.reset();
  }
  void start(int64_t devices) { client = Client::create(plugin, {devices}); }
  Device& device() { return client->device(0); }
  Buffer ones() { return client->buffer_from_host(kOnes, kVector, device()); }

  Plugin& plugin;
  FakePjrt fake;
  std::unique_ptr<Client> client;
};

TEST_F(Fake, SaysWhatItIs) {
  EXPECT_EQ(&Plugin::load(FAKE_PJRT_PATH), &plugin);
  EXPECT_EQ(plugin.attribute("stablehlo_current_version"), "1.13.0");
  EXPECT_EQ(plugin.attribute("none such"), "");
  EXPECT_FALSE(plugin.has_extension(5));
  EXPECT_EQ(client->platform_name(), "fake");
  EXPECT_FALSE(client->is_cpu());
  EXPECT_EQ(device().description(), "fake:0");
  EXPECT_EQ(device().memory_stats()->bytes_in_use, 4096);
  EXPECT_EQ(device().memory_stats()->bytes_limit, 1 << 20);
  EXPECT_EQ(device().memory_stats()->num_allocs, -1);
}

TEST_F(Fake, BuildHashDoesNotDependOnThePlace) {
  std::string copy = ::testing::TempDir() + "/fake_pjrt_copy.so";
  std::filesystem::copy_file(FAKE_PJRT_PATH, copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Plugin::load(copy).build_hash(), plugin.build_hash());
  std::string other = ::testing::TempDir() + "/fake_pjrt_other.so";
  std::filesystem::copy_file(FAKE_PJRT_PATH, other, std::filesystem::copy_options::overwrite_existing);
  std::ofstream(other, std::ios::app) << "another build";
  EXPECT_NE(Plugin::load(other).build_hash(), plugin.build_hash());
}

TEST_F(Fake, CompilesAndRuns) {
  Executable program = client->compile(kAdd);
  EXPECT_EQ(program.num_outputs(), 1u);
  EXPECT_EQ(program.output_types(), std::vector<Type>{kVector});
  Buffer a = ones(), b = ones();
  Buffer sum = run(program, device(), {a.raw(), b.raw()});
  EXPECT_EQ(sum.type(), kVector);
  EXPECT_TRUE(sum.is_ready());
  EXPECT_EQ(read(sum), std::vector<float>(4, 0.0f));
  EXPECT_EQ(read(a), std::vector<float>(kOnes, kOnes + 4));
  EXPECT_EQ(fake.count("compile"), 1);
  EXPECT_EQ(fake.count("execute"), 1);
  EXPECT_EQ(fake.count("buffer_from_host"), 2);
  EXPECT_EQ(fake.count("to_host"), 2);
  EXPECT_EQ(fake.count("unsafe_pointer"), 0);
  EXPECT_EQ(fake.live_buffers(), 3);
  EXPECT_EQ(fake.last_program(), kAdd);
}

TEST_F(Fake, ReadsThroughTheAddressOnCpu) {
  fake.set_platform("cpu");
  start(1);
  EXPECT_TRUE(client->is_cpu());
  Buffer a = ones();
  EXPECT_EQ(read(a), std::vector<float>(kOnes, kOnes + 4));
  EXPECT_EQ(fake.count("to_host"), 0);
  EXPECT_ERROR(Internal, "16 bytes into 8 bytes", float two[2]; a.copy_to_host(two, sizeof(two)));
  a = Buffer();
  client.reset();
}

TEST_F(Fake, SerializedProgramsLoadAgain) {
  std::string bytes = client->compile(kAdd).serialize();
  Executable loaded = client->deserialize(bytes);
  EXPECT_EQ(loaded.num_outputs(), 1u);
  EXPECT_EQ(fake.count("compile"), 1);
  EXPECT_EQ(fake.count("deserialize"), 1);
}

TEST_F(Fake, FailuresAreTypedAndCarryTheText) {
  fake.fail_next("compile", 13, "the compiler fell over");
  EXPECT_ERROR(Plugin, "compiling a program: the plugin says: the compiler fell over", client->compile(kAdd));
  fake.fail_next("compile", 12, "no such op");
  EXPECT_ERROR(NotImplemented, "no such op", client->compile(kAdd));
  Executable program = client->compile(kAdd);
  Buffer a = ones(), b = ones();
  PJRT_Buffer* arguments[] = {a.raw(), b.raw()};
  PJRT_Buffer* output = a.raw();
  fake.fail_next("execute", 8, "no room");
  EXPECT_ERROR(OutOfMemory, "no room", program.execute(arguments, {&output, 1}, {.device = &device()}));
  EXPECT_EQ(output, nullptr);
  fake.fail_next("execute", 13, "Out of memory allocating 8 bytes");
  EXPECT_ERROR(OutOfMemory, "", program.execute(arguments, {&output, 1}, {.device = &device()}));
  fake.fail_next("buffer_from_host", 8, "no room");
  EXPECT_ERROR(OutOfMemory, "copying tensor<4xf32> to fake:0", ones());
  fake.fail_next("to_host", 14, "gone");
  EXPECT_ERROR(Plugin, "gone", read(a));
  fake.fail_next("client_create", 9, "busy");
  EXPECT_ERROR(Plugin, "busy", Client::create(plugin));
  fake.fail_next("client_create", 3, "unknown option");  // then tried without options
  EXPECT_EQ(Client::create(plugin, {4})->device_count(), 1);
}

TEST_F(Fake, FailedOutputsTellWhenAwaited) {
  Executable program = client->compile(kAdd);
  Buffer a = ones(), b = ones();
  fake.fail_next("output", 13, "division by cucumber");
  Buffer sum = run(program, device(), {a.raw(), b.raw()});
  EXPECT_TRUE(sum.is_ready());
  EXPECT_ERROR(Plugin, "computing an array: the plugin says: division by cucumber", sum.await_ready());
  EXPECT_ERROR(Plugin, "division by cucumber", read(sum));
  std::string seen;
  sum.ready_event().on_ready([&](const Error* error) { seen = error->what(); }, "watching");
  EXPECT_NE(seen.find("cucumber"), std::string::npos);
}

TEST_F(Fake, EventsComeWhenTheWorkIsDone) {
  Executable program = client->compile(kAdd);
  Buffer a = ones(), b = ones();
  fake.hold(true);
  PJRT_Buffer* arguments[] = {a.raw(), b.raw()};
  PJRT_Buffer* output = nullptr;
  Event done;
  program.execute(arguments, {&output, 1}, {.device = &device(), .done = &done});
  Buffer sum(device(), output);
  EXPECT_FALSE(done.is_ready());
  EXPECT_FALSE(sum.is_ready());
  int calls = 0;
  sum.ready_event().on_ready([&](const Error* error) { calls += error == nullptr; }, "watching");
  EXPECT_EQ(calls, 0);
  std::thread releasing([&] { fake.hold(false); });
  done.await("waiting");
  sum.await_ready();
  releasing.join();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(Event().is_ready());
}

TEST_F(Fake, DonationAndItsVeto) {
  Executable program = client->compile(kAddInPlace);
  Buffer a = ones(), b = ones();
  Buffer kept = run(program, device(), {a.raw(), b.raw()}, {0});
  EXPECT_FALSE(a.is_deleted());
  {
    ExternalReference reference(a);
    Buffer held = run(program, device(), {a.raw(), b.raw()});
    EXPECT_FALSE(a.is_deleted());
  }
  Buffer sum = run(program, device(), {a.raw(), b.raw()});
  EXPECT_TRUE(a.is_deleted());
  EXPECT_FALSE(b.is_deleted());
  EXPECT_ERROR(Plugin, "deleted or donated", run(program, device(), {a.raw(), b.raw()}));
}

TEST_F(Fake, BadLaunchesAreRefusedBeforeTheCall) {
  Executable program = client->compile(kAdd);
  Buffer a = ones();
  PJRT_Buffer* output = nullptr;
  PJRT_Buffer* two[] = {a.raw(), a.raw()};
  PJRT_Buffer* with_null[] = {a.raw(), nullptr};
  std::span<PJRT_Buffer*> one_output(&output, 1);
  int64_t third[] = {2}, negative[] = {-1};
  auto other = Client::create(plugin);
  EXPECT_ERROR(Internal, "argument 1 is null", program.execute(with_null, one_output, {.device = &device()}));
  EXPECT_ERROR(Internal, "no device", program.execute(two, one_output, {}));
  EXPECT_ERROR(Internal, "another client", program.execute(two, one_output, {.device = &other->device(0)}));
  EXPECT_ERROR(Internal, "has 1 outputs, room was given for 0", program.execute(two, {}, {.device = &device()}));
  EXPECT_ERROR(Internal, "launch id", program.execute(two, one_output, {.device = &device(), .id = 0}));
  EXPECT_ERROR(Internal, "non-donatable argument 2 of 2",
               program.execute(two, one_output, {.device = &device(), .non_donatable = third}));
  EXPECT_ERROR(Internal, "non-donatable argument -1",
               program.execute(two, one_output, {.device = &device(), .non_donatable = negative}));
  EXPECT_ERROR(Internal, "executable is empty", Executable().execute(two, one_output, {.device = &device()}));
  EXPECT_EQ(fake.count("execute"), 0);
  EXPECT_ERROR(Plugin, "expected 2 arguments, got 1", run(program, device(), {a.raw()}));
  EXPECT_ERROR(Internal, "empty pjrt::Buffer", Buffer().type());
  EXPECT_ERROR(Internal, "text is empty", client->compile(""));
  EXPECT_ERROR(Internal, "no bytes", client->deserialize(""));
  EXPECT_ERROR(InvalidArgument, "device index 7 is out of range: there are 1", client->device(7));
  EXPECT_ERROR(InvalidArgument, "out of range", client->compile(kAdd, {.device = 1}));
  EXPECT_ERROR(Value, "1 to 1024, got 0", Client::create(plugin, {0}));
  EXPECT_ERROR(NotImplemented, "cannot be addressed by the host", a.host_pointer());
}

TEST_F(Fake, BadHostArraysAreRefusedBeforeTheCall) {
  int64_t strides[] = {4};
  EXPECT_ERROR(InvalidArgument, "negative size -1",
               client->buffer_from_host(kOnes, {ElementType::F32, {-1}}, device()));
  EXPECT_ERROR(OutOfMemory, "larger than any memory",
               client->buffer_from_host(kOnes, {ElementType::F32, {int64_t{1} << 40, int64_t{1} << 40}}, device()));
  EXPECT_ERROR(Internal, "1 strides for 2 dimensions",
               client->buffer_from_host(kOnes, {ElementType::F32, {2, 2}}, device(), HostSemantics::CopyDuringCall,
                                        nullptr, strides));
  EXPECT_ERROR(Internal, "null address", client->buffer_from_host(nullptr, kVector, device()));
  EXPECT_EQ(client->buffer_from_host(nullptr, {ElementType::F32, {0, 3}}, device()).device_bytes(), 0u);
  EXPECT_EQ(fake.count("buffer_from_host"), 1);
}

TEST_F(Fake, HostMemoryIsReleasedExactlyOnce) {
  int released = 0;
  auto release = [&] { ++released; };
  Buffer copied = client->buffer_from_host(kOnes, kVector, device(), HostSemantics::CopyDuringCall, release);
  EXPECT_EQ(released, 1);
  Buffer window = client->buffer_from_host(kOnes, kVector, device(), HostSemantics::ZeroCopyReadOnly, release);
  EXPECT_EQ(released, 1);
  window = Buffer();
  { Buffer gone = std::move(window); }
  EXPECT_EQ(released, 2);
  fake.fail_next("buffer_from_host", 8, "no room");
  EXPECT_ERROR(OutOfMemory, "no room",
               client->buffer_from_host(kOnes, kVector, device(), HostSemantics::ZeroCopyReadOnly, release));
  EXPECT_EQ(released, 3);
}

TEST_F(Fake, StridedHostMemory) {
  int64_t transposed[] = {4, 8};
  Buffer buffer = client->buffer_from_host(kOnes, {ElementType::F32, {2, 2}}, device(), HostSemantics::CopyDuringCall,
                                           nullptr, transposed);
  EXPECT_EQ(read(buffer), (std::vector<float>{1, 3, 2, 4}));
}

TEST_F(Fake, UnknownFlagsAreDroppedAndRemembered) {
  fake.refuse_flag("xla_gone_flag");
  CompileOptions options;
  options.flags = {{"xla_gone_flag", true}, {"xla_kept_flag", int64_t{3}}};
  client->compile(kAdd, options);
  EXPECT_EQ(fake.count("compile"), 2);
  EXPECT_TRUE(plugin.refuses_flag("xla_gone_flag"));
  EXPECT_FALSE(plugin.refuses_flag("xla_kept_flag"));
  client->compile(kAdd, options);
  EXPECT_EQ(fake.count("compile"), 3);
  EXPECT_NE(fake.last_compile_options().find("xla_kept_flag"), std::string::npos);
}

TEST_F(Fake, DefaultFlags) {
  client->set_default_flags({{"xla_one", false}, {"xla_two", false}});
  CompileOptions options;
  options.flags = {{"xla_two", std::string("mine")}};
  options.optimization_level = 0;
  client->compile(kAdd, options);
  EXPECT_EQ(fake.last_compile_options(), encode_compile_options(-1, {{"xla_one", false},
                                                                     {"xla_backend_optimization_level", int64_t{0}},
                                                                     {"xla_two", std::string("mine")}}));
  options = {};
  options.use_default_flags = false;
  client->compile(kAdd, options);
  EXPECT_EQ(fake.last_compile_options(), encode_compile_options(-1, {}));
}

TEST_F(Fake, NoSelfTestOffTheCpu) {
  EXPECT_EQ(self_test(*client), Workarounds());
  EXPECT_EQ(fake.count("compile"), 0);
}

TEST_F(Fake, SelfTestRunsOnce) {
  std::string directory = ::testing::TempDir() + "/self_test_fake";
  std::filesystem::remove_all(directory);
  setenv("TORCH_TPU_CACHE_DIR", directory.c_str(), 1);
  fake.set_platform("cpu");
  start(1);
  Workarounds found = self_test(*client);  // zeros are wrong answers to all questions
  EXPECT_TRUE(found.min_max_drops_nan && found.constant_division_is_reciprocal);
  int64_t compiles = fake.count("compile");
  EXPECT_GT(compiles, 0);
  start(1);
  EXPECT_EQ(self_test(*client), found);
  EXPECT_EQ(client->default_flags(), found.compile_flags);
  EXPECT_EQ(fake.count("compile"), compiles);
  setenv("TORCH_TPU_CACHE_DIR", "/proc/no/such/place", 1);  // cannot be written: the test runs, and nothing is lost
  EXPECT_EQ(self_test(*client), found);
  EXPECT_EQ(fake.count("compile"), 2 * compiles);
  unsetenv("TORCH_TPU_CACHE_DIR");
  std::filesystem::remove_all(directory);
}

TEST_F(Fake, CompilesForATopology) {
  setenv("FAKE_PJRT_MEMORY", "4140", 1);
  {
    Topology topology(plugin, "v5e:2x2", {{"chips_per_host_bounds", std::vector<int64_t>{1, 1, 1}}});
    EXPECT_EQ(topology.device_count(), 1u);
    EXPECT_EQ(topology.device_kind(), "TPU v5 lite");
    EXPECT_EQ(topology.memory_limit(), 4140);
    CompiledFacts facts = topology.compile(kAddInPlace);
    EXPECT_EQ(facts.memory.arguments, 32);
    EXPECT_EQ(facts.memory.outputs, 16);
    EXPECT_EQ(facts.memory.aliases, 16);
    EXPECT_EQ(facts.memory.generated_code, 4096);
    EXPECT_EQ(facts.total_allocation, 32);  // the fake says nothing, so that it is the sum of the parts
    EXPECT_EQ(facts.flops, 1.0);
    EXPECT_ERROR(OutOfMemory, "Ran out of memory", topology.compile(kAdd));
    EXPECT_ERROR(Plugin, "no @main", topology.compile("module {}"));
  }
  unsetenv("FAKE_PJRT_MEMORY");
  EXPECT_EQ(Topology(plugin, "v5e:2x2").memory_limit(), std::nullopt);
  EXPECT_ERROR(Plugin, "Invalid TPU external name: v99:2x2", Topology(plugin, "v99:2x2"));
}

TEST_F(Fake, AfterForkTheDeviceIsRefused) {
  Executable program = client->compile(kAdd);
  Buffer a = ones();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto refuses = [](auto action) {
      auto [code, text] = error_of(action);
      return code == to_string(ErrorCode::Unavailable) && text.find("forked") != std::string::npos;
    };
    bool good = refuses([&] { client->compile(kAdd); }) &&
                refuses([&] { run(program, device(), {a.raw(), a.raw()}); }) && refuses([&] { read(a); }) &&
                refuses([&] { ones(); }) && refuses([&] { Client::create(plugin); });
    { Buffer dropped = std::move(a); }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(a), std::vector<float>(kOnes, kOnes + 4));
}

#endif

// ---- real CPU plugins -----------------------------------------------------------------------------------------------

/// Installed ones: the default, and what else its Python environment has; TORCH_TPU_PLUGIN adds one.
std::vector<std::pair<std::string, std::string>> installed_plugins() {
  std::vector<std::pair<std::string, std::string>> found;
  auto add = [&](const char* name, const std::filesystem::path& path) {
    if (std::filesystem::exists(path)) found.emplace_back(name, path.string());
  };
#ifdef XLA_CPU_PJRT_PATH
  std::filesystem::path packages = std::filesystem::path(XLA_CPU_PJRT_PATH).parent_path().parent_path().parent_path();
  add("xla_cpu_pjrt", XLA_CPU_PJRT_PATH);
  add("fastatomstruct_xla_cpu", packages / "fastatomstruct_xla_cpu" / "libpjrt_cpu.so");
#endif
  if (const char* path = std::getenv("TORCH_TPU_PLUGIN")) add("chosen", path);
  return found;
}

class Cpu : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void SetUp() override {
    Plugin& plugin = Plugin::load(GetParam().second);
    static std::map<Plugin*, std::unique_ptr<Client>> clients;  // one per plugin for the whole program
    std::unique_ptr<Client>& entry = clients[&plugin];
    if (entry == nullptr) entry = Client::create(plugin, {2});
    client = entry.get();
  }
  Device& device(int ordinal = 0) { return client->device(ordinal); }
  Buffer ones(int ordinal = 0) { return client->buffer_from_host(kOnes, kVector, device(ordinal)); }

  Client* client = nullptr;
};

TEST_P(Cpu, SaysWhatItIs) {
  EXPECT_TRUE(client->is_cpu());
  EXPECT_EQ(client->device_count(), 2);
  EXPECT_NE(device(0).id(), device(1).id());
  EXPECT_EQ(device(1).ordinal(), 1);
  EXPECT_FALSE(device().memory_stats().has_value());
  EXPECT_EQ(client->plugin().attribute("stablehlo_minimum_version"), "0.9.0");
  EXPECT_TRUE(client->plugin().has_extension(5));
  EXPECT_EQ(&Plugin::load(GetParam().second), &client->plugin());
}

TEST_P(Cpu, Add) {
  Executable program = client->compile(kAdd);
  EXPECT_EQ(program.output_types(), std::vector<Type>{kVector});
  EXPECT_EQ(program.memory_stats().outputs, 16);
  EXPECT_FALSE(program.fingerprint().empty());
  Buffer a = ones(), b = ones();
  Buffer sum = run(program, device(), {a.raw(), b.raw()});
  EXPECT_EQ(read(sum), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(sum.device_bytes(), 16u);
  Event done;
  PJRT_Buffer* arguments[] = {sum.raw(), b.raw()};
  PJRT_Buffer* output = nullptr;
  program.execute(arguments, {&output, 1}, {.device = &device(), .done = &done});
  done.await("waiting");
  EXPECT_TRUE(done.is_ready());
  EXPECT_EQ(read(Buffer(device(), output)), (std::vector<float>{3, 6, 9, 12}));
}

// Rows of the first operand weighed with the second and, as a second result, the number of the call.
void weigh(const FfiCall& call) {
  const float* in[] = {static_cast<float*>(call.operands[0]), static_cast<float*>(call.operands[1])};
  auto* out = static_cast<float*>(call.results[0]);
  if (in[0][0] < 0) fail(ErrorCode::Index, "row ", in[0][0], " is out of range");
  for (int row = 0; row < 2; ++row) out[row] = in[0][2 * row] * in[1][0] + in[0][2 * row + 1] * in[1][1];
  *static_cast<int64_t*>(call.results[1]) = call.number;
}

TEST_P(Cpu, ProgramsCallFunctionsOfOurs) {
  static std::map<Plugin*, bool> known;
  ASSERT_TRUE(has_ffi(client->plugin()));
  if (!std::exchange(known[&client->plugin()], true)) register_ffi(client->plugin(), "weigh", weigh);
  Executable program = client->compile(R"(
func.func public @main(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<i64>) {
  %0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<2x2xf32>
  %turned = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %weights = stablehlo.slice %a [2:4] : (tensor<4xf32>) -> tensor<2xf32>
  %1:2 = "stablehlo.custom_call"(%turned, %weights) {call_target_name = "weigh", api_version = 4 : i32,
    backend_config = {number = -7 : i64}} : (tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i64>)
  return %1#0, %1#1 : tensor<2xf32>, tensor<i64>
})");
  auto run_both = [&](const float* data) {
    Buffer a = client->buffer_from_host(data, kVector, device());
    PJRT_Buffer* arguments[] = {a.raw()};
    PJRT_Buffer* outputs[2] = {};
    program.execute(arguments, outputs, {.device = &device()});
    return std::pair(Buffer(device(), outputs[0]), Buffer(device(), outputs[1]));
  };
  auto [weighed, number] = run_both(kOnes);  // 1 2 3 4
  EXPECT_EQ(read(weighed), (std::vector<float>{1 * 3 + 3 * 4, 2 * 3 + 4 * 4}));
  int64_t got = 0;
  number.copy_to_host(&got, sizeof(got));
  EXPECT_EQ(got, -7);

  alignas(64) const float denormal[] = {1e-40f, 0, 1, 0};
  EXPECT_EQ(read(run_both(denormal).first)[0], 1e-40f);
  alignas(64) const float negative[] = {-1, 0, 0, 0};
  EXPECT_ERROR(Index, "row -1 is out of range", read(run_both(negative).first));
  EXPECT_EQ(read(run_both(kOnes).first)[0], 15);
}

TEST_P(Cpu, EveryElementTypeArrivesUnchanged) {
  std::vector<unsigned char> bytes(3 * 16), back(3 * 16);
  for (int i = 0; i < kElementTypeCount; ++i) {
    Type type{static_cast<ElementType>(i), {3}};
    std::iota(bytes.begin(), bytes.end(), 0);
    if (type.element == ElementType::Pred) bytes = std::vector<unsigned char>(48, 1);
    Buffer buffer = client->buffer_from_host(bytes.data(), type, device());
    EXPECT_EQ(buffer.type(), type) << mlir_name(type.element);
    buffer.copy_to_host(back.data(), static_cast<size_t>(type.bytes()));
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + type.bytes(), bytes.begin())) << mlir_name(type.element);
  }
  Type scalar{ElementType::F32, {}};
  EXPECT_EQ(read(client->buffer_from_host(kOnes, scalar, device())), std::vector<float>{1});
  EXPECT_TRUE(read(client->buffer_from_host(nullptr, {ElementType::F32, {2, 0}}, device())).empty());
}

TEST_P(Cpu, StridedAndZeroCopyHostMemory) {
  int64_t transposed[] = {4, 8}, repeated[] = {0, 4}, backwards[] = {-4};
  Type square{ElementType::F32, {2, 2}};
  auto copy = HostSemantics::CopyDuringCall;
  EXPECT_EQ(read(client->buffer_from_host(kOnes, square, device(), copy, nullptr, transposed)),
            (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(read(client->buffer_from_host(kOnes, square, device(), copy, nullptr, repeated)),
            (std::vector<float>{1, 2, 1, 2}));
  EXPECT_EQ(read(client->buffer_from_host(kOnes + 3, kVector, device(), copy, nullptr, backwards)),
            (std::vector<float>{4, 3, 2, 1}));
  std::atomic<int> released{0};
  {
    Buffer window =
        client->buffer_from_host(kOnes, kVector, device(), HostSemantics::ZeroCopyReadOnly, [&] { ++released; });
    window.await_ready();
    EXPECT_EQ(window.host_pointer(), static_cast<const void*>(kOnes));
    EXPECT_EQ(released, 0);
  }
  for (int i = 0; i < 1000 && released == 0; ++i) usleep(1000);
  EXPECT_EQ(released, 1);
}

TEST_P(Cpu, Donation) {
  Executable program = client->compile(kAddInPlace);
  Buffer a = ones(), b = ones();
  a.await_ready();
  EXPECT_EQ(read(run(program, device(), {a.raw(), b.raw()}, {0})), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_FALSE(a.is_deleted());
  const void* address = a.host_pointer();
  Buffer sum = run(program, device(), {a.raw(), b.raw()});
  EXPECT_TRUE(a.is_deleted());
  EXPECT_EQ(read(sum), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(sum.host_pointer(), address);
  EXPECT_EQ(error_of([&] { run(program, device(), {a.raw(), b.raw()}); }).first, to_string(ErrorCode::Plugin));
  EXPECT_EQ(error_of([&] { read(a); }).first, to_string(ErrorCode::Plugin));
}

TEST_P(Cpu, TwoDevices) {
  Executable anywhere = client->compile(kAdd);
  Executable second = client->compile(kAdd, {.device = 1});
  for (int ordinal : {0, 1}) {
    Buffer a = ones(ordinal), b = ones(ordinal);
    EXPECT_EQ(read(run(anywhere, device(ordinal), {a.raw(), b.raw()})), (std::vector<float>{2, 4, 6, 8}));
  }
  Buffer a = ones(1), b = ones(1);
  EXPECT_EQ(read(run(second, device(1), {a.raw(), b.raw()})), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_ERROR(Internal, "compiled for device 1, started on 0", run(second, device(0), {a.raw(), b.raw()}));
  Buffer copy = a.copy_to_device(device(0));
  EXPECT_EQ(&copy.device(), &device(0));
  EXPECT_EQ(read(copy), std::vector<float>(kOnes, kOnes + 4));
  Buffer same = a.copy_to_device(device(1));
  EXPECT_EQ(read(same), std::vector<float>(kOnes, kOnes + 4));
  EXPECT_NE(same.host_pointer(), a.host_pointer());
}

TEST_P(Cpu, SerializedProgramsLoadAgain) {
  std::string bytes = client->compile(kAdd).serialize();
  Executable loaded = client->deserialize(bytes);
  for (int ordinal : {0, 1}) {
    Buffer a = ones(ordinal);
    EXPECT_EQ(read(run(loaded, device(ordinal), {a.raw(), a.raw()})), (std::vector<float>{2, 4, 6, 8}));
  }
  EXPECT_EQ(error_of([&] { client->deserialize("garbage"); }).first, to_string(ErrorCode::Plugin));
  // Donation is kept.
  Executable in_place = client->deserialize(client->compile(kAddInPlace).serialize());
  Buffer a = ones(), b = ones();
  a.await_ready();
  const void* address = a.host_pointer();
  Buffer sum = run(in_place, device(), {a.raw(), b.raw()});
  EXPECT_TRUE(a.is_deleted());
  EXPECT_EQ(sum.host_pointer(), address);
}

TEST_P(Cpu, ErrorsAreTypedAndCarryTheText) {
  EXPECT_ERROR(Plugin, "custom op 'garbage' is unknown", client->compile("garbage"));
  EXPECT_ERROR(Plugin, "compiling a program",
               client->compile(R"(func.func public @main(%a: tensor<4xf32>) -> tensor<5xf32> {
    return %a : tensor<4xf32>
  })"));
  Executable program = client->compile(kAdd);
  Buffer a = ones();
  EXPECT_EQ(error_of([&] { run(program, device(), {a.raw()}); }).first, to_string(ErrorCode::Plugin));
  Buffer longer = client->buffer_from_host(kOnes, {ElementType::F32, {2}}, device());
  EXPECT_NE(error_of([&] { read(run(program, device(), {a.raw(), longer.raw()})); }).first, "none");
}

TEST_P(Cpu, TooMuchMemoryIsOutOfMemory) {
  Executable program = client->compile(R"(func.func public @main(%a: tensor<f32>) -> tensor<70368744177664xf32> {
    %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<70368744177664xf32>
    return %0 : tensor<70368744177664xf32>
  })");
  Buffer a = client->buffer_from_host(kOnes, {ElementType::F32, {}}, device());
  EXPECT_ERROR(OutOfMemory, "", run(program, device(), {a.raw()}).await_ready());
  int64_t repeated[] = {0};
  EXPECT_ERROR(OutOfMemory, "",
               client
                   ->buffer_from_host(kOnes, {ElementType::F32, {int64_t{1} << 46}}, device(),
                                      HostSemantics::CopyDuringCall, nullptr, repeated)
                   .await_ready());
  EXPECT_EQ(read(ones()), std::vector<float>(kOnes, kOnes + 4));
}

TEST_P(Cpu, UnknownFlagsAreDropped) {
  CompileOptions options;
  options.flags = {{"xla_flag_that_never_was", true}};
  EXPECT_EQ(client->compile(kAdd, options).num_outputs(), 1u);
  EXPECT_TRUE(client->plugin().refuses_flag("xla_flag_that_never_was"));
  options.flags = {{"xla_backend_optimization_level", std::string("not a number")}};
  EXPECT_EQ(error_of([&] { client->compile(kAdd, options); }).first, to_string(ErrorCode::Plugin));
  EXPECT_EQ(client->compile(kAdd, {.optimization_level = 0}).num_outputs(), 1u);
  EXPECT_FALSE(client->plugin().refuses_flag("xla_backend_optimization_level"));
}

TEST_P(Cpu, ManyThreads) {
  Executable program = client->compile(kAdd);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        Buffer a = ones(t % 2), b = ones(t % 2);
        wrong += read(run(program, device(t % 2), {a.raw(), b.raw()})) != std::vector<float>{2, 4, 6, 8};
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Cpu, SelfTestIsKeptInAFile) {
  std::string directory = ::testing::TempDir() + "/self_test_" + GetParam().first;
  std::filesystem::remove_all(directory);
  setenv("TORCH_TPU_CACHE_DIR", directory.c_str(), 1);
  Workarounds found = self_test(*client);
  EXPECT_FALSE(found.min_max_drops_nan);
  EXPECT_FALSE(found.compile_flags.empty());
  EXPECT_EQ(client->default_flags(), found.compile_flags);
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  std::string file = std::filesystem::directory_iterator(directory)->path().string();

  // A damaged one is written anew.
  auto contents = [&] {
    std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  std::string good = contents();
  EXPECT_EQ(self_test(*client), found);
  std::string damaged = good;
  damaged[damaged.size() / 2] ^= 1;
  std::ofstream(file) << damaged;
  EXPECT_EQ(self_test(*client), found);
  EXPECT_EQ(contents(), good);

  std::filesystem::remove_all(directory);
  setenv("TORCH_TPU_CACHE_DIR", "off", 1);
  EXPECT_EQ(cache_directory(), "");
  unsetenv("TORCH_TPU_CACHE_DIR");
}

INSTANTIATE_TEST_SUITE_P(Installed, Cpu, ::testing::ValuesIn(installed_plugins()),
                         [](const auto& info) { return info.param.first; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Cpu);

TEST(PjrtInstalled, SomePlugin) {
  if (installed_plugins().empty()) GTEST_SKIP() << "no CPU plugin was found: install xla-cpu-pjrt and configure again";
  if (installed_plugins().size() < 2)
    GTEST_SKIP() << "only one CPU plugin is installed (fastatomstruct-xla-cpu is the second)";
}

}  // namespace
}  // namespace tpu::pjrt
