"""Which PJRT plugin this process uses. In: environment, device files, installed packages. Out: a Choice.

In this order: the path in TORCH_TPU_PLUGIN; libtpu, where a TPU is attached; a CPU plugin package. No package is
imported: importing can be slow and have side effects, and a path is all that is needed.
"""

import os
from glob import glob
from importlib.util import find_spec
from typing import NamedTuple


class Choice(NamedTuple):
    """The plugin to load."""

    path: str  # "" when there is none
    devices: int  # number of devices it will show, as far as known before it is loaded
    why: str = ""  # why there is none, and what to do


# pip name, top-level package, the library inside it
CPU_PLUGINS = (
    ("xla-cpu-pjrt", "xla_plugins", "xla_cpu_pjrt/xla_cpu_pjrt.so"),
    ("fastatomstruct-xla-cpu", "fastatomstruct_xla_cpu", "libpjrt_cpu.so"),
)
GOOGLE = "0x1ae0"  # PCI vendor id


def find() -> Choice:
    """Looks for a plugin. Loads nothing, and takes about a millisecond."""
    path = os.environ.get("TORCH_TPU_PLUGIN", "")
    if path:
        if os.path.isfile(path):
            return Choice(path, cpu_devices())
        return Choice("", 0, f"TORCH_TPU_PLUGIN={path} is not a file")
    chips = tpu_chips()
    if chips and (path := package_file("libtpu", "libtpu.so")):
        return Choice(path, chips)
    for _, package, library in CPU_PLUGINS:
        if path := package_file(package, library):
            return Choice(path, cpu_devices())
    if chips:
        return Choice("", 0, "a TPU is attached, but no PJRT plugin is installed. Install one: pip install libtpu")
    return Choice(
        "",
        0,
        f"no PJRT plugin is installed. Install one: pip install {CPU_PLUGINS[0][0]} (runs on this machine's CPU), "
        "or name a plugin library in TORCH_TPU_PLUGIN",
    )


def cpu_devices() -> int:
    """How many devices a CPU plugin is asked to show. A malformed number is reported at the start, not here.

    Under torchrun one for each process on this machine: scripts make the device of number LOCAL_RANK current, as they
    do where every process sees all devices of the machine.
    """
    wanted = os.environ.get("TORCH_TPU_CPU_DEVICES") or os.environ.get("LOCAL_WORLD_SIZE", "1")
    try:
        return int(wanted)
    except ValueError:
        return 1


def tpu_chips(root: str = "/") -> int:
    """Number of TPU chips attached to this machine, by their device files; 0 without one.

    Older hosts show /dev/accel0, newer ones VFIO groups /dev/vfio/0. Other hardware has VFIO groups too, and Intel's
    NPU a folder /dev/accel, so the files count only where Google's PCI devices are.
    """
    files = glob(os.path.join(root, "dev/accel[0-9]*")) or glob(os.path.join(root, "dev/vfio/[0-9]*"))
    if not files:
        return 0
    for vendor in glob(os.path.join(root, "sys/bus/pci/devices/*/vendor")):
        with open(vendor) as file:
            if file.read().strip() == GOOGLE:
                return len(files)
    return 0


def package_file(package: str, file: str) -> str:
    """Path of `file` in the folder of a top-level package that need not be imported; "" when there is none."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return ""
    for folder in (spec and spec.submodule_search_locations) or ():
        path = os.path.join(folder, file)
        if os.path.isfile(path):
            return path
    return ""
