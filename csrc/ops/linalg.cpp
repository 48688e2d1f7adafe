// Family linalg: factors of matrices, systems of equations that have triangular ones, and small products of vectors and
// matrices. What goes in: batches of matrices in the last two dimensions.
//
// Note [Slow on a CPU]
// XLA:CPU makes loops of factors and triangular systems. One float32 matrix of 64x64 / 512x512 takes, in ms on one
// thread, LAPACK against XLA: the Cholesky factor 0.021 / 2.0 against 0.57 / 69, a system with as many right sides
// 0.018 / 2.0 against 0.13 / 3.1, an inverse from a Cholesky factor 0.03 / 1.7 against 0.01 / 5.5; the programs are
// compiled in 0.3 to 3.7 seconds. So a CPU plugin leaves these rows to the host, and runs them only where host ops are
// errors (torch.tpu.set_host_ops), which the tests do.
#include "ops/matrix.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ factors

/// Per matrix [m, n, n] of `a`, of which only the lower triangle counts, the order of its first leading minor that is
/// not positive, 0 where there is none: the pivots of a plain factorization, one column after the other.
Value first_bad_minor(const Value& a) {
  hlo::Builder& builder = *a.builder;
  int64_t count = a.dims()[0], n = a.dims()[1];
  Value lower = hlo::select(in_triangle(a, true), a, zeros_like(a));
  Value found = hlo::constant(builder, {ElementType::S32, {count}}, 0);
  Values inits = {hlo::constant(builder, ElementType::S32, 0), found, lower};
  auto more = [n](const Values& args) { return Values{hlo::lt(args[0], hlo::like(args[0], n))}; };
  auto step = [count, n](const Values& args) {
    const Value& k = args[0];
    Value zero = hlo::like(k, 0);
    Value column = hlo::reshape(hlo::dynamic_slice(args[2], {zero, zero, k}, {count, n, 1}), {count, n});
    Value pivot = hlo::real(hlo::reshape(hlo::dynamic_slice(args[2], {zero, k, k}, {count, 1, 1}), {count}));
    Value is_bad = hlo::not_(hlo::gt(pivot, zeros_like(pivot)));
    Value next = hlo::broadcast(hlo::add(k, hlo::like(k, 1)), {count});
    Value is_new = hlo::and_(is_bad, hlo::eq(args[1], hlo::like(args[1], 0)));
    Value scaled = column / hlo::broadcast_in_dim(hlo::convert(pivot, column.element()), column.dims(), {0});
    Dims square = {count, n, n};
    Value product =
        hlo::broadcast_in_dim(scaled, square, {0, 1}) * hlo::broadcast_in_dim(conjugate(column), square, {0, 2});
    return Values{hlo::add(k, hlo::like(k, 1)), hlo::select(is_new, next, args[1]), args[2] - product};
  };
  return hlo::while_(inits, more, step)[1];
}

/// The numbers on the diagonal without their imaginary parts, which do not count.
Value with_real_diagonal(const Value& x) {
  if (!is_complex(x.element())) return x;
  Value is_diagonal = hlo::and_(in_triangle(x, true), in_triangle(x, false));
  return hlo::select(is_diagonal, hlo::convert(hlo::real(x), x.element()), x);
}

// XLA fills the whole factor of a matrix that has none with NaN, without saying where it stopped, so `info` is worked
// out apart, and only where it is needed. What LAPACK leaves in such a factor nobody promises.
Values cholesky_ex(Context& c) {
  Value self = c.tensor("self");
  expect_factorable(c, self.element());
  c.expect(!c.flag("check_errors"), ErrorCode::NotImplemented, "errors of class LinAlgError");
  Dims batch = batch_of(self.dims());
  Type infos = {ElementType::S32, batch};
  if (self.type.count() == 0) return {self, hlo::constant(c.builder(), infos, 0)};
  bool upper = c.flag("upper");
  Value a = with_real_diagonal(upper ? conjugate(turned(self)) : self);
  Value factor = hlo::cholesky(a, true);
  int64_t n = self.dims().back(), count = product(batch);
  Value pivots = hlo::real(diagonal_of(factor));
  Value is_bad = hlo::not_(hlo::gt(pivots, zeros_like(pivots)));
  Value failed = hlo::reduce(is_bad, all_dims(is_bad), hlo::Reducer::Or);
  Value info = hlo::if_(
      failed, [&](const Values&) { return Values{first_bad_minor(hlo::reshape(a, {count, n, n}))}; },
      [&](const Values&) { return Values{hlo::constant(c.builder(), {ElementType::S32, {count}}, 0)}; })[0];
  factor = hlo::select(in_triangle(factor, true), factor, zeros_like(factor));
  return {upper ? conjugate(turned(factor)) : factor, hlo::reshape(info, batch)};
}

// ------------------------------------------------------------------------------------------------ triangular systems

struct System {
  Value a, b;  // of one batch
};

System system_of(Context& c, const Value& a, const Value& b) {
  expect_factorable(c, a.element());
  c.expect(a.element() == b.element(), ErrorCode::NotImplemented, c.call().row->name, " of two dtypes");
  Dims batch = broadcast_dims(batch_of(a.dims()), batch_of(b.dims()));
  auto spread = [&](const Value& x) {
    return broadcast_to(x, matrices(batch, x.dims()[x.rank() - 2], x.dims()[x.rank() - 1]));
  };
  return {spread(a), spread(b)};
}

Value solve(const System& of, bool left, bool upper, bool unit, hlo::Transpose transpose) {
  if (of.b.type.count() == 0) return of.b;
  return hlo::triangular_solve(of.a, of.b, left, !upper, unit, transpose);
}

Values solve_triangular(Context& c) {
  Value a = c.tensor("self"), b = c.tensor("B");
  bool left = c.flag("left");
  c.expect(a.rank() >= 2 && b.rank() >= 2 && a.dims()[a.rank() - 1] == a.dims()[a.rank() - 2] &&
               a.dims()[a.rank() - 1] == b.dims()[b.rank() - (left ? 2 : 1)],
           ErrorCode::NotImplemented, "a system that does not fit");
  return {solve(system_of(c, a, b), left, c.flag("upper"), c.flag("unitriangular"), hlo::Transpose::None)};
}

Values triangular_solve(Context& c) {
  System system = system_of(c, c.tensor("A"), c.tensor("self"));
  hlo::Transpose transpose = c.flag("transpose") ? hlo::Transpose::Transpose : hlo::Transpose::None;
  return {solve(system, true, c.flag("upper"), c.flag("unitriangular"), transpose), system.a};
}

// Two systems, one for each of the factors of A.
Values cholesky_solve(Context& c) {
  System system = system_of(c, c.tensor("A"), c.tensor("self"));
  bool upper = c.flag("upper");
  hlo::Transpose adjoint = hlo::Transpose::Adjoint, none = hlo::Transpose::None;
  system.b = solve(system, true, upper, false, upper ? adjoint : none);
  return {solve(system, true, upper, false, upper ? none : adjoint)};
}

// From A = L L^H: A^-1 = (L^-1)^H L^-1.
Values cholesky_inverse(Context& c) {
  Value self = c.tensor("self");
  expect_factorable(c, self.element());
  c.expect(self.rank() >= 2 && self.dims()[static_cast<size_t>(self.rank()) - 2] == self.dims().back(),
           ErrorCode::NotImplemented, "a factor that is not square");
  if (self.type.count() == 0) return {self};
  bool upper = c.flag("upper");
  Value factor = stacked(self);
  Value inverse = solve_triangle(factor, identity(c.builder(), factor.type), upper, false, hlo::Transpose::None);
  Value product = upper ? times(inverse, adjoint(inverse)) : times(adjoint(inverse), inverse);
  return {hlo::reshape(product, self.dims())};
}

// ------------------------------------------------------------------------------------------------ small products

// Element i of the three is a[i + 1] b[i + 2] - a[i + 2] b[i + 1].
Values cross(Context& c) {
  Value self = c.tensor("self"), other = c.tensor("other");
  ElementType type = self.element();
  c.expect(type == other.element() && type != ElementType::Pred, ErrorCode::NotImplemented, "cross of ",
           torch_name(type), " and ", torch_name(other.element()));
  int64_t dim = wrap_dim(c.integer("dim"), self.rank());
  Values both = broadcast_together({hlo::convert(self, compute_type(type)), hlo::convert(other, compute_type(type))});
  auto from = [dim](const Value& x, int64_t first) {
    Dims start(x.dims().size(), 0), middle = x.dims(), strides(x.dims().size(), 1);
    middle[dim] = start[dim] = first;
    Value front = hlo::slice(x, Dims(x.dims().size(), 0), middle, strides);
    return hlo::concatenate({hlo::slice(x, start, x.dims(), strides), front}, dim);
  };
  const Value &a = both[0], &b = both[1];
  return {hlo::convert(from(a, 1) * from(b, 2) - from(a, 2) * from(b, 1), type)};
}

// Sums over the first dimension of input, one for each row of coefficients. (The .out overload has no row: PyTorch's
// adds to what is there.)
Values linear_combination(Context& c) {
  Value input = c.tensor("input"), coefficients = c.tensor("coefficients");
  ElementType type = input.element();
  c.expect(input.rank() != 0 && coefficients.rank() == 2 && coefficients.dims()[1] == input.dims()[0] &&
               type == coefficients.element() && type != ElementType::Pred,
           ErrorCode::NotImplemented, "a linear combination of other shapes or dtypes");
  hlo::DotDims dims{.lhs_contract = {1}, .rhs_contract = {0}};
  return {hlo::convert(hlo::dot_general(coefficients, input, dims, c.settings().precision, compute_type(type)), type)};
}

}  // namespace

Table linalg_table() {
  return {
      row("linalg_cholesky_ex.L", cholesky_ex).slow_on_cpu(),
      row("cholesky_inverse", cholesky_inverse).matrix().slow_on_cpu(),
      row("cholesky_inverse.out", cholesky_inverse).matrix().slow_on_cpu(),
      row("_cholesky_solve_helper", cholesky_solve).matrix().slow_on_cpu(),
      row("linalg_solve_triangular", solve_triangular).matrix().slow_on_cpu(),
      row("linalg_solve_triangular.out", solve_triangular).matrix().slow_on_cpu(),
      row("triangular_solve.X", triangular_solve).slow_on_cpu(),

      row("linalg_cross.out", cross),
      row("_compute_linear_combination", linear_combination),
  };
}

}  // namespace tpu::ops
