// Window: a sliding window over some dimensions of a tensor, in two moves. `tap` gives the elements that one place of
// the window sees at all of its positions; `fold` is its transpose, it adds pieces back to the elements they came from.
// Pools and the convolutions that XLA:CPU has no good loop for are made of these.
#pragma once

#include <functional>

#include "hlo/ops.h"

namespace tpu::ops {

/// One entry per windowed dimension, the dimensions are first, first + 1, .. of the tensor.
struct Sliding {
  int64_t first = 0;
  Dims input;  // sizes of the tensor
  Dims size;   // places of the window
  Dims stride;
  Dims padding;  // elements added on the low side; the high side gets what the output asks for
  Dims dilation;
  Dims output;  // positions of the window

  size_t rank() const { return input.size(); }
  int64_t taps() const { return product(size); }
  /// The place number k of the window, row-major.
  Dims place(int64_t k) const;
  /// Elements needed on the high side of the padded tensor so that every place exists at every position; at least 0.
  Dims high() const;
  /// The same window in `count` of its dimensions alone, from number `i` on.
  Sliding part(size_t i, size_t count) const;
};

/// floor((input + 2 padding - dilation (size - 1) - 1) / stride) + 1 positions; with ceil_mode a last partial one that
/// starts inside the input or its left padding.
int64_t window_positions(int64_t input, int64_t size, int64_t stride, int64_t padding, int64_t dilation,
                         bool ceil_mode = false);

/// `x` with the window's padding on both sides, filled with the 0-d `value`.
hlo::Value pad_for(const Sliding& window, const hlo::Value& x, const hlo::Value& value);
/// What `place` sees in `padded` (made by pad_for): the input sizes become the output sizes.
hlo::Value tap(const Sliding& window, const hlo::Value& padded, const Dims& place);

/// The transpose of all taps: one piece per place, of the output sizes, is added back to the elements that the place
/// sees. Pieces are made from sources of the output sizes; to line up, each source is extended once and read shifted.
class FoldBack {
 public:
  explicit FoldBack(const Sliding& window);
  /// `x` (output sizes) with the 0-d `fill` around it.
  hlo::Value extended(const hlo::Value& x, const hlo::Value& fill) const;
  hlo::Value extended(const hlo::Value& x) const { return extended(x, hlo::scalar_like(x, 0)); }
  /// What `extended` has to contribute at `place`.
  hlo::Value shifted(const hlo::Value& extended, const Dims& place) const;
  /// The sum of `piece(place)`, made of shifted sources, with the input sizes. Padding is cropped.
  hlo::Value sum(const std::function<hlo::Value(const Dims&)>& piece) const;

 private:
  const Sliding& window_;
  Dims length_;    // of a piece, per windowed dimension
  Dims furthest_;  // the largest shift
};

}  // namespace tpu::ops
