// Family matmul: products of matrices and vectors, and distances between rows. What goes in: two operands of one
// element type, for the add forms a third one and the numbers beta and alpha.
//
// Half types are multiplied as they are and accumulated in float32; beta, alpha and the added operand join in float32
// too, and the result is rounded once.
#include <cmath>
#include <utility>

#include "ops/axis.h"
#include "ops/host_call.h"
#include "ops/promotion.h"

namespace tpu::ops {

namespace {

// ------------------------------------------------------------------------------------------------ shared moves

void expect_rank(const Context& c, const char* name, int64_t rank) {
  int64_t found = c.type(name).rank();
  c.expect(found == rank, ErrorCode::InvalidArgument, name, " must be a ", rank, "D tensor, got ", found, "D");
}

void expect_multiplicable(const Context& c, const char* kernel, ElementType type) {
  c.expect(type != ElementType::Pred, ErrorCode::NotImplemented, "\"", kernel, "\" not implemented for 'Bool'");
}

void expect_same_types(const Context& c, std::initializer_list<const char*> names) {
  ElementType first = c.type(*names.begin()).element;
  for (const char* name : names)
    c.expect(c.type(name).element == first, ErrorCode::InvalidArgument, *names.begin(), " and ", name,
             " must have the same dtype, but got ", torch_name(first), " and ", torch_name(c.type(name).element));
}

// The product in the type that beta and alpha are applied in.
hlo::Value contract(Context& c, const hlo::Value& a, const hlo::Value& b, const hlo::DotDims& dims) {
  return hlo::dot_general(a, b, dims, c.settings().precision, compute_type(a.element()));
}

// The same numbers by a way that XLA's algebra does not see through: it keeps no optimization_barrier. LLVM does see
// through it, so it costs nothing.
hlo::Value opaque(const hlo::Value& x, const hlo::Value& any) {
  Dims origin(any.dims().size()), one(any.dims().size(), 1);
  hlo::Value bits = hlo::bitcast_convert(hlo::reshape(hlo::slice(any, origin, one, one), {}), ElementType::U32);
  hlo::Value zero = hlo::shift_right_logical(hlo::shift_right_logical(bits, hlo::like(bits, 31)), hlo::like(bits, 1));
  hlo::Value same = hlo::or_(hlo::bitcast_convert(x, ElementType::U32), hlo::broadcast(zero, x.dims()));
  return hlo::bitcast_convert(same, x.element());
}

const hlo::DotDims kMatrix{.lhs_contract = {1}, .rhs_contract = {0}};
const hlo::DotDims kBatched{.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {1}};
const hlo::DotDims kMatrixVector{.lhs_contract = {1}, .rhs_contract = {0}};
const hlo::DotDims kSumOfBatch{.lhs_contract = {0, 2}, .rhs_contract = {0, 1}};

// Note [Few rows]
// What a linear layer multiplies with is the transpose of its weight. XLA:CPU packs it against the grain, which few
// rows do not pay back: 1 row by 768x3072 float32 takes 10 ms with a bias, 128 take 13. The other way round, weight
// times rows, they take 1 and 5. XLA would turn a transposed product back again, if it saw one.
bool pays_to_turn(int64_t rows, int64_t weight) {
  return (rows <= 64 && weight >= int64_t{1} << 16) || (rows <= 512 && weight >= int64_t{1} << 18);
}

hlo::Value matrix_product(Context& c, const char* left, const char* right) {
  hlo::Value a = c.tensor(left), b = c.tensor(right);
  bool turns = c.settings().is_cpu && a.element() == ElementType::F32 && b.rank() == 2 && c.lies_transposed(right) &&
               !c.lies_transposed(left) && a.rank() == 2 && pays_to_turn(a.dims()[0], b.type.count());
  if (!turns || a.type.count() == 0 || a.dims()[1] != b.dims()[0]) return contract(c, a, b, kMatrix);
  hlo::Value turned = contract(c, b, a, {.lhs_contract = {0}, .rhs_contract = {1}});
  return hlo::transpose(opaque(turned, a), {1, 0});
}

// beta * self + alpha * product; beta = 0 forgets self, NaN and all.
hlo::Value add_scaled(Context& c, hlo::Value product) {
  ElementType type = product.element();
  if (c.known("alpha") != 1.0) product = product * hlo::broadcast(c.scalar("alpha", type), product.dims());
  if (c.known("beta") == 0.0) return product;
  hlo::Value self = broadcast_to(c.tensor("self", type), product.dims());
  if (c.known("beta") != 1.0) self = self * hlo::broadcast(c.scalar("beta", type), product.dims());
  return self + product;
}

// The result type of the `.dtype` overloads, or `fallback`.
ElementType asked_type(const Context& c, ElementType fallback) {
  std::optional<ElementType> asked = c.element("out_dtype");
  bool is_half = fallback == ElementType::F16 || fallback == ElementType::BF16;
  c.expect(*asked == fallback || (is_half && *asked == ElementType::F32), ErrorCode::InvalidArgument,
           "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs");
  return *asked;
}

// A .dtype overload is its plain form with another rounding at the end.
template <hlo::Values (*plain)(Context&), const char* const* operand>
hlo::Values with_dtype(Context& c) {
  ElementType type = asked_type(c, c.type(*operand).element);
  return {hlo::convert(plain(c)[0], type)};
}
// In the type of what is multiplied.
template <hlo::Values (*plain)(Context&), const char* const* operand>
hlo::Values rounded(Context& c) {
  return {hlo::convert(plain(c)[0], c.type(*operand).element)};
}
constexpr const char* kMat = "mat";
constexpr const char* kSelf = "self";
constexpr const char* kMat1 = "mat1";
constexpr const char* kBatch1 = "batch1";

// --------------------------------------------------------------------------------------------------- products

hlo::Values mm(Context& c) {
  expect_rank(c, "self", 2);
  expect_rank(c, "mat2", 2);
  hlo::Value a = c.tensor("self"), b = c.tensor("mat2");
  expect_multiplicable(c, "addmm_impl_cpu_", a.element());
  c.expect(a.element() == b.element(), ErrorCode::InvalidArgument,
           "expected m1 and m2 to have the same dtype, but got: ", torch_name(a.element()),
           " != ", torch_name(b.element()));
  return {matrix_product(c, "self", "mat2")};
}

hlo::Values bmm(Context& c) {
  hlo::Value a = c.tensor("self"), b = c.tensor("mat2");
  expect_multiplicable(c, "bmm", a.element());
  c.expect(a.element() == b.element(), ErrorCode::InvalidArgument, "expected scalar type ", torch_name(a.element()),
           " but found ", torch_name(b.element()));
  return {contract(c, a, b, kBatched)};
}

hlo::Values addmm(Context& c) {
  expect_multiplicable(c, "addmm_impl_cpu_", c.type("mat1").element);
  expect_same_types(c, {"mat1", "mat2"});
  return {add_scaled(c, matrix_product(c, "mat1", "mat2"))};
}

hlo::Values baddbmm(Context& c) {
  expect_multiplicable(c, "baddbmm", c.type("batch1").element);
  expect_same_types(c, {"batch1", "batch2"});
  return {add_scaled(c, contract(c, c.tensor("batch1"), c.tensor("batch2"), kBatched))};
}

// Products of 8-bit floats, whose scales are one number, or one per row of self and per column of mat2. Every 8-bit
// float is a bfloat16, and all products of two are exact in float32. Other layouts of scales are NotImplemented.
hlo::Values scaled_mm(Context& c) {
  expect_rank(c, "self", 2);
  expect_rank(c, "mat2", 2);
  ElementType narrow = c.type("self").element;
  c.expect(size_of(narrow) == 1 && is_floating(narrow) && size_of(c.type("mat2").element) == 1 &&
               is_floating(c.type("mat2").element),
           ErrorCode::InvalidArgument, "Expected self and mat2 to be Float8 types, got ", torch_name(narrow), " and ",
           torch_name(c.type("mat2").element));
  ElementType type = c.settings().is_cpu ? ElementType::F32 : ElementType::BF16;
  hlo::Value a = c.tensor("self", type), b = c.tensor("mat2", type);
  c.expect(a.dims()[1] == b.dims()[0], ErrorCode::InvalidArgument, "mat1 and mat2 shapes cannot be multiplied (",
           a.dims()[0], "x", a.dims()[1], " and ", b.dims()[0], "x", b.dims()[1], ")");
  hlo::Value product = hlo::dot_general(a, b, kMatrix, hlo::Precision::Default, ElementType::F32);
  const Dims of_rows{a.dims()[0], 1}, of_columns{1, b.dims()[1]};
  for (auto [name, dims] : {std::pair("scale_a", of_rows), std::pair("scale_b", of_columns)}) {
    hlo::Value scale = c.tensor(name, ElementType::F32);
    bool is_number = scale.type.count() == 1;
    c.expect(is_number || scale.dims() == dims, ErrorCode::NotImplemented, "_scaled_mm: ", name, " has sizes ",
             to_string(scale.dims()), ", expected one number or ", to_string(dims));
    product = product * broadcast_to(is_number ? hlo::reshape(scale, {}) : scale, product.dims());
  }
  if (c.has("bias")) product = product + broadcast_to(c.tensor("bias", ElementType::F32), product.dims());
  return {hlo::convert(product, c.element("out_dtype").value_or(c.target_element(0, narrow)))};
}

hlo::Values addmv(Context& c) {
  expect_multiplicable(c, "addmv_impl_cpu", c.type("mat").element);
  expect_same_types(c, {"mat", "vec"});
  return {add_scaled(c, contract(c, c.tensor("mat"), c.tensor("vec"), kMatrixVector))};
}

hlo::Values addbmm(Context& c) {
  expect_rank(c, "batch1", 3);
  expect_rank(c, "batch2", 3);
  expect_same_types(c, {"self", "batch1", "batch2"});
  Type a = c.type("batch1"), b = c.type("batch2");
  expect_multiplicable(c, "addbmm", a.element);
  c.expect(a.dims[0] == b.dims[0], ErrorCode::InvalidArgument,
           "batch1 and batch2 must have same number of batches, got ", a.dims[0], " and ", b.dims[0]);
  c.expect(a.dims[2] == b.dims[1], ErrorCode::InvalidArgument, "Incompatible matrix sizes for bmm (", a.dims[1], "x",
           a.dims[2], " and ", b.dims[1], "x", b.dims[2], ")");
  hlo::Value sum = contract(c, c.tensor("batch1"), c.tensor("batch2"), kSumOfBatch);
  Type self = c.type("self");
  c.expect(broadcast_dims(self.dims, sum.dims()) == sum.dims(), ErrorCode::InvalidArgument,
           "The expanded size of the tensor ", to_string(sum.dims()), " must match the existing size ",
           to_string(self.dims));
  return {hlo::convert(add_scaled(c, sum), self.element)};
}

hlo::Values addmm_activation(Context& c) {
  hlo::Value x = addmm(c)[0];
  if (!c.flag("use_gelu")) return {hlo::maximum(x, hlo::like(x, 0))};
  // x/2 (1 + erf(x / sqrt 2)), the form that torch's CPU kernel takes here.
  return {hlo::like(x, 0.5) * x * (hlo::like(x, 1) + hlo::erf(x * hlo::like(x, std::sqrt(0.5))))};
}

// self . other, or conj(self) . other.
template <bool conjugate>
hlo::Values dot(Context& c) {
  const char* second = conjugate ? "other" : "tensor";
  hlo::Value a = c.tensor("self"), b = c.tensor(second);
  c.expect(a.rank() == 1 && b.rank() == 1, ErrorCode::InvalidArgument, "1D tensors expected, but got ", a.rank(),
           "D and ", b.rank(), "D tensors");
  c.expect(a.element() == b.element(), ErrorCode::InvalidArgument,
           "dot : expected both vectors to have same dtype, but found ", torch_name(a.element()), " and ",
           torch_name(b.element()));
  c.expect(a.dims() == b.dims(), ErrorCode::InvalidArgument, "inconsistent tensor size, expected tensor ",
           to_string(a.dims()), " and src ", to_string(b.dims()), " to have the same number of elements, but got ",
           a.dims()[0], " and ", b.dims()[0], " elements respectively");
  expect_multiplicable(c, conjugate ? "vdot" : "dot", a.element());
  if (conjugate && is_complex(a.element())) a = hlo::complex(hlo::real(a), hlo::negate(hlo::imag(a)));
  hlo::Value product = contract(c, a, b, {.lhs_contract = {0}, .rhs_contract = {0}});
  return {hlo::convert(product, a.element())};
}

hlo::Values int_mm(Context& c) {
  expect_rank(c, "self", 2);
  expect_rank(c, "mat2", 2);
  hlo::Value a = c.tensor("self"), b = c.tensor("mat2");
  c.expect(a.dims()[1] == b.dims()[0], ErrorCode::InvalidArgument,
           "int_mm: self.size(1) needs to match mat2.size(0) but got ", a.dims()[1], " and ", b.dims()[0]);
  c.expect(a.element() == ElementType::S8 && b.element() == ElementType::S8, ErrorCode::InvalidArgument,
           "int_mm: expected self and mat2 of dtype int8, got ", torch_name(a.element()), " and ",
           torch_name(b.element()));
  return {hlo::dot_general(a, b, kMatrix, c.settings().precision, ElementType::S32)};
}

// -------------------------------------------------------------------------------------------------- distances
// The distance of two rows is (sum |x - y|^p)^(1/p); p = 0 counts the entries that differ, p = inf takes the largest.

void expect_distance(const Context& c, const char* kernel, ElementType type) {
  c.expect(type == ElementType::F32 || type == ElementType::F64, ErrorCode::NotImplemented, "\"", kernel,
           "\" not implemented for '", torch_name(type), "'");
}

// `difference`: the last dimension holds the entries of x - y.
hlo::Value norm_of(Context& c, const hlo::Value& difference) {
  hlo::Value size = hlo::abs(difference);
  Dims last{difference.rank() - 1}, kept(size.dims().begin(), size.dims().end() - 1);
  std::optional<double> p = c.known("p");
  if (p == 0.0)
    return hlo::reduce(hlo::convert(hlo::ne(size, hlo::like(size, 0)), size.element()), last, hlo::Reducer::Add);
  if (p == 1.0) return hlo::reduce(size, last, hlo::Reducer::Add);
  if (p == 2.0) return hlo::sqrt(hlo::reduce(difference * difference, last, hlo::Reducer::Add));
  if (p == INFINITY && size.dims().back() == 0) return hlo::constant(c.builder(), Type{size.element(), kept}, 0);
  if (p == INFINITY) return fold_one(c, size, size.rank() - 1).reduce(size, hlo::Reducer::Max);
  hlo::Value exponent = c.scalar("p", size.element());
  hlo::Value sum = hlo::reduce(hlo::power(size, hlo::broadcast(exponent, size.dims())), last, hlo::Reducer::Add);
  return hlo::power(sum, hlo::broadcast(hlo::scalar_like(exponent, 1) / exponent, sum.dims()));
}

// grad * d norm / d x, entry by entry, for difference = x - y; grad and distance have the dims of difference.
hlo::Value norm_gradient(Context& c, const hlo::Value& difference, const hlo::Value& grad, const hlo::Value& distance) {
  hlo::Value zero = hlo::like(difference, 0), one = hlo::like(difference, 1);
  hlo::Value is_zero = hlo::eq(distance, zero);
  std::optional<double> p = c.known("p");
  if (p == 0.0) return zero;
  if (p == 1.0) return grad * hlo::sign(difference);
  if (p == 2.0) return hlo::select(is_zero, zero, grad * difference / hlo::select(is_zero, one, distance));
  if (p == INFINITY)
    return grad * hlo::sign(difference) * hlo::convert(hlo::eq(hlo::abs(difference), distance), difference.element());
  hlo::Value exponent = hlo::broadcast(c.scalar("p", difference.element()), difference.dims()) - one;
  // |d|^(p-1) at d = 0 is infinite for p < 1; torch gives 0 there.
  hlo::Value vanishes = hlo::or_(is_zero, hlo::and_(hlo::eq(difference, zero), hlo::lt(exponent, zero)));
  hlo::Value size = hlo::select(vanishes, one, hlo::abs(difference));
  hlo::Value ratio = hlo::power(size, exponent) / hlo::power(hlo::select(is_zero, one, distance), exponent);
  return hlo::select(vanishes, zero, hlo::sign(difference) * ratio * grad);
}

// Row pairs of [.., P, M] and [.., R, M] side by side: both become [.., P, R, M].
struct Pairs {
  hlo::Value left, right;
};
Pairs all_pairs(const hlo::Value& x1, const hlo::Value& x2) {
  Dims batch =
      broadcast_dims(Dims(x1.dims().begin(), x1.dims().end() - 2), Dims(x2.dims().begin(), x2.dims().end() - 2));
  int64_t p = x1.dims()[x1.dims().size() - 2], r = x2.dims()[x2.dims().size() - 2], m = x1.dims().back();
  Dims left = x1.dims(), right = x2.dims(), full = batch;
  left.insert(left.size() - 1, 1);
  right.insert(right.size() - 2, 1);
  for (int64_t size : {p, r, m}) full.push_back(size);
  return {broadcast_to(hlo::reshape(x1, left), full), broadcast_to(hlo::reshape(x2, right), full)};
}

// |x - y|^2 = |x|^2 - 2 x.y + |y|^2 as one product of the extended rows (-2x, |x|^2, 1) and (y, 1, |y|^2).
hlo::Value euclidean_by_product(Context& c, const hlo::Value& x1, const hlo::Value& x2) {
  Pairs pairs;
  int64_t rank = std::max(x1.rank(), x2.rank());
  Dims batch =
      broadcast_dims(Dims(x1.dims().begin(), x1.dims().end() - 2), Dims(x2.dims().begin(), x2.dims().end() - 2));
  auto extended = [&](const hlo::Value& x, double factor, bool norm_first) {
    Dims dims = batch;
    dims.push_back(x.dims()[x.dims().size() - 2]);
    dims.push_back(x.dims().back());
    hlo::Value full = broadcast_to(x, dims);
    Dims column = dims;
    column.back() = 1;
    hlo::Value norm = hlo::reshape(hlo::reduce(full * full, {rank - 1}, hlo::Reducer::Add), column);
    hlo::Value one = hlo::like(norm, 1);
    return hlo::concatenate({full * hlo::like(full, factor), norm_first ? norm : one, norm_first ? one : norm},
                            rank - 1);
  };
  hlo::DotDims dims{.lhs_contract = {rank - 1}, .rhs_contract = {rank - 1}};
  for (int64_t i = 0; i < rank - 2; ++i) dims.lhs_batch.push_back(i), dims.rhs_batch.push_back(i);
  hlo::Value square = hlo::dot_general(extended(x1, -2, true), extended(x2, 1, false), dims, c.settings().precision);
  return hlo::sqrt(hlo::maximum(square, hlo::like(square, 0)));
}

hlo::Values cdist_forward(Context& c) {
  hlo::Value x1 = c.tensor("x1"), x2 = c.tensor("x2");
  expect_distance(c, "cdist", x1.element());
  expect_same_types(c, {"x1", "x2"});
  int64_t p = x1.dims()[x1.dims().size() - 2], r = x2.dims()[x2.dims().size() - 2];
  // Modes: 0 (or None) takes the product for more than 25 rows, 1 always, 2 never.
  int64_t mode = c.optional_integer("compute_mode").value_or(0);
  if (c.known("p") == 2.0 && (mode == 1 || (mode == 0 && (p > 25 || r > 25)))) return {euclidean_by_product(c, x1, x2)};
  Pairs pairs = all_pairs(x1, x2);
  return {norm_of(c, pairs.left - pairs.right)};
}

hlo::Values cdist_backward(Context& c) {
  Pairs pairs = all_pairs(c.tensor("x1"), c.tensor("x2"));
  hlo::Value difference = pairs.left - pairs.right;
  auto per_entry = [&](const char* name) {
    hlo::Value x = c.tensor(name);
    Dims column = x.dims();
    column.push_back(1);
    return broadcast_to(hlo::reshape(x, column), difference.dims());
  };
  hlo::Value grad = norm_gradient(c, difference, per_entry("grad"), per_entry("cdist"));
  return {hlo::reduce(grad, {grad.rank() - 2}, hlo::Reducer::Add)};
}

// The rows (i, j), i < j, in the order of pdist's result: row number k belongs to the largest i whose first pair
// i (2n - i - 1) / 2 is at most k.
struct Numbers {
  hlo::Value i, j;  // s64 [K, 1]
};
Numbers pair_numbers(hlo::Builder& builder, int64_t n) {
  int64_t count = n * (n - 1) / 2;
  Type wide{ElementType::S64, {count, 1}}, real{ElementType::F64, {count, 1}};
  hlo::Value k = hlo::iota(builder, wide, 0);
  double half = static_cast<double>(n) - 0.5;
  hlo::Value root = hlo::sqrt(hlo::constant(builder, real, half * half - 1) -
                              hlo::constant(builder, real, 2) * hlo::convert(k, ElementType::F64));
  hlo::Value i = hlo::convert(hlo::floor(hlo::constant(builder, real, half) - root), ElementType::S64);
  hlo::Value before = i * (hlo::constant(builder, wide, 2 * n - 1) - i) / hlo::constant(builder, wide, 2);
  return {i, k - before + i + hlo::constant(builder, wide, 1)};
}

hlo::Value rows_at(const hlo::Value& x, const hlo::Value& numbers) {
  return hlo::gather(x, numbers,
                     {.offset_dims = {1}, .collapsed_slice_dims = {0}, .start_index_map = {0}, .index_vector_dim = 1},
                     {1, x.dims()[1]});
}

hlo::Values pdist_forward(Context& c) {
  hlo::Value x = c.tensor("self");
  expect_distance(c, "pdist", x.element());
  int64_t n = x.dims()[0];
  if (n <= 1 || x.dims()[1] == 0) return {hlo::constant(c.builder(), {x.element(), {n <= 1 ? 0 : n * (n - 1) / 2}}, 0)};
  Numbers pairs = pair_numbers(c.builder(), n);
  return {norm_of(c, rows_at(x, pairs.i) - rows_at(x, pairs.j))};
}

hlo::Values pdist_backward(Context& c) {
  hlo::Value x = c.tensor("self");
  hlo::Value zero = hlo::like(x, 0);
  int64_t n = x.dims()[0];
  if (n <= 1 || x.dims()[1] == 0) return {zero};
  Numbers pairs = pair_numbers(c.builder(), n);
  hlo::Value difference = rows_at(x, pairs.i) - rows_at(x, pairs.j);
  auto per_entry = [&](const char* name) {
    return hlo::broadcast_in_dim(hlo::reshape(c.tensor(name), {difference.dims()[0]}), difference.dims(), {0});
  };
  hlo::Value grad = norm_gradient(c, difference, per_entry("grad"), per_entry("pdist"));
  hlo::ScatterDims dims{.update_window_dims = {1},
                        .inserted_window_dims = {0},
                        .scatter_dims_to_operand_dims = {0},
                        .index_vector_dim = 1};
  hlo::Value sum = hlo::scatter({zero}, pairs.i, {grad}, dims, hlo::body_of(hlo::Reducer::Add))[0];
  return {hlo::scatter({sum}, pairs.j, {hlo::negate(grad)}, dims, hlo::body_of(hlo::Reducer::Add))[0]};
}

constexpr int64_t kManyProducts = 1 << 26;

// XLA:CPU converts to float32 first; oneDNN multiplies as it is.
bool is_large_bf16(const Call& call) {
  bool is_bf16 = std::all_of(call.operands.begin(), call.operands.end(),
                             [](const Operand& operand) { return operand.type.element == ElementType::BF16; });
  const Type &b = call.operands.back().type, &a = call.operands[call.operands.size() - 2].type;
  return is_bf16 && a.count() * b.dims.back() >= kManyProducts;
}

// A row of an add form: beta and alpha run at run time but for the values that make the program smaller.
Row scaled(const char* name, Lower lower) { return row(name, lower).special("beta", {0, 1}).special("alpha", {1}); }
Row distance(const char* name, Lower lower) { return row(name, lower).special("p", {0, 1, 2, INFINITY}); }

}  // namespace

Table matmul_table() {
  return {
      row("mm.out", rounded<mm, &kSelf>).host_kernel(is_large_bf16),
      row("mm.dtype", with_dtype<mm, &kSelf>),
      row("mm.dtype_out", with_dtype<mm, &kSelf>),
      row("bmm.out", rounded<bmm, &kSelf>).host_kernel(is_large_bf16),
      row("bmm.dtype", with_dtype<bmm, &kSelf>),
      row("bmm.dtype_out", with_dtype<bmm, &kSelf>),
      scaled("addmm.out", rounded<addmm, &kMat1>).host_kernel(is_large_bf16),
      scaled("addmm.dtype", with_dtype<addmm, &kMat1>),
      scaled("addmm.dtype_out", with_dtype<addmm, &kMat1>),
      scaled("baddbmm.out", rounded<baddbmm, &kBatch1>).host_kernel(is_large_bf16),
      scaled("baddbmm.dtype", with_dtype<baddbmm, &kBatch1>),
      scaled("baddbmm.dtype_out", with_dtype<baddbmm, &kBatch1>),
      scaled("addmv.out", rounded<addmv, &kMat>),
      scaled("addbmm", addbmm),
      scaled("addbmm.out", addbmm),
      scaled("addbmm_", addbmm),
      scaled("_addmm_activation.out", addmm_activation),
      row("dot", dot<false>),
      row("dot.out", dot<false>),
      row("vdot", dot<true>),
      row("vdot.out", dot<true>),
      row("_int_mm", int_mm),
      row("_int_mm.out", int_mm),
      row("_scaled_mm", scaled_mm),
      row("_scaled_mm.out", scaled_mm),

      distance("_cdist_forward", cdist_forward),
      distance("_cdist_backward", cdist_backward),
      distance("_pdist_forward", pdist_forward),
      distance("_pdist_backward", pdist_backward),
  };
}

}  // namespace tpu::ops
