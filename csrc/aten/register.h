// Registration of all kernels, which happens when the library is loaded.
#pragma once

namespace tpu::aten {

/// Does nothing, but whoever calls it links the registrations.
void link_kernels();

}  // namespace tpu::aten
