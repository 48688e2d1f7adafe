#include "aten/lending.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>

namespace tpu::aten {

namespace {

constexpr size_t kSmall = size_t{1} << 16;

thread_local Lending* t_lending = nullptr;

/// Torch's allocator of the CPU, behind a look at what this thread lends.
class LendingAllocator final : public c10::Allocator {
 public:
  explicit LendingAllocator(c10::Allocator* own) : own_(own) {}

  c10::DataPtr allocate(size_t bytes) override {
    void* lent = t_lending == nullptr ? nullptr : t_lending->take(bytes);
    if (lent == nullptr) return own_->allocate(bytes);
    return {lent, lent, [](void*) {}, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return own_->raw_deleter(); }
  bool is_simple_data_ptr(const c10::DataPtr& data) const override { return own_->is_simple_data_ptr(data); }
  void copy_data(void* to, const void* from, size_t bytes) const override { own_->copy_data(to, from, bytes); }

 private:
  c10::Allocator* own_;
};

// Once, and for ever: tensors that were made by an allocator may outlive main().
void install() {
  [[maybe_unused]] static bool once = [] {
    c10::SetCPUAllocator(new LendingAllocator(c10::GetCPUAllocator()));
    return true;
  }();
}

}  // namespace

Lending::Lending() : outer_(t_lending) {
  install();
  t_lending = this;
}

Lending::~Lending() { t_lending = outer_; }

void Lending::add(void* data, size_t bytes) {
  if (bytes >= kSmall) pieces_.push_back({data, bytes});
}

void* Lending::take(size_t bytes) {
  auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.bytes == bytes; });
  if (found == pieces_.end()) return nullptr;
  void* data = found->data;
  pieces_.erase(found);
  return data;
}

}  // namespace tpu::aten
