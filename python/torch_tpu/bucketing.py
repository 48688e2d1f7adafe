"""Dynamic lengths: pads one dimension of inputs to the next of a few sizes, so that a few programs serve all lengths.

Each new shape is a new program. Padding is harmless along a dimension whose positions do not see each other, or do so
under a mask: the batch, and a sequence. Where it is not, `check` and the errors say why. See docs/bucketing.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

Number = int | float | bool


class Padded(NamedTuple):
    """A padded tensor, and where it is real."""

    tensor: torch.Tensor
    mask: torch.Tensor  # bool, of the sizes up to and including the padded dimension; True where nothing was added


class Bucketing:
    """Pads dimension `dim` to sizes of a short list; made by `torch.tpu.bucketing`."""

    def __init__(
        self,
        dim: int,
        sizes: str | Sequence[int],
        min: int,
        max: int | None,
        pad_value: Number | Mapping[str, Number] | Sequence[Number],
        batch_size: int | None,
        too_long: str,
        mask_key: str,
    ) -> None:
        if dim < 0:
            raise ValueError(f"bucketing: dim counts from the front, expected 0 or more, got {dim}")
        if too_long not in ("error", "keep"):
            raise ValueError(f"bucketing: too_long: expected 'error' or 'keep', got '{too_long}'")
        if isinstance(sizes, str) and sizes != "pow2":
            raise ValueError(f"bucketing: sizes: expected 'pow2' or a list of sizes, got '{sizes}'")
        if sizes != "pow2" and (not sizes or any(size < 1 for size in sizes)):
            raise ValueError(f"bucketing: sizes: expected sizes above zero, got {list(sizes)}")
        if batch_size is not None and dim == 0:
            raise ValueError("bucketing: batch_size is for dim above 0; with dim=0 give sizes=[batch_size]")
        self.dim, self.min, self.max, self.pad_value = dim, min, max, pad_value
        self.sizes = None if sizes == "pow2" else sorted(set(sizes))
        self.batch_size, self.too_long, self.mask_key = batch_size, too_long, mask_key

    def size(self, length: int) -> int:
        """The bucket of a length: the smallest size that is not below it.

        Above the largest bucket a ValueError, or with too_long="keep" the length itself.
        """
        if self.sizes is None:
            size = max(self.min, 1 << (max(length, 1) - 1).bit_length())
            if self.max is None or size <= self.max:
                return size
            largest = self.max
            if length <= largest:
                return largest
        else:
            largest = self.sizes[-1]
            for size in self.sizes:
                if size >= length:
                    return size
        if self.too_long == "keep":
            return length
        raise ValueError(
            f"bucketing: dimension {self.dim} has {length} entries, more than the largest bucket, {largest}. Cut the "
            "input, name a larger size, or let such inputs through with too_long='keep': a program for each length"
        )

    def pad(self, tensor: torch.Tensor, pad_value: Number | None = None) -> Padded:
        """The tensor with dimension `dim` padded at its end, and the mask. Gradients reach the unpadded part only.

        Pad on the CPU, before `.to("tpu")`: there every length costs a copy, on the device a small program of its own.
        """
        length = self._length(tensor)
        size = self.size(length)
        value = self._value(tensor, None) if pad_value is None else self._fitting(tensor, pad_value)
        mask = torch.arange(size, device=tensor.device) < length
        return Padded(_padded(tensor, self.dim, size, value), mask.expand(*tensor.shape[: self.dim], size))

    def unpad(self, tensor: torch.Tensor, length: int | torch.Tensor) -> torch.Tensor:
        """Undoes `pad` for a result that has the dimension still: a view of its first `length` entries.

        `length` is a number or the tensor that was padded. On the device each length is read by a program of its own:
        call it after `.cpu()`, or reduce under the mask instead (`masked_mean`).
        """
        if isinstance(length, torch.Tensor):
            length = self._length(length)
        if self._length(tensor) < length:
            raise ValueError(
                f"bucketing: unpad expected {length} or more entries in dimension {self.dim}, got "
                f"{tuple(tensor.shape)}: the result does not have the padded dimension any more"
            )
        return tensor.narrow(self.dim, 0, length)

    def collate(self, samples: Sequence[Any]) -> Any:
        """A `collate_fn` for torch.utils.data.DataLoader: a batch padded to a bucket, with its mask.

        A sample is a tensor, a tuple or a dictionary. Tensors that have dimension `dim` of the batch are padded to the
        bucket of the longest in the batch, everything else is collated as torch does it. A batch of fewer than
        `batch_size` samples gets more of them, made of pad_value and masked. The mask comes last in a tuple, and under
        `mask_key` in a dictionary (unless samples have that key, which is then padded with zeros).
        """
        first = samples[0]
        if isinstance(first, torch.Tensor):
            (batch,), mask = self._collate([(sample,) for sample in samples], [None])
            return batch, mask
        if isinstance(first, Mapping):
            keys = list(first)
            columns, mask = self._collate([tuple(sample[key] for key in keys) for sample in samples], keys)
            return {
                **dict(zip(keys, columns, strict=True)),
                **({} if self.mask_key in first else {self.mask_key: mask}),
            }
        if isinstance(first, tuple | list):
            columns, mask = self._collate(samples, range(len(first)))
            return (*columns, mask)
        raise TypeError(f"bucketing: a sample is a tensor, a tuple or a dictionary, got {type(first).__name__}")

    def check(self, model: torch.nn.Module) -> list[str]:
        """Warns of every module of the model that mixes entries along `dim`, so that padding may change its results.

        Gives the reasons, "layers.0.norm (BatchNorm1d): ...". It knows torch.nn's own modules; a reduction written in
        a `forward` it cannot see.
        """
        found = []
        for name, module in model.named_modules():
            reason = _reason(module, self.dim)
            if reason:
                found.append(f"{name or 'the model'} ({type(module).__name__}): {reason}")
        for line in found:
            warnings.warn(f"bucketing: padding dimension {self.dim} is not harmless: {line}", stacklevel=2)
        return found

    def _length(self, tensor: torch.Tensor) -> int:
        if tensor.dim() <= self.dim:
            raise IndexError(f"bucketing: expected a tensor with a dimension {self.dim}, got {tuple(tensor.shape)}")
        return tensor.shape[self.dim]

    def _value(self, tensor: torch.Tensor, field: Any) -> Number:
        value = self.pad_value
        if isinstance(value, Mapping):
            value = value.get(field, 0)
        elif isinstance(value, Sequence):
            value = value[field or 0]
        return self._fitting(tensor, 0 if field == self.mask_key else value)

    def _fitting(self, tensor: torch.Tensor, value: Number) -> Number:
        is_fraction = isinstance(value, float) and not value.is_integer()
        if is_fraction and not (tensor.is_floating_point() or tensor.is_complex()):
            raise ValueError(f"bucketing: pad_value {value} does not fit into a tensor of {tensor.dtype}")
        if value < 0 and tensor.dtype in (torch.bool, torch.uint8):
            raise ValueError(f"bucketing: pad_value {value} does not fit into a tensor of {tensor.dtype}")
        return value

    def _collate(self, rows: Sequence[Sequence[Any]], fields: Sequence[Any]) -> tuple[list[Any], torch.Tensor]:
        lengths = [self._sample_length(row) for row in rows]
        size = self.size(len(rows) if self.dim == 0 else max(lengths))
        count = size if self.dim == 0 else max(self.batch_size or 0, len(rows))
        from torch.utils.data import default_collate  # `import torch` does not need it

        columns = []
        for field, column in zip(fields, zip(*rows, strict=True), strict=True):
            if self.dim > 0 and self._has_dimension(column[0]):
                column = [_padded(each, self.dim - 1, size, self._value(each, field)) for each in column]
            batch = default_collate(list(column))
            if isinstance(batch, torch.Tensor):
                batch = _padded(batch, 0, count, self._value(batch, field) if count > len(rows) else 0)
            columns.append(batch)
        if self.dim == 0:
            return columns, torch.arange(count) < len(rows)
        lengths += [0] * (count - len(rows))
        return columns, torch.arange(size) < torch.tensor(lengths)[:, None]

    def _has_dimension(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.dim() >= self.dim

    def _sample_length(self, row: Sequence[Any]) -> int:
        if self.dim == 0:
            return 1
        lengths = {value.shape[self.dim - 1] for value in row if self._has_dimension(value)}
        if not lengths:
            raise ValueError(f"bucketing: no tensor of a sample has what becomes dimension {self.dim} of the batch")
        return max(lengths)


def bucketing(
    dim: int = 1,
    sizes: str | Sequence[int] = "pow2",
    *,
    min: int = 16,
    max: int | None = None,
    pad_value: Number | Mapping[str, Number] | Sequence[Number] = 0,
    batch_size: int | None = None,
    too_long: str = "error",
    mask_key: str = "attention_mask",
) -> Bucketing:
    """Pads one dimension of inputs to a few sizes, so that inputs of many lengths share a few programs.

    `dim` is the dimension of the batch that varies: 1 for sequences (batch, length, ...), 0 for the batch itself.
    `sizes` are the lengths to pad to: "pow2", the powers of two from `min` to `max`, or a list. `pad_value` is what is
    filled in; in `collate` also one per field of a sample, by name or in order. `batch_size` lets `collate` fill up the
    last, smaller batch. `too_long`: inputs above the largest size are an "error", or "keep" their length.

        buckets = torch.tpu.bucketing(dim=1, max=512, pad_value={"input_ids": 0, "labels": -100}, batch_size=32)
        loader = DataLoader(samples, batch_size=32, collate_fn=buckets.collate)

        x, mask = buckets.pad(x)  # by hand, before x.to("tpu")

    Padding is harmless where positions do not see each other, or do so under a mask: causal attention with padding at
    the end, losses with ignore_index, `masked_mean`. See docs/bucketing.md, and `Bucketing.check(model)`.
    """
    return Bucketing(dim, sizes, min, max, pad_value, batch_size, too_long, mask_key)


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The mean of `values` where `mask` is True: of losses per sample or per position, for instance.

    `mask` has the leading sizes of `values`. What is masked counts as zero even where it is not finite; without any
    True the mean is zero.
    """
    if values.shape[: mask.dim()] != mask.shape:
        raise ValueError(
            f"masked_mean: expected a mask of the leading sizes of {tuple(values.shape)}, got {tuple(mask.shape)}"
        )
    whole = mask.reshape(*mask.shape, *[1] * (values.dim() - mask.dim())).expand_as(values)
    return torch.where(whole, values, 0).sum() / whole.sum().clamp(min=1)


def _padded(tensor: torch.Tensor, dim: int, size: int, value: Number) -> torch.Tensor:
    missing = size - tensor.shape[dim]
    if missing <= 0:
        return tensor
    return torch.nn.functional.pad(tensor, [0, 0] * (tensor.dim() - 1 - dim) + [0, missing], value=value)


def _reason(module: torch.nn.Module, dim: int) -> str | None:
    """Why padding `dim` changes what the module computes for real entries; None when it does not, or nobody knows."""
    nn = torch.nn
    if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.training:
        return "its mean and variance are over the batch, padding included; use GroupNorm or LayerNorm, or eval()"
    if dim == 0:
        return None
    if isinstance(module, nn.RNNBase) and module.bidirectional:
        return "it also reads from the end, where the padding is; pack the sequences (pack_padded_sequence)"
    if isinstance(module, nn.modules.pooling._AdaptiveAvgPoolNd | nn.modules.pooling._AdaptiveMaxPoolNd):
        return "it pools over all positions, padding included; use masked_mean, or fill in what the pool ignores"
    if isinstance(module, nn.MultiheadAttention):
        return "positions see each other, unless it is called with a causal mask or with a (src_)key_padding_mask"
    if isinstance(module, nn.GroupNorm | nn.modules.instancenorm._InstanceNorm):
        return "its mean and variance are over all positions, padding included; use LayerNorm"
    return None
