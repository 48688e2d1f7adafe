"""Fused optimizers and gradient scaling against the CPU, over several steps."""

import pytest
import torch

OPTIMIZERS = {
    "adam": (torch.optim.Adam, {}),
    "adam decay": (torch.optim.Adam, {"weight_decay": 0.1, "betas": (0.8, 0.99)}),
    "adam amsgrad": (torch.optim.Adam, {"amsgrad": True}),
    "adamw": (torch.optim.AdamW, {}),
    "adamw maximize": (torch.optim.AdamW, {"maximize": True, "weight_decay": 0}),
    "sgd": (torch.optim.SGD, {"lr": 0.1}),
    "sgd momentum": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.1}),
    "sgd nesterov": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "adagrad": (torch.optim.Adagrad, {"lr_decay": 0.1}),
}


def trained(kind, options, device, dtype=torch.float32, tensor_lr=False):
    torch.manual_seed(0)
    params = [torch.randn(shape).to(device, dtype).requires_grad_() for shape in ((4, 3), (5,), ())]
    if tensor_lr:
        options = options | {"lr": torch.tensor(0.01)}
    optimizer = kind(params, fused=True, **options)
    for step in range(4):
        if not tensor_lr:
            optimizer.param_groups[0]["lr"] = 0.05 / (step + 1)
        for param in params:
            param.grad = (torch.sin(param.detach() * (step + 1)) * 3).detach()
        optimizer.step()
    return [param.detach().cpu() for param in params]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fused_steps(name, dtype):
    kind, options = OPTIMIZERS[name]
    before = {op.name for op in torch.tpu.host_ops()}
    got = trained(kind, options, "tpu", dtype)
    assert {op.name for op in torch.tpu.host_ops()} == before
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-10, torch.bfloat16: 2e-2}[dtype]
    torch.testing.assert_close(got, trained(kind, options, "cpu", dtype), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["adam", "sgd", "adamw", "adagrad"])
def test_learning_rate_as_a_tensor(name):
    kind, options = OPTIMIZERS[name]
    got, expected = (trained(kind, options, device, tensor_lr=True) for device in ("tpu", "cpu"))
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def test_a_schedule_compiles_once():
    kind, options = OPTIMIZERS["adamw"]
    trained(kind, options, "tpu")
    before = torch.tpu.cache_stats()
    trained(kind, options, "tpu")
    assert torch.tpu.cache_stats()["misses"] == before["misses"]


def scaled_steps(device, fused):
    torch.manual_seed(0)
    param = torch.randn(3).to(device).requires_grad_()
    optimizer = torch.optim.SGD([param], lr=0.1, momentum=0.9, fused=fused)
    scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)
    trail = []
    for factor in (1.0, 2.0, float("inf"), 3.0, 1.0):
        optimizer.zero_grad()
        scaler.scale((param * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        trail.append((param.detach().cpu().clone(), scaler.get_scale()))
    return trail


@pytest.mark.parametrize("fused", [False, True])
def test_gradient_scaling(fused):
    for (param, scale), (expected, expected_scale) in zip(
        scaled_steps("tpu", fused), scaled_steps("cpu", fused), strict=True
    ):
        assert scale == expected_scale
        torch.testing.assert_close(param, expected)
