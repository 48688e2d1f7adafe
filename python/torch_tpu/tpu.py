"""The module `torch.tpu`: devices, streams, memory, random state and reports, with the names of `torch.cuda`."""

from __future__ import annotations

import contextlib
import logging
from typing import Any, NamedTuple

import torch
from torch import Event, OutOfMemoryError, Stream

from torch_tpu import _C, amp
from torch_tpu.bucketing import bucketing, masked_mean

__all__ = [
    "DeviceProperties",
    "Event",
    "Compile",
    "HostOp",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "amp",
    "bucketing",
    "cache_stats",
    "can_device_access_peer",
    "clear_cache",
    "compile_report",
    "compile_stats",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "fail_on_recompile",
    "get_amp_supported_dtype",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "host_kernel_calls",
    "host_ops",
    "init",
    "ipc_collect",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "masked_mean",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "mode",
    "platform",
    "programs",
    "reset_accumulated_memory_stats",
    "reset_host_ops",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_host_kernels",
    "set_host_ops",
    "set_mode",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]

_log = logging.getLogger("torch_tpu")

_Device = torch.device | str | int | None


def __getattr__(name: str):
    if name == "default_generators":
        return tuple(_C.default_generator(index) for index in range(_C.device_count()))
    if name == "_initialized":  # what activation checkpointing asks before it saves the random state
        return _C.is_started()
    raise AttributeError(f"module 'torch.tpu' has no attribute {name!r}")


def _index(device: _Device) -> int:
    """Index of the device that a user named: a number, `tpu:1`, or the current one for None and `tpu`."""
    if device is None:
        return _C.current_device()
    if isinstance(device, int):
        return device
    device = torch.device(device)
    if device.type != "tpu":
        raise ValueError(f"expected a tpu device, got {device}")
    return _C.current_device() if device.index is None else device.index


# --- the runtime


def _lazy_init() -> None:
    """Starts the runtime unless it runs. torch calls this at the first real tensor."""
    _C.start()


def init() -> None:
    """Starts the runtime now instead of at the first tensor."""
    _C.start()


def is_initialized() -> bool:
    """Whether the runtime runs."""
    return _C.is_started()


def is_available() -> bool:
    """Whether there is a plugin to run on. Starts nothing; a process may still fork after it."""
    return _C.device_count() > 0


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that used the device, so that it cannot."""
    return _C.in_bad_fork()


# --- devices


def device_count() -> int:
    """Number of devices; 0 without a plugin. Starts nothing."""
    return _C.device_count()


def current_device() -> int:
    """Index of the calling thread's current device."""
    return _C.current_device()


def set_device(device: _Device) -> None:
    """Makes `device` the current one of the calling thread; a negative index changes nothing."""
    index = _index(device)
    if index >= 0:
        _C.exchange_device(index)


class device:
    """Context manager: `device` is current inside. None or a negative index changes nothing."""

    def __init__(self, device: _Device):
        self.index = -1 if device is None else _index(device)
        self.previous = -1

    def __enter__(self) -> device:
        if self.index >= 0:
            self.previous = _C.exchange_device(self.index)
        return self

    def __exit__(self, *exception: object) -> None:
        if self.index >= 0:
            _C.exchange_device(self.previous)


def device_of(tensor: torch.Tensor) -> device:
    """Context manager: the device of `tensor` is current inside; a tensor elsewhere changes nothing."""
    return device(tensor.device if tensor.device.type == "tpu" else None)


def synchronize(device: _Device = None) -> None:
    """Waits until everything asked of the device so far is done. Other Python threads keep running."""
    if device is None and not _C.is_started() and not _C.in_bad_fork():
        return  # also without a plugin: torch.profiler calls this wherever torch_tpu is installed
    _C.synchronize(_index(device))


class DeviceProperties(NamedTuple):
    """What is known about one device."""

    name: str
    platform: str  # of the plugin: "cpu", "tpu"
    platform_version: str
    total_memory: int  # bytes
    plugin: str  # path of the plugin's library


def get_device_properties(device: _Device = None) -> DeviceProperties:
    """Name, platform, memory and plugin of a device. Starts the runtime."""
    facts, plugin = _C.device_facts(_index(device)), _C.plugin()
    name = facts["kind"] if not facts["is_cpu"] else f"{facts['kind']} (no TPU: the plugin runs on this machine's CPU)"
    return DeviceProperties(name, plugin["platform"], plugin["platform_version"], facts["total_memory"], plugin["path"])


def get_device_name(device: _Device = None) -> str:
    """What the device really is, for instance `TPU v5 lite`. Starts the runtime."""
    return get_device_properties(device).name


def get_device_capability(device: _Device = None) -> dict[str, Any]:
    """The element types that the device supports, as torch.accelerator.get_device_capability gives them."""
    return torch.accelerator.get_device_capability(_index(device))


def get_arch_list() -> list[str]:
    """The platforms that programs are compiled for: the plugin's own. Empty without a plugin."""
    return [platform()] if is_available() else []


def can_device_access_peer(device: _Device, peer_device: _Device) -> bool:
    """Whether tensors can be copied from one device to another without the host. All devices of a process can."""
    return all(0 <= _index(each) < device_count() for each in (device, peer_device))


def platform() -> str:
    """The platform that the plugin drives: `tpu`, or `cpu` where programs run on this machine. Starts the runtime."""
    return _C.plugin()["platform"]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether torch.bfloat16 can be used. Always."""
    return True


def is_tf32_supported() -> bool:
    """Whether float32 products may use TF32. Never: torch.set_float32_matmul_precision chooses bfloat16 passes."""
    return False


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The element types for torch.autocast("tpu"). The first one is the default in the thread that imported torch;
    other threads, whose default torch sets to float16, name theirs: torch.autocast("tpu", torch.bfloat16)."""
    return [torch.bfloat16, torch.float16]


# --- streams: a computation starts when its inputs are ready, so a stream orders nothing more. See csrc/device/guard.h.


def current_stream(device: _Device = None) -> Stream:
    """The calling thread's current stream of a device."""
    return torch.accelerator.current_stream(_index(device))


def default_stream(device: _Device = None) -> Stream:
    """The stream that is current where nothing else was set."""
    device_type = torch._C._autograd.DeviceType.PrivateUse1.value
    return Stream(stream_id=0, device_index=_index(device), device_type=device_type)


def set_stream(stream: Stream | None) -> None:
    """Makes `stream` and its device current; None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


def stream(stream: Stream | None) -> contextlib.AbstractContextManager:
    """Context manager: `stream` is current inside; None changes nothing."""
    return contextlib.nullcontext() if stream is None else stream


class StreamContext:
    """Context manager: `stream` is current inside; None changes nothing."""

    def __init__(self, stream: Stream | None):
        self.stream = stream

    def __enter__(self) -> StreamContext:
        if self.stream is not None:
            self.stream.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.stream is not None:
            self.stream.__exit__(*exception)


def is_current_stream_capturing() -> bool:
    """Whether a graph is being captured. Never: there is no capture on this device."""
    return False


# --- memory: counted by us, in bytes of live arrays


def _memory(device: _Device) -> dict[str, int]:
    return _C.memory(_index(device)) if _C.is_started() else {"allocated": 0, "peak": 0}


def memory_allocated(device: _Device = None) -> int:
    """Bytes that live tensors hold on the device."""
    return _memory(device)["allocated"]


def max_memory_allocated(device: _Device = None) -> int:
    """The largest memory_allocated() since the start or the last reset_peak_memory_stats()."""
    return _memory(device)["peak"]


def memory_reserved(device: _Device = None) -> int:
    """The same as memory_allocated(): released memory is not kept back."""
    return memory_allocated(device)


def max_memory_reserved(device: _Device = None) -> int:
    """The same as max_memory_allocated()."""
    return max_memory_allocated(device)


def memory_stats(device: _Device = None) -> dict[str, Any]:
    """All counts, with the names of torch.accelerator.memory_stats; empty before the runtime is started."""
    return torch.accelerator.memory_stats(_index(device))


def memory_stats_as_nested_dict(device: _Device = None) -> dict[str, Any]:
    """memory_stats() with a dictionary per part of a name: `stats["allocated_bytes"]["all"]["current"]`."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *path, last = name.split(".")
        level = nested
        for part in path:
            level = level.setdefault(part, {})
        level[last] = value
    return nested


def memory_summary(device: _Device = None, abbreviated: bool = False) -> str:
    """A table of memory_stats() for people. There are no pools to break it down by, so it is always abbreviated."""
    index = _index(device)
    stats = memory_stats(index)
    lines = [
        f"PyTorch TPU memory summary, device ID {index}",
        f"{'':<18}{'current':>12}{'peak':>12}{'allocated':>12}{'freed':>12}",
    ]
    for key, title in (("allocated_bytes", "Allocated memory"), ("reserved_bytes", "Reserved memory")):
        columns = [stats.get(f"{key}.all.{column}", 0) for column in ("current", "peak", "allocated", "freed")]
        lines.append(f"{title:<18}" + "".join(f"{_size(count):>12}" for count in columns))
    lines.append(f"{'Live arrays':<18}{stats.get('allocation.all.current', 0):>12}")
    return "\n".join(lines) + "\n"


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def reset_peak_memory_stats(device: _Device = None) -> None:
    """max_memory_allocated() counts from the present value on."""
    if _C.is_started():
        _C.reset_peak_memory(_index(device))


def reset_accumulated_memory_stats(device: _Device = None) -> None:
    """The totals of memory_stats() count from zero."""
    if _C.is_started():
        _C.reset_accumulated_memory(_index(device))


def empty_cache() -> None:
    """Returns to the system what is free in the heap of this process, where the memory of a CPU plugin comes from. A
    TPU's memory is free as soon as it is released."""
    if _C.is_started():
        torch.accelerator.empty_cache()


def ipc_collect() -> None:
    """Nothing to do, for code written for other devices: memory is never shared with other processes."""


def mem_get_info(device: _Device = None) -> tuple[int, int]:
    """Free and total bytes of the device. Starts the runtime."""
    memory = _C.memory(_index(device))
    return max(memory["limit"] - memory["allocated"], 0), memory["limit"]


# --- random state: (seed, offset) per device, kept on the host, so that nothing here starts the runtime


def _get_generator(device: torch.device) -> torch.Generator:
    return _C.default_generator(_index(device))


def manual_seed(seed: int) -> None:
    """Seeds the current device's default generator."""
    _C.default_generator(_C.current_device()).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the default generators of all devices. torch.manual_seed calls it."""
    _C.seed_all(int(seed) % 2**64)


def seed() -> int:
    """Seeds the current device's default generator with a fresh random number, and returns it."""
    return _C.default_generator(_C.current_device()).seed()


def seed_all() -> int:
    """Seeds the default generators of all devices with one fresh random number, and returns it."""
    value = seed()
    manual_seed_all(value)
    return value


def initial_seed() -> int:
    """The seed of the current device's default generator."""
    return _C.default_generator(_C.current_device()).initial_seed()


def get_rng_state(device: _Device = "tpu") -> torch.Tensor:
    """State of a device's default generator: 16 bytes on the CPU."""
    return _C.default_generator(_index(device)).get_state()


def set_rng_state(state: torch.Tensor, device: _Device = "tpu") -> None:
    """Gives a device's default generator a state that get_rng_state() returned."""
    _C.default_generator(_index(device)).set_state(state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices' default generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(states: list[torch.Tensor]) -> None:
    """Gives all devices' default generators the states that get_rng_state_all() returned."""
    for index, state in enumerate(states):
        set_rng_state(state, index)


# --- reports


def cache_stats() -> dict[str, int | float]:
    """Counts of the program cache since the start.

    `requests` reached the map that all threads share (each thread finds what it ran before by itself, uncounted), and
    `hits` of them were answered there. `misses` are the programs that were new to this process: found on disk
    (`disk_hits`) or compiled (`compiles`, `compile_seconds` together). `entries` are kept in memory now, `evictions`
    left it, because TORCH_TPU_CACHE_PROGRAMS are kept at most. Of the files, `disk_misses` were not there or not
    usable, `disk_removed` were damaged or made room; `disk_bytes_read` and `disk_bytes_written` are sizes of programs.
    See docs/caching.md.
    """
    return _C.cache_stats()


def programs() -> list[tuple[str, float]]:
    """Name and compile time in seconds (0 when it came from disk) of every program that is kept, last used first."""
    return [(name, seconds) for name, seconds, _, _ in _C.programs()]


def clear_cache() -> None:
    """Forgets the programs in memory; those on disk stay, and are loaded when they are needed again."""
    synchronize()
    _C.clear_programs()


class Compile(NamedTuple):
    """A program that was compiled, or loaded from disk."""

    name: str  # its first op with operand types, and how many more it has
    cause: str  # "first time", "dtype", "shape", "scalar kind", "options" or "structure"
    line: str  # of the Python program, "train.py:12": where its first op was called or recorded; "" when unknown
    ops: int
    seconds: float  # 0 when it came from disk
    from_disk: bool
    in_background: bool
    is_repeat: bool  # the same program was compiled before in this process, and has since been forgotten (clear_cache)


def compile_report() -> list[Compile]:
    """The programs that were compiled or loaded from disk in this process, in order (the last 10,000).

    `cause` says what is new about each, beside the last program of the same ops in the same order: "first time" (there
    was none), "dtype" or "shape" of an operand, "scalar kind" (an int where a float was), "options" (such as the matmul
    precision), or "structure": strides, which results are wanted, how the ops hang together, other arguments.
    `TORCH_LOGS=torch_tpu` logs each when it happens (`+torch_tpu`: also those that came from disk).
    """
    return [Compile(*record) for record in _C.compile_records()]


@contextlib.contextmanager
def fail_on_recompile():
    """Context manager: inside, a program that would have to be compiled is a RuntimeError with its cause and line.

    Programs that come from disk are loaded. In modes "auto" and "fused" the error is raised where a result is read;
    what was recorded before is run at the begin, and what was recorded inside at the end.
    """
    synchronize()
    guard = _C.NoCompiles()
    try:
        yield
        synchronize()
    finally:
        del guard


def _log_compile(record: tuple) -> None:
    compiled = Compile(*record)
    level = logging.DEBUG if compiled.from_disk else logging.INFO
    if not _log.isEnabledFor(level):
        return
    how = "from disk" if compiled.from_disk else f"compiled in {compiled.seconds * 1e3:.0f} ms"
    where = f" at {compiled.line}" if compiled.line else ""
    _log.log(level, "%s (%s%s): %s", how, compiled.cause, where, compiled.name)


class CacheEntryStats(NamedTuple):
    """Of one program, for `_get_cache_stats`."""

    name: str
    read_count: int  # how often it was found in the map that all threads share
    compilation_duration: int  # microseconds; 0 when it came from disk
    last_read: float  # seconds since the epoch


class CacheStats(NamedTuple):
    num_cache_reqs: int
    num_cache_hits: int
    per_entry_stats: list[CacheEntryStats]


def _get_cache_stats() -> CacheStats:
    """The counts of `cache_stats()` under the names that the published torch_tpu gives them, for its callers.

    What a thread ran before it finds by itself, uncounted: a difference of `num_cache_reqs` and `num_cache_hits` tells
    what was compiled or loaded, not how often anything ran.
    """
    counts = cache_stats()
    entries = [CacheEntryStats(name, reads, round(s * 1e6), last) for name, s, reads, last in _C.programs()]
    requests, hits = counts["hits"] + counts["misses"], counts["hits"]
    return CacheStats(requests, hits, entries)


class HostOp(NamedTuple):
    """An op without a lowering of its own, which ran with PyTorch's CPU kernel."""

    name: str
    calls: int
    bytes: int  # of the tensors read and written
    places: dict[str, int]  # the line of the program that called it, "file.py:12" -> how many of the calls


def host_ops() -> list[HostOp]:
    """The ops that ran on the host since the start or the last reset_host_ops(), most called first.

    A place is the innermost line outside of torch; "the backward pass, SvdBackward0" where autograd runs; in a program
    of torch.compile the line that its graph was made of, "a.py:3 or a.py:7" where one call stands for both; and
    "elsewhere" where there is no line, or for all but the first 32 places of an op.
    """
    return [HostOp(*row) for row in _C.host_ops()]


def reset_host_ops() -> None:
    """host_ops() counts from zero."""
    _C.reset_host_ops()


def set_host_ops(policy: str) -> str:
    """What happens when an op runs on the host: "allow", "warn" (once per op, the default) or "error".

    Returns what it was. TORCH_TPU_HOST_OPS sets it from outside.
    """
    previous = _C.host_policy()
    _C.set_host_policy(policy)
    return previous


def set_host_kernels(on: bool) -> bool:
    """Whether programs of a CPU plugin call PyTorch's CPU kernels for ops that XLA:CPU does badly (the default).

    Without them every op is computed as on a TPU. Holds for ops that are called from now on. Returns what it was.
    TORCH_TPU_HOST_KERNELS=off sets it from outside. Raises NotImplementedError on a plugin that cannot call any.
    """
    previous = _C.host_kernels()
    _C.set_host_kernels(on)
    return previous


def host_kernel_calls() -> dict[str, int]:
    """How often programs of this process called each host kernel (set_host_kernels), by the overload of its op."""
    return _C.host_kernel_calls()


# --- modes

_step_hooks = ()


def set_mode(mode: str) -> str:
    """When ops run: "strict" runs each at once; "auto" (the default) and "fused" record them and run them together.

    What was recorded runs when a value is read, at `synchronize()` or an event, before and after an optimizer's step,
    at the end of a turn of something that repeats itself, and when much was recorded: in "fused" as one program, in
    "auto" one by one when the order may never come again (when it does, it is compiled in the background). "debug" is
    "strict", and each call waits for its result. See docs/modes.md.

    Values, random numbers and error classes are those of "strict"; an error that depends on values (an index out of
    range) may come at the next read instead of at the call. Returns what it was. TORCH_TPU_MODE sets it from outside.
    Raises ValueError for another name.
    """
    previous = _C.mode()
    _C.set_mode(mode)
    _follow_optimizers()
    return previous


@contextlib.contextmanager
def mode(mode: str):
    """Context manager: `set_mode(mode)` inside, for all threads."""
    previous = set_mode(mode)
    try:
        yield
    finally:
        set_mode(previous)


def _follow_optimizers() -> None:
    # A training loop records the same ops from one optimizer step to the next, and the first step differs from the
    # second in the optimizer's part only: segments end before and after that.
    global _step_hooks
    if not _step_hooks and _C.mode() in ("auto", "fused"):
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        _step_hooks = (
            register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: _C.begin_step()),
            register_optimizer_step_post_hook(lambda optimizer, args, kwargs: _C.end_step()),
        )


# --- torch.compile


def compile_stats() -> dict[str, Any]:
    """What torch.compile made for this device in this process: see `torch_tpu.compiler.stats`."""
    from torch_tpu import compiler

    return compiler.stats()
