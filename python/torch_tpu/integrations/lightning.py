"""Lightning on device `tpu`: `Trainer(strategy=TPUStrategy())`, with `TPUStrategy("bf16-mixed")` for mixed precision.

Lightning's own accelerator `tpu` is the one of torch_xla; this is another class under the name `torch_tpu`.
"""

from __future__ import annotations

from typing import Any

import torch
from lightning.pytorch.accelerators import Accelerator, AcceleratorRegistry
from lightning.pytorch.plugins.precision import MixedPrecision, Precision
from lightning.pytorch.strategies import SingleDeviceStrategy

import torch_tpu  # noqa: F401  makes the device known

__all__ = ["TPUAccelerator", "TPUStrategy"]


class TPUAccelerator(Accelerator):
    """The devices `tpu:0`, `tpu:1`, ... as Lightning asks for them."""

    def setup_device(self, device: torch.device) -> None:
        """Makes `device` the current one. Raises ValueError when the strategy chose another kind of device."""
        if device.type != "tpu":
            raise ValueError(
                f"TPUAccelerator: expected a tpu device, got {device}. Lightning chooses the CPU for accelerators that "
                "it does not know; pass strategy=torch_tpu.integrations.lightning.TPUStrategy() instead."
            )
        torch.tpu.set_device(device)

    def teardown(self) -> None:
        """Waits for the device."""
        torch.tpu.synchronize()

    def get_device_stats(self, device: torch.device | str | int) -> dict[str, Any]:
        """What torch.tpu.memory_stats() counts."""
        return torch.tpu.memory_stats(device)

    @staticmethod
    def parse_devices(devices: int | str | list[int]) -> list[int]:
        """Indices of devices from a number of them, "2", "0,1", "auto" or -1 for all, or the indices themselves."""
        count = torch.tpu.device_count()
        if isinstance(devices, str) and "," in devices:
            devices = [int(index) for index in devices.split(",")]
        if isinstance(devices, list | tuple):
            indices = list(devices)
        else:
            number = count if devices in ("auto", "-1", -1) else int(devices)
            indices = list(range(number))
        if not indices or any(not 0 <= index < count for index in indices):
            raise ValueError(f"devices={devices!r}: there are {count} tpu devices")
        return indices

    @staticmethod
    def get_parallel_devices(devices: int | str | list[int]) -> list[torch.device]:
        """The devices that parse_devices() gives."""
        return [torch.device("tpu", index) for index in TPUAccelerator.parse_devices(devices)]

    @staticmethod
    def auto_device_count() -> int:
        """All devices."""
        return torch.tpu.device_count()

    @staticmethod
    def is_available() -> bool:
        """Whether there is a plugin to run on."""
        return torch.tpu.is_available()

    @staticmethod
    def name() -> str:
        """The name in Lightning's registry."""
        return "torch_tpu"

    @classmethod
    def register_accelerators(cls, accelerator_registry: Any) -> None:
        """Puts the class into Lightning's registry, once."""
        if cls.name() not in accelerator_registry:
            accelerator_registry.register(cls.name(), cls, description="Device tpu of torch_tpu")


class TPUStrategy(SingleDeviceStrategy):
    """Trains on one device.

    `precision` is what Trainer(precision=...) takes elsewhere: "32-true" or "bf16-mixed" (autocast). The Trainer itself
    would make an autocast for CUDA of it.
    """

    strategy_name = "torch_tpu"

    def __init__(self, precision: str = "32-true", device: torch.device | str = "tpu:0") -> None:
        if precision not in ("32-true", "bf16-mixed"):
            raise ValueError(f"TPUStrategy: expected precision '32-true' or 'bf16-mixed', got {precision!r}")
        plugin = Precision() if precision == "32-true" else MixedPrecision(precision, "tpu")
        super().__init__(device=torch.device(device), accelerator=TPUAccelerator(), precision_plugin=plugin)


TPUAccelerator.register_accelerators(AcceleratorRegistry)
