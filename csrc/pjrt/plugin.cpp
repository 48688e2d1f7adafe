#include "pjrt/plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/log.h"
#include "pjrt/status.h"

namespace tpu::pjrt {
namespace {

std::string to_text(const abi::NamedValue& value) {
  switch (value.kind) {
    case abi::kString: return std::string(value.text, value.value_size);
    case abi::kInt64: return std::to_string(value.integer);
    case abi::kFloat: return std::to_string(value.real);
    case abi::kBool: return value.flag ? "true" : "false";
    case abi::kInt64List: break;
    default: return "";
  }
  std::string text;
  for (size_t i = 0; i < value.value_size; ++i) text += (i == 0 ? "" : ".") + std::to_string(value.integers[i]);
  return text;
}

/// 256 blocks of 4 KB, evenly spread, the first and the last included.
void add_samples_of_file(Hasher& hasher, const std::string& path) {
  constexpr int64_t kBlocks = 256, kBlock = 4096;
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(file >= 0, ErrorCode::Unavailable, "cannot read ", path);
  struct stat facts = {};
  fstat(file, &facts);
  hasher.add(static_cast<int64_t>(facts.st_size));
  int64_t last = std::max<int64_t>(facts.st_size - kBlock, 0);
  char block[kBlock];
  for (int64_t i = 0; i < kBlocks; ++i) {
    ssize_t got = pread(file, block, kBlock, last / (kBlocks - 1) * i + last % (kBlocks - 1) * i / (kBlocks - 1));
    if (got > 0) hasher.add(std::string_view(block, static_cast<size_t>(got)));
  }
  close(file);
}

void add_cpu_features(Hasher& hasher) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) {  // model and features; b holds the number of the core we happen to run on
    hasher.add(static_cast<uint64_t>(a));
    hasher.add(static_cast<uint64_t>(c) << 32 | d);
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    hasher.add(static_cast<uint64_t>(b) << 32 | c);
    hasher.add(static_cast<uint64_t>(d));
  }
#else
  hasher.add(static_cast<uint64_t>(getauxval(AT_HWCAP)));
  hasher.add(static_cast<uint64_t>(getauxval(AT_HWCAP2)));
#endif
}

const abi::Api* open_library(const std::string& path) {
  // XLA reads it once. Its error lines repeat what we report as Error, or cry wolf (every load of a serialized
  // program).
  setenv("TF_CPP_MIN_LOG_LEVEL", log::level() > 0 ? "1" : "3", /*overwrite=*/0);
  // NOW: a missing symbol is found here, not in the middle of a run. LOCAL: several copies of XLA may be in the
  // process.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    fail(ErrorCode::Unavailable, "cannot load the PJRT plugin ", path, ": ",
         reason != nullptr ? reason : "unknown reason");
  }
  auto entry = reinterpret_cast<abi::GetApi>(dlsym(library, "GetPjrtApi"));
  check(entry != nullptr, ErrorCode::Plugin, path, " is not a PJRT plugin: it has no function GetPjrtApi");
  const abi::Api* api = entry();
  check(api != nullptr, ErrorCode::Plugin, path, ": GetPjrtApi gave no function table");
  check(api->major == abi::kMajor && api->minor >= abi::kOldestMinor, ErrorCode::Plugin, path, " speaks PJRT ",
        api->major, ".", api->minor, "; this build needs ", abi::kMajor, ".", abi::kOldestMinor, " or a later ",
        abi::kMajor, ".x");
  return api;
}

}  // namespace

Plugin& Plugin::load(const std::string& path) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<Plugin>>;  // outlives every static destructor
  std::error_code missing;
  std::string file = std::filesystem::canonical(path, missing).string();
  check(!missing && std::filesystem::is_regular_file(file), ErrorCode::Unavailable, "there is no PJRT plugin at '",
        path, "'");
  std::lock_guard lock(mutex);
  std::unique_ptr<Plugin>& plugin = loaded[file];
  if (plugin == nullptr) plugin.reset(new Plugin(file, open_library(file)));
  return *plugin;
}

Plugin::Plugin(std::string path, const abi::Api* api) : path_(std::move(path)), api_(api) {
  for (abi::Extension* extension = api->extensions; extension != nullptr; extension = extension->next)
    extensions_.push_back(extension->type);
  abi::Padded<abi::PluginInitialize> initialize;
  invoke(api_, initialize, "starting the plugin ", path_);
  abi::Padded<abi::PluginAttributes> attributes;
  invoke(api_, attributes, "asking ", path_, " for its attributes");
  for (size_t i = 0; i < attributes.count; ++i) {
    // Elements may be longer than our record in a plugin newer than us; they all say so.
    const char* base = reinterpret_cast<const char*>(attributes.attributes);
    size_t stride = attributes.attributes[0].struct_size;
    if (stride < sizeof(abi::NamedValue)) stride = sizeof(abi::NamedValue);
    const auto& value = *reinterpret_cast<const abi::NamedValue*>(base + i * stride);
    attributes_[std::string(value.name, value.name_size)] = to_text(value);
  }
  Hasher hasher;
  add_samples_of_file(hasher, path_);
  hasher.add(api->major);
  hasher.add(api->minor);
  for (const auto& [name, text] : attributes_) {
    hasher.add(name);
    hasher.add(text);
  }
  build_hash_ = hasher.finish();
  add_cpu_features(hasher);
  for (const char* name : {"XLA_FLAGS", "LIBTPU_INIT_ARGS"}) {
    const char* options = std::getenv(name);
    hasher.add(std::string_view(options == nullptr ? "" : options));
  }
  machine_hash_ = hasher.finish();
  log::at(1, "plugin ", path_, ": PJRT ", api->major, ".", api->minor, ", StableHLO ",
          attribute("stablehlo_current_version"), ", build ", to_string(build_hash_));
}

std::string Plugin::attribute(const std::string& name) const {
  auto found = attributes_.find(name);
  return found != attributes_.end() ? found->second : "";
}

bool Plugin::has_extension(int type) const {
  return std::find(extensions_.begin(), extensions_.end(), type) != extensions_.end();
}

bool Plugin::refuses_flag(const std::string& name) const {
  std::lock_guard lock(mutex_);
  return refused_flags_.count(name) != 0;
}

void Plugin::refuse_flag(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (refused_flags_.insert(name).second) log::at(2, "plugin ", path_, " does not know the compile option ", name);
}

}  // namespace tpu::pjrt
