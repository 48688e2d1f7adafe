#include "aten/types.h"

namespace tpu::aten {

ElementType element_of(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Bool: return ElementType::Pred;
    case c10::ScalarType::Byte: return ElementType::U8;
    case c10::ScalarType::Char: return ElementType::S8;
    case c10::ScalarType::Short: return ElementType::S16;
    case c10::ScalarType::Int: return ElementType::S32;
    case c10::ScalarType::Long: return ElementType::S64;
    case c10::ScalarType::UInt16: return ElementType::U16;
    case c10::ScalarType::UInt32: return ElementType::U32;
    case c10::ScalarType::UInt64: return ElementType::U64;
    case c10::ScalarType::Half: return ElementType::F16;
    case c10::ScalarType::BFloat16: return ElementType::BF16;
    case c10::ScalarType::Float: return ElementType::F32;
    case c10::ScalarType::Double: return ElementType::F64;
    case c10::ScalarType::ComplexFloat: return ElementType::C64;
    case c10::ScalarType::ComplexDouble: return ElementType::C128;
    case c10::ScalarType::Float8_e4m3fn: return ElementType::F8E4M3FN;
    case c10::ScalarType::Float8_e5m2: return ElementType::F8E5M2;
    case c10::ScalarType::Float8_e4m3fnuz: return ElementType::F8E4M3FNUZ;
    case c10::ScalarType::Float8_e5m2fnuz: return ElementType::F8E5M2FNUZ;
    default: fail(ErrorCode::NotImplemented, "dtype ", c10::toString(type), " is not supported on device tpu");
  }
}

c10::ScalarType scalar_type_of(ElementType type) {
  switch (type) {
    case ElementType::Pred: return c10::ScalarType::Bool;
    case ElementType::U8: return c10::ScalarType::Byte;
    case ElementType::S8: return c10::ScalarType::Char;
    case ElementType::S16: return c10::ScalarType::Short;
    case ElementType::S32: return c10::ScalarType::Int;
    case ElementType::S64: return c10::ScalarType::Long;
    case ElementType::U16: return c10::ScalarType::UInt16;
    case ElementType::U32: return c10::ScalarType::UInt32;
    case ElementType::U64: return c10::ScalarType::UInt64;
    case ElementType::F16: return c10::ScalarType::Half;
    case ElementType::BF16: return c10::ScalarType::BFloat16;
    case ElementType::F32: return c10::ScalarType::Float;
    case ElementType::F64: return c10::ScalarType::Double;
    case ElementType::C64: return c10::ScalarType::ComplexFloat;
    case ElementType::C128: return c10::ScalarType::ComplexDouble;
    case ElementType::F8E4M3FN: return c10::ScalarType::Float8_e4m3fn;
    case ElementType::F8E5M2: return c10::ScalarType::Float8_e5m2;
    case ElementType::F8E4M3FNUZ: return c10::ScalarType::Float8_e4m3fnuz;
    case ElementType::F8E5M2FNUZ: return c10::ScalarType::Float8_e5m2fnuz;
  }
  fail(ErrorCode::Internal, "no dtype for element type ", static_cast<int>(type));
}

}  // namespace tpu::aten
