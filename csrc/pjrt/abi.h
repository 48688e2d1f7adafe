// The part of the PJRT C ABI that we use, declared by us: records, enum values and where each function sits in the
// table.
//
// Note [PJRT records]
// The plugin hands out one table of function pointers; it only ever grows at its end. Every function takes one record
// that begins with its own size; a plugin refuses a record *smaller* than the one it was built with and ignores a
// longer one. So each record here is sent inside a zeroed longer one (`Padded`): an older plugin ignores the tail, a
// newer one reads null and zero there, which by convention mean the default. A record names its function by the byte
// offset of the slot (`kSlot`), and a slot past the end of the plugin's table is absent. tests/cpp/pjrt_abi_test.cpp
// compares all of this with the header that a plugin package ships.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
struct PJRT_Error;
struct PJRT_Event;
struct PJRT_Client;
struct PJRT_Device;
struct PJRT_DeviceDescription;
struct PJRT_Memory;
struct PJRT_Buffer;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_SerializedExecutable;
struct PJRT_TopologyDescription;
}

namespace tpu::pjrt::abi {

inline constexpr int kMajor = 0;
inline constexpr int kOldestMinor = 57;  // the table is append-only since then

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};

/// The head of the function table; the slots follow.
struct Api {
  size_t struct_size;
  Extension* extensions;
  size_t version_size;
  Extension* version_extensions;
  int major;
  int minor;
};

using GetApi = const Api* (*)();

/// First members of every record; `Slot` is the byte offset of its function in the table.
template <size_t Slot, class Returned = PJRT_Error*>
struct Record {
  static constexpr size_t kSlot = Slot;
  using Result = Returned;
  size_t struct_size;
  Extension* extensions;
};

/// A record inside a longer zeroed one, see Note [PJRT records].
template <class Args>
struct Padded : Args {
  Padded() : Args{} { this->struct_size = sizeof(*this); }
  unsigned char tail[128] = {};
};

template <class Args>
using Function = typename Args::Result (*)(Args*);

/// The function of a record, or null if the plugin's table ends before it.
template <class Args>
Function<Args> function(const Api* api) {
  if (api->struct_size < Args::kSlot + sizeof(void*)) return nullptr;
  return *reinterpret_cast<const Function<Args>*>(reinterpret_cast<const char*>(api) + Args::kSlot);
}

// clang-format off: tables, one row per line where it fits
// ---- enumerations ------------------------------------------------------------------------------------------------

enum Code : int {
  kUnknown = 2, kInvalidArgument = 3, kNotFound = 5, kResourceExhausted = 8, kOutOfRange = 11, kUnimplemented = 12,
  kInternal = 13,
};

enum ValueKind : int { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };

enum BufferType : int {
  kInvalid = 0, kPred = 1,
  kS8 = 2, kS16 = 3, kS32 = 4, kS64 = 5, kU8 = 6, kU16 = 7, kU32 = 8, kU64 = 9,
  kF16 = 10, kF32 = 11, kF64 = 12, kBF16 = 13, kC64 = 14, kC128 = 15,
  kF8E5M2 = 16, kF8E4M3FN = 17, kF8E5M2FNUZ = 19, kF8E4M3FNUZ = 20,
};

enum LayoutKind : int { kTiled = 0, kStrides = 1 };

// ---- records that are not arguments of a function -------------------------------------------------------------------

struct NamedValue {
  size_t struct_size;
  Extension* extensions;
  const char* name;
  size_t name_size;
  int kind;  // ValueKind
  union {
    const char* text;
    int64_t integer;
    const int64_t* integers;
    float real;
    bool flag;
  };
  size_t value_size;  // characters or elements; 1 for scalars
};

struct Program {
  size_t struct_size;
  Extension* extensions;
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
};

struct Layout {
  size_t struct_size;
  Extension* extensions;
  struct Tiled {
    size_t struct_size;
    Extension* extensions;
    const int64_t* minor_to_major;
    size_t minor_to_major_size;
    const int64_t* tile_dims;
    const size_t* tile_dim_sizes;
    size_t num_tiles;
  } tiled;
  int kind;  // LayoutKind
};

struct ExecuteOptions {
  size_t struct_size;
  Extension* extensions;
  void* send_callbacks;
  void* recv_callbacks;
  size_t num_send;
  size_t num_recv;
  int launch_id;
  const int64_t* non_donatable;
  size_t num_non_donatable;
  void* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
};

// ---- errors, plugin, events -----------------------------------------------------------------------------------------

struct ErrorDestroy : Record<40, void> { PJRT_Error* error; };
struct ErrorMessage : Record<48, void> { const PJRT_Error* error; const char* message; size_t size; };
struct ErrorCode : Record<56> { const PJRT_Error* error; int code; };
struct PluginInitialize : Record<64> {};
struct PluginAttributes : Record<72> { const NamedValue* attributes; size_t count; };
struct EventDestroy : Record<80> { PJRT_Event* event; };
struct EventIsReady : Record<88> { PJRT_Event* event; bool ready; };
struct EventAwait : Record<104> { PJRT_Event* event; };
struct EventOnReady : Record<112> {
  PJRT_Event* event;
  void (*callback)(PJRT_Error*, void*);  // owns the error
  void* context;
};

// ---- client ---------------------------------------------------------------------------------------------------------

struct ClientCreate : Record<120> {
  const NamedValue* options;
  size_t num_options;
  void* kv_get;
  void* kv_get_context;
  void* kv_put;
  void* kv_put_context;
  PJRT_Client* client;
  void* kv_try_get;
  void* kv_try_get_context;
};
struct ClientDestroy : Record<128> { PJRT_Client* client; };
struct ClientPlatformName : Record<136> { PJRT_Client* client; const char* text; size_t size; };
struct ClientPlatformVersion : Record<152> { PJRT_Client* client; const char* text; size_t size; };
struct ClientAddressableDevices : Record<168> { PJRT_Client* client; PJRT_Device* const* devices; size_t count; };
struct ClientCompile : Record<200> {
  PJRT_Client* client;
  const Program* program;
  const char* options;
  size_t options_size;
  PJRT_LoadedExecutable* executable;
};
struct ClientBufferFromHost : Record<216> {
  PJRT_Client* client;
  const void* data;
  int type;  // BufferType
  const int64_t* dims;
  size_t num_dims;
  const int64_t* byte_strides;
  size_t num_byte_strides;
  int semantics;  // HostSemantics
  PJRT_Device* device;
  PJRT_Memory* memory;
  Layout* layout;
  PJRT_Event* done;
  PJRT_Buffer* buffer;
};

// ---- devices --------------------------------------------------------------------------------------------------------

struct DescriptionAttributes : Record<240> {
  PJRT_DeviceDescription* description;
  size_t count;
  const NamedValue* attributes;
};
struct DescriptionId : Record<224> { PJRT_DeviceDescription* description; int id; };
struct DescriptionKind : Record<248> { PJRT_DeviceDescription* description; const char* text; size_t size; };
struct DescriptionToString : Record<264> { PJRT_DeviceDescription* description; const char* text; size_t size; };
struct DeviceDescription : Record<272> { PJRT_Device* device; PJRT_DeviceDescription* description; };
struct DeviceMemoryStats : Record<312> {
  struct Number {  // an optional one
    int64_t value;
    bool is_set;
  };
  PJRT_Device* device;
  int64_t bytes_in_use;
  Number peak_bytes_in_use, num_allocs, largest_alloc, bytes_limit, bytes_reserved, peak_bytes_reserved,
      bytes_reservable_limit, largest_free_block, pool_bytes, peak_pool_bytes;
};

// ---- executables ----------------------------------------------------------------------------------------------------

struct ExecutableDestroy : Record<360> { PJRT_Executable* executable; };
struct ExecutableNumOutputs : Record<392> { PJRT_Executable* executable; size_t count; };
struct ExecutableCodeBytes : Record<400> { PJRT_Executable* executable; int64_t bytes; };
struct ExecutableCostAnalysis : Record<408> { PJRT_Executable* executable; size_t count; const NamedValue* properties; };
struct ExecutableSerialize : Record<432> {
  const PJRT_Executable* executable;
  const char* bytes;
  size_t size;
  PJRT_SerializedExecutable* owner;
  void (*owner_destroy)(PJRT_SerializedExecutable*);
};
struct LoadedExecutableDestroy : Record<440> { PJRT_LoadedExecutable* executable; };
struct LoadedExecutableGetExecutable : Record<448> { PJRT_LoadedExecutable* loaded; PJRT_Executable* executable; };
struct LoadedExecutableExecute : Record<480> {
  PJRT_LoadedExecutable* executable;
  ExecuteOptions* options;
  PJRT_Buffer* const* const* argument_lists;
  size_t num_devices;
  size_t num_args;
  PJRT_Buffer** const* output_lists;
  PJRT_Event** device_complete_events;
  PJRT_Device* execute_device;
};
struct ExecutableDeserializeAndLoad : Record<488> {
  PJRT_Client* client;
  const char* bytes;
  size_t size;
  PJRT_LoadedExecutable* executable;
  const char* options;
  size_t options_size;
};
struct ExecutableOutputElementTypes : Record<760> { PJRT_Executable* executable; int* types; size_t count; };
struct ExecutableOutputDimensions : Record<768> {
  PJRT_Executable* executable;
  size_t count;
  const int64_t* dims;      // of all outputs, one after another
  const size_t* dim_sizes;  // rank of each output
};
struct ExecutableFingerprint : Record<792> { PJRT_Executable* executable; const char* text; size_t size; };
struct ExecutableMemoryStats : Record<808> {
  PJRT_Executable* executable;
  int64_t generated_code, arguments, outputs, aliases, temporaries;
  int64_t host_generated_code, host_arguments, host_outputs, host_aliases, host_temporaries;
  int64_t peak, total_size, total_allocation;  // later additions; libtpu 0.0.52 has them all
};

// ---- topologies: compiling for devices that are not here -----------------------------------------------------------

struct TopologyCreate : Record<696> {
  const char* name;
  size_t name_size;
  const NamedValue* options;
  size_t num_options;
  PJRT_TopologyDescription* topology;
};
struct TopologyDestroy : Record<704> { PJRT_TopologyDescription* topology; };
struct TopologyDescriptions : Record<728> {
  const PJRT_TopologyDescription* topology;
  PJRT_DeviceDescription* const* descriptions;
  size_t count;
};
struct TopologyAttributes : Record<744> {
  PJRT_TopologyDescription* topology;
  const NamedValue* attributes;
  size_t count;
};
struct TopologyCompile : Record<752> {
  const PJRT_TopologyDescription* topology;
  const Program* program;
  const char* options;
  size_t options_size;
  PJRT_Client* client;
  PJRT_Executable* executable;
};

// ---- buffers --------------------------------------------------------------------------------------------------------

struct BufferDestroy : Record<504> { PJRT_Buffer* buffer; };
struct BufferElementType : Record<512> { PJRT_Buffer* buffer; int type; };
struct BufferDimensions : Record<520> { PJRT_Buffer* buffer; const int64_t* dims; size_t count; };
struct BufferOnDeviceSize : Record<552> { PJRT_Buffer* buffer; size_t bytes; };
struct BufferIsDeleted : Record<584> { PJRT_Buffer* buffer; bool deleted; };
struct BufferCopyToDevice : Record<592> { PJRT_Buffer* buffer; PJRT_Device* device; PJRT_Buffer* copy; };
struct BufferToHost : Record<600> {
  PJRT_Buffer* buffer;
  Layout* layout;
  void* data;  // null asks for the size
  size_t size;
  PJRT_Event* event;
};
struct BufferReadyEvent : Record<616> { PJRT_Buffer* buffer; PJRT_Event* event; };
struct BufferUnsafePointer : Record<624> { PJRT_Buffer* buffer; uintptr_t pointer; };
struct BufferIncreaseReferences : Record<632> { PJRT_Buffer* buffer; };
struct BufferDecreaseReferences : Record<640> { PJRT_Buffer* buffer; };

// clang-format on

}  // namespace tpu::pjrt::abi
