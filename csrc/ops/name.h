// How a row's overload is called in messages and by the dispatcher.
#pragma once

#include <string>
#include <string_view>

namespace tpu::ops {

/// "aten::add.out"; rows of another library say which one in their name.
inline std::string full_name(std::string_view row) {
  return (row.find("::") == row.npos ? "aten::" : "") + std::string(row);
}

}  // namespace tpu::ops
