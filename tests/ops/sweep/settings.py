"""The table of settings: plugin and policy for host ops, and which tests are made in each."""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

from .variants import VARIANTS

CLOSELY = ("float32", "int64")  # other dtypes take the same way through a lowering: fewer samples of most variants
SECOND_PLUGIN = "fastatomstruct_xla_cpu"


@dataclass(frozen=True)
class Setting:
    name: str
    title: str
    environment: dict = field(hash=False)
    limits: dict = field(hash=False)  # samples per variant; the variants that are missing are not run
    needs: str | None = None  # a package with a plugin

    def samples(self, variant, dtype):
        """How many a test takes at most."""
        count = self.limits[variant]
        return count if variant in ("forward", "steps") or dtype in CLOSELY else min(count, 4)

    def variables(self):
        """The environment of a process in this setting: mode strict, so that an op is alone in its program."""
        variables = self.environment | {"TORCH_TPU_MODE": "strict"}
        if self.needs is None:
            return variables
        folder = Path(importlib.util.find_spec(self.needs).origin).parent
        return variables | {"TORCH_TPU_PLUGIN": str(folder / "libpjrt_cpu.so")}


FEW = dict.fromkeys(("forward", "gradient", "training", "evaluation", "steps"), 4)
SETTINGS = {
    setting.name: setting
    for setting in (
        Setting(
            "host-on",
            "default plugin, host ops allowed",
            {"TORCH_TPU_HOST_OPS": "allow"},
            {name: variant.count for name, variant in VARIANTS.items()},
        ),
        Setting(
            "host-off",
            "default plugin, host ops are errors, no host kernels",
            {"TORCH_TPU_HOST_OPS": "error", "TORCH_TPU_HOST_KERNELS": "off"},
            FEW,
        ),
        Setting(
            "second-plugin",
            "fastatomstruct-xla-cpu, host ops allowed",
            {"TORCH_TPU_HOST_OPS": "allow"},
            FEW,
            SECOND_PLUGIN,
        ),
    )
}
