#include "ops/promotion.h"

#include <algorithm>

namespace tpu::ops {

namespace {

// Position in the kinds that promotion climbs: bool, integers, floating, complex.
int kind_of(ElementType type) {
  if (type == ElementType::Pred) return 0;
  if (is_integral(type)) return 1;
  return is_floating(type) ? 2 : 3;
}

// torch's combine_categories: the higher category decides unless the lower one is of a higher kind.
std::optional<ElementType> combine(std::optional<ElementType> higher, std::optional<ElementType> lower) {
  if (!higher) return lower;
  if (!lower) return higher;
  if (is_complex(*higher)) return higher;
  if (is_floating(*higher)) {
    // A complex number beside a floating tensor keeps the tensor's width.
    return is_complex(*lower) ? complex_of(*higher) : *higher;
  }
  if (*higher == ElementType::Pred || kind_of(*lower) >= 2) return promote(*higher, *lower);
  return higher;
}

}  // namespace

bool can_cast(ElementType from, ElementType to) {
  if (is_complex(from)) return is_complex(to);
  if (is_floating(from)) return is_floating(to) || is_complex(to);
  return from == ElementType::Pred || to != ElementType::Pred;
}

ElementType promote(ElementType a, ElementType b) {
  if (a == b) return a;
  int ka = kind_of(a), kb = kind_of(b);
  if (ka > kb) std::swap(a, b), std::swap(ka, kb);
  // Now b is of the same or a higher kind.
  if (kb == 3) {
    if (ka == 3) return ElementType::C128;
    return a == ElementType::F64 ? ElementType::C128 : b;
  }
  if (kb == 2) {
    if (ka < 2) return b;
    if (a == ElementType::F64 || b == ElementType::F64) return ElementType::F64;
    return ElementType::F32;  // two different types of at most 32 bits: f16 and bf16 meet in f32
  }
  if (ka == 0) return b;
  // Two different integer types.
  bool sa = is_signed(a), sb = is_signed(b);
  if (sa == sb) return size_of(a) > size_of(b) ? a : b;
  ElementType with_sign = sa ? a : b, without = sa ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  switch (size_of(without)) {
    case 1: return ElementType::S16;
    case 2: return ElementType::S32;
    case 4: return ElementType::S64;
    default: return ElementType::F32;  // torch has no integer above int64 and uint64
  }
}

ElementType result_type(const Context& c, std::initializer_list<const char*> names) {
  std::optional<ElementType> found[3];
  for (const char* name : names) {
    if (!c.has(name)) continue;
    ElementType type = c.type(name).element;
    Category category = c.category(name);
    if (category == Category::Number) {
      if (is_complex(type))
        type = complex_of(c.settings().default_float);
      else if (is_floating(type))
        type = c.settings().default_float;
    }
    auto& slot = found[static_cast<int>(category)];
    slot = slot ? promote(*slot, type) : type;
  }
  std::optional<ElementType> result = combine(found[0], combine(found[1], found[2]));
  check(result.has_value(), ErrorCode::Internal, "aten::", c.call().row->name, ": no operand to promote");
  return *result;
}

ElementType to_floating(const Context& c, ElementType type) {
  return type == ElementType::Pred || is_integral(type) ? c.settings().default_float : type;
}

ElementType compute_type(ElementType type) { return is_floating(type) && size_of(type) < 4 ? ElementType::F32 : type; }

Dims broadcast_dims(const Dims& a, const Dims& b) {
  Dims result = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  size_t shift = result.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = result[shift + i];
    if (size == shorter[i]) continue;
    check(size == 1 || shorter[i] == 1, ErrorCode::InvalidArgument, "The size of tensor a (",
          a[a.size() - shorter.size() + i], ") must match the size of tensor b (", b[b.size() - shorter.size() + i],
          ") at non-singleton dimension ", shift + i);
    if (size == 1) size = shorter[i];
  }
  return result;
}

hlo::Value broadcast_to(hlo::Value x, const Dims& dims) {
  if (x.dims() == dims) return x;
  check(x.dims().size() <= dims.size(), ErrorCode::InvalidArgument, "cannot broadcast ", to_string(x.dims()), " to ",
        to_string(dims));
  Dims map;
  for (size_t i = 0; i < x.dims().size(); ++i) map.push_back(static_cast<int64_t>(dims.size() - x.dims().size() + i));
  return hlo::broadcast_in_dim(x, dims, map);
}

hlo::Values broadcast_together(hlo::Values values) {
  Dims dims;
  for (const hlo::Value& value : values) dims = broadcast_dims(dims, value.dims());
  for (hlo::Value& value : values) value = broadcast_to(value, dims);
  return values;
}

int64_t wrap_dim(int64_t dim, int64_t rank) {
  int64_t seen = rank == 0 ? 1 : rank;
  check(dim >= -seen && dim < seen, ErrorCode::Index, "Dimension out of range (expected to be in range of [", -seen,
        ", ", seen - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + seen : dim;
}

Dims wrap_dims(const Dims& dims, int64_t rank) {
  Dims result;
  if (dims.empty()) {
    for (int64_t i = 0; i < rank; ++i) result.push_back(i);
    return result;
  }
  for (int64_t dim : dims) result.push_back(wrap_dim(dim, rank));
  std::sort(result.begin(), result.end());
  for (size_t i = 1; i < result.size(); ++i)
    check(result[i] != result[i - 1], ErrorCode::InvalidArgument, "dim ", result[i],
          " appears multiple times in the list of dims");
  // A 0-d tensor has no dimension to work on although dim 0 and -1 are accepted.
  if (rank == 0) result.clear();
  return result;
}

hlo::Value scalar_constant(hlo::Value x, double value) { return hlo::constant(*x.builder, x.element(), value); }
hlo::Value lowest(hlo::Builder& builder, ElementType type) { return hlo::min_value(builder, type); }
hlo::Value highest(hlo::Builder& builder, ElementType type) { return hlo::max_value(builder, type); }

}  // namespace tpu::ops
