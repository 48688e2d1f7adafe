#include "engine/plan_file.h"

#include <atomic>
#include <chrono>

#include "base/archive.h"
#include "base/log.h"
#include "engine/activity.h"
#include "engine/runtime.h"

// --- what is in a file: one function per struct; they live where base/archive.h looks for them

namespace tpu {

void describe(auto& archive, Like<graph::ScalarUse> auto& use) {
  auto& [position, wanted, is_exact] = use;
  archive(position, wanted, is_exact);
}

void describe(auto& archive, Like<graph::RuntimeArgument> auto& argument) {
  auto& [kind, element, uses] = argument;
  archive(kind, element, uses);
}

void describe(auto& archive, Like<graph::Output> auto& output) {
  auto& [node, result, logical, stored, permutation, resized, donor] = output;
  archive(node, result, logical, stored, permutation, resized, donor);
}

void describe(auto& archive, Like<graph::Check> auto& check) {
  auto& [code, message] = check;
  archive(code, message);
}

void describe(auto& archive, Like<engine::Binding> auto& binding) {
  auto& [arguments, outputs, checks, random_blocks, input_count, start_count, scalar_count, output_bytes, any_donor,
         is_heavy, is_lengthy] = binding;
  archive(arguments, outputs, checks, random_blocks, input_count, start_count, scalar_count, output_bytes, any_donor,
          is_heavy, is_lengthy);
}

}  // namespace tpu

namespace tpu::engine {

namespace {

std::string to_bytes(const Plan& plan) {
  ByteWriter writer;
  writer(plan.name, static_cast<const Binding&>(plan));
  return writer.bytes() + plan.executable.serialize();
}

std::shared_ptr<Plan> from_bytes(std::string_view bytes) {
  auto plan = std::make_shared<Plan>();
  plan->origin = cache::Entry::Origin::Disk;
  ByteReader reader(bytes);
  reader(plan->name, static_cast<Binding&>(*plan));
  {
    ActivityScope activity(Activity::Kind::Load, plan->name, Runtime::get().device(0));
    plan->executable = Runtime::get().client().deserialize(reader.rest());
  }
  size_t results = plan->outputs.size() + (plan->checks.empty() ? 0 : 1);
  check(plan->executable.num_outputs() == results, ErrorCode::Plugin, "loading ", plan->name, ": expected ", results,
        " outputs, the program has ", plan->executable.num_outputs());
  return plan;
}

/// Level 1 hears of the first failure of a kind, level 2 of every one.
void report(std::atomic<bool>& is_known, const char* what, const std::string& why) {
  log::at(is_known.exchange(true) ? 2 : 1, what, why);
}

std::atomic<bool> load_failed{false};
std::atomic<bool> store_failed{false};

}  // namespace

std::shared_ptr<Plan> load_plan(const Hash128& key) {
  cache::Disk& disk = Runtime::get().disk();
  auto begin = std::chrono::steady_clock::now();
  std::optional<std::string> bytes = disk.read(key);
  if (!bytes) return nullptr;
  try {
    std::shared_ptr<Plan> plan = from_bytes(*bytes);
    log::at(2, "loaded in ", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e3,
            " ms: ", plan->name);
    return plan;
  } catch (const Error& error) {
    report(load_failed, "a compiled program from disk cannot be loaded, and is compiled again: ", error.message());
    disk.discard(key);
    return nullptr;
  }
}

void store_plan(const Hash128& key, const Plan& plan, const std::string& cause, const std::string& line) {
  cache::Disk& disk = Runtime::get().disk();
  if (!disk.is_on()) return;
  try {
    disk.write(key, {plan.name, cause, line, plan.compile_seconds}, to_bytes(plan));
  } catch (const Error& error) {
    report(store_failed,
           "the plugin gives no bytes of a compiled program, which is not kept on disk: ", error.message());
  }
}

}  // namespace tpu::engine
