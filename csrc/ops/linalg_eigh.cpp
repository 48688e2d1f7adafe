// Family linalg_eigh: eigenvalues and eigenvectors of symmetric and Hermitian matrices, and the exponential function of
// matrices. What goes in: batches of square matrices in the last two dimensions.
//
// Note [Parallel Jacobi]
// A rotation of rows and columns p and q makes element (p, q) zero. n / 2 of them that share no row are made at once,
// on the pairs (i, i + n / 2), so that a step is a few operations on halves of the matrix. Then rows and columns move
// on one place, all but the first, as players do in a tournament where each meets each: after n - 1 steps, a sweep, all
// pairs have met and everybody sits where he began. What is off the diagonal shrinks quadratically in the end; some 6
// to 10 sweeps are enough, and kSweeps is a bound that no matrix comes near. What is not finite is left at once.
//
// Slow on a CPU, as Note [Slow on a CPU] in linalg.cpp has it: one float32 matrix of 64x64 takes LAPACK 0.31 ms and
// this 15 ms (eigenvalues alone 0.11 and 12), compiled in 1.1 seconds. matrix_exp is products: 0.35 ms in torch, 0.07
// here.
#include <cmath>

#include "ops/matrix.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

constexpr int64_t kSweeps = 30;

// ------------------------------------------------------------------------------------------------ Jacobi's rotations

/// Rows [from, to) of a stack.
Value rows_between(const Value& x, int64_t from, int64_t to) {
  return hlo::slice(x, {0, from, 0}, {x.dims()[0], to, x.dims()[2]}, {1, 1, 1});
}

/// A rotation of each pair of rows: [count, n / 2] each.
struct Rotations {
  Value cosine, sine;  // sine with the phase of the element that becomes zero
};

Value diagonal_of_part(const Value& a, int64_t row, int64_t column) {
  int64_t count = a.dims()[0], half = a.dims()[1] / 2;
  return diagonal_of(hlo::slice(a, {0, row, column}, {count, row + half, column + half}, {1, 1, 1}));
}

Rotations rotations_of(const Value& a) {
  int64_t half = a.dims()[1] / 2;
  Value p = hlo::real(diagonal_of_part(a, 0, 0)), q = hlo::real(diagonal_of_part(a, half, half));
  Value off = diagonal_of_part(a, 0, half), size = hlo::abs(off);
  Value one = hlo::like(size, 1.0), is_zero = hlo::eq(size, zeros_like(size));
  Value divisor = hlo::select(is_zero, one, size);
  Value ratio = (q - p) / (divisor + divisor);
  Value tangent = one / (hlo::abs(ratio) + hlo::sqrt(one + ratio * ratio));
  tangent = hlo::select(is_zero, zeros_like(size), hlo::select(hlo::lt(ratio, zeros_like(ratio)), -tangent, tangent));
  Value cosine = hlo::rsqrt(one + tangent * tangent);
  auto as_element = [&](const Value& x) { return hlo::convert(x, off.element()); };
  return {as_element(cosine), as_element(tangent * cosine) * (off / as_element(divisor))};
}

/// The pairs of rows of x rotated, and moved on to meet others.
Value turned_rows(const Value& x, const Rotations& by) {
  int64_t half = x.dims()[1] / 2;
  Value top = rows_between(x, 0, half), bottom = rows_between(x, half, 2 * half);
  Value cosine = in_columns(by.cosine, top.dims()), sine = in_columns(by.sine, top.dims());
  Value first = cosine * top - sine * bottom, second = conjugate(sine) * top + cosine * bottom;
  if (half == 1) return hlo::concatenate({first, second}, 1);
  return hlo::concatenate({rows_between(first, 0, 1), rows_between(second, 0, 1), rows_between(first, 1, half - 1),
                           rows_between(second, 1, half), rows_between(first, half - 1, half)},
                          1);
}

/// Whether any matrix has more off its diagonal than rounding errors.
Value is_unfinished(const Value& a) {
  Value size = hlo::abs(a);
  Value largest = hlo::reduce(size, {1, 2}, hlo::Reducer::Max);
  Value is_zero = hlo::eq(largest, zeros_like(largest));
  Value scaled = size / in_each(hlo::select(is_zero, hlo::like(largest, 1.0), largest), size.dims());
  Value square = scaled * scaled;
  Value off = hlo::select(hlo::eq(row_of(a), column_of(a)), zeros_like(square), square);
  Value all = hlo::reduce(square, {1, 2}, hlo::Reducer::Add), rest = hlo::reduce(off, {1, 2}, hlo::Reducer::Add);
  double tolerance = real_of(a.element()) == ElementType::F64 ? 1.1e-16 : 6e-8;
  return hlo::reduce(hlo::gt(rest, all * hlo::like(all, tolerance * tolerance)), {0}, hlo::Reducer::Or);
}

/// Matrices [a] or [a, adjoint eigenvectors] after sweeps until `a` is diagonal; their size is even.
Values diagonalized(const Values& start) {
  hlo::Builder& builder = *start[0].builder;
  int64_t steps = start[0].dims()[1] - 1;
  Values inits = {hlo::constant(builder, ElementType::S32, 0), is_unfinished(start[0])};
  inits.insert(inits.end(), start.begin(), start.end());
  auto more = [](const Values& args) {
    return Values{hlo::and_(hlo::lt(args[0], hlo::like(args[0], kSweeps)), args[1])};
  };
  auto step = [](const Value&, const Values& carried) {
    Rotations by = rotations_of(carried[0]);
    // R^H A R is R^H (R^H A)^H, as it is Hermitian.
    Values next = {turned_rows(adjoint(turned_rows(carried[0], by)), by)};
    if (carried.size() > 1) next.push_back(turned_rows(carried[1], by));
    return next;
  };
  auto sweep = [&](const Values& args) {
    Values swept = repeat(*args[0].builder, steps, Values(args.begin() + 2, args.end()), step);
    Values next = {hlo::add(args[0], hlo::like(args[0], 1)), is_unfinished(swept[0])};
    next.insert(next.end(), swept.begin(), swept.end());
    return next;
  };
  Values results = hlo::while_(inits, more, sweep);
  return Values(results.begin() + 2, results.end());
}

/// Eigenvalues [count, n] in ascending order and where they stood.
Values ascending(const Value& values) {
  Value place = hlo::iota(*values.builder, {ElementType::S32, values.dims()}, 1);
  auto is_less = [](const Values& args) { return Values{hlo::compare(args[0], args[1], hlo::Comparison::Lt, true)}; };
  return hlo::sort({values, place}, 1, true, is_less);
}

/// The Hermitian matrix of which one triangle is given.
Value completed(const Value& x, bool lower) {
  Value own = triangle(x, lower), other = adjoint(own);
  Value is_diagonal = hlo::eq(row_of(x), column_of(x));
  return hlo::select(is_diagonal, hlo::convert(hlo::real(own), x.element()), own + other);
}

Values eigh(Context& c) {
  Value self = c.tensor("A");
  expect_factorable(c, self.element());
  bool with_vectors = c.flag("compute_v");
  std::string part = c.text("UPLO");
  Dims batch = batch_of(self.dims()), values_dims(self.dims().begin(), self.dims().end() - 1);
  int64_t n = self.dims().back();
  Value nothing = hlo::constant(c.builder(), {self.element(), {0}}, 0);
  if (self.type.count() == 0)
    return {hlo::constant(c.builder(), {real_of(self.element()), values_dims}, 0), with_vectors ? self : nothing};
  Value a = completed(stacked(self), part == "L" || part == "l");
  if (n % 2 != 0) a = hlo::pad(a, hlo::scalar_like(a, 0), {0, 0, 0}, {0, 1, 1}, {0, 0, 0});
  Values start = {a};
  if (with_vectors) start.push_back(identity(c.builder(), a.type));
  Values done = diagonalized(start);
  // Nothing else keeps rotations from converging.
  require_none(c, hlo::reduce(hlo::not_(hlo::is_finite(hlo::abs(done[0]))), {1, 2}, hlo::Reducer::Or), "linalg.eigh",
               "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
               "eigenvalues, or is not finite.",
               batch.empty());
  int64_t count = a.dims()[0];
  auto own = [&](const Value& x) { return hlo::slice(x, {0, 0, 0}, {count, n, n}, {1, 1, 1}); };
  Values sorted = ascending(hlo::real(diagonal_of(own(done[0]))));
  Value values = hlo::reshape(sorted[0], values_dims);
  if (!with_vectors) return {values, nothing};
  return {values, hlo::reshape(adjoint(rows_at(own(done[1]), sorted[1])), self.dims())};
}

// ------------------------------------------------------------------------------------------------ matrix_exp

/// sum of a^k / k! for k < 16, in six products, and as many more terms as the error asks for: |a| is at most 1/2.
Value series(const Value& a) {
  Value unit = identity(*a.builder, a.type);
  Values powers = {unit, a, times(a, a)};
  powers.push_back(times(powers[2], a));
  Value fourth = times(powers[2], powers[2]);
  auto term = [&](int64_t first) {
    Value sum;
    double factorial = std::tgamma(static_cast<double>(first) + 1);
    for (int64_t i = 0; i < 4; ++i) {
      if (i > 0) factorial *= static_cast<double>(first + i);
      Value part = powers[static_cast<size_t>(i)] * hlo::like(a, 1 / factorial);
      sum = i == 0 ? part : sum + part;
    }
    return sum;
  };
  Value sum = term(12);
  for (int64_t first = 8; first >= 0; first -= 4) sum = times(sum, fourth) + term(first);
  return sum;
}

// e^A = (e^(A / 2^s))^(2^s), with an s for each matrix.
Values matrix_exp(Context& c) {
  Value self = c.tensor("self");
  expect_factorable(c, self.element());
  c.expect(self.rank() >= 2 && self.dims()[static_cast<size_t>(self.rank()) - 2] == self.dims().back(),
           ErrorCode::NotImplemented, "matrix_exp of what is not square");
  if (self.type.count() == 0) return {self};
  Value a = stacked(self);
  Value norm = hlo::reduce(hlo::reduce(hlo::abs(a), {1}, hlo::Reducer::Add), {1}, hlo::Reducer::Max);
  // From 2^s >= 2 |A|. An infinite norm, or NaN, halves nothing.
  Value halvings = hlo::ceil(log2(norm + norm));
  halvings = hlo::select(hlo::is_finite(norm), hlo::maximum(halvings, zeros_like(halvings)), zeros_like(halvings));
  Value scaled = a * in_each(hlo::convert(exp2(-halvings), a.element()), a.dims());
  Value squarings = hlo::convert(halvings, ElementType::S32);
  auto step = [](const Value& i, const Values& carried) {
    Value is_due = hlo::lt(hlo::broadcast(i, carried[1].dims()), carried[1]);
    const Value& x = carried[0];
    return Values{hlo::select(in_each(is_due, x.dims()), times(x, x), x), carried[1]};
  };
  Value most = hlo::reduce(squarings, {0}, hlo::Reducer::Max);
  return {hlo::reshape(repeat(most, {series(scaled), squarings}, step)[0], self.dims())};
}

}  // namespace

Table linalg_eigh_table() {
  return {
      row("_linalg_eigh.eigenvalues", eigh).slow_on_cpu(),
      row("linalg_matrix_exp", matrix_exp),
  };
}

}  // namespace tpu::ops
