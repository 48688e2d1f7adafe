// Registration of the rows; kernels that are no rows register themselves when the library is loaded.
#pragma once

namespace tpu::aten {

/// Registers a boxed kernel for every row. Called once, while the module is imported: an error becomes an ImportError,
/// not the end of the process.
void register_rows();

}  // namespace tpu::aten
