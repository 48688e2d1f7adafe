"""Trains a small language model on sentences of many lengths, padded to buckets, on device `tpu`.

    .venv/bin/python examples/bucketing.py [--steps N] [--no-buckets]

Says how many programs were compiled. With --no-buckets every length is a program of its own.
"""

import argparse
import sys
import time
from pydoc_data.topics import topics

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

LONGEST, BATCH = 128, 8


class Block(nn.Module):
    """Causal self-attention and a feed-forward network, each added to what came in."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        """[batch, length, width] to the same."""
        q, k, v = self.qkv(self.before(x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.feed(self.after(x))


class Model(nn.Module):
    """Characters [batch, length] to scores of the next ones. It knows nothing of buckets."""

    def __init__(self, words=256, width=64):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(LONGEST, width)
        self.layers = nn.Sequential(Block(width), Block(width), nn.LayerNorm(width), nn.Linear(width, words))

    def forward(self, x):
        """Scores of the character after each."""
        positions = torch.arange(x.shape[1], device=x.device)
        return self.layers(self.words(x) + self.positions(positions))


def sentences():
    """Lines of Python's own help pages as (input, next characters), shortest first so that a batch has one length."""
    lines = [line.strip() for text in topics.values() for line in text.splitlines()]
    coded = sorted((line.encode("latin1", "replace") for line in lines if 17 < len(line) <= LONGEST), key=len)
    return [(torch.tensor(list(line[:-1])), torch.tensor(list(line[1:]))) for line in coded]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=200)
    arguments.add_argument("--no-buckets", action="store_true")
    options = arguments.parse_args()

    torch.manual_seed(0)
    # Labels of -100 are ignored by the loss, and with causal attention nothing real looks at what is padded at the end.
    buckets = torch.tpu.bucketing(dim=1, min=32, max=LONGEST, pad_value=(0, -100), batch_size=BATCH)
    if options.no_buckets:
        buckets = torch.tpu.bucketing(dim=1, sizes=range(1, LONGEST + 1), pad_value=(0, -100))
    data = sentences()
    chunks = [data[i : i + BATCH] for i in range(0, len(data), BATCH)]
    chosen = torch.randperm(len(chunks))[: options.steps].tolist()
    loader = DataLoader([chunks[i] for i in chosen], batch_size=None, collate_fn=buckets.collate)

    model = Model().to("tpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=options.steps)
    losses, lengths, begin = [], set(), time.perf_counter()
    for x, y, _ in loader:
        lengths.add(tuple(x.shape))
        scores = model(x.to("tpu"))
        loss = F.cross_entropy(scores.flatten(0, 1), y.to("tpu").flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    seconds, stats = time.perf_counter() - begin, torch.tpu.cache_stats()
    print(f"{len(losses)} steps, {len(lengths)} shapes of inputs, {seconds:.1f} s")
    print(f"programs: {stats['compiles']} compiled in {stats['compile_seconds']:.1f} s, {stats['disk_hits']} from disk")
    first, last = (sum(part) / len(part) for part in (losses[:10], losses[-10:]))
    print(f"loss {first:.3f} -> {last:.3f}")
    return 0 if last < first else 1


if __name__ == "__main__":
    sys.exit(main())
