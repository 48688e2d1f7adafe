// Family factory: tensors made of numbers alone. What goes in: sizes as structure, start, end, step and base as
// run-time numbers, so that a range that moves compiles once.
#include <algorithm>

#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------- the shared moves

/// The type in which positions become values: integers exactly, float32 through float64 as torch's CPU kernels do where
/// the platform has it.
ElementType exact_type(const Context& c, ElementType element) {
  if (element == ElementType::Pred || is_integral(element)) return ElementType::S64;
  if (is_complex(element) || element == ElementType::F64) return element;
  return c.settings().is_cpu ? ElementType::F64 : ElementType::F32;
}

hlo::Value spread(const hlo::Value& scalar, int64_t count) { return hlo::broadcast(scalar, {count}); }

/// Positions 0, 1, .. of a real or complex type.
hlo::Value count_up(Context& c, ElementType element, int64_t count) {
  if (!is_complex(element)) return hlo::iota(c.builder(), {element, {count}}, 0);
  return hlo::convert(hlo::iota(c.builder(), {real_of(element), {count}}, 0), element);
}

// ----------------------------------------------------------------------------------------------------- ranges

// The aten layer gives `out` the size that start, end and step ask for.
hlo::Values arange(Context& c) {
  ElementType type = exact_type(c, c.target_element(0, ElementType::F32));
  int64_t count = c.target(0) ? c.target(0)->count() : 0;
  hlo::Value step = spread(c.scalar("step", type), count);
  return {spread(c.scalar("start", type), count) + step * hlo::iota(c.builder(), {type, {count}}, 0)};
}

/// `steps` positions of `type` from start to end, which are numbers of the dtype of the result, counted from the nearer
/// of the two so that both are hit exactly.
hlo::Value between(Context& c, ElementType element, ElementType type, int64_t steps) {
  hlo::Value start = hlo::convert(c.scalar("start", element), type), end = hlo::convert(c.scalar("end", element), type);
  if (steps <= 1) return spread(start, steps);
  // A barrier keeps XLA from dividing by a constant through its reciprocal: whole steps must come out whole.
  hlo::Value gaps = hlo::optimization_barrier(hlo::convert(hlo::scalar_like(hlo::real(start), steps - 1), type));
  hlo::Value step = spread((end - start) / gaps, steps);
  hlo::Value up = count_up(c, type, steps), down = hlo::reverse(up, {0});
  Type index{ElementType::S64, {steps}};
  hlo::Value nearer = hlo::lt(hlo::iota(c.builder(), index, 0), hlo::constant(c.builder(), index, steps / 2));
  return hlo::select(nearer, spread(start, steps) + step * up, spread(end, steps) - step * down);
}

ElementType step_type(ElementType element) {
  return element == ElementType::Pred || is_integral(element) ? ElementType::F64 : compute_type(element);
}

int64_t steps_of(Context& c) {
  int64_t steps = c.integer("steps");
  c.expect(steps >= 0, ErrorCode::InvalidArgument, "number of steps must be non-negative");
  return steps;
}

hlo::Values linspace(Context& c) {
  ElementType element = c.target_element(0, ElementType::F32);
  return {hlo::convert(between(c, element, step_type(element), steps_of(c)), element)};
}

hlo::Values logspace(Context& c) {
  ElementType element = c.target_element(0, ElementType::F32), type = step_type(element);
  int64_t steps = steps_of(c);
  // A single step takes start as it was given, several take it in the dtype of the result.
  hlo::Value exponent = steps == 1 ? spread(c.scalar("start", type), 1) : between(c, element, type, steps);
  return {hlo::convert(hlo::power(spread(c.scalar("base", type), steps), exponent), element)};
}

// ------------------------------------------------------------------------------------------ identity, triangles

hlo::Values eye(Context& c) {
  int64_t rows = c.integer("n"), columns = c.call().find("m") ? c.integer("m") : rows;
  c.expect(rows >= 0, ErrorCode::InvalidArgument, "n must be greater or equal to 0, got ", rows);
  c.expect(columns >= 0, ErrorCode::InvalidArgument, "m must be greater or equal to 0, got ", columns);
  Type index{ElementType::S32, {rows, columns}};
  hlo::Value diagonal = hlo::eq(hlo::iota(c.builder(), index, 0), hlo::iota(c.builder(), index, 1));
  return {hlo::convert(diagonal, c.target_element(0, ElementType::F32))};
}

/// The lower triangle row by row: first rows that grow by one, from `first_length` on, then full rows.
struct Triangle {
  int64_t first_row = 0;
  int64_t first_length = 0;
  int64_t growing_rows = 0;
  int64_t growing_count = 0;
  int64_t count = 0;

  Triangle(int64_t rows, int64_t columns, int64_t offset) {
    first_row = std::max<int64_t>(-offset, 0);
    int64_t filled = std::max<int64_t>(rows - first_row, 0);
    if (columns == 0 || filled == 0) return;
    first_length = std::min(columns, first_row + 1 + offset);
    growing_rows = std::min(filled, columns - first_length);
    growing_count = growing_rows * first_length + growing_rows * (growing_rows - 1) / 2;
    count = growing_count + (filled - growing_rows) * columns;
  }
};

/// Element k lies in the growing row i with i * f + i * (i - 1) / 2 <= k; the root in float64 may be off by one.
hlo::Values triangle_positions(Context& c, const Triangle& t, int64_t columns) {
  Type type{ElementType::S64, {t.count}};
  hlo::Builder& b = c.builder();
  auto number = [&](int64_t value) { return hlo::constant(b, type, value); };
  hlo::Value k = hlo::iota(b, type, 0), half = number(2);
  auto start = [&](const hlo::Value& row) { return row * number(t.first_length) + row * (row - number(1)) / half; };

  int64_t p = 2 * t.first_length - 1;
  hlo::Value radicand = hlo::convert(k * number(8) + number(p * p), ElementType::F64);
  hlo::Value row = (hlo::convert(hlo::sqrt(radicand), ElementType::S64) - number(p)) / half;
  row = hlo::select(hlo::gt(start(row), k), row - number(1), row);
  row = hlo::select(hlo::le(start(row + number(1)), k), row + number(1), row);
  hlo::Value column = k - start(row);

  hlo::Value rest = k - number(t.growing_count), grows = hlo::lt(rest, number(0)), width = number(columns);
  row = hlo::select(grows, row, number(t.growing_rows) + rest / width);
  column = hlo::select(grows, column, hlo::remainder(rest, width));
  return {row + number(t.first_row), column};
}

// The upper triangle turned by half a circle is a lower one.
template <bool lower>
hlo::Values triangle_indices(Context& c) {
  int64_t rows = c.integer("row"), columns = c.integer("col"), offset = c.integer("offset");
  c.expect(rows >= 0, ErrorCode::InvalidArgument, "row must be non-negative, got", rows);
  c.expect(columns >= 0, ErrorCode::InvalidArgument, "col must be non-negative, got", columns);
  ElementType element = c.element("dtype").value_or(ElementType::S64);
  c.expect(element == ElementType::S64 || element == ElementType::S32, ErrorCode::InvalidArgument, "\"",
           lower ? "tril" : "triu", "_indices\" not implemented for '", torch_name(element), "'");
  Triangle t(rows, columns, lower ? offset : columns - rows - offset);
  if (t.count == 0) return {hlo::constant(c.builder(), {element, {2, 0}}, 0)};
  hlo::Values positions = triangle_positions(c, t, columns);
  if (!lower) {
    int64_t last[] = {rows - 1, columns - 1};
    for (size_t i = 0; i < 2; ++i) positions[i] = hlo::reverse(hlo::like(positions[i], last[i]) - positions[i], {0});
  }
  for (hlo::Value& position : positions) position = hlo::reshape(position, {1, t.count});
  return {hlo::convert(hlo::concatenate(positions, 0), element)};
}

}  // namespace

Table factory_table() {
  return {
      row("arange.start_out", arange),
      row("range.out", arange),
      row("linspace.out", linspace),
      row("logspace.out", logspace),
      row("eye.out", eye),
      row("eye.m_out", eye),
      row("tril_indices", triangle_indices<true>),
      row("triu_indices", triangle_indices<false>),
  };
}

}  // namespace tpu::ops
