"""Typed kernels (csrc/aten/short_way.cpp): what they leave out must not be missed, at the first call and later."""

import pytest
import torch

A, B = torch.linspace(-2, 3, 12).view(3, 4), torch.linspace(1, 2, 12).view(3, 4)


def halves(*tensors):
    return [tensor.bfloat16() for tensor in tensors]


CASES = {
    "one dtype": lambda a, b: a + b,
    "broadcast": lambda a, b: a * b[:1] - b[:, :1],
    "a number": lambda a, b: (a * 2.5, a - 1, 3 / b, a + True),
    "a complex number": lambda a, b: a * 2j,
    "a 0-d tensor": lambda a, b: (a + b[0, 0], b[0, 0] + a, a.double()[0, 0] * b),
    "two dtypes": lambda a, b: (a + b.double(), a.half() * b.bfloat16(), a + b.int()),
    "integers": lambda a, b: (a.int() + 1, a.int() / b.int(), a.int() * 2.5, (a > 0) + (b > 0)),
    "comparison": lambda a, b: (a < b, a == 0, a.ge(b.double())),
    "strided": lambda a, b: ((a.t() + b.t()).stride(), a.t() * 2, torch.exp(a[:, ::2])),
    "three operands": lambda a, b: (torch.lerp(a, b, 0.25), torch.lerp(a, b, b), torch.addcmul(a, a, b, value=0.5)),
    "product": lambda a, b: (a @ b.t(), torch.addmm(b[:, :3], a, b.t(), beta=0.5, alpha=2), torch.mv(a, b[0])),
    "product of halves": lambda a, b: (a.half() @ b.half().t(), torch.addmm(*halves(a[0, :3], a, b.t()))),
    "in place": lambda a, b: (a.clone().add_(b), a.clone().mul_(2).sub_(b, alpha=3), a.clone().exp_().clamp_min_(1)),
    "in place, broadcast": lambda a, b: a.clone().mul_(b[0]).add_(b[:, :1]),
    "in place, other dtype": lambda a, b: a.clone().add_(b.double()),
    "in place, of itself": lambda a, b: (lambda x: x.add_(x).mul_(x))(a.clone()),
    "in place, through a view": lambda a, b: (lambda x: (x[1].add_(b[0]), x[:, 1].mul_(2), x))(a.clone()),
    "in place, comparison": lambda a, b: a.clone().lt_(b),
    "no elements": lambda a, b: (a[:0] + b[:0], a[:, :0] @ b[:, :0].t()),
}  # fmt: skip
ERRORS = {
    "sizes": lambda a, b: a + b[:, :3],
    "product": lambda a, b: a @ b,
    "product of two dtypes": lambda a, b: a @ b.t().double(),
    "addmm": lambda a, b: torch.addmm(b[:, :3], a, b),
    "in place, grows": lambda a, b: a[:1].clone().add_(b),
    "in place, loses": lambda a, b: a.int().add_(b),
    "in place, overlap": lambda a, b: (lambda x: x[1:].add_(x[:-1]))(a.clone()),
    "in place, repeated": lambda a, b: a[:1].expand(3, 4).mul_(b),
}


def flat(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("mode", ["strict", "fused"])
@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_the_cpu(case, mode):
    expected = flat(CASES[case](A, B))
    with torch.tpu.mode(mode):
        for _ in range(3):
            got = flat(CASES[case](A.to("tpu"), B.to("tpu")))
            for one, other in zip(got, expected, strict=True):
                if isinstance(other, torch.Tensor):
                    assert one.stride() == other.stride()
                    torch.testing.assert_close(one.cpu(), other, equal_nan=True)
                else:
                    assert one == other


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_the_cpu(case):
    with pytest.raises(RuntimeError) as expected:
        ERRORS[case](A, B)
    a, b = A.to("tpu"), B.to("tpu")
    for _ in range(2):
        with pytest.raises(type(expected.value)) as got:
            ERRORS[case](a, b)
        assert str(got.value).splitlines()[0][:40] == str(expected.value).splitlines()[0][:40]
    torch.testing.assert_close((a + b).cpu(), A + B)


def test_derivatives_of_every_order():
    x = A.to("tpu").requires_grad_()
    (first,) = torch.autograd.grad((x.tanh() * x + x.exp()).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    y = A.clone().requires_grad_()
    (one,) = torch.autograd.grad((y.tanh() * y + y.exp()).sum(), y, create_graph=True)
    (other,) = torch.autograd.grad(one.sum(), y)
    torch.testing.assert_close(second.cpu(), other)
    version = x._version
    x.detach().mul_(2)
    assert x._version == version + 1


def test_a_second_call_reaches_no_meta_kernel():
    """The checks are those of the first call: in a trace of PyTorch's dispatcher the second has no other op in it."""
    a, b = (torch.rand(5, 5).to("tpu") for _ in range(2))
    work = {"add": lambda: a + b, "mm": lambda: a.mm(b), "tanh": lambda: a.tanh(), "mul_": lambda: a.mul_(b)}
    for name, function in work.items():
        function()
        with torch.profiler.profile() as profile:
            function()
        names = {event.name for event in profile.events()}
        assert {name for name in names if name.startswith("aten::") and "(" not in name} == {f"aten::{name}"}
