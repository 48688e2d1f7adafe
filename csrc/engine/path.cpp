#include "engine/path.h"

#include <algorithm>
#include <vector>

namespace tpu::engine {

namespace {

bool is_same(const Step& step, const Hash128& key, std::span<const int> bases) {
  return step.key == key && std::equal(step.bases.begin(), step.bases.end(), bases.begin(), bases.end());
}

}  // namespace

Step& Paths::follow(Step& last, const Hash128& key, std::span<const int> bases, bool& is_new) {
  is_new = false;
  if (last.next != nullptr && is_same(*last.next, key, bases)) [[likely]]
    return *last.next;
  for (Step* step = last.child.get(); step != nullptr; step = step->sibling.get()) {
    if (!is_same(*step, key, bases)) continue;
    last.next = step;
    return *step;
  }
  is_new = true;
  auto step = std::make_unique<Step>();
  step->key = key;
  step->bases.assign(bases.begin(), bases.end());
  Hasher hasher;
  hasher.add(last.prefix);
  hasher.add(key);
  for (int base : bases) hasher.add(base);
  step->prefix = hasher.finish();
  step->sibling = std::move(last.child);
  last.child = std::move(step);
  ++size_;
  return *(last.next = last.child.get());
}

// A path may be thousands of steps deep: taken apart in a loop, not by recursion.
void Paths::clear() {
  std::vector<std::unique_ptr<Step>> doomed;
  doomed.push_back(std::move(root_.child));
  while (!doomed.empty()) {
    std::unique_ptr<Step> step = std::move(doomed.back());
    doomed.pop_back();
    if (step == nullptr) continue;
    doomed.push_back(std::move(step->child));
    doomed.push_back(std::move(step->sibling));
  }
  root_.next = nullptr;
  size_ = 0;
}

}  // namespace tpu::engine
