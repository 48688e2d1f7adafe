// hlo: the text that representative ops give, inferred types, refused arguments, exact constants.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hlo/chlo.h"
#include "hlo/literal.h"
#include "hlo/ops.h"

namespace tpu::hlo {
namespace {

using E = ElementType;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// The lines of @main's body that `make` gives, without the common indent.
std::string body_of_main(const std::function<Values(Builder&)>& make) {
  Builder builder;
  Values results = make(builder);
  std::string text = builder.module(results);
  size_t start = text.find(") {\n") + 4;
  size_t end = text.rfind("    return");
  std::string lines, body = text.substr(start, end - start);
  for (size_t at = 0; at < body.size();) {
    size_t next = body.find('\n', at) + 1;
    lines += body.substr(at + 4, next - at - 4);
    at = next;
  }
  return lines;
}

/// The message of the error that `make` throws; empty if none.
std::string refusal(ErrorCode code, const std::function<void(Builder&)>& make) {
  Builder builder;
  try {
    make(builder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.message();
  }
  return "";
}
std::string refused(const std::function<void(Builder&)>& make) { return refusal(ErrorCode::InvalidArgument, make); }
std::string bug(const std::function<void(Builder&)>& make) { return refusal(ErrorCode::Internal, make); }

Dims dims_of(const std::function<Value(Builder&)>& make) {
  Builder builder;
  return make(builder).dims();
}

// ---------------------------------------------------------------------------------------------------- module

TEST(Module, WholeTextWithAlias) {
  Builder builder;
  Value x = builder.parameter({E::F32, {2, 3}});
  Value n = builder.parameter({E::S64, {}});
  builder.set_parameter_alias(0, 1);
  std::string text = builder.module({n, x + x}, "add");
  EXPECT_EQ(text,
            "module @add {\n"
            "  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<i64>)"
            " -> (tensor<i64>, tensor<2x3xf32>) {\n"
            "    %2 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>\n"
            "    return %arg1, %2 : tensor<i64>, tensor<2x3xf32>\n"
            "  }\n"
            "}\n");
  EXPECT_THROW(builder.parameter({E::F32, {}}), Error);
}

TEST(Module, NoResults) {
  Builder builder;
  EXPECT_EQ(builder.module({}), "module @main {\n  func.func public @main() -> () {\n    return\n  }\n}\n");
}

TEST(Module, AliasNeedsEqualType) {
  EXPECT_EQ(bug([](Builder& b) {
              Value x = b.parameter({E::F32, {2}});
              b.set_parameter_alias(0, 0);
              b.module({convert(x, E::S32)});
            }),
            "hlo: parameter 0 of type tensor<2xf32> aliases output 0, which does not exist or has another type");
}

// ----------------------------------------------------------------------------------------------- elementwise

TEST(Elementwise, Text) {
  EXPECT_EQ(body_of_main([](Builder& b) -> Values {
              Value x = b.parameter({E::F32, {4}});
              Value y = exponential(-x) * x;
              y = y / tanh(x) - x;
              return {select(lt(x, y), x, y), convert(y, E::BF16)};
            }),
            "%1 = stablehlo.negate %arg0 : tensor<4xf32>\n"
            "%2 = stablehlo.exponential %1 : tensor<4xf32>\n"
            "%3 = stablehlo.multiply %2, %arg0 : tensor<4xf32>\n"
            "%4 = stablehlo.tanh %arg0 : tensor<4xf32>\n"
            "%5 = stablehlo.divide %3, %4 : tensor<4xf32>\n"
            "%6 = stablehlo.subtract %5, %arg0 : tensor<4xf32>\n"
            "%7 = \"stablehlo.compare\"(%arg0, %6) {compare_type = #stablehlo<comparison_type FLOAT>, "
            "comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<4xf32>, tensor<4xf32>) -> "
            "tensor<4xi1>\n"
            "%8 = \"stablehlo.select\"(%7, %arg0, %6) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
            "%9 = \"stablehlo.convert\"(%6) : (tensor<4xf32>) -> tensor<4xbf16>\n");
}

// Note [Rounding to bfloat16]
TEST(Elementwise, RoundingToBfloat16) {
  auto rounded = [](E from, bool adds) {
    return body_of_main([=](Builder& b) -> Values {
      b.set_rounds_as_integers(true);
      Value x = convert(b.parameter({from, {4}}), E::F32);
      return {convert(adds ? x + x : x, E::BF16)};
    });
  };
  EXPECT_NE(rounded(E::F32, false).find("select"), std::string::npos);  // any NaN may come
  EXPECT_NE(rounded(E::F32, true).find("select"), std::string::npos);
  EXPECT_EQ(rounded(E::BF16, true).find("select"), std::string::npos);  // only those whose lower half is zero

  Builder plain;
  Value narrow = convert(plain.parameter({E::F32, {4}}), E::BF16);
  EXPECT_FALSE(plain.widened(narrow));

  Builder b;
  b.set_rounds_as_integers(true);
  narrow = convert(b.parameter({E::F32, {}}), E::BF16);
  Value wide = convert(narrow, E::F32);
  EXPECT_EQ(wide.id, b.widened(narrow).id);
  EXPECT_EQ(convert(narrow, E::F32).id, wide.id);
  Value p = b.parameter({E::Pred, {}});
  auto branch = [&](const Values&) -> Values {
    EXPECT_EQ(convert(narrow, E::F32).id, wide.id);  // a branch sees what is around it
    return {wide};
  };
  if_(p, branch, branch);
  auto body = [&](const Values& a) -> Values {
    EXPECT_FALSE(b.widened(narrow));  // a loop does not
    return {a[0]};
  };
  while_({p}, body, body);
}

TEST(Elementwise, ElementTypes) {
  Builder b;
  Value c = b.parameter({E::C64, {2}});
  EXPECT_EQ(abs(c).type, (Type{E::F32, {2}}));
  EXPECT_EQ(real(c).type, (Type{E::F32, {2}}));
  EXPECT_EQ(complex(imag(c), real(c)).type, c.type);
  EXPECT_EQ(is_finite(abs(c)).type, (Type{E::Pred, {2}}));
  EXPECT_EQ(eq(c, c).type, (Type{E::Pred, {2}}));
}

TEST(Elementwise, CompareTypes) {
  auto type_of = [](E element, bool total_order) {
    std::string text = body_of_main([&](Builder& b) -> Values {
      Value x = b.parameter({element, {}});
      return {compare(x, x, Comparison::Eq, total_order)};
    });
    size_t start = text.find("comparison_type ") + 16;
    return text.substr(start, text.find('>', start) - start);
  };
  EXPECT_EQ(type_of(E::F32, false), "FLOAT");
  EXPECT_EQ(type_of(E::BF16, true), "TOTALORDER");
  EXPECT_EQ(type_of(E::S32, true), "SIGNED");
  EXPECT_EQ(type_of(E::U8, false), "UNSIGNED");
  EXPECT_EQ(type_of(E::Pred, false), "UNSIGNED");
  EXPECT_EQ(type_of(E::C64, false), "FLOAT");
}

TEST(Elementwise, BitcastChangesRankWithWidth) {
  Builder b;
  Value x = b.parameter({E::F32, {2, 4}});
  EXPECT_EQ(bitcast_convert(x, E::S32).dims(), (Dims{2, 4}));
  EXPECT_EQ(bitcast_convert(x, E::U8).dims(), (Dims{2, 4, 4}));
  EXPECT_EQ(bitcast_convert(bitcast_convert(x, E::U8), E::F32).type, x.type);
  EXPECT_EQ(refused([](Builder& b) { bitcast_convert(b.parameter({E::F32, {2, 3}}), E::F64); }),
            "stablehlo.bitcast_convert: expected a last dimension of 2 for f64, got tensor<2x3xf32>");
  EXPECT_NE(refused([](Builder& b) { bitcast_convert(b.parameter({E::Pred, {2}}), E::U8); }), "");
  EXPECT_NE(refused([](Builder& b) { bitcast_convert(b.parameter({E::C64, {2}}), E::F64); }), "");
}

TEST(Elementwise, Refusals) {
  EXPECT_EQ(refused([](Builder& b) { add(b.parameter({E::F32, {2}}), b.parameter({E::F32, {3}})); }),
            "stablehlo.add: expected operands of equal type, got tensor<2xf32> and tensor<3xf32>");
  EXPECT_EQ(refused([](Builder& b) { floor(b.parameter({E::S32, {2}})); }),
            "stablehlo.floor: expected a floating-point tensor, got tensor<2xi32>");
  EXPECT_EQ(refused([](Builder& b) { lt(b.parameter({E::C64, {}}), b.parameter({E::C64, {}})); }),
            "stablehlo.compare: expected EQ or NE for complex operands, got LT");
  EXPECT_EQ(bug([](Builder& b) { add(b.parameter({E::F32, {}}), Value()); }),
            "stablehlo.add: operand is an empty value");
  EXPECT_EQ(bug([](Builder& b) {
              Builder other;
              add(b.parameter({E::F32, {}}), other.parameter({E::F32, {}}));
            }),
            "hlo: operand is a value of another builder");
}

TEST(Elementwise, IdentitiesEmitNothing) {
  EXPECT_EQ(body_of_main([](Builder& b) -> Values {
              Value x = b.parameter({E::F32, {2, 3}});
              Value i = b.parameter({E::S32, {}});
              for (const Value& same :
                   {convert(x, E::F32), bitcast_convert(x, E::F32), real(x), conj(x), reshape(x, {2, 3}),
                    transpose(x, {0, 1}), broadcast_in_dim(x, {2, 3}, {0, 1}), slice(x, {0, 0}, {2, 3}, {1, 1}),
                    pad(x, x.builder->parameter({E::F32, {}}), {0, 0}, {0, 0}, {0, 0}), reverse(x, {}),
                    concatenate({x}, 1), dynamic_slice(x, {i, i}, {2, 3})}) {
                EXPECT_EQ(same.id, x.id);
              }
              return {x};
            }),
            "");
}

// ------------------------------------------------------------------------------------------------- constants

struct LiteralCase {
  E element;
  double value;
  const char* text;
};

TEST(Constants, FloatLiterals) {
  const LiteralCase cases[] = {
      {E::F32, 1, "1.0"},
      {E::F32, -2.5, "-2.5"},
      {E::F32, 0, "0.0"},
      {E::F32, -0.0, "0x80000000"},
      {E::F32, 0.1, "0.1"},
      {E::F64, 0.1, "0.1"},
      {E::F32, 1e20, "1.0e+20"},
      {E::F32, kInf, "0x7F800000"},
      {E::F32, -kInf, "0xFF800000"},
      {E::F32, kNan, "0x7FC00000"},
      {E::F64, kNan, "0x7FF8000000000000"},
      {E::F32, 1e-45, "1.0e-45"},
      {E::F32, 1e39, "0x7F800000"},  // out of range
      {E::F64, 5e-324, "5.0e-324"},  // smallest subnormal
      {E::F64, 1.0 / 3, "0.3333333333333333"},
      {E::F32, 0x1.000001p0, "1.0"},  // a tie goes to even
      {E::F32, 0x1.0000010000001p0, "1.0000001"},
      {E::F16, 65519, "65504.0"},
      {E::F16, 65520, "0x7C00"},
      {E::BF16, kInf, "0x7F80"},
      {E::BF16, 1.00390625, "1.0"},
      {E::F8E4M3FN, kInf, "0x7F"},  // no infinity: NaN
      {E::F8E4M3FN, 448, "448.0"},
      {E::F8E5M2, kInf, "0x7C"},
      {E::F8E4M3FNUZ, -0.0, "0.0"},  // no negative zero
      {E::F8E5M2FNUZ, kNan, "0x80"},
  };
  for (const LiteralCase& it : cases) EXPECT_EQ(literal(it.element, it.value), it.text) << mlir_name(it.element);
}

TEST(Constants, EveryNarrowPatternSurvives) {
  for (E element : {E::F16, E::BF16, E::F8E4M3FN, E::F8E5M2, E::F8E4M3FNUZ, E::F8E5M2FNUZ}) {
    for (uint64_t bits = 0; bits < uint64_t{1} << (8 * size_of(element)); ++bits) {
      double value = float_value(element, bits);
      if (value != value) continue;  // many NaN patterns, one NaN
      ASSERT_EQ(float_bits(element, value), bits) << mlir_name(element) << " " << value;
    }
  }
}

TEST(Constants, IntegerLiterals) {
  EXPECT_EQ(literal(E::S64, std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(literal(E::U64, int64_t{-1}), "18446744073709551615");
  EXPECT_EQ(literal(E::U8, int64_t{-1}), "255");
  EXPECT_EQ(literal(E::S8, int64_t{128}), "-128");
  EXPECT_EQ(literal(E::Pred, int64_t{2}), "true");
  EXPECT_EQ(literal(E::S32, 7.0), "7");
  EXPECT_EQ(literal(E::F32, int64_t{16777217}), "16777216.0");
  EXPECT_EQ(refused([](Builder& b) { constant(b, E::S32, 0.5); }),
            "stablehlo.constant: expected a value of i32, got 0.5");
  EXPECT_NE(refused([](Builder& b) { constant(b, E::S64, 9.3e18); }), "");
  EXPECT_NE(refused([](Builder& b) { constant(b, E::U8, kNan); }), "");
}

TEST(Constants, Text) {
  EXPECT_EQ(body_of_main([](Builder& b) -> Values {
              Value x = b.parameter({E::F32, {2, 2}});
              EXPECT_EQ(scalar_like(x, 1).id, scalar_like(x, 1.0).id);  // one constant
              return {like(x, 0.5),
                      constant_ints(b, {3, -1}, E::S32),
                      constant_doubles(b, {0.5, kInf}, E::F32),
                      constant_complex(b, E::C64, 1, -0.0),
                      constant(b, Type{E::F32, {0, 2}}, 1.0),
                      min_value(b, E::S8),
                      max_value(b, E::U64),
                      min_value(b, E::F16),
                      max_value(b, E::F8E4M3FN),
                      iota(b, {E::S64, {2, 3}}, 1)};
            }),
            "%1 = stablehlo.constant dense<1.0> : tensor<f32>\n"
            "%2 = stablehlo.constant dense<0.5> : tensor<2x2xf32>\n"
            "%3 = stablehlo.constant dense<[3, -1]> : tensor<2xi32>\n"
            "%4 = stablehlo.constant dense<[0.5, 0x7F800000]> : tensor<2xf32>\n"
            "%5 = stablehlo.constant dense<(1.0, 0x80000000)> : tensor<complex<f32>>\n"
            "%6 = stablehlo.constant dense<> : tensor<0x2xf32>\n"
            "%7 = stablehlo.constant dense<-128> : tensor<i8>\n"
            "%8 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>\n"
            "%9 = stablehlo.constant dense<0xFC00> : tensor<f16>\n"
            "%10 = stablehlo.constant dense<448.0> : tensor<f8E4M3FN>\n"
            "%11 = \"stablehlo.iota\"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi64>\n");
}

// ----------------------------------------------------------------------------------------------------- shape

TEST(Shape, Text) {
  EXPECT_EQ(
      body_of_main([](Builder& b) -> Values {
        Value x = b.parameter({E::F32, {2, 3}});
        Value i = b.parameter({E::S32, {}});
        Value zero = scalar_like(x, 0);
        return {broadcast(zero, {4}),
                concatenate({x, x}, 0),
                dynamic_slice(x, {i, i}, {1, 2}),
                pad(x, zero, {1, -1}, {0, 2}, {2, 0}),
                transpose(x, {1, 0}),
                slice(x, {0, 1}, {2, 3}, {1, 2})};
      }),
      "%2 = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%3 = \"stablehlo.broadcast_in_dim\"(%2) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>\n"
      "%4 = \"stablehlo.concatenate\"(%arg0, %arg0) {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
      "tensor<4x3xf32>\n"
      "%5 = \"stablehlo.dynamic_slice\"(%arg0, %arg1, %arg1) {slice_sizes = array<i64: 1, 2>} : (tensor<2x3xf32>, "
      "tensor<i32>, tensor<i32>) -> tensor<1x2xf32>\n"
      "%6 = \"stablehlo.pad\"(%arg0, %2) {edge_padding_low = array<i64: 1, -1>, edge_padding_high = array<i64: 0, 2>, "
      "interior_padding = array<i64: 2, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x4xf32>\n"
      "%7 = \"stablehlo.transpose\"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
      "%8 = \"stablehlo.slice\"(%arg0) {limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 1>, strides = "
      "array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x1xf32>\n");
}

TEST(Shape, Refusals) {
  EXPECT_EQ(refused([](Builder& b) { reshape(b.parameter({E::F32, {2, 3}}), {4}); }),
            "stablehlo.reshape: expected 6 elements of tensor<2x3xf32>, got dims [4]");
  EXPECT_EQ(refused([](Builder& b) { broadcast_in_dim(b.parameter({E::F32, {2}}), {3, 3}, {1}); }),
            "stablehlo.broadcast_in_dim: expected size 1 or 3 in dimension 0 of tensor<2xf32> for result [3, 3]");
  EXPECT_EQ(refused([](Builder& b) { transpose(b.parameter({E::F32, {2, 3}}), {0, 0}); }),
            "stablehlo.transpose: expected distinct permutation entries, got [0, 0]");
  EXPECT_NE(refused([](Builder& b) { slice(b.parameter({E::F32, {2}}), {0}, {3}, {1}); }), "");
  EXPECT_NE(refused([](Builder& b) { concatenate({b.parameter({E::F32, {2}}), b.parameter({E::F32, {2, 1}})}, 0); }),
            "");
}

TEST(Shape, Gather) {
  GatherDims rows;
  rows.offset_dims = {1};
  rows.collapsed_slice_dims = {0};
  rows.start_index_map = {0};
  rows.index_vector_dim = 1;
  EXPECT_EQ(body_of_main([&](Builder& b) -> Values {
              Value x = b.parameter({E::F32, {5, 3}});
              Value indices = b.parameter({E::S64, {4, 1}});
              return {gather(x, indices, rows, {1, 3}, true)};
            }),
            "%2 = \"stablehlo.gather\"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], "
            "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, "
            "slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4x1xi64>) -> tensor<4x3xf32>\n");
  GatherDims batched;
  batched.offset_dims = {2};
  batched.collapsed_slice_dims = {1};
  batched.operand_batching_dims = {0};
  batched.start_indices_batching_dims = {0};
  batched.start_index_map = {1};
  batched.index_vector_dim = 2;
  EXPECT_EQ(dims_of([&](Builder& b) {
              return gather(b.parameter({E::F32, {2, 5, 3}}), b.parameter({E::S32, {2, 4}}), batched, {1, 1, 3});
            }),
            (Dims{2, 4, 3}));
  EXPECT_NE(
      refused([&](Builder& b) { gather(b.parameter({E::F32, {5, 3}}), b.parameter({E::S64, {4, 2}}), rows, {1, 3}); }),
      "");
}

TEST(Shape, Scatter) {
  ScatterDims rows;
  rows.update_window_dims = {1};
  rows.inserted_window_dims = {0};
  rows.scatter_dims_to_operand_dims = {0};
  rows.index_vector_dim = 1;
  EXPECT_EQ(body_of_main([&](Builder& b) {
              Value x = b.parameter({E::F32, {5, 3}});
              Value indices = b.parameter({E::S64, {4, 1}});
              Value updates = b.parameter({E::F32, {4, 3}});
              return scatter({x}, indices, {updates}, rows, body_of(Reducer::Add), false, true);
            }),
            "%6 = \"stablehlo.scatter\"(%arg0, %arg1, %arg2) ({\n"
            "^bb0(%3: tensor<f32>, %4: tensor<f32>):\n"
            "  %5 = stablehlo.add %3, %4 : tensor<f32>\n"
            "  stablehlo.return %5 : tensor<f32>\n"
            "}) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = "
            "true} : (tensor<5x3xf32>, tensor<4x1xi64>, tensor<4x3xf32>) -> (tensor<5x3xf32>)\n");
  EXPECT_NE(refused([&](Builder& b) {
              scatter({b.parameter({E::F32, {5, 3}})}, b.parameter({E::S64, {4, 1}}), {b.parameter({E::F32, {4, 7}})},
                      rows, body_of(Reducer::Add));
            }),
            "");
}

// ------------------------------------------------------------------------------------ reductions and windows

TEST(Reduction, Text) {
  EXPECT_EQ(
      body_of_main([](Builder& b) -> Values { return {reduce(b.parameter({E::F32, {2, 3}}), {1}, Reducer::Max)}; }),
      "%1 = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
      "%5 = \"stablehlo.reduce\"(%arg0, %1) ({\n"
      "^bb0(%2: tensor<f32>, %3: tensor<f32>):\n"
      "  %4 = stablehlo.maximum %2, %3 : tensor<f32>\n"
      "  stablehlo.return %4 : tensor<f32>\n"
      "}) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>)\n");
}

TEST(Reduction, RegionsSeeOnlyTheirArguments) {
  EXPECT_EQ(bug([](Builder& b) {
              Value x = b.parameter({E::F32, {4}});
              Value one = scalar_like(x, 1);
              reduce({x}, {one}, {0}, [&](const Values& a) -> Values { return {a[0] + one}; });
            }),
            "hlo: value %1 of type tensor<f32> is captured by a region that sees only its arguments");
  EXPECT_EQ(bug([](Builder& b) {
              Value x = b.parameter({E::F32, {4}}), inner;
              reduce({x}, {scalar_like(x, 1)}, {0}, [&](const Values& a) -> Values { return {inner = a[0] + a[1]}; });
              negate(inner);
            }),
            "hlo: value %4 of type tensor<f32> is used outside of the region that made it");
  EXPECT_EQ(refused([](Builder& b) {
              Value x = b.parameter({E::F32, {4}});
              reduce({x}, {scalar_like(x, 1)}, {0}, [](const Values& a) -> Values { return {lt(a[0], a[1])}; });
            }),
            "stablehlo.reduce: expected result 0 of body to be tensor<f32>, got tensor<i1>");
}

TEST(Reduction, WindowOutput) {
  EXPECT_EQ(window_output({8}, {{3}}), (Dims{6}));
  EXPECT_EQ(window_output({8}, {{3}, {2}, {}, {}, {1}, {1}}), (Dims{4}));
  EXPECT_EQ(window_output({8}, {{3}, {}, {2}, {2}}), (Dims{11}));
  EXPECT_EQ(window_output({2}, {{3}}), (Dims{0}));
  EXPECT_EQ(window_output({0}, {{2}, {}, {}, {}, {1}, {1}}), (Dims{1}));
}

TEST(Reduction, WindowText) {
  std::string text = body_of_main([](Builder& b) -> Values {
    Value x = b.parameter({E::F32, {1, 8}});
    return {reduce_window(x, scalar_like(x, 0), {{1, 3}, {1, 2}, {}, {}, {0, 1}, {0, 1}}, Reducer::Add)};
  });
  EXPECT_NE(text.find("{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, "
                      "window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = "
                      "array<i64: 1, 2>} : (tensor<1x8xf32>, tensor<f32>) -> (tensor<1x4xf32>)"),
            std::string::npos)
      << text;
}

TEST(Reduction, SortArgumentsComeInPairs) {
  std::string text = body_of_main([](Builder& b) {
    Value x = b.parameter({E::F32, {8}});
    return sort({x, iota(b, {E::S32, {8}}, 0)}, 0, true,
                [](const Values& a) -> Values { return {compare(a[0], a[1], Comparison::Gt, true)}; });
  });
  EXPECT_NE(text.find("^bb0(%2: tensor<f32>, %3: tensor<f32>, %4: tensor<i32>, %5: tensor<i32>):"), std::string::npos);
  EXPECT_NE(text.find("%7, %8 = \"stablehlo.sort\"(%arg0, %1) ({"), std::string::npos) << text;
}

// ---------------------------------------------------------------------------------------------- contractions

TEST(Contraction, DotGeneral) {
  EXPECT_EQ(body_of_main([](Builder& b) -> Values {
              Value x = b.parameter({E::BF16, {2, 3, 4}});
              Value y = b.parameter({E::BF16, {2, 4, 5}});
              return {dot_general(x, y, {{0}, {0}, {2}, {1}}, Precision::Default, E::F32)};
            }),
            "%2 = \"stablehlo.dot_general\"(%arg0, %arg1) {dot_dimension_numbers = "
            "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = "
            "[2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, "
            "#stablehlo<precision DEFAULT>]} : (tensor<2x3x4xbf16>, tensor<2x4x5xbf16>) -> tensor<2x3x5xf32>\n");
  EXPECT_EQ(refused([](Builder& b) {
              dot_general(b.parameter({E::F32, {2, 3}}), b.parameter({E::F32, {4, 5}}), {{}, {}, {1}, {0}});
            }),
            "stablehlo.dot_general: dimension 1 of tensor<2x3xf32> and dimension 0 of tensor<4x5xf32> differ in size");
}

TEST(Contraction, Convolution) {
  EXPECT_EQ(body_of_main([](Builder& b) -> Values {
              ConvDims nhwc{0, 3, {1, 2}, 3, 2, {0, 1}, 0, 3, {1, 2}};
              Window window;
              window.strides = {2, 1};
              window.low = window.high = {1, 1};
              Value images = b.parameter({E::F32, {2, 8, 8, 4}});
              Value kernel = b.parameter({E::F32, {3, 3, 2, 6}});
              return {convolution(images, kernel, nhwc, window, 2)};
            }),
            "%2 = \"stablehlo.convolution\"(%arg0, %arg1) {batch_group_count = 1 : i64, dimension_numbers = "
            "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, lhs_dilation = "
            "array<i64: 1, 1>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>, precision_config = "
            "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>], rhs_dilation = array<i64: 1, 1>, "
            "window_strides = array<i64: 2, 1>} : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x4x8x6xf32>\n");
}

TEST(Contraction, Fft) {
  Builder b;
  Value x = b.parameter({E::F32, {2, 8}});
  Value spectrum = fft(x, FftKind::Rfft, {8});
  EXPECT_EQ(spectrum.type, (Type{E::C64, {2, 5}}));
  EXPECT_EQ(fft(spectrum, FftKind::Irfft, {8}).type, x.type);
  EXPECT_NE(refused([](Builder& b) { fft(b.parameter({E::F32, {8}}), FftKind::Fft, {8}); }), "");
}

TEST(Contraction, CustomCall) {
  EXPECT_EQ(body_of_main([](Builder& b) {
              CustomCall call;
              call.backend_config = "{n = 2 : i64}";
              call.aliases = {{0, 0}};
              custom_call(b, "a\"b", {}, {}, {1, "1,2\n", true});
              return custom_call(b, "f", {b.parameter({E::F32, {2}})}, {{E::F32, {2}}}, call);
            }),
            "\"stablehlo.custom_call\"() {api_version = 1 : i32, backend_config = \"1,2\\0A\", call_target_name = "
            "\"a\\22b\", has_side_effect = true} : () -> ()\n"
            "%1 = \"stablehlo.custom_call\"(%arg0) {api_version = 4 : i32, backend_config = {n = 2 : i64}, "
            "call_target_name = \"f\", has_side_effect = false, output_operand_aliases = "
            "[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = "
            "[]>]} : (tensor<2xf32>) -> (tensor<2xf32>)\n");
}

TEST(Contraction, CustomCallWithOrders) {
  EXPECT_EQ(body_of_main([](Builder& b) {
              CustomCall call;
              call.operand_orders = {{0, 2, 1}, {}};
              call.output_orders = {{1, 0}};
              Value x = b.parameter({E::F32, {2, 3, 4}});
              return custom_call(b, "f", {x, b.parameter({E::F32, {}})}, {{E::F32, {2, 3}}}, call);
            }),
            "%2 = \"stablehlo.custom_call\"(%arg0, %arg1) {api_version = 4 : i32, call_target_name = \"f\", "
            "has_side_effect = false, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<> : "
            "tensor<0xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3x4xf32>, tensor<f32>) "
            "-> (tensor<2x3xf32>)\n");
  EXPECT_NE(refused([](Builder& b) {
              CustomCall call;
              call.operand_orders = {{}};
              custom_call(b, "f", {}, {}, call);
            }),
            "");
}

TEST(Contraction, ChloTopK) {
  EXPECT_EQ(body_of_main([](Builder& b) { return top_k(erf(b.parameter({E::F32, {2, 8}})), 3); }),
            "%1 = \"chlo.erf\"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8xf32>\n"
            "%2, %3 = \"chlo.top_k\"(%1) {k = 3 : i64} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)\n");
}

// ---------------------------------------------------------------------------------------------- control flow

TEST(ControlFlow, BranchInsideLoop) {
  EXPECT_EQ(body_of_main([](Builder& b) {
              Value n = b.parameter({E::S32, {}});
              Value go = b.parameter({E::Pred, {}});
              return while_(
                  {n, go}, [](const Values& a) -> Values { return {a[1]}; },
                  [](const Values& a) -> Values {
                    Value next = if_(
                        a[1], [&](const Values&) -> Values { return {a[0] + scalar_like(a[0], 2)}; },
                        [&](const Values&) -> Values { return {a[0]}; })[0];
                    return {next, a[1]};
                  });
            }),
            "%9, %10 = \"stablehlo.while\"(%arg0, %arg1) ({\n"
            "^bb0(%2: tensor<i32>, %3: tensor<i1>):\n"
            "  stablehlo.return %3 : tensor<i1>\n"
            "}, {\n"
            "^bb0(%4: tensor<i32>, %5: tensor<i1>):\n"
            "  %8 = \"stablehlo.if\"(%5) ({\n"
            "    %6 = stablehlo.constant dense<2> : tensor<i32>\n"
            "    %7 = stablehlo.add %4, %6 : tensor<i32>\n"
            "    stablehlo.return %7 : tensor<i32>\n"
            "  }, {\n"
            "    stablehlo.return %4 : tensor<i32>\n"
            "  }) : (tensor<i1>) -> (tensor<i32>)\n"
            "  stablehlo.return %8, %5 : tensor<i32>, tensor<i1>\n"
            "}) : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i1>)\n");
}

TEST(ControlFlow, Refusals) {
  EXPECT_EQ(bug([](Builder& b) {
              Value n = b.parameter({E::S32, {}});
              while_(
                  {n}, [&](const Values& a) -> Values { return {lt(a[0], n)}; },
                  [](const Values& a) -> Values { return a; });
            }),
            "hlo: value %0 of type tensor<i32> is captured by a region that sees only its arguments");
  EXPECT_EQ(refused([](Builder& b) {
              Value p = b.parameter({E::Pred, {}});
              if_(p, [&](const Values&) -> Values { return {p}; }, [](const Values&) -> Values { return {}; });
            }),
            "stablehlo.if: expected 1 results of a branch, got 0");
  EXPECT_EQ(refused([](Builder& b) { case_(b.parameter({E::S64, {}}), {}); }),
            "stablehlo.case: expected index tensor<i32>, got tensor<i64>");
}

}  // namespace
}  // namespace tpu::hlo
