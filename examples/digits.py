"""Trains a convolutional network on scikit-learn's handwritten digits on device `tpu`, and again on `cpu` to compare.

    make demo            # or: .venv/bin/python examples/digits.py [--steps N] [--quick]

Nothing here is special to the device but its name, and the lines at the end that ask `torch.tpu` for a report. The exit
code is 0 when the network has learned to read and both devices took the same way there.
"""

import argparse
import copy
import sys
import time

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

BATCH = 64
COMPARED_STEPS = 50  # later steps may part: rounding differs, and training amplifies it
LARGEST_DIFFERENCE = 1e-3  # relative, of the loss at one step
LEAST_ACCURACY = 0.97


def load_data():
    """Training and test set: images [n, 1, 8, 8] with values from 0 to 1, and labels [n]."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    return train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)


def make_network():
    return nn.Sequential(
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


def train(device, network, images, labels, batches, progress):
    """Trains `network` on `device`; gives it back with the loss and the time on the clock at each step."""
    network = network.to(device).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    losses, times = [], []
    for batch in progress.track(batches, description=f"training on {device}"):
        x, y = images[batch].to(device), labels[batch].to(device)
        loss = nn.functional.cross_entropy(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append(time.perf_counter())
    return network, losses, times


@torch.no_grad()
def accuracy(device, network, images, labels):
    """Share of the images that the network reads right."""
    guesses = network.eval()(images.to(device)).argmax(dim=1)
    return (guesses == labels.to(device)).float().mean().item()


def steady_speed(times):
    """Steps per second in the second half of the run, when every program has been compiled."""
    half = len(times) // 2
    return (len(times) - 1 - half) / (times[-1] - times[half])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=250, help=f"training steps, at least {COMPARED_STEPS}")
    arguments.add_argument("--quick", action="store_true", help="only the steps that are compared, at any accuracy")
    options = arguments.parse_args()
    steps = COMPARED_STEPS if options.quick else options.steps
    if steps < COMPARED_STEPS:
        arguments.error(f"--steps: at least {COMPARED_STEPS} are compared, got {steps}")

    torch.set_num_threads(1)  # of the run on cpu: too small a network to share out, above all on a busy machine
    train_images, test_images, train_labels, test_labels = load_data()
    torch.manual_seed(0)
    network = make_network()  # both devices start from these weights and see these batches
    batches = torch.randint(len(train_images), (steps, BATCH))

    console = Console()
    results = {}
    before = torch.tpu.cache_stats()
    with Progress(console=console) as progress:
        for device in ("tpu", "cpu"):
            copied = copy.deepcopy(network)
            trained, losses, times = train(device, copied, train_images, train_labels, batches, progress)
            results[device] = losses, accuracy(device, trained, test_images, test_labels), steady_speed(times)
    after = torch.tpu.cache_stats()

    (tpu_losses, tpu_accuracy, tpu_speed), (cpu_losses, cpu_accuracy, cpu_speed) = results["tpu"], results["cpu"]
    pairs = list(zip(tpu_losses, cpu_losses, strict=True))[:COMPARED_STEPS]
    difference = max(abs(tpu - cpu) / cpu for tpu, cpu in pairs)
    agrees = difference <= LARGEST_DIFFERENCE
    reads = options.quick or tpu_accuracy >= LEAST_ACCURACY

    table = Table("", "tpu", "cpu", title=f"Handwritten digits, {steps} steps of {BATCH} images")
    table.add_row("runs on", torch.tpu.get_device_name(), "PyTorch's CPU kernels, one thread")
    table.add_row("loss at the last step", f"{tpu_losses[-1]:.5f}", f"{cpu_losses[-1]:.5f}")
    table.add_row("test accuracy", f"{tpu_accuracy:.1%}", f"{cpu_accuracy:.1%}")
    table.add_row("steady steps per second", f"{tpu_speed:.0f}", f"{cpu_speed:.0f}")
    table.add_row("programs compiled", str(after["compiles"] - before["compiles"]), "")
    table.add_row("programs from disk", str(after["disk_hits"] - before["disk_hits"]), "")
    table.add_row("seconds compiling", f"{after['compile_seconds'] - before['compile_seconds']:.1f}", "")
    table.add_row(f"losses of {COMPARED_STEPS} steps", f"differ by at most {difference:.1e} relative", "")
    console.print(table)
    if not agrees:
        console.print(f"[red]The losses on tpu and cpu differ by more than {LARGEST_DIFFERENCE:g}.")
    if not reads:
        console.print(f"[red]The test accuracy on tpu is below {LEAST_ACCURACY:.0%}.")
    return 0 if agrees and reads else 1


if __name__ == "__main__":
    sys.exit(main())
