// The fake plugin, see fake_pjrt.h. Everything is host memory and happens inside the call, under one lock.

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pjrt/abi.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace abi = tpu::pjrt::abi;

struct PJRT_Error {
  int code;
  std::string message;
};

namespace {

/// What an event tells: not ready, ready, or failed; shared by all events of one thing.
struct State {
  bool ready = true;
  int code = 0;
  std::string message;
  std::vector<std::function<void()>> callbacks;
};

struct Shape {
  int type = abi::kF32;
  std::vector<int64_t> dims;

  size_t bytes() const;
};

}  // namespace

struct PJRT_Event {
  std::shared_ptr<State> state;
};

struct PJRT_DeviceDescription {
  int id;
  std::string kind = "fake";
  std::string text;
};

struct PJRT_Device {
  PJRT_DeviceDescription description;
};

struct PJRT_Client {
  std::string platform;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> pointers;
};

struct PJRT_Buffer {
  Shape shape;
  PJRT_Device* device = nullptr;
  std::shared_ptr<char> memory;
  std::shared_ptr<State> ready = std::make_shared<State>();
  std::shared_ptr<State> host_memory_free;  // of a zero-copy buffer: becomes ready when it is destroyed
  int references = 0;
  bool deleted = false;
};

struct PJRT_Executable {
  std::string text;
  std::vector<bool> parameter_donated;
  int64_t parameter_bytes = 0;
  int64_t donated_bytes = 0;
  abi::NamedValue cost = {};
  std::vector<Shape> outputs;
  std::vector<int> output_types;
  std::vector<int64_t> output_dims;
  std::vector<size_t> output_ranks;
};

struct PJRT_TopologyDescription {
  PJRT_DeviceDescription device;
  PJRT_DeviceDescription* devices[1] = {&device};
  abi::NamedValue limit = {};
};

struct PJRT_LoadedExecutable {
  PJRT_Executable description;
};

namespace {

std::mutex mutex;
std::condition_variable became_ready;
std::map<std::string, int64_t> counts;
struct Demand {
  PJRT_Error error;
  int times;
};
std::map<std::string, Demand> failures;
std::set<std::string> refused_flags;
std::vector<std::shared_ptr<State>> held;
bool holding = false;
std::string platform = "fake", last_program, last_compile_options, given;

using Lock = std::unique_lock<std::mutex>;

PJRT_Error* error(int code, std::string message) { return new PJRT_Error{code, std::move(message)}; }

/// The failure that was demanded for a call, if any.
PJRT_Error* take_failure(const char* call) {
  auto found = failures.find(call);
  if (found == failures.end()) return nullptr;
  PJRT_Error* demanded = new PJRT_Error(found->second.error);
  if (--found->second.times == 0) failures.erase(found);
  return demanded;
}

/// Counts a call; gives its failure.
PJRT_Error* enter(const char* call) {
  ++counts[call];
  return take_failure(call);
}

void finish(const std::shared_ptr<State>& state, Lock& lock) {
  state->ready = true;
  auto callbacks = std::move(state->callbacks);
  became_ready.notify_all();
  lock.unlock();
  for (auto& callback : callbacks) callback();
  lock.lock();
}

// ---- types and the signature of @main -------------------------------------------------------------------------------

struct Named {
  const char* name;
  int type;
  size_t size;
};
constexpr Named kTypes[] = {
    {"i1", abi::kPred, 1},
    {"i8", abi::kS8, 1},
    {"i16", abi::kS16, 2},
    {"i32", abi::kS32, 4},
    {"i64", abi::kS64, 8},
    {"ui8", abi::kU8, 1},
    {"ui16", abi::kU16, 2},
    {"ui32", abi::kU32, 4},
    {"ui64", abi::kU64, 8},
    {"f16", abi::kF16, 2},
    {"bf16", abi::kBF16, 2},
    {"f32", abi::kF32, 4},
    {"f64", abi::kF64, 8},
    {"complex<f32>", abi::kC64, 8},
    {"complex<f64>", abi::kC128, 16},
    {"f8E4M3FN", abi::kF8E4M3FN, 1},
    {"f8E5M2", abi::kF8E5M2, 1},
    {"f8E4M3FNUZ", abi::kF8E4M3FNUZ, 1},
    {"f8E5M2FNUZ", abi::kF8E5M2FNUZ, 1},
};

size_t Shape::bytes() const {
  size_t bytes = 0;
  for (const Named& named : kTypes)
    if (named.type == type) bytes = named.size;
  for (int64_t size : dims) bytes *= static_cast<size_t>(size);
  return bytes;
}

/// `2x3xf32` of `tensor<2x3xf32>`.
bool parse_shape(const std::string& text, Shape& shape) {
  size_t at = 0;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
    size_t cross = text.find('x', at);
    if (cross == std::string::npos) return false;
    shape.dims.push_back(std::stoll(text.substr(at, cross - at)));
    at = cross + 1;
  }
  for (const Named& named : kTypes)
    if (text.substr(at) == named.name) {
      shape.type = named.type;
      return true;
    }
  return false;
}

size_t closing(const std::string& text, size_t open, char opener, char closer) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == opener;
    if (text[i] == closer && --depth == 0) return i;
  }
  return std::string::npos;
}

PJRT_Error* parse(const std::string& text, PJRT_Executable& program) {
  program.text = text;
  size_t open = text.find("@main(");
  if (open == std::string::npos) return error(abi::kInvalidArgument, "fake: the program has no @main");
  open += 5;
  size_t close = closing(text, open, '(', ')');
  if (close == std::string::npos) return error(abi::kInvalidArgument, "fake: unbalanced parentheses");
  std::string parameters = text.substr(open, close - open);
  for (size_t at = parameters.find('%'); at != std::string::npos; at = parameters.find('%', at + 1)) {
    std::string one = parameters.substr(at, parameters.find('%', at + 1) - at);
    bool is_donated =
        one.find("tf.aliasing_output") != std::string::npos || one.find("jax.buffer_donor") != std::string::npos;
    program.parameter_donated.push_back(is_donated);
    size_t type = one.find("tensor<");
    if (type == std::string::npos) continue;
    size_t last = closing(one, type + 6, '<', '>');
    Shape shape;
    if (!parse_shape(one.substr(type + 7, last - type - 7), shape)) continue;
    program.parameter_bytes += static_cast<int64_t>(shape.bytes());
    if (is_donated) program.donated_bytes += static_cast<int64_t>(shape.bytes());
  }
  size_t arrow = text.find_first_not_of(" \n", close + 1);
  if (arrow == std::string::npos || text.compare(arrow, 2, "->") != 0) return nullptr;  // no results
  size_t first = text.find_first_not_of(" \n", arrow + 2);
  bool many = first != std::string::npos && text[first] == '(';
  size_t end = many ? closing(text, first, '(', ')') : text.find('{', first);
  for (size_t at = text.find("tensor<", first); at < end; at = text.find("tensor<", at)) {
    size_t last = closing(text, at + 6, '<', '>');
    Shape shape;
    if (!parse_shape(text.substr(at + 7, last - at - 7), shape))
      return error(abi::kInvalidArgument, "fake: cannot read " + text.substr(at, last - at + 1));
    program.outputs.push_back(shape);
    at = last;
  }
  for (const Shape& shape : program.outputs) {
    program.output_types.push_back(shape.type);
    program.output_ranks.push_back(shape.dims.size());
    program.output_dims.insert(program.output_dims.end(), shape.dims.begin(), shape.dims.end());
  }
  return nullptr;
}

// ---- buffers --------------------------------------------------------------------------------------------------------

std::shared_ptr<char> allocate(size_t bytes) {
  size_t rounded = (bytes + 63) / 64 * 64 + 64;
  char* memory = static_cast<char*>(std::aligned_alloc(64, rounded));
  if (memory != nullptr) std::memset(memory, 0, rounded);
  return std::shared_ptr<char>(memory, std::free);
}

PJRT_Buffer* make_buffer(const Shape& shape, PJRT_Device* device) {
  ++counts["buffers_made"];
  auto* buffer = new PJRT_Buffer;
  buffer->shape = shape;
  buffer->device = device;
  return buffer;
}

void copy_strided(char* to, const char* from, const Shape& shape, const int64_t* strides, size_t element, size_t dim) {
  if (dim == shape.dims.size()) {
    std::memcpy(to, from, element);
    return;
  }
  size_t step = element;
  for (size_t i = dim + 1; i < shape.dims.size(); ++i) step *= static_cast<size_t>(shape.dims[i]);
  for (int64_t i = 0; i < shape.dims[dim]; ++i)
    copy_strided(to + static_cast<size_t>(i) * step, from + i * strides[dim], shape, strides, element, dim + 1);
}

PJRT_Error* buffer_from_host(abi::ClientBufferFromHost* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("buffer_from_host")) return demanded;
  Shape shape{args->type, std::vector<int64_t>(args->dims, args->dims + args->num_dims)};
  PJRT_Buffer* buffer = make_buffer(shape, args->device);
  auto done = std::make_shared<State>();
  if (args->semantics >= 2 && args->num_byte_strides == 0) {
    buffer->memory = std::shared_ptr<char>(static_cast<char*>(const_cast<void*>(args->data)), [](char*) {});
    done->ready = false;
    buffer->host_memory_free = done;
  } else {
    buffer->memory = allocate(shape.bytes());
    const char* from = static_cast<const char*>(args->data);
    if (args->num_byte_strides == 0)
      std::memcpy(buffer->memory.get(), from, shape.bytes());
    else
      copy_strided(buffer->memory.get(), from, shape, args->byte_strides, Shape{args->type, {}}.bytes(), 0);
  }
  args->buffer = buffer;
  args->done = new PJRT_Event{done};
  return nullptr;
}

PJRT_Error* buffer_destroy(abi::BufferDestroy* args) {
  Lock lock(mutex);
  ++counts["buffers_destroyed"];
  if (args->buffer->host_memory_free != nullptr) finish(args->buffer->host_memory_free, lock);
  delete args->buffer;
  return nullptr;
}

PJRT_Error* buffer_element_type(abi::BufferElementType* args) {
  args->type = args->buffer->shape.type;
  return nullptr;
}

PJRT_Error* buffer_dimensions(abi::BufferDimensions* args) {
  args->dims = args->buffer->shape.dims.data();
  args->count = args->buffer->shape.dims.size();
  return nullptr;
}

PJRT_Error* buffer_size(abi::BufferOnDeviceSize* args) {
  args->bytes = args->buffer->shape.bytes();
  return nullptr;
}

PJRT_Error* buffer_is_deleted(abi::BufferIsDeleted* args) {
  args->deleted = args->buffer->deleted;
  return nullptr;
}

PJRT_Error* deleted_error() { return error(abi::kInvalidArgument, "fake: the buffer has been deleted or donated"); }

PJRT_Error* buffer_copy_to_device(abi::BufferCopyToDevice* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("copy_to_device")) return demanded;
  if (args->buffer->deleted) return deleted_error();
  PJRT_Buffer* copy = make_buffer(args->buffer->shape, args->device);
  copy->memory = allocate(copy->shape.bytes());
  std::memcpy(copy->memory.get(), args->buffer->memory.get(), copy->shape.bytes());
  args->copy = copy;
  return nullptr;
}

PJRT_Error* buffer_to_host(abi::BufferToHost* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("to_host")) return demanded;
  if (args->buffer->deleted) return deleted_error();
  if (args->data != nullptr) std::memcpy(args->data, args->buffer->memory.get(), args->buffer->shape.bytes());
  args->size = args->buffer->shape.bytes();
  args->event = new PJRT_Event{args->buffer->ready};
  return nullptr;
}

PJRT_Error* buffer_ready_event(abi::BufferReadyEvent* args) {
  Lock lock(mutex);
  if (args->buffer->deleted) return deleted_error();
  args->event = new PJRT_Event{args->buffer->ready};
  return nullptr;
}

PJRT_Error* buffer_unsafe_pointer(abi::BufferUnsafePointer* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("unsafe_pointer")) return demanded;
  if (args->buffer->deleted) return deleted_error();
  args->pointer = reinterpret_cast<uintptr_t>(args->buffer->memory.get());
  return nullptr;
}

PJRT_Error* buffer_increase(abi::BufferIncreaseReferences* args) {
  Lock lock(mutex);
  if (args->buffer->deleted) return deleted_error();
  ++args->buffer->references;
  return nullptr;
}

PJRT_Error* buffer_decrease(abi::BufferDecreaseReferences* args) {
  Lock lock(mutex);
  --args->buffer->references;
  return nullptr;
}

// ---- events, errors -------------------------------------------------------------------------------------------------

PJRT_Error* error_of(const State& state) { return state.code == 0 ? nullptr : error(state.code, state.message); }

PJRT_Error* event_destroy(abi::EventDestroy* args) {
  delete args->event;
  return nullptr;
}

PJRT_Error* event_is_ready(abi::EventIsReady* args) {
  Lock lock(mutex);
  args->ready = args->event->state->ready;
  return nullptr;
}

PJRT_Error* event_await(abi::EventAwait* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("await")) return demanded;
  auto state = args->event->state;
  became_ready.wait(lock, [&] { return state->ready; });
  return error_of(*state);
}

PJRT_Error* event_on_ready(abi::EventOnReady* args) {
  Lock lock(mutex);
  auto state = args->event->state;
  auto callback = [state, call = args->callback, context = args->context] { call(error_of(*state), context); };
  if (!state->ready) {
    state->callbacks.push_back(callback);
    return nullptr;
  }
  lock.unlock();
  callback();
  return nullptr;
}

void error_destroy(abi::ErrorDestroy* args) { delete args->error; }

void error_message(abi::ErrorMessage* args) {
  args->message = args->error->message.data();
  args->size = args->error->message.size();
}

PJRT_Error* error_code(abi::ErrorCode* args) {
  args->code = args->error->code;
  return nullptr;
}

// ---- plugin, client, devices ----------------------------------------------------------------------------------------

PJRT_Error* plugin_initialize(abi::PluginInitialize*) { return nullptr; }

PJRT_Error* plugin_attributes(abi::PluginAttributes* args) {
  static const int64_t version[] = {1, 13, 0};
  static const abi::NamedValue attributes[] = {
      {sizeof(abi::NamedValue), nullptr, "stablehlo_current_version", 25, abi::kInt64List, {.integers = version}, 3}};
  args->attributes = attributes;
  args->count = 1;
  return nullptr;
}

PJRT_Error* client_create(abi::ClientCreate* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("client_create")) return demanded;
  int64_t count = 1;
  for (size_t i = 0; i < args->num_options; ++i)
    if (std::string(args->options[i].name, args->options[i].name_size) == "cpu_device_count")
      count = args->options[i].integer;
  auto* client = new PJRT_Client;
  client->platform = platform;
  for (int i = 0; i < count; ++i) {
    auto device = std::make_unique<PJRT_Device>();
    device->description.id = i;
    device->description.text = "fake:" + std::to_string(i);
    client->pointers.push_back(device.get());
    client->devices.push_back(std::move(device));
  }
  args->client = client;
  return nullptr;
}

PJRT_Error* client_destroy(abi::ClientDestroy* args) {
  delete args->client;
  return nullptr;
}

template <class Args>
void give_text(Args* args, const std::string& text) {
  args->text = text.data();
  args->size = text.size();
}

PJRT_Error* client_platform_name(abi::ClientPlatformName* args) {
  give_text(args, args->client->platform);
  return nullptr;
}

PJRT_Error* client_platform_version(abi::ClientPlatformVersion* args) {
  static const std::string version = "1";
  give_text(args, version);
  return nullptr;
}

PJRT_Error* client_devices(abi::ClientAddressableDevices* args) {
  args->devices = args->client->pointers.data();
  args->count = args->client->pointers.size();
  return nullptr;
}

PJRT_Error* device_description(abi::DeviceDescription* args) {
  args->description = &args->device->description;
  return nullptr;
}

PJRT_Error* description_id(abi::DescriptionId* args) {
  args->id = args->description->id;
  return nullptr;
}

PJRT_Error* description_kind(abi::DescriptionKind* args) {
  give_text(args, args->description->kind);
  return nullptr;
}

PJRT_Error* description_to_string(abi::DescriptionToString* args) {
  give_text(args, args->description->text);
  return nullptr;
}

PJRT_Error* device_memory_stats(abi::DeviceMemoryStats* args) {
  args->bytes_in_use = 4096;
  args->peak_bytes_in_use = {8192, true};
  args->bytes_limit = {1 << 20, true};
  return nullptr;
}

// ---- executables ----------------------------------------------------------------------------------------------------

PJRT_Error* load(const std::string& text, PJRT_LoadedExecutable** executable) {
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  if (PJRT_Error* wrong = parse(text, loaded->description)) return wrong;
  ++counts["executables_made"];
  *executable = loaded.release();
  return nullptr;
}

PJRT_Error* client_compile(abi::ClientCompile* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("compile")) return demanded;
  last_program.assign(args->program->code, args->program->code_size);
  last_compile_options.assign(args->options, args->options_size);
  for (const std::string& flag : refused_flags)
    if (last_compile_options.find(flag) != std::string::npos)
      return error(abi::kInvalidArgument, "No such compile option: '" + flag + "'");
  return load(last_program, &args->executable);
}

PJRT_Error* deserialize(abi::ExecutableDeserializeAndLoad* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("deserialize")) return demanded;
  return load(std::string(args->bytes, args->size), &args->executable);
}

PJRT_Error* serialize(abi::ExecutableSerialize* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("serialize")) return demanded;
  args->bytes = args->executable->text.data();
  args->size = args->executable->text.size();
  args->owner = nullptr;
  args->owner_destroy = [](PJRT_SerializedExecutable*) {};
  return nullptr;
}

PJRT_Error* loaded_destroy(abi::LoadedExecutableDestroy* args) {
  Lock lock(mutex);
  ++counts["executables_destroyed"];
  delete args->executable;
  return nullptr;
}

PJRT_Error* executable_destroy(abi::ExecutableDestroy* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* get_executable(abi::LoadedExecutableGetExecutable* args) {
  args->executable = new PJRT_Executable(args->loaded->description);
  return nullptr;
}

PJRT_Error* num_outputs(abi::ExecutableNumOutputs* args) {
  args->count = args->executable->outputs.size();
  return nullptr;
}

PJRT_Error* output_types(abi::ExecutableOutputElementTypes* args) {
  args->types = args->executable->output_types.data();
  args->count = args->executable->output_types.size();
  return nullptr;
}

PJRT_Error* output_dimensions(abi::ExecutableOutputDimensions* args) {
  args->count = args->executable->outputs.size();
  args->dims = args->executable->output_dims.data();
  args->dim_sizes = args->executable->output_ranks.data();
  return nullptr;
}

PJRT_Error* fingerprint(abi::ExecutableFingerprint* args) {
  static const std::string text = "fake";
  give_text(args, text);
  return nullptr;
}

// ---- compiling for a topology ---------------------------------------------------------------------------------------

constexpr int64_t kCodeBytes = 4096;  // of every program

// Bytes of one device by the environment, so that a test decides what fits; none without the variable.
const char* memory_limit() { return std::getenv("FAKE_PJRT_MEMORY"); }

PJRT_Error* topology_create(abi::TopologyCreate* args) {
  std::string name(args->name, args->name_size);
  if (name.rfind("v5e:", 0) != 0) return error(abi::kInvalidArgument, "fake: Invalid TPU external name: " + name);
  auto* topology = new PJRT_TopologyDescription;
  topology->device.kind = "TPU v5 lite";
  if (memory_limit() != nullptr) {
    constexpr const char* limit = "device_memory_bytes_limit";
    topology->limit = {sizeof(abi::NamedValue), nullptr, limit, std::strlen(limit), abi::kInt64, {}, 1};
    topology->limit.integer = std::stoll(memory_limit());
  }
  args->topology = topology;
  return nullptr;
}

PJRT_Error* topology_destroy(abi::TopologyDestroy* args) {
  delete args->topology;
  return nullptr;
}

PJRT_Error* topology_descriptions(abi::TopologyDescriptions* args) {
  args->descriptions = args->topology->devices;
  args->count = 1;
  return nullptr;
}

PJRT_Error* description_attributes(abi::DescriptionAttributes* args) {
  // Only topologies have descriptions with attributes: the one that was asked for is its first member.
  auto* topology = reinterpret_cast<PJRT_TopologyDescription*>(args->description);
  args->attributes = &topology->limit;
  args->count = topology->limit.name != nullptr ? 1 : 0;
  return nullptr;
}

int64_t total_allocation(const PJRT_Executable& program) {
  auto bytes = program.parameter_bytes - program.donated_bytes;
  for (const Shape& shape : program.outputs) bytes += static_cast<int64_t>(shape.bytes());
  return bytes;
}

// A sort is refused, a logistic ends the process, rounding takes forever: real compilers do so for other reasons.
PJRT_Error* topology_compile(abi::TopologyCompile* args) {
  std::string text(args->program->code, args->program->code_size);
  if (text.find("stablehlo.logistic") != std::string::npos) std::abort();
  if (text.find("stablehlo.round_nearest_even") != std::string::npos)
    std::this_thread::sleep_for(std::chrono::hours(1));
  if (text.find("stablehlo.sort") != std::string::npos)
    return error(abi::kUnimplemented, "fake: sort is not implemented");
  auto program = std::make_unique<PJRT_Executable>();
  if (PJRT_Error* wrong = parse(text, *program)) return wrong;
  if (memory_limit() != nullptr && total_allocation(*program) + kCodeBytes > std::stoll(memory_limit()))
    return error(abi::kResourceExhausted, "fake: Ran out of memory on HBM");
  float calls = 0;  // stand for FLOPs
  for (size_t at = text.find("stablehlo."); at != std::string::npos; at = text.find("stablehlo.", at + 1)) ++calls;
  program->cost = {sizeof(abi::NamedValue), nullptr, "flops", 5, abi::kFloat, {}, 1};
  program->cost.real = calls;
  args->executable = program.release();
  return nullptr;
}

PJRT_Error* memory_stats(abi::ExecutableMemoryStats* args) {
  args->generated_code = kCodeBytes;
  args->arguments = args->executable->parameter_bytes;
  args->aliases = args->executable->donated_bytes;
  for (const Shape& shape : args->executable->outputs) args->outputs += static_cast<int64_t>(shape.bytes());
  return nullptr;
}

PJRT_Error* cost_analysis(abi::ExecutableCostAnalysis* args) {
  args->properties = &args->executable->cost;
  args->count = 1;
  return nullptr;
}

PJRT_Error* execute(abi::LoadedExecutableExecute* args) {
  Lock lock(mutex);
  if (PJRT_Error* demanded = enter("execute")) return demanded;
  const PJRT_Executable& program = args->executable->description;
  if (args->num_args != program.parameter_donated.size())
    return error(abi::kInvalidArgument, "fake: expected " + std::to_string(program.parameter_donated.size()) +
                                            " arguments, got " + std::to_string(args->num_args));
  PJRT_Buffer* const* arguments = args->argument_lists[0];
  for (size_t i = 0; i < args->num_args; ++i)
    if (arguments[i]->deleted) return deleted_error();
  std::set<int64_t> kept(args->options->non_donatable, args->options->non_donatable + args->options->num_non_donatable);
  for (size_t i = 0; i < args->num_args; ++i)
    if (program.parameter_donated[i] && kept.count(static_cast<int64_t>(i)) == 0 && arguments[i]->references == 0)
      arguments[i]->deleted = true;
  if (PJRT_Error* demanded = take_failure("late execute")) return demanded;

  auto state = std::make_shared<State>();
  if (std::unique_ptr<PJRT_Error> failure{take_failure("output")}) {
    state->code = failure->code;
    state->message = failure->message;
  }
  if (holding) {
    state->ready = false;
    held.push_back(state);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    PJRT_Buffer* output = make_buffer(program.outputs[i], args->execute_device);
    output->memory = allocate(output->shape.bytes());
    output->ready = state;
    args->output_lists[0][i] = output;
  }
  if (!program.outputs.empty()) {
    PJRT_Buffer* last = args->output_lists[0][program.outputs.size() - 1];
    std::memcpy(last->memory.get(), given.data(), std::min(given.size(), last->shape.bytes()));
  }
  given.clear();
  if (args->device_complete_events != nullptr) args->device_complete_events[0] = new PJRT_Event{state};
  return nullptr;
}

// ---- the table ------------------------------------------------------------------------------------------------------

struct Table {
  abi::Api head = {};
  void* slots[120] = {};

  Table() {
    head.struct_size = sizeof(*this);
    head.major = abi::kMajor;
    head.minor = 81;
    set(error_destroy, error_message, error_code, plugin_initialize, plugin_attributes);
    set(event_destroy, event_is_ready, event_await, event_on_ready);
    set(client_create, client_destroy, client_platform_name, client_platform_version, client_devices, client_compile);
    set(device_description, description_id, description_kind, description_to_string, device_memory_stats);
    set(buffer_from_host, buffer_destroy, buffer_element_type, buffer_dimensions, buffer_size, buffer_is_deleted);
    set(buffer_copy_to_device, buffer_to_host, buffer_ready_event, buffer_unsafe_pointer);
    set(buffer_increase, buffer_decrease);
    set(deserialize, serialize, loaded_destroy, executable_destroy, get_executable, execute);
    set(num_outputs, output_types, output_dimensions, fingerprint);
    set(topology_create, topology_destroy, topology_descriptions, description_attributes, topology_compile);
    set(memory_stats, cost_analysis);
  }

 private:
  /// The record names the slot.
  template <class... Args>
  void set(typename Args::Result (*... functions)(Args*)) {
    ((slots[(Args::kSlot - sizeof(abi::Api)) / sizeof(void*)] = reinterpret_cast<void*>(functions)), ...);
  }
};

}  // namespace

EXPORT const abi::Api* GetPjrtApi() {
  static const Table table;
  return &table.head;
}

EXPORT void fake_pjrt_hold(bool on) {
  Lock lock(mutex);
  holding = on;
  if (on) return;
  for (auto& state : std::exchange(held, {})) finish(state, lock);
}

EXPORT void fake_pjrt_reset() {
  fake_pjrt_hold(false);
  Lock lock(mutex);
  counts.clear();
  failures.clear();
  refused_flags.clear();
  given.clear();
  platform = "fake";
}

EXPORT int64_t fake_pjrt_count(const char* name) {
  Lock lock(mutex);
  return counts[name];
}

EXPORT void fake_pjrt_fail_next(const char* name, int code, const char* message, int times) {
  Lock lock(mutex);
  failures[name] = {{code, message}, times};
}

EXPORT void fake_pjrt_give_next(const void* data, size_t size) {
  Lock lock(mutex);
  given.assign(static_cast<const char*>(data), size);
}

EXPORT void fake_pjrt_set_platform(const char* name) {
  Lock lock(mutex);
  platform = name;
}

EXPORT void fake_pjrt_refuse_flag(const char* name) {
  Lock lock(mutex);
  refused_flags.insert(name);
}

EXPORT const char* fake_pjrt_last_program(size_t* size) {
  *size = last_program.size();
  return last_program.data();
}

EXPORT const char* fake_pjrt_last_compile_options(size_t* size) {
  *size = last_compile_options.size();
  return last_compile_options.data();
}
