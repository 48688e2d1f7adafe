#include "pjrt/self_test.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "base/env.h"
#include "base/log.h"

namespace tpu::pjrt {
namespace {

// ---- running a tiny program -----------------------------------------------------------------------------------------

using Floats = std::vector<float>;

struct Array {
  Dims dims;
  Floats elements;
};

/// All arguments and results are float32; throws Error like everything here.
std::vector<Floats> run(Client& client, const std::string& text, const std::vector<Flag>& flags,
                        const std::vector<Array>& arguments) {
  Device& device = client.device(0);
  CompileOptions options;
  options.flags = flags;
  options.use_default_flags = false;
  Executable program = client.compile(text, options);
  std::vector<Buffer> inputs;
  std::vector<PJRT_Buffer*> raw;
  for (const Array& array : arguments) {
    inputs.push_back(client.buffer_from_host(array.elements.data(), {ElementType::F32, array.dims}, device));
    raw.push_back(inputs.back().raw());
  }
  std::vector<PJRT_Buffer*> outputs(program.num_outputs());
  program.execute(raw, outputs, {.device = &device});
  std::vector<Buffer> owned;
  for (PJRT_Buffer* output : outputs) owned.emplace_back(device, output);
  std::vector<Floats> results;
  for (const Buffer& output : owned) {
    Floats& result = results.emplace_back(output.device_bytes() / sizeof(float));
    output.copy_to_host(result.data(), result.size() * sizeof(float));
  }
  return results;
}

// ---- min and max must keep NaN --------------------------------------------------------------------------------------

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Every 97th element is NaN in the whole array (`step` = 97), or only one row has one.
Array sample(Dims dims, int64_t step, float sign) {
  Array array{dims, Floats(static_cast<size_t>(product(dims)))};
  for (size_t i = 0; i < array.elements.size(); ++i) array.elements[i] = sign * static_cast<float>(1 + i * 37 % 1009);
  for (size_t i = static_cast<size_t>(step) - 1; i < array.elements.size(); i += static_cast<size_t>(step))
    array.elements[i] = kNaN;
  return array;
}

// Shapes for which the plugins choose different code: elementwise, 1-D, small and large rows, columns. Few, since each
// costs its compile at the first use of a plugin.
const char* const kMinMax = R"(
func.func public @main(%a: tensor<4099xf32>, %b: tensor<4099xf32>, %v: tensor<5000xf32>, %s: tensor<64x64xf32>,
                       %w: tensor<1024x1024xf32>)
    -> (tensor<4099xf32>, tensor<f32>, tensor<64xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %max = stablehlo.maximum %a, %b : tensor<4099xf32>
  %0 = stablehlo.minimum %max, %a : tensor<4099xf32>
  %1 = stablehlo.reduce(%v init: %low) applies stablehlo.maximum across dimensions = [0]
       : (tensor<5000xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [1]
       : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %3 = stablehlo.reduce(%w init: %low) applies stablehlo.maximum across dimensions = [0]
       : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %4 = stablehlo.reduce(%w init: %high) applies stablehlo.minimum across dimensions = [1]
       : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  return %0, %1, %2, %3, %4
       : tensor<4099xf32>, tensor<f32>, tensor<64xf32>, tensor<1024xf32>, tensor<1024xf32>
}
)";

float extremum(float x, float y, bool largest) {
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  return largest ? std::fmax(x, y) : std::fmin(x, y);
}

/// The minimum of the maximum of both and the first: NaN of either must survive both operations.
Floats clamped(const Array& a, const Array& b) {
  Floats result;
  for (size_t i = 0; i < a.elements.size(); ++i) {
    float x = a.elements[i];
    result.push_back(extremum(extremum(x, b.elements[i], true), x, false));
  }
  return result;
}

/// A vector is one row.
Floats reduced(const Array& array, bool along_rows, bool largest) {
  size_t width = static_cast<size_t>(array.dims.back());
  size_t rows = array.elements.size() / width;
  float infinity = std::numeric_limits<float>::infinity();
  Floats result(along_rows ? rows : width, largest ? -infinity : infinity);
  for (size_t i = 0; i < array.elements.size(); ++i) {
    float& at = result[along_rows ? i / width : i % width];
    at = extremum(at, array.elements[i], largest);
  }
  return result;
}

bool same(const Floats& got, const Floats& expected) {
  if (got.size() != expected.size()) return false;
  for (size_t i = 0; i < got.size(); ++i)
    if (std::isnan(expected[i]) ? !std::isnan(got[i]) : got[i] != expected[i]) return false;
  return true;
}

bool keeps_nan(Client& client, const std::vector<Flag>& flags) {
  Array a = sample({4099}, 97, 1), b = sample({4099}, 101, -1);
  Array v = sample({5000}, 3001, -1), s = sample({64, 64}, 331, 1), w = sample({1024, 1024}, 3001, -1);
  std::vector<Floats> expected = {clamped(a, b), reduced(v, true, true), reduced(s, true, true),
                                  reduced(w, false, true), reduced(w, true, false)};
  try {
    std::vector<Floats> got = run(client, kMinMax, flags, {a, b, v, s, w});
    if (got.size() != expected.size()) return false;
    for (size_t i = 0; i < got.size(); ++i)
      if (!same(got[i], expected[i])) return false;
    return true;
  } catch (const Error& error) {
    log::at(1, "self-test of min and max: ", error.what());
    return false;
  }
}

/// Fastest first: a GPT's forward pass on one core takes 21, 22 and 30 ms with them. The first leaves reductions to a
/// library that drops NaN in some builds; the last is right on every plugin we met.
std::vector<std::vector<Flag>> flag_candidates() {
  Flag exact{"xla_cpu_enable_fast_min_max", false};
  auto libraries = [](const char* kinds) { return Flag{"xla_cpu_experimental_ynn_fusion_type", std::string(kinds)}; };
  return {{exact},
          {exact, libraries("LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION")},
          {exact, libraries("LIBRARY_FUSION_TYPE_DOT")}};
}

/// XLA:CPU keeps to 256 bits, because some processors lower their clock for more. AMD's do not: a chain of 150 adds,
/// subs and muls of 2000x2000 takes 19.0 ms with 256 bits and 10.4 with 512 (Zen 5), training steps the same with both.
std::vector<Flag> vector_flags() {
  bool is_wide = false;
#if defined(__x86_64__)
  is_wide = __builtin_cpu_is("amd") != 0 && __builtin_cpu_supports("avx512f") != 0;
#endif
  return is_wide ? std::vector<Flag>{{"xla_cpu_prefer_vector_width", int64_t{512}}} : std::vector<Flag>();
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

constexpr int64_t kLanes = 4096;

const char* const kArithmetic = R"(
func.func public @main(%x: tensor<4096xf32>, %s: tensor<f32>)
    -> (tensor<4096xf32>, tensor<4096xf32>) {
  %three = stablehlo.constant dense<3.0> : tensor<4096xf32>
  %all_s = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4096xf32>
  %0 = stablehlo.divide %x, %three : tensor<4096xf32>
  %1 = stablehlo.divide %x, %all_s : tensor<4096xf32>
  return %0, %1 : tensor<4096xf32>, tensor<4096xf32>
}
)";

Array ramp() {
  Array array{{kLanes}, {}};
  for (int i = 0; i < kLanes; ++i) array.elements.push_back(0.37f * static_cast<float>(i - 2000) + 0.01f);
  return array;
}

void test_arithmetic(Client& client, Workarounds& found) {
  Array x = ramp();
  // A program that cannot even run counts as faulty: the workarounds are always right, only slower.
  found.constant_division_is_reciprocal = found.scalar_division_is_reciprocal = true;
  try {
    std::vector<Floats> got = run(client, kArithmetic, found.compile_flags, {x, {{}, {3.0f}}});
    Floats thirds;
    for (float element : x.elements) thirds.push_back(element / 3.0f);
    found.constant_division_is_reciprocal = !same(got.at(0), thirds);
    found.scalar_division_is_reciprocal = !same(got.at(1), thirds);
  } catch (const Error& error) { log::at(1, "self-test of arithmetic: ", error.what()); }
}

// ---- the file -------------------------------------------------------------------------------------------------------
// A title with the version of this test, the plugin and machine, one line per fact, and a checksum over all before it.

constexpr int kVersion = 3;  // raise it when a test or a candidate changes

std::string checksum(const std::string& text) {
  Hasher hasher;
  hasher.add(text);
  return to_string(hasher.finish());
}

std::string title(const Plugin& plugin) {
  return concat("torch_tpu self-test ", kVersion, " of ", to_string(plugin.machine_hash()), "\n");
}

std::string encode(const Plugin& plugin, const Workarounds& found) {
  std::ostringstream text;
  text << title(plugin) << found.constant_division_is_reciprocal << ' ' << found.scalar_division_is_reciprocal << ' '
       << found.min_max_drops_nan << '\n';
  for (const Flag& flag : found.compile_flags) {
    if (auto* value = std::get_if<bool>(&flag.value)) text << "bool " << flag.name << ' ' << *value << '\n';
    if (auto* value = std::get_if<int64_t>(&flag.value)) text << "integer " << flag.name << ' ' << *value << '\n';
    if (auto* value = std::get_if<std::string>(&flag.value)) text << "text " << flag.name << ' ' << *value << '\n';
  }
  return text.str() + "checksum " + checksum(text.str()) + "\n";
}

std::optional<Workarounds> decode(const Plugin& plugin, const std::string& file) {
  size_t end = file.rfind("checksum ");
  std::string head = title(plugin);
  if (end == std::string::npos || file.compare(0, head.size(), head) != 0) return std::nullopt;
  if (file.substr(end) != "checksum " + checksum(file.substr(0, end)) + "\n") return std::nullopt;
  // The checksum is right, so the rest is what encode() wrote.
  std::istringstream text(file.substr(head.size(), end - head.size()));
  Workarounds found;
  text >> found.constant_division_is_reciprocal >> found.scalar_division_is_reciprocal >> found.min_max_drops_nan;
  std::string kind, name, value;
  while (text >> kind >> name >> value) {
    if (kind == "bool") found.compile_flags.push_back({name, value == "1"});
    if (kind == "integer") found.compile_flags.push_back({name, int64_t{std::stoll(value)}});
    if (kind == "text") found.compile_flags.push_back({name, value});
  }
  return found;
}

std::optional<Workarounds> read_file(const Plugin& plugin, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream contents;
  contents << file.rdbuf();
  return decode(plugin, contents.str());
}

/// To a name of its own, then renamed: a reader sees the old file or the whole new one. Failing to write is no error.
void write_file(const std::string& directory, const std::string& path, const std::string& contents) {
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  std::string temporary = path + "." + std::to_string(getpid()) + ".new";
  bool written = false;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    written = file.write(contents.data(), static_cast<std::streamsize>(contents.size())).flush().good();
  }
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    log::at(1, "cannot write ", path, "; the self-test will run again in the next process");
  }
}

}  // namespace

std::string to_string(const Workarounds& found) {
  std::ostringstream text;
  auto line = [&](const char* name, bool value) { text << name << ": " << (value ? "yes" : "no") << '\n'; };
  line("division by a constant is a reciprocal", found.constant_division_is_reciprocal);
  line("division by a scalar is a reciprocal", found.scalar_division_is_reciprocal);
  line("min and max drop NaN", found.min_max_drops_nan);
  text << "compile flags:";
  for (const Flag& flag : found.compile_flags) text << ' ' << to_string(flag);
  text << '\n';
  return text.str();
}

std::string cache_directory() {
  std::string directory = env::text("TORCH_TPU_CACHE_DIR");
  if (directory == "off") return "";
  if (!directory.empty()) return directory;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/torch_tpu" : "";
}

Workarounds run_self_test(Client& client) {
  Workarounds found;
  if (!client.is_cpu()) return found;
  Plugin& plugin = client.plugin();
  found.min_max_drops_nan = true;
  std::vector<std::vector<Flag>> tried;
  for (std::vector<Flag> flags : flag_candidates()) {
    auto drop_refused = [&] { std::erase_if(flags, [&](const Flag& f) { return plugin.refuses_flag(f.name); }); };
    drop_refused();
    if (std::find(tried.begin(), tried.end(), flags) != tried.end()) continue;
    bool good = keeps_nan(client, flags);
    drop_refused();  // the compile may have learned of more
    tried.push_back(flags);
    found.compile_flags = flags;
    if (!good) continue;
    found.min_max_drops_nan = false;
    break;
  }
  for (const Flag& flag : vector_flags())
    if (!plugin.refuses_flag(flag.name)) found.compile_flags.push_back(flag);
  test_arithmetic(client, found);
  return found;
}

Workarounds self_test(Client& client) {
  Plugin& plugin = client.plugin();
  if (!client.is_cpu()) return run_self_test(client);
  std::string directory = cache_directory();
  std::string path = directory + "/self_test-" + to_string(plugin.machine_hash()) + ".txt";
  std::optional<Workarounds> found;
  if (!directory.empty()) found = read_file(plugin, path);
  if (!found) {
    found = run_self_test(client);
    if (!directory.empty()) write_file(directory, path, encode(plugin, *found));
  }
  client.set_default_flags(found->compile_flags);
  log::at(1, "self-test of ", plugin.path(), ":\n", to_string(*found));
  return *found;
}

}  // namespace tpu::pjrt
