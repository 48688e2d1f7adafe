"""Trains a small GPT on the source of Python's own argparse, letter by letter, on device `tpu`.

    .venv/bin/python examples/gpt.py [--steps N]

The exit code is 0 when the loss has fallen.
"""

import argparse
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

LENGTH = 128


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.after(x))


class Gpt(nn.Module):
    def __init__(self, characters=256, width=128, heads=4, layers=4):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(characters, width), nn.Embedding(LENGTH, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, characters, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions(places))))


def load_text():
    """Characters as numbers, one long vector."""
    text = Path(argparse.__file__).read_bytes()
    return torch.tensor(list(text), dtype=torch.long)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=100)
    steps = arguments.parse_args().steps
    torch.manual_seed(0)
    text = load_text()
    model = Gpt().to("tpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        starts = torch.randint(0, len(text) - LENGTH, (16,))
        batch = torch.stack([text[start : start + LENGTH + 1] for start in starts]).to("tpu")
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    first, last = losses[0].item(), losses[-1].item()
    print(f"loss {first:.4f} -> {last:.4f} in {steps} steps on {torch.tpu.get_device_name()}")
    return 0 if last < first else 1


if __name__ == "__main__":
    sys.exit(main())
