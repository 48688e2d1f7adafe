#include "dist/agreement.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"

namespace tpu::dist {

namespace {

constexpr int64_t kNoteBytes = 256;  // longer notes are cut and end in their hash
constexpr int64_t kHeaderBytes = 8 + kNoteBytes;

std::string fitted(const std::string& note) {
  if (note.size() < kNoteBytes) return note;
  std::string hash = concat("... #", std::hash<std::string>()(note));
  return note.substr(0, kNoteBytes - 1 - hash.size()) + hash;
}

void write_note(char* memory, const std::string& note) {
  std::string text = fitted(note);
  std::memcpy(memory, text.data(), text.size());
}

std::string read_note(const char* memory) { return {memory, strnlen(memory, kNoteBytes)}; }

at::Tensor gathered(c10d::Backend& gloo, at::Tensor mine, std::chrono::milliseconds timeout) {
  at::Tensor all = at::empty({gloo.getSize() * mine.numel()}, mine.options());
  c10d::AllgatherOptions options;
  options.timeout = timeout;
  gloo._allgather_base(all, mine, options)->wait();
  return all;
}

}  // namespace

void agree(c10d::Backend& gloo, const std::string& note, std::chrono::milliseconds timeout) {
  at::Tensor mine = at::zeros({kNoteBytes}, at::kByte);
  write_note(static_cast<char*>(mine.data_ptr()), note);
  at::Tensor all = gathered(gloo, mine, timeout);
  const auto* notes = static_cast<const char*>(all.const_data_ptr());
  bool agreed = true;
  std::string listed;
  for (int rank = 0; rank < gloo.getSize(); ++rank) {
    std::string theirs = read_note(notes + rank * kNoteBytes);
    agreed = agreed && theirs == fitted(note);
    listed += concat(rank == 0 ? "" : "; ", "rank ", rank, ": ", theirs);
  }
  check(agreed, ErrorCode::InvalidArgument, "the ranks of the group called different collectives: ", listed);
}

std::vector<std::vector<int64_t>> exchange_numbers(c10d::Backend& gloo, const std::vector<int64_t>& mine,
                                                   std::chrono::milliseconds timeout) {
  at::Tensor numbers = at::empty({static_cast<int64_t>(mine.size())}, at::kLong);
  std::copy(mine.begin(), mine.end(), numbers.mutable_data_ptr<int64_t>());
  at::Tensor all = gathered(gloo, numbers, timeout);
  const auto* next = all.const_data_ptr<int64_t>();
  std::vector<std::vector<int64_t>> rows;
  for (int rank = 0; rank < gloo.getSize(); ++rank, next += mine.size()) rows.emplace_back(next, next + mine.size());
  return rows;
}

at::Tensor empty_header() { return at::zeros({kHeaderBytes}, at::kByte); }

at::Tensor make_header(int64_t bytes, const std::string& note) {
  at::Tensor header = empty_header();
  auto* memory = static_cast<char*>(header.data_ptr());
  std::memcpy(memory, &bytes, sizeof bytes);
  write_note(memory + sizeof bytes, note);
  return header;
}

Header read_header(const at::Tensor& header) {
  const auto* memory = static_cast<const char*>(header.const_data_ptr());
  Header read;
  std::memcpy(&read.bytes, memory, sizeof read.bytes);
  read.note = read_note(memory + sizeof read.bytes);
  return read;
}

}  // namespace tpu::dist
