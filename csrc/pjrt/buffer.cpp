#include "pjrt/buffer.h"

#include <cstring>
#include <vector>

#include "pjrt/client.h"
#include "pjrt/status.h"

namespace tpu::pjrt {

int buffer_type(ElementType type) {
  switch (type) {
    case ElementType::Pred: return abi::kPred;
    case ElementType::S8: return abi::kS8;
    case ElementType::S16: return abi::kS16;
    case ElementType::S32: return abi::kS32;
    case ElementType::S64: return abi::kS64;
    case ElementType::U8: return abi::kU8;
    case ElementType::U16: return abi::kU16;
    case ElementType::U32: return abi::kU32;
    case ElementType::U64: return abi::kU64;
    case ElementType::F16: return abi::kF16;
    case ElementType::BF16: return abi::kBF16;
    case ElementType::F32: return abi::kF32;
    case ElementType::F64: return abi::kF64;
    case ElementType::C64: return abi::kC64;
    case ElementType::C128: return abi::kC128;
    case ElementType::F8E4M3FN: return abi::kF8E4M3FN;
    case ElementType::F8E5M2: return abi::kF8E5M2;
    case ElementType::F8E4M3FNUZ: return abi::kF8E4M3FNUZ;
    case ElementType::F8E5M2FNUZ: return abi::kF8E5M2FNUZ;
  }
  fail(ErrorCode::Internal, "no plugin type for element type ", static_cast<int>(type));
}

ElementType element_type(int type) {
  for (int i = 0; i < kElementTypeCount; ++i)
    if (buffer_type(static_cast<ElementType>(i)) == type) return static_cast<ElementType>(i);
  fail(ErrorCode::NotImplemented, "the plugin gave an array of its element type ", type,
       ", which has no counterpart here");
}

void Buffer::destroy(Device& device, PJRT_Buffer* raw) {
  if (in_forked_child.load(std::memory_order_relaxed)) return;
  abi::Padded<abi::BufferDestroy> args;
  args.buffer = raw;
  invoke_quietly(device.api(), args);
}

const abi::Api* Buffer::api() const {
  check(raw_ != nullptr, ErrorCode::Internal, "an empty pjrt::Buffer was used");
  return device_->api();
}

Type Buffer::type() const {
  abi::Padded<abi::BufferElementType> element;
  element.buffer = raw_;
  invoke(api(), element, "asking for the element type of a buffer");
  abi::Padded<abi::BufferDimensions> dims;
  dims.buffer = raw_;
  invoke(api(), dims, "asking for the shape of a buffer");
  return {element_type(element.type), Dims(dims.dims, dims.dims + dims.count)};
}

size_t Buffer::device_bytes() const {
  abi::Padded<abi::BufferOnDeviceSize> args;
  args.buffer = raw_;
  invoke(api(), args, "asking for the size of a buffer");
  return args.bytes;
}

bool Buffer::is_deleted() const {
  abi::Padded<abi::BufferIsDeleted> args;
  args.buffer = raw_;
  invoke(api(), args, "asking whether a buffer is deleted");
  return args.deleted;
}

Event Buffer::ready_event() const {
  abi::Padded<abi::BufferReadyEvent> args;
  args.buffer = raw_;
  invoke(api(), args, "asking for the ready event of a buffer");
  return Event(api(), args.event);
}

bool Buffer::is_ready() const { return ready_event().is_ready(); }

void Buffer::await_ready() const { ready_event().await("computing an array"); }

const void* Buffer::host_pointer() const {
  const abi::Api* plugin = api();
  check(device_->is_cpu(), ErrorCode::NotImplemented, "the memory of ", device_->description(),
        " cannot be addressed by the host");
  abi::Padded<abi::BufferUnsafePointer> args;
  args.buffer = raw_;
  invoke(plugin, args, "asking for the address of a buffer");
  return reinterpret_cast<const void*>(args.pointer);
}

void Buffer::copy_to_host(void* data, size_t size) const {
  check_process("reading an array");
  await_ready();
  if (device_->is_cpu()) {
    // Four short calls, 0.3 us, where ToHostBuffer needs 10. The reference keeps a donation by another thread from
    // writing under the copy.
    ExternalReference reference(*this);
    size_t held = device_bytes();
    check(held == size, ErrorCode::Internal, "reading an array of ", held, " bytes into ", size, " bytes");
    if (size != 0) std::memcpy(data, host_pointer(), size);
    return;
  }
  Type shape = type();
  check(static_cast<size_t>(shape.bytes()) == size, ErrorCode::Internal, "reading ", to_string(shape), " into ", size,
        " bytes");
  if (size == 0) return;
  // Without a layout the plugin would give the device's own order of dimensions, which on a TPU need not be row-major.
  Dims minor_to_major;
  for (int64_t i = shape.rank(); i-- > 0;) minor_to_major.push_back(i);
  abi::Padded<abi::Layout> layout;
  layout.kind = abi::kTiled;
  layout.tiled.struct_size = sizeof(layout.tiled);
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  abi::Padded<abi::BufferToHost> args;
  args.buffer = raw_;
  args.layout = &layout;
  args.data = data;
  args.size = size;
  invoke(api(), args, "reading an array");
  Event(api(), args.event).await("reading an array");
}

Buffer Buffer::copy_to_device(Device& target) const {
  check_process("copying an array to another device");
  const abi::Api* plugin = api();
  check(&target.client() == &device_->client(), ErrorCode::InvalidArgument, "cannot copy an array from ",
        device_->description(), " to ", target.description(), ": they belong to different clients");
  if (&target == device_) {
    // Plugins refuse a copy onto the same device. It is rare, so it goes through the host everywhere.
    Type shape = type();
    std::vector<char> bytes(static_cast<size_t>(shape.bytes()));
    copy_to_host(bytes.data(), bytes.size());
    return target.client().buffer_from_host(bytes.data(), shape, target);
  }
  abi::Padded<abi::BufferCopyToDevice> args;
  args.buffer = raw_;
  args.device = target.raw();
  invoke(plugin, args, "copying an array from ", device_->description(), " to ", target.description());
  return Buffer(target, args.copy);
}

ExternalReference::ExternalReference(const Buffer& buffer) : api_(buffer.device().api()) {
  abi::Padded<abi::BufferIncreaseReferences> args;
  args.buffer = buffer.raw();
  invoke(api_, args, "taking a reference to a buffer");
  raw_ = buffer.raw();
}

ExternalReference::~ExternalReference() {
  if (raw_ == nullptr || in_forked_child.load(std::memory_order_relaxed)) return;
  abi::Padded<abi::BufferDecreaseReferences> args;
  args.buffer = raw_;
  invoke_quietly(api_, args);
}

}  // namespace tpu::pjrt
