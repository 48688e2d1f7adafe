"""bfloat16: every value rounded as on the CPU, whole chains too, in all modes (Note [Rounding to bfloat16])."""

import pytest
import torch

MODES = ["strict", "fused", "auto"]


def bits_of(tensor):
    return tensor.cpu().view(torch.int16)


def words(values):
    """float32 values with these bits."""
    return torch.tensor([v - (1 << 32) if v >> 31 else v for v in values], dtype=torch.int32).view(torch.float32)


def test_every_half_is_rounded_to_even():
    high = torch.arange(1 << 16, dtype=torch.int64).repeat_interleave(6)
    low = torch.tensor([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF]).repeat(1 << 16)
    pattern = high << 16 | low
    x = torch.where(pattern >> 31 == 1, pattern - (1 << 32), pattern).to(torch.int32).view(torch.float32)
    ours, torchs = x.to("tpu").to(torch.bfloat16).cpu(), x.to(torch.bfloat16)
    assert torch.equal(ours.isnan(), torchs.isnan())
    numbers = ~torchs.isnan()
    assert torch.equal(ours.view(torch.int16)[numbers], torchs.view(torch.int16)[numbers])


@pytest.mark.parametrize("mode", MODES)
def test_a_nan_stays_one(mode):
    nans = words([0x7F800001, 0x7FC00000, 0x7FFF8000, 0x7FFFFFFF, 0xFF800001, 0xFFC00000, 0xFFFFFFFF])
    with torch.tpu.mode(mode):
        x = nans.to("tpu")
        narrow = x.to(torch.bfloat16)
        one = torch.ones(7, dtype=torch.bfloat16, device="tpu")
        # From bfloat16 bits, from a number, from a 0-d float32 tensor of unusual bits, from inf - inf.
        results = [
            narrow,
            narrow + one,
            (one + narrow) * narrow,
            narrow * 2.0 - 1,
            one / narrow,
            one * x[6],
            -(one * x[3]),
        ]
        inf = one / (one - one)
        results += [inf - inf, (inf - inf) * one - one]
        results = [r.cpu() for r in results]
    for k, result in enumerate(results):
        assert result.dtype == torch.bfloat16
        assert result.isnan().all(), k
    patterns = torch.tensor([0x7F81, 0x7FFF, -1, -0x7F, 0x7FC0], dtype=torch.int16).view(torch.bfloat16)
    with torch.tpu.mode(mode):
        x = patterns.to("tpu")
        y = x + x
        y = y * x - y
        assert y.cpu().isnan().all()


def chain(x, y, number):
    z = x
    for _ in range(4):
        z = z + y
        z = z * y
        z = torch.where(z > 0, z - x, z)
        z = z.t().contiguous().t() / number
        z.add_(y, alpha=0.5)
        z = z.clamp(-8, 8)
    return z, z.float() - x, z.sum(0)


@pytest.mark.parametrize("mode", MODES)
def test_a_chain_rounds_each_op_as_the_cpu_does(mode):
    generator = torch.Generator().manual_seed(3)
    x, y = (torch.randn(33, 65, generator=generator).to(torch.bfloat16) for _ in range(2))
    expected = chain(x, y, 3.0)
    with torch.tpu.mode(mode):
        got = [t.cpu() for t in chain(x.to("tpu"), y.to("tpu"), 3.0)]
    assert torch.equal(bits_of(got[0]), bits_of(expected[0]))
    assert torch.equal(got[1], expected[1])
    torch.testing.assert_close(got[2], expected[2])


def test_overflow_becomes_infinite():
    x = torch.tensor([3.3895e38, -3.3895e38, 1e38], dtype=torch.bfloat16)
    for op in (torch.add, torch.mul):
        assert torch.equal(bits_of(op(x.to("tpu"), x.to("tpu"))), bits_of(op(x, x)))
    largest = words([0x7F7F7FFF, 0x7F7F8000, 0xFF7FFFFF])
    assert torch.equal(bits_of(largest.to("tpu").bfloat16()), bits_of(largest.bfloat16()))
