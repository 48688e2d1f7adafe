// Family fft: discrete Fourier transforms, complex to complex, real to complex and back.
//
// stablehlo.fft transforms the last dimensions, three at most. Others are moved there and back, which XLA joins with
// the transpositions that the tensors' own strides ask for; what transforms more dimensions is a chain of ops.
#include <algorithm>
#include <cmath>

#include "ops/host_call.h"
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

using hlo::FftKind;
using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ shared moves

constexpr size_t kMostAtOnce = 3;

// What no kernel here takes goes to the host, which knows the error or the answer: half types, empty signals, double
// precision on a TPU (libtpu refuses it).
void expect_signal(const Context& c, const Type& type, bool is_real, const Dims& dims) {
  bool fits = is_real ? type.element == ElementType::F32 || type.element == ElementType::F64 : is_complex(type.element);
  c.expect(fits, ErrorCode::NotImplemented, "a transform of ", torch_name(type.element));
  c.expect(c.settings().is_cpu || real_of(type.element) == ElementType::F32, ErrorCode::NotImplemented,
           "a transform of ", torch_name(type.element), " on a TPU");
  for (int64_t dim : dims)
    c.expect(type.dims[static_cast<size_t>(dim)] > 0, ErrorCode::NotImplemented, "a transform of no elements");
}

// The transformed dimensions in the order given: where one side is real, the last of them is stored by half.
Dims transformed_dims(const Context& c) {
  int64_t rank = c.type("self").rank();
  Dims dims = c.ints("dim");
  if (!dims.empty()) wrap_dims(dims, rank);  // refuses what appears twice
  for (int64_t& dim : dims) dim = wrap_dim(dim, rank);
  return dims;
}

// `kind` over `dims` (at most three), in this order. `last_length`: the real elements along the last of them.
Value transform_at_once(const Value& x, FftKind kind, const Dims& dims, std::optional<int64_t> last_length = {}) {
  Dims to_last, back(static_cast<size_t>(x.rank()), 0), lengths;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) to_last.push_back(dim);
  for (int64_t dim : dims) {
    to_last.push_back(dim);
    lengths.push_back(x.dims()[static_cast<size_t>(dim)]);
  }
  if (last_length) lengths.back() = *last_length;
  for (size_t i = 0; i < to_last.size(); ++i) back[static_cast<size_t>(to_last[i])] = static_cast<int64_t>(i);
  return hlo::transpose(hlo::fft(hlo::transpose(x, to_last), kind, lengths), back);
}

// FFT or IFFT over any number of dimensions.
Value transform(Value x, FftKind kind, const Dims& dims) {
  for (size_t from = 0; from < dims.size(); from += kMostAtOnce)
    x = transform_at_once(x, kind, {dims.begin() + from, dims.begin() + std::min(from + kMostAtOnce, dims.size())});
  return x;
}

// torch's fft_norm_mode: what the sum over a signal of `count` elements is divided by. StableHLO's inverse transforms
// divide by `count` themselves.
Value normalized(Context& c, const Value& x, int64_t count, bool is_divided) {
  double n = static_cast<double>(count), factor = is_divided ? n : 1.0;
  switch (c.integer("normalization")) {
    case 0: break;
    case 1: factor /= std::sqrt(n); break;
    case 2: factor /= n; break;
    default: c.fail(ErrorCode::InvalidArgument, "Unsupported normalization mode ", c.integer("normalization"));
  }
  if (factor == 1.0) return x;
  auto scaled = [&](const Value& part) { return hlo::multiply(part, hlo::like(part, factor)); };
  if (!is_complex(x.element())) return scaled(x);
  // Part by part: a product of complex numbers would make NaN of an infinity.
  Value real = scaled(hlo::real(x)), imag = scaled(hlo::imag(x));
  return hlo::complex(real, imag);
}

int64_t count_along(const Dims& sizes, const Dims& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= sizes[static_cast<size_t>(dim)];
  return count;
}

// Elements from..to along `dim`.
Value part(const Value& x, int64_t dim, int64_t from, int64_t to) {
  Dims start(x.dims().size(), 0), limit = x.dims();
  start[static_cast<size_t>(dim)] = from;
  limit[static_cast<size_t>(dim)] = to;
  return hlo::slice(x, start, limit, Dims(x.dims().size(), 1));
}

// The spectrum of a real signal of `length` elements along the last of `dims`, from its first half: frequency -k has
// the conjugate of k.
Value whole_spectrum(const Value& half, const Dims& dims, int64_t length) {
  int64_t last = dims.back(), missing = (length - 1) / 2;
  if (missing == 0) return half;
  Value rest = hlo::reverse(part(half, last, 1, 1 + missing), {last});
  for (int64_t dim : dims) {
    int64_t size = rest.dims()[static_cast<size_t>(dim)];
    if (dim == last || size == 1) continue;
    Value zero = part(rest, dim, 0, 1);
    rest = hlo::concatenate({zero, hlo::reverse(part(rest, dim, 1, size), {dim})}, dim);
  }
  return hlo::concatenate({half, hlo::conj(rest)}, last);
}

// -------------------------------------------------------------------------------------------------- lowerings

Values complex_to_complex(Context& c) {
  Dims dims = transformed_dims(c);
  Type type = c.type("self");
  expect_signal(c, type, false, dims);
  Value x = c.tensor("self");
  if (dims.empty()) return {x};
  std::sort(dims.begin(), dims.end());
  bool is_forward = c.flag("forward");
  x = transform(x, is_forward ? FftKind::Fft : FftKind::Ifft, dims);
  return {normalized(c, x, count_along(type.dims, dims), !is_forward)};
}

Values real_to_complex(Context& c) {
  Dims dims = transformed_dims(c);
  Type type = c.type("self");
  c.expect(!dims.empty(), ErrorCode::InvalidArgument, "a real transform needs a dimension");
  expect_signal(c, type, true, dims);
  size_t others = dims.size() - std::min(dims.size(), kMostAtOnce);
  int64_t length = type.dims[static_cast<size_t>(dims.back())];
  Value x = transform_at_once(c.tensor("self"), FftKind::Rfft, {dims.begin() + others, dims.end()}, length);
  x = transform(x, FftKind::Fft, {dims.begin(), dims.begin() + others});
  x = normalized(c, x, count_along(type.dims, dims), false);
  return {c.flag("onesided") ? x : whole_spectrum(x, dims, length)};
}

// The complex transforms first, as torch does: it matters for what is no spectrum of a real signal.
Values complex_to_real(Context& c) {
  Dims dims = transformed_dims(c);
  Type type = c.type("self");
  c.expect(!dims.empty(), ErrorCode::InvalidArgument, "a real transform needs a dimension");
  expect_signal(c, type, false, dims);
  int64_t last = dims.back(), length = c.integer("last_dim_size");
  c.expect(length > 0 && type.dims[static_cast<size_t>(last)] == length / 2 + 1, ErrorCode::NotImplemented,
           "a transform to ", length, " real numbers from ", type.dims[static_cast<size_t>(last)], " frequencies");
  dims.pop_back();
  Value x = transform(c.tensor("self"), FftKind::Ifft, dims);
  x = transform_at_once(x, FftKind::Irfft, {last}, length);
  return {normalized(c, x, count_along(type.dims, dims) * length, true)};
}

}  // namespace

Table fft_table() {
  return {
      row("_fft_c2c", complex_to_complex).transform(Spectrum::Whole),
      row("_fft_c2c.out", complex_to_complex),
      row("_fft_r2c", real_to_complex).transform(Spectrum::Half).host_kernel(is_large).lending(),
      row("_fft_r2c.out", real_to_complex),
      row("_fft_c2r", complex_to_real).transform(Spectrum::Half),
      row("_fft_c2r.out", complex_to_real),
  };
}

}  // namespace tpu::ops
