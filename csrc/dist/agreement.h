// Agreement: before data moves, the ranks tell each other what they are about to do.
//
// Gloo ends the process when two ranks come with different sizes. A rank's *note* is a line of text that must be the
// same everywhere, "allreduce(SUM, float32 x 4)"; one small allgather makes a mismatch an error on every rank, which
// names what each of them called, and leaves the connections usable.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace tpu::dist {

/// Throws Error(InvalidArgument) on every rank unless all came with the same note.
void agree(c10d::Backend& gloo, const std::string& note, std::chrono::milliseconds timeout);

/// The same numbers of every rank; all ranks come with equally many.
std::vector<std::vector<int64_t>> exchange_numbers(c10d::Backend& gloo, const std::vector<int64_t>& mine,
                                                   std::chrono::milliseconds timeout);

/// What precedes a message from one rank to another: its bytes and its note. Fixed size.
at::Tensor make_header(int64_t bytes, const std::string& note);
struct Header {
  int64_t bytes = 0;
  std::string note;
};
Header read_header(const at::Tensor& header);
at::Tensor empty_header();

}  // namespace tpu::dist
