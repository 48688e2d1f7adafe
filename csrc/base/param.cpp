#include "base/param.h"

#include "base/error.h"

namespace tpu {

namespace {
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;
}  // namespace

std::string to_string(const Param& param) {
  return std::visit(Overloaded{
                        [](std::monostate) { return std::string("None"); },
                        [](bool value) { return std::string(value ? "True" : "False"); },
                        [](int64_t value) { return std::to_string(value); },
                        [](double value) { return concat(value); },
                        [](const std::string& value) { return "'" + value + "'"; },
                        [](const Dims& value) { return to_string(value); },
                        [](const std::vector<double>& value) {
                          std::string text = "[";
                          for (size_t i = 0; i < value.size(); ++i) text += concat(i ? ", " : "", value[i]);
                          return text + "]";
                        },
                        [](ElementType value) { return std::string(torch_name(value)); },
                    },
                    param);
}

void add_to(Hasher& hasher, const Param& param) {
  hasher.add(static_cast<uint64_t>(param.index()));
  std::visit(Overloaded{
                 [](std::monostate) {},
                 [&](bool value) { hasher.add(static_cast<uint64_t>(value)); },
                 [&](int64_t value) { hasher.add(value); },
                 [&](double value) { hasher.add(value); },
                 [&](const std::string& value) { hasher.add(std::string_view(value)); },
                 [&](const Dims& value) {
                   hasher.add(static_cast<uint64_t>(value.size()));
                   for (int64_t item : value) hasher.add(item);
                 },
                 [&](const std::vector<double>& value) {
                   hasher.add(static_cast<uint64_t>(value.size()));
                   for (double item : value) hasher.add(item);
                 },
                 [&](ElementType value) { hasher.add(static_cast<uint64_t>(value)); },
             },
             param);
}

}  // namespace tpu
