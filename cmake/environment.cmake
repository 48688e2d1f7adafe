# What the build takes from the machine. In: Python_EXECUTABLE or Python_ROOT_DIR (the presets name .venv). Out:
#   TORCH_TPU_WITH_TORCH, targets torch_headers and torch_libraries
#   XLA_CPU_PJRT_PATH, TORCH_TPU_PJRT_HEADER_DIR    the package xla-cpu-pjrt (empty when it is not installed)
#   CMAKE_CXX_COMPILER_LAUNCHER                     ccache, when there is one

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)

# Folder of an importable package, found without importing it (importing torch takes seconds).
function(package_folder name result)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "import importlib.util as u; print(list(u.find_spec('${name}').submodule_search_locations)[0])"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# --- torch: targets made by hand. find_package(Torch) works only for a CPU wheel: for the wheel that PyPI gives by
# default it demands the CUDA toolkit, which nothing here needs.
package_folder(torch torch_folder)
if(NOT DEFINED TORCH_TPU_WITH_TORCH)
  string(COMPARE NOTEQUAL "${torch_folder}" "" TORCH_TPU_WITH_TORCH)
endif()
if(TORCH_TPU_WITH_TORCH)
  if(NOT torch_folder)
    message(FATAL_ERROR "torch is not installed for ${Python_EXECUTABLE}. Run `make setup`, or pass "
                        "-DPython_EXECUTABLE=..., or -DTORCH_TPU_WITH_TORCH=OFF for the layers that do not need it.")
  endif()
  if(NOT Python_Development.Module_FOUND)
    message(FATAL_ERROR "No Python.h for ${Python_EXECUTABLE}. On Debian and Ubuntu: apt-get install python3-dev")
  endif()
  add_library(torch_headers INTERFACE)
  target_include_directories(torch_headers SYSTEM INTERFACE
    ${torch_folder}/include ${torch_folder}/include/torch/csrc/api/include)
  target_link_libraries(torch_headers INTERFACE Python::Module)
  add_library(torch_libraries INTERFACE)
  foreach(name c10 torch_cpu torch torch_python)
    target_link_libraries(torch_libraries INTERFACE ${torch_folder}/lib/lib${name}.so)
  endforeach()
endif()

# --- the CPU plugin: its header for the ABI test, its library for tests that run something
package_folder(xla_plugins.xla_cpu_pjrt plugin_folder)
if(plugin_folder)
  set(XLA_CPU_PJRT_PATH ${plugin_folder}/xla_cpu_pjrt.so)
  set(TORCH_TPU_PJRT_HEADER_DIR ${plugin_folder}/include)
endif()

# --- ccache: paths relative to the source folder, so that a clone elsewhere (CI, a worktree) hits the same cache
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE} base_dir=${PROJECT_SOURCE_DIR} hash_dir=false)
endif()

message(STATUS "Python ${Python_VERSION} (${Python_EXECUTABLE}), torch: ${TORCH_TPU_WITH_TORCH} ${torch_folder}")
message(STATUS "CPU plugin: ${XLA_CPU_PJRT_PATH}, ccache: ${CCACHE}")
