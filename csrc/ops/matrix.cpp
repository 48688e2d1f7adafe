#include "ops/matrix.h"

#include <cmath>

namespace tpu::ops {

using hlo::Value;
using hlo::Values;

void expect_factorable(const Context& c, ElementType type) {
  ElementType real = real_of(type);
  c.expect(real == ElementType::F32 || real == ElementType::F64, ErrorCode::NotImplemented, c.call().row->name, " of ",
           torch_name(type));
}

void require_none(Context& c, const Value& is_bad, const std::string& op, const std::string& what, bool is_single) {
  int64_t count = is_bad.dims()[0];
  Value place = hlo::iota(c.builder(), {ElementType::S64, {count}}, 0);
  Value first = hlo::reduce(hlo::select(is_bad, place, hlo::like(place, count)), {0}, hlo::Reducer::Min);
  first = hlo::reshape(first, {1});
  std::string where = is_single ? ": " : ": (Batch element {}): ";
  c.require_not(hlo::lt(first, hlo::like(first, count)), first, ErrorCode::LinAlg, op + where + what);
}

Dims batch_of(const Dims& dims) { return Dims(dims.begin(), dims.end() - 2); }

Dims matrices(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

Value stacked(const Value& x) {
  const Dims& dims = x.dims();
  return hlo::reshape(x, {product(batch_of(dims)), dims[dims.size() - 2], dims.back()});
}

Value stacked_vectors(const Value& x) {
  const Dims& dims = x.dims();
  return hlo::reshape(x, {product(Dims(dims.begin(), dims.end() - 1)), dims.back()});
}

Value with_batch(const Value& x, const Dims& batch) {
  return broadcast_to(x, matrices(batch, x.dims()[x.dims().size() - 2], x.dims().back()));
}

Value turned(const Value& x) {
  Dims order;
  for (int64_t i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return hlo::transpose(x, order);
}

Value conjugate(const Value& x) { return is_complex(x.element()) ? hlo::complex(hlo::real(x), -hlo::imag(x)) : x; }

Value adjoint(const Value& x) { return conjugate(turned(x)); }

Value row_of(const Value& x) { return hlo::iota(*x.builder, {ElementType::S32, x.dims()}, x.rank() - 2); }

Value column_of(const Value& x) { return hlo::iota(*x.builder, {ElementType::S32, x.dims()}, x.rank() - 1); }

Value in_triangle(const Value& x, bool lower) {
  Value row = row_of(x), column = column_of(x);
  return lower ? hlo::ge(row, column) : hlo::le(row, column);
}

Value triangle(const Value& x, bool lower) { return hlo::select(in_triangle(x, lower), x, zeros_like(x)); }

Value diagonal_of(const Value& x) {
  Value row = row_of(x), column = column_of(x);
  return hlo::reduce(hlo::select(hlo::eq(row, column), x, zeros_like(x)), {x.rank() - 1}, hlo::Reducer::Add);
}

Value identity(hlo::Builder& builder, const Type& type) {
  Type places = {ElementType::S32, type.dims};
  auto rank = static_cast<int64_t>(type.dims.size());
  Value is_diagonal = hlo::eq(hlo::iota(builder, places, rank - 2), hlo::iota(builder, places, rank - 1));
  return hlo::convert(is_diagonal, type.element);
}

Value times(const Value& a, const Value& b) {
  return hlo::dot_general(a, b, {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {1}});
}

Value in_rows(const Value& vector, const Dims& dims) { return hlo::broadcast_in_dim(vector, dims, {0, 2}); }

Value in_columns(const Value& vector, const Dims& dims) { return hlo::broadcast_in_dim(vector, dims, {0, 1}); }

Value in_each(const Value& numbers, const Dims& dims) { return hlo::broadcast_in_dim(numbers, dims, {0}); }

Value column_at(const Value& x, const Value& k) {
  const Dims& dims = x.dims();
  Value zero = hlo::like(k, 0);
  return hlo::reshape(hlo::dynamic_slice(x, {zero, zero, k}, {dims[0], dims[1], 1}), {dims[0], dims[1]});
}

Value rows_at(const Value& x, const Value& index) {
  hlo::GatherDims dims;
  dims.offset_dims = {2};
  dims.collapsed_slice_dims = {1};
  dims.operand_batching_dims = {0};
  dims.start_indices_batching_dims = {0};
  dims.start_index_map = {1};
  dims.index_vector_dim = 2;
  return hlo::gather(x, index, dims, {1, 1, x.dims()[2]});
}

Value element_at(const Value& x, const Value& k) {
  int64_t count = x.dims()[0];
  return hlo::reshape(hlo::dynamic_slice(x, {hlo::like(k, 0), k}, {count, 1}), {count});
}

Value with_element(const Value& x, const Value& k, const Value& element) {
  return hlo::dynamic_update_slice(x, hlo::reshape(element, {x.dims()[0], 1}), {hlo::like(k, 0), k});
}

Value exchanged(const Value& x, const Value& k, const Value& other) {
  Value place = hlo::iota(*x.builder, {ElementType::S32, x.dims()}, 1);
  Value is_other = hlo::eq(place, in_each(other, x.dims()));
  Value there = hlo::reduce(hlo::select(is_other, x, zeros_like(x)), {1}, hlo::Reducer::Add);
  Value moved = hlo::select(is_other, in_each(element_at(x, k), x.dims()), x);
  return hlo::select(hlo::eq(place, hlo::broadcast(k, x.dims())), in_each(there, x.dims()), moved);
}

Value inverse_order(const Value& order) {
  Dims square = {order.dims()[0], order.dims()[1], order.dims()[1]};
  Value row = hlo::iota(*order.builder, {ElementType::S32, square}, 1);
  Value place = hlo::iota(*order.builder, {ElementType::S32, square}, 2);
  Value found = hlo::select(hlo::eq(row, in_rows(order, square)), place, zeros_like(place));
  return hlo::reduce(found, {2}, hlo::Reducer::Add);
}

Value largest_from(const Value& x, const Value& k) {
  Value place = hlo::iota(*x.builder, {ElementType::S32, x.dims()}, 1);
  Value sizes = hlo::select(is_nan(x), hlo::like(x, INFINITY), x);
  sizes = hlo::select(hlo::ge(place, hlo::broadcast(k, x.dims())), sizes, hlo::like(x, -1.0));
  Value largest = in_each(hlo::reduce(sizes, {1}, hlo::Reducer::Max), sizes.dims());
  Value found = hlo::select(hlo::eq(sizes, largest), place, hlo::like(place, x.dims()[1]));
  return hlo::reduce(found, {1}, hlo::Reducer::Min);
}

Values repeat(const Value& times, const Values& inits, const Step& step) {
  Values carried = {hlo::like(times, 0), times};
  carried.insert(carried.end(), inits.begin(), inits.end());
  auto more = [](const Values& args) { return Values{hlo::lt(args[0], args[1])}; };
  auto body = [&](const Values& args) {
    Values next = {hlo::add(args[0], hlo::like(args[0], 1)), args[1]};
    for (Value& value : step(args[0], Values(args.begin() + 2, args.end()))) next.push_back(std::move(value));
    return next;
  };
  Values results = hlo::while_(carried, more, body);
  return Values(results.begin() + 2, results.end());
}

Values repeat(hlo::Builder& builder, int64_t times, const Values& inits, const Step& step) {
  return times == 0 ? inits : repeat(hlo::constant(builder, ElementType::S32, times), inits, step);
}

Value solve_triangle(const Value& a, const Value& b, bool upper, bool unit, hlo::Transpose transpose, bool left) {
  return b.type.count() == 0 ? b : hlo::triangular_solve(a, b, left, !upper, unit, transpose);
}

}  // namespace tpu::ops
