"""Compiles programs for TPUs that are not here. In: StableHLO texts and a topology's name. Out: a verdict per text.

The compiler (libtpu, as a rule) ends its process for some programs, so it lives in a child: `python -m
torch_tpu.topology` answers one JSON line per request, and a new child takes over from one that died or took too long.
libtpu also asks the network for minutes, prints and leaves files, unless the environment says otherwise.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from typing import Any

EXAMPLES = "v5e:2x2, v6e:2x2, v5p:2x2x1, v4:2x2x1, tpu7x:2x2x1"
_NAME = re.compile(r"([a-zA-Z0-9_ ]+)[=_:]([0-9]+(?:x[0-9]+)*)(?:_twisted|_untwisted)?")

# Bytes of one device that programs may use, for a compiler that does not say; from libtpu 0.0.52.
MEMORY_LIMITS = {
    "TPU v4": 33014413312,
    "TPU v5 lite": 16909334528,
    "TPU v5": 102786660352,
    "TPU v6 lite": 33546041344,
    "TPU7x": 101724450816,
}

_ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",  # or it asks a metadata server that is not there, for minutes
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",  # of the host it believes to be on; any topology can be named then
    "TPU_WORKER_ID": "0",
    "TPU_LOG_DIR": "disabled",
}
_LEFT_OUT = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")  # a flag that libtpu does not know ends the process


class Refusal(Exception):
    """What the compiler, or its end, has against a request. `kind`: "error", "memory", "crash" or "timeout"."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def check_name(name: str) -> None:
    """Raises ValueError for what is no name of a topology: libtpu would end the process for some of them."""
    found = _NAME.fullmatch(name)
    if not found or any(int(size) == 0 for size in found[2].split("x")):
        raise ValueError(f"'{name}' is no topology. Names look like {EXAMPLES}: a kind of TPU and sizes above zero")


def options_of(name: str) -> dict[str, Any]:
    """What must be said with a name: a chip alone has no host around it, and v4 cores work in pairs."""
    kind, sizes = _NAME.fullmatch(name).groups()
    options: dict[str, Any] = {}
    if all(int(size) == 1 for size in sizes.split("x")) and "x" in sizes:
        options["chips_per_host_bounds"] = [1, 1, 1]
    if kind == "v4":
        options["chip_config_name"] = "megacore"
    return options


class Compiler:
    """A guarded child that compiles for one topology with one plugin; `timeout` is in seconds, per request."""

    def __init__(self, plugin: str, topology: str, timeout: float) -> None:
        check_name(topology)
        self.plugin, self.topology, self.timeout = plugin, topology, timeout
        self._child: subprocess.Popen | None = None
        self._errors = tempfile.TemporaryFile()

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._errors.close()

    def describe(self) -> dict[str, Any]:
        """devices, kind and memory_limit of the topology; raises Refusal."""
        facts = self._ask({"call": "describe_topology"})
        if facts["memory_limit"] is None:
            facts["memory_limit"] = MEMORY_LIMITS.get(facts["kind"])
        return facts

    def compile(self, text: str) -> dict[str, Any]:
        """FLOPs and bytes of a program, as `_C.compile_for_topology` gives them; raises Refusal."""
        return self._ask({"call": "compile_for_topology", "text": text})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        request |= {"plugin": self.plugin, "topology": self.topology, "options": options_of(self.topology)}
        if self._child is None:
            self._start()
        child = self._child
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
            readable, _, _ = select.select([child.stdout], [], [], self.timeout)
            line = child.stdout.readline() if readable else None
        except BrokenPipeError:
            line = b""
        if line is None:
            self._end()
            raise Refusal("timeout", f"the compiler gave no answer within {self.timeout:g} s")
        if not line.endswith(b"\n"):
            raise Refusal("crash", self._reason_of_end())
        answer = json.loads(line)
        if "refused" in answer:
            raise Refusal(answer["kind"], answer["refused"])
        return answer

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT} | _ENVIRONMENT
        self._errors.seek(0)
        self._errors.truncate()
        self._child = subprocess.Popen(
            [sys.executable, "-m", "torch_tpu.topology"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )

    def _end(self) -> None:
        if self._child is None:
            return
        child, self._child = self._child, None
        child.kill()
        child.wait()
        child.stdout.close()
        try:
            child.stdin.close()
        except BrokenPipeError:
            pass  # what it did not read any more

    def _reason_of_end(self) -> str:
        code = self._child.wait()
        self._end()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._errors.seek(0)
        lines = [line for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        said = next((line for line in lines if "Check failed" in line), lines[-1] if lines and code >= 0 else "")
        return f"the compiler crashed: {how}" + f" ({said.strip()})" * bool(said)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    import torch

    from torch_tpu import _C

    try:
        return getattr(_C, request.pop("call"))(**request)
    except torch.OutOfMemoryError as error:
        return {"kind": "memory", "refused": str(error)}
    except Exception as error:
        return {"kind": "error", "refused": str(error)}


def _serve() -> None:
    # Compilers print; answers go where nothing else does.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        answers.write(json.dumps(_answer(json.loads(line))).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
