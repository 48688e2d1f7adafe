"""Trains the digits network in several processes, each with its part of every batch: DistributedDataParallel on `tpu`.

    .venv/bin/torchrun --nproc-per-node 2 examples/ddp_digits.py [--epochs N] [--quick]

Nothing here is special to the device but its name: `init_process_group()` finds the backend for `tpu` by itself. The
exit code is 0 when the network has learned to read and all processes hold the same weights.
"""

import argparse
import sys
import time

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

BATCH = 64  # of all processes together
LEAST_ACCURACY = 0.95


def load_data():
    """Training and test set: images [n, 1, 8, 8] with values from 0 to 1, and labels [n]."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    parts = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)
    return TensorDataset(parts[0], parts[2]), TensorDataset(parts[1], parts[3])


def make_network():
    network = nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 10),
    )
    return nn.SyncBatchNorm.convert_sync_batchnorm(network)  # statistics of the whole batch, not of a process's part


def train(model, data, epochs, steps):
    """Trains on this process's share of `data`, at most `steps` steps; gives each step's loss, averaged over all."""
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, batch_size=BATCH // dist.get_world_size(), sampler=sampler, drop_last=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.to("tpu")), y.to("tpu"))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean = loss.detach()
            dist.all_reduce(mean, dist.ReduceOp.AVG)
            losses.append(mean.item())
            if len(losses) == steps:
                return losses
    return losses


@torch.no_grad()
def accuracy(model, data):
    """Share of the images that the network reads right; every process looks at its part of them."""
    images, labels = data.tensors
    rank, size = dist.get_rank(), dist.get_world_size()
    guesses = model.eval()(images[rank::size].to("tpu")).argmax(dim=1)
    right = (guesses == labels[rank::size].to("tpu")).sum()
    dist.all_reduce(right)
    return right.item() / len(labels)


def same_on_all(model):
    """Whether every process has the weights of the first."""
    differs = torch.zeros((), device="tpu")
    for tensor in model.state_dict().values():
        first = tensor.clone()
        dist.broadcast(first, src=0)
        differs += (first != tensor).any()
    dist.all_reduce(differs, dist.ReduceOp.MAX)
    return differs.item() == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--epochs", type=int, default=6)
    arguments.add_argument("--quick", action="store_true", help="ten steps, at any accuracy")
    options = arguments.parse_args()

    dist.init_process_group()
    torch.manual_seed(0)
    model = DistributedDataParallel(make_network().to("tpu"))
    train_data, test_data = load_data()
    begin = time.perf_counter()
    losses = train(model, train_data, options.epochs, steps=10 if options.quick else None)
    seconds = time.perf_counter() - begin
    share, same = accuracy(model.module, test_data), same_on_all(model.module)
    if dist.get_rank() == 0:
        print(f"processes       {dist.get_world_size()}, each on {torch.tpu.get_device_name()}")
        print(f"steps           {len(losses)} in {seconds:.1f} s")
        print(f"loss            {losses[0]:.4f} -> {losses[-1]:.4f}")
        print(f"test accuracy   {share:.1%}")
        print(f"same weights    {'on all processes' if same else 'NO: the processes differ'}")
    dist.destroy_process_group()
    return 0 if same and (options.quick or share >= LEAST_ACCURACY) else 1


if __name__ == "__main__":
    sys.exit(main())
