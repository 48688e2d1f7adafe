// Host allocator: pinned host memory. A CPU plugin reads any memory; what pinning gives is alignment for zero copy and
// an answer to `is_pinned()`.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace tpu::device {

/// The one allocator of pinned memory, aligned to 64 bytes.
at::HostAllocator& host_allocator();
/// Whether `address` lies in memory that host_allocator() handed out.
bool is_pinned(const void* address);

}  // namespace tpu::device
