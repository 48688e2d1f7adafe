// Family linalg_qr: A = Q R by reflectors as LAPACK has them, products with Q, and least squares. What goes in: batches
// of matrices in the last two dimensions.
//
// Reflector i is I - tau[i] v v^H, where v is zero above row i, one in row i, and below that stands in column i of the
// factorized matrix, under the diagonal of R. Q is the product of all of them, the first one leftmost.
//
// Slow on a CPU, as Note [Slow on a CPU] in linalg.cpp has it. One float32 matrix of 64x64 takes, in ms of one thread,
// LAPACK against XLA: geqrf 0.05 / 0.26, qr 0.12 / 0.37 (of 512x512 9 / 470), householder_product 0.03 / 0.14, ormqr
// with as many columns 0.04 / 0.13, lstsq with as many right sides 0.17 / 3.8; the programs are compiled in 0.2 to 1.4
// seconds.
#include "ops/matrix.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ reflectors

struct Reflectors {
  Value a;     // [count, m, n]: R in the upper triangle, the vectors below
  Value taus;  // [count, k]
};

Value row_numbers(const Value& vector) { return hlo::iota(*vector.builder, {ElementType::S32, vector.dims()}, 1); }

/// x - tau v (v^H x) for each matrix of x [count, m, n].
Value reflected(const Value& x, const Value& v, const Value& tau) {
  hlo::DotDims dims{.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {1}, .rhs_contract = {1}};
  Value along = hlo::dot_general(conjugate(v), x, dims);
  return x - in_columns(v * in_each(tau, v.dims()), x.dims()) * in_rows(along, x.dims());
}

/// The reflector that makes a column [count, m] zero below row i.
struct Reflector {
  Value v, tau, beta;  // beta: what row i becomes
};

Reflector reflector_of(const Value& column, const Value& i) {
  ElementType type = column.element();
  Value row = row_numbers(column), at_i = hlo::broadcast(i, row.dims());
  Value tail = hlo::select(hlo::gt(row, at_i), column, zeros_like(column));
  Value rest = hlo::select(hlo::ge(row, at_i), column, zeros_like(column));
  // The norm, of elements divided by the largest one so that no square overflows.
  Value sizes = hlo::abs(rest);
  Value largest = hlo::reduce(sizes, {1}, hlo::Reducer::Max);
  Value scale = hlo::select(hlo::eq(largest, zeros_like(largest)), hlo::like(largest, 1.0), largest);
  Value scaled = sizes / in_each(scale, sizes.dims());
  Value norm = scale * hlo::sqrt(hlo::reduce(scaled * scaled, {1}, hlo::Reducer::Add));

  Value alpha = element_at(column, i);
  Value is_flat = hlo::not_(hlo::reduce(hlo::ne(tail, zeros_like(tail)), {1}, hlo::Reducer::Or));
  if (is_complex(type)) is_flat = hlo::and_(is_flat, hlo::eq(hlo::imag(alpha), zeros_like(norm)));
  Value beta = hlo::convert(hlo::select(hlo::lt(hlo::real(alpha), zeros_like(norm)), norm, -norm), type);
  Value one = hlo::like(alpha, 1.0), divisor = hlo::select(is_flat, one, alpha - beta);
  Value v = hlo::select(hlo::eq(row, at_i), hlo::like(column, 1.0), tail / in_each(divisor, tail.dims()));
  Value tau = hlo::select(is_flat, zeros_like(alpha), (beta - alpha) / hlo::select(is_flat, one, beta));
  return {v, tau, hlo::select(is_flat, alpha, beta)};
}

/// Reflects the columns behind column i, and puts the reflector into it.
Reflectors eliminated(const Reflectors& of, const Value& i) {
  const Dims& dims = of.a.dims();
  Reflector reflector = reflector_of(column_at(of.a, i), i);
  Value moved = reflected(of.a, reflector.v, conjugate(reflector.tau));
  Value row = row_of(of.a), column = column_of(of.a), at_i = hlo::broadcast(i, dims);
  Value below = hlo::select(hlo::gt(row, at_i), in_columns(reflector.v, dims), of.a);
  Value own = hlo::select(hlo::eq(row, at_i), in_each(reflector.beta, dims), below);
  Value a = hlo::select(hlo::gt(column, at_i), moved, hlo::select(hlo::eq(column, at_i), own, of.a));
  return {a, with_element(of.taus, i, reflector.tau)};
}

Reflectors reflectors_of(const Value& a) {
  int64_t count = a.dims()[0], k = std::min(a.dims()[1], a.dims()[2]);
  Value taus = hlo::constant(*a.builder, {a.element(), {count, k}}, 0.0);
  if (a.type.count() == 0) return {a, taus};
  auto step = [](const Value& i, const Values& carried) {
    Reflectors next = eliminated({carried[0], carried[1]}, i);
    return Values{next.a, next.taus};
  };
  Values done = repeat(*a.builder, k, {a, taus}, step);
  return {done[0], done[1]};
}

/// Q x, or Q^H x, for x [count, m, r].
Value multiplied(const Reflectors& by, const Value& x, bool is_adjoint) {
  int64_t k = by.taus.dims()[1];
  if (k == 0 || x.type.count() == 0) return x;
  auto step = [k, is_adjoint](const Value& number, const Values& carried) {
    Value i = is_adjoint ? number : hlo::subtract(hlo::like(number, k - 1), number);
    Value column = column_at(carried[1], i), row = row_numbers(column), at_i = hlo::broadcast(i, row.dims());
    Value below = hlo::select(hlo::gt(row, at_i), column, zeros_like(column));
    Value v = hlo::select(hlo::eq(row, at_i), hlo::like(column, 1.0), below);
    Value tau = element_at(carried[2], i);
    return Values{reflected(carried[0], v, is_adjoint ? conjugate(tau) : tau), carried[1], carried[2]};
  };
  return repeat(*x.builder, k, {x, by.a, by.taus}, step)[0];
}

/// The first columns of Q.
Value columns_of(const Reflectors& of, int64_t columns) {
  int64_t count = of.a.dims()[0], m = of.a.dims()[1];
  return multiplied(of, identity(*of.a.builder, {of.a.element(), {count, m, columns}}), false);
}

/// The upper triangle of the first rows.
Value triangle_of(const Value& a, int64_t rows) {
  return triangle(hlo::slice(a, {0, 0, 0}, {a.dims()[0], rows, a.dims()[2]}, {1, 1, 1}), false);
}

// ------------------------------------------------------------------------------------------------ rows: factors

Value unstacked(const Value& x, const Dims& batch) {
  return hlo::reshape(x, matrices(batch, x.dims()[1], x.dims()[2]));
}

Dims with_vector(Dims batch, int64_t size) {
  batch.push_back(size);
  return batch;
}

Value matrix(Context& c, const char* name) {
  Value x = c.tensor(name);
  expect_factorable(c, x.element());
  c.expect(x.rank() >= 2, ErrorCode::NotImplemented, c.call().row->name, " of a vector");
  return x;
}

Values geqrf(Context& c) {
  Value a = matrix(c, "self");
  Reflectors of = reflectors_of(stacked(a));
  Dims batch = batch_of(a.dims());
  return {unstacked(of.a, batch), hlo::reshape(of.taus, with_vector(batch, of.taus.dims()[1]))};
}

Values qr(Context& c) {
  Value a = matrix(c, "A");
  std::string mode = c.text("mode");
  Dims batch = batch_of(a.dims());
  Reflectors of = reflectors_of(stacked(a));
  int64_t m = of.a.dims()[1], n = of.a.dims()[2], rows = mode == "complete" ? m : std::min(m, n);
  Value r = unstacked(triangle_of(of.a, rows), batch);
  if (mode == "r") return {hlo::constant(c.builder(), {a.element(), {0}}, 0), r};
  return {unstacked(columns_of(of, rows), batch), r};
}

/// `a` and its taus, whose batch is the same; what does not fit the host names.
Reflectors given(Context& c, const char* a_name, const char* taus_name) {
  Value a = matrix(c, a_name), taus = c.tensor(taus_name);
  int64_t k = taus.rank() > 0 ? taus.dims().back() : -1;
  c.expect(a.element() == taus.element() && taus.dims() == with_vector(batch_of(a.dims()), k) &&
               k <= std::min(a.dims()[static_cast<size_t>(a.rank()) - 2], a.dims().back()),
           ErrorCode::NotImplemented, "reflectors that do not fit");
  return {stacked(a), stacked_vectors(taus)};
}

Values householder_product(Context& c) {
  Dims dims = c.type("input").dims;
  Reflectors of = given(c, "input", "tau");
  int64_t m = of.a.dims()[1], n = of.a.dims()[2];
  c.expect(m >= n, ErrorCode::NotImplemented, "more columns than rows");
  return {hlo::reshape(columns_of(of, n), dims)};
}

Values ormqr(Context& c) {
  Reflectors of = given(c, "self", "input2");
  Value other = matrix(c, "input3");
  bool left = c.flag("left"), transpose = c.flag("transpose");
  Dims batch = batch_of(c.type("self").dims);
  c.expect(other.element() == of.a.element() && batch_of(other.dims()) == batch &&
               other.dims()[static_cast<size_t>(other.rank()) - (left ? 2 : 1)] == of.a.dims()[1],
           ErrorCode::NotImplemented, "a product that does not fit");
  // C Q = (Q^H C^H)^H.
  Value x = multiplied(of, stacked(left ? other : adjoint(other)), left == transpose);
  return {hlo::reshape(left ? x : adjoint(x), other.dims())};
}

// ------------------------------------------------------------------------------------------------ rows: least squares

/// |a x - b| least for each matrix, where A has full rank; `rest`: [count, m - n, r], whose squares are those of the
/// residuals, or nothing.
struct Solution {
  Value x, rest, is_deficient;
};

Value rows_of(const Value& x, int64_t from, int64_t to) {
  return hlo::slice(x, {0, from, 0}, {x.dims()[0], to, x.dims()[2]}, {1, 1, 1});
}

Value with_rows(const Value& x, int64_t rows) {
  return hlo::pad(x, hlo::scalar_like(x, 0), {0, 0, 0}, {0, rows - x.dims()[1], 0}, {0, 0, 0});
}

/// LAPACK's gels.
Solution of_full_rank(const Value& a, const Value& b) {
  int64_t m = a.dims()[1], n = a.dims()[2], k = std::min(m, n);
  bool is_tall = m >= n;
  Reflectors of = reflectors_of(is_tall ? a : adjoint(a));
  Value r = triangle_of(of.a, k), diagonal = diagonal_of(r);
  Value is_deficient = hlo::reduce(hlo::eq(diagonal, zeros_like(diagonal)), {1}, hlo::Reducer::Or);
  if (!is_tall) {
    Value y = solve_triangle(r, b, true, false, hlo::Transpose::Adjoint);
    return {multiplied(of, with_rows(y, n), false), {}, is_deficient};
  }
  Value y = multiplied(of, b, true);
  Value x = solve_triangle(r, rows_of(y, 0, n), true, false, hlo::Transpose::None);
  return {x, rows_of(y, n, m), is_deficient};
}

struct Ranked {
  Value x, rank;  // [count] S64
};

/// Reflectors of A with its columns in another order: every step takes the one with the largest rest.
struct Ordered {
  Reflectors of;
  Value order;  // [count, n] S32
};

Ordered ordered(const Value& a) {
  int64_t count = a.dims()[0], m = a.dims()[1], n = a.dims()[2];
  Value taus = hlo::constant(*a.builder, {a.element(), {count, std::min(m, n)}}, 0.0);
  Value order = hlo::iota(*a.builder, {ElementType::S32, {count, n}}, 1);
  auto step = [](const Value& i, const Values& carried) {
    const Value& x = carried[0];
    Value at_i = hlo::broadcast(i, x.dims());
    Value size = hlo::abs(hlo::select(hlo::ge(row_of(x), at_i), x, zeros_like(x)));
    Value largest = hlo::reduce(size, {1, 2}, hlo::Reducer::Max);
    Value scaled = size / in_each(hlo::select(hlo::eq(largest, zeros_like(largest)), hlo::like(largest, 1.0), largest),
                                  size.dims());
    Value place = largest_from(hlo::reduce(scaled * scaled, {1}, hlo::Reducer::Add), i);
    Value number = column_of(x), is_place = hlo::eq(number, in_each(place, x.dims()));
    Value chosen = hlo::reduce(hlo::select(is_place, x, zeros_like(x)), {2}, hlo::Reducer::Add);
    Value swapped = hlo::select(is_place, in_columns(column_at(x, i), x.dims()), x);
    swapped = hlo::select(hlo::eq(number, at_i), in_columns(chosen, x.dims()), swapped);
    Reflectors next = eliminated({swapped, carried[1]}, i);
    return Values{next.a, next.taus, exchanged(carried[2], i, place)};
  };
  Values done = repeat(*a.builder, std::min(m, n), {a, taus, order}, step);
  return {{done[0], done[1]}, done[2]};
}

/// LAPACK's gelsy: the rank is the number of elements on R's diagonal above `rcond` times the first, and of all
/// solutions x is the shortest. With R = W^H where only `rank` rows count, W = Q S gives x = Q S^-H (Q_A^H b).
Ranked of_any_rank(const Value& a, const Value& b, const Value& rcond) {
  int64_t n = a.dims()[2], k = std::min(a.dims()[1], n);
  Ordered by = ordered(a);
  Value r = triangle_of(by.of.a, k);
  Value sizes = hlo::abs(diagonal_of(hlo::slice(r, {0, 0, 0}, {r.dims()[0], k, k}, {1, 1, 1})));
  Value first = element_at(sizes, hlo::constant(*a.builder, ElementType::S32, 0));
  Value counts = hlo::gt(sizes, in_each(first * hlo::broadcast(rcond, first.dims()), sizes.dims()));
  Value rank = hlo::reduce(hlo::convert(counts, ElementType::S32), {1}, hlo::Reducer::Add);
  auto cut = [&](const Value& x) { return hlo::select(hlo::lt(row_of(x), in_each(rank, x.dims())), x, zeros_like(x)); };
  Reflectors w = reflectors_of(adjoint(cut(r)));
  Value s = triangle_of(w.a, k), unit = identity(*a.builder, s.type);
  s = hlo::select(hlo::lt(row_of(s), in_each(rank, s.dims())), s, unit);
  Value y = cut(rows_of(multiplied(by.of, b, true), 0, k));
  Value z = multiplied(w, with_rows(solve_triangle(s, y, true, false, hlo::Transpose::Adjoint), n), false);
  return {rows_at(z, inverse_order(by.order)), hlo::convert(rank, ElementType::S64)};
}

Value rcond_of(Context& c, const Value& a) {
  ElementType real = real_of(a.element());
  if (c.has("rcond")) return c.scalar("rcond", real);
  double epsilon = real == ElementType::F64 ? 0x1p-52 : 0x1p-23;
  return hlo::constant(c.builder(), real, epsilon * static_cast<double>(std::max(a.dims()[1], a.dims()[2])));
}

// The drivers by singular values, gelsd and gelss, stay with LAPACK.
Values lstsq(Context& c) {
  Value self = matrix(c, "self"), b = c.tensor("b");
  std::string driver = c.has("driver") ? c.text("driver") : "gelsy";
  Dims batch = batch_of(self.dims()), vectors(self.dims().begin(), self.dims().end() - 1);
  bool is_vector = b.dims() == vectors;
  if (is_vector) b = hlo::reshape(b, with_vector(vectors, 1));
  c.expect((driver == "gels" || driver == "gelsy") && b.element() == self.element() && b.rank() == self.rank() &&
               b.dims()[batch.size()] == vectors.back() && batch_of(b.dims()) == batch && self.type.count() > 0 &&
               b.type.count() > 0,
           ErrorCode::NotImplemented, "a least squares problem of this kind");
  Value nothing = hlo::constant(c.builder(), {real_of(self.element()), {0}}, 0.0), a = stacked(self);
  int64_t n = a.dims()[2], width = b.dims().back();
  Dims dims = is_vector ? with_vector(batch, n) : matrices(batch, n, width);
  if (driver == "gelsy") {
    Ranked of = of_any_rank(a, stacked(b), rcond_of(c, a));
    return {hlo::reshape(of.x, dims), nothing, hlo::reshape(of.rank, batch), nothing};
  }
  Solution of = of_full_rank(a, stacked(b));
  require_none(c, of.is_deficient, "torch.linalg.lstsq",
               "The least squares solution could not be computed because the input matrix does not have full rank.",
               batch.empty());
  Value residuals = nothing;
  if (of.rest && of.rest.dims()[1] > 0) {
    Value sizes = hlo::abs(of.rest);
    residuals = hlo::reshape(hlo::reduce(sizes * sizes, {1}, hlo::Reducer::Add), with_vector(batch, width));
  }
  return {hlo::reshape(of.x, dims), residuals, hlo::constant(c.builder(), {ElementType::S64, {0}}, 0), nothing};
}

}  // namespace

Table linalg_qr_table() {
  return {
      row("geqrf", geqrf).matrix().slow_on_cpu(),
      row("geqrf.a", geqrf).matrix().slow_on_cpu(),
      row("linalg_qr.out", qr).slow_on_cpu(),
      row("linalg_householder_product", householder_product).matrix().slow_on_cpu(),
      row("linalg_householder_product.out", householder_product).matrix().slow_on_cpu(),
      row("ormqr", ormqr).matrix().slow_on_cpu(),
      row("ormqr.out", ormqr).matrix().slow_on_cpu(),
      row("linalg_lstsq.out", lstsq).matrix().slow_on_cpu(),
  };
}

}  // namespace tpu::ops
