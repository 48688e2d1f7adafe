#include "device/profiler.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Allocator.h>
#include <c10/util/ApproximateClock.h>
#include <libkineto.h>
#include <output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>
#include <torch/csrc/profiler/stubs/base.h>

#include "device/guard.h"
#include "device/startup.h"
#include "engine/activity.h"
#include "engine/runtime.h"

namespace tpu::device {

namespace {

using engine::Activity;
using libkineto::ActivityType;

// Names that torch's tools look for are those of CUDA: a kernel is an execution of a program.
constexpr ActivityType kTypes[] = {ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
                                   ActivityType::PRIVATEUSE1_RUNTIME};

// Rows of the timeline of one device.
constexpr int32_t kProgramRow = 0, kCopyRow = 1;

std::string title_of(const Activity& activity) {
  switch (activity.kind) {
    case Activity::Kind::Compile: return "Compile " + activity.name;
    case Activity::Kind::Load: return "Load " + activity.name;
    case Activity::Kind::Execute: return activity.name;
    case Activity::Kind::CopyToDevice: return "Memcpy HtoD (Host -> Device)";
    case Activity::Kind::CopyToHost: return "Memcpy DtoH (Device -> Host)";
    case Activity::Kind::CopyBetweenDevices: break;
  }
  return "Memcpy DtoD (Device -> Device)";
}

// The ops that the calling thread is in, innermost last, as numbers of torch's.
struct OpStack {
  uint64_t session = 0;  // what an earlier session left, which ended inside an op, is nothing to a later one
  std::vector<uint64_t> numbers;

  std::vector<uint64_t>& of(uint64_t asking) {
    if (std::exchange(session, asking) != asking) numbers.clear();
    return numbers;
  }
};
thread_local OpStack op_stack;

// Where an activity was asked for.
struct Origin {
  uint64_t correlation = 0;
  int32_t thread = 0;
};

/// Collects what a session saw. The engine holds it too, and may add to it after the session is gone.
class Collector final : public engine::ActivityListener {
 public:
  uint64_t session() const { return session_; }
  int64_t origin() override {
    std::lock_guard lock(mutex_);
    ++under_way_;
    std::vector<uint64_t>& ops = op_stack.of(session_);
    origins_.push_back({ops.empty() ? 0 : ops.back(), libkineto::systemThreadId()});
    return static_cast<int64_t>(origins_.size()) - 1;
  }
  void add(Activity activity) noexcept override {
    std::lock_guard lock(mutex_);
    activities_.push_back(std::move(activity));
    if (--under_way_ == 0) nothing_under_way_.notify_all();
  }

  /// Waits until what began has ended. torch has synchronized, so that only callbacks may be missing; one that never
  /// comes must not stop the program.
  void finish() {
    std::unique_lock lock(mutex_);
    nothing_under_way_.wait_for(lock, std::chrono::seconds(10), [this] { return under_way_ == 0; });
  }
  /// The activities in the order of their ends.
  std::vector<std::pair<Activity, Origin>> take() {
    std::lock_guard lock(mutex_);
    std::vector<std::pair<Activity, Origin>> taken;
    for (Activity& activity : std::exchange(activities_, {})) {
      Origin origin = origins_[static_cast<size_t>(activity.origin)];
      taken.emplace_back(std::move(activity), origin);
    }
    std::stable_sort(taken.begin(), taken.end(),
                     [](const auto& a, const auto& b) { return a.first.end < b.first.end; });
    return taken;
  }

 private:
  static inline std::atomic<uint64_t> sessions{0};

  const uint64_t session_ = ++sessions;
  std::mutex mutex_;
  std::condition_variable nothing_under_way_;
  size_t under_way_ = 0;
  std::vector<Origin> origins_;
  std::vector<Activity> activities_;
};

void report_memory(const engine::Device& device, const void* value, int64_t change) {
  auto held = static_cast<size_t>(device.memory().allocated);
  c10::reportMemoryUsageToProfiler(
      const_cast<void*>(value), change, held, held,
      c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device.ordinal())));
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  explicit Session(std::set<ActivityType> wanted) : wanted_(std::move(wanted)) {}

  void start() override {
    engine::set_activity_listener(collector_);
    engine::memory_listener = &report_memory;
    status_ = libkineto::TraceStatus::RECORDING;
  }
  void stop() override {
    engine::set_activity_listener(nullptr);
    engine::memory_listener = nullptr;
    engine::Blocking blocking;  // what ends may have to take the GIL
    collector_->finish();
    status_ = libkineto::TraceStatus::PROCESSING;
  }

  void pushCorrelationId(uint64_t id) override { op_stack.of(collector_->session()).push_back(id); }
  void popCorrelationId() override {
    std::vector<uint64_t>& ops = op_stack.of(collector_->session());
    if (!ops.empty()) ops.pop_back();
  }

  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(logger, [](int32_t) { return nullptr; }, 0, 0);
  }
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback linked, int64_t begin,
                    int64_t) override {
    process(logger, linked);
    for (int device : devices_) {
      libkineto::DeviceInfo info{device, libkineto::kExceedMaxPid + device, "tpu", concat("tpu:", device)};
      logger.handleDeviceInfo(info, begin);
    }
  }

  std::vector<std::string> errors() override { return {}; }
  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; }  // would be one for all devices
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::vector<libkineto::ResourceInfo> rows;
    for (int device : devices_) {
      rows.push_back({kProgramRow, kProgramRow, device, concat("tpu:", device, " programs")});
      rows.push_back({kCopyRow, kCopyRow, device, concat("tpu:", device, " copies")});
    }
    return rows;
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer_); }

 private:
  void process(libkineto::ActivityLogger& logger, const libkineto::getLinkedActivityCallback& linked) {
    // A device runs one program after another: one that was dispatched early began when its predecessor ended.
    std::map<int, int64_t> free_at;
    int32_t id = 0;
    for (auto& [activity, origin] : collector_->take()) {
      int64_t asked = activity.begin;
      if (activity.kind == Activity::Kind::Execute) {
        int64_t& free = free_at[activity.device];
        activity.begin = std::min(std::max(activity.begin, free), activity.end);
        free = activity.end;
      }
      const libkineto::ITraceActivity* op = linked(static_cast<int32_t>(origin.correlation));
      ++id;
      if (activity.kind == Activity::Kind::Compile || activity.kind == Activity::Kind::Load) {
        log_on_host(logger, title_of(activity), activity.begin, activity.end, origin, op, id);
        continue;
      }
      log_on_host(logger, activity.kind == Activity::Kind::Execute ? "Launch" : "Copy", asked, activity.returned,
                  origin, op, id);
      log_on_device(logger, activity, origin, op, id);
    }
  }

  libkineto::GenericTraceActivity& add(ActivityType type, const std::string& title, int64_t begin, int64_t end,
                                       const Origin& origin, const libkineto::ITraceActivity* op, int32_t id) {
    buffer_->emplace_activity(buffer_->span, type, title);
    libkineto::GenericTraceActivity& event = *buffer_->activities.back();
    event.startTime = begin;
    event.endTime = end;
    event.id = id;
    event.linked = op;
    event.threadId = origin.thread;
    event.flow.id = static_cast<uint32_t>(id);  // an arrow from the call to what the device did for it
    event.flow.type = libkineto::kLinkAsyncCpuGpu;
    event.addMetadata("correlation", id);
    return event;
  }

  // On the thread that made the call.
  void log_on_host(libkineto::ActivityLogger& logger, const std::string& title, int64_t begin, int64_t end,
                   const Origin& origin, const libkineto::ITraceActivity* op, int32_t id) {
    if (!wanted_.contains(ActivityType::PRIVATEUSE1_RUNTIME)) return;
    libkineto::GenericTraceActivity& event = add(ActivityType::PRIVATEUSE1_RUNTIME, title, begin, end, origin, op, id);
    event.device = static_cast<int32_t>(getpid());
    event.resource = origin.thread;
    event.flow.start = 1;
    event.log(logger);
  }

  void log_on_device(libkineto::ActivityLogger& logger, const Activity& activity, const Origin& origin,
                     const libkineto::ITraceActivity* op, int32_t id) {
    bool is_program = activity.kind == Activity::Kind::Execute;
    ActivityType type = is_program ? ActivityType::CONCURRENT_KERNEL : ActivityType::GPU_MEMCPY;
    if (!wanted_.contains(type)) return;
    libkineto::GenericTraceActivity& event =
        add(type, title_of(activity), activity.begin, activity.end, origin, op, id);
    event.device = activity.device;
    event.resource = is_program ? kProgramRow : kCopyRow;
    if (!is_program) event.addMetadata("bytes", activity.bytes);
    devices_.insert(activity.device);
    event.log(logger);
  }

  const std::set<ActivityType> wanted_;
  std::shared_ptr<Collector> collector_ = std::make_shared<Collector>();
  // On the heap, since the events point at its span.
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
  std::set<int> devices_;
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return types_; }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config&) override {
    bool any = std::any_of(wanted.begin(), wanted.end(), [this](ActivityType type) { return types_.contains(type); });
    return any ? std::make_unique<Session>(wanted) : nullptr;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t, int64_t, const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config& config) override {
    return configure(wanted, config);
  }

 private:
  const std::string name_ = "tpu";
  const std::set<ActivityType> types_{std::begin(kTypes), std::end(kTypes)};
};

/// The older way, torch.autograd.profiler.profile(use_device="tpu"): an event before and after each op.
class Stubs final : public torch::profiler::impl::ProfilerStubs {
 public:
  void record(c10::DeviceIndex* device, torch::profiler::impl::ProfilerVoidEventStub* event,
              int64_t* cpu_ns) const override {
    if (device != nullptr) *device = static_cast<c10::DeviceIndex>(current_device());
    void* raw = nullptr;
    guard().record(&raw, guard().getStream(guard().getDevice()), -1, c10::EventFlag::BACKEND_DEFAULT);
    *event = std::shared_ptr<void>(raw, [](void* moment) { guard().destroyEvent(moment, -1); });
    if (cpu_ns != nullptr) *cpu_ns = c10::getTime();
  }
  float elapsed(const torch::profiler::impl::ProfilerVoidEventStub* begin,
                const torch::profiler::impl::ProfilerVoidEventStub* end) const override {
    return static_cast<float>(guard().elapsedTime(begin->get(), end->get(), -1) * 1e3);  // microseconds
  }
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> visit) const override {
    for (int device = 0; device < device_count(); ++device) visit(device);
  }
  void synchronize() const override { device::synchronize(current_device()); }
};

}  // namespace

void register_profiler() {
  torch::profiler::impl::PrivateUse1ProfilerRegistry::instance().registerFactory(
      [] { return std::make_unique<Profiler>(); });
  torch::profiler::impl::registerPrivateUse1Methods(new Stubs());  // torch keeps it until the very end
}

}  // namespace tpu::device
