"""accelerate: a loop with gradient accumulation, clipping and a schedule, in float32 and bfloat16; saved state."""

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState, PartialState

import torch_tpu.integrations
from conftest import largest_difference


@pytest.fixture(autouse=True)
def forget_state():
    """accelerate keeps the device in state that all Accelerators of a process share."""
    yield
    for state in (AcceleratorState, PartialState, GradientState):
        state._shared_state.clear()


def make_network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 4))


def train(accelerator):
    """Losses of 16 batches, an update every second one; the prepared network."""
    x = torch.randn(128, 16, generator=torch.Generator().manual_seed(0))
    data = torch.utils.data.TensorDataset(x, x[:, :4].argmax(dim=1))
    network = make_network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=8)
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    network, optimizer, loader, schedule = accelerator.prepare(network, optimizer, loader, schedule)
    losses = []
    for _ in range(2):
        for inputs, targets in loader:
            with accelerator.accumulate(network):
                assert inputs.device.type == accelerator.device.type
                loss = torch.nn.functional.cross_entropy(network(inputs), targets)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather_for_metrics(loss.detach()).item())
    return losses, network


def on_cpu():
    losses, _ = train(Accelerator(cpu=True, gradient_accumulation_steps=2))
    for state in (AcceleratorState, PartialState, GradientState):
        state._shared_state.clear()
    return losses


@pytest.mark.parametrize(("precision", "bound"), [("no", 1e-3), ("bf16", 3e-2)])
def test_a_loop_with_gradient_accumulation(precision, bound, tmp_path, report):
    expected = on_cpu()
    torch_tpu.integrations.enable()
    try:
        accelerator = Accelerator(mixed_precision=precision, gradient_accumulation_steps=2)
        assert accelerator.device.type == "tpu"
        losses, network = train(accelerator)
        accelerator.save_state(str(tmp_path))
        kept = network[0].weight.detach().clone()
        with torch.no_grad():
            network[0].weight.zero_()
        accelerator.load_state(str(tmp_path))
        assert network[0].weight.is_tpu and torch.equal(network[0].weight, kept)
    finally:
        torch_tpu.integrations.disable()
    difference = largest_difference(losses, expected)
    named = {"no": "float32", "bf16": "bf16"}[precision]
    program = f"loop with accumulation, clipping, schedule, save_state, {named}"
    report("accelerate", program, f"losses within {difference:.0e}")
    assert losses[-1] < losses[0] and difference < bound
    assert precision == "no" or difference > 0
