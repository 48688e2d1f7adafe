"""Trains a small GPT on device `tpu` to write like Python's own help pages, character by character, and lets it write.

    .venv/bin/python examples/char_gpt.py [--steps N] [--device cpu] [--quick]

The model is plain PyTorch: embeddings, blocks of attention and feed-forward layers, dropout, AdamW with a schedule.
TORCH_TPU_MODE=fused runs each training step as one program. A second run compiles nothing.
"""

import argparse
import math
import sys
import time
from pydoc_data.topics import topics

import torch
from torch import nn

CONTEXT = 64  # characters that the model sees
BATCH = 16


class Block(nn.Module):
    """Causal self-attention and a feed-forward network, each added to what came in."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x):
        """[batch, length, width] to the same."""
        batch, length, width = x.shape
        heads = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(self.norm2(x))


class CharGPT(nn.Module):
    """Numbers of characters [batch, length] to scores of the next one [batch, length, vocabulary]."""

    def __init__(self, vocabulary, width=64, heads=4, depth=4, dropout=0.1):
        super().__init__()
        self.characters, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*[Block(width, heads, dropout) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.characters.weight
        nn.init.normal_(self.characters.weight, std=0.02)

    def forward(self, ids):
        """Scores of the character after each."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.norm(self.blocks(self.characters(ids) + self.positions(positions))))


def train(network, text, steps, device):
    """Trains on random pieces of `text`; gives the loss of each step."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    pick = torch.Generator().manual_seed(0)
    losses = []
    begin = time.perf_counter()
    for step in range(steps):
        starts = torch.randint(len(text) - CONTEXT - 1, (BATCH,), generator=pick)
        pieces = torch.stack([text[start : start + CONTEXT + 1] for start in starts]).to(device)
        scores = network(pieces[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % max(steps // 10, 1) == 0 or step == steps - 1:
            print(f"step {step:5}  loss {losses[-1]:.3f}  {time.perf_counter() - begin:6.1f} s")
    return losses


@torch.no_grad()
def write(network, start, length, temperature=0.7):
    """`start` [CONTEXT] and `length` characters after it, drawn from the network."""
    network.eval()
    ids = start[None]
    for _ in range(length):
        scores = network(ids[:, -CONTEXT:])[:, -1] / temperature
        ids = torch.cat([ids[:, -CONTEXT + 1 :], torch.multinomial(scores.softmax(dim=-1), 1)], dim=1)
        yield ids[0, -1].item()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=1000)
    arguments.add_argument("--device", default="tpu")
    arguments.add_argument("--quick", action="store_true", help="40 steps and few characters")
    options = arguments.parse_args()
    steps = 40 if options.quick else options.steps

    text = "\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    ids = torch.tensor([number[character] for character in text])

    torch.manual_seed(0)
    network = CharGPT(len(alphabet)).to(options.device)
    size = sum(parameter.numel() for parameter in network.parameters())
    print(f"{size:,} parameters, {len(text):,} characters of {len(alphabet)} kinds, on {options.device}")
    losses = train(network, ids, steps, options.device)

    start = ids[:CONTEXT].to(options.device)
    print("\n" + text[:CONTEXT] + "|", end="")
    for character in write(network, start, 20 if options.quick else 400):
        print(alphabet[character], end="", flush=True)
    print()
    if options.device == "tpu":
        stats = torch.tpu.cache_stats()
        seconds = stats["compile_seconds"]
        print(f"\nprograms: {stats['compiles']} compiled in {seconds:.1f} s, {stats['disk_hits']} loaded from disk")
    learned = sum(losses[-10:]) / 10 < 0.85 * math.log(len(alphabet))  # better than knowing nothing
    return 0 if learned else 1


if __name__ == "__main__":
    sys.exit(main())
