"""Times whole training steps of seven models on `tpu`, in each mode, beside torch's eager mode on the CPU.

    .venv/bin/python benchmarks/models.py              # steady steps, and first steps from empty caches
    .venv/bin/python benchmarks/models.py --only gpt --rounds 9 --modes strict,auto

The loop is an ordinary one: zero_grad, forward, loss, backward, AdamW's step, loss.item(). Steady times are medians
over rounds in which all contestants take turns in one process. First steps are those of a process each, without a disk
cache: from the model on its device to the first loss after an optimizer step, with the programs compiled for it.
"""

import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import report
import torch
from peer import JaxProcess
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.nn import functional as F

SEEDS = 0


class Block(nn.Module):
    """Pre-norm transformer block; causal for language models."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.after(x))


class Language(nn.Module):
    """GPT (causal) or BERT (not)."""

    def __init__(self, words, length, width, heads, layers, causal):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads, causal) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions(positions)))).flatten(0, 1)


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.positions = nn.Conv2d(3, 192, 8, 8), nn.Parameter(torch.randn(64, 192) * 0.02)
        self.blocks = nn.Sequential(*(Block(192, 3, False) for _ in range(4)))
        self.head = nn.Linear(192, 10)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.blocks(x).mean(1))


class Residual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.one = nn.Sequential(nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU())
        self.two = nn.Sequential(nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.short = nn.Identity()
        if channels != out or stride != 1:
            self.short = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.two(self.one(x)) + self.short(x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for out, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(channels, out, stride), Residual(out, out, 1)]
        channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, 4 * width, bias=False), nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def rotate(self, x):
        half = x.shape[-1] // 2
        steps = torch.arange(half, device=x.device) / half
        angles = torch.arange(x.shape[2], device=x.device)[:, None] / 10000**steps
        one, two = x[..., :half], x[..., half:]
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([one * cos - two * sin, two * cos + one * sin], -1)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        h = self.after(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(256, 256)
        self.blocks = nn.Sequential(LlamaBlock(256, 4), LlamaBlock(256, 4))
        self.head = nn.Linear(256, 256, bias=False)

    def forward(self, tokens):
        return self.head(self.blocks(self.tokens(tokens))).flatten(0, 1)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(128, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def words(batch, length, count):
    return torch.randint(count, (batch, length)), torch.randint(count, (batch * length,))


def mlp():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


# name: (model, batch: inputs and targets)
MODELS = {
    "mlp": (mlp, lambda: (torch.randn(32, 64), torch.randint(10, (32,)))),
    "gpt": (lambda: Language(256, 64, 128, 4, 4, True), lambda: words(16, 64, 256)),
    "vit": (Vit, lambda: (torch.randn(16, 3, 64, 64), torch.randint(10, (16,)))),
    "resnet18": (resnet18, lambda: (torch.randn(8, 3, 64, 64), torch.randint(10, (8,)))),
    "llama": (Llama, lambda: words(4, 128, 256)),
    "lstm": (Tagger, lambda: (torch.randn(16, 64, 128), torch.randint(10, (16,)))),
    "bert-mini": (lambda: Language(1000, 64, 256, 4, 4, False), lambda: words(8, 64, 1000)),
}


class Training:
    """One contestant: `contestant` is torch, torch-fused (its fused AdamW), or a mode of `tpu`."""

    def __init__(self, name, contestant):
        torch.manual_seed(SEEDS)
        make, batch = MODELS[name]
        is_torch = contestant.startswith("torch")
        device = "cpu" if is_torch else "tpu"
        self.mode = None if is_torch else contestant
        self.net = copy.deepcopy(make()).to(device)
        self.inputs, self.targets = (x.to(device) for x in batch())
        fused = contestant == "torch-fused" or None
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-4, fused=fused)

    def step(self):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(self.inputs), self.targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, steps):
        """Seconds per step."""
        if self.mode:
            torch.tpu.set_mode(self.mode)
        begin = time.perf_counter()
        for _ in range(steps):
            self.step()
        return (time.perf_counter() - begin) / steps


def first_step(name, contestant):
    """What a process of its own prints about its first steps: seconds of each, programs compiled."""
    if not contestant.startswith("torch"):
        torch.ones(1, device="tpu")
        torch.tpu.set_mode(contestant)
    training = Training(name, contestant)
    if not contestant.startswith("torch"):
        torch.tpu.synchronize()
    seconds = [training.run(1) for _ in range(4)]
    report = [] if contestant.startswith("torch") else torch.tpu.compile_report()
    print(json.dumps({"seconds": seconds, "programs": len(report), "repeats": sum(each.is_repeat for each in report)}))


def run_first_step(name, contestant, jax):
    if contestant == "jax":
        training = JaxProcess(name, jax)
        training.close()
        return {"seconds": [training.first]}
    command = [sys.executable, __file__, "--first", name, contestant]
    env = dict(os.environ, TORCH_TPU_CACHE_DIR="off")
    run = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return json.loads(run.stdout.splitlines()[-1])


def measure(name, contestants, rounds, jax=None):
    trainings = {c: JaxProcess(name, jax) if c == "jax" else Training(name, c) for c in contestants}
    steps = {}
    for contestant, training in trainings.items():
        for _ in range(4):
            seconds = training.run(1)
        steps[contestant] = max(1, min(50, int(0.3 / max(seconds, 1e-6))))
    times = {contestant: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant, training in trainings.items():
            times[contestant].append(training.run(steps[contestant]) * 1e3)
    if "jax" in trainings:
        trainings["jax"].close()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds per model")
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--modes", default="strict,auto", help="modes of tpu, comma-separated")
    parser.add_argument(
        "--jax", metavar="PYTHON", help="interpreter with JAX (requirements-jax.txt), one more contestant"
    )
    parser.add_argument("--no-first", action="store_true", help="steady steps only")
    parser.add_argument("--first", nargs=2, metavar=("MODEL", "CONTESTANT"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--write", type=Path, help="also write the tables to this Markdown file, below their marker lines"
    )
    arguments = parser.parse_args()
    if arguments.first:
        return first_step(*arguments.first)

    modes = arguments.modes.split(",")
    peers = ["torch", "jax"] if arguments.jax else ["torch"]
    contestants = [*peers, "torch-fused", *modes]
    steady = Table("model", *(f"{c}, ms" for c in contestants), *(f"{m} / torch" for m in modes), "spread")
    first = Table("model", *(f"{p}, s" for p in peers), *(f"{m}, s (2nd, 3rd; programs, twice)" for m in modes))
    for name in MODELS:
        if arguments.only not in name:
            continue
        times = measure(name, contestants, arguments.rounds, arguments.jax)
        medians = {c: statistics.median(t) for c, t in times.items()}
        spread = max((max(t) - min(t)) / medians[c] for c, t in times.items())
        ratios = (f"{medians[m] / medians['torch']:.2f}" for m in modes)
        steady.add_row(name, *(f"{medians[c]:.2f}" for c in contestants), *ratios, f"{spread:.0%}")
        if arguments.no_first:
            continue
        runs = {c: run_first_step(name, c, arguments.jax) for c in (*peers, *modes)}
        cells = (
            "{:.2f} ({:.2f}, {:.2f}; {}, {})".format(*runs[m]["seconds"][:3], runs[m]["programs"], runs[m]["repeats"])
            for m in modes
        )  # fmt: skip
        first.add_row(name, *(f"{runs[p]['seconds'][0]:.2f}" for p in peers), *cells)
    tables = [("Steady training steps", steady), ("First steps, empty caches", first)]
    if arguments.no_first:
        del tables[1]
    where = (
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {arguments.rounds} rounds, {report.processor()}"
    )
    for title, table in tables:
        table.title = f"{title}; {where}"
        Console(width=150).print(table)
        if arguments.write:
            head = [str(column.header) for column in table.columns]
            rows = zip(*(column.cells for column in table.columns), strict=True)
            marker = f"<!-- {title}, written by benchmarks/models.py -->"
            report.write(arguments.write, marker, [head, *rows], f"{table.title}.")


if __name__ == "__main__":
    main()
