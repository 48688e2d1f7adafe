"""Segments that are handed to the launcher's thread: order, errors, programs and the end of the process are those of a
loop that starts its programs itself."""

import random
import threading
import time

import pytest
import torch
from torch import nn
from torch.nn import functional as F


@pytest.fixture(autouse=True)
def auto():
    with torch.tpu.mode("auto"):
        yield


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(10, 16), nn.Linear(16, 10)

    def forward(self, words):
        return self.head(self.table(words).tanh())


def trainer():
    torch.manual_seed(0)
    net = Words().to("tpu")
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)

    def step(words):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(words), torch.arange(8, device="tpu"))
        loss.backward()
        optimizer.step()
        return loss

    return step


WORDS = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])


def test_how_far_the_launcher_is_changes_no_program_and_no_number():
    def losses(pauses):
        step = trainer()
        words, chance = WORDS.to("tpu"), random.Random(0)
        found = []
        for n in range(40):
            loss = step(words)
            time.sleep(chance.random() * pauses)
            # Read early, late and not at all.
            if n % 3 == 0:
                found.append(loss.item())
            if n % 7 == 0:
                found.append((loss * 2).item())
        return found

    losses(0)
    before = torch.tpu.cache_stats()["misses"]
    expected = losses(0)
    assert losses(3e-3) == expected
    assert torch.tpu.cache_stats()["misses"] == before


def test_an_index_out_of_range_in_a_segment_that_was_handed_over():
    step = trainer()
    words = WORDS.to("tpu")
    for _ in range(5):
        step(words)
    with pytest.raises(IndexError, match=r"(.|\n)*launch_test\.py"):  # where the next op or read meets it
        step(torch.where(words == 9, 10, words)).item()
    # Told once; what it would have changed is as it was.
    assert torch.ones(3, device="tpu").sum().item() == 3
    assert step(words).item() < 3


def test_views_of_other_types_of_what_was_handed_over():
    x = torch.arange(64, dtype=torch.uint8, device="tpu")
    found = []
    for _ in range(6):
        y = x
        for _ in range(200):
            y = y + 1
        found.append(y.view(torch.int32).sum().item())
    expected = (torch.arange(64) + 200).to(torch.uint8).view(torch.int32).sum().item()
    assert found == [expected] * 6


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)"])
def test_a_process_ends_with_work_handed_over(python, end):
    out, err = python(
        f"""
import torch
net = torch.nn.Linear(64, 64).to("tpu")
optimizer = torch.optim.AdamW(net.parameters())
x = torch.ones(8, 64, device="tpu")
for _ in range(30):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
{end}
"""
    )
    assert (out, err) == ("", "")


def test_backward_runs_where_it_is_called_and_may_be_told_not_to():
    for is_other in (False, True):
        seen = []
        x = torch.ones(4, device="tpu", requires_grad=True)
        x.register_hook(lambda grad, seen=seen: seen.append(threading.get_ident()))
        with torch.autograd.set_multithreading_enabled(is_other):
            (x * 2).sum().backward()
        assert (seen == [threading.get_ident()]) is not is_other
        assert x.grad.tolist() == [2] * 4
