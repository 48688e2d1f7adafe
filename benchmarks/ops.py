"""Times single ops on `tpu` (mode strict, warm) against torch on the CPU, interleaved in one process; prints a table.

    .venv/bin/python benchmarks/ops.py                         # all cases
    .venv/bin/python benchmarks/ops.py --only conv --rounds 9 --write docs/benchmarks.md

A case is an op and its arguments. The contestants take turns, so that a disturbance of the machine meets all of them;
the table gives medians over the rounds and ratios of medians. Where a program calls a host kernel (docs/ops.md), a
third contestant runs the generic lowering, and the column `gain` says how much longer that takes.
Two threads of torch on a busy machine wait for each other: there, `OMP_NUM_THREADS=1 taskset -c 1` and `--cpu-time`.
The bar: geometric mean of the ratios at most 0.9, none above 1.3 (cases below 0.1 ms: torch + 10 us).
"""

import argparse
import math
import statistics
import time
from pathlib import Path

import report
import torch
from rich.console import Console
from rich.table import Table
from torch.nn import functional as F

aten = torch.ops.aten
BRIEF = 0.1  # ms; below it the bar is torch + 10 us
MARKER = "<!-- table: written by benchmarks/ops.py -->"


def rn(*sizes):
    return torch.randn(*sizes)


def ints(top, *sizes):
    return torch.randint(top, sizes)


def with_gradient(function, count):
    """`function` of the first `count` arguments, and its gradients to them."""

    def run(*args):
        wanted = [arg.requires_grad_() for arg in args[:count]]
        result = function(*args)
        return torch.autograd.grad(result.sum(), wanted)

    return run


def gradient_of(x, weight, stride, padding, mask, groups=1, transposed=False):
    """The arguments of convolution_backward and what calls it."""
    n = x.dim() - 2
    lists = ([stride] * n, [padding] * n, [1] * n, transposed, [0] * n, groups)
    y = aten.convolution(x, weight, None, *lists)
    grad = torch.randn_like(y)
    return lambda g, a, w: aten.convolution_backward(g, a, w, None, *lists, mask), (grad, x, weight)


INPUT, WEIGHT = [True, False, False], [False, True, False]
LAST = torch.channels_last


def convolutions():
    x, w = rn(16, 64, 56, 56), rn(64, 64, 3, 3)
    wide, deep, stem = rn(128, 64, 1, 1), rn(64, 1, 3, 3), (rn(8, 3, 64, 64), rn(64, 3, 7, 7))
    last, bf16 = (x.to(memory_format=LAST), w.to(memory_format=LAST)), (x.bfloat16(), w.bfloat16())
    small, up = rn(4, 64, 32, 32), rn(64, 32, 4, 4)
    return [
        ("conv 3x3", lambda a, b: F.conv2d(a, b, padding=1), (x, w)),
        ("conv 3x3 channels_last", lambda a, b: F.conv2d(a, b, padding=1), last),
        ("conv 3x3 bf16", lambda a, b: F.conv2d(a, b, padding=1), bf16),
        ("conv 3x3 stride 2", lambda a, b: F.conv2d(a, b, stride=2, padding=1), (x, w)),
        ("conv 1x1", F.conv2d, (x, wide)),
        ("conv depthwise", lambda a, b: F.conv2d(a, b, padding=1, groups=64), (x, deep)),
        ("conv stem 7x7", lambda a, b: F.conv2d(a, b, stride=2, padding=3), stem),
        ("conv 3x3 input gradient", *gradient_of(x, w, 1, 1, INPUT)),
        ("conv 3x3 weight gradient", *gradient_of(x, w, 1, 1, WEIGHT)),
        ("conv 3x3 channels_last input gradient", *gradient_of(*last, 1, 1, INPUT)),
        ("conv 3x3 channels_last weight gradient", *gradient_of(*last, 1, 1, WEIGHT)),
        ("conv 3x3 bf16 input gradient", *gradient_of(*bf16, 1, 1, INPUT)),
        ("conv 3x3 bf16 weight gradient", *gradient_of(*bf16, 1, 1, WEIGHT)),
        ("conv 3x3 stride 2 input gradient", *gradient_of(x, w, 2, 1, INPUT)),
        ("conv 3x3 stride 2 weight gradient", *gradient_of(x, w, 2, 1, WEIGHT)),
        ("conv 1x1 input gradient", *gradient_of(x, wide, 1, 0, INPUT)),
        ("conv 1x1 weight gradient", *gradient_of(x, wide, 1, 0, WEIGHT)),
        ("conv depthwise input gradient", *gradient_of(x, deep, 1, 1, INPUT, 64)),
        ("conv depthwise weight gradient", *gradient_of(x, deep, 1, 1, WEIGHT, 64)),
        ("conv stem 7x7 input gradient", *gradient_of(*stem, 2, 3, INPUT)),
        ("conv stem 7x7 weight gradient", *gradient_of(*stem, 2, 3, WEIGHT)),
        ("conv_transpose 4x4 stride 2", lambda a, b: F.conv_transpose2d(a, b, stride=2, padding=1), (small, up)),
    ]


def products():
    cases = []
    for n in (64, 256, 1024, 2048):
        cases.append((f"matmul {n}", torch.mm, (rn(n, n), rn(n, n))))
        if n in (256, 1024):
            cases.append((f"matmul {n} bf16", torch.mm, (rn(n, n).bfloat16(), rn(n, n).bfloat16())))
    linear = (rn(128, 768), rn(3072, 768), rn(3072))
    cases.append(("linear 128x768x3072", F.linear, linear))
    cases.append(("linear 128x768x3072 bf16", F.linear, tuple(x.bfloat16() for x in linear)))
    cases.append(("bmm 96x128x64", torch.bmm, (rn(96, 128, 64), rn(96, 64, 128))))
    return cases


def pools_and_norms():
    x = rn(16, 64, 56, 56)
    window = ([3, 3], [2, 2], [1, 1], [1, 1], False)
    pooled, indices = aten.max_pool2d_with_indices(x, *window)
    weight, bias, mean, var = rn(64), rn(64), torch.zeros(64), torch.ones(64)
    normed = aten.native_batch_norm(x, weight, bias, mean, var, True, 0.1, 1e-5)
    tokens, scale, shift = rn(4096, 768), rn(768), rn(768)
    _, token_mean, token_rstd = aten.native_layer_norm(tokens, [768], scale, shift, 1e-5)
    scores = rn(32, 12, 128, 128)
    return [
        ("max_pool 3x3 stride 2", lambda a: aten.max_pool2d_with_indices(a, *window), (x,)),
        (
            "max_pool 3x3 stride 2 backward",
            lambda g, a, i: aten.max_pool2d_with_indices_backward(g, a, *window, i),
            (torch.randn_like(pooled), x, indices),
        ),
        (
            "batch_norm training",
            lambda a, w, b, m, v: aten.native_batch_norm(a, w, b, m, v, True, 0.1, 1e-5),
            (x, weight, bias, mean, var),
        ),
        (
            "batch_norm backward",
            lambda g, a, w, m, v, sm, si: aten.native_batch_norm_backward(
                g, a, w, m, v, sm, si, True, 1e-5, [True, True, True]
            ),
            (torch.randn_like(x), x, weight, mean, var, normed[1], normed[2]),
        ),
        ("layer_norm", lambda a, w, b: F.layer_norm(a, (768,), w, b), (tokens, scale, shift)),
        (
            "layer_norm bf16",
            lambda a, w, b: F.layer_norm(a, (768,), w, b),
            (tokens.bfloat16(), scale.bfloat16(), shift.bfloat16()),
        ),
        (
            "layer_norm backward",
            lambda g, a, m, r, w, b: aten.native_layer_norm_backward(g, a, [768], m, r, w, b, [True, True, True]),
            (torch.randn_like(tokens), tokens, token_mean, token_rstd, scale, shift),
        ),
        ("softmax", lambda a: torch.softmax(a, -1), (scores,)),
        (
            "softmax backward",
            lambda g, a: aten._softmax_backward_data(g, a, -1, torch.float32),
            (torch.randn_like(scores), torch.softmax(scores, -1)),
        ),
        ("cross_entropy with gradient", with_gradient(F.cross_entropy, 1), (rn(4096, 1000), ints(1000, 4096))),
    ]


def attention():
    def causal(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    qkv = tuple(rn(8, 12, 128, 64) for _ in range(3))
    return [
        ("sdpa causal", causal, qkv),
        ("sdpa causal bf16", causal, tuple(x.bfloat16() for x in qkv)),
        ("sdpa causal with gradient", with_gradient(causal, 3), qkv),
    ]


def pointwise():
    x, y = rn(1 << 20), rn(1 << 20)
    bf16 = x.bfloat16()
    return [
        ("gelu", F.gelu, (x,)),
        ("gelu bf16", F.gelu, (bf16,)),
        ("gelu tanh", lambda a: F.gelu(a, approximate="tanh"), (x,)),
        ("exp", torch.exp, (x,)),
        ("tanh", torch.tanh, (x,)),
        ("sin", torch.sin, (x,)),
        ("add", torch.add, (x, y)),
        ("add bf16", torch.add, (bf16, y.bfloat16())),
        ("cast to bf16", torch.Tensor.bfloat16, (x,)),
        ("where", torch.where, (x > 0, x, y)),
        ("rand", lambda a: torch.rand(1 << 20, device=a.device), (x,)),
        ("randn", lambda a: torch.randn(1 << 20, device=a.device), (x,)),
        ("dropout", lambda a: F.dropout(a, 0.1), (x,)),
    ]


def reductions():
    x = rn(1024, 1024)
    cases = []
    for name, op in (("sum", torch.sum), ("amax", torch.amax), ("argmax", torch.argmax), ("cumsum", torch.cumsum)):
        for axis in (0, 1):
            cases.append((f"{name} axis {axis}", lambda a, op=op, axis=axis: op(a, axis), (x,)))
        if name != "cumsum":
            cases.append((f"{name} of all", op, (x,)))
    return [
        *cases,
        ("cumsum 2^20", lambda a: a.cumsum(0), (rn(1 << 20),)),
        ("sort 100,000", torch.sort, (rn(100_000),)),
        ("argsort 100,000", torch.argsort, (rn(100_000),)),
        ("sort rows 1024x1024", torch.sort, (x,)),
        ("topk 10 of 1024x1024", lambda a: a.topk(10), (x,)),
    ]


def indexing():
    table, words = rn(8192, 512), ints(8192, 8192)
    flat, places, values = rn(1 << 20), ints(1 << 20, 100_000), rn(100_000)
    x, columns = rn(1024, 1024), ints(1024, 1024, 1024)
    return [
        ("embedding", F.embedding, (words, table)),
        (
            "embedding backward",
            lambda g, i: aten.embedding_dense_backward(g, i, 8192, -1, False),
            (rn(8192, 512), words),
        ),
        ("index_put", lambda a, i, v: a.index_put((i,), v), (flat, places, values)),
        ("index_put accumulate", lambda a, i, v: a.index_put((i,), v, accumulate=True), (flat, places, values)),
        ("index_put in place", lambda a, i, v: a.index_put_((i,), v), (flat.clone(), places, values)),
        ("scatter_add", lambda a, i, v: a.scatter_add(1, i, v), (x, columns, rn(1024, 1024))),
        ("gather", lambda a, i: a.gather(1, i), (x, columns)),
        ("cat axis 0", lambda a, b: torch.cat((a, b), 0), (x, rn(1024, 1024))),
        ("cat axis 1", lambda a, b: torch.cat((a, b), 1), (x, rn(1024, 1024))),
        ("transpose copy 2048", lambda a: a.t().contiguous(), (rn(2048, 2048),)),
    ]


def matrices():
    def symmetric(n):
        a = rn(n, n)
        return a @ a.t() / n + torch.eye(n)

    linalg = torch.linalg
    return [
        ("svd 128", linalg.svd, (rn(128, 128),)),
        ("qr 128", linalg.qr, (rn(128, 128),)),
        ("eigh 128", linalg.eigh, (symmetric(128),)),
        ("cholesky 128", linalg.cholesky, (symmetric(128),)),
        ("solve 128", linalg.solve, (symmetric(128), rn(128, 128))),
        ("inv 128", linalg.inv, (symmetric(128),)),
        ("cholesky 512", linalg.cholesky, (symmetric(512),)),
        ("eigh 512", linalg.eigh, (symmetric(512),)),
        ("fft 4096x1024", torch.fft.fft, (torch.randn(4096, 1024, dtype=torch.complex64),)),
        ("rfft 1024x1024", torch.fft.rfft, (rn(1024, 1024),)),
    ]


def optimizers():
    def step(fused):
        made = {}

        def run(parameter, gradient):
            if parameter.device not in made:
                parameter.grad = gradient
                made[parameter.device] = torch.optim.AdamW([parameter], fused=fused)
            made[parameter.device].step()

        return run

    args = rn(10_000_000), rn(10_000_000)
    return [("AdamW 10,000,000", step(None), args), ("AdamW 10,000,000 fused", step(True), args)]


FAMILIES = (
    products, convolutions, pools_and_norms, attention, pointwise, reductions, indexing, matrices, optimizers,
)  # fmt: skip


class Contestant:
    """`torch`, `tpu`, or `generic`: tpu without host kernels."""

    def __init__(self, kind, function, args, clock):
        self.kind, self.function, self.clock = kind, function, clock
        device = "cpu" if kind == "torch" else "tpu"
        self.args = [arg.clone().to(device) for arg in args]

    def run(self, count):
        """Milliseconds per call."""
        on_tpu = self.kind != "torch"
        if on_tpu:
            torch.tpu.set_host_kernels(self.kind == "tpu")
            torch.tpu.synchronize()
        begin = self.clock()
        for _ in range(count):
            self.function(*self.args)
        if on_tpu:
            torch.tpu.synchronize()
        return (self.clock() - begin) / count * 1e3


def measure(function, args, rounds, clock):
    contestants = {kind: Contestant(kind, function, args, clock) for kind in ("torch", "tpu")}
    called = torch.tpu.host_kernel_calls()
    contestants["tpu"].run(1)
    if torch.tpu.host_kernel_calls() != called:
        contestants["generic"] = Contestant("generic", function, args, clock)
    counts = {}
    for kind, contestant in contestants.items():  # compile, warm up, and see how long it takes
        contestant.run(2)
        counts[kind] = max(1, min(200, int(40 / max(contestant.run(1), 1e-3))))
    times = {kind: [] for kind in contestants}
    for _ in range(rounds):
        for kind, contestant in contestants.items():
            times[kind].append(contestant.run(counts[kind]))
    return times


def row_of(name, times):
    """The cells of a case, its ratio, and whether it keeps the bar."""
    medians = {kind: statistics.median(values) for kind, values in times.items()}
    ours, theirs = medians["tpu"], medians["torch"]
    spread = max((max(values) - min(values)) / medians[kind] for kind, values in times.items())
    keeps = ours <= theirs + 0.01 if theirs < BRIEF else ours <= 1.3 * theirs
    generic = (f"{medians['generic']:.3f}", f"{medians['generic'] / ours:.2f}") if "generic" in medians else ("", "")
    ratio = ours / theirs
    cells = (name, f"{ours:.3f}", f"{theirs:.3f}", f"{ratio:.2f}" + ("" if keeps else " !"), f"{spread:.0%}", *generic)
    return cells, ratio, keeps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds per case")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time of the process: for a machine that is in use")
    parser.add_argument("--write", type=Path, help="also write the table to this Markdown file, below its marker line")
    arguments = parser.parse_args()

    clock = time.process_time if arguments.cpu_time else time.perf_counter
    torch.manual_seed(0)
    torch.ones(1, device="tpu")
    torch.tpu.set_mode("strict")
    columns = ("case", "tpu, ms", "torch CPU eager, ms", "ratio", "spread", "generic lowering, ms", "gain")
    table, rows, ratios, missed = Table(*columns), [], [], 0
    for family in FAMILIES:
        for name, function, args in family():
            if arguments.only not in name:
                continue
            cells, ratio, keeps = row_of(name, measure(function, args, arguments.rounds, clock))
            rows.append(cells)
            ratios.append(ratio)
            missed += not keeps
            table.add_row(*cells)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    what = "CPU time" if arguments.cpu_time else "time"
    table.title = title = (
        f"{what}, median of {arguments.rounds} interleaved rounds, mode strict; torch {torch.__version__}, "
        f"{torch.get_num_threads()} threads, {torch.tpu.get_device_name()}, {report.processor()}; {len(rows)} cases, "
        f"geometric mean {mean:.2f}, worst {max(ratios):.2f}, {missed} above the bar (!)"
    )
    Console(width=150).print(table)
    if arguments.write:
        report.write(arguments.write, MARKER, [columns, *rows], f"{title}.")


if __name__ == "__main__":
    main()
