// Graph: recorded calls in order, closed: which base Values go in, how each operand reads them, what each result
// becomes. lower() turns it into StableHLO text and a list of what the program expects and returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/view.h"
#include "ops/call.h"
#include "ops/context.h"

namespace tpu::graph {

/// How an operand of a node comes about: a *base* seen through a view. Bases are numbered: first the inputs of the
/// graph, then the results of all its nodes in order, each as its tensor stores it.
struct Read {
  int base = 0;  // -1: the storage is unset and reads as zeros
  ViewPlan plan;
  int first_start = 0;      // position of its starts in the vector of all starts
  bool conjugates = false;  // torch's conjugate and negative bits: the elements are seen through them
  bool negates = false;
};

/// What becomes of one result of a node.
struct Write {
  enum class Kind : uint8_t {
    Fresh,    // a new tensor of the type that the lowering gives
    Replace,  // the whole storage of a tensor, elements stored in the order of `permutation`
    Update,   // a part of the storage: the new base is the old one with the result written through the view
    Drop,     // the caller does not want it
  };
  Kind kind = Kind::Fresh;
  Type type;         // Replace, Update: logical type of the tensor written to
  Dims permutation;  // Replace, Fresh: storage dimension i is logical dimension permutation[i]; empty when row-major
  int base = -1;     // Update: the old base; -1: unset, zeros
  ViewPlan plan;     // Update
  int first_start = 0;
  bool resizes = false;  // `out=`: the tensor takes the shape of the result if they differ
  int donor = -1;        // base whose memory the output may take over (same storage), -1 for none
};

struct Node {
  ops::Call call;
  std::vector<Read> reads;    // one per call.operands
  std::vector<Write> writes;  // one per result
};

struct Graph {
  std::vector<Type> inputs;
  std::vector<Node> nodes;
  int start_count = 0;
  /// Per result of all nodes in order: somebody wants it. Empty: all are wanted.
  std::vector<bool> wanted;
};

/// Readable, one node per line.
std::string to_string(const Graph& graph);

struct Output {
  int node = 0;
  int result = 0;
  Type logical;          // of the tensor
  Type stored;           // of the Value: logical dims in storage order, or the base's type
  Dims permutation;      // as in Write
  bool resized = false;  // the tensor given as `out=` must take the logical dims first
  int donor = -1;        // argument that may be donated to it
};

struct Check {
  ErrorCode code;
  std::string message;
};

/// One scalar that a program reads from a packed vector.
struct ScalarUse {
  int position = 0;
  ElementType wanted = ElementType::F32;  // the type it is rounded to
  bool is_exact = false;                  // a number that `wanted` cannot hold is an error, see ops::Call::scalar_exact
};

/// What a program takes after its inputs.
struct RuntimeArgument {
  enum class Kind : uint8_t {
    Starts,   // s64[start_count]: where views start
    Scalars,  // element[number of scalars of all calls]: all scalars, in this type
    Random,   // u64[3 * number of random nodes]: seed, first counter, 0
  };
  Kind kind;
  ElementType element;
  std::vector<ScalarUse> uses = {};  // Scalars: what is read of the vector; the rest may be anything
};

/// A lowered graph. Program arguments: inputs, then `arguments`. Results: `outputs`, then s64[2] when there are checks.
struct Lowered {
  std::string text;
  std::vector<RuntimeArgument> arguments;
  std::vector<Output> outputs;
  std::vector<int64_t> random_blocks;  // per random node: Philox counters taken
  std::vector<Check> checks;
};

/// Note [Value checks]: a program with checks returns s64[2]: the number of the first failed check (from 1) or 0, and
/// the offending number. XLA clamps or drops indices out of range silently.
Lowered lower(const Graph& graph, const ops::Settings& settings);

}  // namespace tpu::graph
