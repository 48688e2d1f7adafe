"""Times loops that are not the same step again: values read in every step, op sequences that never come again, and a
second process that finds its programs on disk.

    .venv/bin/python benchmarks/loops.py [--rounds 9] [--only NAME] [--write docs/benchmarks.md]

Contestants take turns, round by round, in one process; the processes of `warm start` take turns as well. Sequences that
never come again are the same for all contestants of a round, and others in the next.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import models
import report
import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.nn import functional as F

MARKER = "<!-- loops: the table below is written by benchmarks/loops.py -->"


# --------------------------------------------------------------------------------------------- reads in every step


class Reading:
    """A training loop that clips gradients; `reads` values in each step, or only waits for it."""

    def __init__(self, name, reads):
        torch.manual_seed(0)
        self.reads, self.training, self.large = reads, models.Training(name, "auto"), 0

    def round(self, steps=12):
        begin = time.perf_counter()
        t = self.training
        for _ in range(steps):
            t.optimizer.zero_grad()
            loss = F.cross_entropy(t.net(t.inputs), t.targets)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(t.net.parameters(), 1.0)
            t.optimizer.step()
            if not self.reads:
                torch.tpu.synchronize()
                continue
            self.large += loss.item() > 1.0
            if norm > 0.5:
                print(f"{norm:.3f} {loss:.3f}", file=self.sink)
        return (time.perf_counter() - begin) / steps * 1e3

    sink = open(os.devnull, "w")  # noqa: SIM115  for as long as the process runs


def reads_in_every_step(name, rounds):
    contestants = {"synchronizes": Reading(name, False), "reads": Reading(name, True)}
    return turns(contestants, rounds, warm=3), "reads", "synchronizes", 1.15


# ---------------------------------------------------------------------------------- sequences that never come again


class TreeLstm(nn.Module):
    """From the leaves of a binary tree upwards, a cell per inner node (Tai et al. 2015, equations 9 to 14)."""

    def __init__(self, width=64):
        super().__init__()
        self.leaf, self.cell = nn.Linear(width, 2 * width), nn.Linear(2 * width, 5 * width)

    def forward(self, tree, leaves):
        if isinstance(tree, int):
            return self.leaf(leaves[tree]).chunk(2)
        (h1, c1), (h2, c2) = (self(child, leaves) for child in tree)
        i, f1, f2, o, u = self.cell(torch.cat([h1, h2])).chunk(5)
        c = i.sigmoid() * u.tanh() + f1.sigmoid() * c1 + f2.sigmoid() * c2
        return o.sigmoid() * c.tanh(), c


def random_tree(leaves, choose):
    if len(leaves) == 1:
        return leaves[0]
    cut = choose.randrange(1, len(leaves))
    return random_tree(leaves[:cut], choose), random_tree(leaves[cut:], choose)


class Trees:
    def __init__(self, mode):
        torch.manual_seed(0)
        self.mode, self.seed = mode, 0
        self.net = TreeLstm().to("tpu")
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1e-2)
        self.leaves = torch.randn(24, 64).to("tpu")

    def round(self, trees=8):
        torch.tpu.set_mode(self.mode)
        choose = random.Random(self.seed)
        self.seed += 1
        begin = time.perf_counter()
        for _ in range(trees):
            h, _ = self.net(random_tree(list(range(choose.randrange(4, 25))), choose), self.leaves)
            loss = h.square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            loss.item()
        return (time.perf_counter() - begin) / trees * 1e3


class Episodes:
    """REINFORCE: as many actions as chance wants, each read, and one update."""

    def __init__(self, mode):
        torch.manual_seed(0)
        self.mode, self.seed = mode, 0
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2)).to("tpu")
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def round(self, episodes=4):
        torch.tpu.set_mode(self.mode)
        choose = random.Random(self.seed)
        self.seed += 1
        begin = time.perf_counter()
        for _ in range(episodes):
            state, chosen = [0.1, 0.0, -0.1, 0.0], []
            for _ in range(choose.randrange(8, 60)):
                logs = F.log_softmax(self.net(torch.tensor(state, device="tpu")), 0)
                action = torch.multinomial(logs.detach().exp(), 1).item()
                chosen.append(logs[action])
                state = [0.9 * x + 0.1 * (action - 0.5) * (k + 1) for k, x in enumerate(state)]
            self.optimizer.zero_grad()
            (-torch.stack(chosen).sum() / len(chosen)).backward()
            self.optimizer.step()
        return (time.perf_counter() - begin) / episodes * 1e3


def never_the_same(make, rounds):
    return turns({mode: make(mode) for mode in ("strict", "auto")}, rounds, warm=2), "auto", "strict", 1.5


# ------------------------------------------------------------------------------------------------------ warm start

FIRST_LOSS = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import models
models.Training("gpt", sys.argv[1]).run(1)
if sys.argv[1] != "torch":
    import torch
    print(torch.tpu.cache_stats()["compiles"])
"""


class Process:
    """Imports, makes the GPT and its optimizer, and trains until the first loss."""

    def __init__(self, contestant, folder):
        self.contestant, self.folder, self.compiled = contestant, folder, []  # programs, per round

    def round(self):
        begin = time.perf_counter()
        environment = dict(os.environ, TORCH_TPU_CACHE_DIR=self.folder)
        command = [sys.executable, "-c", FIRST_LOSS, self.contestant]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        self.compiled.append(int(done.stdout or 0))
        return (time.perf_counter() - begin) * 1e3


def warm_start(rounds):
    with tempfile.TemporaryDirectory() as folder:
        contestants = {"torch": Process("torch", folder), "auto": Process("auto", folder)}
        times, _ = turns(contestants, rounds, warm=1)
    return (times, max(contestants["auto"].compiled[1:])), "auto", "torch", 1.3


# ---------------------------------------------------------------------------------------------------------- all


def turns(contestants, rounds, warm):
    """Milliseconds of each round per contestant, and the programs that this process compiled meanwhile."""
    before = torch.tpu.cache_stats()["compiles"]
    for _ in range(warm):
        for contestant in contestants.values():
            contestant.round()
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            times[name].append(contestant.round())
    return times, torch.tpu.cache_stats()["compiles"] - before


CASES = {
    "mlp: reads in every step": lambda rounds: reads_in_every_step("mlp", rounds),
    "gpt: reads in every step": lambda rounds: reads_in_every_step("gpt", rounds),
    "random trees": lambda rounds: never_the_same(Trees, rounds),
    "random episodes": lambda rounds: never_the_same(Episodes, rounds),
    "warm start: process to first loss": warm_start,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--write", type=Path, help="also write the table to this Markdown file, below its marker line")
    arguments = parser.parse_args()
    torch.ones(1, device="tpu")
    table = Table("case", "ms", "beside, ms", "ratio", "bar", "spread", "compiles")
    for name, run in CASES.items():
        if arguments.only not in name:
            continue
        torch.tpu.set_mode("auto")
        (times, compiles), measured, beside, bar = run(arguments.rounds)
        medians = {c: statistics.median(t) for c, t in times.items()}
        ratio = medians[measured] / medians[beside]
        spread = max((max(t) - min(t)) / medians[c] for c, t in times.items())
        table.add_row(
            name,
            f"{measured} {medians[measured]:.2f}",
            f"{beside} {medians[beside]:.2f}",
            f"{ratio:.2f}" + (" (!)" if ratio > bar else ""),
            f"{bar:.2f}",
            f"{spread:.0%}",
            str(compiles),
        )
    table.title = (
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {arguments.rounds} rounds, {report.processor()}"
    )
    Console(width=140).print(table)
    if arguments.write:
        rows = list(zip(*(column.cells for column in table.columns), strict=True))
        head = [str(column.header) for column in table.columns]
        title = f"{table.title}. Ratios above their bar carry (!)."
        report.write(arguments.write, MARKER, [head, *rows], title)


if __name__ == "__main__":
    main()
