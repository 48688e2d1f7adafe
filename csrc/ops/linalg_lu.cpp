// Family linalg_lu: A = P L U with partial pivoting, and what torch makes of it: systems, inverses, determinants. What
// goes in: batches of matrices in the last two dimensions.
//
// Note [Layout of factors]
// torch's own det and slogdet factorize A^T where A is real and contiguous (it is A to LAPACK then), and their
// gradients count on finding LU that way. So these rows read whether A is contiguous, and do the same.
//
// Slow on a CPU, as Note [Slow on a CPU] in linalg.cpp has it. One float32 matrix of 64x64 takes, in ms of one thread,
// LAPACK against XLA: lu_factor 0.02 / 0.14 (of 512x512 1.5 / 14), lu 0.04 / 0.16, lu_unpack 0.01 / 0.06, with as many
// right sides lu_solve 0.04 / 0.24 and solve 0.05 / 0.36, inverse 0.05 / 0.35, det 0.04 / 0.18, slogdet 0.04 / 0.16;
// the programs are compiled in 0.3 to 0.7 seconds.
#include "ops/axis.h"
#include "ops/matrix.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ the factorization

// Columns that are eliminated one by one before the rest of the matrix is updated by a product.
constexpr int64_t kBlock = 64;

struct Factors {
  Value lu;      // [count, m, n]
  Value order;   // [count, m] S32: row i of L U is row order[i] of A
  Value pivots;  // [count, k] S32: the row, counted from 1, that changed places with row i, as LAPACK has it
  Value info;    // [count] S32: the first zero on U's diagonal, counted from 1, or 0
};

// What LAPACK compares.
Value size_of_each(const Value& x) {
  Value size = hlo::abs(hlo::real(x));
  return is_complex(x.element()) ? size + hlo::abs(hlo::imag(x)) : size;
}

/// One column of elimination: column i of the panel `carried[0]` [count, m, width], whose first column is number
/// carried[4] of the matrix.
Values eliminate(const Value& i, const Values& carried, bool pivots) {
  const Value &a = carried[0], &first = carried[4];
  const Dims& dims = a.dims();
  int64_t count = dims[0];
  Value k = hlo::add(first, i), zero = hlo::like(k, 0);
  Value column = column_at(a, i);
  Value place = pivots ? largest_from(size_of_each(column), k) : hlo::broadcast(k, {count});

  Value chosen = rows_at(a, hlo::reshape(place, {count, 1})),
        old = hlo::dynamic_slice(a, {zero, k, zero}, {count, 1, dims[2]});
  Value row = row_of(a), at_k = hlo::broadcast(k, dims);
  auto spread = [&](const Value& one_row) {
    return hlo::broadcast_in_dim(hlo::reshape(one_row, {count, dims[2]}), dims, {0, 2});
  };
  Value swapped = hlo::select(hlo::eq(row, in_each(place, dims)), spread(old), a);
  swapped = hlo::select(hlo::eq(row, at_k), spread(chosen), swapped);

  Value moved = exchanged(column, k, place);
  Value pivot = element_at(moved, k);
  Value is_zero = hlo::eq(pivot, zeros_like(pivot));
  Value multipliers = hlo::select(in_each(is_zero, moved.dims()), moved, moved / in_each(pivot, moved.dims()));

  Value number = column_of(a), at_i = hlo::broadcast(i, dims), is_below = hlo::gt(row, at_k);
  Value reduced = swapped - in_columns(multipliers, dims) * spread(chosen);
  reduced = hlo::select(hlo::eq(number, at_i), in_columns(multipliers, dims), reduced);
  Value is_changed = hlo::and_(is_below, hlo::ge(number, at_i));

  Value next = hlo::broadcast(hlo::add(k, hlo::like(k, 1)), {count}), info = carried[3];
  Value is_first = hlo::and_(is_zero, hlo::eq(info, hlo::like(info, 0)));
  return {hlo::select(is_changed, reduced, swapped), exchanged(carried[1], k, place),
          with_element(carried[2], k, hlo::add(place, hlo::like(place, 1))), hlo::select(is_first, next, info), first};
}

/// Columns [first, first + times) of a panel that begins with column `first`.
Factors factor_panel(const Value& panel, const Value& first, const Value& times, const Value& pivots, const Value& info,
                     bool pivot) {
  const Dims& dims = panel.dims();
  Value order = hlo::iota(*panel.builder, {ElementType::S32, {dims[0], dims[1]}}, 1);
  auto step = [pivot](const Value& i, const Values& carried) { return eliminate(i, carried, pivot); };
  Values done = repeat(times, {panel, order, pivots, info, first}, step);
  return {done[0], done[1], done[2], done[3]};
}

/// One block of columns, and its effect on the columns to the right; dims of `all.lu` are multiples of kBlock.
Factors factor_block(const Factors& all, const Value& number, int64_t columns, bool pivot) {
  const Dims& dims = all.lu.dims();
  int64_t count = dims[0];
  Value zero = hlo::like(number, 0), first = hlo::multiply(number, hlo::like(number, kBlock));
  Value times = hlo::minimum(hlo::like(number, kBlock), hlo::subtract(hlo::like(number, columns), first));
  Value panel = hlo::dynamic_slice(all.lu, {zero, zero, first}, {count, dims[1], kBlock});
  Factors part = factor_panel(panel, first, times, all.pivots, all.info, pivot);

  Value a = hlo::dynamic_update_slice(rows_at(all.lu, part.order), part.lu, {zero, zero, first});
  Value rows = hlo::dynamic_slice(a, {zero, first, zero}, {count, kBlock, dims[2]});
  Value corner = hlo::dynamic_slice(part.lu, {zero, first, zero}, {count, kBlock, kBlock});
  Value solved = hlo::triangular_solve(corner, rows, true, true, true);
  Value behind = hlo::add(first, hlo::like(first, kBlock));
  Value upper = hlo::select(hlo::ge(column_of(rows), hlo::broadcast(behind, rows.dims())), solved, rows);
  a = hlo::dynamic_update_slice(a, upper, {zero, first, zero});
  Value edge = hlo::broadcast(behind, dims);
  Value is_rest = hlo::and_(hlo::ge(row_of(a), edge), hlo::ge(column_of(a), edge));
  a = hlo::select(is_rest, a - ops::times(part.lu, upper), a);
  return {a, take_along(all.order, part.order, 1), part.pivots, part.info};
}

Factors factorize(const Value& a, bool pivot = true) {
  hlo::Builder& builder = *a.builder;
  int64_t count = a.dims()[0], m = a.dims()[1], n = a.dims()[2], k = std::min(m, n);
  Value order = hlo::iota(builder, {ElementType::S32, {count, m}}, 1);
  Value pivots = hlo::constant(builder, {ElementType::S32, {count, k}}, 0);
  Value info = hlo::constant(builder, {ElementType::S32, {count}}, 0);
  if (a.type.count() == 0) return {a, order, pivots, info};
  Value zero = hlo::constant(builder, ElementType::S32, 0);
  if (k <= kBlock) return factor_panel(a, zero, hlo::like(zero, k), pivots, info, pivot);

  auto whole = [](int64_t size) { return (size + kBlock - 1) / kBlock * kBlock; };
  Value padded = hlo::pad(a, hlo::scalar_like(a, 0), {0, 0, 0}, {0, whole(m) - m, whole(n) - n}, {0, 0, 0});
  Value places = hlo::iota(builder, {ElementType::S32, {count, whole(m)}}, 1);
  auto step = [k, pivot](const Value& number, const Values& carried) {
    Factors next = factor_block({carried[0], carried[1], carried[2], carried[3]}, number, k, pivot);
    return Values{next.lu, next.order, next.pivots, next.info};
  };
  Values done = repeat(builder, whole(k) / kBlock, {padded, places, pivots, info}, step);
  return {hlo::slice(done[0], {0, 0, 0}, {count, m, n}, {1, 1, 1}), hlo::slice(done[1], {0, 0}, {count, m}, {1, 1}),
          done[2], done[3]};
}

/// The order of the rows that exchanging them by `pivots` [count, k] gives.
Value order_of(const Value& pivots, int64_t rows) {
  int64_t count = pivots.dims()[0];
  Value order = hlo::iota(*pivots.builder, {ElementType::S32, {count, rows}}, 1);
  if (order.type.count() == 0) return order;
  auto step = [](const Value& i, const Values& carried) {
    Value place = element_at(carried[1], i);
    return Values{exchanged(carried[0], i, hlo::subtract(place, hlo::like(place, 1))), carried[1]};
  };
  return repeat(*pivots.builder, pivots.dims()[1], {order, pivots}, step)[0];
}

// ------------------------------------------------------------------------------------------------ rows: factors

/// What comes out, [count, ..], with the batch dimensions that it shall have.
Value unstacked(const Value& x, Dims batch) {
  for (int64_t i = 1; i < x.rank(); ++i) batch.push_back(x.dims()[static_cast<size_t>(i)]);
  return hlo::reshape(x, batch);
}

void expect_no_errors(Context& c) {
  c.expect(!c.flag("check_errors"), ErrorCode::NotImplemented, "errors of class LinAlgError");
}

Value matrix(Context& c, const char* name) {
  Value x = c.tensor(name);
  expect_factorable(c, x.element());
  return x;
}

Values lu_factor(Context& c) {
  expect_no_errors(c);
  Value a = matrix(c, "A");
  Factors factors = factorize(stacked(a), c.flag("pivot"));
  Dims batch = batch_of(a.dims());
  return {unstacked(factors.lu, batch), unstacked(factors.pivots, batch), unstacked(factors.info, batch)};
}

/// P, or nothing for no order, then L and U.
Values unpacked(const Value& lu, const Value& order, const Dims& batch, bool with_factors) {
  hlo::Builder& builder = *lu.builder;
  int64_t count = lu.dims()[0], m = lu.dims()[1], n = lu.dims()[2], k = std::min(m, n);
  Value nothing = hlo::constant(builder, {lu.element(), {0}}, 0);
  Values results = {nothing, nothing, nothing};
  if (order) {
    Dims square = {count, m, m};
    Value row = hlo::iota(builder, {ElementType::S32, square}, 1);
    results[0] = unstacked(hlo::convert(hlo::eq(row, in_rows(order, square)), lu.element()), batch);
  }
  if (!with_factors) return results;
  Value lower = hlo::slice(lu, {0, 0, 0}, {count, m, k}, {1, 1, 1});
  Value unit = identity(builder, lower.type);
  lower = hlo::select(hlo::gt(row_of(lower), column_of(lower)), lower, unit);
  results[1] = unstacked(lower, batch);
  results[2] = unstacked(triangle(hlo::slice(lu, {0, 0, 0}, {count, k, n}, {1, 1, 1}), false), batch);
  return results;
}

Values lu(Context& c) {
  Value a = matrix(c, "A");
  bool pivot = c.flag("pivot");
  Factors factors = factorize(stacked(a), pivot);
  return unpacked(factors.lu, pivot ? factors.order : Value(), batch_of(a.dims()), true);
}

Values lu_unpack(Context& c) {
  Value a = c.tensor("LU_data"), order;
  if (c.flag("unpack_pivots")) {
    Value pivots = c.tensor("LU_pivots");
    int64_t rows = a.dims()[static_cast<size_t>(a.rank()) - 2];
    Value is_wrong = hlo::or_(hlo::lt(pivots, hlo::like(pivots, 1)), hlo::gt(pivots, hlo::like(pivots, rows)));
    c.require_not(is_wrong, pivots, ErrorCode::InvalidArgument,
                  "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                  "Did you properly pass the result of lu_factor?");
    order = order_of(stacked_vectors(pivots), rows);
  }
  return unpacked(stacked(a), order, batch_of(a.dims()), c.flag("unpack_data"));
}

// ------------------------------------------------------------------------------------------------ rows: systems

/// op(A) x = b for stacks of one count.
Value solve_left(const Value& lu, const Value& order, const Value& b, hlo::Transpose op) {
  if (b.type.count() == 0) return b;
  if (op == hlo::Transpose::None)
    return solve_triangle(lu, solve_triangle(lu, rows_at(b, order), false, true, op), true, false, op);
  Value x = solve_triangle(lu, solve_triangle(lu, b, true, false, op), false, true, op);
  return rows_at(x, inverse_order(order));
}

/// op(A) x = b, or x op(A) = b, for A whose factors have the batch `batch`; the result has that of both.
Value solve(const Factors& factors, const Dims& batch, const Value& b, bool left, bool is_adjoint) {
  Dims common = broadcast_dims(batch, batch_of(b.dims()));
  int64_t n = factors.lu.dims()[1];
  Value lu = stacked(with_batch(unstacked(factors.lu, batch), common));
  Dims places = common;
  places.push_back(n);
  Value order = stacked_vectors(broadcast_to(unstacked(factors.order, batch), places));
  Value right_sides = stacked(with_batch(left ? b : adjoint(b), common));
  // x A = b is A^H x^H = b^H.
  bool is_turned = left == is_adjoint;
  Value x =
      unstacked(solve_left(lu, order, right_sides, is_turned ? hlo::Transpose::Adjoint : hlo::Transpose::None), common);
  return left ? x : adjoint(x);
}

Values lu_solve(Context& c) {
  Value lu = matrix(c, "LU"), pivots = c.tensor("pivots");
  Factors factors{stacked(lu), order_of(stacked_vectors(pivots), lu.dims().back()), pivots, {}};
  return {solve(factors, batch_of(lu.dims()), c.tensor("B"), c.flag("left"), c.flag("adjoint"))};
}

Values solve_ex(Context& c) {
  expect_no_errors(c);
  Value a = matrix(c, "A"), b = c.tensor("B");
  Dims batch = batch_of(a.dims());
  // A vector, or a batch of them: one dimension less, and the sizes of A.
  bool is_vector =
      b.rank() == 1 || (b.rank() == a.rank() - 1 && b.dims() == Dims(a.dims().begin(), a.dims().end() - 1));
  if (is_vector) {
    Dims columns = b.dims();
    columns.push_back(1);
    b = hlo::reshape(b, columns);
  }
  Factors factors = factorize(stacked(a));
  Value x = solve(factors, batch, b, c.flag("left"), false);
  if (is_vector) x = hlo::reshape(x, Dims(x.dims().begin(), x.dims().end() - 1));
  return {x, unstacked(factors.lu, batch), unstacked(factors.pivots, batch), unstacked(factors.info, batch)};
}

Values inverse(Context& c) {
  expect_no_errors(c);
  Value a = matrix(c, "A");
  Dims batch = batch_of(a.dims());
  Factors factors = factorize(stacked(a));
  return {solve(factors, batch, identity(c.builder(), a.type), true, false), unstacked(factors.info, batch)};
}

// ------------------------------------------------------------------------------------------------ rows: determinants

/// Whether torch's kernels factorize A^T, Note [Layout of factors].
bool is_turned(const Context& c) {
  const Operand& a = c.call().operands[static_cast<size_t>(c.call().argument("A").index)];
  return a.is_contiguous && !is_complex(a.type.element);
}

struct Pivoted {
  Factors factors;
  Value diagonal;  // [count, n]
  Value sign;      // [count], of the permutation
};

Pivoted pivoted(Context& c) {
  Value a = matrix(c, "A");
  Factors factors = factorize(stacked(is_turned(c) ? turned(a) : a));
  Value own = hlo::iota(c.builder(), factors.pivots.type, 1);
  Value is_moved = hlo::ne(factors.pivots, hlo::add(own, hlo::like(own, 1)));
  Value moves = hlo::reduce(hlo::convert(is_moved, ElementType::S32), {1}, hlo::Reducer::Add);
  Value is_odd = hlo::eq(hlo::and_(moves, hlo::like(moves, 1)), hlo::like(moves, 1));
  Value one = hlo::constant(c.builder(), {a.element(), moves.dims()}, 1.0);
  return {factors, diagonal_of(factors.lu), hlo::select(is_odd, -one, one)};
}

Values det(Context& c) {
  Dims batch = batch_of(c.type("A").dims);
  Pivoted of = pivoted(c);
  Value result = hlo::reduce(of.diagonal, {1}, hlo::Reducer::Mul) * of.sign;
  return {unstacked(result, batch), unstacked(of.factors.lu, batch), unstacked(of.factors.pivots, batch)};
}

Values slogdet(Context& c) {
  Dims batch = batch_of(c.type("A").dims);
  Pivoted of = pivoted(c);
  Value sign = hlo::reduce(hlo::sign(of.diagonal), {1}, hlo::Reducer::Mul) * of.sign;
  Value logarithm = hlo::reduce(hlo::log(hlo::abs(of.diagonal)), {1}, hlo::Reducer::Add);
  return {unstacked(sign, batch), unstacked(logarithm, batch), unstacked(of.factors.lu, batch),
          unstacked(of.factors.pivots, batch)};
}

}  // namespace

Table linalg_lu_table() {
  return {
      row("linalg_lu_factor_ex.out", lu_factor).slow_on_cpu(),
      row("linalg_lu.out", lu).slow_on_cpu(),
      row("lu_unpack.out", lu_unpack).slow_on_cpu(),
      row("linalg_lu_solve.out", lu_solve).slow_on_cpu(),
      row("_linalg_solve_ex.result", solve_ex).slow_on_cpu(),
      row("linalg_inv_ex.inverse", inverse).slow_on_cpu(),
      row("_linalg_det.result", det).by_layout().slow_on_cpu(),
      row("_linalg_slogdet.sign", slogdet).by_layout().slow_on_cpu(),
  };
}

}  // namespace tpu::ops
