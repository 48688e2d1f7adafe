// Row: what one ATen overload means. A family file is a table of rows and the lowerings they name; a row is the one
// place to add an op: registration, key, eager use, numeric test and coverage page all read it.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/ops.h"

namespace tpu::ops {

class Context;
struct Call;

/// Whether a program of a CPU plugin does better to call PyTorch's CPU kernel for this call than to compute it, see
/// Note [Host kernels] in ops/host_call.h.
using Pays = bool (*)(const Call&);

/// Emits the op into the context's builder and returns one value per output: first the op's returns in order, then
/// mutable arguments that are not returned, then the arguments that `writes` names.
using Lower = hlo::Values (*)(Context&);

/// A scalar argument whose listed values change the program (alpha = 1, an exponent of 2) and so count as structure.
struct Special {
  const char* argument;
  std::vector<double> values;
};

/// What the dimensions of a Fourier transform hold: all frequencies, or by one of them the half that tells the rest.
enum class Spectrum : uint8_t { None, Whole, Half };

struct Row {
  const char* name;  // overload without namespace: "add.out", "native_layer_norm"
  Lower lower;
  const char* family = "";
  uint64_t name_hash = 0;  // for keys; this and the next one are set with the family by registry.cpp
  bool contracts = false;  // has dots or convolutions
  std::vector<Special> specials = {};
  std::vector<const char*> constants = {};  // scalar or float arguments that are always structure
  std::vector<const char*> writes = {};     // arguments that are written although the schema does not say so
  bool is_random = false;                   // takes a block of the generator's counters
  bool is_pointwise = false;           // fresh outputs keep the memory format of their inputs, as TensorIterator does
  bool is_image = false;               // fresh outputs are channels_last where the last operand of an image's rank is
  bool is_matrix = false;              // fresh outputs have their columns one after the other, as LAPACK wants matrices
  Spectrum spectrum = Spectrum::None;  // fresh outputs lie as torch's transforms leave them, see transform_order
  bool is_slow_on_cpu = false;         // a CPU plugin leaves it to the host, unless host ops are errors
  bool reads_layout = false;           // what it gives depends on which operands are contiguous
  Pays host_kernel_pays = nullptr;     // null: never
  const char* host_overload = "";      // with its namespace, where the CPU's kernel is not that of the same name
  bool host_kernel_is_alone = false;   // only for a program of nothing else
  bool lends_results = false;          // that kernel makes its results, and gets the program's memory for them

  Row&& special(const char* argument, std::vector<double> values) && {
    specials.push_back({argument, std::move(values)});
    return std::move(*this);
  }
  Row&& constant(std::vector<const char*> arguments) && {
    constants = std::move(arguments);
    return std::move(*this);
  }
  Row&& writing(std::vector<const char*> arguments) && {
    writes = std::move(arguments);
    return std::move(*this);
  }
  Row&& random() && {
    is_random = true;
    return std::move(*this);
  }
  Row&& pointwise() && {
    is_pointwise = true;
    return std::move(*this);
  }
  Row&& image() && {
    is_image = true;
    return std::move(*this);
  }
  Row&& transform(Spectrum what) && {
    spectrum = what;
    return std::move(*this);
  }
  Row&& matrix() && {
    is_matrix = true;
    return std::move(*this);
  }
  Row&& slow_on_cpu() && {
    is_slow_on_cpu = true;
    return std::move(*this);
  }
  Row&& host_kernel(Pays pays, const char* overload = "") && {
    host_kernel_pays = pays;
    host_overload = overload;
    return std::move(*this);
  }
  /// For what a program with other ops fuses with them: only a program of this op alone calls the CPU's kernel.
  Row&& host_kernel_alone(Pays pays, const char* overload = "") && {
    host_kernel_is_alone = true;
    return std::move(*this).host_kernel(pays, overload);
  }
  /// Not for oneDNN's kernels: buffers of their own come from the same allocator, and they keep some.
  Row&& lending() && {
    lends_results = true;
    return std::move(*this);
  }
  Row&& by_layout() && {
    reads_layout = true;
    return std::move(*this);
  }
};

/// Starts a row: `row("add.out", add).special("alpha", {1})`.
inline Row row(const char* name, Lower lower) { return Row{name, lower}; }

using Table = std::vector<Row>;

/// All rows of all families, in the order of the family list in registry.cpp. Built once.
const std::vector<const Row*>& all_rows();
/// `family: name` of rows whose overload an earlier row has already; a test expects none.
const std::vector<std::string>& duplicate_rows();
/// An `.out` row as its functional overload, whose result is a new tensor: the same in all but the key. Not in the
/// registry.
Row functional_form(const Row& row);
/// Counts a program that the row is in, compiled or loaded.
void count_program(const Row& row);
/// In how many programs of this process each row is; rows that are in none are not listed. Tests ask which rows they
/// met.
std::map<std::string, int64_t> row_programs();
/// The row of an overload name, or null.
const Row* find_row(std::string_view name);

}  // namespace tpu::ops
