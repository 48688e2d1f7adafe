// Family nonzero: positions of what is not zero, as many as asked for, and checks that something is not.
#include <algorithm>

#include "ops/elementwise.h"
#include "ops/scan.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

// The k-th element that is not zero writes its flat position to place k; those behind the last place are dropped.
Values nonzero_static(Context& c) {
  Value self = c.tensor("self");
  int64_t size = c.integer("size"), fill = c.integer("fill_value"), count = self.type.count(), rank = self.rank();
  c.expect(size >= 0, ErrorCode::InvalidArgument, "nonzero_static: 'size' must be an non-negative integer");
  hlo::Builder& builder = c.builder();
  Type result{ElementType::S64, {size, rank}};
  if (size == 0 || rank == 0 || count == 0) return {hlo::constant(builder, result, fill)};
  ElementType type = std::max(count, size) < INT32_MAX ? ElementType::S32 : ElementType::S64;
  Value is_there = hlo::reshape(truth(self), {count});
  Value place = running_sum(hlo::convert(is_there, type), 0) - hlo::constant(builder, {type, {count}}, 1);
  place = hlo::select(is_there, place, hlo::like(place, size));
  hlo::ScatterDims dims{.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};
  auto replace = [](const Values& v) -> Values { return {v[1]}; };
  Value flat = hlo::scatter({hlo::constant(builder, {type, {size}}, -1)}, place, {hlo::iota(builder, place.type, 0)},
                            dims, replace)[0];
  Value is_found = hlo::ge(flat, hlo::like(flat, 0));
  Values columns;
  int64_t stride = count;
  for (int64_t dim : self.dims()) {
    stride /= dim;
    Value at = hlo::remainder(flat / hlo::like(flat, stride), hlo::like(flat, dim));
    at = hlo::convert(hlo::select(is_found, at, hlo::like(at, 0)), ElementType::S64);
    columns.push_back(hlo::reshape(hlo::select(is_found, at, hlo::like(at, fill)), {size, 1}));
  }
  return {hlo::concatenate(columns, 1)};
}

void require_nonzero(Context& c, const std::string& message) {
  Value self = c.tensor("self");
  c.expect(self.type.count() == 1, ErrorCode::InvalidArgument,
           self.type.count() == 0 ? "Boolean value of Tensor with no values is ambiguous"
                                  : "Boolean value of Tensor with more than one value is ambiguous");
  Value failed = hlo::not_(truth(hlo::reshape(self, {})));
  c.require_not(failed, hlo::convert(failed, ElementType::S64), ErrorCode::InvalidArgument, message);
}

Values assert_async(Context& c) {
  std::string message =
      c.has("assert_msg") ? c.text("assert_msg") : "Expected Tensor with single nonzero value, but got zero";
  require_nonzero(c, message.empty() ? "Assertion is failed" : message);
  return {};
}

// The token orders assertions in a graph, nothing else.
Values functional_assert_async(Context& c) {
  require_nonzero(c, c.text("assert_msg"));
  return {c.tensor("dep_token")};
}

}  // namespace

Table nonzero_table() {
  return {
      row("nonzero_static", nonzero_static),
      row("nonzero_static.out", nonzero_static),
      row("_assert_async", assert_async),
      row("_assert_async.msg", assert_async),
      row("_functional_assert_async.msg", functional_assert_async),
  };
}

}  // namespace tpu::ops
