"""torch.compile for `tpu`: the backend "tpu", which is also the default for graphs that touch the device.

AOTAutograd gives functional graphs of ATen ops: one for forward, one for backward. Such a graph is traced at its first
call with inputs of a layout it has not seen: its ops run, through the same kernels as in eager mode, on tensors that
stand for the inputs, which records them as one segment; the segment is compiled to one executable. A graph that needs
the elements of a tensor on the way (an op without a lowering, a data-dependent size) is split around that op, which
then runs by itself.

Public: `tpu_backend` (entry point group `torch_dynamo_backends`), `default_backend`, `stats`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from torch_tpu import _C

_OPTIONS: frozenset[str] = frozenset()
_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


@dataclasses.dataclass
class _Counts:
    graphs: int = 0
    programs: int = 0
    calls: int = 0
    splits: dict[str, int] = dataclasses.field(default_factory=dict)


_counts = _Counts()


def stats() -> dict[str, Any]:
    """What torch.compile made for `tpu` in this process.

    graphs: graphs that were handed over; programs: executables, one per graph (or part of one) and layout of its
    inputs; calls: runs of programs; splits: ops around which graphs were split, with how often.
    """
    return dataclasses.asdict(_counts)


def tpu_backend(
    gm: fx.GraphModule, example_inputs: Sequence[Any], *, mode: str | None = None, options=None, **_
) -> Callable:
    """The backend of `torch.compile(model, backend="tpu")`. `mode` is accepted, all modes do the same.

    Raises ValueError for an unknown mode or option.
    """
    if mode not in _MODES:
        raise ValueError(f"torch.compile for tpu: expected mode to be one of {_MODES[1:]}, got {mode!r}")
    unknown = sorted(set(options or {}) - _OPTIONS)
    if unknown:
        known = ", ".join(sorted(_OPTIONS)) or "there are none"
        raise ValueError(f"torch.compile for tpu: unknown options {', '.join(unknown)} (known: {known})")
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch._aot_autograd.utils import register_graphsafe_rng_device_type
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    register_graphsafe_rng_device_type("tpu")  # activation checkpointing saves the generator's state in the graph
    return aot_autograd(
        fw_compiler=_compile,
        bw_compiler=_compile,
        inference_compiler=_compile,
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )(gm, example_inputs)


def default_backend(gm: fx.GraphModule, example_inputs: Sequence[Any], mode=None, options=None, **kwargs) -> Callable:
    """What `torch.compile` uses when no backend is named: "tpu" for a graph that touches the device, else inductor."""
    if _touches_tpu(gm, example_inputs):
        return tpu_backend(gm, example_inputs, mode=mode, options=options)
    # The registered name takes neither mode nor options: torch hands them to inductor through this class.
    return torch._TorchCompileInductorWrapper(mode, options, None)(gm, example_inputs)


def _is_tpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "tpu"


def _touches_tpu(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> bool:
    if any(map(_is_tpu, example_inputs)):
        return True
    for module in gm.modules():
        if any(map(_is_tpu, (*module.parameters(False), *module.buffers(False)))):
            return True
        if not isinstance(module, fx.GraphModule):
            continue
        for node in module.graph.nodes:
            if any(_is_tpu(leaf) for leaf in torch.utils._pytree.tree_leaves(node.meta.get("example_value"))):
                return True
            if node.op == "get_attr" and _is_tpu(
                functools.reduce(lambda o, n: getattr(o, n, None), node.target.split("."), module)
            ):
                return True
            device = node.kwargs.get("device")
            if device is not None and torch.device(device).type == "tpu":
                return True
    return False


def _compile(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable:
    from torch._functorch.aot_autograd import make_boxed_func

    _counts.graphs += 1
    return make_boxed_func(_Graph(gm))


class _Interpreter(fx.Interpreter):
    """Runs a graph on stand-ins: results have the strides that the graph was made for, which calls of aten.view further
    down depend on. Remembers the node at which it failed."""

    node: fx.Node | None = None

    def run_node(self, node: fx.Node) -> Any:
        self.node = node
        _C.set_place(_place_of(node))
        result = super().run_node(node)
        makes_new = isinstance(node.target, torch._ops.OpOverload) and not any(
            value.alias_info is not None for value in node.target._schema.returns
        )
        return (
            torch.utils._pytree.tree_map(_with_strides, result, node.meta["val"])
            if makes_new and "val" in node.meta
            else result
        )


def _place_of(node: fx.Node) -> str:
    """The user's line that the node was made of, "file.py:12"; "" when the graph does not say."""
    frames = re.findall(r'File "(.+)", line (\d+), in ', node.stack_trace or "")
    own = [f"{file}:{line}" for file, line in frames if "/torch/" not in file and "/torch_tpu/" not in file]
    if not own:
        return ""
    return f"the backward pass of {own[-1]}" if node.meta.get("partitioner_tag") == "is_backward" else own[-1]


def _with_strides(result: Any, fake: Any) -> Any:
    """`result`, laid out in memory as `fake`. A size that is only known by name counts with its example."""
    if not isinstance(result, torch.Tensor) or not isinstance(fake, torch.Tensor) or result.numel() == 0:
        return result
    strides = [stride if isinstance(stride, int) else stride.node.hint for stride in fake.stride()]
    sizes = [size if isinstance(size, int) else size.node.hint for size in fake.shape]
    if any(stride is None for stride in strides) or result.dim() != len(strides):
        return result
    if list(result.shape) != sizes:  # another size than the example's: the order is what carries over
        order = sorted(range(len(strides)), key=lambda i: -strides[i])
        strides = torch.empty_permuted(result.shape, order, device="meta").stride()
    if all(n <= 1 or a == b for n, a, b in zip(result.shape, strides, result.stride(), strict=True)):
        return result
    return torch.empty_strided(result.shape, strides, dtype=result.dtype, device=result.device).copy_(result)


@contextlib.contextmanager
def _outside_of_modes():
    """Nothing of the caller's surroundings may see or change the ops of a trace."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._C._DisableFuncTorch())
        stack.enter_context(torch.utils._python_dispatch._disable_current_modes())
        stack.enter_context(
            torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.ADInplaceOrView))
        )
        stack.enter_context(torch.no_grad())
        for device in ("tpu", "cpu"):
            stack.enter_context(torch.autocast(device, enabled=False))
        yield


class _Graph:
    """A graph of ATen ops, callable with its inputs: one program per layout of them, or a sequence of parts."""

    def __init__(self, gm: fx.GraphModule):
        self.gm = gm
        (output,) = (node for node in gm.graph.nodes if node.op == "output")
        self.is_single = isinstance(output.args[0], fx.Node)  # a part's only result, without a list around it
        self.output_nodes = [output.args[0]] if self.is_single else list(output.args[0])
        self.device: int | None = None
        self.program: _C.Program | None = None
        self.tracing = threading.Lock()
        self.salts: dict[tuple, int] = {}  # sizes and inputs that are no tensors -> their number
        self.others: dict[int, list[Any]] = {}  # salt -> results that are no tensors, in their places
        self.parts: Callable | None = None
        if (node := next(filter(_swaps_generator, gm.graph.nodes), None)) is not None and len(_ops(gm)) > 1:
            self.parts = _split(gm, node)
        self.cpu_outputs: dict[int, list[bool]] = {}

    def __call__(self, *inputs: Any) -> Any:
        if self.parts is not None:
            results = self.parts(*inputs)
            return [results] if self.is_single else results
        tensors, salt, copied = self._sort(inputs)
        if self.program is None:
            self.program = _C.Program(self.device)
        results = self.program.run(tensors, salt)
        if results is None:
            with self.tracing:  # another thread may have done it meanwhile
                results = self.program.run(tensors, salt) if self.parts is None else None
                if results is None and self.parts is None:
                    try:
                        self._trace(inputs, tensors, salt)
                        results = self.program.run(tensors, salt)
                    except _Split as split:
                        self.parts = _split(self.gm, split.node)
        if results is None:
            return self(*inputs)
        _counts.calls += 1
        for cpu, tpu in copied:
            cpu.copy_(tpu)
        merged = [other if result is None else result for result, other in zip(results, self.others[salt], strict=True)]
        for i, is_cpu in enumerate(self.cpu_outputs[salt]):
            if is_cpu:
                merged[i] = merged[i].cpu()
        return merged

    def _sort(self, inputs: Sequence[Any]):
        """Tensors of the device for the program, the number of what else a trace depends on (sizes, inputs that are no
        tensors), and written CPU tensors with their copies."""
        tensors: list[torch.Tensor | None] = []
        rest: list[Any] = []
        for value in inputs:
            if not isinstance(value, torch.Tensor):
                tensors.append(None)
                rest.append(_exact(value))
                continue
            rest.append((value.device.type, tuple(value.shape)))
            if value.device.type == "tpu":
                tensors.append(value.detach() if value.requires_grad else value)
                if self.device is None:
                    self.device = value.device.index
            else:
                tensors.append(value)
        if self.device is None:
            self.device = _C.current_device()
        copied = []
        written = self._written_inputs
        for i, value in enumerate(tensors):
            if value is not None and value.device.type != "tpu":
                tensors[i] = value.detach().to(torch.device("tpu", self.device))
                if i in written:
                    copied.append((value, tensors[i]))
        return tensors, self.salts.setdefault(tuple(rest), len(self.salts)), copied

    @functools.cached_property
    def _placeholders(self) -> list[fx.Node]:
        return [node for node in self.gm.graph.nodes if node.op == "placeholder"]

    @functools.cached_property
    def _written_inputs(self) -> frozenset[int]:
        """Positions of placeholders that the graph writes."""
        places = {node: i for i, node in enumerate(self._placeholders)}
        written = set()
        for node in self.gm.graph.nodes:
            if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
                for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
                    is_write = argument.alias_info is not None and argument.alias_info.is_write
                    if is_write and isinstance(value, fx.Node) and value in places:
                        written.add(places[value])
        return frozenset(written)

    def _trace(self, inputs: Sequence[Any], tensors: Sequence[torch.Tensor | None], salt: int) -> None:
        interpreter = _Interpreter(self.gm)
        generator = _C.default_generator(self.device)
        state = generator.get_state()
        with _outside_of_modes(), torch.device("tpu", self.device):
            stand_ins = self.program.begin(tensors, salt)
            arguments = [
                given if stand_in is None else stand_in for given, stand_in in zip(inputs, stand_ins, strict=True)
            ]
            try:
                results = interpreter.run(*arguments)
                results = [results] if isinstance(results, torch.Tensor) else list(results)
                promises = [node.meta.get("val") if isinstance(node, fx.Node) else None for node in self.output_nodes]
                results = [_with_strides(result, fake) for result, fake in zip(results, promises, strict=True)]
                # A graph may promise CPU tensors: the step counters of an optimizer, for instance.
                on_cpu = [
                    isinstance(result, torch.Tensor) and getattr(fake, "device", result.device).type == "cpu"
                    for result, fake in zip(results, promises, strict=True)
                ]
                results = [self._on_device(result) for result in results]
                self.program.finish([r if isinstance(r, torch.Tensor) else None for r in results])
            except Exception:
                was_read = self.program.was_read()
                self.program.abandon()
                if was_read:
                    raise _Split(interpreter.node) from None
                raise
            finally:
                generator.set_state(state)
                _C.set_place("")
        self.cpu_outputs[salt] = on_cpu
        self.others[salt] = [None if isinstance(r, torch.Tensor) else r for r in results]
        _counts.programs += 1

    def _on_device(self, result: Any) -> Any:
        if isinstance(result, torch.Tensor) and result.device.type != "tpu":
            return result.to(torch.device("tpu", self.device))
        return result


class _Split(Exception):
    def __init__(self, node: fx.Node):
        self.node = node


def _ops(gm: fx.GraphModule) -> list[fx.Node]:
    return [node for node in gm.graph.nodes if node.op == "call_function" and node.target is not operator.getitem]


def _swaps_generator(node: fx.Node) -> bool:
    """An op that runs with a generator given as input: which one is known at each call only, so it runs by itself."""
    return node.op == "call_function" and node.target is torch._prims.rng_prims.graphsafe_run_with_rng_state


def _exact(value: Any) -> tuple:
    """A key that only the same input has: 1, 1.0 and True are three, and so are 0.0 and -0.0."""
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        value = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}[type(value)](value)
    if isinstance(value, (int, float, bool, str, type(None))):
        return type(value), repr(value)
    return _Same, _Same(value)


class _Same:
    """Equal to another when both hold the same object, which stays alive."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _split(gm: fx.GraphModule, node: fx.Node) -> Callable:
    """The graph as three parts in sequence: what comes before `node`, that op as it is, and the rest."""
    from torch.fx.passes.split_module import split_module

    name = str(node.target)
    _counts.splits[name] = _counts.splits.get(name, 0) + 1
    place = {n: i for i, n in enumerate(gm.graph.nodes)}
    at = place[node]

    def part_of(other: fx.Node) -> int:
        if other is node or (
            other.target is operator.getitem and other.args[0] is node
        ):  # a list does not leave a part
            return 1
        return 2 if place[other] > at else 0

    parts = split_module(gm, None, part_of, keep_original_order=True)
    for child_name, child in list(parts.named_children()):
        if isinstance(child, fx.GraphModule) and child_name in ("submod_0", "submod_2"):
            setattr(parts, child_name, _Part(child))
    parts.submod_1 = _AsItIs(parts.submod_1, _place_of(node))
    return parts.forward


class _AsItIs(torch.nn.Module):
    """Ops that run by themselves, and where they stand in the user's program."""

    def __init__(self, ops: torch.nn.Module, place: str):
        super().__init__()
        self.ops, self.place = ops, place

    def forward(self, *inputs: Any) -> Any:
        _C.set_place(self.place)
        try:
            return self.ops(*inputs)
        finally:
            _C.set_place("")


class _Part(torch.nn.Module):
    def __init__(self, gm: fx.GraphModule):
        super().__init__()
        self.part = _Graph(gm)

    def forward(self, *inputs: Any) -> Any:
        results = self.part(*inputs)
        return results[0] if self.part.is_single else results
