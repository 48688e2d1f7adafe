"""DLPack export of `tpu` tensors as arrays in host memory."""

from typing import Any

import torch

from torch_tpu import _C


class Exported:
    """The elements that a `tpu` tensor had when it was exported; see :func:`dlpack`."""

    def __init__(self, tensor: torch.Tensor):
        if tensor.device.type != "tpu":
            raise ValueError(f"expected a tensor on device tpu, got one on {tensor.device}")
        if tensor.requires_grad:
            raise BufferError("a tensor that requires gradient cannot be exported, use tensor.detach()")
        self._host = _C.host_alias(tensor.resolve_conj().resolve_neg())

    def __dlpack_device__(self) -> tuple[Any, int]:
        """Device type and index of the DLPack standard: the CPU."""
        return self._host.__dlpack_device__()

    def __dlpack__(self, *, copy: bool | None = None, **request: Any) -> Any:
        """A capsule of the DLPack standard, with the parameters of ``torch.Tensor.__dlpack__``."""
        capsule = self._host.__dlpack__(copy=copy, **request)
        if not copy and '"dltensor_versioned"' in repr(capsule):
            _C.set_read_only(capsule)
        return capsule


def dlpack(tensor: torch.Tensor) -> Exported:
    """An object that numpy, JAX, torch and every other reader of DLPack accepts: ``numpy.from_dlpack(dlpack(x))``.

    Waits until `tensor` is computed. On a CPU plugin the array lies on the tensor's memory, without a copy; elsewhere
    it is a copy on the host. Its elements never change: writing to `tensor` later gives the tensor new memory. They
    must not be written either, since other tensors may share the memory, and readers that know versioned DLPack are
    told so; ``copy=True`` gives memory of one's own. The array stays valid whatever becomes of the tensor.

    ``numpy.from_dlpack(x)`` on the tensor itself is refused by PyTorch 2.13, which has no DLPack type for `tpu`.
    """
    return Exported(tensor)
