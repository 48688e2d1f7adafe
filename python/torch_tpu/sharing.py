"""Sending `tpu` tensors to another process: a clear error, where the default would be a hang.

In: what `multiprocessing` pickles. Out: an error for storages on `tpu`, torch's own way for all others.
"""

import multiprocessing.reduction
from typing import Any, NoReturn

import torch
from torch.multiprocessing import reductions

MESSAGE = (
    "a tensor on device tpu cannot be sent to another process, since its memory belongs to the one that made it. "
    "Send x.cpu() instead, and move it in the receiver. In a DataLoader: let the workers return CPU tensors, and move "
    "each batch in the training loop (pin_memory=True helps)."
)


def register() -> None:
    """Tells `multiprocessing` how storages are pickled."""
    multiprocessing.reduction.register(torch.UntypedStorage, reduce_storage)


def reduce_storage(storage: torch.UntypedStorage) -> tuple[Any, ...]:
    """How a storage is pickled for another process."""
    if storage.device.type != "tpu":
        return reductions.reduce_storage(storage)
    if multiprocessing.context.get_spawning_popen() is not None:  # an argument of a process that is being started
        raise RuntimeError(MESSAGE)
    # A queue pickles on a thread that only prints errors, and the receiver would wait forever. So the error travels.
    return refuse, ()


def refuse() -> NoReturn:
    """What the receiver calls instead of making a storage."""
    raise RuntimeError(MESSAGE)
