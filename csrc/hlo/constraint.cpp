#include "hlo/constraint.h"

namespace tpu::hlo {

const char* name_of(Kinds kinds) {
  switch (static_cast<unsigned>(kinds)) {
    case kPred: return "a pred tensor";
    case kInteger: return "an integer tensor";
    case kLogical: return "a pred or integer tensor";
    case kFloat: return "a floating-point tensor";
    case kComplex: return "a complex tensor";
    case kInexact: return "a floating-point or complex tensor";
    case kNumber: return "an integer or floating-point tensor";
    case kArithmetic: return "an integer, floating-point or complex tensor";
    case kSigned | kFloat | kComplex: return "a signed integer, floating-point or complex tensor";
    case kPred | kNumber: return "a pred, integer or floating-point tensor";
    default: return "another element type";
  }
}

void require_distinct_dims(std::string_view op, const char* what, const Dims& dims, int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    require_dim(op, what, dims[i], rank);
    for (size_t j = 0; j < i; ++j) require(dims[i] != dims[j], op, "expected distinct ", what, ", got ", show(dims));
  }
}

void require_types(std::string_view op, const char* what, const Values& returned, std::span<const Type> expected) {
  require(returned.size() == expected.size(), op, "expected ", expected.size(), " results of ", what, ", got ",
          returned.size());
  for (size_t i = 0; i < returned.size(); ++i) {
    require_value(op, returned[i]);
    require(returned[i].type == expected[i], op, "expected result ", i, " of ", what, " to be ", show(expected[i]),
            ", got ", show(returned[i]));
  }
}

}  // namespace tpu::hlo
