"""The peak of memory in an AdamW step beside its lower bound; the exit code is 1 when it is above 1.05 times of it in a
mode that records ops. (In strict mode the temporaries of foreach and of a loop are arrays, as on every eager device.)

    .venv/bin/python benchmarks/memory.py [--only NAME] [--write docs/benchmarks.md]

The lower bound is what must exist at once: parameters, gradients, both moments, the inputs, and what autograd keeps of
the forward pass (asked of torch: every storage that a saved tensor is in). The peak is torch.tpu.max_memory_allocated()
of the third step: arrays between programs, without what the plugin needs inside of one.
"""

import argparse
import gc
import sys
from pathlib import Path

import models
import report
import torch
from rich.console import Console
from rich.table import Table
from torch import nn

BAR = 1.05
MODES = ("strict", "fused", "auto")
VARIANTS = {"foreach (default)": {}, "fused": {"fused": True}, "for-loop": {"foreach": False}}
MARKER = "<!-- memory: the table below is written by benchmarks/memory.py -->"


def wide_mlp():
    return nn.Sequential(*[each for _ in range(4) for each in (nn.Linear(512, 512), nn.ReLU())], nn.Linear(512, 10))


# name: (model, batch: inputs and targets)
CASES = {
    "wide mlp": (wide_mlp, lambda: (torch.randn(64, 512), torch.randint(10, (64,)))),
    "gpt": models.MODELS["gpt"],
}


def bytes_of(tensors):
    """Of their storages, each once."""
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def measure(case, mode, options):
    """(peak, lower bound) in bytes."""
    make, batch = CASES[case]
    torch.manual_seed(0)
    with torch.tpu.mode(mode):
        gc.collect()
        before = torch.tpu.memory_allocated()
        net = make().to("tpu")
        inputs, targets = (x.to("tpu") for x in batch())
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, **options)
        parameters = list(net.parameters())
        fixed = [*parameters, *net.buffers(), inputs, targets]

        def step():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(inputs), targets)
            loss.backward()
            optimizer.step()
            del loss
            torch.tpu.synchronize()

        step()
        step()
        torch.tpu.reset_peak_memory_stats()
        step()
        peak = torch.tpu.max_memory_allocated() - before
        kept = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
            nn.functional.cross_entropy(net(inputs), targets)
        moments = [
            value for state in optimizer.state.values() for value in state.values() if value.device.type == "tpu"
        ]
        lower = bytes_of([*fixed, *moments, *kept]) + bytes_of(parameters)
    return peak, lower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--write", type=Path, help="also write the table to this Markdown file")
    arguments = parser.parse_args()
    rows, worst = [("model", "AdamW", "mode", "peak, MB", "lower bound, MB", "ratio")], 0.0
    for case in CASES:
        if arguments.only not in case:
            continue
        for variant, options in VARIANTS.items():
            for mode in MODES:
                peak, lower = measure(case, mode, options)
                worst = max(worst, peak / lower if mode != "strict" else 0)
                rows.append((case, variant, mode, f"{peak / 1e6:.2f}", f"{lower / 1e6:.2f}", f"{peak / lower:.3f}"))
    table = Table(*rows[0], title="Peak of an AdamW step")
    for row in rows[1:]:
        table.add_row(*row)
    Console().print(table)
    if arguments.write:
        report.write(arguments.write, MARKER, rows)
    return 1 if worst > BAR else 0


if __name__ == "__main__":
    sys.exit(main())
