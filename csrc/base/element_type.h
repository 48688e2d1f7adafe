// ElementType: the element types that torch, StableHLO and PJRT share, and their facts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tpu {

// clang-format off
enum class ElementType : uint8_t {
  Pred,  // torch.bool: one byte, 0 or 1
  S8, S16, S32, S64,
  U8, U16, U32, U64,
  F16, BF16, F32, F64,
  C64, C128,
  F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ,
};
// clang-format on

inline constexpr int kElementTypeCount = static_cast<int>(ElementType::F8E5M2FNUZ) + 1;

/// Bytes of one element in memory (Pred is 1).
size_t size_of(ElementType type);
/// The spelling inside a StableHLO tensor type: `f32`, `i1`, `ui8`, `complex<f32>`.
const char* mlir_name(ElementType type);
/// The spelling PyTorch users know: `float32`, `bool`, `complex64`.
const char* torch_name(ElementType type);

bool is_floating(ElementType type);  // real floating point, 8 to 64 bits
bool is_complex(ElementType type);
bool is_integral(ElementType type);  // integers, without Pred
bool is_signed(ElementType type);    // signed integers and all floating and complex types
/// The type of the real part: C64 -> F32, C128 -> F64, all others themselves.
ElementType real_of(ElementType type);
/// F32 -> C64, F64 -> C128, F16/BF16 -> C64; complex types themselves.
ElementType complex_of(ElementType type);

}  // namespace tpu
