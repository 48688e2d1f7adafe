// ops: the table of rows, type promotion and broadcasting against literal expectations, and what a Context tells a
// lowering.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cpp/call.h"
#include "ops/context.h"
#include "ops/families.h"
#include "ops/promotion.h"

namespace tpu::ops {
namespace {

using E = ElementType;

std::string error_of(const std::function<void()>& action, ErrorCode code) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.message();
  }
  return "no error";
}

// ---------------------------------------------------------------------------------------------------- rows

TEST(Rows, EachOverloadHasOne) { EXPECT_EQ(duplicate_rows(), std::vector<std::string>{}); }

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return std::isalnum(c) || c == '_'; });
}

TEST(Rows, NamesAreOverloads) {
  std::set<std::string> names;
  std::set<uint64_t> hashes;
  for (const Row* row : all_rows()) {
    std::string_view name = row->name;
    if (size_t library = name.find("::"); library != name.npos) {  // another one than aten
      EXPECT_TRUE(is_identifier(name.substr(0, library))) << name;
      name.remove_prefix(library + 2);
    }
    EXPECT_TRUE(names.insert(row->name).second) << name;
    EXPECT_TRUE(hashes.insert(row->name_hash).second) << name;
    size_t dot = name.find('.');
    EXPECT_TRUE(is_identifier(name.substr(0, dot))) << name;
    if (dot != name.npos) { EXPECT_TRUE(is_identifier(name.substr(dot + 1))) << name; }
    EXPECT_NE(row->lower, nullptr) << name;
    EXPECT_STRNE(row->family, "") << name;
    EXPECT_EQ(find_row(row->name), row) << name;
    // No special value: an int argument that is a run-time number, not structure.
    for (const Special& special : row->specials) EXPECT_TRUE(is_identifier(special.argument)) << name;
  }
  EXPECT_GE(names.size(), 250u);
  EXPECT_EQ(find_row("no_such_op"), nullptr);
  EXPECT_EQ(find_row("add"), nullptr);  // PyTorch derives it from add.out
}

TEST(Rows, FamiliesAreNamedAfterTheirFiles) {
  std::map<std::string, int> counts;
  for (const Family& family : families()) counts[family.name] = 0;
  EXPECT_EQ(counts.size(), families().size());
  for (const Row* row : all_rows()) {
    ASSERT_TRUE(counts.count(row->family)) << row->family;
    ++counts[row->family];
  }
  for (const auto& [name, count] : counts) EXPECT_GT(count, 0) << name;
}

// ---------------------------------------------------------------------------------------------------- promotion

// torch.promote_types, printed by tests/ops/registry_test.py's neighbour torch itself: rows and columns in this order.
const E kTypes[] = {E::Pred, E::U8, E::S8, E::S16, E::S32, E::S64, E::F16, E::BF16, E::F32, E::F64, E::C64, E::C128};
const char* const kPromoted[] = {
    // b1    u8   i8   i16  i32  i64  f16  bf16 f32  f64  c64  c128
    "b1   u8   i8   i16  i32  i64  f16  bf   f32  f64  c64  c128",  // b1
    "u8   u8   i16  i16  i32  i64  f16  bf   f32  f64  c64  c128",  // u8
    "i8   i16  i8   i16  i32  i64  f16  bf   f32  f64  c64  c128",  // i8
    "i16  i16  i16  i16  i32  i64  f16  bf   f32  f64  c64  c128",  // i16
    "i32  i32  i32  i32  i32  i64  f16  bf   f32  f64  c64  c128",  // i32
    "i64  i64  i64  i64  i64  i64  f16  bf   f32  f64  c64  c128",  // i64
    "f16  f16  f16  f16  f16  f16  f16  f32  f32  f64  c64  c128",  // f16
    "bf   bf   bf   bf   bf   bf   f32  bf   f32  f64  c64  c128",  // bf16
    "f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c128",  // f32
    "f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128",  // f64
    "c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c128",  // c64
    "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",  // c128
};

E type_named(const std::string& name) {
  static const std::map<std::string, E> names = {{"b1", E::Pred}, {"u8", E::U8},   {"i8", E::S8},   {"i16", E::S16},
                                                 {"i32", E::S32}, {"i64", E::S64}, {"f16", E::F16}, {"bf", E::BF16},
                                                 {"f32", E::F32}, {"f64", E::F64}, {"c64", E::C64}, {"c128", E::C128}};
  return names.at(name);
}

TEST(Promotion, OfTwoTypes) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    std::istringstream row(kPromoted[i]);
    for (E other : kTypes) {
      std::string name;
      row >> name;
      EXPECT_EQ(torch_name(promote(kTypes[i], other)), torch_name(type_named(name)))
          << torch_name(kTypes[i]) << " " << torch_name(other);
    }
  }
}

TEST(Promotion, OfUnsignedTypes) {
  EXPECT_EQ(promote(E::U16, E::U32), E::U32);
  EXPECT_EQ(promote(E::U8, E::U64), E::U64);
  EXPECT_EQ(promote(E::Pred, E::U16), E::U16);
  EXPECT_EQ(promote(E::U32, E::F16), E::F16);
}

/// A call with arguments a, b, c.. that a Context can be asked about; nothing is lowered.
struct Asked {
  graph::Graph graph;
  hlo::Builder builder;
  Settings settings;
  std::unique_ptr<Context> context;

  template <class Fill>
  explicit Asked(Fill fill) {
    CallBuilder call(graph, "add.out");
    fill(call);
    Context::Sources sources;
    for (const Type& type : graph.inputs) sources.operands.push_back(builder.parameter(type));
    sources.take_scalar = [this](int, E type) { return builder.parameter({type, {}}); };
    sources.random_state = [this](int64_t) { return builder.parameter({E::U64, {3}}); };
    context = std::make_unique<Context>(builder, graph.nodes[0].call, settings, std::move(sources));
  }
  Context& operator*() { return *context; }
  Context* operator->() { return context.get(); }
};

/// A tensor of `rank` dimensions, or a number (-1) of the type's kind.
struct Given {
  int rank;
  E type;
};

E result_of(Given a, Given b) {
  Asked asked([&](CallBuilder& call) {
    for (auto [name, given] : {std::pair("a", a), std::pair("b", b)}) {
      if (given.rank >= 0)
        call.tensor(name, {given.type, Dims(static_cast<size_t>(given.rank), 2)});
      else if (given.type == E::Pred)
        call.number(name, Scalar::of(true));
      else if (given.type == E::S64)
        call.number(name, 3);
      else if (given.type == E::C64)
        call.number(name, Scalar::of(1.0, 2.0));
      else
        call.number(name, 0.5);
    }
  });
  return result_type(*asked, {"a", "b"});
}

TEST(Promotion, OfCategories) {
  constexpr int kNumber = -1;
  struct {
    Given a, b;
    E expected;
  } const rows[] = {
      // Tensors of the same category: the types alone.
      {{1, E::S32}, {2, E::S64}, E::S64},
      {{0, E::F32}, {0, E::F64}, E::F64},
      // A 0-d tensor decides only by its kind.
      {{1, E::F32}, {0, E::F64}, E::F32},
      {{1, E::S8}, {0, E::S64}, E::S8},
      {{1, E::S8}, {0, E::F64}, E::F64},
      {{1, E::S64}, {0, E::F16}, E::F16},
      {{1, E::Pred}, {0, E::S8}, E::S8},
      {{1, E::F16}, {0, E::F32}, E::F16},
      {{1, E::F32}, {0, E::C128}, E::C64},
      {{1, E::F64}, {0, E::C64}, E::C128},
      {{1, E::S32}, {0, E::C64}, E::C64},
      // And a number below it.
      {{1, E::F16}, {kNumber, E::F32}, E::F16},
      {{1, E::S32}, {kNumber, E::S64}, E::S32},
      {{1, E::S32}, {kNumber, E::F32}, E::F32},
      {{1, E::Pred}, {kNumber, E::S64}, E::S64},
      {{1, E::Pred}, {kNumber, E::Pred}, E::Pred},
      {{1, E::U8}, {kNumber, E::Pred}, E::U8},
      {{0, E::BF16}, {kNumber, E::F32}, E::BF16},
      {{0, E::S16}, {kNumber, E::F32}, E::F32},
      {{1, E::F32}, {kNumber, E::C64}, E::C64},
      {{1, E::F64}, {kNumber, E::C64}, E::C128},
      {{1, E::S64}, {kNumber, E::C64}, E::C64},
      {{kNumber, E::S64}, {kNumber, E::F32}, E::F32},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(torch_name(result_of(row.a, row.b)), torch_name(row.expected))
        << row.a.rank << torch_name(row.a.type) << " and " << row.b.rank << torch_name(row.b.type);
    EXPECT_EQ(result_of(row.b, row.a), row.expected);
  }
}

TEST(Promotion, OfTheDefaultType) {
  Asked asked([](CallBuilder& call) { call.tensor("a", {E::S32, {2}}).number("b", 0.5); });
  EXPECT_EQ(result_type(*asked, {"a", "b"}), E::F32);
  EXPECT_EQ(to_floating(*asked, E::S64), E::F32);
  asked.settings.default_float = E::F64;
  EXPECT_EQ(result_type(*asked, {"a", "b"}), E::F64);
  EXPECT_EQ(to_floating(*asked, E::Pred), E::F64);
  EXPECT_EQ(to_floating(*asked, E::BF16), E::BF16);
  EXPECT_EQ(to_floating(*asked, E::C64), E::C64);
  EXPECT_EQ(error_of([&] { result_type(*asked, {"c"}); }, ErrorCode::Internal), "aten::add.out: no operand to promote");
}

TEST(Promotion, ComputeTypes) {
  for (E half : {E::F16, E::BF16, E::F8E5M2}) EXPECT_EQ(compute_type(half), E::F32);
  for (E type : {E::F32, E::F64, E::S8, E::Pred, E::C64}) EXPECT_EQ(compute_type(type), type);
}

// ---------------------------------------------------------------------------------------------------- shapes

TEST(Shapes, Broadcast) {
  EXPECT_EQ(broadcast_dims({2, 3}, {3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast_dims({3}, {2, 1}), (Dims{2, 3}));
  EXPECT_EQ(broadcast_dims({}, {4}), (Dims{4}));
  EXPECT_EQ(broadcast_dims({1}, {0}), (Dims{0}));
  EXPECT_EQ(broadcast_dims({5, 1, 7}, {6, 1}), (Dims{5, 6, 7}));
  EXPECT_EQ(error_of([] { broadcast_dims({2, 3}, {2, 4}); }, ErrorCode::InvalidArgument),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
  EXPECT_EQ(error_of([] { broadcast_dims({4}, {5, 3}); }, ErrorCode::InvalidArgument),
            "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1");
  EXPECT_EQ(error_of([] { broadcast_dims({0}, {2}); }, ErrorCode::InvalidArgument),
            "The size of tensor a (0) must match the size of tensor b (2) at non-singleton dimension 0");
}

TEST(Shapes, Dimensions) {
  EXPECT_EQ(wrap_dim(-1, 3), 2);
  EXPECT_EQ(wrap_dim(0, 0), 0);
  EXPECT_EQ(wrap_dim(-1, 0), 0);
  EXPECT_EQ(error_of([] { wrap_dim(3, 3); }, ErrorCode::Index),
            "Dimension out of range (expected to be in range of [-3, 2], but got 3)");
  EXPECT_EQ(error_of([] { wrap_dim(1, 0); }, ErrorCode::Index),
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  EXPECT_EQ(wrap_dims({}, 3), (Dims{0, 1, 2}));
  EXPECT_EQ(wrap_dims({-1, 0}, 3), (Dims{0, 2}));
  EXPECT_EQ(wrap_dims({0}, 0), Dims{});
  EXPECT_EQ(error_of([] { wrap_dims({1, -2}, 3); }, ErrorCode::InvalidArgument),
            "dim 1 appears multiple times in the list of dims");
}

// ---------------------------------------------------------------------------------------------------- context

TEST(Contexts, Arguments) {
  Asked asked([](CallBuilder& call) {
    call.tensor("x", {E::S32, {2}})
        .number("n", 2.5)
        .none("nothing")
        .param("i", 3)
        .param("flag", Param(true))
        .param("mode", "floor");
    call.param("dims", Dims{1, 2})
        .param("type", Param(E::F16))
        .tensors("list", {{E::F32, {1}}, {E::F32, {2}}})
        .replace({E::F32, {2}});
  });
  Context& c = *asked;
  EXPECT_TRUE(c.has("x"));
  EXPECT_FALSE(c.has("nothing"));
  EXPECT_FALSE(c.has("absent"));
  EXPECT_TRUE(c.is_scalar("n"));
  EXPECT_FALSE(c.is_scalar("x"));
  EXPECT_EQ(c.tensor("x").type, (Type{E::S32, {2}}));
  EXPECT_EQ(c.tensor("x", E::F32).type, (Type{E::F32, {2}}));
  EXPECT_EQ(c.tensor("n").type, (Type{E::F32, {}}));
  EXPECT_EQ(c.tensor("n", E::F16).type, (Type{E::F16, {}}));
  EXPECT_FALSE(c.optional_tensor("nothing"));
  EXPECT_FALSE(c.optional_tensor("absent"));
  EXPECT_EQ(c.tensors("list").size(), 2u);
  EXPECT_EQ(c.integer("i"), 3);
  EXPECT_EQ(c.optional_integer("nothing"), std::nullopt);
  EXPECT_TRUE(c.flag("flag"));
  EXPECT_FALSE(c.flag("nothing"));
  EXPECT_EQ(c.text("mode"), "floor");
  EXPECT_EQ(c.ints("dims"), (Dims{1, 2}));
  EXPECT_EQ(c.ints("nothing"), Dims{});
  EXPECT_EQ(c.element("type"), E::F16);
  EXPECT_EQ(c.element("nothing"), std::nullopt);
  EXPECT_EQ(c.known("n"), std::nullopt);
  EXPECT_EQ(c.scalar_kind("n"), Scalar::Kind::Double);
  EXPECT_EQ(c.target(0), (Type{E::F32, {2}}));
  EXPECT_EQ(c.target(1), std::nullopt);
  EXPECT_EQ(c.target_element(0, E::S8), E::F32);
  EXPECT_EQ(c.target_element(1, E::S8), E::S8);
}

TEST(Contexts, WrongQuestionsNameOpAndArgument) {
  Asked asked(
      [](CallBuilder& call) { call.tensor("x", {E::S32, {2}}).number("n", 2.5).none("nothing").param("i", 3); });
  Context& c = *asked;
  auto bug = [](const std::function<void()>& action) { return error_of(action, ErrorCode::Internal); };
  EXPECT_EQ(bug([&] { c.tensor("absent"); }), "aten::add.out has no argument 'absent'");
  EXPECT_EQ(bug([&] { c.tensor("nothing"); }), "aten::add.out: argument 'nothing' is no tensor");
  EXPECT_EQ(bug([&] { c.tensor("i"); }), "aten::add.out: argument 'i' is no tensor");
  EXPECT_EQ(bug([&] { c.type("i"); }), "aten::add.out: argument 'i' is no tensor");
  EXPECT_EQ(bug([&] { c.scalar("x", E::F32); }), "aten::add.out: argument 'x' is no number");
  EXPECT_EQ(bug([&] { c.integer("n"); }), "aten::add.out: argument 'n' is not structural");
  EXPECT_EQ(bug([&] { c.text("i"); }), "aten::add.out: argument 'i' is 3, not of the kind the lowering reads");
  EXPECT_EQ(bug([&] { c.integer("nothing"); }),
            "aten::add.out: argument 'nothing' is None, not of the kind the lowering reads");
  EXPECT_EQ(bug([&] { c.number("n"); }), "aten::add.out: the row must declare 'n' constant");
  // Asked wrongly for what is no tensor, these must not read another argument's entry.
  EXPECT_NE(bug([&] { c.category("i"); }), "no error");
  EXPECT_NE(bug([&] { c.scalar_kind("x"); }), "no error");
}

TEST(Contexts, StructuralScalarsAreConstants) {
  Asked asked([](CallBuilder& call) { call.number("alpha", 1.0).number("other", 1.0); });
  EXPECT_EQ(asked->known("alpha"), 1.0);
  EXPECT_EQ(asked->known("other"), std::nullopt);
  EXPECT_EQ(asked->number("alpha"), 1.0);
  for (E type : {E::F32, E::BF16, E::S32, E::Pred, E::C64})
    EXPECT_EQ(asked->scalar("alpha", type).type, (Type{type, {}}));
  EXPECT_EQ(asked.builder.parameter_count(), 0);
}

TEST(Contexts, RandomBits) {
  Asked asked([](CallBuilder& call) { call.tensor("x", {E::F32, {2}}); });
  EXPECT_EQ(asked->random_bits({3, 5}).type, (Type{E::U32, {3, 5}}));
  EXPECT_EQ(asked->random_bits64({3}).type, (Type{E::U64, {3}}));
  EXPECT_EQ(asked->random_bits({0, 5}).type, (Type{E::U32, {0, 5}}));
}

TEST(Calls, Text) {
  Asked asked([](CallBuilder& call) {
    call.tensor("self", {E::F32, {2}})
        .number("n", 3)
        .number("z", Scalar::of(1.0, 2.0))
        .number("b", Scalar::of(true))
        .none("gone");
    call.param("dims", Dims{1}).tensors("list", {{E::S64, {1}}, {E::Pred, {}}});
  });
  EXPECT_EQ(to_string(asked.graph.nodes[0].call),
            "aten::add.out(self: float32[2], n: 3, z: (1+2j), b: True, dims: [1], list: [int64[1], bool[]])");
}

}  // namespace
}  // namespace tpu::ops
