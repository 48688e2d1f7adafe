// base: element types and their facts, Dims and Type, InlineVector, hashes, errors, parameters, the environment table,
// warnings, structs as bytes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <set>
#include <vector>

#include "base/archive.h"
#include "base/build_id.h"
#include "base/env.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/inline_vector.h"
#include "base/log.h"
#include "base/param.h"
#include "base/type.h"

namespace tpu {
namespace {

using E = ElementType;

// ------------------------------------------------------------------------------------------------ element types

struct Facts {
  E type;
  size_t size;
  const char* mlir;
  const char* torch;
  char kind;  // b, i, u, f, c
  E real;
};

const Facts kFacts[] = {
    {E::Pred, 1, "i1", "bool", 'b', E::Pred},
    {E::S8, 1, "i8", "int8", 'i', E::S8},
    {E::S16, 2, "i16", "int16", 'i', E::S16},
    {E::S32, 4, "i32", "int32", 'i', E::S32},
    {E::S64, 8, "i64", "int64", 'i', E::S64},
    {E::U8, 1, "ui8", "uint8", 'u', E::U8},
    {E::U16, 2, "ui16", "uint16", 'u', E::U16},
    {E::U32, 4, "ui32", "uint32", 'u', E::U32},
    {E::U64, 8, "ui64", "uint64", 'u', E::U64},
    {E::F16, 2, "f16", "float16", 'f', E::F16},
    {E::BF16, 2, "bf16", "bfloat16", 'f', E::BF16},
    {E::F32, 4, "f32", "float32", 'f', E::F32},
    {E::F64, 8, "f64", "float64", 'f', E::F64},
    {E::C64, 8, "complex<f32>", "complex64", 'c', E::F32},
    {E::C128, 16, "complex<f64>", "complex128", 'c', E::F64},
    {E::F8E4M3FN, 1, "f8E4M3FN", "float8_e4m3fn", 'f', E::F8E4M3FN},
    {E::F8E5M2, 1, "f8E5M2", "float8_e5m2", 'f', E::F8E5M2},
    {E::F8E4M3FNUZ, 1, "f8E4M3FNUZ", "float8_e4m3fnuz", 'f', E::F8E4M3FNUZ},
    {E::F8E5M2FNUZ, 1, "f8E5M2FNUZ", "float8_e5m2fnuz", 'f', E::F8E5M2FNUZ},
};

TEST(ElementTypes, Facts) {
  ASSERT_EQ(std::size(kFacts), static_cast<size_t>(kElementTypeCount));
  for (const Facts& facts : kFacts) {
    SCOPED_TRACE(facts.torch);
    EXPECT_EQ(size_of(facts.type), facts.size);
    EXPECT_STREQ(mlir_name(facts.type), facts.mlir);
    EXPECT_STREQ(torch_name(facts.type), facts.torch);
    EXPECT_EQ(is_floating(facts.type), facts.kind == 'f');
    EXPECT_EQ(is_complex(facts.type), facts.kind == 'c');
    EXPECT_EQ(is_integral(facts.type), facts.kind == 'i' || facts.kind == 'u');
    EXPECT_EQ(is_signed(facts.type), facts.kind == 'i' || facts.kind == 'f' || facts.kind == 'c');
    EXPECT_EQ(real_of(facts.type), facts.real);
  }
  EXPECT_EQ(complex_of(E::F16), E::C64);
  EXPECT_EQ(complex_of(E::BF16), E::C64);
  EXPECT_EQ(complex_of(E::F32), E::C64);
  EXPECT_EQ(complex_of(E::F64), E::C128);
  EXPECT_EQ(complex_of(E::C64), E::C64);
  EXPECT_EQ(complex_of(E::C128), E::C128);
}

// ------------------------------------------------------------------------------------------------ dims and types

TEST(Types, CountsBytesAndText) {
  Type type{E::BF16, {2, 3, 4}};
  EXPECT_EQ(type.rank(), 3);
  EXPECT_EQ(type.count(), 24);
  EXPECT_EQ(type.bytes(), 48);
  EXPECT_EQ(to_string(type), "tensor<2x3x4xbf16>");
  EXPECT_EQ(to_string(Type{E::C64, {}}), "tensor<complex<f32>>");
  EXPECT_EQ((Type{E::F32, {}}).count(), 1);
  EXPECT_EQ((Type{E::F32, {3, 0}}).bytes(), 0);
  EXPECT_EQ(to_string(Dims{2, 3}), "[2, 3]");
  EXPECT_EQ(to_string(Dims{}), "[]");
  EXPECT_EQ(type, (Type{E::BF16, {2, 3, 4}}));
  EXPECT_NE(type, (Type{E::F16, {2, 3, 4}}));
  EXPECT_NE(type, (Type{E::BF16, {2, 12}}));
}

TEST(Types, RowMajorStrides) {
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(row_major_strides({}), Dims{});
  EXPECT_EQ(row_major_strides({2, 0, 3}), (Dims{3, 3, 1}));  // as torch.empty(2, 0, 3).stride()
}

// ------------------------------------------------------------------------------------------------ InlineVector

using Small = InlineVector<int64_t, 3>;

TEST(InlineVectors, GrowOutOfTheObjectAndKeepTheirElements) {
  Small v;
  for (int64_t i = 0; i < 100; ++i) {
    v.push_back(i);
    ASSERT_EQ(v.size(), static_cast<size_t>(i) + 1);
    ASSERT_EQ(v.front(), 0);
    ASSERT_EQ(v.back(), i);
  }
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(v[static_cast<size_t>(i)], i);
  v.pop_back();
  EXPECT_EQ(v.back(), 98);
  v.clear();
  EXPECT_TRUE(v.empty());
}

TEST(InlineVectors, CopyMoveAssign) {
  for (size_t size : {0u, 2u, 3u, 4u, 9u}) {
    Small original(size, 7);
    Small copy = original;
    EXPECT_EQ(copy, original);
    if (size > 0) {
      copy[0] = 8;
      EXPECT_NE(copy, original);
      EXPECT_EQ(original[0], 7);
    }
    Small moved = std::move(copy);
    EXPECT_EQ(moved.size(), size);
    EXPECT_TRUE(copy.empty());  // NOLINT: a moved-from vector is empty and usable
    copy.push_back(5);
    EXPECT_EQ(copy, (Small{5}));
    copy = original;
    EXPECT_EQ(copy, original);
    copy = *&copy;
    EXPECT_EQ(copy, original);
    for (size_t other : {1u, 8u}) {
      Small target(other, 1);
      target = Small(size, 7);
      EXPECT_EQ(target, original);
    }
  }
}

TEST(InlineVectors, InsertEraseResize) {
  Small v{1, 2, 4};
  v.insert(2, 3);
  EXPECT_EQ(v, (Small{1, 2, 3, 4}));
  v.insert(0, 0);
  v.insert(5, 5);
  EXPECT_EQ(v, (Small{0, 1, 2, 3, 4, 5}));
  v.erase(0);
  v.erase(4);
  v.erase(1);
  EXPECT_EQ(v, (Small{1, 3, 4}));
  v.resize(5, 9);
  EXPECT_EQ(v, (Small{1, 3, 4, 9, 9}));
  v.resize(1);
  EXPECT_EQ(v, (Small{1}));
  std::vector<int64_t> source{4, 5, 6, 7, 8};
  EXPECT_EQ(Small(source.begin(), source.end()), (Small{4, 5, 6, 7, 8}));
}

TEST(InlineVectors, TakeTheirOwnElements) {
  Small v{1, 2, 3};
  v.push_back(v[0]);  // grows while the argument lies inside
  EXPECT_EQ(v, (Small{1, 2, 3, 1}));
  v.insert(0, v[3]);
  EXPECT_EQ(v, (Small{1, 1, 2, 3, 1}));
}

// ------------------------------------------------------------------------------------------------ hashes

template <class... Words>
Hash128 hash_of(const Words&... words) {
  Hasher hasher;
  (hasher.add(words), ...);
  return hasher.finish();
}

TEST(Hashes, TellOrderKindAndLengthApart) {
  EXPECT_EQ(hash_of(1, 2), hash_of(1, 2));
  EXPECT_NE(hash_of(1, 2), hash_of(2, 1));
  EXPECT_NE(hash_of(0), hash_of());
  EXPECT_NE(hash_of(0), hash_of(0, 0));
  EXPECT_NE(hash_of("ab", "c"), hash_of("a", "bc"));
  EXPECT_NE(hash_of("ab"), hash_of(std::string_view("ab\0", 3)));
  EXPECT_NE(hash_of(""), hash_of());
  EXPECT_NE(hash_of(0.0), hash_of(-0.0));
  EXPECT_EQ(hash_of("12345678abc"), hash_of(std::string_view("12345678abc")));
}

TEST(Hashes, DoNotCollideOnSmallKeys) {
  std::set<std::string> seen;
  std::set<uint64_t> lows;
  int made = 0;
  for (int a = 0; a < 60; ++a)
    for (int b = 0; b < 60; ++b)
      for (int c = 0; c < 8; ++c, ++made) {
        Hash128 hash = hash_of(a, b, c);
        seen.insert(to_string(hash));
        lows.insert(hash.low);
      }
  EXPECT_EQ(seen.size(), static_cast<size_t>(made));
  EXPECT_EQ(lows.size(), static_cast<size_t>(made));  // the half that tables use
  EXPECT_EQ(to_string(Hash128{0x1, 0x2}).size(), 32u);
}

// ------------------------------------------------------------------------------------------------ errors

TEST(Errors, CarryCodeMessageAndTrail) {
  try {
    fail(ErrorCode::Index, "index ", 5, " of ", 3);
  } catch (Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Index);
    EXPECT_STREQ(error.what(), "index 5 of 3");
    error.add_trail("in aten::gather").add_trail("while tracing");
    EXPECT_EQ(error.message(), "index 5 of 3\n  in aten::gather\n  while tracing");
    EXPECT_STREQ(error.what(), error.message().c_str());
  }
  EXPECT_NO_THROW(check(true, ErrorCode::Internal, "no"));
  EXPECT_THROW(check(false, ErrorCode::Internal, "yes"), Error);
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(ErrorCode::Internal); ++i) names.insert(to_string(static_cast<ErrorCode>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(ErrorCode::Internal) + 1);
}

// ------------------------------------------------------------------------------------------------ parameters

Hash128 hash_of_param(const Param& param) {
  Hasher hasher;
  add_to(hasher, param);
  return hasher.finish();
}

TEST(Params, TextAndHash) {
  const std::pair<Param, const char*> rows[] = {
      {Param(), "None"},      {true, "True"}, {false, "False"},
      {int64_t{-3}, "-3"},    {0.5, "0.5"},   {std::string("floor"), "'floor'"},
      {Dims{1, 2}, "[1, 2]"}, {Dims{}, "[]"}, {std::vector<double>{0.5, 2}, "[0.5, 2]"},
      {E::BF16, "bfloat16"},
  };
  std::set<std::string> hashes;
  for (const auto& [param, text] : rows) {
    EXPECT_EQ(to_string(param), text);
    hashes.insert(to_string(hash_of_param(param)));
  }
  EXPECT_EQ(hashes.size(), std::size(rows));
  EXPECT_NE(hash_of_param(int64_t{1}), hash_of_param(true));
  EXPECT_NE(hash_of_param(int64_t{1}), hash_of_param(1.0));
  EXPECT_NE(hash_of_param(Dims{0}), hash_of_param(Dims{}));
}

// ------------------------------------------------------------------------------------------------ environment

class Environment : public ::testing::Test {
 protected:
  void set(const char* name, const char* value) {
    names_.push_back(name);
    setenv(name, value, 1);
  }
  ~Environment() override {
    for (const char* name : names_) unsetenv(name);
  }

 private:
  std::vector<const char*> names_;
};

TEST_F(Environment, TableIsDocumented) {
  std::set<std::string> names;
  for (const env::Variable& row : env::table()) {
    EXPECT_NE(std::string(row.name).find("TPU_"), std::string::npos) << row.name;
    EXPECT_GT(std::string(row.meaning).size(), 10u) << row.name;
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), env::table().size());
}

TEST_F(Environment, ReadsTextAndIntegers) {
  unsetenv("TORCH_TPU_CACHE_PROGRAMS");
  EXPECT_EQ(env::integer("TORCH_TPU_CACHE_PROGRAMS"), 8192);
  set("TORCH_TPU_CACHE_PROGRAMS", "17");
  EXPECT_EQ(env::integer("TORCH_TPU_CACHE_PROGRAMS"), 17);
  EXPECT_EQ(env::text("TORCH_TPU_CACHE_PROGRAMS"), "17");
  for (const char* wrong : {"many", "", "17x", "1.5"}) {
    set("TORCH_TPU_CACHE_PROGRAMS", wrong);
    try {
      env::integer("TORCH_TPU_CACHE_PROGRAMS");
      ADD_FAILURE() << "accepted '" << wrong << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Value);
      EXPECT_EQ(error.message(), concat("TORCH_TPU_CACHE_PROGRAMS: expected an integer, got '", wrong, "'"));
    }
  }
  EXPECT_THROW(env::text("TORCH_TPU_NO_SUCH"), Error);
}

TEST_F(Environment, IntegersThatDoNotFitAreRefused) {
  set("TORCH_TPU_CACHE_PROGRAMS", "99999999999999999999999");
  EXPECT_THROW(env::integer("TORCH_TPU_CACHE_PROGRAMS"), Error);
}

TEST_F(Environment, NamesUnknownVariablesAndTheClosest) {
  set("TORCH_TPU_DEBUGG", "1");
  set("TORCH_TPU_XYZZY_PLUGH", "1");
  set("TORCH_TPU_PLUGIN", "");
  set("OTHER_TPU_DEBUG", "1");
  auto found = env::unknown();
  std::sort(found.begin(), found.end());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (std::pair<std::string, std::string>("TORCH_TPU_DEBUGG", "TORCH_TPU_DEBUG")));
  EXPECT_EQ(found[1].first, "TORCH_TPU_XYZZY_PLUGH");
  EXPECT_EQ(found[1].second, "");
}

// ------------------------------------------------------------------------------------------------ warnings

std::vector<std::string>* warnings = nullptr;

TEST(Log, WarnsOncePerText) {
  std::vector<std::string> seen;
  warnings = &seen;
  log::set_warning_sink([](const std::string& line) { warnings->push_back(line); });
  log::warn_once("base_test: a");
  log::warn_once("base_test: b");
  log::warn_once("base_test: a");
  log::set_warning_sink(nullptr);
  EXPECT_EQ(seen, (std::vector<std::string>{"base_test: a", "base_test: b"}));
}

TEST(BuildId, IsOneOfThisProgram) {
  EXPECT_NE(build_id(), Hash128());
  EXPECT_EQ(build_id(), build_id());
}

// ------------------------------------------------------------------------------------------------ structs as bytes

struct Pair {
  std::string name;
  std::vector<Type> types;
};

}  // namespace

void describe(auto& archive, Like<Pair> auto& pair) {
  auto& [name, types] = pair;
  archive(name, types);
}

namespace {

struct Everything {
  bool yes = true;
  double real = -0.5;
  int64_t least = std::numeric_limits<int64_t>::min();
  E element = E::BF16;
  Dims many{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<Pair> pairs{{"a", {}}, {std::string("\0b", 2), {{E::F64, {2, 0}}, {E::Pred, {}}}}};
};

void read(ByteReader& reader, Everything& into) {
  reader(into.yes, into.real, into.least, into.element, into.many, into.pairs);
}

TEST(Archive, ComesBackAsItWas) {
  const Everything given;
  ByteWriter writer;
  writer(given.yes, given.real, given.least, given.element, given.many, given.pairs);
  std::string bytes = writer.bytes() + "rest";
  ByteReader reader(bytes);
  Everything got{false, 0, 0, E::F32, {}, {}};
  read(reader, got);
  EXPECT_EQ(got.yes, given.yes);
  EXPECT_EQ(got.real, given.real);
  EXPECT_EQ(got.least, given.least);
  EXPECT_EQ(got.element, given.element);
  EXPECT_EQ(got.many, given.many);
  ASSERT_EQ(got.pairs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(got.pairs[i].name, given.pairs[i].name);
    EXPECT_EQ(got.pairs[i].types, given.pairs[i].types);
  }
  EXPECT_EQ(reader.rest(), "rest");
}

TEST(Archive, AnyShorterRecordIsRefused) {
  const Everything given;
  ByteWriter writer;
  writer(given.yes, given.real, given.least, given.element, given.many, given.pairs);
  for (size_t size = 0; size < writer.bytes().size(); ++size) {
    std::string bytes = writer.bytes().substr(0, size);
    ByteReader reader(bytes);
    Everything got;
    EXPECT_THROW(read(reader, got), Error) << size;
  }
}

TEST(Archive, AWrongSizeAllocatesNothing) {
  std::string bytes(8, '\xff');
  std::vector<int64_t> numbers;
  EXPECT_THROW(ByteReader{bytes}(numbers), Error);
  EXPECT_TRUE(numbers.empty());
}

}  // namespace
}  // namespace tpu
