// Ops whose results have as many elements as the data say: the device counts, the host reads that number, and programs
// of known sizes do the rest. All other work is that of native ops.
#include <ATen/ExpandUtils.h>
#include <ATen/TensorOperators.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/count_nonzero.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/nonzero_static.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "aten/slow_on_cpu.h"

namespace tpu::aten {

namespace {

// -------------------------------------------------------------------------------------------- positions and masks

/// The positions of what is not zero in a list.
at::Tensor positions(const at::Tensor& list) {
  int64_t count = list.numel() == 0 ? 0 : at::count_nonzero(list).item<int64_t>();
  return at::nonzero_static(list, count).select(1, 0);
}

// torch's own kernels lay the result out one dimension after the other.
at::Tensor coordinates(const at::Tensor& self) {
  int64_t count = self.numel() == 0 ? 0 : at::count_nonzero(self).item<int64_t>();
  at::Tensor found = at::nonzero_static(self, count);
  return self.dim() > 1 ? found.t().contiguous().t() : found;
}

void give(const at::Tensor& result, const at::Tensor& out, const char* name) {
  TORCH_CHECK(result.scalar_type() == out.scalar_type(), name, ": Expected out tensor to have dtype ",
              result.scalar_type(), ", but got ", out.scalar_type(), " instead");
  at::native::resize_output(out, result.sizes());
  out.copy_(result);
}

at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out) {
  give(coordinates(self), out, "nonzero");
  return out;
}

at::Tensor selected(const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  auto [elements, chosen] = at::expand_outplace(self, mask);
  return elements->reshape(-1).index_select(0, positions(chosen->reshape(-1)));
}

at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask, at::Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  give(selected(self, mask), out, "masked_select");
  return out;
}

// ------------------------------------------------------------------------------------------------- distinct elements

/// Runs of equal neighbours in a list.
struct Runs {
  at::Tensor first;   // where each begins
  at::Tensor number;  // of the run, per place of the list
  at::Tensor length;
};

/// `is_new`: whether the element at a place of the list differs from the one before; of the first one it says nothing.
Runs runs_of(const at::Tensor& is_new) {
  int64_t size = is_new.size(0);
  at::TensorOptions counts = is_new.options().dtype(at::kLong);
  if (size == 0) return {at::empty({0}, counts), at::empty({0}, counts), at::empty({0}, counts)};
  at::Tensor starts = is_new.clone();
  starts.narrow(0, 0, 1).fill_(true);
  at::Tensor number = starts.cumsum(0) - 1;
  int64_t count = number.select(0, size - 1).item<int64_t>() + 1;
  at::Tensor first = at::nonzero_static(starts, count).select(1, 0);
  at::Tensor end = at::cat({first.narrow(0, 1, count - 1), at::empty({1}, counts).fill_(size)});
  return {first, number, end - first};
}

/// Whether each row (dimension 0) differs from the one before, in any element.
at::Tensor differs(const at::Tensor& rows) {
  int64_t size = rows.size(0);
  at::Tensor result = at::ones({size}, rows.options().dtype(at::kBool));
  if (size > 1) {
    at::Tensor differs = rows.narrow(0, 1, size - 1).ne(rows.narrow(0, 0, size - 1)).unsqueeze(-1);
    result.narrow(0, 1, size - 1).copy_(differs.flatten(1).any(1));
  }
  return result;
}

/// What the ops return, where `order` sorts the list that `runs` is about; none for a list as it came.
using Distinct = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
Distinct distinct(const at::Tensor& values, const Runs& runs, const std::optional<at::Tensor>& order,
                  at::IntArrayRef inverse_sizes, bool return_inverse, bool return_counts) {
  at::Tensor none = at::empty({0}, values.options().dtype(at::kLong)), inverse = none;
  if (return_inverse) {
    inverse = order ? at::zeros_like(runs.number).scatter(0, *order, runs.number) : runs.number;
    inverse = inverse.reshape(inverse_sizes);
  }
  return {values, inverse, return_counts ? runs.length : none};
}

Distinct unique2(const at::Tensor& self, bool, bool return_inverse, bool return_counts) {
  auto [sorted, order] = at::sort(self.reshape(-1), std::optional<bool>(true), 0);
  Runs runs = runs_of(differs(sorted));
  return distinct(sorted.index_select(0, runs.first), runs, order, self.sizes(), return_inverse, return_counts);
}

std::tuple<at::Tensor, at::Tensor> unique(const at::Tensor& self, bool sorted, bool return_inverse) {
  auto [values, inverse, counts] = unique2(self, sorted, return_inverse, false);
  return {values, inverse};
}

void check_rows(const at::Tensor& self, int64_t dim, const char* name) {
  for (int64_t i = 0; i < self.dim(); ++i)
    TORCH_CHECK(self.size(i) != 0 || i == dim, "There are 0 sized dimensions, and they aren't selected, so ", name,
                " cannot be applied");
  TORCH_CHECK(self.dim() == 0 || self.size(dim) != 0 || self.numel() == 0, name, ": expected a dimension");
}

Distinct distinct_neighbours(const at::Tensor& self, int64_t dim, bool return_inverse, bool return_counts) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  check_rows(self, dim, "unique");
  at::Tensor rows = self.movedim(dim, 0);
  Runs runs = runs_of(differs(rows));
  return distinct(self.index_select(dim, runs.first), runs, std::nullopt, {rows.size(0)}, return_inverse,
                  return_counts);
}

Distinct unique_consecutive(const at::Tensor& self, bool return_inverse, bool return_counts,
                            std::optional<int64_t> dim) {
  if (dim && self.dim() > 0) return distinct_neighbours(self, *dim, return_inverse, return_counts);
  at::Tensor list = self.reshape(-1);
  Runs runs = runs_of(differs(list));
  return distinct(list.index_select(0, runs.first), runs, std::nullopt, self.sizes(), return_inverse, return_counts);
}

/// The order that sorts rows by their first element, then by the second, ..: by the last element first, each time
/// keeping the order there is.
at::Tensor order_of(const at::Tensor& rows) {
  at::Tensor order = at::arange(rows.size(0), rows.options().dtype(at::kLong));
  for (int64_t column = rows.size(1); column-- > 0;) {
    at::Tensor next =
        std::get<1>(at::sort(rows.select(1, column).index_select(0, order), std::optional<bool>(true), 0));
    order = order.index_select(0, next);
  }
  return order;
}

Distinct unique_dim(const at::Tensor& self, int64_t dim, bool, bool return_inverse, bool return_counts) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  check_rows(self, dim, "unique");
  at::Tensor rows = self.movedim(dim, 0);
  rows = rows.reshape({rows.size(0), rows.size(0) == 0 ? 0 : self.numel() / rows.size(0)});
  at::Tensor order = order_of(rows);
  Runs runs = runs_of(differs(rows.index_select(0, order)));
  at::Tensor chosen = order.index_select(0, runs.first);
  return distinct(self.index_select(dim, chosen), runs, order, {rows.size(0)}, return_inverse, return_counts);
}

// ---------------------------------------------------------------------------------------------- counts and repeats

at::Tensor bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights, int64_t minlength) {
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0");
  TORCH_CHECK_NOT_IMPLEMENTED(at::isIntegralType(self.scalar_type(), /*includeBool=*/false),
                              "\"bincount\" not implemented for '", self.scalar_type(), "'");
  TORCH_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs.");
  bool is_weighted = weights && weights->defined();
  TORCH_CHECK(!is_weighted || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  c10::ScalarType type = !is_weighted ? at::kLong : weights->scalar_type() == at::kFloat ? at::kFloat : at::kDouble;
  if (self.numel() == 0) return at::zeros({minlength}, self.options().dtype(at::kLong));
  auto [low, high] = at::aminmax(self);
  at::Tensor bounds = at::stack({low, high}).to(at::kLong).cpu();
  TORCH_CHECK(bounds[0].item<int64_t>() >= 0, "bincount only supports 1-d non-negative integral inputs.");
  int64_t size = std::max(bounds[1].item<int64_t>() + 1, minlength);
  at::Tensor zeros = at::zeros({size}, self.options().dtype(type)), index = self.to(at::kLong);
  return zeros.scatter_add(0, index, is_weighted ? weights->to(type) : at::ones_like(index));
}

// With `output_size` nothing is read.
at::Tensor repeat_interleave(const at::Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.size(0) == 0) return at::empty({0}, repeats.options());
  at::Tensor ends = repeats.cumsum(0, at::kLong);
  if (!output_size) {
    at::Tensor facts = at::stack({ends.select(0, -1), repeats.min().to(at::kLong)}).cpu();
    TORCH_CHECK(facts[1].item<int64_t>() >= 0, "repeats can not be negative");
    output_size = facts[0].item<int64_t>();
  }
  return at::searchsorted(ends, at::arange(*output_size, ends.options()), /*out_int32=*/false, /*right=*/true)
      .to(repeats.scalar_type());
}

bool equal(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.device() == other.device(), "Cannot compare two tensors on different devices. Got: ", self.device(),
              " and ", other.device());
  if (self.sizes() != other.sizes()) return false;
  return self.numel() == 0 || at::eq(self, other).all().item<bool>();
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("nonzero", slow_on_cpu<&coordinates>());
  m.impl("nonzero.out", slow_on_cpu<&nonzero_out>());
  m.impl("masked_select", slow_on_cpu<&selected>());
  m.impl("masked_select.out", slow_on_cpu<&masked_select_out>());
  m.impl("_unique", slow_on_cpu<&unique>());
  m.impl("_unique2", slow_on_cpu<&unique2>());
  m.impl("unique_dim", slow_on_cpu<&unique_dim>());
  m.impl("unique_consecutive", slow_on_cpu<&unique_consecutive>());
  m.impl("unique_dim_consecutive", slow_on_cpu<&distinct_neighbours>());
  m.impl("bincount", slow_on_cpu<&bincount>());
  m.impl("repeat_interleave.Tensor", slow_on_cpu<&repeat_interleave>());
  m.impl("equal", slow_on_cpu<&equal>());
}

}  // namespace

}  // namespace tpu::aten
