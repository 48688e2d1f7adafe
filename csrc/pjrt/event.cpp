#include "pjrt/event.h"

#include <memory>
#include <optional>
#include <string>

#include "pjrt/status.h"

namespace tpu::pjrt {

Event::~Event() {
  if (raw_ == nullptr || in_forked_child.load(std::memory_order_relaxed)) return;
  abi::Padded<abi::EventDestroy> args;
  args.event = raw_;
  invoke_quietly(api_, args);
}

void Event::await(const char* doing) const {
  if (raw_ == nullptr) return;
  check_process(doing);
  abi::Padded<abi::EventAwait> args;
  args.event = raw_;
  invoke(api_, args, doing);
}

bool Event::is_ready() const {
  if (raw_ == nullptr) return true;
  abi::Padded<abi::EventIsReady> args;
  args.event = raw_;
  invoke(api_, args, "asking whether an event is ready");
  return args.ready;
}

namespace {

struct Waiter {
  const abi::Api* api;
  std::function<void(const Error*)> callback;
  const char* doing;
};

void on_plugin_thread(PJRT_Error* raw, void* context) {
  std::unique_ptr<Waiter> waiter(static_cast<Waiter*>(context));
  std::optional<Error> error;
  if (raw != nullptr) error = to_error(take(waiter->api, raw), waiter->doing);
  waiter->callback(error ? &*error : nullptr);
}

}  // namespace

void Event::on_ready(std::function<void(const Error*)> callback, const char* doing) const {
  if (raw_ == nullptr) return callback(nullptr);
  check_process(doing);
  auto waiter = std::make_unique<Waiter>(Waiter{api_, std::move(callback), doing});
  abi::Padded<abi::EventOnReady> args;
  args.event = raw_;
  args.callback = on_plugin_thread;
  args.context = waiter.get();
  invoke(api_, args, doing);
  waiter.release();  // the callback owns it
}

}  // namespace tpu::pjrt
