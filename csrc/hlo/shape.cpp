#include <algorithm>

#include "hlo/attributes.h"
#include "hlo/constraint.h"
#include "hlo/ops.h"

namespace tpu::hlo {

namespace {

void require_starts(std::string_view op, const Value& x, const Values& starts) {
  require(static_cast<int64_t>(starts.size()) == x.rank(), op, "expected ", x.rank(), " start indices, got ",
          starts.size());
  for (const Value& start : starts) {
    require_kind(op, start, kInteger);
    require(start.rank() == 0 && start.type == starts[0].type, op, "expected 0-d start indices of one type, got ",
            show(start), " beside ", show(starts[0]));
  }
}

bool is_identity(const Dims& map) {
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool all_are(const Dims& list, int64_t value) {
  for (int64_t item : list)
    if (item != value) return false;
  return true;
}

Values join(const Value& first, const Values& rest) {
  Values all{first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

void require_ascending(std::string_view op, const char* what, const Dims& dims, int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    require_dim(op, what, dims[i], rank);
    require(i == 0 || dims[i - 1] < dims[i], op, "expected ascending ", what, ", got ", show(dims));
  }
}

void append_list(std::string& text, const char* name, const Dims& dims) {
  if (dims.empty()) return;
  text += name;
  text += " = ";
  text += to_string(dims);
  text += ", ";
}

/// Sizes of the index batch: all dims of `indices` but index_vector_dim, which may lie one past the end.
Dims index_batch(std::string_view op, const Value& indices, int64_t index_vector_dim, size_t index_count) {
  require(index_vector_dim >= 0 && index_vector_dim <= indices.rank(), op, "expected index_vector_dim in [0, ",
          indices.rank(), "], got ", index_vector_dim);
  int64_t vector = index_vector_dim < indices.rank() ? indices.dims()[index_vector_dim] : 1;
  require(vector == static_cast<int64_t>(index_count), op, "expected ", index_count,
          " indices along index_vector_dim, got ", show(indices));
  Dims batch = indices.dims();
  if (index_vector_dim < indices.rank()) batch.erase(index_vector_dim);
  return batch;
}

/// The batching dims of operand and indices must pair up with equal sizes.
void require_paired_batching(std::string_view op, const Value& x, const Dims& of_operand, const Value& indices,
                             const Dims& of_indices, int64_t index_vector_dim) {
  require(of_operand.size() == of_indices.size(), op,
          "expected as many batching dims of the operand as of the indices, got ", show(of_operand), " and ",
          show(of_indices));
  require_distinct_dims(op, "batching dims of the indices", of_indices, indices.rank());
  for (size_t i = 0; i < of_operand.size(); ++i) {
    require(of_indices[i] != index_vector_dim, op, "index_vector_dim ", index_vector_dim, " is a batching dim");
    require(x.dims()[of_operand[i]] == indices.dims()[of_indices[i]], op, "batching dims differ in size: ", show(x),
            " and ", show(indices));
  }
}

}  // namespace

Value broadcast(const Value& scalar, const Dims& sizes) {
  require(scalar.rank() == 0, "stablehlo.broadcast_in_dim", "expected a 0-d operand, got ", show(scalar));
  return broadcast_in_dim(scalar, sizes, {});
}

Value broadcast_in_dim(const Value& x, const Dims& sizes, const Dims& map) {
  constexpr std::string_view op = "stablehlo.broadcast_in_dim";
  require_value(op, x);
  require_length(op, "broadcast dimensions", map, x.rank());
  int64_t rank = static_cast<int64_t>(sizes.size());
  require_distinct_dims(op, "broadcast dimensions", map, rank);
  for (size_t i = 0; i < map.size(); ++i) {
    require(x.dims()[i] == 1 || x.dims()[i] == sizes[map[i]], op, "expected size 1 or ", sizes[map[i]],
            " in dimension ", i, " of ", show(x), " for result ", show(sizes));
  }
  if (x.dims() == sizes && is_identity(map)) return x;
  return x.builder->generic(op, {x}, {x.element(), sizes}, Attributes().list("broadcast_dimensions", map).text());
}

Value concatenate(const Values& inputs, int64_t dim) {
  constexpr std::string_view op = "stablehlo.concatenate";
  require(!inputs.empty(), op, "expected at least one operand");
  for (const Value& input : inputs) require_value(op, input);
  const Value& first = inputs[0];
  require_dim(op, "dimension", dim, first.rank());
  if (inputs.size() == 1) return first;
  Type result = first.type;
  for (size_t i = 1; i < inputs.size(); ++i) {
    Type expected = first.type;
    if (inputs[i].rank() == first.rank()) expected.dims[dim] = inputs[i].dims()[dim];
    require(inputs[i].type == expected, op, "expected operands equal but for dimension ", dim, ", got ", show(first),
            " and ", show(inputs[i]));
    result.dims[dim] += inputs[i].dims()[dim];
  }
  return first.builder->generic(op, inputs, result, Attributes().number("dimension", dim).text());
}

Value dynamic_slice(const Value& x, const Values& starts, const Dims& sizes) {
  constexpr std::string_view op = "stablehlo.dynamic_slice";
  require_value(op, x);
  require_starts(op, x, starts);
  require_length(op, "slice sizes", sizes, x.rank());
  for (size_t i = 0; i < sizes.size(); ++i) {
    require(sizes[i] >= 0 && sizes[i] <= x.dims()[i], op, "expected slice sizes within ", show(x), ", got ",
            show(sizes));
  }
  if (sizes == x.dims()) return x;  // the starts would all be clamped to 0
  return x.builder->generic(op, join(x, starts), {x.element(), sizes}, Attributes().list("slice_sizes", sizes).text());
}

Value dynamic_update_slice(const Value& x, const Value& update, const Values& starts) {
  constexpr std::string_view op = "stablehlo.dynamic_update_slice";
  require_value(op, x);
  require_value(op, update);
  require_starts(op, x, starts);
  require(update.element() == x.element() && update.rank() == x.rank(), op,
          "expected an update of x's element type and rank, got ", show(x), " and ", show(update));
  for (int64_t i = 0; i < x.rank(); ++i) {
    require(update.dims()[i] <= x.dims()[i], op, "expected an update within ", show(x), ", got ", show(update));
  }
  if (update.type == x.type) return update;
  Values operands{x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return x.builder->generic(op, operands, x.type);
}

Value gather(const Value& x, const Value& indices, const GatherDims& dims, const Dims& slice_sizes, bool sorted) {
  constexpr std::string_view op = "stablehlo.gather";
  require_value(op, x);
  require_kind(op, indices, kInteger);
  require_length(op, "slice sizes", slice_sizes, x.rank());
  require_ascending(op, "collapsed_slice_dims", dims.collapsed_slice_dims, x.rank());
  require_ascending(op, "operand_batching_dims", dims.operand_batching_dims, x.rank());
  require_distinct_dims(op, "start_index_map", dims.start_index_map, x.rank());
  Dims batch = index_batch(op, indices, dims.index_vector_dim, dims.start_index_map.size());
  require_paired_batching(op, x, dims.operand_batching_dims, indices, dims.start_indices_batching_dims,
                          dims.index_vector_dim);
  Dims offset;
  for (int64_t i = 0; i < x.rank(); ++i) {
    bool collapsed = contains(dims.collapsed_slice_dims, i);
    bool batching = contains(dims.operand_batching_dims, i);
    int64_t most = collapsed || batching ? std::min<int64_t>(1, x.dims()[i]) : x.dims()[i];
    require(slice_sizes[i] >= 0 && slice_sizes[i] <= most, op, "expected a slice size of at most ", most,
            " in dimension ", i, " of ", show(x), ", got ", show(slice_sizes));
    require(!(collapsed && batching) && !(batching && contains(dims.start_index_map, i)), op, "dimension ", i,
            " of the operand has two roles");
    if (!collapsed && !batching) offset.push_back(slice_sizes[i]);
  }
  int64_t rank = static_cast<int64_t>(batch.size() + offset.size());
  require_length(op, "offset_dims", dims.offset_dims, static_cast<int64_t>(offset.size()));
  require_ascending(op, "offset_dims", dims.offset_dims, rank);
  Type result{x.element(), {}};
  for (int64_t i = 0, next_batch = 0, next_offset = 0; i < rank; ++i) {
    result.dims.push_back(contains(dims.offset_dims, i) ? offset[next_offset++] : batch[next_batch++]);
  }
  std::string numbers = "#stablehlo.gather<";
  append_list(numbers, "offset_dims", dims.offset_dims);
  append_list(numbers, "collapsed_slice_dims", dims.collapsed_slice_dims);
  append_list(numbers, "operand_batching_dims", dims.operand_batching_dims);
  append_list(numbers, "start_indices_batching_dims", dims.start_indices_batching_dims);
  append_list(numbers, "start_index_map", dims.start_index_map);
  numbers += "index_vector_dim = " + std::to_string(dims.index_vector_dim) + ">";
  Attributes attributes;
  attributes.raw("dimension_numbers", numbers).flag("indices_are_sorted", sorted).list("slice_sizes", slice_sizes);
  return x.builder->generic(op, {x, indices}, result, attributes.text());
}

Value pad(const Value& x, const Value& value, const Dims& low, const Dims& high, const Dims& interior) {
  constexpr std::string_view op = "stablehlo.pad";
  require_value(op, x);
  require_scalar(op, "padding value", value, x.element());
  require_length(op, "edge_padding_low", low, x.rank());
  require_length(op, "edge_padding_high", high, x.rank());
  require_length(op, "interior_padding", interior, x.rank());
  if (all_are(low, 0) && all_are(high, 0) && all_are(interior, 0)) return x;
  Type result = x.type;
  for (int64_t i = 0; i < x.rank(); ++i) {
    require(interior[i] >= 0, op, "expected interior_padding >= 0, got ", show(interior));
    result.dims[i] += low[i] + high[i] + std::max<int64_t>(x.dims()[i] - 1, 0) * interior[i];
    require(result.dims[i] >= 0, op, "padding ", show(low), ", ", show(high), " removes more than ", show(x), " has");
  }
  Attributes attributes;
  attributes.list("edge_padding_low", low).list("edge_padding_high", high).list("interior_padding", interior);
  return x.builder->generic(op, {x, value}, result, attributes.text());
}

Value reshape(const Value& x, const Dims& sizes) {
  constexpr std::string_view op = "stablehlo.reshape";
  require_value(op, x);
  if (x.dims() == sizes) return x;
  require(x.type.count() == product(sizes), op, "expected ", x.type.count(), " elements of ", show(x), ", got dims ",
          show(sizes));
  return x.builder->generic(op, {x}, {x.element(), sizes});
}

Value reverse(const Value& x, const Dims& dims) {
  constexpr std::string_view op = "stablehlo.reverse";
  require_value(op, x);
  require_distinct_dims(op, "dimensions", dims, x.rank());
  if (dims.empty()) return x;
  return x.builder->generic(op, {x}, x.type, Attributes().list("dimensions", dims).text());
}

Values scatter(const Values& inputs, const Value& indices, const Values& updates, const ScatterDims& dims,
               const Region& update, bool sorted, bool unique) {
  constexpr std::string_view op = "stablehlo.scatter";
  require(!inputs.empty() && inputs.size() == updates.size(), op, "expected as many updates as inputs, got ",
          inputs.size(), " and ", updates.size());
  require_kind(op, indices, kInteger);
  for (size_t i = 0; i < inputs.size(); ++i) {
    require_value(op, inputs[i]);
    require_value(op, updates[i]);
    require(inputs[i].dims() == inputs[0].dims() && updates[i].dims() == updates[0].dims(), op,
            "expected inputs of equal dims and updates of equal dims");
    require(inputs[i].element() == updates[i].element(), op, "expected an update of input ", i, "'s element type, got ",
            show(inputs[i]), " and ", show(updates[i]));
  }
  const Value& x = inputs[0];
  const Dims& sizes = updates[0].dims();
  require_ascending(op, "inserted_window_dims", dims.inserted_window_dims, x.rank());
  require_ascending(op, "input_batching_dims", dims.input_batching_dims, x.rank());
  require_ascending(op, "update_window_dims", dims.update_window_dims, updates[0].rank());
  require_distinct_dims(op, "scatter_dims_to_operand_dims", dims.scatter_dims_to_operand_dims, x.rank());
  Dims batch = index_batch(op, indices, dims.index_vector_dim, dims.scatter_dims_to_operand_dims.size());
  require_paired_batching(op, x, dims.input_batching_dims, indices, dims.scatter_indices_batching_dims,
                          dims.index_vector_dim);
  require(dims.update_window_dims.size() + dims.inserted_window_dims.size() + dims.input_batching_dims.size() ==
              x.dims().size(),
          op, "expected window, inserted and batching dims to be all dims of ", show(x));
  size_t next_batch = 0, next_window = 0;
  require(sizes.size() == batch.size() + dims.update_window_dims.size(), op, "expected updates of rank ",
          batch.size() + dims.update_window_dims.size(), ", got ", show(updates[0]));
  Dims window;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!contains(dims.inserted_window_dims, i) && !contains(dims.input_batching_dims, i))
      window.push_back(x.dims()[i]);
  }
  for (int64_t i = 0; i < updates[0].rank(); ++i) {
    if (contains(dims.update_window_dims, i)) {
      require(sizes[i] <= window[next_window++], op, "window of ", show(updates[0]), " exceeds ", show(x));
    } else {
      require(sizes[i] == batch[next_batch++], op, "updates ", show(updates[0]), " do not fit the indices ",
              show(indices));
    }
  }

  Types arguments, body_results, results;
  for (const Value& input : inputs) {
    body_results.push_back(scalar_of(input));
    results.push_back(input.type);
  }
  arguments = body_results;
  arguments.insert(arguments.end(), body_results.begin(), body_results.end());
  Values returned;
  std::string body = x.builder->region(arguments, update, Captures::Forbidden, &returned);
  require_types(op, "update", returned, body_results);

  std::string numbers = "#stablehlo.scatter<";
  append_list(numbers, "update_window_dims", dims.update_window_dims);
  append_list(numbers, "inserted_window_dims", dims.inserted_window_dims);
  append_list(numbers, "input_batching_dims", dims.input_batching_dims);
  append_list(numbers, "scatter_indices_batching_dims", dims.scatter_indices_batching_dims);
  append_list(numbers, "scatter_dims_to_operand_dims", dims.scatter_dims_to_operand_dims);
  numbers += "index_vector_dim = " + std::to_string(dims.index_vector_dim) + ">";
  Attributes attributes;
  attributes.raw("scatter_dimension_numbers", numbers)
      .flag("indices_are_sorted", sorted)
      .flag("unique_indices", unique);
  Values operands = inputs;
  operands.push_back(indices);
  operands.insert(operands.end(), updates.begin(), updates.end());
  return x.builder->generic(op, operands, results, attributes.text(), std::span(&body, 1));
}

Value slice(const Value& x, const Dims& start, const Dims& limit, const Dims& strides) {
  constexpr std::string_view op = "stablehlo.slice";
  require_value(op, x);
  require_length(op, "start_indices", start, x.rank());
  require_length(op, "limit_indices", limit, x.rank());
  require_length(op, "strides", strides, x.rank());
  Type result = x.type;
  for (int64_t i = 0; i < x.rank(); ++i) {
    require(0 <= start[i] && start[i] <= limit[i] && limit[i] <= x.dims()[i] && strides[i] > 0, op,
            "expected 0 <= start <= limit <= size and stride > 0 in dimension ", i, " of ", show(x), ", got ",
            show(start), ", ", show(limit), ", ", show(strides));
    result.dims[i] = (limit[i] - start[i] + strides[i] - 1) / strides[i];
  }
  if (result == x.type) return x;  // nothing cut off, so every stride that matters is 1
  Attributes attributes;
  attributes.list("limit_indices", limit).list("start_indices", start).list("strides", strides);
  return x.builder->generic(op, {x}, result, attributes.text());
}

Value transpose(const Value& x, const Dims& permutation) {
  constexpr std::string_view op = "stablehlo.transpose";
  require_value(op, x);
  require_length(op, "permutation entries", permutation, x.rank());
  require_distinct_dims(op, "permutation entries", permutation, x.rank());
  if (is_identity(permutation)) return x;
  Type result = x.type;
  for (int64_t i = 0; i < x.rank(); ++i) result.dims[i] = x.dims()[permutation[i]];
  return x.builder->generic(op, {x}, result, Attributes().list("permutation", permutation).text());
}

}  // namespace tpu::hlo
