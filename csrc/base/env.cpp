#include "base/env.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

extern char** environ;

namespace tpu::env {

const std::vector<Variable>& table() {
  static const std::vector<Variable> rows = {
      {"TORCH_TPU_PLUGIN", "", "path of the PJRT plugin to load instead of the one that is found"},
      {"TORCH_TPU_CPU_DEVICES", "",
       "number of devices that a CPU plugin shows; default: one for each process that torchrun started here, else 1"},
      {"TORCH_TPU_TOPOLOGY_COMPILER", "",
       "path of the plugin that `python -m torch_tpu check` compiles with, not libtpu"},
      {"TORCH_TPU_DEBUG", "0", "1 device and cache summary, 2 executables, 3 graphs, 4 StableHLO, 5 every op call"},
      {"TORCH_TPU_HOST_OPS", "warn", "allow | warn | error: what to do when an op runs on the host"},
      {"TORCH_TPU_HOST_KERNELS", "on",
       "on | off: whether programs of a CPU plugin call PyTorch's CPU kernels where those are faster"},
      {"TORCH_TPU_MODE", "",
       "auto | fused | strict | debug: record ops and run them as programs where that pays, always, never; debug "
       "waits"},
      {"TORCH_TPU_DEFER_AND_FUSE", "", "1: mode fused, as in the published torch_tpu"},
      {"TPU_LAUNCH_BLOCKING", "", "1: mode debug, as in the published torch_tpu"},
      {"TORCH_TPU_SEGMENT_OPS", "2000", "most ops that the deferred modes record before they run them"},
      {"TORCH_TPU_PROGRESS", "1", "0: no live line on the terminal while programs are compiled"},
      {"TORCH_TPU_CACHE_DIR", "", "directory for files that outlive the process, `off` for none (~/.cache/torch_tpu)"},
      {"TORCH_TPU_CACHE_BYTES", "1073741824", "most bytes of compiled programs in that directory, 0 keeps none there"},
      {"TORCH_TPU_CACHE_PROGRAMS", "8192", "most executables that are kept loaded"},
  };
  return rows;
}

std::string text(const char* name) {
  for (const Variable& row : table()) {
    if (std::strcmp(row.name, name) != 0) continue;
    const char* value = std::getenv(name);
    return value != nullptr ? value : row.fallback;
  }
  fail(ErrorCode::Internal, "environment variable ", name, " is not in the table of base/env.cpp");
}

int64_t integer(const char* name) {
  std::string value = text(name);
  char* end = nullptr;
  errno = 0;
  long long number = std::strtoll(value.c_str(), &end, 10);
  check(!value.empty() && *end == '\0' && errno == 0, ErrorCode::Value, name, ": expected an integer, got '", value,
        "'");
  return number;
}

namespace {

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::pair<std::string, std::string>> unknown() {
  static constexpr std::string_view prefix = "TORCH_TPU_";
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view line = *entry;
    if (line.substr(0, prefix.size()) != prefix) continue;
    std::string name(line.substr(0, line.find('=')));
    std::string closest;
    size_t best = name.size() / 3 + 1;
    bool known = false;
    for (const Variable& row : table()) {
      size_t distance = edit_distance(name, row.name);
      known |= distance == 0;
      if (distance < best) {
        best = distance;
        closest = row.name;
      }
    }
    if (!known) found.emplace_back(name, closest);
  }
  return found;
}

}  // namespace tpu::env
