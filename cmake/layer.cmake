# layer(<folder> [DEPENDS <lower layer>...] [TORCH]): object library tpu_<folder> from csrc/<folder>/*.cpp.
#
# Object libraries, not archives: the linker drops an archive member that nothing names, and with it the static
# registrations (TORCH_LIBRARY_IMPL, op tables) that it holds. Whoever links, links every layer: ${LAYERS}, or
# ${PLAIN_LAYERS} for those without torch.
function(layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "DEPENDS")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/csrc/${name}/*.cpp)
  if(NOT sources OR (arg_TORCH AND NOT TORCH_TPU_WITH_TORCH))
    return()
  endif()
  add_library(tpu_${name} OBJECT ${sources})
  target_include_directories(tpu_${name} PUBLIC ${PROJECT_SOURCE_DIR}/csrc)
  target_compile_options(tpu_${name} PRIVATE -Wall -Wextra
    $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)  # wheels name no folder; elsewhere it would defeat ccache
  foreach(lower IN LISTS arg_DEPENDS)
    if(TARGET tpu_${lower})
      target_link_libraries(tpu_${name} PUBLIC tpu_${lower})
    endif()
  endforeach()
  if(arg_TORCH)
    target_link_libraries(tpu_${name} PUBLIC torch_headers)
    # To read torch's headers takes 8 of a file's 10 seconds: several files share one reading.
    set_target_properties(tpu_${name} PROPERTIES UNITY_BUILD ${TORCH_TPU_UNITY} UNITY_BUILD_BATCH_SIZE 6)
    target_compile_options(tpu_${name} PRIVATE -Wno-subobject-linkage)  # it takes the files of a batch for headers
  else()
    set(PLAIN_LAYERS ${PLAIN_LAYERS} tpu_${name} PARENT_SCOPE)
  endif()
  set(LAYERS ${LAYERS} tpu_${name} PARENT_SCOPE)
endfunction()
