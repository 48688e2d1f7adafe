"""The entry points that libraries look for by name."""

import torch


def tpu_device() -> torch.device:
    """The device `tpu`; without an index it is the current one of each thread."""
    return torch.device("tpu")
