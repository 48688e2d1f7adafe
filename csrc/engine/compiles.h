// Compiles: what was compiled or loaded from disk, why, where in the user's program, and how long it took.
//
// Note [Causes]. A program is compiled because something differs from every program there is. What, is told by the last
// one with the same ops in the same order: dtypes before shapes before kinds of numbers before settings; when all of
// those agree it is the structure (how operands hang together, strides, which results are wanted, other arguments).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tpu::engine {

struct CompileRecord {
  std::string name;        // of the program, as in Entry::name
  std::string_view cause;  // "first time", "dtype", "shape", "scalar kind", "options", "structure"
  std::string line;        // "train.py:12"; empty when nobody knows
  size_t ops = 0;
  double seconds = 0;  // 0 when it came from disk
  bool is_from_disk = false;
  bool is_in_background = false;
  bool is_repeat = false;  // its text has been compiled before in this process, under another key or since forgotten
};

/// Why this graph has to be compiled, judged by those noted before it; notes it.
std::string_view note_cause(const graph::Graph& graph);
/// Whether this text was noted before; notes it.
bool note_text(const std::string& text);
/// Adds to the records of this process; the oldest leave when there are too many. Tells the listener.
void note_compile(CompileRecord record);
std::vector<CompileRecord> compile_records();
/// Called after each compile, on the thread that compiled, without the GIL. Null: nobody.
void set_compile_listener(void (*listener)(const CompileRecord& record));

/// While one lives, in any thread, a program that would have to be compiled is an error instead.
class NoCompiles {
 public:
  NoCompiles();
  ~NoCompiles();
  NoCompiles(const NoCompiles&) = delete;
  NoCompiles& operator=(const NoCompiles&) = delete;
};
/// Throws Error(Unavailable) with the name and the cause when compiling is forbidden now.
void check_may_compile(const std::string& name, std::string_view cause, const std::string& line);

}  // namespace tpu::engine
