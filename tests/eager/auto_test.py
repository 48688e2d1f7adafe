"""Mode auto: loops become the same programs however they are cut; what never comes again is not compiled for ever."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F


@pytest.fixture(autouse=True)
def auto():
    with torch.tpu.mode("auto"):
        yield


def misses():
    return torch.tpu.cache_stats()["misses"]


def settled(turn, turns=8):
    """Runs `turn` until nothing new is compiled; how many programs the last turn compiled."""
    for _ in range(turns):
        begin = misses()
        turn()
        torch_tpu_finish()
    return misses() - begin


def torch_tpu_finish():
    import torch_tpu

    torch_tpu._C.finish_background()


def test_a_loop_that_reads_nothing_is_one_program_for_all_turns():
    x, y = torch.ones(16, 16, device="tpu"), torch.full((16, 16), 0.5, device="tpu")

    def chain():
        z = x
        for _ in range(700):
            z = z + y
        return z[0, 0].item()

    assert chain() == 351
    begin = misses()
    for _ in range(3):
        assert chain() == 351
    assert misses() == begin


def test_a_loop_without_end_finds_its_turns():
    w, x = torch.eye(8, device="tpu"), torch.ones(4, 8, device="tpu")

    def turn(scale):
        y = x
        for _ in range(3):
            y = torch.tanh(y @ w) * scale + 0.1
            y = y - y.mean(1, keepdim=True) + x
        return y

    start = misses()
    kept = [turn(1.0) for _ in range(40)]  # 40 turns of 18 ops, no read, fewer than TORCH_TPU_SEGMENT_OPS together
    begin = misses()
    assert begin > start  # it was cut: a turn ended
    kept += [turn(0.5 + i / 100) for i in range(60)]
    assert misses() == begin
    del kept


def test_an_item_in_every_step_changes_nothing():
    losses = {}
    for reads in (False, True):
        torch.manual_seed(3)
        net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to("tpu")
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
        x, target = torch.randn(32, 8).to("tpu"), torch.randint(4, (32,)).to("tpu")
        kept = []
        for step in range(8):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), target)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            kept.append(loss.item() if reads else loss.detach())
            if step == 3:
                begin = misses()
        assert misses() == begin
        losses[reads] = [float(loss) for loss in kept]
    assert losses[True] == losses[False]


def test_a_schedule_a_seed_and_a_step_counter_compile_nothing():
    net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.3), nn.Linear(8, 2)).to("tpu")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50)
    x = torch.randn(4, 8).to("tpu")

    def step():
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
        schedule.step()

    for _ in range(4):
        step()
    begin = misses()
    for _ in range(20):
        step()
    torch.tpu.synchronize()
    assert misses() == begin


def test_orders_that_never_come_again_are_not_compiled_for_ever():
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(6, 6).to("tpu")

    def tree(depth):
        if depth == 0 or torch.rand((), generator=generator) < 0.2:
            return torch.ones(2, 6, device="tpu")
        return torch.tanh(tree(depth - 1) @ w + tree(depth - 1))

    for _ in range(12):
        tree(5).sum().item()
    begin = misses()
    for _ in range(12):
        tree(5).sum().item()
    torch_tpu_finish()
    assert misses() - begin <= 4


def test_an_order_that_comes_again_is_compiled_in_the_background():
    x = torch.ones(3, device="tpu")
    with torch.tpu.mode("strict"):
        (x * 2).exp().sin().cos()

    def chain():
        return (x * 2).cos().exp().sin().sum().item()

    want = chain()
    assert settled(chain) == 0
    assert chain() == pytest.approx(want)


def test_an_op_at_fault_is_named_with_its_line():
    x = torch.ones(4, device="tpu")
    y = (x + 1)[torch.tensor([0, 7], device="tpu")] * 2
    with pytest.raises(IndexError, match=r"index 7 is out of bounds(.|\n)*auto_test\.py"):
        y.cpu()
    assert (x + 1).tolist() == [2, 2, 2, 2]


def test_what_is_read_again_is_not_given_away():
    big = torch.ones(2**17, device="tpu")
    with torch.tpu.mode("strict"):
        (big.clone() * 2).add_(1)
        big.clone().neg_()
    for _ in range(4):  # op by op, then as a program
        x = big.clone() + 0
        y = x.add_(1)
        z = y * 2
        y.neg_()
        assert (z[0].item(), y[0].item(), big[0].item()) == (4, -2, 1)
        torch_tpu_finish()


def test_debug_waits_and_raises_at_the_call():
    with torch.tpu.mode("debug"):
        x = torch.ones(4, device="tpu") + 1
        assert x.tolist() == [2] * 4
        with pytest.raises(IndexError):
            x[torch.tensor([9], device="tpu")]


def test_an_unknown_mode_is_refused_by_name():
    with pytest.raises(ValueError, match="expected auto, fused, strict or debug, got 'eager'"):
        torch.tpu.set_mode("eager")
    assert torch.tpu.set_mode("auto") == "auto"
