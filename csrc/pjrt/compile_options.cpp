#include "pjrt/compile_options.h"

#include <string_view>

namespace tpu::pjrt {

std::string to_string(const Flag& flag) {
  struct Text {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(const std::string& value) const { return value; }
  };
  return flag.name + "=" + std::visit(Text{}, flag.value);
}

namespace {

// The protobuf wire format, as far as it is needed: a field is a varint key (number * 8 + kind) and its contents.
class Message {
 public:
  Message& integer(int field, int64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  const std::string& text() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

Message flag_value(const Flag& flag) {
  Message value;  // OptionOverrideProto: text 1, bool 2, integer 3
  if (auto* text = std::get_if<std::string>(&flag.value)) value.bytes(1, *text);
  if (auto* truth = std::get_if<bool>(&flag.value)) value.integer(2, *truth);
  if (auto* number = std::get_if<int64_t>(&flag.value)) value.integer(3, *number);
  return value;
}

}  // namespace

std::string encode_compile_options(int device_id, const std::vector<Flag>& flags) {
  Message build;  // ExecutableBuildOptionsProto
  build.integer(1, -1).integer(4, 1).integer(
      5, 1);  // device_ordinal (zero would be taken literally), replicas, partitions
  if (device_id >= 0) {
    // DeviceAssignmentProto: 1 replica, 1 computation, whose ids are a packed list.
    std::string id = Message().integer(0, device_id).text().substr(1);
    build.bytes(9, Message().integer(1, 1).integer(2, 1).bytes(3, Message().bytes(1, id).text()).text());
  }
  Message options;  // CompileOptionsProto
  options.bytes(3, build.text());
  if (device_id < 0) options.integer(4, 1);  // compile_portable_executable
  for (const Flag& flag : flags)
    options.bytes(7, Message().bytes(1, flag.name).bytes(2, flag_value(flag).text()).text());
  return options.text();
}

}  // namespace tpu::pjrt
