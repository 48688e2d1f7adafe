// graph: what lower() makes of calls: run-time arguments, results and how they are bound, donors, checks, errors. As
// text; view_test.cpp runs the views, golden_test.cpp keeps the text of every family.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "cpp/call.h"
#include "ops/host_call.h"

namespace tpu::graph {
namespace {

using E = ElementType;
using Kind = RuntimeArgument::Kind;
const Type kMatrix{E::F32, {2, 3}};

Lowered lowered(const Graph& graph) { return lower(graph, ops::Settings()); }

/// Line of `text` that contains `part`, without the indent; empty when there is none.
std::string line_with(const std::string& text, const std::string& part) {
  size_t at = text.find(part);
  if (at == std::string::npos) return "";
  size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
  return text.substr(text.find_first_not_of(' ', begin), end - text.find_first_not_of(' ', begin));
}
std::string signature(const Lowered& l) { return line_with(l.text, "@main("); }
/// Whether element `at` of argument `number` is taken out.
bool takes(const Lowered& l, int number, int at) {
  return l.text.find(concat("\"stablehlo.slice\"(%arg", number, ") {limit_indices = array<i64: ", at + 1,
                            ">, start_indices = array<i64: ", at, ">")) != std::string::npos;
}
bool contains(const Lowered& l, const std::string& part) { return l.text.find(part) != std::string::npos; }

std::string error_of(const Graph& graph, ErrorCode code) {
  try {
    lowered(graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.message();
  }
  return "no error";
}

void expect_arguments(const Lowered& l, const std::vector<std::pair<Kind, E>>& expected) {
  ASSERT_EQ(l.arguments.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(l.arguments[i].kind, expected[i].first) << i;
    EXPECT_EQ(l.arguments[i].element, expected[i].second) << i;
  }
}

// ---------------------------------------------------------------------------------------------------- scalars

TEST(Scalars, AreOneArgumentPerPackedType) {
  Graph graph;
  CallBuilder(graph, "mul.out").tensor("self", kMatrix).number("other", 0.5).replace(kMatrix);
  CallBuilder(graph, "mul.out").tensor("self", {E::BF16, {4}}).number("other", 3.0).replace({E::BF16, {4}});
  CallBuilder(graph, "mul.out").tensor("self", {E::F64, {4}}).number("other", 0.5).replace({E::F64, {4}});
  CallBuilder(graph, "mul.out").tensor("self", {E::S32, {4}}).number("other", 7).replace({E::S32, {4}});
  Lowered l = lowered(graph);
  // All scalars in every type, so that each is found at its own number whatever it is packed as.
  expect_arguments(l, {{Kind::Scalars, E::F32}, {Kind::Scalars, E::F64}, {Kind::Scalars, E::S64}});
  EXPECT_EQ(signature(l),
            "func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<4xbf16>, %arg2: tensor<4xf64>, %arg3: "
            "tensor<4xi32>, "
            "%arg4: tensor<4xf32>, %arg5: tensor<4xf64>, %arg6: tensor<4xi64>) -> (tensor<2x3xf32>, tensor<4xbf16>, "
            "tensor<4xf64>, "
            "tensor<4xi32>) {");
  EXPECT_TRUE(takes(l, 4, 0));
  EXPECT_TRUE(takes(l, 4, 1));
  EXPECT_TRUE(takes(l, 5, 2));
  EXPECT_TRUE(takes(l, 6, 3));
}

TEST(Scalars, ValuesAreNotInTheText) {
  auto text = [](double value) {
    Graph graph;
    CallBuilder(graph, "mul.out").tensor("self", kMatrix).number("other", value).replace(kMatrix);
    return lowered(graph).text;
  };
  EXPECT_EQ(text(0.5), text(123.25));
}

TEST(Scalars, SpecialValuesAreStructure) {
  auto alpha = [](double value) {
    Graph graph;
    CallBuilder(graph, "add.out")
        .tensor("self", kMatrix)
        .tensor("other", kMatrix)
        .number("alpha", value)
        .replace(kMatrix);
    return lowered(graph);
  };
  EXPECT_TRUE(alpha(1).arguments.empty());
  EXPECT_FALSE(contains(alpha(1), "multiply"));
  expect_arguments(alpha(2), {{Kind::Scalars, E::F32}});
  EXPECT_TRUE(contains(alpha(2), "multiply"));
}

// fill_(0.5) of a bool tensor writes True: the number must not be packed as an integer first.
TEST(Scalars, BoolOfAFractionIsTrue) {
  Graph graph;
  CallBuilder(graph, "fill_.Scalar").tensor("self", {E::Pred, {2}}).number("value", 0.5).replace({E::Pred, {2}});
  expect_arguments(lowered(graph), {{Kind::Scalars, E::F64}});
  Graph exact;
  CallBuilder(exact, "fill_.Scalar").tensor("self", {E::Pred, {2}}).number("value", 2).replace({E::Pred, {2}});
  expect_arguments(lowered(exact), {{Kind::Scalars, E::S64}});
}

// ---------------------------------------------------------------------------------------------------- starts

TEST(Starts, AreOneArgumentForAllViews) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .view("self", {E::F32, {4, 3}}, {E::F32, {2, 3}, {3, 1}, 6})
      .view("other", {E::F32, {10, 3}}, {E::F32, {2, 3}, {3, 1}, 9})
      .number("alpha", 1.0)
      .replace(kMatrix);
  Lowered l = lowered(graph);
  expect_arguments(l, {{Kind::Starts, E::S64}});
  EXPECT_TRUE(contains(l, concat("%arg2: tensor<", graph.start_count, "xi64>")));
  EXPECT_EQ(graph.start_count, 4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(takes(l, 2, i)) << i;
}

TEST(Starts, StaticViewsTakeNone) {
  Graph graph;
  CallBuilder(graph, "relu").view("self", {E::F32, {4, 3}}, {E::F32, {2, 3}, {3, 1}, 0}).fresh();
  EXPECT_TRUE(lowered(graph).arguments.empty());
}

// ---------------------------------------------------------------------------------------------------- inputs

TEST(Inputs, OneValueSeenTwice) {
  Graph graph;
  CallBuilder(graph, "mul.out")
      .tensor("self", {E::F32, {3, 3}})
      .reread("other", 0, {E::F32, {3, 3}, {1, 3}, 0})
      .replace({E::F32, {3, 3}});
  Lowered l = lowered(graph);
  EXPECT_EQ(signature(l), "func.func public @main(%arg0: tensor<3x3xf32>) -> (tensor<3x3xf32>) {");
  EXPECT_TRUE(contains(l, "\"stablehlo.transpose\"("));
}

TEST(Inputs, UnsetStorageReadsAsZeros) {
  Graph graph;
  CallBuilder(graph, "relu").reread("self", -1, {E::F32, {2, 3}, {3, 1}, 0}, {}, {E::F32, {6}}).fresh();
  Lowered l = lowered(graph);
  EXPECT_EQ(signature(l), "func.func public @main() -> (tensor<2x3xf32>) {");
  EXPECT_TRUE(contains(l, "dense<0.0> : tensor<6xf32>") || contains(l, "dense<0> : tensor<6xf32>")) << l.text;
}

TEST(Inputs, AreSeenThroughTheConjugateAndNegativeBits) {
  auto text = [](E element, bool conjugates, bool negates) {
    Graph graph;
    CallBuilder(graph, "neg.out").tensor("self", {element, {2}}).replace({element, {2}});
    graph.nodes[0].reads[0].conjugates = conjugates;
    graph.nodes[0].reads[0].negates = negates;
    return lowered(graph).text;
  };
  auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(text(E::C64, false, false), "stablehlo.negate"), 1);
  EXPECT_EQ(count(text(E::C64, false, true), "stablehlo.negate"), 2);
  EXPECT_EQ(count(text(E::C64, true, false), "stablehlo.imag"), 1);
  EXPECT_EQ(count(text(E::C64, false, false), "stablehlo.imag"), 0);
  EXPECT_EQ(count(text(E::F32, false, true), "stablehlo.negate"), 2);
}

// ---------------------------------------------------------------------------------------------------- results

TEST(Results, FreshTakesWhatTheLoweringGives) {
  Graph graph;
  CallBuilder(graph, "relu").tensor("self", kMatrix).fresh();
  Lowered l = lowered(graph);
  ASSERT_EQ(l.outputs.size(), 1u);
  EXPECT_EQ(l.outputs[0].logical, kMatrix);
  EXPECT_EQ(l.outputs[0].stored, kMatrix);
  EXPECT_TRUE(l.outputs[0].permutation.empty());
  EXPECT_EQ(l.outputs[0].donor, -1);
}

TEST(Results, StorageOrderTransposes) {
  for (bool fresh : {true, false}) {
    Graph graph;
    CallBuilder builder(graph, "relu");
    builder.tensor("self", {E::F32, {2, 3, 4}});
    if (fresh)
      builder.fresh({0, 2, 1});
    else
      builder.replace({E::F32, {2, 3, 4}}, -1, false, {0, 2, 1});
    Lowered l = lowered(graph);
    EXPECT_EQ(l.outputs[0].logical, (Type{E::F32, {2, 3, 4}}));
    EXPECT_EQ(l.outputs[0].stored, (Type{E::F32, {2, 4, 3}}));
    EXPECT_EQ(l.outputs[0].permutation, (Dims{0, 2, 1}));
    EXPECT_TRUE(contains(l, "-> (tensor<2x4x3xf32>)"));
  }
}

TEST(Results, AreConvertedToTheTypeOfTheirTensor) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .tensor("self", kMatrix)
      .tensor("other", kMatrix)
      .number("alpha", 1.0)
      .replace({E::F16, {2, 3}});
  Lowered l = lowered(graph);
  EXPECT_EQ(l.outputs[0].logical, (Type{E::F16, {2, 3}}));
  EXPECT_TRUE(contains(l, "-> (tensor<2x3xf16>)"));
}

TEST(Results, UpdateGivesTheWholeBase) {
  Graph graph;
  CallBuilder builder(graph, "fill_.Scalar");
  builder.view("self", {E::F32, {4, 3}}, {E::F32, {2, 3}, {3, 1}, 3})
      .number("value", 0.25)
      .update(0, {E::F32, {2, 3}, {3, 1}, 3});
  Lowered l = lowered(graph);
  EXPECT_EQ(l.outputs[0].logical, kMatrix);
  EXPECT_EQ(l.outputs[0].stored, (Type{E::F32, {4, 3}}));
  EXPECT_EQ(l.outputs[0].donor, 0);
  EXPECT_TRUE(contains(l, "dynamic_update_slice"));
  EXPECT_TRUE(contains(l, "%arg0: tensor<4x3xf32> {tf.aliasing_output = 0 : i32}"));
}

TEST(Results, UpdateOfAnUnsetStorage) {
  Graph graph;
  CallBuilder(graph, "fill_.Scalar")
      .reread("self", -1, {E::F32, {2}, {1}, 0}, {}, {E::F32, {6}})
      .number("value", 0.25)
      .update(-1, {E::F32, {2}, {1}, 0}, {E::F32, {6}});
  Lowered l = lowered(graph);
  EXPECT_EQ(signature(l), "func.func public @main(%arg0: tensor<1xf32>) -> (tensor<6xf32>) {");
  EXPECT_EQ(l.outputs[0].donor, -1);
}

TEST(Results, DroppedOnesAreNotComputed) {
  Graph graph;
  CallBuilder(graph, "native_layer_norm")
      .tensor("input", kMatrix)
      .param("normalized_shape", Dims{3})
      .none("weight")
      .none("bias")
      .number("eps", 1e-5)
      .fresh()
      .drop()
      .fresh();
  Lowered l = lowered(graph);
  ASSERT_EQ(l.outputs.size(), 2u);
  EXPECT_EQ(l.outputs[0].result, 0);
  EXPECT_EQ(l.outputs[1].result, 2);
}

// ---------------------------------------------------------------------------------------------------- `out=`

TEST(Out, OfAnotherShapeIsResizedFirst) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .tensor("self", kMatrix)
      .tensor("other", kMatrix)
      .number("alpha", 1.0)
      .replace({E::F32, {0}}, -1, true);
  Lowered l = lowered(graph);
  EXPECT_TRUE(l.outputs[0].resized);
  EXPECT_EQ(l.outputs[0].logical, kMatrix);
}

TEST(Out, OfTheRightShapeIsNot) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .tensor("self", kMatrix)
      .tensor("other", kMatrix)
      .number("alpha", 1.0)
      .replace(kMatrix, -1, true);
  EXPECT_FALSE(lowered(graph).outputs[0].resized);
}

TEST(Out, InPlaceOfAnotherShapeIsAnError) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .tensor("self", kMatrix)
      .tensor("other", {E::F32, {5, 2, 3}})
      .number("alpha", 1.0)
      .replace(kMatrix);
  EXPECT_EQ(error_of(graph, ErrorCode::InvalidArgument),
            "aten::add.out: output with shape [2, 3] doesn't match the broadcast shape [5, 2, 3]");
}

TEST(Out, OfATypeThatCannotHoldTheResult) {
  auto message = [](E from, E to) {
    Graph graph;
    CallBuilder(graph, "relu").tensor("self", {from, {2}}).replace({to, {2}});
    return error_of(graph, ErrorCode::InvalidArgument);
  };
  EXPECT_EQ(message(E::F32, E::S64), "result type Float can't be cast to the desired output type Long");
  EXPECT_EQ(message(E::S32, E::Pred), "result type Int can't be cast to the desired output type Bool");
  EXPECT_EQ(message(E::S64, E::F16), "no error");
  EXPECT_EQ(message(E::F64, E::F16), "no error");
  EXPECT_EQ(message(E::F32, E::C64), "no error");
  EXPECT_EQ(message(E::S64, E::S8), "no error");
}

// ---------------------------------------------------------------------------------------------------- donors

TEST(Donors, NeedEqualType) {
  auto donor = [](const Type& target, int donor) {
    Graph graph;
    CallBuilder(graph, "add.out")
        .tensor("self", kMatrix)
        .tensor("other", kMatrix)
        .number("alpha", 1.0)
        .replace(target, donor);
    Lowered l = lowered(graph);
    EXPECT_EQ(contains(l, "tf.aliasing_output"), l.outputs[0].donor >= 0);
    return l.outputs[0].donor;
  };
  EXPECT_EQ(donor(kMatrix, 1), 1);
  EXPECT_EQ(donor(kMatrix, -1), -1);
  EXPECT_EQ(donor({E::F16, {2, 3}}, 0), -1);
}

TEST(Donors, AnInputIsGivenAwayOnce) {
  Graph graph;
  CallBuilder(graph, "relu").tensor("self", kMatrix).replace(kMatrix, 0);
  CallBuilder(graph, "neg.out").reread("self", 0, whole(kMatrix)).replace(kMatrix, 0);
  Lowered l = lowered(graph);
  EXPECT_EQ(l.outputs[0].donor, 0);
  EXPECT_EQ(l.outputs[1].donor, -1);
}

TEST(Donors, ResizedOutputsTakeNone) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .tensor("self", kMatrix)
      .tensor("other", kMatrix)
      .number("alpha", 1.0)
      .replace({E::F32, {3}}, 0, true);
  EXPECT_EQ(lowered(graph).outputs[0].donor, -1);
}

// ---------------------------------------------------------------------------------------------------- random

TEST(Random, EveryNodeHasAStateOfItsOwn) {
  Graph one, two;
  auto add = [](Graph& graph, const Type& type) {
    graph.inputs.push_back(type);
    int input = static_cast<int>(graph.inputs.size()) - 1;
    CallBuilder(graph, "uniform_")
        .reread("self", input, whole(type))
        .number("from", 0.0)
        .number("to", 1.0)
        .none("generator")
        .replace(type, input);
  };
  add(one, {E::F32, {100}});
  add(two, {E::F32, {100}});
  add(two, {E::F32, {7}});
  Lowered first = lowered(one), both = lowered(two);
  expect_arguments(first, {{Kind::Random, E::U64}});
  expect_arguments(both, {{Kind::Random, E::U64}});
  EXPECT_EQ(first.random_blocks, (std::vector<int64_t>{100}));  // one counter per element
  EXPECT_EQ(both.random_blocks, (std::vector<int64_t>{100, 7}));
  EXPECT_TRUE(contains(both, "%arg2: tensor<6xui64>")) << both.text;  // a state for each
}

// ---------------------------------------------------------------------------------------------------- checks

Graph gather_graph() {
  Graph graph;
  CallBuilder(graph, "gather.out")
      .tensor("self", kMatrix)
      .param("dim", 1)
      .tensor("index", {E::S64, {2, 2}})
      .param("sparse_grad", Param(false))
      .replace({E::F32, {2, 2}});
  return graph;
}

TEST(Checks, AreOneMoreResult) {
  Lowered l = lowered(gather_graph());
  ASSERT_EQ(l.checks.size(), 1u);
  EXPECT_EQ(l.outputs.size(), 1u);
  EXPECT_NE(l.checks[0].message.find("{}"), std::string::npos);
  EXPECT_TRUE(contains(l, "-> (tensor<2x2xf32>, tensor<2xi64>)")) << signature(l);
}

TEST(Checks, OfAllNodesShareIt) {
  Graph graph = gather_graph();
  CallBuilder(graph, "floor_divide").tensor("self", {E::S64, {4}}).tensor("other", {E::S64, {4}}).fresh();
  Lowered l = lowered(graph);
  ASSERT_EQ(l.checks.size(), 2u);
  EXPECT_EQ(l.checks[1].message, "ZeroDivisionError");
  EXPECT_TRUE(contains(l, "dense<[1]> : tensor<1xi64>"));
  EXPECT_TRUE(contains(l, "dense<[2]> : tensor<1xi64>"));
}

TEST(Checks, NothingToCheckInNoElements) {
  Graph graph;
  CallBuilder(graph, "gather.out")
      .tensor("self", kMatrix)
      .param("dim", 1)
      .tensor("index", {E::S64, {2, 0}})
      .param("sparse_grad", Param(false))
      .replace({E::F32, {2, 0}});
  EXPECT_TRUE(lowered(graph).checks.empty());
}

// ---------------------------------------------------------------------------------------------------- errors, text

TEST(Errors, ANumberOfResultsThatTheSchemaDoesNotHave) {
  Graph graph;
  CallBuilder(graph, "relu").tensor("self", kMatrix).fresh().fresh();
  EXPECT_EQ(error_of(graph, ErrorCode::Internal), "aten::relu: the lowering gave 1 results, the schema has 2");
}

TEST(Errors, ShapesThatDoNotFit) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .tensor("self", kMatrix)
      .tensor("other", {E::F32, {2, 4}})
      .number("alpha", 1.0)
      .replace(kMatrix);
  EXPECT_EQ(error_of(graph, ErrorCode::InvalidArgument),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
}

// A max pool's gradient whose program may call the CPU's kernel, with images that lie channels last.
Graph with_host_kernel() {
  Graph graph;
  const Type big{E::F32, {2, 3, 4, 4}}, small{E::F32, {2, 3, 2, 2}};
  CallBuilder(graph, "max_pool2d_with_indices_backward.grad_input")
      .tensor("grad_output", small)
      .tensor("self", big)
      .param("kernel_size", Dims{2, 2})
      .param("stride", Dims{2, 2})
      .param("padding", Dims{0, 0})
      .param("dilation", Dims{1, 1})
      .param("ceil_mode", Param(false))
      .tensor("indices", {E::S64, {2, 3, 2, 2}})
      .replace(big, -1, false, {0, 2, 3, 1});
  graph.nodes[0].call.host_kernel = {
      .number = 7, .results = {big}, .operand_orders = {{}, {0, 2, 3, 1}, {}}, .result_orders = {{0, 2, 3, 1}}};
  return graph;
}

TEST(HostKernels, AreCalledWithWhatTheRowReads) {
  Lowered l = lowered(with_host_kernel());
  EXPECT_EQ(
      line_with(l.text, "custom_call"),
      "%3 = \"stablehlo.custom_call\"(%arg0, %arg1, %arg2) {api_version = 4 : i32, backend_config = {number = 7 : "
      "i64}, call_target_name = \"torch_tpu_host_call\", has_side_effect = false, operand_layouts = [dense<[3, 2, "
      "1, 0]> : tensor<4xindex>, dense<[1, 3, 2, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>], "
      "result_layouts = [dense<[1, 3, 2, 0]> : tensor<4xindex>]} : (tensor<2x3x2x2xf32>, tensor<2x3x4x4xf32>, "
      "tensor<2x3x2x2xi64>) -> (tensor<2x3x4x4xf32>)");
  EXPECT_FALSE(contains(l, "stablehlo.select"));
}

TEST(HostKernels, AreOfCpusOnly) {
  ops::Settings tpu;
  tpu.is_cpu = false;
  Lowered l = lower(with_host_kernel(), tpu);
  EXPECT_FALSE(contains(l, "custom_call"));
  EXPECT_TRUE(contains(l, "stablehlo.select"));
}

TEST(HostKernels, HaveTheResultsOfTheLowering) {
  Graph graph = with_host_kernel();
  std::vector<std::optional<Type>> types = ops::outcome_of(graph.nodes[0].call, ops::Settings()).types;
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0], (Type{E::F32, {2, 3, 4, 4}}));
}

TEST(Text, OfAGraph) {
  Graph graph;
  CallBuilder(graph, "add.out")
      .tensor("self", kMatrix)
      .view("other", {E::F32, {4, 3}}, {E::F32, {2, 3}, {3, 1}, 6})
      .number("alpha", 2.0)
      .replace(kMatrix, 0);
  CallBuilder(graph, "fill_.Scalar")
      .reread("self", 1, {E::F32, {3}, {4}, 0})
      .number("value", 1)
      .update(1, {E::F32, {3}, {4}, 0});
  EXPECT_EQ(to_string(graph),
            "in0: float32[2, 3]\n"
            "in1: float32[4, 3]\n"
            "aten::add.out(self: float32[2, 3], other: float32[2, 3], alpha: 2)\n"
            "  operand 0 = in0\n"
            "  operand 1 = in1 as float32[2, 3] strides [3, 1] from a run-time start\n"
            "  result 0 replaces float32[2, 3] in the memory of in0\n"
            "aten::fill_.Scalar(self: float32[3], value: 1)\n"
            "  operand 0 = in1 as float32[3] strides [4]\n"
            "  result 0 updates in1 as float32[3] strides [4] in the memory of in1\n");
}

}  // namespace
}  // namespace tpu::graph
