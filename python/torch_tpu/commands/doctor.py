"""Says whether device `tpu` works here, and if not, why and what to do.

The plugin is loaded and tried in a child process, so that one that crashes or hangs is reported. The exit code is 0
only when no problem was found.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Any, NamedTuple

import torch

import torch_tpu
from torch_tpu import plugins

# Variables of others that change what happens here.
FOREIGN_VARIABLES = (
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
    "OMP_NUM_THREADS",
    "XLA_FLAGS",
    "LIBTPU_INIT_ARGS",
    "TPU_LIBRARY_PATH",
    "TPU_SKIP_MDS_QUERY",
    "TPU_VISIBLE_CHIPS",
    "PJRT_DEVICE",
)

# Packages that use the same hardware or the same names -> what to know when they are installed too.
NEIGHBOURS = {
    "torch_xla": "its device `xla` is another one; only one process can hold a TPU",
    "jax": "runs beside torch_tpu; only one process can hold a TPU",
    "libtpu": "the plugin for real TPUs",
}


class Check(NamedTuple):
    """One line of the report."""

    name: str
    status: str  # "ok" | "note" (good to know) | "problem"
    text: str
    facts: dict[str, Any] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="seconds for the trial (default 120)")
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)  # how the child is called


def run(arguments: argparse.Namespace) -> int:
    """Prints the report; 0 when all is well, else 1."""
    if arguments.probe:
        print(json.dumps(probe()))
        return 0
    checks = list(examine(arguments.timeout))
    problems = sum(check.status == "problem" for check in checks)
    if arguments.json:
        print(json.dumps({"ok": problems == 0, "checks": [check._asdict() for check in checks]}, indent=2))
    else:
        print(as_text(checks))
    return 1 if problems else 0


def as_text(checks: list[Check]) -> str:
    """The report for people."""
    lines = []
    for check in checks:
        first, *rest = check.text.splitlines() or [""]
        lines.append(f"{check.status:<8} {check.name:<13} {first}".rstrip())
        lines += [" " * 23 + line for line in rest]
    problems = sum(check.status == "problem" for check in checks)
    verdict = "No problems found." if problems == 0 else f"{problems} problem{'s' if problems > 1 else ''} found."
    return "\n".join([*lines, "", verdict])


def examine(timeout: float) -> Iterator[Check]:
    """All checks, in the order in which one may spoil the next."""
    yield check_versions()
    yield check_autoload()
    yield from check_neighbours()
    yield from check_variables()
    choice = plugins.find()
    yield check_plugin(choice)
    if torch_tpu._state == "on" and choice.path:
        yield from check_trial(timeout)


def version_of(distribution: str) -> str | None:
    """Version of an installed distribution, which is not imported; None without it."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def check_versions() -> Check:
    """Python, torch, torch_tpu, and whether the last two fit together."""
    facts = {
        "python": platform.python_version(),
        "machine": platform.platform(),
        "torch": torch.__version__,
        "torch_tpu": version_of("torchtpu"),
        "built_for_torch": torch_tpu.BUILT_FOR_TORCH,
        "location": os.path.dirname(torch_tpu.__file__),
    }
    text = f"torch_tpu {facts['torch_tpu'] or '(not installed)'} for torch {facts['built_for_torch']}, "
    text += f"torch {facts['torch']}, Python {facts['python']}\n{facts['location']}"
    matches = ".".join(torch.__version__.split(".")[:2]) == torch_tpu.BUILT_FOR_TORCH
    if not matches:
        text += f"\nInstall torch {torch_tpu.BUILT_FOR_TORCH}, or a torch_tpu for torch {torch.__version__}."
    return Check("versions", "ok" if matches else "problem", text, facts)


def check_autoload() -> Check:
    """Whether `import torch` makes the device known."""
    registered = any(entry.name == "torch_tpu" for entry in metadata.entry_points(group="torch.backends"))
    wanted = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1"
    facts = {"state": torch_tpu._state, "entry_point": registered, "wanted": wanted}
    if torch_tpu._state != "on":
        return Check("autoload", "problem", f"device `tpu` is off: {torch_tpu._reason}", facts)
    if not registered:
        text = "the entry point is missing, so programs must `import torch_tpu`. Install the package: pip install ."
        return Check("autoload", "problem", text, facts)
    if not wanted:
        text = "TORCH_DEVICE_BACKEND_AUTOLOAD=0: programs must `import torch_tpu`"
        return Check("autoload", "note", text, facts)
    return Check("autoload", "ok", "`import torch` makes device `tpu` known", facts)


def check_neighbours() -> Iterator[Check]:
    """Packages that share the hardware or the name."""
    if version := version_of("torch-tpu"):
        text = f"torch-tpu {version} is installed too and provides the same package `torch_tpu`. Uninstall one of them."
        yield Check("packages", "problem", text, {"torch-tpu": version})
    found = {name: version for name in NEIGHBOURS if (version := version_of(name))}
    if found:
        lines = [f"{name} {version}: {NEIGHBOURS[name]}" for name, version in found.items()]
        yield Check("packages", "note", "\n".join(lines), found)
    else:
        yield Check("packages", "ok", f"none of {', '.join(NEIGHBOURS)} is installed", {})


def check_variables() -> Iterator[Check]:
    """What the environment sets, and names that nobody reads."""
    if torch_tpu._state != "on":
        return
    from torch_tpu import _C

    known = [name for name, _, _ in _C.environment()]
    found = {name: os.environ[name] for name in [*known, *FOREIGN_VARIABLES] if name in os.environ}
    text = "\n".join(f"{name}={value}" for name, value in found.items())
    yield Check("variables", "note" if found else "ok", text or "none is set", found)
    for name, closest in _C.unknown_variables():
        text = f"{name} is unknown and has no effect" + (f"; did you mean {closest}?" if closest else "")
        yield Check("variables", "problem", text, {"name": name, "closest": closest})


def check_plugin(choice: plugins.Choice) -> Check:
    """Which plugin is taken, and whether it is the right one for this machine."""
    chips = plugins.tpu_chips()
    facts = {"path": choice.path, "chips": chips, "distribution": distribution_of(choice.path)}
    if not choice.path:
        return Check("plugin", "problem", choice.why, facts)
    text = f"{choice.path}" + f"\n{facts['distribution']}" * bool(facts["distribution"])
    if chips and not choice.path.endswith("libtpu.so"):
        text += f"\n{chips} TPU chips are attached, and this is not libtpu. Install it: pip install libtpu"
        return Check("plugin", "problem", text, facts)
    return Check("plugin", "ok", text, facts)


def distribution_of(path: str) -> str:
    """Name and version of the known package that a plugin came with; "" for others."""
    for name in [name for name, _, _ in plugins.CPU_PLUGINS] + ["libtpu"]:
        try:
            files = metadata.distribution(name).files or []
        except metadata.PackageNotFoundError:
            continue
        if any(file.name == os.path.basename(path) and os.path.samefile(file.locate(), path) for file in files):
            return f"{name} {metadata.version(name)}"
    return ""


def check_trial(timeout: float) -> Iterator[Check]:
    """A child process loads the plugin, runs its self-test and one program, and says what it saw."""
    command = [sys.executable, "-m", "torch_tpu", "doctor", "--probe"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        text = f"the plugin gave no answer within {timeout:g} s. On a TPU: does another process hold it?"
        yield Check("trial", "problem", text, {"timeout": timeout})
        return
    if done.returncode != 0:
        yield Check("trial", "problem", reason_of_end(done), {"exit_code": done.returncode, "stderr": done.stderr})
        return
    facts = json.loads(done.stdout.splitlines()[-1])
    if "error" in facts:
        yield Check("trial", "problem", facts["error"], facts)
        return
    yield from checks_of(facts)


def reason_of_end(done: subprocess.CompletedProcess) -> str:
    """Why the child ended without an answer."""
    if done.returncode < 0:
        text = f"the process was ended by {signal.Signals(-done.returncode).name} while it used the plugin"
    else:
        text = f"the process that used the plugin ended with exit code {done.returncode}"
    return "\n".join([text, *done.stderr.strip().splitlines()[-5:]])


def checks_of(facts: dict[str, Any]) -> Iterator[Check]:
    """What the child saw, as lines of the report."""
    plugin, devices = facts["plugin"], facts["devices"]
    text = f"platform {plugin['platform']} ({plugin['platform_version']}), PJRT {plugin['pjrt_api']}"
    yield Check("runtime", "ok", f"{text}\n{plugin['workarounds']}", plugin)
    settings = facts["settings"]
    yield Check("settings", "ok", ", ".join(f"{name} {value}" for name, value in settings.items()), settings)
    lines = [f"tpu:{i} {device['name']}, {device['total_memory'] / 2**30:.1f} GiB" for i, device in enumerate(devices)]
    yield Check("devices", "note" if plugin["is_cpu"] else "ok", "\n".join(lines), {"devices": devices})
    memory = facts["memory"]
    text = f"{memory['allocated']} of {memory['limit']} bytes in use after one program"
    yield Check("memory", "ok", text, memory)
    yield check_cache(facts["cache"])
    right = facts["result"] == facts["expected"]
    text = f"2x2 product in a process of its own, {facts['seconds']:.2f} s with the start"
    text += "" if right else f": got {facts['result']}, expected {facts['expected']}"
    facts = {key: facts[key] for key in ("result", "expected", "seconds")}
    yield Check("trial", "ok" if right else "problem", text, facts)


def check_cache(stats: dict[str, Any]) -> Check:
    """Whether compiled programs outlive the process, from what the child's one program found or left on disk."""
    directory = os.environ.get("TORCH_TPU_CACHE_DIR") or os.path.expanduser("~/.cache/torch_tpu")
    facts = {"directory": directory, **stats}
    if directory == "off" or os.environ.get("TORCH_TPU_CACHE_BYTES") == "0":
        return Check("cache", "note", "off: every process compiles its programs anew", facts)
    if stats["disk_hits"] or stats["disk_bytes_written"]:
        return Check("cache", "ok", f"programs are kept in {directory}", facts)
    text = f"nothing could be kept in {directory}, so every process compiles its programs anew. Is it writable?"
    return Check("cache", "problem", text, facts)


def probe() -> dict[str, Any]:
    """Runs in the child: starts the runtime and runs one program on every device. Gives what it saw, or the error."""
    import time

    from torch_tpu import _C

    try:
        settings = {"mode": _C.mode(), "host_ops": _C.host_policy(), "debug": _C.debug_level()}
        begin = time.perf_counter()
        torch.tpu.init()
        results = []
        for index in range(torch.tpu.device_count()):
            x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=f"tpu:{index}")
            results.append((x @ x + 1).tolist())
        return {
            "settings": settings,
            "plugin": _C.plugin(),
            "devices": [device_facts(index) for index in range(torch.tpu.device_count())],
            "memory": _C.memory(0),
            "cache": torch.tpu.cache_stats(),
            "result": results,
            "expected": [[[8.0, 11.0], [16.0, 23.0]]] * len(results),
            "seconds": time.perf_counter() - begin,
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def device_facts(index: int) -> dict[str, Any]:
    """Name and memory of one device."""
    properties = torch.tpu.get_device_properties(index)
    return {"name": properties.name, "total_memory": properties.total_memory}
