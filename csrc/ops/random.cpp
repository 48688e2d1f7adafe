// Family random: random numbers, and ops that draw them. What goes in: Philox bits of the op's block of the generator,
// and the parameters of a distribution as run-time numbers or tensors. Words per element are fixed per op and dtype
// (one, two for float64), so that the generator advances by structure alone.
//
// Sources of the formulas: inversion of the distribution function (Devroye, Non-Uniform Random Variate Generation,
// chapter 2); ranges of the results as documented for torch.Tensor.uniform_ and its kin.
#include <bit>
#include <cmath>
#include <numbers>

#include "ops/axis.h"
#include "ops/elementwise.h"
#include "ops/philox.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------- the shared moves

/// float64 draws and computes in float64, every other type in float32.
ElementType draw_type(ElementType element) {
  return element == ElementType::F64 || element == ElementType::C128 ? ElementType::F64 : ElementType::F32;
}

hlo::Value shifted(const hlo::Value& bits, int64_t by) { return hlo::shift_right_logical(bits, hlo::like(bits, by)); }

/// The leading `digits` random bits as an integer of a floating type, for float32 at most 24, for float64 53.
hlo::Value digits_of(Context& c, const Dims& dims, ElementType type, int digits) {
  bool is_wide = type == ElementType::F64;
  hlo::Value bits = is_wide ? c.random_bits64(dims) : c.random_bits(dims);
  return hlo::convert(shifted(bits, (is_wide ? 64 : 32) - digits), type);
}

hlo::Value scaled(const hlo::Value& x, int exponent) { return x * hlo::like(x, std::ldexp(1.0, exponent)); }

/// Uniform in [0, 1), on as many digits as `element` has, so that no value rounds to 1 there.
hlo::Value unit(Context& c, const Dims& dims, ElementType element) {
  ElementType type = draw_type(element);
  int digits = type == ElementType::F64 ? 53 : element == ElementType::F16 ? 11 : element == ElementType::BF16 ? 8 : 24;
  return scaled(digits_of(c, dims, type, digits), -digits);
}

/// Uniform in (0, 1): the middles of 2^23 (float64: 2^52) equal parts, all of them exact, as are their mirror images 1
/// - u.
hlo::Value open_unit(Context& c, const Dims& dims, ElementType type) {
  int digits = type == ElementType::F64 ? 52 : 23;
  hlo::Value k = digits_of(c, dims, type, digits);
  return scaled(k + hlo::like(k, 0.5), -digits);
}

/// Standard normal, by inversion.
hlo::Value standard_normal(Context& c, const Dims& dims, ElementType type) {
  hlo::Value u = open_unit(c, dims, type);
  hlo::Value signed_unit = u + u - hlo::like(u, 1.0);
  return hlo::erf_inv(signed_unit) * hlo::like(u, std::numbers::sqrt2);
}

/// A float argument in every element, or nothing where it is known to be `neutral`.
std::optional<hlo::Value> parameter(Context& c, const char* name, const Dims& dims, ElementType type, double neutral) {
  if (c.known(name) == neutral) return std::nullopt;
  return hlo::broadcast(c.scalar(name, type), dims);
}

/// `failed` over floats; the message names no number, since checks carry integers only.
void refuse(Context& c, const hlo::Value& failed, const std::string& message) {
  c.require_not(failed, hlo::convert(failed, ElementType::S64), ErrorCode::InvalidArgument, message);
}

/// The tensor that is written, of a floating type; other dtypes get PyTorch's own error from the host kernel.
Type written(Context& c, bool complex_too = false) {
  Type type = *c.target(0);
  c.expect(is_floating(type.element) || (complex_too && is_complex(type.element)), ErrorCode::NotImplemented,
           "no floating-point dtype");
  return type;
}

// -------------------------------------------------------------------------------------- continuous distributions

hlo::Values uniform(Context& c) {
  Type target = written(c);
  ElementType type = draw_type(target.element);
  hlo::Value u = unit(c, target.dims, target.element);
  if (c.known("from") == 0 && c.known("to") == 1) return {u};
  hlo::Value from = c.scalar("from", type), to = c.scalar("to", type);
  refuse(c, hlo::gt(from, to), "uniform_ expects to return a [from, to) range, but found from > to");
  hlo::Value drawn = u * hlo::broadcast(to - from, target.dims) + hlo::broadcast(from, target.dims);
  // Rounding may reach the upper bound, which is no member of the range.
  auto spread = [&](const hlo::Value& x) { return hlo::broadcast(hlo::convert(x, target.element), target.dims); };
  drawn = hlo::convert(drawn, target.element);
  return {hlo::select(hlo::eq(drawn, spread(to)), spread(from), drawn)};
}

/// mean + std * z; an empty Value stands for 0 and 1.
hlo::Value scale_and_shift(hlo::Value z, const hlo::Value& mean, const hlo::Value& std) {
  if (std) z = z * broadcast_to(std, z.dims());
  return mean ? z + broadcast_to(mean, z.dims()) : z;
}

hlo::Values normal_inplace(Context& c) {
  Type target = written(c, true);
  ElementType type = draw_type(target.element);
  bool complex = is_complex(target.element);
  Dims dims = target.dims;
  if (complex) dims.push_back(2);
  hlo::Value z = standard_normal(c, dims, type), mean, std;
  if (c.known("mean") != 0) mean = c.scalar("mean", type);
  if (c.known("std") != 1) {
    std = c.scalar("std", type);
    refuse(c, hlo::lt(std, hlo::like(std, 0)), "normal expects std >= 0.0, but found a negative std");
  }
  // Real and imaginary part share the variance.
  if (complex) z = z * hlo::like(z, std::numbers::sqrt2 / 2);
  z = scale_and_shift(z, mean, std);
  if (!complex) return {z};
  auto part = [&](int64_t k) {
    Dims start(dims.size(), 0), limit = dims;
    start.back() = k;
    limit.back() = k + 1;
    return hlo::reshape(hlo::slice(z, start, limit, Dims(dims.size(), 1)), target.dims);
  };
  return {hlo::complex(part(0), part(1))};
}

// torch.normal with a tensor of means, of standard deviations, or of both.
hlo::Values normal_of_tensors(Context& c) {
  ElementType element = c.is_scalar("mean") ? c.type("std").element : c.type("mean").element;
  c.expect(is_floating(element), ErrorCode::NotImplemented, "no floating-point dtype");
  c.expect(!is_complex(c.type("std").element), ErrorCode::InvalidArgument,
           "normal expects standard deviation to be non-complex");
  ElementType type = draw_type(element);
  hlo::Value mean = c.tensor("mean", type), std = c.tensor("std", type);
  refuse(c, hlo::lt(std, hlo::like(std, 0)), "normal expects all elements of std >= 0.0");
  Dims dims = broadcast_dims(mean.dims(), std.dims());
  return {hlo::convert(scale_and_shift(standard_normal(c, dims, type), mean, std), element)};
}

hlo::Values log_normal(Context& c) {
  Type target = written(c);
  ElementType type = draw_type(target.element);
  hlo::Value std = c.scalar("std", type);
  refuse(c, hlo::le(std, hlo::like(std, 0)), "log_normal_ expects std > 0.0, but found a smaller std");
  return {hlo::exponential(scale_and_shift(standard_normal(c, target.dims, type), c.scalar("mean", type), std))};
}

/// Exponential with rate 1: never 0, since some callers divide by it.
hlo::Value standard_exponential(Context& c, const Dims& dims, ElementType type) {
  return hlo::negate(hlo::log(open_unit(c, dims, type)));
}

hlo::Values exponential(Context& c) {
  Type target = written(c);
  ElementType type = draw_type(target.element);
  hlo::Value drawn = standard_exponential(c, target.dims, type);
  if (std::optional<hlo::Value> rate = parameter(c, "lambd", target.dims, type, 1)) {
    hlo::Value lambd = c.scalar("lambd", type);
    refuse(c, hlo::le(lambd, hlo::like(lambd, 0)), "exponential_ expects lambda > 0.0, but found a smaller lambda");
    drawn = drawn / *rate;
  }
  return {drawn};
}

// The quantile function is tan(pi (u - 1/2)). Near its poles the argument has no digits left, so that the size is
// taken as 1 / tan(pi v) with v in (0, 1/2), and the sign from a bit that v does not use.
hlo::Values cauchy(Context& c) {
  Type target = written(c);
  ElementType type = draw_type(target.element);
  bool is_wide = type == ElementType::F64;
  hlo::Value bits = is_wide ? c.random_bits64(target.dims) : c.random_bits(target.dims);
  int digits = is_wide ? 52 : 23;
  hlo::Value k = hlo::convert(shifted(bits, (is_wide ? 64 : 32) - digits), type);
  hlo::Value angle = (k + hlo::like(k, 0.5)) * hlo::like(k, std::ldexp(std::numbers::pi, -digits - 1));
  hlo::Value size = hlo::like(angle, 1.0) / hlo::tan(angle);
  hlo::Value negative = hlo::ne(hlo::and_(bits, hlo::like(bits, 1)), hlo::like(bits, 0));
  hlo::Value drawn = hlo::select(negative, hlo::negate(size), size);
  hlo::Value sigma = c.scalar("sigma", type);
  refuse(c, hlo::le(sigma, hlo::like(sigma, 0)), "cauchy_ expects sigma > 0.0, but found a smaller sigma");
  return {scale_and_shift(drawn, c.scalar("median", type), sigma)};
}

// ---------------------------------------------------------------------------------------- discrete distributions

/// True with probability `p`, 0-d or of `dims`: p is compared with 32 bits, and 1 is always true.
hlo::Value biased_coin(Context& c, const Dims& dims, const hlo::Value& p) {
  hlo::Value chance = hlo::convert(p, ElementType::F32);
  hlo::Value threshold = hlo::convert(scaled(chance, 32), ElementType::U64);
  hlo::Value below = hlo::lt(hlo::convert(c.random_bits(dims), ElementType::U64), broadcast_to(threshold, dims));
  return below;
}

void refuse_no_probability(Context& c, const hlo::Value& p, const char* message) {
  hlo::Value inside = hlo::and_(hlo::ge(p, hlo::like(p, 0)), hlo::le(p, hlo::like(p, 1)));
  refuse(c, hlo::not_(inside), message);
}

hlo::Values bernoulli_of_number(Context& c) {
  Type target = *c.target(0);
  hlo::Value p = c.scalar("p", ElementType::F32);
  refuse_no_probability(c, p, "bernoulli_ expects p to be in [0, 1]");
  return {biased_coin(c, target.dims, p)};
}

hlo::Values bernoulli_of_tensor(Context& c) {
  const char* name = c.call().find("p") ? "p" : "self";
  ElementType element = c.type(name).element;
  c.expect(is_floating(element), ErrorCode::NotImplemented, "no floating-point dtype");
  hlo::Value p = c.tensor(name);
  refuse_no_probability(c, p, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
  Dims dims = c.call().find("p") ? c.target(0)->dims : p.dims();
  return {hlo::convert(biased_coin(c, dims, p), c.target_element(0, element))};
}

// The number of trials up to the first success: at least 1, since log(u) < 0.
hlo::Values geometric(Context& c) {
  Type target = *c.target(0);
  c.expect(!is_complex(target.element) && target.element != ElementType::Pred, ErrorCode::NotImplemented,
           "no real dtype");
  ElementType type = draw_type(target.element);
  hlo::Value p = c.scalar("p", type);
  hlo::Value inside = hlo::and_(hlo::gt(p, hlo::like(p, 0)), hlo::lt(p, hlo::like(p, 1)));
  refuse(c, hlo::not_(inside), "geometric_ expects p to be in (0, 1)");
  hlo::Value log_failure = hlo::broadcast(log1p(hlo::negate(p)), target.dims);
  return {hlo::convert(hlo::ceil(hlo::log(open_unit(c, target.dims, type)) / log_failure), target.element)};
}

/// An integer in [0, 2^bits), as U64, from the leading bits of an element's words.
hlo::Value integer_of_bits(Context& c, const Dims& dims, int bits) {
  hlo::Value drawn = bits <= 32 ? hlo::convert(c.random_bits(dims), ElementType::U64) : c.random_bits64(dims);
  int spare = (bits <= 32 ? 32 : 64) - bits;
  return spare == 0 ? drawn : shifted(drawn, spare);
}

/// An integer in [0, range) as U64, where `range` (0-d, U64) is a run-time number; 0 stands for 2^64.
///
/// Up to 2^32 by the high half of a 32 x 32 bit product, beyond by the remainder of 64 bits; no value is favoured by
/// more than range / 2^32 and range / 2^64, as in torch's CPU kernel. Each branch makes its own words, so that they
/// fuse with what is made of them.
hlo::Value integer_below(Context& c, const Dims& dims, const hlo::Value& range) {
  hlo::Value state = c.random_state(product(dims));
  auto word = [&](const hlo::Value& bits) { return hlo::convert(bits, ElementType::U64); };
  auto narrow = [&](const hlo::Values&) -> hlo::Values {
    return {shifted(word(philox_words(state, dims, 1)[0]) * hlo::broadcast(range, dims), 32)};
  };
  auto wide = [&](const hlo::Values&) -> hlo::Values {
    hlo::Values words = philox_words(state, dims, 2);
    hlo::Value high = word(words[1]);
    high = hlo::or_(hlo::shift_left(high, hlo::like(high, 32)), word(words[0]));
    hlo::Value is_whole = hlo::eq(range, hlo::like(range, 0)),
               divisor = hlo::select(is_whole, hlo::like(range, 1), range);
    return {hlo::select(is_whole, high, hlo::remainder(high, hlo::broadcast(divisor, dims)))};
  };
  hlo::Value is_narrow =
      hlo::and_(hlo::gt(range, hlo::like(range, 0)), hlo::le(range, hlo::like(range, int64_t{1} << 32)));
  return hlo::if_(is_narrow, narrow, wide)[0];
}

/// Up to what integer a dtype counts without gaps, and for integer types how low it goes.
struct Span {
  int64_t low, high;
};

Span span_of(Context& c, ElementType element) {
  switch (element) {
    case ElementType::Pred: return {0, 1};
    case ElementType::U8: return {0, UINT8_MAX};
    case ElementType::S8: return {INT8_MIN, INT8_MAX};
    case ElementType::S16: return {INT16_MIN, INT16_MAX};
    case ElementType::S32: return {INT32_MIN, INT32_MAX};
    case ElementType::S64: return {INT64_MIN, INT64_MAX};
    case ElementType::F16: return {-(1 << 11), 1 << 11};
    case ElementType::BF16: return {-(1 << 8), 1 << 8};
    case ElementType::F32: return {-(1 << 24), 1 << 24};
    case ElementType::F64: return {-(int64_t{1} << 53), int64_t{1} << 53};
    default: c.fail(ErrorCode::NotImplemented, "random_ of ", torch_name(element));
  }
}

hlo::Values random_any(Context& c) {
  Type target = *c.target(0);
  int bits = std::bit_width(static_cast<uint64_t>(span_of(c, target.element).high));
  // The floats count up to a power of two, itself included.
  if (!is_floating(target.element)) return {hlo::convert(integer_of_bits(c, target.dims, bits), target.element)};
  hlo::Value range = hlo::constant(c.builder(), ElementType::U64, (int64_t{1} << (bits - 1)) + 1);
  return {hlo::convert(integer_below(c, target.dims, range), target.element)};
}

// The bounds have been checked by the kernel in aten/random.cpp. Without `to`: all of int64.
hlo::Values random_range(Context& c) {
  Type target = *c.target(0);
  hlo::Value from = c.scalar("from", ElementType::S64);
  hlo::Value to = c.has("to") ? c.scalar("to", ElementType::S64) : from;
  hlo::Value drawn = integer_below(c, target.dims, hlo::convert(to - from, ElementType::U64));
  drawn = hlo::convert(drawn, ElementType::S64) + hlo::broadcast(from, target.dims);
  return {hlo::convert(drawn, target.element)};
}

// ---------------------------------------------------------------------------------------------------- sampling

// Random bits above, the position in the low bits: sorting one array permutes the positions.
hlo::Values randperm(Context& c) {
  int64_t count = c.integer("n");
  c.expect(count >= 0, ErrorCode::InvalidArgument, "n must be non-negative, got", count);
  ElementType element = c.target_element(0, ElementType::S64);
  if (count == 0) return {hlo::constant(c.builder(), {element, {0}}, 0)};
  Type type{ElementType::U64, {count}};
  auto mask = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)) - 1);
  hlo::Value low = hlo::constant(c.builder(), type, mask);
  hlo::Value keys = hlo::or_(hlo::and_(c.random_bits64({count}), hlo::not_(low)), hlo::iota(c.builder(), type, 0));
  hlo::Value sorted = hlo::sort({keys}, 0, false,
                                [](const hlo::Values& pair) -> hlo::Values { return {hlo::lt(pair[0], pair[1])}; })[0];
  return {hlo::convert(hlo::and_(sorted, low), element)};
}

hlo::Value last_column(const hlo::Value& x) { return hlo::slice(x, {0, x.dims()[1] - 1}, x.dims(), {1, 1}); }

/// For each target the number of elements of its ascending row that are not above it; rows [b, n], targets [b, s].
hlo::Value count_up_to(const hlo::Value& rows, const hlo::Value& targets) {
  int64_t size = rows.dims()[1];
  hlo::Builder& builder = *rows.builder;
  Type index{ElementType::S32, targets.dims()};
  hlo::Value flat = hlo::reshape(rows, {rows.type.count()});
  hlo::Value low = hlo::constant(builder, index, 0), high = hlo::constant(builder, index, size);
  hlo::Value steps =
      hlo::constant(builder, ElementType::S32, static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(size))));
  auto goes_on = [](const hlo::Values& state) -> hlo::Values { return {hlo::gt(state[0], hlo::like(state[0], 0))}; };
  auto halve = [size](const hlo::Values& state) -> hlo::Values {
    const hlo::Value &low = state[1], &high = state[2], &flat = state[3], &targets = state[4];
    hlo::Value middle = shifted(low + high, 1);
    hlo::Value row = hlo::iota(*low.builder, low.type, 0) * hlo::like(low, size);
    hlo::GatherDims dims;
    dims.collapsed_slice_dims = {0};
    dims.start_index_map = {0};
    dims.index_vector_dim = 2;
    hlo::Value above = hlo::gt(hlo::gather(flat, row + middle, dims, {1}), targets);
    // Once low meets high the element at `middle` decides nothing any more.
    hlo::Value open = hlo::lt(low, high);
    return {state[0] - hlo::like(state[0], 1),
            hlo::select(hlo::and_(open, hlo::not_(above)), middle + hlo::like(middle, 1), low),
            hlo::select(hlo::and_(open, above), middle, high), flat, targets};
  };
  return hlo::while_({steps, low, high, flat, targets}, goes_on, halve)[1];
}

/// Inclusive sums along the rows.
hlo::Value running_sum(const hlo::Value& rows) {
  hlo::Window window;
  window.size = {1, rows.dims()[1]};
  window.low = {0, rows.dims()[1] - 1};
  window.high = {0, 0};
  return hlo::reduce_window(rows, hlo::scalar_like(rows, 0), window, hlo::Reducer::Add);
}

/// Positions of the `count` largest elements of each row, the largest first.
hlo::Value largest(const Context& c, const hlo::Value& rows, int64_t count) {
  int64_t size = rows.dims()[1];
  if (count == 1) {
    Fold along = fold_one(c, rows, 1);
    hlo::Value most = along.spread(along.reduce(rows, hlo::Reducer::Max));
    hlo::Value first = first_where(c, hlo::eq(rows, most), 1);
    return hlo::reshape(hlo::minimum(first, hlo::like(first, size - 1)), {rows.dims()[0], 1});
  }
  hlo::Value position = hlo::iota(*rows.builder, {ElementType::S64, rows.dims()}, 1);
  hlo::Value order = hlo::sort({rows, position}, 1, true, [](const hlo::Values& pairs) -> hlo::Values {
    return {hlo::gt(pairs[0], pairs[1])};
  })[1];
  return hlo::slice(order, {0, 0}, {rows.dims()[0], count}, {1, 1});
}

// Without replacement, and for a single draw, the categories race: the largest p / e with exponential e wins with
// probability p (Efraimidis and Spirakis, Weighted random sampling, 2006).
hlo::Values multinomial(Context& c) {
  hlo::Value self = c.tensor("self");
  int64_t count = c.integer("num_samples");
  bool replacement = c.flag("replacement");
  c.expect(self.rank() == 1 || self.rank() == 2, ErrorCode::InvalidArgument, "prob_dist must be 1 or 2 dim");
  c.expect(is_floating(self.element()), ErrorCode::InvalidArgument,
           "multinomial only supports floating-point dtypes for input, got: ", torch_name(self.element()));
  int64_t size = self.dims().back(), rows = self.type.count() / std::max<int64_t>(size, 1);
  c.expect(count > 0, ErrorCode::InvalidArgument, "cannot sample n_sample <= 0 samples");
  c.expect(replacement || count <= size, ErrorCode::InvalidArgument,
           "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  Dims result = self.dims();
  result.back() = count;
  if (product(result) == 0 || size == 0) return {hlo::constant(c.builder(), {ElementType::S64, result}, 0)};

  ElementType type = draw_type(self.element());
  hlo::Value p = hlo::reshape(hlo::convert(self, type), {rows, size});
  hlo::Value valid = hlo::and_(hlo::ge(p, hlo::like(p, 0)), hlo::is_finite(p));
  refuse(c, hlo::not_(valid), "probability tensor contains either `inf`, `nan` or element < 0");
  hlo::Value chosen;
  if (!replacement || count == 1) {
    hlo::Value total = hlo::reduce(p, {1}, hlo::Reducer::Add);
    refuse(c, hlo::le(total, hlo::like(total, 0)), "invalid multinomial distribution (sum of probabilities <= 0)");
    chosen = largest(c, p / standard_exponential(c, p.dims(), type), count);
  } else {
    hlo::Value sums = running_sum(p), total = last_column(sums);
    refuse(c, hlo::le(total, hlo::like(total, 0)), "invalid multinomial distribution (sum of probabilities <= 0)");
    Dims dims{rows, count};
    hlo::Value target = unit(c, dims, type) * hlo::broadcast_in_dim(total, dims, {0, 1});
    chosen = count_up_to(sums, target);
    chosen = hlo::minimum(chosen, hlo::like(chosen, size - 1));
  }
  return {hlo::convert(hlo::reshape(chosen, result), ElementType::S64)};
}

// ----------------------------------------------------------------------------------------------------- layers

hlo::Values dropout(Context& c) {
  hlo::Value x = c.tensor("input");
  Type mask_type{ElementType::Pred, x.dims()};
  if (c.has("train") && !c.flag("train")) return {x, hlo::constant(c.builder(), mask_type, 1)};
  ElementType type = compute_type(x.element());
  c.expect(is_floating(type), ErrorCode::NotImplemented, "no floating-point dtype");
  ElementType number = c.settings().is_cpu ? ElementType::F64 : ElementType::F32;
  hlo::Value p = c.scalar("p", number), one = hlo::like(p, 1), keep = one - p;
  hlo::Value scale = hlo::select(hlo::eq(p, one), hlo::like(p, 0), one / keep);
  hlo::Value mask = biased_coin(c, x.dims(), keep);
  hlo::Value factor = hlo::convert(mask, type) * hlo::broadcast(hlo::convert(scale, type), x.dims());
  return {hlo::convert(hlo::convert(x, type) * factor, x.element()), mask};
}

hlo::Values dropout_backward(Context& c) {
  hlo::Value grad = c.tensor("grad_output");
  // The scale is a float, so an integer gradient becomes one.
  ElementType result = to_floating(c, grad.element()), type = compute_type(result);
  hlo::Value factor = c.tensor("mask", type) * hlo::broadcast(c.scalar("scale", type), grad.dims());
  return {hlo::convert(hlo::convert(grad, type) * factor, result)};
}

}  // namespace

Table random_table() {
  return {
      row("uniform_", uniform).special("from", {0}).special("to", {1}).random(),
      row("normal_", normal_inplace).special("mean", {0}).special("std", {1}).random(),
      row("normal.Tensor_float", normal_of_tensors).random(),
      row("normal.Tensor_float_out", normal_of_tensors).random(),
      row("normal.float_Tensor", normal_of_tensors).random().pointwise(),
      row("normal.float_Tensor_out", normal_of_tensors).random(),
      row("normal.Tensor_Tensor", normal_of_tensors).random().pointwise(),
      row("normal.Tensor_Tensor_out", normal_of_tensors).random(),
      row("log_normal_", log_normal).random(),
      row("exponential_", exponential).special("lambd", {1}).random(),
      row("cauchy_", cauchy).random(),

      row("bernoulli_.float", bernoulli_of_number).random(),
      row("bernoulli_.Tensor", bernoulli_of_tensor).random(),
      row("bernoulli.out", bernoulli_of_tensor).random(),
      row("geometric_", geometric).random(),
      row("random_", random_any).random(),
      // Bounds are run-time numbers, all of them.
      row("random_.from", random_range).random().special("from", {}).special("to", {}),

      row("randperm.generator_out", randperm).random(),
      row("multinomial", multinomial).random(),
      row("multinomial.out", multinomial).random(),

      row("native_dropout", dropout).random().pointwise(),
      row("native_dropout_backward", dropout_backward).pointwise(),
  };
}

}  // namespace tpu::ops
