"""The backend `tpu_dist` of torch.distributed: what `init_process_group()` makes where there are `tpu` tensors.

torch_tpu registers it by name and imports this module when the first group is made. A group has two backends: ours for
tensors on `tpu` (csrc/dist) and torch's Gloo for CPU tensors, so that object collectives, checkpoints and whatever else
moves CPU tensors needs no second group.
"""

from __future__ import annotations

from datetime import timedelta

import torch
import torch.distributed as dist

from torch_tpu import _C


def _make_gloo(store: dist.Store, rank: int, size: int, timeout: timedelta) -> dist.ProcessGroupGloo:
    return dist.ProcessGroupGloo(store, rank, size, timeout=timeout)


_C.define_distributed(_make_gloo)


def create_process_group(options, backend_options) -> dist.ProcessGroup:
    """Makes one process group; torch calls it with a `_DistributedBackendOptions`.

    It returns a whole ProcessGroup, which torch then uses as it is: of a lone backend it would not know that it is
    the default one, and DistributedDataParallel would look for Gloo.
    """
    if backend_options is not None:
        kind = type(backend_options).__name__
        raise TypeError(f"tpu_dist takes no pg_options, got {kind}; the time limit is given as `timeout`")
    rank, size, timeout = options.group_rank, options.group_size, options.timeout
    custom = dist.ProcessGroup.BackendType.CUSTOM

    ours = _C.ProcessGroupTPU(dist.PrefixStore("tpu", options.store), rank, size, timeout)
    gloo = _make_gloo(dist.PrefixStore("cpu", options.store), rank, size, timeout)
    for backend in (ours, gloo):
        # The default group comes without a list; splitting a group needs one.
        backend.options.global_ranks_in_group = options.global_ranks_in_group or list(range(size))
        backend.options.group_name = options.group_id

    group = dist.ProcessGroup(options.store, rank, size)
    group._set_default_backend(custom)
    group._register_backend(torch.device("tpu"), custom, ours)
    group._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, gloo)
    return group
