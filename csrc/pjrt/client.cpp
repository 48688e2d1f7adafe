#include "pjrt/client.h"

#include <algorithm>

#include "base/log.h"
#include "pjrt/status.h"

namespace tpu::pjrt {
namespace {

// Slow but right on every CPU plugin we met; self_test() looks for something faster.
std::vector<Flag> safe_cpu_flags() {
  return {{"xla_cpu_enable_fast_min_max", false}, {"xla_cpu_experimental_ynn_fusion_type", "LIBRARY_FUSION_TYPE_DOT"}};
}

constexpr int64_t kMostDevices = 1024;

}  // namespace

std::unique_ptr<Client> Client::create(Plugin& plugin, const ClientOptions& options) {
  check_process("starting the device");
  check(options.cpu_device_count >= 1 && options.cpu_device_count <= kMostDevices, ErrorCode::Value,
        "the number of CPU devices must be 1 to ", kMostDevices, ", got ", options.cpu_device_count);
  watch_forks();
  // Always sent: a CPU plugin shows 4 devices by default. Others may refuse the name, and get nothing.
  constexpr std::string_view name = "cpu_device_count";
  abi::Padded<abi::NamedValue> count;
  count.name = name.data();
  count.name_size = name.size();
  count.kind = abi::kInt64;
  count.integer = options.cpu_device_count;
  count.value_size = 1;
  count.struct_size = sizeof(abi::NamedValue);  // an element of an array, whose stride the plugin knows by itself
  auto call = function_or_raise<abi::ClientCreate>(plugin.api(), "starting the plugin's client");
  abi::Padded<abi::ClientCreate> args;
  args.options = &count;
  args.num_options = 1;
  if (PJRT_Error* error = call(&args)) {
    Failure failure = take(plugin.api(), error);
    if (failure.code != abi::kInvalidArgument && failure.code != abi::kUnimplemented)
      throw to_error(failure, "starting the plugin's client");
    args = {};
    invoke(plugin.api(), args, "starting the plugin's client");
  }
  return std::unique_ptr<Client>(new Client(plugin, args.client));
}

Client::Client(Plugin& plugin, PJRT_Client* raw) : plugin_(plugin), api_(plugin.api()), raw_(raw) {
  abi::Padded<abi::ClientPlatformName> name;
  name.client = raw;
  invoke(api_, name, "asking for the platform name");
  platform_name_.assign(name.text, name.size);
  abi::Padded<abi::ClientPlatformVersion> version;
  version.client = raw;
  invoke(api_, version, "asking for the platform version");
  platform_version_.assign(version.text, version.size);
  is_cpu_ = platform_name_ == "cpu";
  if (is_cpu_) default_flags_ = safe_cpu_flags();
  abi::Padded<abi::ClientAddressableDevices> devices;
  devices.client = raw;
  invoke(api_, devices, "listing the devices");
  check(devices.count != 0, ErrorCode::Unavailable, "the plugin ", plugin.path(), " found no device");
  for (size_t i = 0; i < devices.count; ++i)
    devices_.push_back(std::make_unique<Device>(*this, devices.devices[i], static_cast<int>(i)));
  log::at(1, "client: platform ", platform_name_, ", ", devices_.size(), " device(s), the first is ",
          devices_[0]->description());
}

Client::~Client() {
  if (in_forked_child.load(std::memory_order_relaxed)) return;
  abi::Padded<abi::ClientDestroy> args;
  args.client = raw_;
  invoke_quietly(api_, args);
}

Device& Client::device(int ordinal) const {
  check(ordinal >= 0 && ordinal < device_count(), ErrorCode::InvalidArgument, "device index ", ordinal,
        " is out of range: there are ", device_count(), " device(s)");
  return *devices_[static_cast<size_t>(ordinal)];
}

std::vector<Flag> Client::default_flags() const {
  std::lock_guard lock(flags_mutex_);
  return default_flags_;
}

void Client::set_default_flags(std::vector<Flag> flags) {
  std::lock_guard lock(flags_mutex_);
  default_flags_ = std::move(flags);
}

std::vector<Flag> Client::flags_for(const CompileOptions& options) const {
  std::vector<Flag> flags = options.use_default_flags ? default_flags() : std::vector<Flag>();
  auto set = [&](const Flag& flag) {
    std::erase_if(flags, [&](const Flag& other) { return other.name == flag.name; });
    flags.push_back(flag);
  };
  if (options.optimization_level >= 0)
    set({"xla_backend_optimization_level", static_cast<int64_t>(options.optimization_level)});
  for (const Flag& flag : options.flags) set(flag);
  std::erase_if(flags, [&](const Flag& flag) { return plugin_.refuses_flag(flag.name); });
  return flags;
}

Executable Client::compile(std::string_view text, const CompileOptions& options) {
  const char* doing = "compiling a program";
  check_process(doing);
  check(!text.empty(), ErrorCode::Internal, doing, ": the text is empty");
  int id = options.device == CompileOptions::kAnyDevice ? -1 : device(options.device).id();
  auto call = function_or_raise<abi::ClientCompile>(api_, doing);
  constexpr std::string_view format = "mlir";
  abi::Padded<abi::Program> program;
  program.code = const_cast<char*>(text.data());  // in and out in other uses of the record; only read here
  program.code_size = text.size();
  program.format = format.data();
  program.format_size = format.size();
  std::vector<Flag> flags = flags_for(options);
  while (true) {
    std::string encoded = encode_compile_options(id, flags);
    abi::Padded<abi::ClientCompile> args;
    args.client = raw_;
    args.program = &program;
    args.options = encoded.data();
    args.options_size = encoded.size();
    PJRT_Error* error = call(&args);
    if (error == nullptr) return Executable(*this, args.executable, options.device);
    Failure failure = take(api_, error);
    auto unknown = flags.end();
    if (failure.text.find("No such compile option") != std::string::npos)
      unknown = std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) {
        return failure.text.find("'" + flag.name + "'") != std::string::npos;
      });
    if (unknown == flags.end()) throw to_error(failure, doing);
    plugin_.refuse_flag(unknown->name);
    flags.erase(unknown);
  }
}

Executable Client::deserialize(std::string_view bytes, const CompileOptions& options) {
  const char* doing = "loading a serialized program";
  check_process(doing);
  check(!bytes.empty(), ErrorCode::Internal, doing, ": there are no bytes");
  if (options.device != CompileOptions::kAnyDevice) device(options.device);  // checks the range
  abi::Padded<abi::ExecutableDeserializeAndLoad> args;
  args.client = raw_;
  args.bytes = bytes.data();
  args.size = bytes.size();
  invoke(api_, args, doing);
  return Executable(*this, args.executable, options.device);
}

namespace {

/// Calls back exactly once, at the end of a failed call or when the plugin says so.
class Release {
 public:
  explicit Release(std::function<void()> callback) : callback_(std::move(callback)) {}
  ~Release() {
    if (callback_) callback_();
  }
  std::function<void()> take() { return std::exchange(callback_, nullptr); }

 private:
  std::function<void()> callback_;
};

void check_host_type(const Type& type, size_t num_strides) {
  int64_t bytes = static_cast<int64_t>(size_of(type.element));
  bool empty = false;
  for (int64_t size : type.dims) {
    check(size >= 0, ErrorCode::InvalidArgument, "an array cannot have the negative size ", size, ": ",
          to_string(type.dims));
    empty |= size == 0;
  }
  for (int64_t size : type.dims)
    if (!empty && __builtin_mul_overflow(bytes, size, &bytes))
      fail(ErrorCode::OutOfMemory, "an array of shape ", to_string(type.dims), " is larger than any memory");
  check(num_strides == 0 || num_strides == type.dims.size(), ErrorCode::Internal, "got ", num_strides, " strides for ",
        type.dims.size(), " dimensions");
}

}  // namespace

Buffer Client::buffer_from_host(const void* data, const Type& type, Device& device, HostSemantics semantics,
                                std::function<void()> release, std::span<const int64_t> byte_strides) {
  Release releasing(std::move(release));
  check_process("copying an array to the device");
  check_host_type(type, byte_strides.size());
  check(&device.client() == this, ErrorCode::Internal, "buffer_from_host: the device belongs to another client");
  static const char nothing[kZeroCopyAlignment] = {};
  if (data == nullptr) {
    check(type.count() == 0, ErrorCode::Internal, "buffer_from_host: null address for ", to_string(type));
    data = nothing;
  }
  abi::Padded<abi::ClientBufferFromHost> args;
  args.client = raw_;
  args.data = data;
  args.type = buffer_type(type.element);
  args.dims = type.dims.data();
  args.num_dims = type.dims.size();
  args.byte_strides = byte_strides.empty() ? nullptr : byte_strides.data();
  args.num_byte_strides = byte_strides.size();
  args.semantics = static_cast<int>(semantics);
  args.device = device.raw();
  invoke(api_, args, "copying ", to_string(type), " to ", device.description());
  Buffer buffer(device, args.buffer);
  Event done(api_, args.done);
  if (std::function<void()> callback = releasing.take()) {
    // A copy is over when the call returns; the others say when. An error of the transfer is reported by the buffer.
    if (semantics == HostSemantics::CopyDuringCall)
      callback();
    else
      done.on_ready([callback = std::move(callback)](const Error*) { callback(); }, "releasing host memory");
  }
  return buffer;
}

}  // namespace tpu::pjrt
