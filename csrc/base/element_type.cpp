#include "base/element_type.h"

namespace tpu {

namespace {

enum class Kind : uint8_t { Bool, Signed, Unsigned, Float, Complex };

struct Facts {
  ElementType type;
  uint8_t bytes;
  Kind kind;
  const char* mlir;
  const char* torch;
};

constexpr Facts kFacts[] = {
    {ElementType::Pred, 1, Kind::Bool, "i1", "bool"},
    {ElementType::S8, 1, Kind::Signed, "i8", "int8"},
    {ElementType::S16, 2, Kind::Signed, "i16", "int16"},
    {ElementType::S32, 4, Kind::Signed, "i32", "int32"},
    {ElementType::S64, 8, Kind::Signed, "i64", "int64"},
    {ElementType::U8, 1, Kind::Unsigned, "ui8", "uint8"},
    {ElementType::U16, 2, Kind::Unsigned, "ui16", "uint16"},
    {ElementType::U32, 4, Kind::Unsigned, "ui32", "uint32"},
    {ElementType::U64, 8, Kind::Unsigned, "ui64", "uint64"},
    {ElementType::F16, 2, Kind::Float, "f16", "float16"},
    {ElementType::BF16, 2, Kind::Float, "bf16", "bfloat16"},
    {ElementType::F32, 4, Kind::Float, "f32", "float32"},
    {ElementType::F64, 8, Kind::Float, "f64", "float64"},
    {ElementType::C64, 8, Kind::Complex, "complex<f32>", "complex64"},
    {ElementType::C128, 16, Kind::Complex, "complex<f64>", "complex128"},
    {ElementType::F8E4M3FN, 1, Kind::Float, "f8E4M3FN", "float8_e4m3fn"},
    {ElementType::F8E5M2, 1, Kind::Float, "f8E5M2", "float8_e5m2"},
    {ElementType::F8E4M3FNUZ, 1, Kind::Float, "f8E4M3FNUZ", "float8_e4m3fnuz"},
    {ElementType::F8E5M2FNUZ, 1, Kind::Float, "f8E5M2FNUZ", "float8_e5m2fnuz"},
};
static_assert(sizeof(kFacts) / sizeof(kFacts[0]) == kElementTypeCount);

constexpr bool rows_in_enum_order() {
  for (int i = 0; i < kElementTypeCount; ++i)
    if (static_cast<int>(kFacts[i].type) != i) return false;
  return true;
}
static_assert(rows_in_enum_order());

const Facts& facts(ElementType type) { return kFacts[static_cast<int>(type)]; }

}  // namespace

size_t size_of(ElementType type) { return facts(type).bytes; }
const char* mlir_name(ElementType type) { return facts(type).mlir; }
const char* torch_name(ElementType type) { return facts(type).torch; }
bool is_floating(ElementType type) { return facts(type).kind == Kind::Float; }
bool is_complex(ElementType type) { return facts(type).kind == Kind::Complex; }
bool is_integral(ElementType type) { return facts(type).kind == Kind::Signed || facts(type).kind == Kind::Unsigned; }
bool is_signed(ElementType type) { return facts(type).kind == Kind::Signed || is_floating(type) || is_complex(type); }

ElementType real_of(ElementType type) {
  if (type == ElementType::C64) return ElementType::F32;
  if (type == ElementType::C128) return ElementType::F64;
  return type;
}

ElementType complex_of(ElementType type) {
  if (is_complex(type)) return type;
  return type == ElementType::F64 ? ElementType::C128 : ElementType::C64;
}

}  // namespace tpu
