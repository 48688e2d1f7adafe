"""What libraries need to be told about the device `tpu`: one call, `torch_tpu.integrations.enable()`.

Most libraries take a device by name and need nothing. Two choose from a list of names that they know:

- accelerate (and with it the Trainer of transformers) uses the device in ACCELERATE_TORCH_DEVICE, which enable() sets;
- safetensors refuses names that it does not know ("device tpu is invalid") but takes a device index; after enable(),
  `safe_open`, `load_file` and `load_model` take `tpu`, `tpu:1` and torch.device too, and load straight to the device.
  Before, its error says that there is this call.

Lightning needs a class of its own: torch_tpu.integrations.lightning.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

import torch

__all__ = ["disable", "enable"]

_VARIABLE = "ACCELERATE_TORCH_DEVICE"


def enable() -> None:
    """Makes accelerate choose `tpu` and safetensors know it, in this process and, for accelerate, its children.

    Call it before making an Accelerator or TrainingArguments. It may be called again, and a variable
    ACCELERATE_TORCH_DEVICE that is set already is kept. Libraries that are not installed are left out.
    """
    os.environ.setdefault(_VARIABLE, "tpu")
    _extend_safetensors()


def disable() -> None:
    """Takes enable() back, for instance to run accelerate on the CPU in the same process."""
    if os.environ.get(_VARIABLE, "").split(":")[0] == "tpu":
        del os.environ[_VARIABLE]
    known = _safe_open()
    if known is not None and getattr(known, "knows_tpu", False):
        _exchange(known, _advising(known.original))


def advise(safetensors: ModuleType) -> None:
    """Makes the error of safetensors for the device name `tpu` say what to do. torch_tpu calls it when safetensors is
    imported; nothing else of safetensors changes."""
    if not hasattr(safetensors.safe_open, "original"):
        _exchange(safetensors.safe_open, _advising(safetensors.safe_open))


def _advising(original: Any) -> Any:
    def safe_open(*args: Any, **options: Any) -> Any:
        try:
            return original(*args, **options)
        except Exception as error:
            device = options.get("device", args[2] if len(args) > 2 else None)
            if _known_name(device) is not device:
                error.add_note(f"Call torch_tpu.integrations.enable() first: safetensors does not know {device!r}.")
            raise

    safe_open.original = original
    return safe_open


def _safe_open() -> Any:
    """What `safetensors.safe_open` is now; None when safetensors is not installed."""
    try:
        import safetensors.torch
    except ImportError:
        return None
    return safetensors.safe_open


def _extend_safetensors() -> None:
    known = _safe_open()
    if known is None or getattr(known, "knows_tpu", False):
        return
    original = getattr(known, "original", known)

    def safe_open(filename: Any, framework: str, device: Any = "cpu", **options: Any) -> Any:
        return original(filename, framework, device=_known_name(device), **options)

    safe_open.original, safe_open.knows_tpu = original, True
    _exchange(known, safe_open)


def _known_name(device: Any) -> Any:
    """`device` as safetensors knows it: an index for `tpu`, which it takes to be one of the present accelerator."""
    if not isinstance(device, str | torch.device) or not str(device).startswith("tpu"):
        return device
    index = torch.device(device).index
    return torch.tpu.current_device() if index is None else index


def _exchange(old: Any, new: Any) -> None:
    # Modules that said `from safetensors import safe_open` hold it under their own name.
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("safe_open") is old:
            module.safe_open = new
