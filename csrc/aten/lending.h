// Lending: memory that a caller has already, for tensors that a kernel of the CPU makes. A kernel without an `out=`
// form then writes its result where it is wanted, and nothing is copied.
#pragma once

#include <cstddef>
#include <vector>

namespace tpu::aten {

/// While it lives, a tensor of exactly as many bytes as a piece that was added, made by this thread on the CPU, gets
/// that piece, once. Nobody may keep such a tensor for longer.
class Lending {
 public:
  Lending();
  ~Lending();
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

  /// Small pieces are not lent: to copy them costs nothing.
  void add(void* data, size_t bytes);
  /// A piece of this size, which is lent from now on; null where there is none.
  void* take(size_t bytes);

 private:
  struct Piece {
    void* data;
    size_t bytes;
  };
  std::vector<Piece> pieces_;
  Lending* outer_;
};

}  // namespace tpu::aten
