// Our declarations of the PJRT C ABI against the header that the package xla-cpu-pjrt ships.
#include <gtest/gtest.h>

#include "pjrt/abi.h"
#include "pjrt/buffer.h"

#if __has_include(<pjrt_c_api.h>)
#include <pjrt_c_api.h>

namespace tpu::pjrt {  // so that `abi` is ours: <cxxabi.h> has a global one
namespace {

template <class Struct, class Field>
size_t offset(Field Struct::* field) {
  alignas(Struct) static unsigned char storage[sizeof(Struct)] = {};
  auto* object = reinterpret_cast<Struct*>(storage);
  return static_cast<size_t>(reinterpret_cast<unsigned char*>(&(object->*field)) - storage);
}

template <class Struct, class Base, class Field>
size_t offset_in(Field Base::* field) {
  return offset(static_cast<Field Struct::*>(field));
}

/// The same place, and the same size.
#define SAME_FIELD(Ours, our_field, Theirs, their_field)                                       \
  EXPECT_EQ(offset(&Ours::our_field), offsetof(Theirs, their_field)) << #Ours "::" #our_field; \
  EXPECT_EQ(sizeof(Ours::our_field), sizeof(Theirs::their_field)) << #Ours "::" #our_field

/// The record's function sits where the header has it, and the record ends where the header's ends (or is a prefix).
#define SAME_RECORD(Ours, Function)                                          \
  EXPECT_EQ(abi::Ours::kSlot, offsetof(PJRT_Api, PJRT_##Function)) << #Ours; \
  EXPECT_EQ((offset_in<abi::Ours>(&abi::Ours::extensions)), 8u);             \
  EXPECT_GE(sizeof(abi::Padded<abi::Ours>), size_t{PJRT_##Function##_Args_STRUCT_SIZE}) << #Ours

#define SAME_SIZE(Ours, Theirs) EXPECT_EQ(sizeof(Ours), sizeof(Theirs)) << #Ours

TEST(PjrtAbi, Table) {
  SAME_FIELD(abi::Api, struct_size, PJRT_Api, struct_size);
  SAME_FIELD(abi::Api, extensions, PJRT_Api, extension_start);
  EXPECT_EQ(offset(&abi::Api::major), offsetof(PJRT_Api, pjrt_api_version.major_version));
  EXPECT_EQ(offset(&abi::Api::minor), offsetof(PJRT_Api, pjrt_api_version.minor_version));
  EXPECT_EQ(sizeof(abi::Api), offsetof(PJRT_Api, PJRT_Error_Destroy));
  SAME_FIELD(abi::Extension, type, PJRT_Extension_Base, type);
  SAME_FIELD(abi::Extension, next, PJRT_Extension_Base, next);
  EXPECT_EQ(abi::kMajor, PJRT_API_MAJOR);
}

// ---- one row per record: ours, the header's name -------------------------------------------------------------------

#define RECORD(Ours, Function)                    \
  TEST(PjrtAbi, Ours) {                           \
    SAME_RECORD(Ours, Function);                  \
    SAME_SIZE(abi::Ours, PJRT_##Function##_Args); \
  }

RECORD(ErrorDestroy, Error_Destroy)
RECORD(ErrorMessage, Error_Message)
RECORD(ErrorCode, Error_GetCode)
RECORD(PluginInitialize, Plugin_Initialize)
RECORD(PluginAttributes, Plugin_Attributes)
RECORD(EventDestroy, Event_Destroy)
RECORD(EventIsReady, Event_IsReady)
RECORD(EventAwait, Event_Await)
RECORD(EventOnReady, Event_OnReady)
RECORD(ClientCreate, Client_Create)
RECORD(ClientDestroy, Client_Destroy)
RECORD(ClientPlatformName, Client_PlatformName)
RECORD(ClientPlatformVersion, Client_PlatformVersion)
RECORD(ClientAddressableDevices, Client_AddressableDevices)
RECORD(ClientCompile, Client_Compile)
RECORD(ClientBufferFromHost, Client_BufferFromHostBuffer)
RECORD(DescriptionId, DeviceDescription_Id)
RECORD(DescriptionKind, DeviceDescription_Kind)
RECORD(DescriptionToString, DeviceDescription_ToString)
RECORD(DeviceDescription, Device_GetDescription)
RECORD(DeviceMemoryStats, Device_MemoryStats)
RECORD(ExecutableDestroy, Executable_Destroy)
RECORD(ExecutableNumOutputs, Executable_NumOutputs)
RECORD(ExecutableSerialize, Executable_Serialize)
RECORD(LoadedExecutableDestroy, LoadedExecutable_Destroy)
RECORD(LoadedExecutableGetExecutable, LoadedExecutable_GetExecutable)
RECORD(LoadedExecutableExecute, LoadedExecutable_Execute)
RECORD(ExecutableDeserializeAndLoad, Executable_DeserializeAndLoad)
RECORD(ExecutableOutputElementTypes, Executable_OutputElementTypes)
RECORD(ExecutableOutputDimensions, Executable_OutputDimensions)
RECORD(ExecutableFingerprint, Executable_Fingerprint)
RECORD(ExecutableCodeBytes, Executable_SizeOfGeneratedCodeInBytes)
RECORD(ExecutableCostAnalysis, Executable_GetCostAnalysis)
RECORD(DescriptionAttributes, DeviceDescription_Attributes)
RECORD(TopologyCreate, TopologyDescription_Create)
RECORD(TopologyDestroy, TopologyDescription_Destroy)
RECORD(TopologyDescriptions, TopologyDescription_GetDeviceDescriptions)
RECORD(TopologyAttributes, TopologyDescription_Attributes)
RECORD(TopologyCompile, Compile)
RECORD(BufferDestroy, Buffer_Destroy)
RECORD(BufferElementType, Buffer_ElementType)
RECORD(BufferDimensions, Buffer_Dimensions)
RECORD(BufferOnDeviceSize, Buffer_OnDeviceSizeInBytes)
RECORD(BufferIsDeleted, Buffer_IsDeleted)
RECORD(BufferCopyToDevice, Buffer_CopyToDevice)
RECORD(BufferToHost, Buffer_ToHostBuffer)
RECORD(BufferReadyEvent, Buffer_ReadyEvent)
RECORD(BufferUnsafePointer, Buffer_UnsafePointer)
RECORD(BufferIncreaseReferences, Buffer_IncreaseExternalReferenceCount)
RECORD(BufferDecreaseReferences, Buffer_DecreaseExternalReferenceCount)

TEST(PjrtAbi, ExecutableMemoryStats) {
  SAME_RECORD(ExecutableMemoryStats, Executable_GetCompiledMemoryStats);  // grew later; ours is a prefix
  EXPECT_EQ(offset(&abi::ExecutableMemoryStats::temporaries),
            offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, temp_size_in_bytes));
  EXPECT_EQ(offset(&abi::ExecutableMemoryStats::peak),
            offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, peak_memory_in_bytes));
}

// ---- fields whose place is not fixed by the record's size -----------------------------------------------------------

#define FIELD(Ours, our_field, Theirs, their_field) SAME_FIELD(abi::Ours, our_field, PJRT_##Theirs, their_field)

TEST(PjrtAbi, Fields) {
  FIELD(ErrorMessage, message, Error_Message_Args, message);
  FIELD(ErrorMessage, size, Error_Message_Args, message_size);
  FIELD(ErrorCode, code, Error_GetCode_Args, code);
  FIELD(PluginAttributes, attributes, Plugin_Attributes_Args, attributes);
  FIELD(PluginAttributes, count, Plugin_Attributes_Args, num_attributes);
  FIELD(EventIsReady, ready, Event_IsReady_Args, is_ready);
  FIELD(EventOnReady, callback, Event_OnReady_Args, callback);
  FIELD(EventOnReady, context, Event_OnReady_Args, user_arg);
  FIELD(ClientCreate, options, Client_Create_Args, create_options);
  FIELD(ClientCreate, num_options, Client_Create_Args, num_options);
  FIELD(ClientCreate, client, Client_Create_Args, client);
  FIELD(ClientAddressableDevices, devices, Client_AddressableDevices_Args, addressable_devices);
  FIELD(ClientAddressableDevices, count, Client_AddressableDevices_Args, num_addressable_devices);
  FIELD(ClientCompile, program, Client_Compile_Args, program);
  FIELD(ClientCompile, options, Client_Compile_Args, compile_options);
  FIELD(ClientCompile, options_size, Client_Compile_Args, compile_options_size);
  FIELD(ClientCompile, executable, Client_Compile_Args, executable);
  FIELD(ClientBufferFromHost, data, Client_BufferFromHostBuffer_Args, data);
  FIELD(ClientBufferFromHost, type, Client_BufferFromHostBuffer_Args, type);
  FIELD(ClientBufferFromHost, dims, Client_BufferFromHostBuffer_Args, dims);
  FIELD(ClientBufferFromHost, num_dims, Client_BufferFromHostBuffer_Args, num_dims);
  FIELD(ClientBufferFromHost, byte_strides, Client_BufferFromHostBuffer_Args, byte_strides);
  FIELD(ClientBufferFromHost, num_byte_strides, Client_BufferFromHostBuffer_Args, num_byte_strides);
  FIELD(ClientBufferFromHost, semantics, Client_BufferFromHostBuffer_Args, host_buffer_semantics);
  FIELD(ClientBufferFromHost, device, Client_BufferFromHostBuffer_Args, device);
  FIELD(ClientBufferFromHost, memory, Client_BufferFromHostBuffer_Args, memory);
  FIELD(ClientBufferFromHost, layout, Client_BufferFromHostBuffer_Args, device_layout);
  FIELD(ClientBufferFromHost, done, Client_BufferFromHostBuffer_Args, done_with_host_buffer);
  FIELD(ClientBufferFromHost, buffer, Client_BufferFromHostBuffer_Args, buffer);
  FIELD(DescriptionId, id, DeviceDescription_Id_Args, id);
  FIELD(DeviceMemoryStats, bytes_in_use, Device_MemoryStats_Args, bytes_in_use);
  EXPECT_EQ(offset(&abi::DeviceMemoryStats::bytes_limit), offsetof(PJRT_Device_MemoryStats_Args, bytes_limit));
  EXPECT_EQ(offset(&abi::DeviceMemoryStats::largest_alloc), offsetof(PJRT_Device_MemoryStats_Args, largest_alloc_size));
  EXPECT_EQ(offset(&abi::DeviceMemoryStats::peak_pool_bytes), offsetof(PJRT_Device_MemoryStats_Args, peak_pool_bytes));
  FIELD(DescriptionAttributes, attributes, DeviceDescription_Attributes_Args, attributes);
  FIELD(DescriptionAttributes, count, DeviceDescription_Attributes_Args, num_attributes);
  FIELD(TopologyCreate, name, TopologyDescription_Create_Args, topology_name);
  FIELD(TopologyCreate, options, TopologyDescription_Create_Args, create_options);
  FIELD(TopologyCreate, num_options, TopologyDescription_Create_Args, num_options);
  FIELD(TopologyCreate, topology, TopologyDescription_Create_Args, topology);
  FIELD(TopologyDescriptions, descriptions, TopologyDescription_GetDeviceDescriptions_Args, descriptions);
  FIELD(TopologyDescriptions, count, TopologyDescription_GetDeviceDescriptions_Args, num_descriptions);
  FIELD(TopologyAttributes, attributes, TopologyDescription_Attributes_Args, attributes);
  FIELD(TopologyAttributes, count, TopologyDescription_Attributes_Args, num_attributes);
  FIELD(TopologyCompile, program, Compile_Args, program);
  FIELD(TopologyCompile, options, Compile_Args, compile_options);
  FIELD(TopologyCompile, options_size, Compile_Args, compile_options_size);
  FIELD(TopologyCompile, executable, Compile_Args, executable);
  FIELD(ExecutableCostAnalysis, count, Executable_GetCostAnalysis_Args, num_properties);
  FIELD(ExecutableCostAnalysis, properties, Executable_GetCostAnalysis_Args, properties);
  FIELD(ExecutableCodeBytes, bytes, Executable_SizeOfGeneratedCodeInBytes_Args, size_in_bytes);
  FIELD(ExecutableSerialize, bytes, Executable_Serialize_Args, serialized_bytes);
  FIELD(ExecutableSerialize, size, Executable_Serialize_Args, serialized_bytes_size);
  FIELD(ExecutableSerialize, owner, Executable_Serialize_Args, serialized_executable);
  FIELD(ExecutableSerialize, owner_destroy, Executable_Serialize_Args, serialized_executable_deleter);
  FIELD(LoadedExecutableExecute, options, LoadedExecutable_Execute_Args, options);
  FIELD(LoadedExecutableExecute, argument_lists, LoadedExecutable_Execute_Args, argument_lists);
  FIELD(LoadedExecutableExecute, num_devices, LoadedExecutable_Execute_Args, num_devices);
  FIELD(LoadedExecutableExecute, num_args, LoadedExecutable_Execute_Args, num_args);
  FIELD(LoadedExecutableExecute, output_lists, LoadedExecutable_Execute_Args, output_lists);
  FIELD(LoadedExecutableExecute, device_complete_events, LoadedExecutable_Execute_Args, device_complete_events);
  FIELD(LoadedExecutableExecute, execute_device, LoadedExecutable_Execute_Args, execute_device);
  FIELD(ExecutableDeserializeAndLoad, bytes, Executable_DeserializeAndLoad_Args, serialized_executable);
  FIELD(ExecutableDeserializeAndLoad, executable, Executable_DeserializeAndLoad_Args, loaded_executable);
  FIELD(ExecutableOutputElementTypes, types, Executable_OutputElementTypes_Args, output_types);
  FIELD(ExecutableOutputElementTypes, count, Executable_OutputElementTypes_Args, num_output_types);
  FIELD(ExecutableOutputDimensions, count, Executable_OutputDimensions_Args, num_outputs);
  FIELD(ExecutableOutputDimensions, dims, Executable_OutputDimensions_Args, dims);
  FIELD(ExecutableOutputDimensions, dim_sizes, Executable_OutputDimensions_Args, dim_sizes);
  FIELD(BufferElementType, type, Buffer_ElementType_Args, type);
  FIELD(BufferDimensions, dims, Buffer_Dimensions_Args, dims);
  FIELD(BufferDimensions, count, Buffer_Dimensions_Args, num_dims);
  FIELD(BufferOnDeviceSize, bytes, Buffer_OnDeviceSizeInBytes_Args, on_device_size_in_bytes);
  FIELD(BufferIsDeleted, deleted, Buffer_IsDeleted_Args, is_deleted);
  FIELD(BufferCopyToDevice, device, Buffer_CopyToDevice_Args, dst_device);
  FIELD(BufferCopyToDevice, copy, Buffer_CopyToDevice_Args, dst_buffer);
  FIELD(BufferToHost, layout, Buffer_ToHostBuffer_Args, host_layout);
  FIELD(BufferToHost, data, Buffer_ToHostBuffer_Args, dst);
  FIELD(BufferToHost, size, Buffer_ToHostBuffer_Args, dst_size);
  FIELD(BufferToHost, event, Buffer_ToHostBuffer_Args, event);
  FIELD(BufferUnsafePointer, pointer, Buffer_UnsafePointer_Args, buffer_pointer);
}

TEST(PjrtAbi, OtherRecords) {
  SAME_SIZE(abi::NamedValue, PJRT_NamedValue);
  FIELD(NamedValue, name, NamedValue, name);
  FIELD(NamedValue, kind, NamedValue, type);
  FIELD(NamedValue, integer, NamedValue, int64_value);
  FIELD(NamedValue, value_size, NamedValue, value_size);
  SAME_SIZE(abi::Program, PJRT_Program);
  FIELD(Program, code, Program, code);
  FIELD(Program, format, Program, format);
  SAME_SIZE(abi::Layout, PJRT_Buffer_MemoryLayout);
  FIELD(Layout, tiled, Buffer_MemoryLayout, tiled);
  FIELD(Layout, kind, Buffer_MemoryLayout, type);
  FIELD(Layout::Tiled, minor_to_major, Buffer_MemoryLayout_Tiled, minor_to_major);
  FIELD(Layout::Tiled, minor_to_major_size, Buffer_MemoryLayout_Tiled, minor_to_major_size);
  FIELD(Layout::Tiled, num_tiles, Buffer_MemoryLayout_Tiled, num_tiles);
  SAME_SIZE(abi::ExecuteOptions, PJRT_ExecuteOptions);
  FIELD(ExecuteOptions, launch_id, ExecuteOptions, launch_id);
  FIELD(ExecuteOptions, non_donatable, ExecuteOptions, non_donatable_input_indices);
  FIELD(ExecuteOptions, num_non_donatable, ExecuteOptions, num_non_donatable_input_indices);
  FIELD(ExecuteOptions, context, ExecuteOptions, context);
  FIELD(ExecuteOptions, call_location, ExecuteOptions, call_location);
}

TEST(PjrtAbi, Enumerations) {
  EXPECT_EQ(abi::kUnknown, PJRT_Error_Code_UNKNOWN);
  EXPECT_EQ(abi::kInvalidArgument, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_EQ(abi::kNotFound, PJRT_Error_Code_NOT_FOUND);
  EXPECT_EQ(abi::kResourceExhausted, PJRT_Error_Code_RESOURCE_EXHAUSTED);
  EXPECT_EQ(abi::kUnimplemented, PJRT_Error_Code_UNIMPLEMENTED);
  EXPECT_EQ(abi::kInternal, PJRT_Error_Code_INTERNAL);
  EXPECT_EQ(abi::kString, PJRT_NamedValue_kString);
  EXPECT_EQ(abi::kInt64, PJRT_NamedValue_kInt64);
  EXPECT_EQ(abi::kInt64List, PJRT_NamedValue_kInt64List);
  EXPECT_EQ(abi::kFloat, PJRT_NamedValue_kFloat);
  EXPECT_EQ(abi::kBool, PJRT_NamedValue_kBool);
  EXPECT_EQ(abi::kTiled, PJRT_Buffer_MemoryLayout_Type_Tiled);
  EXPECT_EQ(abi::kStrides, PJRT_Buffer_MemoryLayout_Type_Strides);
  EXPECT_EQ(static_cast<int>(HostSemantics::CopyDuringCall), PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
  EXPECT_EQ(static_cast<int>(HostSemantics::UntilTransferCompletes),
            PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes);
  EXPECT_EQ(static_cast<int>(HostSemantics::ZeroCopyReadOnly), PJRT_HostBufferSemantics_kImmutableZeroCopy);
  EXPECT_EQ(static_cast<int>(HostSemantics::ZeroCopyMutable), PJRT_HostBufferSemantics_kMutableZeroCopy);
}

TEST(PjrtAbi, ElementTypes) {
  const std::pair<tpu::ElementType, PJRT_Buffer_Type> pairs[] = {
      {tpu::ElementType::Pred, PJRT_Buffer_Type_PRED},
      {tpu::ElementType::S8, PJRT_Buffer_Type_S8},
      {tpu::ElementType::S16, PJRT_Buffer_Type_S16},
      {tpu::ElementType::S32, PJRT_Buffer_Type_S32},
      {tpu::ElementType::S64, PJRT_Buffer_Type_S64},
      {tpu::ElementType::U8, PJRT_Buffer_Type_U8},
      {tpu::ElementType::U16, PJRT_Buffer_Type_U16},
      {tpu::ElementType::U32, PJRT_Buffer_Type_U32},
      {tpu::ElementType::U64, PJRT_Buffer_Type_U64},
      {tpu::ElementType::F16, PJRT_Buffer_Type_F16},
      {tpu::ElementType::BF16, PJRT_Buffer_Type_BF16},
      {tpu::ElementType::F32, PJRT_Buffer_Type_F32},
      {tpu::ElementType::F64, PJRT_Buffer_Type_F64},
      {tpu::ElementType::C64, PJRT_Buffer_Type_C64},
      {tpu::ElementType::C128, PJRT_Buffer_Type_C128},
      {tpu::ElementType::F8E4M3FN, PJRT_Buffer_Type_F8E4M3FN},
      {tpu::ElementType::F8E5M2, PJRT_Buffer_Type_F8E5M2},
      {tpu::ElementType::F8E4M3FNUZ, PJRT_Buffer_Type_F8E4M3FNUZ},
      {tpu::ElementType::F8E5M2FNUZ, PJRT_Buffer_Type_F8E5M2FNUZ}};
  EXPECT_EQ(std::size(pairs), static_cast<size_t>(tpu::kElementTypeCount));
  for (auto [ours, theirs] : pairs) {
    EXPECT_EQ(buffer_type(ours), theirs) << tpu::mlir_name(ours);
    EXPECT_EQ(element_type(theirs), ours) << tpu::mlir_name(ours);
  }
}

}  // namespace
}  // namespace tpu::pjrt

#else

TEST(PjrtAbi, Header) {
  GTEST_SKIP() << "pjrt_c_api.h was not found when this was built: install xla-cpu-pjrt and configure again";
}

#endif
