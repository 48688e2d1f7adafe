#include "hlo/chlo.h"

#include "hlo/attributes.h"
#include "hlo/constraint.h"

namespace tpu::hlo {

namespace {

Value unary(std::string_view op, const Value& x, Kinds kinds) {
  require_kind(op, x, kinds);
  return x.builder->generic(op, {x}, x.type);
}

Value binary(std::string_view op, const Value& a, const Value& b) {
  require_kind(op, a, kFloat);
  require_same(op, a, b);
  return a.builder->generic(op, {a, b}, a.type);
}

Value predicate(std::string_view op, const Value& x) {
  require_kind(op, x, kFloat);
  return x.builder->generic(op, {x}, {ElementType::Pred, x.dims()});
}

}  // namespace

Value acos(const Value& x) { return unary("chlo.acos", x, kInexact); }
Value acosh(const Value& x) { return unary("chlo.acosh", x, kInexact); }
Value asin(const Value& x) { return unary("chlo.asin", x, kInexact); }
Value asinh(const Value& x) { return unary("chlo.asinh", x, kInexact); }
Value atan(const Value& x) { return unary("chlo.atan", x, kInexact); }
Value atanh(const Value& x) { return unary("chlo.atanh", x, kInexact); }
Value bessel_i1e(const Value& x) { return unary("chlo.bessel_i1e", x, kFloat); }

Value conj(const Value& x) {
  require_value("chlo.conj", x);
  return is_complex(x.element()) ? unary("chlo.conj", x, kComplex) : x;
}

Value cosh(const Value& x) { return unary("chlo.cosh", x, kInexact); }
Value digamma(const Value& x) { return unary("chlo.digamma", x, kFloat); }
Value erf(const Value& x) { return unary("chlo.erf", x, kFloat); }
Value erf_inv(const Value& x) { return unary("chlo.erf_inv", x, kFloat); }
Value erfc(const Value& x) { return unary("chlo.erfc", x, kFloat); }
Value is_inf(const Value& x) { return predicate("chlo.is_inf", x); }
Value is_neg_inf(const Value& x) { return predicate("chlo.is_neg_inf", x); }
Value is_pos_inf(const Value& x) { return predicate("chlo.is_pos_inf", x); }
Value lgamma(const Value& x) { return unary("chlo.lgamma", x, kFloat); }
Value next_after(const Value& x, const Value& y) { return binary("chlo.next_after", x, y); }
Value polygamma(const Value& n, const Value& x) { return binary("chlo.polygamma", n, x); }
Value sinh(const Value& x) { return unary("chlo.sinh", x, kInexact); }

Values top_k(const Value& x, int64_t k) {
  constexpr std::string_view op = "chlo.top_k";
  require_kind(op, x, kNumber);
  require(x.rank() >= 1 && k >= 0 && k <= x.dims().back(), op, "expected k within the last dimension of ", show(x),
          ", got ", k);
  Dims sizes = x.dims();
  sizes.back() = k;
  Type results[] = {{x.element(), sizes}, {ElementType::S32, sizes}};
  return x.builder->generic(op, std::span(&x, 1), results, Attributes().number("k", k).text());
}

Value zeta(const Value& x, const Value& q) { return binary("chlo.zeta", x, q); }

}  // namespace tpu::hlo
