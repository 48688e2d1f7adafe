#include "graph/view.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace tpu::graph {

namespace {

using hlo::Value;
using hlo::Values;

// The type without the two that bitcast_convert refuses: bool is seen as bytes, complex as pairs of reals.
ElementType plain(ElementType type) { return type == ElementType::Pred ? ElementType::U8 : real_of(type); }

Value flatten(Value x) { return hlo::reshape(x, {x.type.count()}); }

// Flat value of `from` elements -> flat value of the plain type with the same bytes.
Value to_plain(Value flat) {
  if (flat.element() == ElementType::Pred) return hlo::convert(flat, ElementType::U8);
  if (!is_complex(flat.element())) return flat;
  int64_t count = flat.dims()[0];
  Value pairs =
      hlo::concatenate({hlo::reshape(hlo::real(flat), {count, 1}), hlo::reshape(hlo::imag(flat), {count, 1})}, 1);
  return flatten(pairs);
}

Value from_plain(Value flat, ElementType to) {
  if (to == ElementType::Pred) return hlo::ne(flat, hlo::like(flat, 0));
  if (!is_complex(to)) return flat;
  int64_t count = flat.dims()[0] / 2;
  Value pairs = hlo::reshape(flat, {count, 2});
  Value re = hlo::slice(pairs, {0, 0}, {count, 1}, {1, 1}), im = hlo::slice(pairs, {0, 1}, {count, 2}, {1, 1});
  return flatten(hlo::complex(re, im));
}

Value bitcast_plain(Value flat, ElementType to) {
  size_t from_bytes = size_of(flat.element()), to_bytes = size_of(to);
  if (flat.element() == to) return flat;
  if (from_bytes < to_bytes) {
    auto ratio = static_cast<int64_t>(to_bytes / from_bytes);
    flat = hlo::reshape(flat, {flat.dims()[0] / ratio, ratio});
  }
  return flatten(hlo::bitcast_convert(flat, to));
}

// The same bytes as another element type; a tail that does not fill an element is dropped.
Value retype(Value flat, ElementType to) {
  if (flat.element() == to) return flat;
  int64_t bytes = flat.type.bytes();
  auto size = static_cast<int64_t>(size_of(to));
  if (bytes % size != 0) {
    auto unit = static_cast<int64_t>(size_of(flat.element()));
    flat = hlo::slice(flat, {0}, {bytes / size * size / unit}, {1});
  }
  return from_plain(bitcast_plain(to_plain(flat), plain(to)), to);
}

int64_t elements_of(const ViewPlan& plan) {
  return plan.base.bytes() / static_cast<int64_t>(size_of(plan.view.element));
}

bool needs_broadcast(const View& view, size_t dim) { return view.sizes[dim] == 1 || view.strides[dim] == 0; }

// Dimensions that take part in addressing, in the order of the view.
Dims kept_dims(const View& view) {
  Dims kept;
  for (size_t i = 0; i < view.sizes.size(); ++i)
    if (!needs_broadcast(view, i)) kept.push_back(static_cast<int64_t>(i));
  return kept;
}

Dims sizes_at(const View& view, const Dims& dims) {
  Dims sizes;
  for (int64_t dim : dims) sizes.push_back(view.sizes[static_cast<size_t>(dim)]);
  return sizes;
}

bool has_steps(const ViewPlan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](int64_t step) { return step != 1; });
}

Values start_values(hlo::Builder& builder, const ViewPlan& plan, const Values& starts) {
  if (!plan.is_static) return starts;
  return Values(plan.container.size(), hlo::constant(builder, ElementType::S64, 0));
}

// Flat element numbers of every element of the view, dims view.sizes.
Value linear_index(hlo::Builder& builder, const ViewPlan& plan, const Values& starts) {
  const View& view = plan.view;
  Type type{ElementType::S64, view.sizes};
  Value index = plan.is_static ? hlo::constant(builder, type, 0) : hlo::broadcast(starts[0], view.sizes);
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (needs_broadcast(view, i)) continue;
    Value along = hlo::iota(builder, type, static_cast<int64_t>(i));
    index = hlo::add(index, hlo::multiply(along, hlo::like(along, view.strides[i])));
  }
  return index;
}

Value container_of(Value flat, const ViewPlan& plan) {
  int64_t missing = product(plan.container) - flat.dims()[0];
  if (missing > 0) flat = hlo::pad(flat, hlo::constant(*flat.builder, flat.element(), 0), {0}, {missing}, {0});
  return hlo::reshape(flat, plan.container);
}

}  // namespace

View whole(const Type& type) { return {type.element, type.dims, row_major_strides(type.dims), 0}; }

bool is_whole(const Type& base, const View& view) {
  if (view.offset != 0 || view.element != base.element || view.sizes != base.dims) return false;
  int64_t expected = 1;
  for (size_t i = view.sizes.size(); i-- > 0;) {
    if (view.sizes[i] != 1 && view.strides[i] != expected) return view.count() == 0;
    expected *= view.sizes[i];
  }
  return true;
}

ViewPlan plan_view(const Type& base, const View& view) {
  ViewPlan plan;
  plan.base = base;
  plan.view = view;
  if (is_whole(base, view)) return plan;
  plan.kind = ViewPlan::Kind::Window;
  if (view.count() == 0) return plan;

  Dims order = kept_dims(view);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return view.strides[static_cast<size_t>(a)] > view.strides[static_cast<size_t>(b)];
  });
  int64_t count = elements_of(plan), rest = view.offset;
  bool fits = true;
  // `unit` is the row-major stride of the container dimension being added. A view stride that is no multiple of the
  // next one's unit walks the container dimension in steps.
  int64_t unit = order.empty() ? 1 : view.strides[static_cast<size_t>(order[0])];
  auto add_dimension = [&](int64_t extent, int64_t window, int64_t step) {
    int64_t start = rest / unit;
    rest %= unit;
    fits &= start + window <= extent;
    plan.container.push_back(extent);
    plan.window.push_back(window);
    plan.steps.push_back(step);
    plan.starts.push_back(start);
  };
  if (order.empty()) add_dimension(count, 1, 1);
  for (size_t i = 0; i < order.size(); ++i) {
    int64_t size = view.sizes[static_cast<size_t>(order[i])], stride = view.strides[static_cast<size_t>(order[i])];
    if (i == 0) {
      add_dimension((count + unit - 1) / unit, size, 1);
      continue;
    }
    int64_t outer = unit;
    unit = std::gcd(outer, stride);
    int64_t step = stride / unit;
    add_dimension(outer / unit, (size - 1) * step + 1, step);
  }
  if (unit > 1) {
    int64_t extent = unit;
    unit = 1;
    add_dimension(extent, 1, 1);
  }
  if (!fits) {
    plan.kind = ViewPlan::Kind::Gather;
    plan.container = plan.window = plan.steps = {};
    plan.starts = {view.offset};
  } else {
    plan.permutation = order;
  }
  plan.is_static = std::all_of(plan.starts.begin(), plan.starts.end(), [](int64_t start) { return start == 0; });
  return plan;
}

size_t start_count(const ViewPlan& plan) { return plan.is_static ? 0 : plan.starts.size(); }

void add_to(Hasher& hasher, const ViewPlan& plan) {
  auto add_dims = [&](const Dims& dims) {
    hasher.add(static_cast<uint64_t>(dims.size()));
    for (int64_t size : dims) hasher.add(size);
  };
  hasher.add(static_cast<uint64_t>(plan.kind) | static_cast<uint64_t>(plan.is_static) << 8 |
             static_cast<uint64_t>(plan.base.element) << 16 | static_cast<uint64_t>(plan.view.element) << 24);
  add_dims(plan.base.dims);
  add_dims(plan.view.sizes);
  add_dims(plan.view.strides);
}

Value lower_read(Value base, const ViewPlan& plan, const Values& starts) {
  if (plan.kind == ViewPlan::Kind::Whole) return base;
  hlo::Builder& builder = *base.builder;
  const View& view = plan.view;
  if (view.count() == 0) return hlo::constant(builder, Type{view.element, view.sizes}, 0);
  Value flat = retype(flatten(base), view.element);

  if (plan.kind == ViewPlan::Kind::Gather) {
    Dims indices_dims = view.sizes;
    indices_dims.push_back(1);
    Value indices = hlo::reshape(linear_index(builder, plan, starts), indices_dims);
    hlo::GatherDims dims;
    dims.collapsed_slice_dims = {0};
    dims.start_index_map = {0};
    dims.index_vector_dim = view.sizes.size();
    return hlo::gather(flat, indices, dims, {1});
  }

  Value window = container_of(flat, plan);
  if (!plan.is_static) window = hlo::dynamic_slice(window, starts, plan.window);
  if (plan.is_static || has_steps(plan)) {
    window = hlo::slice(window, Dims(plan.window.size(), 0), plan.window, plan.steps);
  }
  // Window order -> view order, then the dimensions that were left out.
  Dims kept = kept_dims(view), to_view;
  window = hlo::reshape(window, sizes_at(view, plan.permutation));
  for (int64_t dim : kept) {
    const int64_t* at = std::find(plan.permutation.begin(), plan.permutation.end(), dim);
    to_view.push_back(at - plan.permutation.begin());
  }
  return hlo::broadcast_in_dim(hlo::transpose(window, to_view), view.sizes, kept);
}

Value lower_write(Value base, const ViewPlan& plan, const Values& starts, Value update) {
  if (plan.kind == ViewPlan::Kind::Whole) return update;
  hlo::Builder& builder = *base.builder;
  const View& view = plan.view;
  if (view.count() == 0) return base;
  // A bool is written as the byte it is: reading the whole base as bools would make a 1 of every byte around it.
  ElementType unit =
      view.element == ElementType::Pred && plan.base.element != ElementType::Pred ? ElementType::U8 : view.element;
  Value flat = retype(flatten(base), unit);
  update = hlo::convert(update, unit);

  if (plan.kind == ViewPlan::Kind::Gather) {
    Value indices = hlo::reshape(linear_index(builder, plan, starts), {view.count(), 1});
    hlo::ScatterDims dims;
    dims.inserted_window_dims = {0};
    dims.scatter_dims_to_operand_dims = {0};
    dims.index_vector_dim = 1;
    flat =
        hlo::scatter({flat}, indices, {flatten(update)}, dims, [](const Values& pair) { return Values{pair[1]}; })[0];
  } else {
    // The update in window order: one element of every expanded dimension, then the permutation.
    Dims first(view.sizes.size(), 0), limit = view.sizes, kept = kept_dims(view), to_window, stepped;
    for (size_t i = 0; i < view.sizes.size(); ++i)
      if (needs_broadcast(view, i)) limit[i] = 1;
    Value window = hlo::slice(update, first, limit, Dims(view.sizes.size(), 1));
    window = hlo::reshape(window, sizes_at(view, kept));
    for (int64_t dim : plan.permutation) {
      const int64_t* at = std::find(kept.begin(), kept.end(), dim);
      to_window.push_back(at - kept.begin());
    }
    window = hlo::transpose(window, to_window);
    for (size_t i = 0; i < plan.window.size(); ++i) stepped.push_back((plan.window[i] - 1) / plan.steps[i] + 1);
    window = hlo::reshape(window, stepped);

    Value container = container_of(flat, plan);
    Values from = start_values(builder, plan, starts);
    if (has_steps(plan)) {
      Dims zeros(plan.window.size(), 0), gaps;
      for (int64_t step : plan.steps) gaps.push_back(step - 1);
      Value holes = hlo::constant(builder, ElementType::Pred, 0);
      Value written = hlo::pad(hlo::constant(builder, Type{ElementType::Pred, stepped}, 1), holes, zeros, zeros, gaps);
      window = hlo::pad(window, hlo::constant(builder, unit, 0), zeros, zeros, gaps);
      window = hlo::select(written, window, hlo::dynamic_slice(container, from, plan.window));
    }
    bool covers = plan.is_static && plan.window == plan.container;
    container = covers ? window : hlo::dynamic_update_slice(container, window, from);
    flat = hlo::slice(flatten(container), {0}, {flat.dims()[0]}, {1});
  }

  int64_t base_count = plan.base.count();
  Value back = retype(flat, plan.base.element);
  if (back.dims()[0] < base_count) {  // the dropped tail, see retype
    Value old = flatten(base);
    back = hlo::concatenate({back, hlo::slice(old, {back.dims()[0]}, {base_count}, {1})}, 0);
  }
  return hlo::reshape(back, plan.base.dims);
}

}  // namespace tpu::graph
