#include "base/log.h"

#include <cstdio>
#include <mutex>
#include <set>

#include "base/env.h"

namespace tpu::log {

namespace {
std::mutex mutex;
void (*warning_sink)(const std::string&) = nullptr;
}  // namespace

int level() {
  static const int wanted = static_cast<int>(env::integer("TORCH_TPU_DEBUG"));
  return wanted;
}

void write(int level, const std::string& line) {
  // One call per line, so that lines of several threads do not mix.
  std::string text = concat("[torch_tpu ", level, "] ", line, "\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void warn_once(const std::string& line) {
  void (*sink)(const std::string&);
  {
    std::lock_guard<std::mutex> lock(mutex);
    static auto* seen = new std::set<std::string>;  // outlives static destruction: warnings may come from exit handlers
    if (!seen->insert(line).second) return;
    sink = warning_sink;
  }
  if (sink != nullptr) return sink(line);
  std::string text = concat("[torch_tpu] warning: ", line, "\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void set_warning_sink(void (*sink)(const std::string&)) {
  std::lock_guard<std::mutex> lock(mutex);
  warning_sink = sink;
}

}  // namespace tpu::log
