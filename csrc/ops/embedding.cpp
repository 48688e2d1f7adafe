// Family embedding: rows of a table (`weight`), alone or gathered into bags, which are sums, means or maxima of rows.
// What goes in: the table, integer indices, for bags the places in the list of indices where they begin (`offsets`).
// What comes out: the rows or the bags; going backward, the gradient of the table.
//
// Note [Bags]
// Beside the bags the forward returns what its gradient needs: the bag of each index (offset2bag), the size of each bag
// and the rows that were the maxima. PyTorch's CPU and CUDA kernels, which leave out different parts, shape them
// differently, and its meta function says which of the two a device has: anything but a CPU is like CUDA. Compiled
// graphs go by it, and so do we. What a CPU kernel fills in is filled in here: sizes of sums are zeros.
#include "ops/access.h"
#include "ops/axis.h"
#include "ops/elementwise.h"
#include "ops/sort.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ shared moves

Value zeros(Context& c, ElementType element, const Dims& dims) {
  return hlo::constant(c.builder(), {element, dims}, 0);
}

/// One number per row of `rows`.
Value per_row(const Value& numbers, const Value& rows) {
  return hlo::broadcast_in_dim(hlo::convert(numbers, rows.element()), rows.dims(), {0});
}

Value part(const Value& list, int64_t begin, int64_t end) { return hlo::slice(list, {begin}, {end}, {1}); }

void expect_indices(Context& c, const char* op, int position, const char* name) {
  ElementType element = c.type(name).element;
  c.expect(element == ElementType::S64 || element == ElementType::S32, ErrorCode::InvalidArgument,
           "Expected tensor for argument #", position, " '", name,
           "' to have one of the following scalar types: Long, Int; but got ", torch_name(element),
           " instead (while checking arguments for ", op, ")");
}

// ------------------------------------------------------------------------------------------------ single rows

Values embedding(Context& c) {
  Value weight = c.tensor("weight"), indices = c.tensor("indices");
  c.expect(weight.rank() == 2, ErrorCode::InvalidArgument, "'weight' must be 2-D");
  expect_indices(c, "embedding", 1, "indices");
  return {read(weight, along(weight, 0, checked(c, indices, in_self(weight.dims()[0]))))};
}

// The rows of padding_idx get no gradient: their index is sent out of range, where scatter drops it.
Values embedding_dense_backward(Context& c) {
  Value grad = c.tensor("grad_output"), indices = c.tensor("indices");
  int64_t rows = c.integer("num_weights"), padding = c.integer("padding_idx");
  int64_t count = indices.type.count(), width = grad.dims().back();
  Value index = hlo::reshape(indices, {count});
  if (padding >= 0) index = hlo::select(hlo::eq(index, hlo::like(index, padding)), hlo::like(index, rows), index);
  ElementType type = compute_type(grad.element());
  Value updates = hlo::convert(hlo::reshape(grad, {count, width}), type);
  if (c.flag("scale_grad_by_freq") && rows != 0) {
    Value seen = zeros(c, type, {rows});
    seen = write(seen, along(seen, 0, index), hlo::constant(c.builder(), {type, {count}}, 1),
                 hlo::body_of(hlo::Reducer::Add));
    updates = updates / per_row(read(seen, along(seen, 0, index)), updates);
  }
  Value table = zeros(c, type, {rows, width});
  return {hlo::convert(add_at(table, along(table, 0, index), updates), grad.element())};
}

// Every row that an index names is scaled down to the largest norm, once.
Values embedding_renorm(Context& c) {
  Value self = c.tensor("self"), indices = c.tensor("indices");
  c.expect(self.rank() == 2, ErrorCode::InvalidArgument, "Expected 2-dimensional tensor, but got ", self.rank(),
           "-dimensional tensor for argument #1 'self' (while checking arguments for embedding_renorm_)");
  expect_indices(c, "embedding_renorm_", 2, "indices");
  c.expect(is_floating(self.element()), ErrorCode::InvalidArgument,
           "norm(): input dtype should be either floating point or complex. Got ", scalar_type_name(self.element()),
           " instead.");
  int64_t count = indices.type.count(), size = self.dims()[0];
  Range range{
      size, true, ErrorCode::Index,
      concat("select(): index {} out of range for tensor of size [", size, ", ", self.dims()[1], "] at dimension 0")};
  Access access = along(self, 0, checked(c, hlo::reshape(indices, {count}), range));
  Value rows = hlo::convert(read(self, access), compute_type(self.element()));
  Value norm = norm_of(c, rows, fold_one(c, rows, 1), "norm_type");
  Value limit = hlo::broadcast(c.scalar("max_norm", norm.element()), norm.dims());
  Value scale = hlo::select(hlo::gt(norm, limit), limit / (norm + hlo::like(norm, 1e-7)), hlo::like(norm, 1.0));
  return {write(self, access, hlo::convert(rows * per_row(scale, rows), self.element()), replace)};
}

// ------------------------------------------------------------------------------------------------ bags of rows

enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

/// The bag of each index: how many of the bags begin at it or before it, less one.
Value bag_of_each(const Value& begins, int64_t count) {
  Value place = hlo::iota(*begins.builder, {ElementType::S32, {count}}, 0);
  Value bags = binary_search(hlo::convert(begins, ElementType::S32), {}, place, true);
  return hlo::convert(bags, ElementType::S32) - hlo::like(place, 1);
}

/// The list of indices, cut into bags.
struct Bags {
  int64_t count = 0;  // of bags
  Value index;        // checked
  Value begins;       // of each bag
  Value bag;          // of each index
  Value is_padding;   // whether an index counts for nothing; none where there is no padding index

  /// The bag that gets the row of each index; none, which scatter drops, for padding.
  Value receiver() const { return is_padding ? hlo::select(is_padding, hlo::like(bag, count), bag) : bag; }
  /// How many indices that are no padding each bag has.
  Value sizes() const {
    int64_t indices = bag.dims()[0];
    if (count == 0) return begins;
    Value end = hlo::constant(*begins.builder, {begins.element(), {1}}, indices);
    Value sizes = hlo::concatenate({part(begins, 1, count), end}, 0) - begins;
    if (!is_padding) return sizes;
    return add_at(sizes, along(sizes, 0, bag), -hlo::convert(is_padding, sizes.element()));
  }
};

void expect_bags(Context& c) {
  const Type weight = c.type("weight"), indices = c.type("indices"), offsets = c.type("offsets");
  const char* op = "embedding_bag";
  c.expect(indices.rank() == 1, ErrorCode::InvalidArgument, "input has to be a 1D Tensor, but got Tensor of dimension ",
           indices.rank());
  c.expect(offsets.rank() == 1, ErrorCode::InvalidArgument,
           "offsets has to be a 1D Tensor, but got Tensor of dimension ", offsets.rank());
  c.expect(weight.rank() == 2, ErrorCode::InvalidArgument, "weight has to be a 2D Tensor, but got Tensor of dimension ",
           weight.rank());
  expect_indices(c, op, 1, "indices");
  expect_indices(c, op, 1, "offsets");
  c.expect(is_floating(weight.element), ErrorCode::InvalidArgument,
           "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, "
           "Double; but got ",
           torch_name(weight.element), " instead (while checking arguments for embedding_bag)");
  c.expect(!c.flag("include_last_offset") || offsets.count() != 0, ErrorCode::InvalidArgument,
           "include_last_offset: number of offset should be at least 1");
  int64_t mode = c.integer("mode");
  c.expect(mode == kSum || mode == kMean || mode == kMax, ErrorCode::InvalidArgument,
           "`mode` must be sum, mean, or max.");
  if (!c.has("per_sample_weights")) return;
  const Type weights = c.type("per_sample_weights");
  c.expect(mode == kSum, ErrorCode::InvalidArgument,
           "embedding_bag: per_sample_weights only supported with mode='sum'");
  c.expect(weights.element == weight.element, ErrorCode::InvalidArgument,
           "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
           "'per_sample_weights'; but type ",
           torch_name(weight.element), " does not equal ", torch_name(weights.element),
           " (while checking arguments for embedding_bag)");
  c.expect(weights.dims == indices.dims, ErrorCode::InvalidArgument,
           "embedding_bag: expected per_sample_weights of shape ", to_string(indices.dims), ", as input has, got ",
           to_string(weights.dims));
}

// Where bags begin is checked as the CPU does; that they do not go back is what CUDA asserts.
void check_offsets(Context& c, const Value& offsets, int64_t indices) {
  int64_t count = offsets.dims()[0];
  if (count == 0) return;
  Value first = part(offsets, 0, 1), last = part(offsets, count - 1, count);
  c.require_not(hlo::ne(first, hlo::like(first, 0)), first, ErrorCode::InvalidArgument,
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                "However, got {}");
  c.require_not(hlo::gt(last, hlo::like(last, indices)), last, ErrorCode::InvalidArgument,
                concat("offsets[-1] can not be greater than input's length ", indices, " but got offsets[-1] of {}"));
  if (count == 1) return;
  Value next = part(offsets, 1, count);
  c.require_not(hlo::lt(next, part(offsets, 0, count - 1)), next, ErrorCode::InvalidArgument,
                "embedding_bag: expected offsets that do not decrease, but {} comes after a greater one");
}

Bags bags_of(Context& c, ElementType type) {
  expect_bags(c);
  Value indices = c.tensor("indices"), offsets = c.tensor("offsets", type);
  int64_t count = indices.dims()[0], padding = c.integer("padding_idx");
  check_offsets(c, offsets, count);
  Bags bags;
  bags.count = offsets.dims()[0] - (c.flag("include_last_offset") ? 1 : 0);
  bags.begins = part(offsets, 0, bags.count);
  bags.bag = bag_of_each(bags.begins, count);
  bags.index = checked(c, indices,
                       {c.type("weight").dims[0], false, ErrorCode::InvalidArgument,
                        "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {}"});
  if (padding >= 0) bags.is_padding = hlo::eq(bags.index, hlo::like(bags.index, padding));
  return bags;
}

Value sum_of(Context& c, const Value& weight, const Bags& bags) {
  ElementType type = compute_type(weight.element());
  Value rows = hlo::convert(read(weight, along(weight, 0, bags.index)), type);
  if (c.has("per_sample_weights")) rows = rows * per_row(c.tensor("per_sample_weights"), rows);
  Value sums = zeros(c, type, {bags.count, weight.dims()[1]});
  return add_at(sums, along(sums, 0, bags.receiver()), rows);
}

/// Per bag and column the first place in the list of indices that has the maximum, `none` in a bag without any. As in
/// the CPU's loop a NaN that comes first stays, since nothing is greater, and any other is passed over.
Value place_of_maximum(Context& c, const Value& weight, const Bags& bags, int64_t none) {
  Value rows = hlo::convert(read(weight, along(weight, 0, bags.index)), compute_type(weight.element()));
  Value place = hlo::iota(c.builder(), {ElementType::S32, bags.bag.dims()}, 0), receiver = bags.receiver();
  Value firsts = hlo::constant(c.builder(), {ElementType::S32, {bags.count}}, none);
  firsts = write(firsts, along(firsts, 0, receiver), place, hlo::body_of(hlo::Reducer::Min));
  Value is_first = hlo::eq(read(firsts, along(firsts, 0, bags.bag)), place);
  Value of_nan = hlo::select(is_first, hlo::like(hlo::convert(place, rows.element()), INFINITY),
                             hlo::like(hlo::convert(place, rows.element()), -INFINITY));
  Value score = hlo::select(is_nan(rows), per_row(of_nan, rows), rows);

  Dims dims = {bags.count, weight.dims()[1]};
  Value best = hlo::constant(c.builder(), {rows.element(), dims}, -INFINITY);
  best = write(best, along(best, 0, receiver), score, hlo::body_of(hlo::Reducer::Max));
  Value has_best = hlo::eq(read(best, along(best, 0, bags.bag)), score);
  Value places = hlo::broadcast_in_dim(place, rows.dims(), {0});
  Value found = hlo::constant(c.builder(), {ElementType::S32, dims}, none);
  return write(found, along(found, 0, receiver), hlo::select(has_best, places, hlo::like(places, none)),
               hlo::body_of(hlo::Reducer::Min));
}

Values embedding_bag(Context& c) {
  ElementType indices = c.type("indices").element, offsets = c.type("offsets").element;
  ElementType type = indices == offsets ? indices : ElementType::S64;
  Bags bags = bags_of(c, type);
  Value weight = c.tensor("weight");
  int64_t mode = c.integer("mode"), count = bags.bag.dims()[0];
  Dims dims = {bags.count, weight.dims()[1]};
  Value sizes = mode == kSum ? zeros(c, type, {bags.count}) : bags.sizes();
  Value result = zeros(c, weight.element(), dims), maxima = zeros(c, type, mode == kMax ? dims : Dims{0});
  if (result.type.count() == 0 || count == 0) {
    // There are no bags, or all are empty.
  } else if (mode == kMax) {
    Value place = place_of_maximum(c, weight, bags, count);
    Value is_empty = hlo::eq(place, hlo::like(place, count));
    Value row = read(bags.index, along(bags.index, 0, place));
    result = hlo::select(is_empty, result, read(weight, elementwise(weight, 0, row)));
    maxima = hlo::select(is_empty, maxima, hlo::convert(row, type));
  } else {
    Value sums = sum_of(c, weight, bags);
    if (mode == kMean) sums = sums / per_row(hlo::maximum(sizes, hlo::like(sizes, 1)), sums);
    result = hlo::convert(sums, weight.element());
  }
  if (c.flag("include_last_offset")) sizes = hlo::concatenate({sizes, zeros(c, type, {1})}, 0);
  return {result, hlo::convert(bags.bag, type), sizes, maxima};
}

/// offset2bag, which the CPU's forward leaves out where it needs it not.
Value bags_of_indices(Context& c) {
  Value bag = c.tensor("offset2bag");
  int64_t count = c.type("indices").dims[0];
  return bag.type.count() == 0 && count != 0 ? bag_of_each(c.tensor("offsets"), count) : bag;
}

// An empty bag has no maxima: its row number is sent out of range.
Value gradient_of_maxima(Context& c, const Value& table, const Value& grad) {
  Value row = c.tensor("maximum_indices");
  Value sizes = part(c.tensor("bag_size"), 0, grad.dims()[0]);
  Value is_empty = hlo::broadcast_in_dim(hlo::eq(sizes, hlo::like(sizes, 0)), row.dims(), {0});
  row = hlo::select(is_empty, hlo::like(row, table.dims()[0]), row);
  return add_at(table, elementwise(table, 0, row), grad);
}

// scale_grad_by_freq divides by how often an index is in the list, as documented and as on CUDA; the CPU kernel looks
// that number up at another index.
Value gradient_of_sums(Context& c, const Value& table, const Value& grad) {
  Value index = c.tensor("indices"), bag = c.tensor("offset2bag");
  int64_t rows = table.dims()[0], count = index.type.count(), padding = c.integer("padding_idx");
  if (padding >= 0) index = hlo::select(hlo::eq(index, hlo::like(index, padding)), hlo::like(index, rows), index);
  Value scale = hlo::constant(c.builder(), {table.element(), {count}}, 1);
  if (c.has("per_sample_weights")) scale = hlo::convert(c.tensor("per_sample_weights"), scale.element());
  if (c.flag("scale_grad_by_freq")) {
    Value seen = zeros(c, scale.element(), {rows});
    seen = add_at(seen, along(seen, 0, index), hlo::like(scale, 1));
    scale = scale / read(seen, along(seen, 0, index));
  }
  if (c.integer("mode") == kMean) {
    Value sizes = c.tensor("bag_size");
    sizes = hlo::convert(hlo::maximum(sizes, hlo::like(sizes, 1)), scale.element());
    scale = scale / read(sizes, along(sizes, 0, bag));
  }
  Value updates = read(grad, along(grad, 0, bag));
  return add_at(table, along(table, 0, index), updates * per_row(scale, updates));
}

Values embedding_bag_dense_backward(Context& c) {
  Value grad = c.tensor("grad");
  ElementType type = compute_type(grad.element());
  Value table = zeros(c, type, {c.integer("num_weights"), grad.dims()[1]});
  if (grad.type.count() != 0 && table.type.count() != 0) {
    Value wide = hlo::convert(grad, type);
    table = c.integer("mode") == kMax ? gradient_of_maxima(c, table, wide) : gradient_of_sums(c, table, wide);
  }
  return {hlo::convert(table, grad.element())};
}

Values embedding_bag_per_sample_weights_backward(Context& c) {
  Value grad = c.tensor("grad"), weight = c.tensor("weight"), index = c.tensor("indices");
  c.expect(c.integer("mode") == kSum, ErrorCode::InvalidArgument,
           "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  c.expect(grad.rank() == 2 && weight.rank() == 2 && index.rank() == 1 && weight.dims()[1] == grad.dims()[1],
           ErrorCode::InvalidArgument,
           "embedding_bag_backward: expected grad [bags, n], weight [rows, n] and indices "
           "of one dimension, got ",
           to_string(grad.dims()), ", ", to_string(weight.dims()), " and ", to_string(index.dims()));
  ElementType type = compute_type(grad.element());
  int64_t padding = c.integer("padding_idx");
  if (index.type.count() == 0 || grad.type.count() == 0) return {zeros(c, grad.element(), index.dims())};
  Value of_bag = hlo::convert(read(grad, along(grad, 0, bags_of_indices(c))), type);
  Value rows = hlo::convert(read(weight, along(weight, 0, index)), type);
  Value products = hlo::reduce(of_bag * rows, {1}, hlo::Reducer::Add);
  if (padding >= 0) products = hlo::select(hlo::eq(index, hlo::like(index, padding)), zeros_like(products), products);
  return {hlo::convert(products, grad.element())};
}

}  // namespace

Table embedding_table() {
  const std::vector<double> orders(std::begin(kNormOrders), std::end(kNormOrders));
  return {
      row("embedding", embedding),
      row("embedding_dense_backward", embedding_dense_backward),
      row("embedding_renorm_", embedding_renorm).special("norm_type", orders),

      row("_embedding_bag", embedding_bag),
      row("_embedding_bag_forward_only", embedding_bag),
      row("_embedding_bag_dense_backward", embedding_bag_dense_backward),
      row("_embedding_bag_per_sample_weights_backward", embedding_bag_per_sample_weights_backward),
  };
}

}  // namespace tpu::ops
