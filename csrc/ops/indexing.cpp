// Family indexing: elements read or written where index tensors say. What goes in: a tensor, integer indices or boolean
// masks, and for writes the new elements. What comes out: the elements, or the tensor after the write.
//
// Every op here is one Access (which elements) and one read or write through it, see access.h. XLA clamps or drops
// indices out of range silently, so that each op states its range as a value check, in the words of PyTorch's CPU
// kernel.
#include <algorithm>

#include "ops/access.h"
#include "ops/host_call.h"
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------- the shared moves

Range bounds(int64_t dim, int64_t size, ErrorCode code, bool wraps, const char* before = "") {
  return {size, wraps, code, concat(before, "index {} is out of bounds for dimension ", dim, " with size ", size)};
}

/// A 0-d tensor counts as one of dims [1] wherever a dimension is indexed.
hlo::Value at_least_1d(const hlo::Value& x) { return x.rank() == 0 ? hlo::reshape(x, {1}) : x; }

hlo::Value ones(hlo::Builder& builder, ElementType element, const Dims& dims) {
  return hlo::constant(builder, {element, dims}, 1);
}
hlo::Value zeros(hlo::Builder& builder, ElementType element, const Dims& dims) {
  return hlo::constant(builder, {element, dims}, 0);
}

void expect_index_dtype(Context& c, const char* op, const char* name, bool int32_too) {
  ElementType element = c.type(name).element;
  c.expect(element == ElementType::S64 || (int32_too && element == ElementType::S32), ErrorCode::InvalidArgument, op,
           "(): Expected dtype ", int32_too ? "int32 or int64" : "int64", " for index");
}

// ----------------------------------------------------------------------------------------- reads along one dimension

hlo::Values gather(Context& c) {
  hlo::Value self = at_least_1d(c.tensor("self")), index = c.tensor("index");
  int64_t dim = wrap_dim(c.integer("dim"), self.rank());
  hlo::Value position =
      checked(c, at_least_1d(index), bounds(dim, self.dims()[dim], ErrorCode::InvalidArgument, false));
  return {hlo::reshape(read(self, elementwise(self, dim, position)), index.dims())};
}

hlo::Values index_select(Context& c) {
  hlo::Value self = c.tensor("self"), index = c.tensor("index");
  int64_t dim = wrap_dim(c.integer("dim"), self.rank());
  c.expect(index.rank() <= 1, ErrorCode::Index, "index_select(): Index is supposed to be a vector");
  expect_index_dtype(c, "index_select", "index", true);
  c.expect(self.rank() != 0 || index.type.count() == 1, ErrorCode::Index,
           "index_select(): Index to scalar can have only 1 value, got ", index.type.count(), " value(s)");
  hlo::Value x = at_least_1d(self);
  hlo::Value picked = read(x, along(x, dim, checked(c, at_least_1d(index), in_self(x.dims()[dim]))));
  return {self.rank() == 0 ? hlo::reshape(picked, {}) : picked};
}

hlo::Values take(Context& c) {
  hlo::Value self = c.tensor("self"), index = c.tensor("index");
  c.expect(index.element() == ElementType::S64, ErrorCode::InvalidArgument,
           "take(): Expected a long tensor for index, but got ", torch_name(index.element()));
  int64_t count = self.type.count();
  c.expect(count != 0 || index.type.count() == 0, ErrorCode::Index, "take(): tried to take from an empty tensor");
  hlo::Value flat = hlo::reshape(self, {count});
  Range range{count, true, ErrorCode::Index,
              concat("out of range: tried to access index {} on a tensor of ", count, " elements.")};
  return {read(flat, along(flat, 0, checked(c, index, range)))};
}

// ---------------------------------------------------------------------------------------- writes along one dimension

enum class Mode { Sum, Prod, Mean, Max, Min };

Mode mode_of(Context& c, const std::string& name) {
  if (name == "sum" || name == "add") return Mode::Sum;
  if (name == "prod" || name == "multiply") return Mode::Prod;
  if (name == "mean") return Mode::Mean;
  if (name == "amax") return Mode::Max;
  if (name == "amin") return Mode::Min;
  c.fail(ErrorCode::InvalidArgument, "reduce argument must be either sum, prod, mean, amax or amin, got ", name);
}

hlo::Reducer reducer_of(Mode mode) {
  switch (mode) {
    case Mode::Sum:
    case Mode::Mean: return hlo::Reducer::Add;
    case Mode::Prod: return hlo::Reducer::Mul;
    case Mode::Max: return hlo::Reducer::Max;
    case Mode::Min: return hlo::Reducer::Min;
  }
  return hlo::Reducer::Add;
}

/// Quotient of a mean: integers round down.
hlo::Value mean_of(const hlo::Value& sum, const hlo::Value& count) {
  hlo::Value divisor = hlo::convert(count, sum.element());
  hlo::Value quotient = sum / divisor;
  if (!is_integral(sum.element())) return quotient;
  hlo::Value below = hlo::lt(hlo::remainder(sum, divisor), hlo::like(sum, 0));
  return quotient - hlo::convert(below, sum.element());
}

/// Without include_self an element that receives something starts from the identity; the others stay as they are.
hlo::Value reduce_at(const hlo::Value& self, const Access& access, const hlo::Value& updates, Mode mode,
                     bool include_self) {
  if (updates.type.count() == 0) return self;
  hlo::Builder& builder = *self.builder;
  hlo::Reducer reducer = reducer_of(mode);
  ElementType type = compute_type(self.element());
  hlo::Value base = hlo::convert(self, type);
  if (!include_self) {
    hlo::Value reached = write(zeros(builder, ElementType::Pred, self.dims()), access,
                               ones(builder, ElementType::Pred, updates.dims()), replace);
    base = hlo::select(reached, hlo::broadcast(hlo::identity_of(builder, type, reducer), self.dims()), base);
  }
  hlo::Value result = write(base, access, hlo::convert(updates, type), hlo::body_of(reducer));
  if (mode == Mode::Mean) {
    hlo::Value one = ones(builder, ElementType::S32, self.dims());
    hlo::Value count = write(include_self ? one : hlo::like(one, 0), access,
                             ones(builder, ElementType::S32, updates.dims()), hlo::body_of(hlo::Reducer::Add));
    result = mean_of(result, hlo::maximum(count, one));
  }
  return hlo::convert(result, self.element());
}

/// The part of `x` that `dims` covers, from the start of each dimension.
hlo::Value crop(const hlo::Value& x, const Dims& dims) {
  return hlo::slice(x, Dims(dims.size(), 0), dims, Dims(dims.size(), 1));
}

using Apply = hlo::Value (*)(Context& c, const hlo::Value& self, const Access& access, const hlo::Value& updates);

hlo::Value apply_replace(Context&, const hlo::Value& self, const Access& access, const hlo::Value& updates) {
  return write(self, access, updates, replace);
}
hlo::Value apply_add(Context&, const hlo::Value& self, const Access& access, const hlo::Value& updates) {
  return add_at(self, access, updates);
}
hlo::Value apply_reduce(Context& c, const hlo::Value& self, const Access& access, const hlo::Value& updates) {
  bool include_self = !c.call().find("include_self") || c.flag("include_self");
  return reduce_at(self, access, updates, mode_of(c, c.text("reduce")), include_self);
}

/// self[index[i][j]][j] = src[i][j] and its kin; a `value` stands for a src of equal elements.
template <Apply apply>
hlo::Values scatter(Context& c) {
  hlo::Value self = c.tensor("self"), index = at_least_1d(c.tensor("index"));
  if (index.type.count() == 0) return {self};
  hlo::Value x = at_least_1d(self);
  int64_t dim = wrap_dim(c.integer("dim"), x.rank());
  hlo::Value updates = c.call().find("src")
                           ? crop(at_least_1d(c.tensor("src", self.element())), index.dims())
                           : hlo::broadcast(hlo::reshape(c.tensor("value", self.element()), {}), index.dims());
  hlo::Value position = checked(c, index, bounds(dim, x.dims()[dim], ErrorCode::InvalidArgument, false));
  return {hlo::reshape(apply(c, x, elementwise(x, dim, position), updates), self.dims())};
}

/// self[:, index[i], :] = source[:, i, :] and its kin; source may be 0-d for an index of one element.
template <Apply apply>
hlo::Values write_slices(Context& c, const Range& range, hlo::Value source) {
  hlo::Value self = c.tensor("self"), index = at_least_1d(c.tensor("index"));
  hlo::Value x = at_least_1d(self);
  int64_t dim = wrap_dim(c.integer("dim"), x.rank());
  Access access = along(x, dim, checked(c, index, range));
  return {hlo::reshape(apply(c, x, access, hlo::reshape(source, access.dims())), self.dims())};
}

int64_t indexed_size(Context& c) {
  Dims dims = c.type("self").dims;
  return dims.empty() ? 1 : dims[wrap_dim(c.integer("dim"), static_cast<int64_t>(dims.size()))];
}
int64_t indexed_dim(Context& c) { return wrap_dim(c.integer("dim"), c.type("self").rank()); }

hlo::Values index_add(Context& c) {
  hlo::Value source = c.tensor("source");
  // The CPU kernel adds slices of a tensor through the index op's range check, elements of a vector through its own.
  Range range = c.type("self").rank() > 1 ? bounds(0, indexed_size(c), ErrorCode::InvalidArgument, false)
                                          : in_self(indexed_size(c));
  if (c.known("alpha") == 1) return write_slices<apply_add>(c, range, source);
  ElementType type = compute_type(source.element());
  hlo::Value alpha = hlo::broadcast(c.scalar("alpha", type), source.dims());
  return write_slices<apply_add>(c, range, hlo::convert(hlo::convert(source, type) * alpha, source.element()));
}

hlo::Values index_copy(Context& c) {
  return write_slices<apply_replace>(
      c, bounds(indexed_dim(c), indexed_size(c), ErrorCode::Index, false, "index_copy_(): "), c.tensor("source"));
}

hlo::Values index_reduce(Context& c) {
  return write_slices<apply_reduce>(c, in_self(indexed_size(c)), c.tensor("source"));
}

hlo::Values index_fill(Context& c) {
  hlo::Value self = c.tensor("self"), index = at_least_1d(c.tensor("index"));
  c.expect(c.type("index").element == ElementType::S64, ErrorCode::Index,
           "index_fill_(): Expected dtype int64 for index.");
  c.expect(c.type("value").dims.empty(), ErrorCode::InvalidArgument,
           "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", c.type("value").rank(),
           " dimension(s).");
  int64_t size = indexed_size(c), dim = indexed_dim(c);
  hlo::Value chosen = zeros(c.builder(), ElementType::Pred, {size});
  hlo::Value position = checked(c, index, bounds(dim, size, ErrorCode::Index, true));
  chosen = write(chosen, along(chosen, 0, position), ones(c.builder(), ElementType::Pred, index.dims()), replace);
  chosen = self.rank() == 0 ? hlo::reshape(chosen, {}) : hlo::broadcast_in_dim(chosen, self.dims(), {dim});
  return {hlo::select(chosen, hlo::broadcast(c.tensor("value", self.element()), self.dims()), self)};
}

hlo::Values put(Context& c) {
  hlo::Value self = c.tensor("self"), index = c.tensor("index"), source = c.tensor("source");
  c.expect(index.element() == ElementType::S64, ErrorCode::InvalidArgument,
           "put_(): Expected a long tensor for index, but got ", torch_name(index.element()));
  c.expect(self.element() == source.element(), ErrorCode::InvalidArgument,
           "put_(): self and source expected to have the same dtype, but got self.dtype = ", torch_name(self.element()),
           " and source.dtype = ", torch_name(source.element()));
  int64_t count = self.type.count(), updates = index.type.count();
  c.expect(updates == source.type.count(), ErrorCode::Index,
           "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
           source.type.count(), ", index.numel() = ", updates);
  if (updates == 0) return {self};
  hlo::Value flat = hlo::reshape(self, {count});
  Range range{count, true, ErrorCode::Index,
              concat("out of range: tried to access index {} on a tensor of ", count, " elements.")};
  Access access = along(flat, 0, checked(c, hlo::reshape(index, {updates}), range));
  hlo::Value values = hlo::reshape(source, {updates});
  return {hlo::reshape(c.flag("accumulate") ? add_at(flat, access, values) : write(flat, access, values, replace),
                       self.dims())};
}

// ------------------------------------------------------------------------------------------- masks and index lists

/// How many of the first i + 1 elements of a 1-d mask are true.
hlo::Value running_count(const hlo::Value& mask) {
  hlo::Value bits = hlo::convert(mask, ElementType::S32);
  int64_t count = mask.dims()[0];
  if (count == 0) return bits;
  hlo::Window window;
  window.size = {count};
  window.low = {count - 1};
  window.high = {0};
  return hlo::reduce_window(bits, hlo::constant(*mask.builder, ElementType::S32, 0), window, hlo::Reducer::Add);
}

hlo::Value last_of(const hlo::Value& x) {
  int64_t count = x.dims()[0];
  return hlo::reshape(hlo::slice(x, {count - 1}, {count}, {1}), {});
}

// Element k of the source goes to the k-th true element of the mask.
hlo::Values masked_scatter(Context& c) {
  hlo::Value self = c.tensor("self"), source = c.tensor("source");
  c.expect(c.type("mask").element == ElementType::Pred, ErrorCode::InvalidArgument,
           "masked_scatter_ only supports boolean masks, but got mask with dtype ", torch_name(c.type("mask").element));
  c.expect(self.element() == source.element(), ErrorCode::InvalidArgument,
           "masked_scatter: expected self and source to have same dtypes but got", torch_name(self.element()), " and ",
           torch_name(source.element()));
  hlo::Value mask = broadcast_to(c.tensor("mask"), self.dims());
  int64_t count = self.type.count(), available = source.type.count();
  if (count == 0) return {self};
  hlo::Value seen = running_count(hlo::reshape(mask, {count}));
  c.require_not(hlo::gt(last_of(seen), hlo::constant(c.builder(), ElementType::S32, available)), last_of(seen),
                ErrorCode::InvalidArgument, "Number of elements of source < number of ones in mask");
  if (available == 0) return {self};
  hlo::Value flat = hlo::reshape(source, {available});
  hlo::Value values = read(flat, along(flat, 0, seen - hlo::like(seen, 1)));
  return {hlo::select(mask, hlo::reshape(values, self.dims()), self)};
}

bool is_mask(ElementType element) { return element == ElementType::Pred || element == ElementType::U8; }

/// Note [Masks as indices]
/// x[mask] has as many elements as the mask has true ones, and a shape is part of a program. So masks become programs
/// only where their count is no shape: x[mask] = value is a select. The rest is NotImplemented here: on the CPU plugin
/// the host path is as fast and compiles nothing when the count changes; on a TPU, and where host ops are errors, the
/// aten layer counts first and hands over positions.

/// The tensors in the list of indices and the dimensions of self that they index.
struct IndexList {
  struct Entry {
    int64_t dim;  // the first one, for a mask
    hlo::Value value;
  };
  std::vector<Entry> entries;
  bool has_mask = false;
  Dims shape;  // the integer tensors broadcast together
};

IndexList index_list(Context& c, const Dims& sizes) {
  IndexList list;
  int64_t dim = 0, rank = static_cast<int64_t>(sizes.size());
  for (const hlo::Value& value : c.tensors("indices")) {
    if (!value) {
      ++dim;
      continue;
    }
    list.entries.push_back({dim, value});
    if (is_mask(value.element())) {
      for (int64_t i = 0; i < value.rank(); ++i) {
        c.expect(dim + i < rank && value.dims()[i] == sizes[dim + i], ErrorCode::Index, "The shape of the mask ",
                 to_string(value.dims()), " at index ", i, " does not match the shape of the indexed tensor ",
                 to_string(sizes), " at index ", dim + i);
      }
      list.has_mask = true;
      dim += value.rank();
      continue;
    }
    c.expect(value.element() == ElementType::S64 || value.element() == ElementType::S32, ErrorCode::Index,
             "tensors used as indices must be long, int, byte or bool tensors");
    list.shape = broadcast_dims(list.shape, value.dims());
    ++dim;
  }
  c.expect(dim <= rank, ErrorCode::Index, "too many indices for tensor of dimension ", rank, " (got ", dim, ")");
  return list;
}

/// The index tensors stand where the first of them is, if they are neighbours, else in front.
Access access_of(Context& c, const Dims& sizes, const IndexList& list) {
  Access access{sizes, hlo::Values(sizes.size()), list.shape, 0};
  for (const IndexList::Entry& entry : list.entries) {
    hlo::Value position = checked(c, entry.value, bounds(entry.dim, sizes[entry.dim], ErrorCode::Index, true));
    access.indices[static_cast<size_t>(entry.dim)] = broadcast_to(position, list.shape);
  }
  int64_t first = list.entries.front().dim, last = list.entries.back().dim;
  if (last - first + 1 == static_cast<int64_t>(list.entries.size())) access.at = first;
  return access;
}

hlo::Values index(Context& c) {
  hlo::Value self = c.tensor("self");
  IndexList list = index_list(c, self.dims());
  c.expect(!list.has_mask, ErrorCode::NotImplemented, "index: the size of the result depends on a mask");
  if (list.entries.empty()) return {self};
  return {read(self, access_of(c, self.dims(), list))};
}

/// self[:, mask, :] = values with a size of 1 where the true elements go; see Note [Masks as indices].
hlo::Value put_masked(Context& c, const hlo::Value& self, const IndexList& list, const hlo::Value& values,
                      bool accumulate) {
  int64_t dim = list.entries[0].dim;
  hlo::Value mask = hlo::convert(list.entries[0].value, ElementType::Pred);
  int64_t behind = self.rank() - dim - mask.rank();
  c.expect(list.entries.size() == 1 && (values.rank() <= behind || values.dims()[values.rank() - 1 - behind] == 1),
           ErrorCode::NotImplemented, "index_put: the size of the values depends on a mask");
  // The values have one dimension where self has those of the mask.
  Dims dims(static_cast<size_t>(self.rank()), 1), map;
  for (int64_t i = 1; i <= values.rank(); ++i) {
    int64_t position = i <= behind ? self.rank() - i : self.rank() - i - mask.rank() + 1;
    if (i != behind + 1 && position >= 0) dims[position] = values.dims()[values.rank() - i];
  }
  hlo::Value spread = broadcast_to(hlo::reshape(values, dims), self.dims());
  for (int64_t i = 0; i < mask.rank(); ++i) map.push_back(dim + i);
  hlo::Value chosen = hlo::broadcast_in_dim(mask, self.dims(), map);
  return hlo::select(chosen, accumulate ? self + spread : spread, self);
}

hlo::Values index_put(Context& c) {
  hlo::Value self = c.tensor("self");
  c.expect(c.is_scalar("values") || c.type("values").element == self.element(), ErrorCode::InvalidArgument,
           "Index put requires the source and destination dtypes match, got ", torch_name(self.element()),
           " for the destination and ", torch_name(c.type("values").element), " for the source.");
  hlo::Value values = c.tensor("values", self.element());
  bool accumulate = c.flag("accumulate");
  IndexList list = index_list(c, self.dims());
  if (list.has_mask) return {put_masked(c, self, list, values, accumulate)};
  if (list.entries.empty()) {
    hlo::Value spread = broadcast_to(values, self.dims());
    return {accumulate ? self + spread : spread};
  }
  Access access = access_of(c, self.dims(), list);
  Dims dims = access.dims();
  try {
    values = broadcast_to(values, dims);
  } catch (const Error&) {
    c.fail(ErrorCode::InvalidArgument, "shape mismatch: value tensor of shape ", to_string(values.dims()),
           " cannot be broadcast to indexing result of shape ", to_string(dims));
  }
  return {accumulate ? add_at(self, access, values) : write(self, access, values, replace)};
}

}  // namespace

Table indexing_table() {
  return {
      row("gather.out", gather).host_kernel_alone(is_large),
      row("index_select", index_select),
      row("index_select.out", index_select),
      row("take", take),
      row("take.out", take),

      row("scatter.src_out", scatter<apply_replace>),
      row("scatter.value_out", scatter<apply_replace>),
      row("scatter.reduce_out", scatter<apply_reduce>),
      row("scatter.value_reduce_out", scatter<apply_reduce>),
      row("scatter_add.out", scatter<apply_add>).host_kernel_alone(is_large),
      row("scatter_reduce.two_out", scatter<apply_reduce>),
      row("index_add.out", index_add).special("alpha", {1}),
      row("index_copy.out", index_copy),
      row("index_reduce.out", index_reduce),
      row("index_fill_.int_Scalar", index_fill),
      row("index_fill_.int_Tensor", index_fill),
      row("put_", put),

      row("masked_scatter_", masked_scatter),
      row("index.Tensor_out", index),
      row("_index_put_impl_", index_put),
  };
}

}  // namespace tpu::ops
