// The family list: every table of rows, in the order of the documentation.
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "ops/families.h"
#include "ops/row.h"

namespace tpu::ops {

namespace {

uint64_t hash_of(const char* name) {
  Hasher hasher;
  hasher.add(name);
  return hasher.finish().low;
}

struct Registry {
  std::vector<Table> tables;
  std::vector<const Row*> rows;
  std::unordered_map<std::string_view, const Row*> by_name;
  std::vector<std::string> duplicates;

  Registry() {
    for (const Family& family : families()) {
      tables.push_back(family.table());  // rows stay where they are when this list grows
      for (Row& row : tables.back()) {
        row.family = family.name;
        row.contracts = family.contracts;
        row.is_pointwise |= family.pointwise;
        row.name_hash = hash_of(row.name);
        if (by_name.emplace(row.name, &row).second)
          rows.push_back(&row);
        else
          duplicates.push_back(concat(family.name, ": ", row.name));
      }
    }
  }
};

const Registry& registry() {
  static const auto* all = new Registry;
  return *all;
}

struct Programs {
  std::mutex mutex;
  std::map<std::string, int64_t> counts;
};

Programs& programs() {
  static auto* all = new Programs;
  return *all;
}

}  // namespace

const std::vector<const Row*>& all_rows() { return registry().rows; }

const Row* find_row(std::string_view name) {
  auto found = registry().by_name.find(name);
  return found == registry().by_name.end() ? nullptr : found->second;
}

void count_program(const Row& row) {
  std::lock_guard<std::mutex> lock(programs().mutex);
  ++programs().counts[row.name];
}

std::map<std::string, int64_t> row_programs() {
  std::lock_guard<std::mutex> lock(programs().mutex);
  return programs().counts;
}

Row functional_form(const Row& row) {
  Row functional = row;
  functional.name_hash = hash_of(concat(row.name, " functional").c_str());
  return functional;
}

const std::vector<std::string>& duplicate_rows() { return registry().duplicates; }

}  // namespace tpu::ops
