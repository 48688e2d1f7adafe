// graph/view: the text of lower_read and lower_write is run on the CPU plugin and compared, byte by byte, with a loop
// over the elements. A table of named views, a few hundred random ones, and what is structure (the key) and what is
// not.
#include "graph/view.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>

#include "pjrt/client.h"

namespace tpu::graph {
namespace {

using E = ElementType;
using Bytes = std::vector<unsigned char>;

struct Case {
  std::string name;
  Type base;
  View view;
};

std::string to_string(const Case& c) {
  return concat(c.name, ": ", tpu::to_string(c.base), " as ", torch_name(c.view.element), tpu::to_string(c.view.sizes),
                " strides ", tpu::to_string(c.view.strides), " offset ", c.view.offset);
}

// ------------------------------------------------------------------------------------------------ the plain loop

/// Calls visit(position in the view, element number in the storage) for every element, row-major.
template <class Visit>
void for_each_element(const View& view, Visit visit) {
  Dims index(view.sizes.size(), 0);
  for (int64_t position = 0, count = view.count(); position < count; ++position) {
    int64_t at = view.offset;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * view.strides[i];
    visit(static_cast<size_t>(position), static_cast<size_t>(at));
    for (size_t i = index.size(); i-- > 0 && ++index[i] == view.sizes[i];) index[i] = 0;
  }
}

void normalize_bools(Bytes& bytes, E element) {
  if (element != E::Pred) return;
  for (unsigned char& byte : bytes) byte = byte != 0;
}

Bytes expected_read(const Case& c, const Bytes& base) {
  size_t size = size_of(c.view.element);
  Bytes result(static_cast<size_t>(c.view.count()) * size);
  for_each_element(
      c.view, [&](size_t position, size_t at) { std::memcpy(&result[position * size], &base.at(at * size), size); });
  normalize_bools(result, c.view.element);
  return result;
}

Bytes expected_write(const Case& c, Bytes base, const Bytes& update) {
  size_t size = size_of(c.view.element);
  for_each_element(
      c.view, [&](size_t position, size_t at) { std::memcpy(&base.at(at * size), &update[position * size], size); });
  normalize_bools(base, c.base.element);
  return base;
}

/// Bytes that are finite numbers in every type, and for bool 0 or 1: what an arithmetic path does to a NaN's payload is
/// its own affair.
Bytes some_bytes(int64_t count, E element, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(static_cast<size_t>(count));
  for (unsigned char& byte : bytes) byte = element == E::Pred ? random() % 2 : 1 + random() % 0x3b;
  return bytes;
}

/// Elements that are written twice get the same value both times, so that the order of writing does not matter.
Bytes some_update(const View& view) {
  size_t size = size_of(view.element);
  Bytes bytes(static_cast<size_t>(view.count()) * size);
  for_each_element(view, [&](size_t position, size_t at) {
    Bytes element = some_bytes(static_cast<int64_t>(size), view.element, static_cast<uint32_t>(at) + 1000);
    std::memcpy(&bytes[position * size], element.data(), size);
  });
  return bytes;
}

// ------------------------------------------------------------------------------------------------ the programs

hlo::Values start_parameters(hlo::Builder& builder, const ViewPlan& plan) {
  hlo::Values starts;
  for (size_t i = 0; i < start_count(plan); ++i) starts.push_back(builder.parameter({E::S64, {}}));
  return starts;
}

/// Appends the parameters base, starts.., update, and the results read, written.
void lower_case(hlo::Builder& builder, const Case& c, hlo::Values& results) {
  ViewPlan plan = plan_view(c.base, c.view);
  hlo::Value base = builder.parameter(c.base);
  hlo::Values starts = start_parameters(builder, plan);
  hlo::Value update = builder.parameter({c.view.element, c.view.sizes});
  results.push_back(lower_read(base, plan, starts));
  EXPECT_EQ(results.back().type, (Type{c.view.element, c.view.sizes})) << to_string(c);
  results.push_back(lower_write(base, plan, starts, update));
  EXPECT_EQ(results.back().type, c.base) << to_string(c);
}

std::string text_of(const Case& c) {
  hlo::Builder builder;
  hlo::Values results;
  lower_case(builder, c, results);
  return builder.module(results);
}

Hash128 key_of(const Case& c) {
  Hasher hasher;
  add_to(hasher, plan_view(c.base, c.view));
  return hasher.finish();
}

#ifdef XLA_CPU_PJRT_PATH

pjrt::Client& client() {
  static auto* made = pjrt::Client::create(pjrt::Plugin::load(XLA_CPU_PJRT_PATH)).release();
  return *made;
}

pjrt::Buffer send(const Bytes& bytes, const Type& type) {
  static const unsigned char nothing = 0;
  return client().buffer_from_host(bytes.empty() ? &nothing : bytes.data(), type, client().device(0));
}

void expect_bytes(const pjrt::Buffer& buffer, const Bytes& expected, const std::string& what) {
  Bytes got(expected.size());
  buffer.await_ready();
  if (!got.empty()) buffer.copy_to_host(got.data(), got.size());
  size_t first = 0;
  while (first < got.size() && got[first] == expected[first]) ++first;
  EXPECT_EQ(first, got.size()) << what << ": byte " << first << " is " << int(got[first]) << ", expected "
                               << int(expected[first]);
}

/// One program for many cases, since most of the time goes into starting a compile. Halves it when it does not compile.
void run_cases(const std::vector<Case>& cases) {
  hlo::Builder builder;
  hlo::Values results;
  std::vector<pjrt::Buffer> arguments;
  std::vector<Bytes> bases, updates;
  for (const Case& c : cases) {
    lower_case(builder, c, results);
    bases.push_back(some_bytes(c.base.bytes(), c.base.element, 7));
    updates.push_back(some_update(c.view));
    arguments.push_back(send(bases.back(), c.base));
    ViewPlan plan = plan_view(c.base, c.view);
    for (size_t i = 0; i < start_count(plan); ++i) {
      Bytes start(8);
      std::memcpy(start.data(), &plan.starts[i], 8);
      arguments.push_back(send(start, {E::S64, {}}));
    }
    arguments.push_back(send(updates.back(), {c.view.element, c.view.sizes}));
  }
  std::optional<pjrt::Executable> program;
  try {
    program = client().compile(builder.module(results));
  } catch (const Error& error) {
    if (cases.size() == 1) {
      ADD_FAILURE() << to_string(cases[0]) << "\n" << error.what() << "\n" << text_of(cases[0]);
      return;
    }
    auto middle = cases.begin() + static_cast<std::ptrdiff_t>(cases.size() / 2);
    run_cases({cases.begin(), middle});
    run_cases({middle, cases.end()});
    return;
  }
  std::vector<PJRT_Buffer*> raw, outputs(results.size(), nullptr);
  for (const pjrt::Buffer& argument : arguments) raw.push_back(argument.raw());
  pjrt::Launch launch;
  launch.device = &client().device(0);
  program->execute(raw, outputs, launch);
  for (size_t i = 0; i < cases.size(); ++i) {
    pjrt::Buffer read(client().device(0), outputs[2 * i]), written(client().device(0), outputs[2 * i + 1]);
    expect_bytes(read, expected_read(cases[i], bases[i]), "read " + to_string(cases[i]));
    expect_bytes(written, expected_write(cases[i], bases[i], updates[i]), "write " + to_string(cases[i]));
  }
}

void run_in_batches(const std::vector<Case>& cases, size_t batch) {
  for (size_t at = 0; at < cases.size(); at += batch) {
    size_t end = std::min(cases.size(), at + batch);
    run_cases({cases.begin() + static_cast<std::ptrdiff_t>(at), cases.begin() + static_cast<std::ptrdiff_t>(end)});
  }
}

#endif

// ------------------------------------------------------------------------------------------------------ table

using Kind = ViewPlan::Kind;

struct Named {
  Case c;
  Kind kind;
  bool is_static;
};

const std::vector<Named>& table() {
  const Type f{E::F32, {4, 6}};
  static const std::vector<Named> rows = {
      {{"whole", f, {E::F32, {4, 6}, {6, 1}, 0}}, Kind::Whole, true},
      {{"whole, a dimension of size 1 has any stride", {E::F32, {4, 1, 6}}, {E::F32, {4, 1, 6}, {6, 99, 1}, 0}},
       Kind::Whole,
       true},
      {{"reshaped", f, {E::F32, {2, 2, 6}, {12, 6, 1}, 0}}, Kind::Window, true},
      {{"transposed", f, {E::F32, {6, 4}, {1, 6}, 0}}, Kind::Window, true},
      {{"permuted", {E::F32, {2, 3, 4}}, {E::F32, {4, 2, 3}, {1, 12, 4}, 0}}, Kind::Window, true},
      {{"channels last", {E::F32, {2, 4, 5, 3}}, {E::F32, {2, 3, 4, 5}, {60, 1, 15, 3}, 0}}, Kind::Window, true},
      {{"first rows", f, {E::F32, {2, 6}, {6, 1}, 0}}, Kind::Window, true},
      {{"middle rows", f, {E::F32, {2, 6}, {6, 1}, 6}}, Kind::Window, false},
      {{"columns", f, {E::F32, {4, 2}, {6, 1}, 3}}, Kind::Window, false},
      {{"last element", f, {E::F32, {}, {}, 23}}, Kind::Window, false},
      {{"first element", f, {E::F32, {}, {}, 0}}, Kind::Window, true},
      {{"every second column", f, {E::F32, {4, 3}, {6, 2}, 1}}, Kind::Window, false},
      {{"every third row", f, {E::F32, {2, 6}, {18, 1}, 0}}, Kind::Window, true},
      {{"every second row and third column", f, {E::F32, {2, 2}, {12, 3}, 8}}, Kind::Window, false},
      {{"a step that does not divide the row", {E::F32, {3, 7}}, {E::F32, {3, 3}, {7, 3}, 0}}, Kind::Window, true},
      {{"diagonal", f, {E::F32, {4}, {7}, 0}}, Kind::Window, true},
      {{"diagonal above", f, {E::F32, {4}, {7}, 2}}, Kind::Window, false},
      {{"diagonal below", f, {E::F32, {3}, {7}, 6}}, Kind::Window, false},
      {{"batch of diagonals", {E::F32, {2, 3, 3}}, {E::F32, {2, 3}, {9, 4}, 0}}, Kind::Window, true},
      {{"expanded", {E::F32, {3}}, {E::F32, {2, 3}, {0, 1}, 0}}, Kind::Window, true},
      {{"expanded column", {E::F32, {3, 1}}, {E::F32, {3, 4}, {1, 0}, 0}}, Kind::Window, true},
      {{"one element everywhere", f, {E::F32, {2, 3}, {0, 0}, 5}}, Kind::Window, false},
      {{"unfold without overlap", {E::F32, {12}}, {E::F32, {4, 3}, {3, 1}, 0}}, Kind::Window, true},
      {{"unfold with gaps", {E::F32, {12}}, {E::F32, {3, 2}, {5, 1}, 0}}, Kind::Window, true},
      {{"unfold with overlap", {E::F32, {12}}, {E::F32, {5, 4}, {2, 1}, 0}}, Kind::Gather, true},
      {{"overlap from somewhere", {E::F32, {12}}, {E::F32, {3, 4}, {2, 1}, 3}}, Kind::Gather, false},
      {{"a window around the end of a row", f, {E::F32, {2, 3}, {6, 1}, 4}}, Kind::Gather, false},
      {{"0-d", {E::F32, {}}, {E::F32, {}, {}, 0}}, Kind::Whole, true},
      {{"0-d as vector", {E::F32, {}}, {E::F32, {1}, {1}, 0}}, Kind::Window, true},
      {{"nothing", f, {E::F32, {0, 6}, {6, 1}, 12}}, Kind::Window, true},
      {{"nothing of nothing", {E::F32, {0}}, {E::F32, {3, 0}, {1, 1}, 0}}, Kind::Window, true},
      {{"real parts", {E::C64, {3, 2}}, {E::F32, {3, 2}, {4, 2}, 0}}, Kind::Window, true},
      {{"imaginary parts", {E::C64, {3, 2}}, {E::F32, {3, 2}, {4, 2}, 1}}, Kind::Window, false},
      {{"view_as_real", {E::C128, {3, 2}}, {E::F64, {3, 2, 2}, {4, 2, 1}, 0}}, Kind::Window, true},
      {{"view_as_complex", {E::F32, {3, 4}}, {E::C64, {3, 2}, {2, 1}, 0}}, Kind::Window, true},
      {{"bytes of floats", {E::F32, {3}}, {E::U8, {12}, {1}, 0}}, Kind::Window, true},
      {{"floats of bytes", {E::U8, {24}}, {E::F32, {2, 3}, {3, 1}, 0}}, Kind::Window, true},
      {{"some floats of bytes", {E::U8, {24}}, {E::F32, {3}, {1}, 2}}, Kind::Window, false},
      {{"floats of too many bytes", {E::U8, {23}}, {E::F32, {5}, {1}, 0}}, Kind::Window, true},
      {{"bfloat16 of floats", {E::F32, {3}}, {E::BF16, {3}, {2}, 1}}, Kind::Window, false},
      {{"bytes of bools", {E::Pred, {6}}, {E::U8, {6}, {1}, 0}}, Kind::Window, true},
      {{"bools of bytes", {E::U8, {6}}, {E::Pred, {2, 3}, {3, 1}, 0}}, Kind::Window, true},
      {{"some bools of bytes", {E::U8, {6}}, {E::Pred, {2}, {1}, 3}}, Kind::Window, false},
      {{"some bools of floats", {E::F32, {4}}, {E::Pred, {3}, {4}, 1}}, Kind::Window, false},
      {{"complex of bools", {E::Pred, {16}}, {E::C64, {2}, {1}, 0}}, Kind::Window, true},
      {{"8-bit floats of bytes", {E::U8, {6}}, {E::F8E4M3FN, {6}, {1}, 0}}, Kind::Window, true},
      {{"negative zero stride order", {E::S16, {2, 3, 5}}, {E::S16, {5, 4, 2}, {1, 0, 15}, 5}}, Kind::Window, false},
  };
  return rows;
}

TEST(View, TableIsDecomposedAsExpected) {
  for (const Named& row : table()) {
    ViewPlan plan = plan_view(row.c.base, row.c.view);
    EXPECT_EQ(plan.kind, row.kind) << to_string(row.c);
    EXPECT_EQ(plan.is_static, row.is_static) << to_string(row.c);
    EXPECT_EQ(plan.kind == Kind::Whole, is_whole(row.c.base, row.c.view)) << to_string(row.c);
    bool gathers = text_of(row.c).find("stablehlo.gather") != std::string::npos;
    EXPECT_EQ(gathers, row.kind == Kind::Gather) << to_string(row.c);
  }
}

TEST(View, WholeIsTheDenseView) {
  for (const Type& type : {Type{E::F32, {}}, Type{E::S8, {3}}, Type{E::C64, {2, 0, 3}}, Type{E::Pred, {2, 1, 3}}}) {
    View view = whole(type);
    EXPECT_EQ(view.sizes, type.dims);
    EXPECT_TRUE(is_whole(type, view));
    EXPECT_FALSE(is_whole({type.element == E::S8 ? E::U8 : E::S8, type.dims}, view));
  }
  EXPECT_FALSE(is_whole({E::F32, {2, 2}}, {E::F32, {2, 2}, {1, 2}, 0}));
  EXPECT_FALSE(is_whole({E::F32, {2, 2}}, {E::F32, {4}, {1}, 0}));
  EXPECT_FALSE(is_whole({E::F32, {4}}, {E::F32, {2}, {1}, 0}));
}

// ------------------------------------------------------------------------------------------------------ random

/// A view as torch's view functions make them, or any as_strided; always inside the storage.
class RandomViews {
 public:
  explicit RandomViews(uint32_t seed) : random_(seed) {}

  Case next() {
    Case c;
    c.name = concat("random ", ++number_);
    c.base.element = element();
    for (int64_t rank = below(5); rank > 0; --rank) c.base.dims.push_back(below(16) == 0 ? 0 : 1 + below(5));
    // Mostly the storage's own type.
    c.view.element = below(3) == 0 ? element() : c.base.element;
    if (below(3) == 0) {
      as_strided(c);
    } else {
      composed(c);
    }
    return c;
  }

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(limit)); }

 private:
  E element() {
    static const E all[] = {E::F32, E::F32, E::Pred, E::U8,  E::S8,  E::S16, E::S32,
                            E::S64, E::F16, E::BF16, E::F64, E::C64, E::C128};
    return all[below(std::size(all))];
  }

  static int64_t reach(const View& view) {
    int64_t last = view.offset;
    for (size_t i = 0; i < view.sizes.size(); ++i) last += (view.sizes[i] - 1) * view.strides[i];
    return view.count() == 0 ? 0 : last + 1;
  }

  void as_strided(Case& c) {
    c.base.dims = {2 + below(3), 3 + below(3), 4};  // room for views that overlap
    int64_t count = c.base.bytes() / static_cast<int64_t>(size_of(c.view.element));
    for (;;) {
      View view{c.view.element, {}, {}, 0};
      for (int64_t rank = 1 + below(3); rank > 0; --rank) {
        view.sizes.push_back(1 + below(4));
        view.strides.push_back(below(6));
      }
      if (count > 0) view.offset = below(count);
      if (count == 0) {
        view.sizes.push_back(0);
        view.strides.push_back(1);
      }
      if (reach(view) > count) continue;
      c.view = view;
      return;
    }
  }

  void composed(Case& c) {
    int64_t count = c.base.bytes() / static_cast<int64_t>(size_of(c.view.element));
    bool same_size = size_of(c.view.element) == size_of(c.base.element);
    View& v = c.view;
    v.sizes = same_size ? c.base.dims : Dims{count};
    v.strides = row_major_strides(v.sizes);
    for (int64_t step = below(5); step > 0; --step) {
      auto rank = static_cast<int64_t>(v.sizes.size());
      if (rank == 0 || below(8) == 0) {  // unsqueeze, expand
        auto at = static_cast<size_t>(below(rank + 1));
        v.sizes.insert(at, 1 + below(3));
        v.strides.insert(at, v.sizes[at] == 1 ? below(7) : 0);
        continue;
      }
      auto d = static_cast<size_t>(below(rank));
      int64_t &size = v.sizes[d], &stride = v.strides[d];
      switch (below(5)) {
        case 0: {  // transpose
          auto e = static_cast<size_t>(below(rank));
          std::swap(v.sizes[d], v.sizes[e]);
          std::swap(v.strides[d], v.strides[e]);
          break;
        }
        case 1: {  // slice
          if (size == 0) break;
          int64_t start = below(size), by = 1 + below(3);
          size = (size - start - below(size - start) + by - 1) / by;
          v.offset += start * stride;
          stride *= by;
          break;
        }
        case 2: {  // select
          if (size == 0) break;
          v.offset += below(size) * stride;
          v.sizes.erase(d);
          v.strides.erase(d);
          break;
        }
        case 3: {  // diagonal
          auto e = static_cast<size_t>(below(rank));
          if (e == d) break;
          int64_t length = std::min(v.sizes[d], v.sizes[e]), along = v.strides[d] + v.strides[e];
          v.sizes[e] = length;
          v.strides[e] = along;
          v.sizes.erase(d);
          v.strides.erase(d);
          break;
        }
        case 4: {  // unfold
          if (size == 0) break;
          int64_t window = 1 + below(size), by = 1 + below(3), old = stride;
          size = (size - window) / by + 1;
          stride *= by;
          v.sizes.push_back(window);
          v.strides.push_back(old);
          break;
        }
      }
    }
  }

  std::mt19937 random_;
  int number_ = 0;
};

TEST(View, EqualKeysMeanEqualText) {
  RandomViews views(1);
  int shared = 0;
  for (int i = 0; i < 400; ++i) {
    Case a = views.next(), b = a;
    int64_t room = a.base.bytes() / static_cast<int64_t>(size_of(a.view.element)), last = 0;
    for (size_t d = 0; d < a.view.sizes.size(); ++d) last += (a.view.sizes[d] - 1) * a.view.strides[d];
    if (a.view.count() == 0 || room <= last) continue;
    b.view.offset = views.below(room - last);
    if (key_of(a) != key_of(b)) continue;
    ++shared;
    EXPECT_EQ(text_of(a), text_of(b)) << to_string(a) << " and offset " << b.view.offset;
  }
  EXPECT_GT(shared, 100);  // or nothing was tested
}

TEST(View, KeysTellStructureApart) {
  Case base{"", {E::F32, {4, 6}}, {E::F32, {2, 3}, {6, 1}, 1}};
  auto differs = [&](auto change) {
    Case other = base;
    change(other);
    return key_of(other) != key_of(base);
  };
  EXPECT_TRUE(differs([](Case& c) { c.base.dims = {6, 4}; }));
  EXPECT_TRUE(differs([](Case& c) { c.base.element = E::S32; }));
  EXPECT_TRUE(differs([](Case& c) { c.view.element = E::S32; }));
  EXPECT_TRUE(differs([](Case& c) { c.view.sizes = {3, 2}; }));
  EXPECT_TRUE(differs([](Case& c) { c.view.strides = {1, 6}; }));
  EXPECT_TRUE(differs([](Case& c) { c.view.offset = 0; }));  // static
  EXPECT_TRUE(differs([](Case& c) { c.view.offset = 4; }));  // gathered
  EXPECT_FALSE(differs([](Case& c) { c.view.offset = 9; }));
}

// The promise of architecture section 2: reading and writing at 100 offsets takes two programs.
TEST(View, HundredOffsetsHaveTwoKeys) {
  for (const View& view : {View{E::F32, {1, 8}, {8, 1}, 8}, View{E::F32, {8}, {1}, 8}, View{E::F32, {100}, {8}, 1}}) {
    std::vector<Hash128> keys;
    int64_t unit = view.strides[0] == 8 && view.sizes[0] == 100 ? 1 : 8;
    for (int64_t i = 0; i < (unit == 1 ? 8 : 100); ++i) {
      Case c{"", {E::F32, {100, 8}}, view};
      c.view.offset = i * unit;
      Hash128 key = key_of(c);
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    EXPECT_EQ(keys.size(), 2u) << tpu::to_string(view.sizes);
  }
}

#ifdef XLA_CPU_PJRT_PATH

TEST(View, TableOnTheCpu) {
  std::vector<Case> cases;
  for (const Named& row : table()) cases.push_back(row.c);
  run_in_batches(cases, 24);
}

TEST(View, RandomOnTheCpu) {
  RandomViews views(20250731);
  std::vector<Case> cases;
  for (int i = 0; i < 300; ++i) cases.push_back(views.next());
  int gathered = 0, windows = 0;
  for (const Case& c : cases) {
    gathered += plan_view(c.base, c.view).kind == Kind::Gather;
    windows += plan_view(c.base, c.view).kind == Kind::Window;
  }
  EXPECT_GT(gathered, 15);
  EXPECT_GT(windows, 120);
  run_in_batches(cases, 25);
}

// One program, every offset: what is compiled at one offset is right at all others.
TEST(View, OneProgramForEveryOffset) {
  const Type base{E::F32, {5, 6}};
  for (const View& shape :
       {View{E::F32, {2, 2}, {6, 1}, 0}, View{E::F32, {2, 2}, {12, 2}, 0}, View{E::F32, {2, 3}, {2, 1}, 0}}) {
    std::optional<pjrt::Executable> program;
    std::optional<Hash128> key;
    Bytes bytes = some_bytes(base.bytes(), base.element, 3);
    for (int64_t offset = 1; offset < 9; ++offset) {
      Case c{"offset", base, shape};
      c.view.offset = offset;
      ViewPlan plan = plan_view(base, c.view);
      if (!key || *key != key_of(c)) {
        key = key_of(c);
        program = client().compile(text_of(c));
      }
      Bytes update = some_update(c.view);
      std::vector<pjrt::Buffer> arguments;
      arguments.push_back(send(bytes, base));
      for (int64_t start : plan.starts) {
        Bytes word(8);
        std::memcpy(word.data(), &start, 8);
        arguments.push_back(send(word, {E::S64, {}}));
      }
      arguments.push_back(send(update, {E::F32, c.view.sizes}));
      std::vector<PJRT_Buffer*> raw, outputs(2, nullptr);
      for (const pjrt::Buffer& argument : arguments) raw.push_back(argument.raw());
      pjrt::Launch launch;
      launch.device = &client().device(0);
      program->execute(raw, outputs, launch);
      pjrt::Buffer read(client().device(0), outputs[0]), written(client().device(0), outputs[1]);
      expect_bytes(read, expected_read(c, bytes), "read " + to_string(c));
      expect_bytes(written, expected_write(c, bytes, update), "write " + to_string(c));
    }
  }
}

#endif

}  // namespace
}  // namespace tpu::graph
