// Archive: structs to bytes and back, with one function per struct for both directions:
//
//   void describe(auto& archive, Like<Output> auto& output) {
//     auto& [node, type] = output;  // does not compile when a field is added
//     archive(node, type);
//   }
//
// For files that this very build reads again (base/build_id.h): no versions, byte order and sizes of this machine.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "base/type.h"

namespace tpu {

/// `T` or `const T`.
template <class U, class T>
concept Like = std::same_as<std::remove_const_t<U>, T>;

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
concept Sequence = requires(T& items) {
  items.begin();
  items.resize(1);
};

class ByteWriter {
 public:
  template <class... Fields>
  void operator()(const Fields&... fields) {
    (write(fields), ...);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  void write(const T& field) {
    if constexpr (Plain<T>) {
      bytes_.append(reinterpret_cast<const char*>(&field), sizeof field);
    } else if constexpr (Sequence<T>) {
      write(static_cast<uint64_t>(field.size()));
      for (const auto& item : field) write(item);
    } else {
      describe(*this, field);
    }
  }

  std::string bytes_;
};

/// Throws Error(Internal) instead of reading past the end. The bytes must outlive it.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (read(fields), ...);
  }
  /// What was not read yet.
  std::string_view rest() const { return left_; }

 private:
  void expect(uint64_t bytes) const {
    check(bytes <= left_.size(), ErrorCode::Internal, "a record ends too early: ", bytes, " bytes expected, ",
          left_.size(), " left");
  }
  template <class T>
  void read(T& field) {
    if constexpr (std::same_as<T, bool>) {
      uint8_t byte = 0;
      read(byte);
      field = byte != 0;
    } else if constexpr (Plain<T>) {
      expect(sizeof field);
      std::memcpy(&field, left_.data(), sizeof field);
      left_.remove_prefix(sizeof field);
    } else if constexpr (Sequence<T>) {
      uint64_t size = 0;
      read(size);
      expect(size);  // every item takes a byte or more, so that a wrong size allocates no more than the record has
      field.resize(size);
      for (auto& item : field) read(item);
    } else {
      describe(*this, field);
    }
  }

  std::string_view left_;
};

void describe(auto& archive, Like<Type> auto& type) {
  auto& [element, dims] = type;
  archive(element, dims);
}

}  // namespace tpu
