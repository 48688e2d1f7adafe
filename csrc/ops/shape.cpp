// Family shape: the same elements in another arrangement, with padding, or masked by position. What goes in: tensors
// and structural numbers; no element is computed from another, except that the backwards of copies are sums.
#include <algorithm>

#include "ops/elementwise.h"
#include "ops/host_call.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------- the shared moves

/// x[.., from:to:step, ..] in dimension `dim`.
hlo::Value cut(const hlo::Value& x, int64_t dim, int64_t from, int64_t to, int64_t step = 1) {
  Dims start(x.dims().size(), 0), limit = x.dims(), strides(x.dims().size(), 1);
  start[dim] = from;
  limit[dim] = to;
  strides[dim] = step;
  return hlo::slice(x, start, limit, strides);
}

/// `low` and `high` zeros around dimension `dim`, `between` each two of its elements; negative low and high remove.
hlo::Value zero_pad(const hlo::Value& x, int64_t dim, int64_t low, int64_t high, int64_t between = 0) {
  Dims before(x.dims().size(), 0), after = before, interior = before;
  before[dim] = low;
  after[dim] = high;
  interior[dim] = between;
  return hlo::pad(x, hlo::scalar_like(x, 0), before, after, interior);
}

/// Dimension `dim` replaced by `sizes`, of the same product.
hlo::Value split(const hlo::Value& x, int64_t dim, const Dims& sizes) {
  Dims dims = x.dims();
  dims.erase(static_cast<size_t>(dim));
  for (size_t i = 0; i < sizes.size(); ++i) dims.insert(static_cast<size_t>(dim) + i, sizes[i]);
  return hlo::reshape(x, dims);
}

/// Dimensions dim and dim + 1 as one.
hlo::Value merge(const hlo::Value& x, int64_t dim) {
  Dims dims = x.dims();
  dims[dim] *= dims[dim + 1];
  dims.erase(static_cast<size_t>(dim) + 1);
  return hlo::reshape(x, dims);
}

hlo::Value swap(const hlo::Value& x, int64_t a, int64_t b) {
  Dims order;
  for (int64_t i = 0; i < x.rank(); ++i) order.push_back(i == a ? b : i == b ? a : i);
  return hlo::transpose(x, order);
}

/// Windows put back: x[.., i, j, ..] is added to result[.., i * stride + j, ..], without scatter and unrolled loops.
hlo::Value overlap_add(const hlo::Value& x, int64_t dim, int64_t stride, int64_t length) {
  int64_t count = x.dims()[dim], kernel = x.dims()[dim + 1];
  if (x.type.count() == 0) {
    Dims dims = x.dims();
    dims.erase(static_cast<size_t>(dim) + 1);
    dims[dim] = length;
    return hlo::constant(*x.builder, {x.element(), dims}, 0);
  }
  int64_t blocks = (kernel + stride - 1) / stride;
  hlo::Value y = split(zero_pad(x, dim + 1, 0, blocks * stride - kernel), dim + 1, {blocks, stride});
  if (blocks > 1) {
    // Block j of window i lands on block i + j: rows read one shorter than they are slide by one each.
    y = merge(zero_pad(swap(y, dim, dim + 1), dim + 1, 0, blocks), dim);
    y = split(zero_pad(y, dim, 0, -blocks), dim, {blocks, count + blocks - 1});
    y = hlo::reduce(y, {dim}, hlo::Reducer::Add);
  } else {
    y = merge(y, dim);
  }
  y = merge(y, dim);
  return zero_pad(y, dim, 0, length - y.dims()[dim]);
}

/// result[.., i, j] = x[.., k] where (i, j) is element k of the diagonal `offset` of a rows x columns matrix, else 0.
hlo::Value spread_diagonal(const hlo::Value& x, int64_t rows, int64_t columns, int64_t offset) {
  int64_t last = x.rank() - 1, low = std::max<int64_t>(-offset, 0);
  hlo::Value by_row = zero_pad(x, last, low, rows - low - x.dims()[last]);
  Dims dims = by_row.dims(), map;
  dims.push_back(columns);
  for (int64_t i = 0; i <= last; ++i) map.push_back(i);
  Type index{ElementType::S32, dims};
  hlo::Value row = hlo::iota(*x.builder, index, last), column = hlo::iota(*x.builder, index, last + 1);
  hlo::Value spread = hlo::broadcast_in_dim(by_row, dims, map);
  return hlo::select(hlo::eq(row + hlo::like(row, offset), column), spread, hlo::like(spread, 0));
}

/// The last two dimensions moved to dim1 and dim2.
hlo::Value place_matrix(const hlo::Value& x, int64_t dim1, int64_t dim2) {
  Dims order;
  for (int64_t i = 0, next = 0; i < x.rank(); ++i)
    order.push_back(i == dim1 ? x.rank() - 2 : i == dim2 ? x.rank() - 1 : next++);
  return hlo::transpose(x, order);
}

// ------------------------------------------------------------------------------------------ joining and ordering

// A 1-d tensor without elements may stand among any others, as in the first versions of torch.cat.
hlo::Values cat(Context& c) {
  hlo::Values parts;
  std::optional<ElementType> common;
  int64_t rank = 1;
  for (const hlo::Value& part : c.tensors("tensors")) {
    common = common ? promote(*common, part.element()) : part.element();
    if (part.rank() == 1 && part.type.count() == 0) continue;
    rank = part.rank();
    parts.push_back(part);
  }
  c.expect(common.has_value(), ErrorCode::Value, "torch.cat(): expected a non-empty list of Tensors");
  ElementType wanted = c.target_element(0, *common);
  c.expect(can_cast(*common, wanted), ErrorCode::Type,
           "torch.cat(): input types can't be cast to the desired output type ", scalar_type_name(wanted));
  if (parts.empty()) return {hlo::constant(c.builder(), {*common, {0}}, 0)};
  for (hlo::Value& part : parts) part = hlo::convert(part, *common);
  return {hlo::concatenate(parts, wrap_dim(c.integer("dim"), rank))};
}

hlo::Values flip(Context& c) {
  hlo::Value self = c.tensor("self");
  Dims dims = c.ints("dims");
  if (dims.empty() || self.rank() == 0) return {self};
  return {hlo::reverse(self, wrap_dims(dims, self.rank()))};
}

hlo::Values roll(Context& c) {
  hlo::Value self = c.tensor("self");
  Dims shifts = c.ints("shifts"), dims = c.ints("dims");
  c.expect(!shifts.empty(), ErrorCode::InvalidArgument, "`shifts` required");
  bool is_flat = dims.empty() && shifts.size() == 1;
  c.expect(is_flat || shifts.size() == dims.size(), ErrorCode::InvalidArgument,
           "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  if (self.type.count() == 0) return {self};
  hlo::Value x = is_flat ? hlo::reshape(self, {self.type.count()}) : self;
  for (size_t i = 0; i < shifts.size(); ++i) {
    int64_t dim = is_flat ? 0 : wrap_dim(dims[i], x.rank());
    int64_t size = x.rank() == 0 ? 1 : x.dims()[dim];
    int64_t shift = ((shifts[i] % size) + size) % size;
    if (shift != 0) x = hlo::concatenate({cut(x, dim, size - shift, size), cut(x, dim, 0, size - shift)}, dim);
  }
  return {hlo::reshape(x, self.dims())};
}

hlo::Values repeat(Context& c) {
  hlo::Value self = c.tensor("self");
  Dims repeats = c.ints("repeats");
  auto rank = static_cast<int64_t>(repeats.size());
  c.expect(rank >= self.rank(), ErrorCode::InvalidArgument,
           "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  Dims pairs, map, dims;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t own = i - (rank - self.rank()), size = own < 0 ? 1 : self.dims()[own];
    c.expect(repeats[i] >= 0, ErrorCode::InvalidArgument, "Trying to create tensor with negative dimension ",
             repeats[i] * size);
    if (own >= 0) map.push_back(2 * i + 1);
    pairs.push_back(repeats[i]);
    pairs.push_back(size);
    dims.push_back(repeats[i] * size);
  }
  return {hlo::reshape(hlo::broadcast_in_dim(self, pairs, map), dims)};
}

hlo::Values channel_shuffle(Context& c) {
  hlo::Value self = c.tensor("self");
  int64_t groups = c.integer("groups");
  c.expect(self.rank() > 2, ErrorCode::InvalidArgument,
           "channel_shuffle expects input with > 2 dims, but got input with sizes ", to_string(self.dims()));
  c.expect(groups > 0, ErrorCode::InvalidArgument,
           "Number of groups to divide channels in must be positive. Value of groups:", groups);
  int64_t channels = self.dims()[1];
  c.expect(channels % groups == 0, ErrorCode::InvalidArgument, "Number of channels must be divisible by groups. Got ",
           channels, " channels and ", groups, " groups.");
  return {merge(swap(split(self, 1, {groups, channels / groups}), 1, 2), 1)};
}

hlo::Values narrow_copy(Context& c) {
  hlo::Value self = c.tensor("self");
  c.expect(self.rank() > 0, ErrorCode::InvalidArgument, "narrow() cannot be applied to a 0-dim tensor.");
  int64_t dim = wrap_dim(c.integer("dim"), self.rank()), size = self.dims()[dim];
  int64_t start = c.integer("start"), length = c.integer("length");
  c.expect(start >= -size && start <= size, ErrorCode::Index, "start out of range (expected to be in range of [", -size,
           ", ", size, "], but got ", start, ")");
  if (start < 0) start += size;
  c.expect(length >= 0 && start + length <= size, ErrorCode::InvalidArgument, "start (", start, ") + length (", length,
           ") exceeds dimension size (", size, ").");
  return {cut(self, dim, start, start + length)};
}

// --------------------------------------------------------------------------------------------------- padding

// `pad` names (low, high) for the last dimension first.
hlo::Values constant_pad(Context& c) {
  hlo::Value self = c.tensor("self");
  Dims pad = c.ints("pad"), low(self.dims().size(), 0), high = low;
  c.expect(pad.size() % 2 == 0, ErrorCode::InvalidArgument, "Length of pad must be even but instead it equals ",
           pad.size());
  c.expect(pad.size() <= 2 * self.dims().size(), ErrorCode::InvalidArgument,
           "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
           pad.size(), "while the input has ", self.rank(), "dimensions.");
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    size_t dim = self.dims().size() - 1 - i;
    low[dim] = pad[2 * i];
    high[dim] = pad[2 * i + 1];
    c.expect(self.dims()[dim] + low[dim] + high[dim] >= 0, ErrorCode::InvalidArgument, "The input size ",
             self.dims()[dim], ", plus negative padding ", low[dim], " and ", high[dim],
             " resulted in a negative output size, which is invalid. Check dimension ", dim, " of your input.");
  }
  return {hlo::pad(self, c.scalar("value", self.element()), low, high, Dims(self.dims().size(), 0))};
}

/// One dimension padded by `low` and `high`, none of them negative.
using PadSides = hlo::Value (*)(const hlo::Value& x, int64_t dim, int64_t low, int64_t high);

hlo::Value reflect(const hlo::Value& x, int64_t dim, int64_t low, int64_t high) {
  int64_t size = x.dims()[dim];
  hlo::Values parts{x};
  if (low > 0) parts.insert(parts.begin(), hlo::reverse(cut(x, dim, 1, low + 1), {dim}));
  if (high > 0) parts.push_back(hlo::reverse(cut(x, dim, size - 1 - high, size - 1), {dim}));
  return hlo::concatenate(parts, dim);
}

hlo::Value reflect_backward(const hlo::Value& grad, int64_t dim, int64_t low, int64_t high) {
  int64_t size = grad.dims()[dim] - low - high;
  hlo::Value sum = cut(grad, dim, low, low + size);
  if (low > 0) sum = sum + zero_pad(hlo::reverse(cut(grad, dim, 0, low), {dim}), dim, 1, size - 1 - low);
  if (high > 0)
    sum = sum + zero_pad(hlo::reverse(cut(grad, dim, low + size, low + size + high), {dim}), dim, size - 1 - high, 1);
  return sum;
}

hlo::Value replicate(const hlo::Value& x, int64_t dim, int64_t low, int64_t high) {
  int64_t size = x.dims()[dim];
  auto copies = [&](int64_t from, int64_t count) {
    Dims dims = x.dims();
    dims[dim] = count;
    return broadcast_to(cut(x, dim, from, from + 1), dims);
  };
  hlo::Values parts{x};
  if (low > 0) parts.insert(parts.begin(), copies(0, low));
  if (high > 0) parts.push_back(copies(size - 1, high));
  return hlo::concatenate(parts, dim);
}

hlo::Value replicate_backward(const hlo::Value& grad, int64_t dim, int64_t low, int64_t high) {
  int64_t size = grad.dims()[dim] - low - high;
  auto total = [&](int64_t from, int64_t to) {
    Dims dims = grad.dims();
    dims[dim] = 1;
    return hlo::reshape(hlo::reduce(cut(grad, dim, from, to), {dim}, hlo::Reducer::Add), dims);
  };
  hlo::Value sum = cut(grad, dim, low, low + size);
  if (low > 0) sum = sum + zero_pad(total(0, low), dim, 0, size - 1);
  if (high > 0) sum = sum + zero_pad(total(low + size, low + size + high), dim, size - 1, 0);
  return sum;
}

/// Negative padding removes what the positive sides left.
template <PadSides sides>
hlo::Values pad_edges(Context& c) {
  hlo::Value x = c.tensor("self");
  Dims padding = c.ints("padding");
  auto pairs = static_cast<int64_t>(padding.size() / 2);
  c.expect(x.rank() == pairs + 1 || x.rank() == pairs + 2, ErrorCode::InvalidArgument, "Expected ", pairs + 1, "D or ",
           pairs + 2,
           "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
           to_string(x.dims()));
  for (int64_t i = 0; i < pairs; ++i) {
    int64_t dim = x.rank() - 1 - i, low = padding[2 * i], high = padding[2 * i + 1], size = x.dims()[dim];
    if constexpr (sides == PadSides(reflect)) {
      c.expect(low < size && high < size, ErrorCode::InvalidArgument,
               "Padding size should be less than the corresponding input dimension, but got: padding (", low, ", ",
               high, ") at dimension ", dim, " of input ", to_string(x.dims()));
    }
    c.expect(size + low + high >= 1, ErrorCode::InvalidArgument, "input (size ", size, " in dimension ", dim,
             ") is too small for padding (", low, ", ", high, ")");
    x = sides(x, dim, std::max<int64_t>(low, 0), std::max<int64_t>(high, 0));
    x = zero_pad(x, dim, std::min<int64_t>(low, 0), std::min<int64_t>(high, 0));
  }
  return {x};
}

template <PadSides sides>
hlo::Values pad_edges_backward(Context& c) {
  hlo::Value grad = c.tensor("grad_output");
  ElementType element = grad.element();
  Dims padding = c.ints("padding"), dims = c.type("self").dims;
  c.expect(grad.dims().size() == dims.size(), ErrorCode::InvalidArgument, "grad_output of rank ", grad.rank(),
           " does not fit an input of dims ", to_string(dims));
  grad = hlo::convert(grad, compute_type(element));
  for (size_t i = 0; i < padding.size() / 2; ++i) {
    int64_t dim = grad.rank() - 1 - static_cast<int64_t>(i), low = padding[2 * i], high = padding[2 * i + 1];
    c.expect(grad.dims()[dim] == dims[dim] + low + high, ErrorCode::InvalidArgument, "grad_output size in dimension ",
             dim, " unexpected. Expected: ", dims[dim] + low + high, ", Got: ", grad.dims()[dim]);
    grad = zero_pad(grad, dim, std::max<int64_t>(-low, 0), std::max<int64_t>(-high, 0));
    grad = sides(grad, dim, std::max<int64_t>(low, 0), std::max<int64_t>(high, 0));
  }
  return {hlo::convert(grad, element)};
}

// -------------------------------------------------------------------------------------- triangles and diagonals

template <bool lower>
hlo::Values triangle(Context& c) {
  hlo::Value self = c.tensor("self");
  if (self.type.count() == 0) return {self};
  int64_t diagonal = c.integer("diagonal");
  Type index{ElementType::S64, {self.dims()[self.rank() - 2], self.dims()[self.rank() - 1]}};
  hlo::Value edge = hlo::iota(c.builder(), index, 0) + hlo::constant(c.builder(), index, diagonal);
  hlo::Value column = hlo::iota(c.builder(), index, 1);
  hlo::Value kept = broadcast_to(lower ? hlo::le(column, edge) : hlo::ge(column, edge), self.dims());
  return {hlo::select(kept, self, hlo::like(self, 0))};
}

hlo::Values diag_embed(Context& c) {
  hlo::Value self = c.tensor("self");
  int64_t dim1 = wrap_dim(c.integer("dim1"), self.rank() + 1), dim2 = wrap_dim(c.integer("dim2"), self.rank() + 1);
  c.expect(dim1 != dim2, ErrorCode::InvalidArgument, "diagonal dimensions cannot be identical ", c.integer("dim1"),
           ", ", c.integer("dim2"));
  int64_t offset = c.integer("offset"), size = self.dims().back() + std::abs(offset);
  return {place_matrix(spread_diagonal(self, size, size, offset), dim1, dim2)};
}

hlo::Values diagonal_backward(Context& c) {
  hlo::Value grad = c.tensor("grad_output");
  Dims dims = c.ints("input_sizes");
  auto rank = static_cast<int64_t>(dims.size());
  int64_t dim1 = wrap_dim(c.integer("dim1"), rank), dim2 = wrap_dim(c.integer("dim2"), rank);
  if (grad.type.count() == 0) return {hlo::constant(c.builder(), {grad.element(), dims}, 0)};
  return {place_matrix(spread_diagonal(grad, dims[dim1], dims[dim2], c.integer("offset")), dim1, dim2)};
}

// The diagonal of a row-major matrix is every (columns + 1)-th element.
hlo::Values trace(Context& c) {
  hlo::Value self = c.tensor("self");
  c.expect(self.rank() == 2, ErrorCode::InvalidArgument, "trace: expected a matrix, but got tensor with dim ",
           self.rank());
  ElementType element = self.element();
  c.expect(element != ElementType::Pred, ErrorCode::NotImplemented, "\"trace\" not implemented for 'Bool'");
  if (is_integral(element)) element = ElementType::S64;
  int64_t columns = self.dims()[1], count = std::min(self.dims()[0], columns);
  if (count == 0) return {hlo::constant(c.builder(), element, 0)};
  hlo::Value diagonal =
      cut(hlo::reshape(self, {self.type.count()}), 0, 0, (count - 1) * (columns + 1) + 1, columns + 1);
  return {hlo::convert(hlo::reduce(hlo::convert(diagonal, compute_type(element)), {0}, hlo::Reducer::Add), element)};
}

hlo::Values unfold_backward(Context& c) {
  hlo::Value grad = c.tensor("grad_in");
  ElementType element = grad.element();
  Dims dims = c.ints("input_sizes");
  if (dims.empty()) return {hlo::reshape(grad, {})};
  int64_t dim = wrap_dim(c.integer("dim"), static_cast<int64_t>(dims.size()));
  Dims order;
  for (int64_t i = 0; i < grad.rank() - 1; ++i) {
    order.push_back(i);
    if (i == dim) order.push_back(grad.rank() - 1);
  }
  hlo::Value x = hlo::convert(hlo::transpose(grad, order), compute_type(element));
  return {hlo::convert(overlap_add(x, dim, c.integer("step"), dims[dim]), element)};
}

// One tensor behind the other in memory.
bool joins_whole_tensors(const Call& call) {
  return is_large(call) &&
         wrap_dim(std::get<int64_t>(call.param("dim")), static_cast<int64_t>(call.operands[0].type.dims.size())) == 0;
}

}  // namespace

Table shape_table() {
  return {
      row("cat.out", cat).host_kernel_alone(joins_whole_tensors),
      row("flip", flip).pointwise(),
      row("roll", roll),
      row("repeat", repeat),
      row("channel_shuffle", channel_shuffle),
      row("narrow_copy.out", narrow_copy),

      row("constant_pad_nd", constant_pad).image(),
      row("reflection_pad1d.out", pad_edges<reflect>),
      row("reflection_pad2d", pad_edges<reflect>),
      row("reflection_pad2d.out", pad_edges<reflect>),
      row("reflection_pad3d.out", pad_edges<reflect>),
      row("reflection_pad1d_backward.grad_input", pad_edges_backward<reflect_backward>),
      row("reflection_pad2d_backward", pad_edges_backward<reflect_backward>),
      row("reflection_pad2d_backward.grad_input", pad_edges_backward<reflect_backward>),
      row("reflection_pad3d_backward.grad_input", pad_edges_backward<reflect_backward>),
      row("replication_pad1d.out", pad_edges<replicate>),
      row("replication_pad2d.out", pad_edges<replicate>),
      row("replication_pad3d.out", pad_edges<replicate>),
      row("replication_pad1d_backward.grad_input", pad_edges_backward<replicate_backward>),
      row("replication_pad2d_backward", pad_edges_backward<replicate_backward>),
      row("replication_pad2d_backward.grad_input", pad_edges_backward<replicate_backward>),
      row("replication_pad3d_backward", pad_edges_backward<replicate_backward>),
      row("replication_pad3d_backward.grad_input", pad_edges_backward<replicate_backward>),

      row("tril.out", triangle<true>),
      row("triu.out", triangle<false>),
      row("diag_embed", diag_embed),
      row("diagonal_backward", diagonal_backward),
      row("trace", trace),

      row("unfold_backward", unfold_backward),
  };
}

}  // namespace tpu::ops
