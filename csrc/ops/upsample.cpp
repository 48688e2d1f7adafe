// Family upsample: images at other sizes and at sampled places. What goes in: a batch of 1-d, 2-d or 3-d images and
// sizes and scales as structure, or a grid of places. Interpolation along one dimension is a sparse matrix that is
// worked out here, in plain numbers as torch's CPU kernels do; the backward is the same with the matrix transposed.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/access.h"
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------ interpolation in numbers

/// Output o is the sum of weight[i] * input[index[i]] over i in [start[o], start[o + 1]).
struct Matrix {
  int64_t inputs = 0;
  std::vector<size_t> start{0};
  std::vector<int64_t> index;
  std::vector<double> weight;

  int64_t outputs() const { return static_cast<int64_t>(start.size()) - 1; }
  void add(int64_t at, double value) {
    index.push_back(at);
    weight.push_back(value);
  }
  void end_row() { start.push_back(index.size()); }
  /// The most terms of one output.
  int64_t most_terms() const {
    size_t most = 0;
    for (size_t o = 0; o + 1 < start.size(); ++o) most = std::max(most, start[o + 1] - start[o]);
    return static_cast<int64_t>(most);
  }
  /// k when every input is repeated k times, else 0.
  int64_t repeats() const {
    if (inputs == 0 || outputs() % inputs != 0 || static_cast<int64_t>(index.size()) != outputs()) return 0;
    int64_t k = outputs() / inputs;
    for (size_t o = 0; o < index.size(); ++o)
      if (index[o] != static_cast<int64_t>(o) / k || weight[o] != 1) return 0;
    return k;
  }
  Matrix transposed() const {
    std::vector<std::vector<std::pair<int64_t, double>>> rows(static_cast<size_t>(inputs));
    for (size_t o = 0; o + 1 < start.size(); ++o)
      for (size_t i = start[o]; i < start[o + 1]; ++i)
        rows[static_cast<size_t>(index[i])].push_back({static_cast<int64_t>(o), weight[i]});
    Matrix result;
    result.inputs = outputs();
    for (const auto& row : rows) {
      for (auto [at, value] : row) result.add(at, value);
      result.end_row();
    }
    return result;
  }
};

enum class Method { Nearest, NearestExact, Linear, Cubic, LinearAntialias, CubicAntialias, LanczosAntialias };

/// One dimension: sizes, the scale factor that the user gave, and whether corners are aligned.
struct Resize {
  int64_t inputs, outputs;
  std::optional<double> factor;
  bool align_corners;
};

// The arithmetic is in Real, float for all but float64 images, since positions decide which pixels are read.
template <class Real>
Real scale_of(const Resize& r) {
  if (r.align_corners)
    return r.outputs > 1 ? static_cast<Real>(r.inputs - 1) / static_cast<Real>(r.outputs - 1) : Real(0);
  if (r.factor && *r.factor > 0) return static_cast<Real>(1.0 / *r.factor);
  return static_cast<Real>(r.inputs) / static_cast<Real>(r.outputs);
}

/// Position among the inputs of output o; pixels are squares, their places the middles.
template <class Real>
Real place_of(const Resize& r, Real scale, int64_t o) {
  return r.align_corners ? scale * static_cast<Real>(o) : scale * (static_cast<Real>(o) + Real(0.5)) - Real(0.5);
}

Matrix nearest_matrix(const Resize& r, bool exact) {
  Matrix m;
  m.inputs = r.inputs;
  auto scale = scale_of<float>(r);
  for (int64_t o = 0; o < r.outputs; ++o) {
    float place = (static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * scale;
    int64_t at = r.inputs == r.outputs       ? o
                 : r.outputs == 2 * r.inputs ? o / 2
                                             : static_cast<int64_t>(std::floor(place));
    m.add(std::min(at, r.inputs - 1), 1);
    m.end_row();
  }
  return m;
}

template <class Real>
Matrix linear_matrix(const Resize& r) {
  Matrix m;
  m.inputs = r.inputs;
  Real scale = scale_of<Real>(r);
  for (int64_t o = 0; o < r.outputs; ++o) {
    Real place = r.inputs == r.outputs ? static_cast<Real>(o) : std::max(place_of(r, scale, o), Real(0));
    int64_t at = std::min(static_cast<int64_t>(place), r.inputs - 1);
    Real part = std::clamp(place - static_cast<Real>(at), Real(0), Real(1));
    if (at + 1 == r.inputs) part = 0;  // beyond the last pixel there is but that one
    m.add(at, Real(1) - part);
    if (part != 0) m.add(at + 1, part);
    m.end_row();
  }
  return m;
}

/// The cubic convolution kernel (Keys 1981) at distance x, with its parameter a.
template <class Real>
Real cubic(Real x, Real a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

template <class Real>
Matrix cubic_matrix(const Resize& r) {
  Matrix m;
  m.inputs = r.inputs;
  Real scale = scale_of<Real>(r);
  for (int64_t o = 0; o < r.outputs; ++o) {
    Real place = r.inputs == r.outputs ? static_cast<Real>(o) : place_of(r, scale, o);
    auto at = std::min(static_cast<int64_t>(std::floor(place)), r.inputs - 1);
    Real part = std::clamp(place - static_cast<Real>(at), Real(0), Real(1));
    for (int64_t tap = -1; tap <= 2; ++tap) {
      m.add(std::clamp<int64_t>(at + tap, 0, r.inputs - 1), cubic(part - static_cast<Real>(tap), Real(-0.75)));
    }
    m.end_row();
  }
  return m;
}

template <class Real>
Real filter_at(Method method, Real x) {
  x = std::abs(x);
  switch (method) {
    case Method::LinearAntialias: return x < 1 ? 1 - x : 0;
    case Method::CubicAntialias: return cubic(x, Real(-0.5));
    default: {
      if (x == 0) return 1;
      if (x >= 3) return 0;
      auto sinc = [](Real t) { return std::sin(t) / t; };
      Real t = std::numbers::pi_v<Real> * x;
      return sinc(t) * sinc(t / 3);
    }
  }
}

/// When shrinking, the filter is as wide as the pixels of the output.
template <class Real>
Matrix antialias_matrix(const Resize& r, Method method) {
  Matrix m;
  m.inputs = r.inputs;
  Real scale = scale_of<Real>(r), stretch = std::max(scale, Real(1));
  Real radius = method == Method::LinearAntialias ? 1 : method == Method::CubicAntialias ? 2 : 3;
  for (int64_t o = 0; o < r.outputs; ++o) {
    Real center = scale * (static_cast<Real>(o) + Real(0.5)), support = radius * stretch;
    auto low = std::max<int64_t>(static_cast<int64_t>(center - support + Real(0.5)), 0);
    auto high = std::min(static_cast<int64_t>(center + support + Real(0.5)), r.inputs);
    std::vector<Real> weights;
    Real total = 0;
    for (int64_t i = low; i < high; ++i) {
      weights.push_back(filter_at(method, (static_cast<Real>(i) - center + Real(0.5)) / stretch));
      total += weights.back();
    }
    for (int64_t i = low; i < high; ++i) {
      Real weight = weights[static_cast<size_t>(i - low)];
      m.add(i, total != 0 ? weight / total : weight);
    }
    m.end_row();
  }
  return m;
}

template <class Real>
Matrix matrix_of(const Resize& r, Method method) {
  switch (method) {
    case Method::Nearest: return nearest_matrix(r, false);
    case Method::NearestExact: return nearest_matrix(r, true);
    case Method::Linear: return linear_matrix<Real>(r);
    case Method::Cubic: return cubic_matrix<Real>(r);
    default: return antialias_matrix<Real>(r, method);
  }
}

// ---------------------------------------------------------------------------------------- interpolation as a program

hlo::Value repeated(const hlo::Value& x, int64_t dim, int64_t times) {
  Dims dims = x.dims(), map;
  dims.insert(static_cast<size_t>(dim) + 1, times);
  for (int64_t i = 0; i < x.rank(); ++i) map.push_back(i <= dim ? i : i + 1);
  Dims merged = x.dims();
  merged[dim] *= times;
  return hlo::reshape(hlo::broadcast_in_dim(x, dims, map), merged);
}

hlo::Value sum_of_groups(const hlo::Value& x, int64_t dim, int64_t times) {
  Dims dims = x.dims();
  dims[dim] /= times;
  dims.insert(static_cast<size_t>(dim) + 1, times);
  return hlo::reduce(hlo::reshape(x, dims), {dim + 1}, hlo::Reducer::Add);
}

/// Column t of the matrix as a list per output: the t-th term, or a repeated term of weight 0 where there are fewer.
struct Term {
  std::vector<int64_t> index;
  std::vector<double> weight;
  bool is_copy = true;  // all weights are 1
};

Term term_of(const Matrix& m, size_t t) {
  Term term;
  for (size_t o = 0; o + 1 < m.start.size(); ++o) {
    size_t count = m.start[o + 1] - m.start[o], at = m.start[o] + std::min(t, count == 0 ? 0 : count - 1);
    term.index.push_back(count == 0 ? 0 : m.index[at]);
    term.weight.push_back(t < count ? m.weight[at] : 0);
    term.is_copy = term.is_copy && term.weight.back() == 1;
  }
  return term;
}

constexpr int64_t kMostTerms = 16;         // more of them are one product with the dense matrix
constexpr int64_t kMostNumbers = 1 << 17;  // longer lists of constants would be megabytes of text

/// Dimension `dim` of x multiplied by the matrix.
hlo::Value multiplied(Context& c, const hlo::Value& x, int64_t dim, const Matrix& m) {
  int64_t terms = m.most_terms(), outputs = m.outputs();
  Dims dims = x.dims();
  dims[dim] = outputs;
  if (product(dims) == 0 || terms == 0) return hlo::constant(c.builder(), {x.element(), dims}, 0);
  c.expect(terms * outputs <= kMostNumbers, ErrorCode::NotImplemented, "interpolation of ", outputs, " outputs");
  auto weights = [&](const Term& term) { return hlo::constant_doubles(c.builder(), term.weight, x.element()); };
  auto indices = [&](const Term& term) { return hlo::constant_ints(c.builder(), term.index, ElementType::S32); };
  hlo::Value sum;
  if (terms <= kMostTerms) {
    for (int64_t t = 0; t < terms; ++t) {
      Term term = term_of(m, static_cast<size_t>(t));
      hlo::Value part = read(x, along(x, dim, indices(term)));
      if (!term.is_copy) part = part * hlo::broadcast_in_dim(weights(term), part.dims(), {dim});
      sum = sum ? sum + part : part;
    }
    return sum;
  }
  std::vector<int64_t> rows;
  for (size_t o = 0; o + 1 < m.start.size(); ++o)
    rows.insert(rows.end(), m.start[o + 1] - m.start[o], static_cast<int64_t>(o));
  hlo::Value row = hlo::constant_ints(c.builder(), rows, ElementType::S32);
  Term all{m.index, m.weight, false};
  hlo::Value dense = hlo::constant(c.builder(), {x.element(), {outputs, m.inputs}}, 0);
  dense = write(dense, Access{dense.dims(), {row, indices(all)}, row.dims(), 0}, weights(all),
                hlo::body_of(hlo::Reducer::Add));
  hlo::DotDims contract;
  contract.lhs_contract = {dim};
  contract.rhs_contract = {1};
  hlo::Value result = hlo::dot_general(x, dense, contract, hlo::Precision::Highest);
  Dims order;  // the new dimension comes last
  for (int64_t i = 0; i < x.rank(); ++i) order.push_back(i == dim ? x.rank() - 1 : i < dim ? i : i - 1);
  return hlo::transpose(result, order);
}

Resize resize_of(Context& c, int64_t i, int64_t count, int64_t inputs, int64_t outputs) {
  static const char* names[3][3] = {{"scales"}, {"scales_h", "scales_w"}, {"scales_d", "scales_h", "scales_w"}};
  const char* name = names[count - 1][i];
  Resize r{inputs, outputs, std::nullopt, c.call().find("align_corners") && c.flag("align_corners")};
  if (c.has(name)) r.factor = c.number(name);
  return r;
}

Matrix interpolation(const Resize& r, Method method, ElementType element) {
  return element == ElementType::F64 ? matrix_of<double>(r, method) : matrix_of<float>(r, method);
}

bool is_nearest(Method method) { return method == Method::Nearest || method == Method::NearestExact; }

template <Method method>
hlo::Values upsample(Context& c) {
  hlo::Value x = c.tensor("self");
  ElementType element = x.element();
  c.expect(is_nearest(method) || is_floating(element), ErrorCode::NotImplemented, "interpolation of integers");
  Dims sizes = c.ints("output_size");
  if (!is_nearest(method)) x = hlo::convert(x, compute_type(element));
  auto count = static_cast<int64_t>(sizes.size());
  for (int64_t i = count - 1; i >= 0; --i) {
    int64_t dim = x.rank() - count + i;
    Matrix m = interpolation(resize_of(c, i, count, x.dims()[dim], sizes[i]), method, element);
    int64_t times = m.repeats();
    x = times > 0 ? repeated(x, dim, times) : multiplied(c, x, dim, m);
  }
  return {hlo::convert(x, element)};
}

template <Method method>
hlo::Values upsample_backward(Context& c) {
  hlo::Value grad = c.tensor("grad_output");
  ElementType element = grad.element();
  c.expect(is_floating(element), ErrorCode::NotImplemented, "interpolation of integers");
  Dims outputs = c.ints("output_size"), inputs = c.ints("input_size");
  grad = hlo::convert(grad, compute_type(element));
  auto count = static_cast<int64_t>(outputs.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t dim = grad.rank() - count + i;
    Matrix m = interpolation(resize_of(c, i, count, inputs[dim], outputs[i]), method, element);
    int64_t times = m.repeats();
    grad = times > 0 ? sum_of_groups(grad, dim, times) : multiplied(c, grad, dim, m.transposed());
  }
  return {hlo::convert(grad, element)};
}

// ------------------------------------------------------------------------------------------------ grid sampling

// Integer codes of at::native::GridSamplerInterpolation and GridSamplerPadding.
enum Interpolation : int64_t { kBilinear = 0, kNearest = 1 };
enum Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

/// One coordinate of all places: its value in pixels and its derivative by the grid's value.
struct Coordinate {
  hlo::Value place, slope;
};

/// x folded into [low / 2, high / 2] as between two mirrors.
Coordinate mirrored(const Coordinate& x, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return {hlo::like(x.place, 0), hlo::like(x.slope, 0)};
  auto number = [&](double value) { return hlo::like(x.place, value); };
  hlo::Value low = number(static_cast<double>(twice_low) / 2),
             width = number(static_cast<double>(twice_high - twice_low) / 2);
  hlo::Value offset = x.place - low, distance = hlo::abs(offset);
  hlo::Value flips = hlo::floor(distance / width), rest = distance - flips * width;
  hlo::Value half = flips * number(0.5);
  hlo::Value is_even = hlo::eq(hlo::floor(half), half);
  hlo::Value place = hlo::select(is_even, rest + low, width - rest + low);
  hlo::Value sign = hlo::select(hlo::lt(offset, number(0)), number(-1), number(1));
  return {place, x.slope * hlo::select(is_even, sign, hlo::negate(sign))};
}

/// From [-1, 1] to pixels, then brought inside as the padding asks.
Coordinate in_pixels(const hlo::Value& grid, int64_t size, Padding padding, bool align_corners) {
  auto number = [&](double value) { return hlo::like(grid, value); };
  double scale = (align_corners ? static_cast<double>(size - 1) : static_cast<double>(size)) / 2;
  Coordinate x{(grid + number(1)) * number(scale), number(scale)};
  if (!align_corners) x.place = x.place - number(0.5);
  if (padding == kZeros) return x;
  if (padding == kReflection) x = align_corners ? mirrored(x, 0, 2 * (size - 1)) : mirrored(x, -1, 2 * size - 1);
  hlo::Value last = number(static_cast<double>(size - 1));
  // On and beyond the border the place no longer moves; NaN goes to pixel 0, as in torch.
  hlo::Value moves = hlo::and_(hlo::gt(x.place, number(0)), hlo::lt(x.place, last));
  hlo::Value inside = hlo::select(hlo::eq(x.place, x.place), x.place, number(0));
  return {hlo::clamp(number(0), inside, last), hlo::select(moves, x.slope, number(0))};
}

/// The pixels around each place. Their positions have dims [2, .., 2, N, places..], one 2 for the nearer and the
/// farther pixel of each dimension (none of them for nearest), so that one gather reads and one scatter writes them
/// all.
struct Sampling {
  hlo::Value image, grid;               // in the type that is computed in
  std::vector<Coordinate> coordinates;  // outermost dimension first, [N, places..]
  int64_t corners = 0;                  // how many 2 there are
  hlo::Values positions;                // per dimension, S32 and inside the image
  hlo::Value inside;                    // whether the pixel is in the image
  hlo::Values weights, changes;         // per dimension with a corner: the share of the pixel, and d share / d place

  const Dims& dims() const { return inside.dims(); }
  Dims corner_dims() const {
    Dims result;
    for (int64_t d = 0; d < corners; ++d) result.push_back(d);
    return result;
  }
  Access access() const {
    hlo::Value batch = hlo::iota(*image.builder, positions[0].type, corners);
    hlo::Values indices{batch, {}};
    indices.insert(indices.end(), positions.begin(), positions.end());
    return {image.dims(), indices, dims(), 0};
  }
  /// [corners.., N, places.., C], zero outside.
  hlo::Value pixels() const {
    hlo::Value found = read(image, access());
    return hlo::select(over_channels(inside, found.dims()), found, hlo::like(found, 0));
  }
  /// The product of the weights, that of dimension `changed` replaced by its change; an empty Value for nearest.
  hlo::Value share(int64_t changed = -1) const {
    hlo::Value product;
    for (int64_t d = 0; d < corners; ++d) {
      const hlo::Value& factor = (d == changed ? changes : weights)[static_cast<size_t>(d)];
      product = product ? product * factor : factor;
    }
    return product;
  }
  static hlo::Value over_channels(const hlo::Value& x, const Dims& dims) {
    Dims map;
    for (int64_t i = 0; i < x.rank(); ++i) map.push_back(i);
    return hlo::broadcast_in_dim(x, dims, map);
  }
};

hlo::Value grid_part(const hlo::Value& grid, int64_t k) {
  Dims start(grid.dims().size(), 0), limit = grid.dims(), dims = grid.dims();
  start.back() = k;
  limit.back() = k + 1;
  dims.pop_back();
  return hlo::reshape(hlo::slice(grid, start, limit, Dims(grid.dims().size(), 1)), dims);
}

/// `near` and `far` of dimension d, spread over the corners of all dimensions.
hlo::Value pair_of(const hlo::Value& near, const hlo::Value& far, int64_t d, int64_t corners) {
  Dims one{1}, full(static_cast<size_t>(corners), 2), map{d};
  for (int64_t i = 0; i < near.rank(); ++i) {
    one.push_back(near.dims()[i]);
    full.push_back(near.dims()[i]);
    map.push_back(corners + i);
  }
  return hlo::broadcast_in_dim(hlo::concatenate({hlo::reshape(near, one), hlo::reshape(far, one)}, 0), full, map);
}

Sampling sampling(Context& c) {
  Sampling s;
  ElementType element = c.type("input").element;
  c.expect(is_floating(element), ErrorCode::NotImplemented, "grid_sampler of ", torch_name(element));
  ElementType type = compute_type(element);
  s.image = c.tensor("input", type);
  s.grid = c.tensor("grid", type);
  int64_t spatial = s.image.rank() - 2, mode = c.integer("interpolation_mode");
  c.expect(mode == kBilinear || mode == kNearest, ErrorCode::NotImplemented, "grid_sampler with bicubic interpolation");
  c.expect(s.grid.rank() == spatial + 2 && s.grid.dims().back() == spatial && s.grid.dims()[0] == s.image.dims()[0],
           ErrorCode::InvalidArgument, "grid_sampler(): expected grid to have size ", spatial,
           " in last dimension and the batch size of input, but got input with sizes ", to_string(s.image.dims()),
           " and grid with sizes ", to_string(s.grid.dims()));
  auto padding = static_cast<Padding>(c.integer("padding_mode"));
  s.corners = mode == kNearest ? 0 : spatial;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t size = s.image.dims()[2 + d];
    c.expect(size > 0, ErrorCode::InvalidArgument,
             "grid_sampler(): expected input to have non-empty spatial dimensions, ", "but input has sizes ",
             to_string(s.image.dims()), " with dimension ", 2 + d, " being empty");
    // The grid names the innermost dimension first.
    Coordinate x = in_pixels(grid_part(s.grid, spatial - 1 - d), size, padding, c.flag("align_corners"));
    s.coordinates.push_back(x);
    hlo::Value at;
    if (mode == kNearest) {
      at = hlo::round_nearest_even(x.place);
    } else {
      hlo::Value base = hlo::floor(x.place), one = hlo::like(base, 1), part = x.place - base;
      at = pair_of(base, base + one, d, spatial);
      s.weights.push_back(pair_of(one - part, part, d, spatial));
      s.changes.push_back(pair_of(hlo::negate(one), one, d, spatial));
    }
    hlo::Value first = hlo::like(at, 0), last = hlo::like(at, size - 1);
    hlo::Value inside = hlo::and_(hlo::ge(at, first), hlo::le(at, last));
    s.inside = s.inside ? hlo::and_(s.inside, inside) : inside;
    s.positions.push_back(hlo::convert(hlo::clamp(first, at, last), ElementType::S32));
  }
  return s;
}

/// [N, places.., C] to [N, C, places..].
hlo::Value channels_second(const hlo::Value& x) {
  Dims order{0, x.rank() - 1};
  for (int64_t i = 1; i + 1 < x.rank(); ++i) order.push_back(i);
  return hlo::transpose(x, order);
}

hlo::Value channels_last(const hlo::Value& x) {
  Dims order{0};
  for (int64_t i = 2; i < x.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return hlo::transpose(x, order);
}

hlo::Values grid_sampler(Context& c) {
  Sampling s = sampling(c);
  hlo::Value sum = s.pixels();
  if (s.corners > 0) {
    sum = hlo::reduce(sum * Sampling::over_channels(s.share(), sum.dims()), s.corner_dims(), hlo::Reducer::Add);
  }
  return {hlo::convert(channels_second(sum), c.type("input").element)};
}

hlo::Value image_gradient(const Sampling& s, const hlo::Value& grad) {
  Dims dims(static_cast<size_t>(s.corners), 2);
  for (int64_t size : grad.dims()) dims.push_back(size);
  hlo::Value share = broadcast_to(grad, dims);
  if (s.corners > 0) share = share * Sampling::over_channels(s.share(), dims);
  share = hlo::select(Sampling::over_channels(s.inside, dims), share, hlo::like(share, 0));
  return write(hlo::like(s.image, 0), s.access(), share, hlo::body_of(hlo::Reducer::Add));
}

// Nearest does not move with the grid.
hlo::Value grid_gradient(const Sampling& s, const hlo::Value& grad) {
  if (s.corners == 0) return hlo::like(s.grid, 0);
  hlo::Value pixels = s.pixels();
  hlo::Value by_pixel = hlo::reduce(pixels * broadcast_to(grad, pixels.dims()), {pixels.rank() - 1}, hlo::Reducer::Add);
  hlo::Values parts;
  for (int64_t d = s.corners - 1; d >= 0; --d) {
    hlo::Value part = hlo::reduce(by_pixel * s.share(d), s.corner_dims(), hlo::Reducer::Add);
    part = part * s.coordinates[static_cast<size_t>(d)].slope;
    Dims column = part.dims();
    column.push_back(1);
    parts.push_back(hlo::reshape(part, column));
  }
  return hlo::concatenate(parts, s.grid.rank() - 1);
}

hlo::Values grid_sampler_backward(Context& c) {
  Sampling s = sampling(c);
  hlo::Value grad = channels_last(c.tensor("grad_output", s.image.element()));
  Dims mask = c.ints("output_mask");
  hlo::Value of_image, of_grid;
  if (mask[0] != 0) of_image = hlo::convert(image_gradient(s, grad), c.type("input").element);
  if (mask[1] != 0) of_grid = hlo::convert(grid_gradient(s, grad), c.type("grid").element);
  return {of_image, of_grid};
}

}  // namespace

Table upsample_table() {
  Table table;
  auto resize = [&](const char* forward, const char* backward, Lower lower, Lower lower_backward) {
    for (Row each : {row(forward, lower), row(backward, lower_backward)})
      table.push_back(std::move(each).constant({"scales", "scales_d", "scales_h", "scales_w"}));
  };
  resize("upsample_nearest1d.out", "upsample_nearest1d_backward.grad_input", upsample<Method::Nearest>,
         upsample_backward<Method::Nearest>);
  resize("upsample_nearest2d.out", "upsample_nearest2d_backward.grad_input", upsample<Method::Nearest>,
         upsample_backward<Method::Nearest>);
  resize("upsample_nearest3d.out", "upsample_nearest3d_backward.grad_input", upsample<Method::Nearest>,
         upsample_backward<Method::Nearest>);
  resize("_upsample_nearest_exact1d.out", "_upsample_nearest_exact1d_backward.grad_input",
         upsample<Method::NearestExact>, upsample_backward<Method::NearestExact>);
  resize("_upsample_nearest_exact2d.out", "_upsample_nearest_exact2d_backward.grad_input",
         upsample<Method::NearestExact>, upsample_backward<Method::NearestExact>);
  resize("_upsample_nearest_exact3d.out", "_upsample_nearest_exact3d_backward.grad_input",
         upsample<Method::NearestExact>, upsample_backward<Method::NearestExact>);
  resize("upsample_linear1d.out", "upsample_linear1d_backward.grad_input", upsample<Method::Linear>,
         upsample_backward<Method::Linear>);
  resize("upsample_bilinear2d.out", "upsample_bilinear2d_backward.grad_input", upsample<Method::Linear>,
         upsample_backward<Method::Linear>);
  resize("upsample_trilinear3d.out", "upsample_trilinear3d_backward.grad_input", upsample<Method::Linear>,
         upsample_backward<Method::Linear>);
  resize("upsample_bicubic2d.out", "upsample_bicubic2d_backward.grad_input", upsample<Method::Cubic>,
         upsample_backward<Method::Cubic>);
  resize("_upsample_bilinear2d_aa.out", "_upsample_bilinear2d_aa_backward.grad_input",
         upsample<Method::LinearAntialias>, upsample_backward<Method::LinearAntialias>);
  resize("_upsample_bicubic2d_aa.out", "_upsample_bicubic2d_aa_backward.grad_input", upsample<Method::CubicAntialias>,
         upsample_backward<Method::CubicAntialias>);
  resize("_upsample_lanczos2d_aa.out", "_upsample_lanczos2d_aa_backward.grad_input", upsample<Method::LanczosAntialias>,
         upsample_backward<Method::LanczosAntialias>);
  for (Row each :
       {row("grid_sampler_2d", grid_sampler), row("grid_sampler_3d", grid_sampler),
        row("grid_sampler_2d_backward", grid_sampler_backward), row("grid_sampler_3d_backward", grid_sampler_backward)})
    table.push_back(std::move(each));
  return table;
}

}  // namespace tpu::ops
