// Attributes: names and values go in, the inside of an MLIR attribute dictionary comes out. Private to csrc/hlo.
#pragma once

#include <string>
#include <string_view>

#include "base/type.h"

namespace tpu::hlo {

class Attributes {
 public:
  /// Any attribute in its MLIR spelling.
  Attributes& raw(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += ", ";
    text_ += name;
    text_ += " = ";
    text_ += value;
    return *this;
  }
  Attributes& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  Attributes& number(std::string_view name, int64_t value, std::string_view type = "i64") {
    return raw(name, std::to_string(value) + " : " + std::string(type));
  }
  /// `array<i64: 1, 2>`
  Attributes& list(std::string_view name, const Dims& values) {
    std::string text = "array<i64";
    for (size_t i = 0; i < values.size(); ++i) {
      text += i == 0 ? ": " : ", ";
      text += std::to_string(values[i]);
    }
    return raw(name, text + ">");
  }
  /// One (low, high) row per dimension.
  Attributes& padding(const Dims& low, const Dims& high) {
    std::string text = "dense<";
    for (size_t i = 0; i < low.size(); ++i) {
      text += i == 0 ? "[[" : ", [";
      text += std::to_string(low[i]) + ", " + std::to_string(high[i]) + "]";
    }
    if (!low.empty()) text += "]";
    return raw("padding", text + "> : tensor<" + std::to_string(low.size()) + "x2xi64>");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tpu::hlo
