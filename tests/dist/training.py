"""Training over several processes gives what one process gives: every way that torch has to share the work."""

import copy
import os
from pathlib import Path

import torch
import torch.distributed as dist
from checks import close, equal, run
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

ROWS = 8  # of the whole batch


def rank():
    return dist.get_rank()


def size():
    return dist.get_world_size()


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 4))


def batch(seed=0):
    """The whole batch, the same on every rank, on the CPU."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(ROWS, 12, generator=generator), torch.randn(ROWS, 4, generator=generator)


def mine(tensor):
    return tensor.chunk(size())[rank()].to("tpu")


def loss_of(model, x, y):
    return nn.functional.mse_loss(model(x), y)


def train_alone(model, steps=3, optimizer=torch.optim.AdamW):
    """On the CPU, with the whole batch."""
    optimizer = optimizer(model.parameters(), lr=1e-2)
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(model, *batch(step)).backward()
        optimizer.step()
    return model


def train_shared(model, steps=3, optimizer=torch.optim.AdamW):
    """On `tpu`, with a part of the batch on each rank; `model` sees to it that gradients are averaged."""
    optimizer = optimizer(model.parameters(), lr=1e-2)
    for step in range(steps):
        optimizer.zero_grad()
        x, y = batch(step)
        loss_of(model, mine(x), mine(y)).backward()
        optimizer.step()
    return model


def gradients_alone(model, *seeds):
    for seed in seeds:
        loss_of(model, *batch(seed)).backward()
    return [parameter.grad for parameter in model.parameters()]


def same_parameters(model, expected, rtol=1e-5):
    for got, wanted in zip(model.parameters(), expected.parameters(), strict=True):
        close(got, wanted, rtol)


def check_data_parallel():
    expected = gradients_alone(network(), 0)
    for options in ({}, {"static_graph": True}, {"gradient_as_bucket_view": True}, {"bucket_cap_mb": 0.001}):
        model = DistributedDataParallel(network().to("tpu"), **options)
        x, y = batch(0)
        loss_of(model, mine(x), mine(y)).backward()
        for parameter, wanted in zip(model.parameters(), expected, strict=True):
            close(parameter.grad, wanted)
    same_parameters(train_shared(DistributedDataParallel(network().to("tpu"))), train_alone(network()), 1e-4)


def check_data_parallel_accumulates():
    model = DistributedDataParallel(network().to("tpu"))
    with model.no_sync():
        x, y = batch(0)
        loss_of(model, mine(x), mine(y)).backward()
    x, y = batch(1)
    loss_of(model, mine(x), mine(y)).backward()
    for parameter, wanted in zip(model.parameters(), gradients_alone(network(), 0, 1), strict=True):
        close(parameter.grad, wanted)


def check_data_parallel_with_hooks():
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    def bf16_hook(state, bucket):  # torch refuses the original by its name, where there is no CUDA
        return default_hooks.bf16_compress_hook(state, bucket)

    expected = gradients_alone(network(), 0)
    for hook, rtol in (
        (default_hooks.allreduce_hook, 1e-5),
        (bf16_hook, 2e-2),
        (default_hooks.fp16_compress_hook, 2e-3),
    ):
        model = DistributedDataParallel(network().to("tpu"))
        model.register_comm_hook(None, hook)
        x, y = batch(0)
        loss_of(model, mine(x), mine(y)).backward()
        for parameter, wanted in zip(model.parameters(), expected, strict=True):
            close(parameter.grad, wanted, rtol)


def check_data_parallel_with_powersgd():
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    model = DistributedDataParallel(network().to("tpu"))
    state = powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    for seed in range(4):
        x, y = batch(seed)
        loss_of(model, mine(x), mine(y)).backward()
    for parameter in model.parameters():  # an approximation, but the same one everywhere
        both = [torch.empty_like(parameter.grad) for _ in range(size())]
        dist.all_gather(both, parameter.grad)
        equal(both[0], both[1].cpu())


def check_data_parallel_unused_and_buffers():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused, self.norm = nn.Linear(12, 4), nn.Linear(12, 4), nn.BatchNorm1d(4)

        def forward(self, x):
            return self.norm(self.used(x))

    torch.manual_seed(rank())  # different weights: the first rank's win
    model = DistributedDataParallel(Branches().to("tpu"), find_unused_parameters=True)
    for seed in range(2):
        x, y = batch(seed)
        loss_of(model, mine(x), mine(y)).backward()
    assert model.module.unused.weight.grad is None
    for tensor in (model.module.used.weight.data, model.module.used.weight.grad):
        both = [torch.empty_like(tensor) for _ in range(size())]
        dist.all_gather(both, tensor)
        equal(both[0], both[1].cpu())


def check_sync_batch_norm():
    torch.manual_seed(0)
    alone = nn.Sequential(nn.Conv2d(3, 5, 3, bias=False), nn.BatchNorm2d(5), nn.ReLU(), nn.Conv2d(5, 2, 3))
    shared = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(alone)).to("tpu")
    assert isinstance(shared[1], nn.SyncBatchNorm)
    shared = DistributedDataParallel(shared)
    images = torch.randn(ROWS, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    alone(images).pow(2).mean().backward()
    shared(mine(images)).pow(2).mean().backward()
    for got, wanted in zip(shared.parameters(), alone.parameters(), strict=True):
        close(got.grad, wanted.grad, 5e-5)
    for got, wanted in zip(shared.module.buffers(), alone.buffers(), strict=True):
        close(got, wanted)
    shared.eval(), alone.eval()
    close(shared(images.to("tpu")), alone(images), 5e-5)


def check_fully_sharded():
    from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

    def sharded(model, **options):
        for layer in model:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, **options)
        return fully_shard(model, **options)

    model = sharded(network().to("tpu"))
    x, y = batch(0)
    loss_of(model, mine(x), mine(y)).backward()
    for parameter, wanted in zip(model.parameters(), gradients_alone(network(), 0), strict=True):
        close(parameter.grad.full_tensor(), wanted)

    alone = train_alone(network())
    model = train_shared(sharded(network().to("tpu"), reshard_after_forward=False))
    for parameter, wanted in zip(model.parameters(), alone.parameters(), strict=True):
        close(parameter.full_tensor(), wanted, 1e-4)

    model = sharded(network(), mesh=init_device_mesh("tpu", (size(),)))  # made on the CPU, moved by fully_shard
    total = nn.utils.clip_grad_norm_(model.parameters(), 1e9)
    x, y = batch(0)
    loss_of(model, mine(x), mine(y)).backward()
    total = nn.utils.clip_grad_norm_(model.parameters(), 1e9).full_tensor()
    close(total, torch.stack([g.norm() for g in gradients_alone(network(), 0)]).norm())

    with torch.device("meta"):
        model = network()
    model = sharded(model, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    model.to_empty(device="tpu")
    for parameter, wanted in zip(model.parameters(), network().parameters(), strict=True):
        whole = wanted.detach().to("tpu")
        with torch.no_grad():
            parameter.copy_(dist.tensor.distribute_tensor(whole, parameter.device_mesh, parameter.placements))
    loss_of(model, mine(x), mine(y).bfloat16()).backward()
    alone = network().bfloat16()
    loss_of(alone, x.bfloat16(), y.bfloat16()).backward()
    for parameter, wanted in zip(model.parameters(), alone.parameters(), strict=True):
        assert parameter.grad.dtype == torch.float32
        close(parameter.grad.full_tensor(), wanted.grad, 5e-2)

    model = train_shared(sharded(network(), offload_policy=CPUOffloadPolicy()))
    for parameter, wanted in zip(model.parameters(), train_alone(network()).parameters(), strict=True):
        assert parameter.device.type == "cpu"
        close(parameter.to("tpu").full_tensor(), wanted, 1e-4)


def check_tensor_parallel():
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("tpu", (size(),), mesh_dim_names=("tp",))
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    model = parallelize_module(network().to("tpu"), mesh, plan)
    assert isinstance(model[0].weight, DTensor) and model[0].weight.to_local().shape == (32 // size(), 12)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False)
    alone = network()
    for step in range(3):
        x, y = batch(step)
        optimizer.zero_grad()
        loss_of(model, x.to("tpu"), y.to("tpu")).backward()
        if step == 0:
            for parameter, wanted in zip(model.parameters(), gradients_alone(alone, 0), strict=True):
                grad = parameter.grad
                close(grad.full_tensor() if isinstance(grad, DTensor) else grad, wanted)
            alone.zero_grad()
        optimizer.step()
    train_alone(alone)
    for parameter, wanted in zip(model.parameters(), alone.parameters(), strict=True):
        close(parameter.full_tensor() if isinstance(parameter, DTensor) else parameter, wanted, 1e-4)

    table = torch.arange(ROWS * 6.0).reshape(ROWS, 6)
    rows = distribute_tensor(table.to("tpu"), mesh, [Shard(0)])
    columns = (
        list(table.chunk(size(), dim=1)) + [table[:, :0]] * size()
    )  # of six columns the last of four ranks has none
    equal(rows.redistribute(mesh, [Shard(1)]).to_local(), columns[rank()].contiguous())
    equal(rows.redistribute(mesh, [Replicate()]).to_local(), table)
    equal((rows @ rows.T).full_tensor(), table @ table.T)
    equal(rows.sum(0).full_tensor(), table.sum(0))


def check_checkpoint():
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
    from torch.distributed.fsdp import fully_shard

    path = Path(os.environ["CHECKPOINT_FOLDER"])  # where the test loads it again, in one process
    model = fully_shard(network().to("tpu"))
    train_shared(model)
    dcp.save(get_model_state_dict(model), checkpoint_id=path / "now")
    dcp.async_save(get_model_state_dict(model), checkpoint_id=path / "later").result()
    for name in ("now", "later"):
        again = fully_shard(nn.Sequential(*network()).to("tpu"))
        with torch.no_grad():
            for parameter in again.parameters():
                parameter.zero_()
        state = get_model_state_dict(again)
        dcp.load(state, checkpoint_id=path / name)
        set_model_state_dict(again, state)
        for got, wanted in zip(again.parameters(), model.parameters(), strict=True):
            equal(got.to_local(), wanted.to_local().cpu())
    whole = {name: tensor.full_tensor().cpu() for name, tensor in model.state_dict().items()}
    if rank() == 0:
        torch.save(whole, path / "whole.pt")


def check_pipeline():
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    layers = list(network())
    cut = len(layers) // 2 + 1
    parts = [nn.Sequential(*layers[:cut]), nn.Sequential(*layers[cut:])]
    if size() != 2:
        return
    stage_module = parts[rank()].to("tpu")
    stage = PipelineStage(stage_module, rank(), size(), torch.device("tpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    x, y = batch(0)
    losses = []
    if rank() == 0:
        schedule.step(x.to("tpu"))
    else:
        schedule.step(target=y.to("tpu"), losses=losses)
        alone = network()
        close(torch.stack(losses).mean(), loss_of(alone, x, y))
    wanted = gradients_alone(network(), 0)
    begin = 0 if rank() == 0 else len(list(parts[0].parameters()))
    for parameter, gradient in zip(stage_module.parameters(), wanted[begin:], strict=False):
        close(parameter.grad, gradient)


def check_sampler():
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    data = TensorDataset(torch.arange(10.0))
    sampler = DistributedSampler(data, shuffle=True, seed=3)
    sampler.set_epoch(1)
    seen = torch.cat([x for (x,) in DataLoader(data, batch_size=2, sampler=sampler)]).to("tpu")
    everyone = [torch.empty_like(seen) for _ in range(size())]
    dist.all_gather(everyone, seen)
    assert set(torch.cat(everyone).tolist()) == set(range(10))


def check_zero_redundancy_optimizer():
    from torch.distributed.optim import ZeroRedundancyOptimizer

    def zero(parameters, lr):
        return ZeroRedundancyOptimizer(parameters, optimizer_class=torch.optim.AdamW, lr=lr)

    same_parameters(
        train_shared(DistributedDataParallel(network().to("tpu")), optimizer=zero), train_alone(network()), 1e-4
    )


def check_meshes():
    mesh = init_device_mesh("tpu", (1, size()), mesh_dim_names=("replicate", "shard"))
    assert mesh["shard"].size() == size() and mesh.device_type == "tpu"
    x = torch.ones(2, device="tpu")
    dist.all_reduce(x, group=mesh["shard"].get_group())
    equal(x, torch.full((2,), float(size())))


if __name__ == "__main__":
    run(globals())
