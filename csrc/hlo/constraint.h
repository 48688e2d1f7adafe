// Constraints: what an op expects goes in, an Error(InvalidArgument) that names the op comes out when it does not hold.
// Private to csrc/hlo.
#pragma once

#include <ostream>
#include <string_view>

#include "hlo/builder.h"

namespace tpu::hlo {

// Shapes are spelled only when an error is really made, since every op is checked and nearly none fails.
template <class T>
struct Shown {
  const T& it;
};
inline Shown<Type> show(const Type& type) { return {type}; }
inline Shown<Type> show(const Value& value) { return {value.type}; }
inline Shown<Dims> show(const Dims& dims) { return {dims}; }
template <class T>
std::ostream& operator<<(std::ostream& out, const Shown<T>& shown) {
  return out << to_string(shown.it);
}

/// `op` is the full name, `stablehlo.add`.
template <class... Parts>
void require(bool condition, std::string_view op, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(ErrorCode::InvalidArgument, op, ": ", parts...);
}

/// Sets of element types as the specification's constraints name them.
enum Kinds : unsigned {
  kPred = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloat = 8,
  kComplex = 16,
  kInteger = kSigned | kUnsigned,
  kLogical = kPred | kInteger,
  kNumber = kInteger | kFloat,
  kInexact = kFloat | kComplex,
  kArithmetic = kNumber | kComplex,
  kAny = kPred | kArithmetic,
};
constexpr Kinds operator|(Kinds a, Kinds b) { return static_cast<Kinds>(static_cast<unsigned>(a) | b); }

inline Kinds kind_of(ElementType element) {
  if (element == ElementType::Pred) return kPred;
  if (is_floating(element)) return kFloat;
  if (is_complex(element)) return kComplex;
  return is_signed(element) ? kSigned : kUnsigned;
}

const char* name_of(Kinds kinds);

inline void require_value(std::string_view op, const Value& x) {
  check(static_cast<bool>(x), ErrorCode::Internal, op, ": operand is an empty value");
}
inline void require_kind(std::string_view op, const Value& x, Kinds kinds) {
  require_value(op, x);
  require((kind_of(x.element()) & kinds) != 0, op, "expected ", name_of(kinds), ", got ", show(x));
}
inline void require_scalar(std::string_view op, const char* what, const Value& x, ElementType element) {
  require_value(op, x);
  require(x.rank() == 0 && x.element() == element, op, "expected ", what, " tensor<", mlir_name(element), ">, got ",
          show(x));
}
inline void require_same(std::string_view op, const Value& a, const Value& b) {
  require_value(op, b);
  require(a.type == b.type, op, "expected operands of equal type, got ", show(a), " and ", show(b));
}
inline void require_dim(std::string_view op, const char* what, int64_t dim, int64_t rank) {
  require(dim >= 0 && dim < rank, op, "expected ", what, " in [0, ", rank, "), got ", dim);
}
/// One entry per dimension.
inline void require_length(std::string_view op, const char* what, const Dims& list, int64_t length) {
  require(static_cast<int64_t>(list.size()) == length, op, "expected ", length, " ", what, ", got ", show(list));
}
/// In range and without repetition.
void require_distinct_dims(std::string_view op, const char* what, const Dims& dims, int64_t rank);

/// The types that a region returned.
void require_types(std::string_view op, const char* what, const Values& returned, std::span<const Type> expected);

inline bool contains(const Dims& dims, int64_t dim) {
  for (int64_t item : dims)
    if (item == dim) return true;
  return false;
}
inline Type scalar_of(const Value& x) { return {x.element(), {}}; }

}  // namespace tpu::hlo
