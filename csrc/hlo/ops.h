// One function per StableHLO op: operands and attributes go in, the typed result comes out, the text goes to the
// operands' builder. Result types are inferred and constraints checked as the specification states them; a violation
// throws Error(InvalidArgument) that names the op. Identities (equal type, equal dims, nothing to do) emit nothing.
//
// Groups, each in the specification's alphabetical order: elementwise, constants, shape, reductions and windows,
// contractions and library ops, control flow. The .cpp files follow the same groups.
#pragma once

#include <optional>
#include <utility>

#include "hlo/builder.h"

namespace tpu::hlo {

// ---------------------------------------------------------------------------------------------- elementwise
// Operands of exactly one type: nothing is broadcast or promoted here.

enum class Comparison { Eq, Ne, Ge, Gt, Le, Lt };

Value abs(const Value& x);  // of a complex value: real
Value add(const Value& a, const Value& b);
Value and_(const Value& a, const Value& b);
Value atan2(const Value& y, const Value& x);
/// Same bits as another element type. A narrower type adds a last dimension, a wider one removes it. Not for Pred;
/// complex only to itself.
Value bitcast_convert(const Value& x, ElementType element);
Value cbrt(const Value& x);
Value ceil(const Value& x);
/// `min` and `max` may be 0-d.
Value clamp(const Value& min, const Value& x, const Value& max);
/// `total_order`: floats in the order -NaN < -inf < .. < -0 < +0 < .. < inf < NaN.
Value compare(const Value& a, const Value& b, Comparison direction, bool total_order = false);
Value complex(const Value& real, const Value& imag);
Value convert(const Value& x, ElementType element);
Value cosine(const Value& x);
Value count_leading_zeros(const Value& x);
Value divide(const Value& a, const Value& b);
Value exponential(const Value& x);
Value exponential_minus_one(const Value& x);
Value floor(const Value& x);
Value imag(const Value& x);  // of a real value: zeros
Value is_finite(const Value& x);
Value log(const Value& x);
Value log_plus_one(const Value& x);
Value logistic(const Value& x);
Value maximum(const Value& a, const Value& b);
Value minimum(const Value& a, const Value& b);
Value multiply(const Value& a, const Value& b);
Value negate(const Value& x);
Value not_(const Value& x);
Values optimization_barrier(const Values& values);
Value optimization_barrier(const Value& x);
Value or_(const Value& a, const Value& b);
Value popcnt(const Value& x);
Value power(const Value& base, const Value& exponent);
Value real(const Value& x);  // of a real value: itself
Value reduce_precision(const Value& x, int exponent_bits, int mantissa_bits);
Value remainder(const Value& a, const Value& b);  // sign of the dividend, as C
Value round_nearest_afz(const Value& x);
Value round_nearest_even(const Value& x);
Value rsqrt(const Value& x);
/// `predicate` is 0-d or has the dims of the others.
Value select(const Value& predicate, const Value& on_true, const Value& on_false);
Value shift_left(const Value& a, const Value& b);
Value shift_right_arithmetic(const Value& a, const Value& b);
Value shift_right_logical(const Value& a, const Value& b);
Value sign(const Value& x);
Value sine(const Value& x);
Value sqrt(const Value& x);
Value subtract(const Value& a, const Value& b);
Value tan(const Value& x);
Value tanh(const Value& x);
Value xor_(const Value& a, const Value& b);

inline Value operator+(const Value& a, const Value& b) { return add(a, b); }
inline Value operator-(const Value& a, const Value& b) { return subtract(a, b); }
inline Value operator*(const Value& a, const Value& b) { return multiply(a, b); }
inline Value operator/(const Value& a, const Value& b) { return divide(a, b); }
inline Value operator-(const Value& x) { return negate(x); }

// Comparisons by name; == and != on Value would read as identity.
inline Value eq(const Value& a, const Value& b) { return compare(a, b, Comparison::Eq); }
inline Value ne(const Value& a, const Value& b) { return compare(a, b, Comparison::Ne); }
inline Value ge(const Value& a, const Value& b) { return compare(a, b, Comparison::Ge); }
inline Value gt(const Value& a, const Value& b) { return compare(a, b, Comparison::Gt); }
inline Value le(const Value& a, const Value& b) { return compare(a, b, Comparison::Le); }
inline Value lt(const Value& a, const Value& b) { return compare(a, b, Comparison::Lt); }

// ------------------------------------------------------------------------------------------------ constants
// Exact: a double is rounded once to the element type (NaN, infinities and -0.0 kept); an integer wraps to the width
// of an integral type; a double that is no integer, or out of range, is refused for an integral type.

Value constant(Builder& builder, const Type& type, double value);  // all elements `value`
Value constant(Builder& builder, const Type& type, int64_t value);
Value constant(Builder& builder, ElementType element, double value);  // 0-d
Value constant(Builder& builder, ElementType element, int64_t value);
inline Value constant(Builder& builder, const Type& type, int value) { return constant(builder, type, int64_t{value}); }
inline Value constant(Builder& builder, ElementType element, int value) {
  return constant(builder, element, int64_t{value});
}
Value constant_complex(Builder& builder, ElementType element, double real, double imag);           // 0-d
Value constant_doubles(Builder& builder, const std::vector<double>& values, ElementType element);  // 1-d
Value constant_ints(Builder& builder, const std::vector<int64_t>& values, ElementType element);    // 1-d
/// Counts 0, 1, 2, .. along dimension `dim`.
Value iota(Builder& builder, const Type& type, int64_t dim);
/// A constant of x's type.
Value like(const Value& x, double value);
Value like(const Value& x, int64_t value);
inline Value like(const Value& x, int value) { return like(x, int64_t{value}); }
/// The largest and smallest value of an element type: infinities where there are any, 1 and 0 for Pred; 0-d.
Value max_value(Builder& builder, ElementType element);
Value min_value(Builder& builder, ElementType element);
/// A 0-d constant of x's element type.
Value scalar_like(const Value& x, double value);
Value scalar_like(const Value& x, int64_t value);
inline Value scalar_like(const Value& x, int value) { return scalar_like(x, int64_t{value}); }

// ---------------------------------------------------------------------------------------------------- shape

/// A 0-d value in every element.
Value broadcast(const Value& scalar, const Dims& sizes);
/// Dimension i of x becomes dimension map[i] of the result; a size of 1 stretches.
Value broadcast_in_dim(const Value& x, const Dims& sizes, const Dims& map);
Value concatenate(const Values& inputs, int64_t dim);
/// `starts`: one 0-d integer per dimension, clamped so that the slice lies inside.
Value dynamic_slice(const Value& x, const Values& starts, const Dims& sizes);
Value dynamic_update_slice(const Value& x, const Value& update, const Values& starts);

struct GatherDims {
  Dims offset_dims = {};
  Dims collapsed_slice_dims = {};
  Dims operand_batching_dims = {};
  Dims start_indices_batching_dims = {};
  Dims start_index_map = {};
  int64_t index_vector_dim = 0;
};
/// Start indices out of range are clamped. `sorted`: the indices are known to ascend.
Value gather(const Value& x, const Value& indices, const GatherDims& dims, const Dims& slice_sizes,
             bool sorted = false);
/// `low` and `high` may be negative (crop), `interior` not.
Value pad(const Value& x, const Value& value, const Dims& low, const Dims& high, const Dims& interior);
Value reshape(const Value& x, const Dims& sizes);
Value reverse(const Value& x, const Dims& dims);

struct ScatterDims {
  Dims update_window_dims = {};
  Dims inserted_window_dims = {};
  Dims input_batching_dims = {};
  Dims scatter_indices_batching_dims = {};
  Dims scatter_dims_to_operand_dims = {};
  int64_t index_vector_dim = 0;
};
/// `update` gets (old.., new..) as 0-d values. Updates out of range are dropped. `sorted`, `unique`: promises.
Values scatter(const Values& inputs, const Value& indices, const Values& updates, const ScatterDims& dims,
               const Region& update, bool sorted = false, bool unique = false);
Value slice(const Value& x, const Dims& start, const Dims& limit, const Dims& strides);
/// Dimension i of the result is dimension permutation[i] of x.
Value transpose(const Value& x, const Dims& permutation);

// ---------------------------------------------------------------------------------- reductions and windows

/// The common bodies. On Pred, Add is `or` and Mul is `and`.
enum class Reducer { Add, Mul, Max, Min, And, Or };

/// The body of a reducer as a region of two 0-d arguments: combine(a, b).
Region body_of(Reducer reducer);
/// The value that changes nothing: 0, 1, min_value, max_value, all ones, 0; 0-d.
Value identity_of(Builder& builder, ElementType element, Reducer reducer);

/// Window of reduce_window, select_and_scatter and convolution. Empty lists are ones (strides, dilations) and zeros
/// (padding); convolution takes the size from its right operand.
struct Window {
  Dims size = {};
  Dims strides = {};
  Dims base_dilation = {};
  Dims window_dilation = {};
  Dims low = {};
  Dims high = {};
};
/// The window with its empty lists filled in.
Window with_defaults(const Window& window, size_t rank);
/// Output sizes of sliding `window` over `dims`, as the specification computes them (never negative).
Dims window_output(const Dims& dims, const Window& window);

/// `body` gets (accumulators.., elements..) as 0-d values and returns the accumulators.
Values reduce(const Values& inputs, const Values& inits, const Dims& dims, const Region& body);
Value reduce(const Value& x, const Value& init, const Dims& dims, Reducer reducer);
Value reduce(const Value& x, const Dims& dims, Reducer reducer);  // from identity_of
Values reduce_window(const Values& inputs, const Values& inits, const Window& window, const Region& body);
Value reduce_window(const Value& x, const Value& init, const Window& window, Reducer reducer);
/// In every window of x the element that `select` prefers receives that window's element of `source`, by `scatter`.
Value select_and_scatter(const Value& x, const Value& source, const Value& init, const Window& window,
                         const Region& select, const Region& scatter);
/// `comparator` gets (a0, b0, a1, b1, ..) as 0-d values and returns whether a comes first.
Values sort(const Values& inputs, int64_t dim, bool stable, const Region& comparator);

// ------------------------------------------------------------------------------- contractions, library ops

enum class Precision { Default, High, Highest };

/// For each operand the dimension numbers; outputs too, since a permuted output costs XLA nothing.
struct ConvDims {
  int64_t input_batch = 0;
  int64_t input_feature = 1;
  Dims input_spatial;
  int64_t kernel_output_feature = 0;
  int64_t kernel_input_feature = 1;
  Dims kernel_spatial;
  int64_t output_batch = 0;
  int64_t output_feature = 1;
  Dims output_spatial;
};
/// window.base_dilation is lhs_dilation, window.window_dilation is rhs_dilation. Correlation: nothing is reversed
/// (the attribute window_reversal makes XLA:CPU 70 times slower than reverse(rhs)).
Value convolution(const Value& lhs, const Value& rhs, const ConvDims& dims, const Window& window,
                  int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                  Precision precision = Precision::Highest, std::optional<ElementType> result = {});

/// Lower or upper Cholesky factor of the last two dimensions; the other triangle is undefined.
Value cholesky(const Value& x, bool lower = true);

struct CustomCall {
  /// 4: the FFI, backend_config is a dictionary in MLIR text (`{k = 1 : i64}`); 1 and 2: it is an opaque string.
  int api_version = 4;
  std::string backend_config = {};
  bool has_side_effect = false;
  /// (operand, output) pairs that share memory.
  std::vector<std::pair<int, int>> aliases = {};
  /// Per operand and output how it lies in memory: dimensions from the outermost, empty for row-major. Not given when
  /// all are row-major.
  std::vector<Dims> operand_orders = {};
  std::vector<Dims> output_orders = {};
};
Values custom_call(Builder& builder, const std::string& target, const Values& operands, const Types& results,
                   const CustomCall& call = {});

struct DotDims {
  Dims lhs_batch = {};
  Dims rhs_batch = {};
  Dims lhs_contract = {};
  Dims rhs_contract = {};
};
/// Result dims: batch, rest of a, rest of b. `result`: the element type to accumulate in and return (f32 for bf16).
Value dot_general(const Value& a, const Value& b, const DotDims& dims, Precision precision = Precision::Highest,
                  std::optional<ElementType> result = {});

enum class FftKind { Fft, Ifft, Rfft, Irfft };
/// Over the last lengths.size() (1 to 3) dimensions.
Value fft(const Value& x, FftKind kind, const Dims& lengths);

enum class RngAlgorithm { ThreeFry, Philox };
/// Returns {next state, random bits of type `out`}. Philox state: u64[2] or u64[3]; ThreeFry: u64[2].
Values rng_bit_generator(const Value& state, const Type& out, RngAlgorithm algorithm);

enum class Transpose { None, Transpose, Adjoint };
/// Solves op(a) x = b (left_side) or x op(a) = b.
Value triangular_solve(const Value& a, const Value& b, bool left_side, bool lower, bool unit_diagonal,
                       Transpose transpose_a = Transpose::None);

// --------------------------------------------------------------------------------------------- control flow

/// index out of range chooses the last branch. Branches get no arguments and may use outer values.
Values case_(const Value& index, const std::vector<Region>& branches);
Values if_(const Value& predicate, const Region& on_true, const Region& on_false);
/// `cond` and `body` see only their arguments.
Values while_(const Values& inits, const Region& cond, const Region& body);

}  // namespace tpu::hlo
