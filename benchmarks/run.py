"""Times ops and a training step on `tpu` against torch on the CPU, interleaved in one process; prints a table.

    make bench                         # all cases
    make bench ARGS="--rounds 9 --write docs/benchmarks.md"

A case is a function that does its work a number of times on one device. The devices take turns, so that a disturbance
of the machine meets both; the table gives medians over the rounds, their spread, and the ratio of the medians. Trust
ratios: times depend on the machine. The plugin's own time for a small add (execute, output released) is measured in C++
in every round of every case, next to the case: it moves with the machine as the case does.
"""

import argparse
import copy
import statistics
import time
from pathlib import Path

import report
import torch
from peer import JaxProcess
from rich.console import Console
from rich.table import Table

import torch_tpu

MARKER = "<!-- table: written by benchmarks/run.py -->"


def chain(device, count, chains):
    """`chains` times `count` adds, each chain with a read at its end."""
    x, y = torch.ones(64, 64, device=device), torch.full((64, 64), 1e-3, device=device)

    def run():
        for _ in range(chains):
            z = x
            for _ in range(count):
                z = z + y
            z[0, 0].item()

    return run


def mixed_chain(device, dtype):
    """50 times add, mul and sub on 2000x2000."""
    x, y = (torch.randn(2000, 2000).to(device, dtype) for _ in range(2))

    def run():
        z = x
        for _ in range(50):
            z = z + y
            z = z * y
            z = z - y
        z[0, 0].item()

    return run


def record(device, turns=12):
    """Eight kinds of ops in a chain, in a segment that is followed; what they compute is not part of it."""
    x, y = torch.rand(64, 64, device=device), torch.rand(64, 64, device=device)

    def run():
        z = x
        for _ in range(turns):
            z = torch.relu(torch.sigmoid(torch.tanh(z) + y) * 1.5 - y)
            z = torch.exp(z) * y
        return z

    return run


def op(device, function, *shapes, count=200):
    args = [torch.randn(*shape).to(device) for shape in shapes]

    def run():
        for _ in range(count):
            function(*args)
        if device == "tpu":
            torch.tpu.synchronize()

    return run


def digits_step(device):
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip
    net = copy.deepcopy(net).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    x, target = torch.randn(64, 1, 8, 8).to(device), torch.randint(10, (64,)).to(device)

    def run():
        for _ in range(5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), target)
            loss.backward()
            optimizer.step()
        loss.item()

    return run


# name, mode of tpu, how often one run does the case, device -> run, and what jax_peer.py calls the same if it has it.
# Single ops in strict: in auto nobody would want their results, and they would not be computed.
CASES = [
    ("record one of 8 kinds, 64x64", "fused", 12 * 8, record),
    ("add 64x64, cached", "strict", 200, lambda d: op(d, torch.add, (64, 64), (64, 64)), "add"),
    ("mul by a number, cached", "strict", 200, lambda d: op(d, lambda x: x * 1.5, (64, 64))),
    ("add_ in place", "strict", 200, lambda d: op(d, lambda x, y: x.add_(y), (64, 64), (64, 64))),
    ("1,000 chained adds 64x64", "strict", 10, lambda d: chain(d, 1000, 10)),
    ("1,000 chained adds 64x64", "auto", 10, lambda d: chain(d, 1000, 10)),
    ("50 x (add, mul, sub) 2000x2000", "auto", 1, lambda d: mixed_chain(d, torch.float32), "chain float32"),
    ("50 x (add, mul, sub) bf16", "auto", 1, lambda d: mixed_chain(d, torch.bfloat16), "chain bfloat16"),
    ("matmul 64", "strict", 100, lambda d: op(d, torch.mm, (64, 64), (64, 64), count=100)),
    ("matmul 256", "strict", 20, lambda d: op(d, torch.mm, (256, 256), (256, 256), count=20)),
    ("matmul 1024", "strict", 2, lambda d: op(d, torch.mm, (1024, 1024), (1024, 1024), count=2)),
    ("digits CNN training step", "strict", 5, digits_step),
    ("digits CNN training step", "auto", 5, digits_step),
]


def finish(device, result):
    """Runs what a case only recorded."""
    if device == "tpu" and result is not None:
        result.sum().item()


def measure(case, rounds, jax):
    name, mode, per_run, make, *twin = case
    torch.tpu.set_mode(mode)
    runs = {device: make(device) for device in ("cpu", "tpu")}
    for device, run in runs.items():  # compile, warm up
        for _ in range(4):
            finish(device, run())
    peer = JaxProcess(*twin, jax) if jax and twin else None
    times = {device: [] for device in (*runs, "plugin", "jax")}
    for _ in range(rounds):
        times["plugin"].append(torch_tpu._C.plugin_add_us(200))
        for device, run in runs.items():
            begin = time.perf_counter()
            result = run()
            times[device].append((time.perf_counter() - begin) / per_run * 1e6)
            finish(device, result)
        if peer:
            times["jax"].append(peer.run(1) / per_run * 1e6)
    if peer:
        peer.close()
    return f"{name} ({mode})", times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds per case")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument(
        "--jax", metavar="PYTHON", help="interpreter with JAX (requirements-jax.txt), one more contestant"
    )
    parser.add_argument("--write", type=Path, help="also write the table to this Markdown file, below its marker line")
    arguments = parser.parse_args()

    torch.ones(1, device="tpu")
    torch_tpu._C.plugin_add_us(2000)  # warm up
    rows = []
    for case in CASES:
        if arguments.only not in case[0]:
            continue
        name, times = measure(case, arguments.rounds, arguments.jax)
        cpu, tpu, plugin = (statistics.median(times[d]) for d in ("cpu", "tpu", "plugin"))
        spread = (max(times["tpu"]) - min(times["tpu"])) / tpu
        jax = statistics.median(times["jax"]) if times["jax"] else None
        with_jax = (f"{jax:,.1f}", f"{tpu / jax:.2f}") if jax else ("", "")
        rows.append(
            (name, f"{tpu:,.1f}", f"{cpu:,.1f}", f"{tpu / cpu:.2f}", *with_jax, f"{spread:.0%}", f"{plugin:.1f}")
        )

    title = (
        f"microseconds per call, median of {arguments.rounds} interleaved rounds; torch {torch.__version__}, "
        f"{torch.get_num_threads()} threads, {torch.tpu.get_device_name()}, {report.processor()}"
    )
    columns = ("case", "tpu", "torch CPU eager", "ratio", "JAX", "tpu / JAX", "spread of tpu", "plugin's own add 64x64")
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*row)
    Console(width=150).print(table)
    if arguments.write:
        report.write(arguments.write, MARKER, [columns, *rows], f"{title}.")


if __name__ == "__main__":
    main()
