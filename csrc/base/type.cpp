#include "base/type.h"

namespace tpu {

int64_t product(const Dims& dims) {
  int64_t count = 1;
  for (int64_t size : dims) count *= size;
  return count;
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * (dims[i] > 1 ? dims[i] : 1);
  return strides;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

std::string to_string(const Type& type) {
  std::string text = "tensor<";
  for (int64_t size : type.dims) text += std::to_string(size) + "x";
  return text + mlir_name(type.element) + ">";
}

}  // namespace tpu
