// The StableHLO text of one representative call per family, kept in tests/golden/<family>.mlir, so that a change of a
// lowering is seen in review. `UPDATE_GOLDEN=1 ctest --preset dev -R golden_test` rewrites the files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "cpp/call.h"
#include "ops/families.h"
#include "pjrt/client.h"

namespace tpu {
namespace {

using E = ElementType;
using graph::Graph;

const Type kMatrix{E::F32, {2, 3}};
const Type kImages{E::F32, {2, 3, 8, 8}};

struct Golden {
  const char* family;
  void (*fill)(Graph&);
};

// In the order of ops/families.h.
const Golden kGoldens[] = {
    {"copy",
     [](Graph& g) {
       // Into a slice: the cast, then the update of the base.
       CallBuilder(g, "copy_")
           .view("self", {E::F32, {4, 3}}, {E::F32, {2, 3}, {3, 1}, 3})
           .tensor("src", {E::S32, {3}})
           .update(0, {E::F32, {2, 3}, {3, 1}, 3});
     }},
    {"activation",
     [](Graph& g) {
       CallBuilder(g, "gelu.out")
           .tensor("self", {E::BF16, {2, 3}})
           .param("approximate", "tanh")
           .replace({E::BF16, {2, 3}});
     }},
    {"binary",
     [](Graph& g) {
       CallBuilder(g, "add.out")
           .tensor("self", kMatrix)
           .tensor("other", {E::S32, {3}})
           .number("alpha", 0.5)
           .replace(kMatrix, 0);
     }},
    {"special", [](Graph& g) { CallBuilder(g, "i0.out").tensor("self", kMatrix).replace(kMatrix); }},
    {"unary", [](Graph& g) { CallBuilder(g, "exp.out").tensor("self", {E::S64, {2, 3}}).replace(kMatrix); }},
    {"attention",
     [](Graph& g) {
       const Type heads{E::F32, {2, 4, 5, 8}};
       CallBuilder(g, "_scaled_dot_product_fused_attention_overrideable")
           .tensor("query", heads)
           .tensor("key", heads)
           .tensor("value", heads)
           .none("attn_bias")
           .number("dropout_p", 0.0)
           .param("is_causal", Param(true))
           .param("return_debug_mask", Param(false))
           .none("scale")
           .fresh()
           .fresh()
           .drop()
           .drop()
           .drop()
           .drop()
           .drop()
           .drop()
           .drop();
     }},
    {"convolution",
     [](Graph& g) {
       CallBuilder(g, "convolution_overrideable")
           .tensor("input", kImages)
           .tensor("weight", {E::F32, {4, 3, 3, 3}})
           .tensor("bias", {E::F32, {4}})
           .param("stride", Dims{2, 2})
           .param("padding", Dims{1, 1})
           .param("dilation", Dims{1, 1})
           .param("transposed", Param(false))
           .param("output_padding", Dims{0, 0})
           .param("groups", 1)
           .fresh();
     }},
    {"fft",
     [](Graph& g) {
       // A real signal: half of the spectrum is computed, the other half is its mirror image.
       CallBuilder(g, "_fft_r2c")
           .tensor("self", {E::F32, {4, 2, 6}})
           .param("dim", Dims{0, 2})
           .param("normalization", 1)
           .param("onesided", Param(false))
           .fresh({1, 0, 2});
     }},
    {"matmul",
     [](Graph& g) {
       CallBuilder(g, "addmm.out")
           .tensor("self", {E::F32, {4}})
           .tensor("mat1", kMatrix)
           .view("mat2", {E::F32, {4, 3}}, {E::F32, {3, 4}, {1, 3}, 0})
           .number("beta", 1)
           .number("alpha", 1)
           .replace({E::F32, {2, 4}});
     }},
    {"linalg",
     [](Graph& g) {
       CallBuilder(g, "linalg_cholesky_ex.L")
           .tensor("self", {E::F32, {2, 3, 3}})
           .param("upper", Param(false))
           .param("check_errors", Param(false))
           .replace({E::F32, {2, 3, 3}})
           .replace({E::S32, {2}});
     }},
    {"linalg_lu",
     [](Graph& g) {
       CallBuilder(g, "linalg_lu_factor_ex.out")
           .tensor("A", {E::F32, {2, 4, 3}})
           .param("pivot", Param(true))
           .param("check_errors", Param(false))
           .replace({E::F32, {2, 4, 3}})
           .replace({E::S32, {2, 3}})
           .replace({E::S32, {2}});
     }},
    {"linalg_qr",
     [](Graph& g) {
       CallBuilder(g, "linalg_qr.out")
           .tensor("A", {E::F32, {2, 4, 3}})
           .param("mode", "reduced")
           .replace({E::F32, {2, 4, 3}})
           .replace({E::F32, {2, 3, 3}});
     }},
    {"linalg_eigh",
     [](Graph& g) {
       CallBuilder(g, "_linalg_eigh.eigenvalues")
           .tensor("A", {E::F32, {2, 4, 4}})
           .param("UPLO", "L")
           .param("compute_v", Param(true))
           .replace({E::F32, {2, 4}})
           .replace({E::F32, {2, 4, 4}});
     }},
    {"norm",
     [](Graph& g) {
       CallBuilder(g, "native_layer_norm")
           .tensor("input", kMatrix)
           .param("normalized_shape", Dims{3})
           .tensor("weight", {E::F32, {3}})
           .tensor("bias", {E::F32, {3}})
           .number("eps", 1e-5)
           .fresh()
           .fresh()
           .fresh();
     }},
    {"pool",
     [](Graph& g) {
       CallBuilder(g, "max_pool2d_with_indices.out")
           .tensor("self", kImages)
           .param("kernel_size", Dims{2, 2})
           .param("stride", Dims{2, 2})
           .param("padding", Dims{0, 0})
           .param("dilation", Dims{1, 1})
           .param("ceil_mode", Param(false))
           .replace({E::F32, {2, 3, 4, 4}})
           .replace({E::S64, {2, 3, 4, 4}});
     }},
    {"fractional_pool",
     [](Graph& g) {
       CallBuilder(g, "fractional_max_pool2d.output")
           .tensor("self", kImages)
           .param("kernel_size", Dims{2, 3})
           .param("output_size", Dims{4, 5})
           .tensor("random_samples", {E::F32, {2, 3, 2}})
           .replace({E::F32, {2, 3, 4, 5}})
           .replace({E::S64, {2, 3, 4, 5}});
     }},
    {"rnn",
     [](Graph& g) {
       CallBuilder(g, "torch_tpu::rnn_layer")
           .param("mode", "gru")
           .tensor("input", {E::F32, {5, 2, 4}})
           .tensor("hx", kMatrix)
           .none("cx")
           .tensor("weight_ih", {E::F32, {9, 4}})
           .tensor("weight_hh", {E::F32, {9, 3}})
           .tensor("bias_ih", {E::F32, {9}})
           .tensor("bias_hh", {E::F32, {9}})
           .none("weight_hr")
           .param("reverse", Param(true))
           .param("train", Param(true))
           .fresh()
           .fresh()
           .fresh()
           .fresh()
           .fresh();
     }},
    {"nonzero",
     [](Graph& g) {
       CallBuilder(g, "nonzero_static").tensor("self", kMatrix).param("size", 4).param("fill_value", -1).fresh();
     }},
    {"indexing",
     [](Graph& g) {
       CallBuilder(g, "gather.out")
           .tensor("self", kMatrix)
           .param("dim", 1)
           .tensor("index", {E::S64, {2, 2}})
           .param("sparse_grad", Param(false))
           .replace({E::F32, {2, 2}});
     }},
    {"embedding",
     [](Graph& g) {
       CallBuilder(g, "_embedding_bag")
           .tensor("weight", kMatrix)
           .tensor("indices", {E::S64, {4}})
           .tensor("offsets", {E::S64, {2}})
           .param("scale_grad_by_freq", Param(false))
           .param("mode", 1)
           .param("sparse", Param(false))
           .none("per_sample_weights")
           .param("include_last_offset", Param(false))
           .param("padding_idx", -1)
           .fresh()
           .fresh()
           .fresh()
           .drop();
     }},
    {"shape",
     [](Graph& g) {
       CallBuilder(g, "cat.out")
           .tensors("tensors", {kMatrix, {E::F32, {1, 3}}})
           .param("dim", -2)
           .replace({E::F32, {3, 3}});
     }},
    {"factory",
     [](Graph& g) {
       CallBuilder(g, "arange.start_out").number("start", 0).number("end", 10).number("step", 2).replace({E::S64, {5}});
     }},
    {"random",
     [](Graph& g) {
       CallBuilder(g, "uniform_")
           .reread("self", -1, graph::whole(kMatrix), {}, {E::F32, {6}})
           .number("from", 0.0)
           .number("to", 1.0)
           .none("generator")
           .replace(kMatrix);
     }},
    {"distribution", [](Graph& g) { CallBuilder(g, "poisson").tensor("self", kMatrix).none("generator").fresh(); }},
    {"upsample",
     [](Graph& g) {
       CallBuilder(g, "upsample_bilinear2d.out")
           .tensor("self", {E::F32, {1, 2, 4, 4}})
           .param("output_size", Dims{8, 6})
           .param("align_corners", Param(false))
           .none("scales_h")
           .none("scales_w")
           .replace({E::F32, {1, 2, 8, 6}});
     }},
    {"reduction",
     [](Graph& g) {
       CallBuilder(g, "sum.IntList_out")
           .tensor("self", {E::BF16, {2, 3}})
           .param("dim", Dims{1})
           .param("keepdim", Param(true))
           .none("dtype")
           .replace({E::BF16, {2, 1}});
     }},
    {"scan",
     [](Graph& g) {
       CallBuilder(g, "cumsum.out").tensor("self", kMatrix).param("dim", 1).none("dtype").replace(kMatrix);
     }},
    {"sort",
     [](Graph& g) {
       CallBuilder(g, "sort.values_stable")
           .tensor("self", kMatrix)
           .none("stable")
           .param("dim", -1)
           .param("descending", Param(true))
           .replace(kMatrix)
           .replace({E::S64, {2, 3}});
     }},
    {"softmax",
     [](Graph& g) {
       CallBuilder(g, "_softmax.out")
           .tensor("self", kMatrix)
           .param("dim", 1)
           .param("half_to_float", Param(false))
           .replace(kMatrix);
     }},
    {"loss",
     [](Graph& g) {
       CallBuilder(g, "nll_loss_forward.output")
           .tensor("self", kMatrix)
           .tensor("target", {E::S64, {2}})
           .none("weight")
           .param("reduction", 1)
           .param("ignore_index", -100)
           .replace({E::F32, {}})
           .replace({E::F32, {}});
     }},
    {"ctc",
     [](Graph& g) {
       CallBuilder(g, "_ctc_loss.Tensor")
           .tensor("log_probs", {E::F32, {5, 2, 4}})
           .tensor("targets", {E::S64, {2, 3}})
           .tensor("input_lengths", {E::S64, {2}})
           .tensor("target_lengths", {E::S64, {2}})
           .param("blank", 0)
           .param("zero_infinity", Param(false))
           .fresh()
           .fresh();
     }},
    {"optimizer",
     [](Graph& g) {
       CallBuilder(g, "_fused_sgd_")
           .tensors("self", {kMatrix})
           .tensors("grads", {kMatrix})
           .tensors("momentum_buffer_list", {kMatrix})
           .number("weight_decay", 0.0)
           .number("momentum", 0.9)
           .number("lr", 0.1)
           .number("dampening", 0.0)
           .param("nesterov", Param(true))
           .param("maximize", Param(false))
           .param("is_first_step", Param(false))
           .none("grad_scale")
           .none("found_inf")
           .replace(kMatrix, 0)
           .replace(kMatrix, 1)
           .replace(kMatrix, 2);
     }},
};

Graph graph_of(const Golden& golden) {
  Graph graph;
  golden.fill(graph);
  return graph;
}

/// The call as comments, then the module.
std::string text_of(const Golden& golden) {
  Graph graph = graph_of(golden);
  std::istringstream lines(graph::to_string(graph));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "// " + line + "\n";
  return text + graph::lower(graph, ops::Settings()).text;
}

std::filesystem::path file_of(const char* family) {
  return std::filesystem::path(TESTS_DIR) / "golden" / (std::string(family) + ".mlir");
}

class GoldenText : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenText, IsAsKept) {
  std::string text = text_of(GetParam());
  std::filesystem::path file = file_of(GetParam().family);
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream stream(file);
    stream << text;
    ASSERT_TRUE(stream.flush()) << file;
    return;
  }
  std::ifstream stream(file);
  ASSERT_TRUE(stream) << file << " is missing; UPDATE_GOLDEN=1 writes it";
  std::stringstream kept;
  kept << stream.rdbuf();
  EXPECT_EQ(text, kept.str()) << "If the change is meant: UPDATE_GOLDEN=1 ctest --preset dev -R golden_test";
}

TEST_P(GoldenText, BelongsToItsFamily) {
  for (const graph::Node& node : graph_of(GetParam()).nodes) EXPECT_STREQ(node.call.row->family, GetParam().family);
}

#ifdef XLA_CPU_PJRT_PATH
TEST_P(GoldenText, Compiles) {
  static auto* client = pjrt::Client::create(pjrt::Plugin::load(XLA_CPU_PJRT_PATH)).release();
  EXPECT_NO_THROW(client->compile(text_of(GetParam())));
}
#endif

INSTANTIATE_TEST_SUITE_P(Families, GoldenText, ::testing::ValuesIn(kGoldens),
                         [](const auto& info) { return std::string(info.param.family); });

TEST(GoldenFiles, OnePerFamilyAndNoMore) {
  std::set<std::string> expected, covered, files;
  for (const ops::Family& family : ops::families()) expected.insert(family.name);
  for (const Golden& golden : kGoldens) covered.insert(golden.family);
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TESTS_DIR) / "golden"))
    files.insert(entry.path().stem());
  EXPECT_EQ(covered, expected);
  EXPECT_EQ(files, expected);
}

}  // namespace
}  // namespace tpu
