#include "ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tpu::ops {

namespace {

unsigned kind_of(ElementType type) {
  if (type == ElementType::Pred) return kBool;
  if (is_integral(type)) return kInteger;
  return is_floating(type) ? kReal : kComplex;
}

/// `bitwise_and` of `bitwise_and.Tensor_out`, `hardtanh` of `hardtanh_`.
std::string_view base_name(const Context& c) {
  std::string_view name = c.call().row->name;
  name = name.substr(0, name.find('.'));
  while (name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  return name;
}

}  // namespace

const char* scalar_type_name(ElementType type) {
  switch (type) {
    case ElementType::Pred: return "Bool";
    case ElementType::S8: return "Char";
    case ElementType::S16: return "Short";
    case ElementType::S32: return "Int";
    case ElementType::S64: return "Long";
    case ElementType::U8: return "Byte";
    case ElementType::U16: return "UInt16";
    case ElementType::U32: return "UInt32";
    case ElementType::U64: return "UInt64";
    case ElementType::F16: return "Half";
    case ElementType::BF16: return "BFloat16";
    case ElementType::F32: return "Float";
    case ElementType::F64: return "Double";
    case ElementType::C64: return "ComplexFloat";
    case ElementType::C128: return "ComplexDouble";
    case ElementType::F8E4M3FN: return "Float8_e4m3fn";
    case ElementType::F8E5M2: return "Float8_e5m2";
    case ElementType::F8E4M3FNUZ: return "Float8_e4m3fnuz";
    case ElementType::F8E5M2FNUZ: return "Float8_e5m2fnuz";
  }
  return "?";
}

void expect_kind(const Context& c, ElementType type, unsigned kinds) {
  bool fits = (kind_of(type) & kinds) != 0 && !(is_floating(type) && size_of(type) == 1);
  c.expect(fits, ErrorCode::NotImplemented, "\"", base_name(c), "\" not implemented for '", scalar_type_name(type), "'");
}

hlo::Value operand(Context& c, const char* name, ElementType common) {
  ElementType compute = compute_type(common);
  if (c.category(name) != Category::Dimensioned) return c.tensor(name, compute);
  return hlo::convert(c.tensor(name, common), compute);
}

hlo::Values operands(Context& c, std::initializer_list<const char*> names, ElementType common) {
  hlo::Values values;
  for (const char* name : names) values.push_back(operand(c, name, common));
  return broadcast_together(std::move(values));
}

hlo::Value round_to(const hlo::Value& x, ElementType type) {
  if (type == ElementType::F16) return hlo::reduce_precision(x, 5, 10);
  return type == ElementType::BF16 ? hlo::reduce_precision(x, 8, 7) : x;
}

hlo::Value number_like(Context& c, const char* name, const hlo::Value& x) {
  return hlo::broadcast(c.scalar(name, x.element()), x.dims());
}

hlo::Value is_nan(const hlo::Value& x) { return hlo::ne(x, x); }

hlo::Value zeros_like(const hlo::Value& x) { return hlo::like(x, 0); }

hlo::Value reciprocal(const hlo::Value& x) { return hlo::like(x, 1) / x; }

hlo::Value truncate(const hlo::Value& x) {
  return hlo::select(hlo::lt(x, zeros_like(x)), hlo::ceil(x), hlo::floor(x));
}

hlo::Value copy_sign(const hlo::Value& x, const hlo::Value& sign) {
  bool wide = size_of(x.element()) == 8;
  ElementType bits = wide ? ElementType::U64 : ElementType::U32;
  hlo::Value x_bits = hlo::bitcast_convert(x, bits);
  hlo::Value sign_bits = hlo::bitcast_convert(sign, bits);
  int64_t mask = wide ? INT64_MIN : int64_t{1} << 31;
  hlo::Value merged = hlo::or_(hlo::and_(x_bits, hlo::like(x_bits, ~mask)), hlo::and_(sign_bits, hlo::like(x_bits, mask)));
  return hlo::bitcast_convert(merged, x.element());
}

hlo::Value truth(const hlo::Value& x) { return x.element() == ElementType::Pred ? x : hlo::ne(x, zeros_like(x)); }

Dims all_dims(const hlo::Value& x) {
  Dims dims;
  for (int64_t i = 0; i < x.rank(); ++i) dims.push_back(i);
  return dims;
}

hlo::Value polynomial(const hlo::Value& x, std::initializer_list<double> coefficients) {
  const double* k = coefficients.end();
  hlo::Value sum = hlo::like(x, *--k);
  while (k != coefficients.begin()) sum = sum * x + hlo::like(x, *--k);
  return sum;
}

hlo::Value exp2(const hlo::Value& x) { return hlo::power(hlo::like(x, 2.0), x); }

hlo::Value log2(const hlo::Value& x) { return hlo::log(x) * hlo::like(x, 1 / std::log(2.0)); }

}  // namespace tpu::ops
