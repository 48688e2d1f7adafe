#include "engine/heap.h"

#include <cstdlib>
#include <initializer_list>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tpu::engine {

namespace {

constexpr int kLargestKept = 32 << 20;  // bytes: glibc refuses more
constexpr int kKept = 1 << 30;          // bytes at the end of each heap
constexpr int kHeap = 64 << 20;         // bytes: what glibc reserves for a heap; less is returned as a whole

}  // namespace

void keep_freed_memory() {
#ifdef __GLIBC__
  for (const char* name : {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_"})
    if (std::getenv(name) != nullptr) return;
  mallopt(M_MMAP_THRESHOLD, kLargestKept);
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_TOP_PAD, kHeap);
#endif
}

void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace tpu::engine
