"""Every collective on `tpu` tensors against the same call on CPU tensors, which go through torch's Gloo."""

import torch
import torch.distributed as dist
from checks import equal, run
from torch.distributed import ReduceOp

DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int8,
    torch.uint8,
    torch.int32,
    torch.int64,
)
MOVED = (*DTYPES, torch.bool, torch.int16, torch.uint16, torch.complex64, torch.float8_e4m3fn)


def rank():
    return dist.get_rank()


def size():
    return dist.get_world_size()


def numbers(*shape, dtype=torch.float32, salt=0, of_rank=None):
    """Small whole numbers that differ by rank, exact in every dtype."""
    count = torch.Size(shape).numel()
    of_rank = rank() if of_rank is None else of_rank
    return ((torch.arange(count) * 7 + of_rank * 3 + salt) % 5 + 1).reshape(shape).to(dtype)


def on_both(call, *tensors):
    """`call(cpu copies)` and `call(tpu copies)` leave the same in all tensors. Lists of tensors too."""

    def moved(value, device):
        return [moved(item, device) for item in value] if isinstance(value, list) else value.clone().to(device)

    expected, got = [[moved(tensor, device) for tensor in tensors] for device in ("cpu", "tpu")]
    call(*expected), call(*got)
    compare(got, expected)


def compare(got, expected):
    if isinstance(got, list):
        for pair in zip(got, expected, strict=True):
            compare(*pair)
    else:
        equal(got, expected)


def raises(text, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (RuntimeError, ValueError) as error:
        assert text in str(error), f"expected {text!r} in: {error}"
    else:
        raise AssertionError(f"nothing was raised, expected {text!r}")


def check_all_reduce():
    for dtype in DTYPES:
        for op in (ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX):
            on_both(lambda x, op=op: dist.all_reduce(x, op), numbers(3, 4, dtype=dtype))
    for op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        on_both(lambda x, op=op: dist.all_reduce(x, op), numbers(5, dtype=torch.int32))
    for dtype in (torch.float32, torch.bfloat16):
        on_both(lambda x: dist.all_reduce(x, ReduceOp.AVG), numbers(5, dtype=dtype))
    on_both(lambda x: dist.all_reduce(x), numbers(4, dtype=torch.complex64) * (1 + 2j))
    on_both(lambda x: dist.all_reduce(x), numbers(0))
    on_both(lambda x: dist.all_reduce(x), numbers().reshape(()))


def check_all_reduce_of_dtypes_that_gloo_lacks():
    """The expected value is computed here, from what every rank contributes."""

    def expected(op, dtype, wide=torch.int64):
        parts = torch.stack([numbers(6, dtype=dtype, of_rank=r).to(wide) for r in range(size())])
        result = {"SUM": parts.sum(0), "PRODUCT": parts.prod(0), "MIN": parts.amin(0), "MAX": parts.amax(0)}[op]
        return result.to(dtype)

    for dtype in (torch.int16, torch.uint16, torch.uint32, torch.uint64):
        for op in ("SUM", "PRODUCT", "MIN", "MAX"):
            x = numbers(6, dtype=dtype).to("tpu")
            dist.all_reduce(x, getattr(ReduceOp, op))
            equal(x, expected(op, dtype))
    x = numbers(6).to(torch.float8_e5m2).to("tpu")
    dist.all_reduce(x)
    equal(x.float(), expected("SUM", torch.float32, torch.float32).to(torch.float8_e5m2).float())

    large = torch.tensor([1, 2**63 + rank()], dtype=torch.uint64)
    for op, value in ((ReduceOp.MIN, [1, 2**63]), (ReduceOp.MAX, [1, 2**63 + size() - 1])):
        x = large.to("tpu")
        dist.all_reduce(x, op)
        equal(x, torch.tensor(value, dtype=torch.uint64))

    mask = torch.tensor([rank() == 0, True, False])
    for op, value in ((ReduceOp.SUM, [True, True, False]), (ReduceOp.PRODUCT, [False, True, False])):
        x = mask.to("tpu")
        dist.all_reduce(x, op)
        equal(x, torch.tensor(value))

    x = torch.full((2,), -3 - rank(), dtype=torch.int32, device="tpu")
    dist.all_reduce(x, ReduceOp.AVG)
    total = sum(-3 - r for r in range(size()))
    equal(x, torch.full((2,), int(total / size()), dtype=torch.int32))

    x = numbers(3).to("tpu")
    dist.all_reduce(x, dist._make_nccl_premul_sum(0.5))
    equal(x, sum(numbers(3, of_rank=r) for r in range(size())) * 0.5)


def check_broadcast_and_reduce():
    for dtype in MOVED:
        for root in range(size()):
            x = numbers(2, 3, dtype=dtype).to("tpu")
            dist.broadcast(x, root)
            equal(x, numbers(2, 3, dtype=dtype, of_rank=root))
    x = numbers(4).to("tpu")
    dist.reduce(x, 1)
    summed = sum(numbers(4, of_rank=r) for r in range(size()))
    equal(x, summed if rank() == 1 else numbers(4))


def check_all_gather():
    for dtype in MOVED:
        outs = [torch.empty(2, 3, dtype=dtype, device="tpu") for _ in range(size())]
        dist.all_gather(outs, numbers(2, 3, dtype=dtype).to("tpu"))
        compare(outs, [numbers(2, 3, dtype=dtype, of_rank=r) for r in range(size())])
    on_both(lambda out, x: dist.all_gather_into_tensor(out, x), numbers(2 * size(), 3), numbers(2, 3))
    stacked = torch.empty(size(), 2, 3, device="tpu")
    dist.all_gather_into_tensor(stacked, numbers(2, 3).to("tpu"))
    equal(stacked, torch.stack([numbers(2, 3, of_rank=r) for r in range(size())]))
    on_both(lambda out, x: dist.all_gather_into_tensor(out, x), numbers(0), numbers(0))

    uneven = [torch.empty(2 + r, device="tpu") for r in range(size())]
    dist.all_gather(uneven, numbers(2 + rank()).to("tpu"))
    for r, got in enumerate(uneven):
        equal(got, numbers(2 + r, of_rank=r))


def check_gather_and_scatter():
    for root in range(size()):
        if rank() == root:
            on_both(lambda x, outs, root=root: dist.gather(x, outs, root), numbers(3), [numbers(3)] * size())
            parts = [numbers(3, salt=r) for r in range(size())]
            on_both(lambda x, ins, root=root: dist.scatter(x, ins, root), numbers(3), parts)
        else:
            on_both(lambda x, root=root: dist.gather(x, None, root), numbers(3))
            on_both(lambda x, root=root: dist.scatter(x, None, root), numbers(3))


def check_reduce_scatter():
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        for op in (ReduceOp.SUM, ReduceOp.MAX):
            parts = [numbers(2, 3, dtype=dtype, salt=r) for r in range(size())]
            on_both(lambda out, ins, op=op: dist.reduce_scatter(out, ins, op), numbers(2, 3, dtype=dtype), parts)
            on_both(
                lambda out, x, op=op: dist.reduce_scatter_tensor(out, x, op),
                numbers(2, dtype=dtype),
                numbers(2 * size(), dtype=dtype),
            )
    uneven = [numbers(1 + r, salt=r).to("tpu") for r in range(size())]
    out = torch.empty(1 + rank(), device="tpu")
    dist.reduce_scatter(out, uneven, ReduceOp.AVG)
    equal(out, sum(numbers(1 + rank(), salt=rank(), of_rank=r) for r in range(size())) / size())


def check_all_to_all():
    for dtype in (torch.float32, torch.bool, torch.complex64):
        on_both(
            lambda out, x: dist.all_to_all_single(out, x),
            numbers(2 * size(), 3, dtype=dtype),
            numbers(2 * size(), 3, dtype=dtype),
        )
    sent = [1 + r for r in range(size())]
    got = [1 + rank()] * size()
    on_both(lambda out, x: dist.all_to_all_single(out, x, got, sent), numbers(sum(got), 2), numbers(sum(sent), 2))
    outs = [torch.empty(1 + rank(), 2, device="tpu") for _ in range(size())]
    dist.all_to_all(outs, [numbers(1 + r, 2, salt=r).to("tpu") for r in range(size())])
    for r, out in enumerate(outs):
        equal(out, numbers(1 + rank(), 2, salt=rank(), of_rank=r))


def check_send_and_receive():
    right, left = (rank() + 1) % size(), (rank() - 1) % size()
    works = [dist.isend(numbers(1000, 300, salt=i).to("tpu"), right, tag=i) for i in range(2)]
    first, second = torch.empty(1000, 300, device="tpu"), torch.empty(2, 1000, 300, device="tpu")
    # The other way round: channels do not wait for each other. The second one is a part of its storage.
    works = [dist.irecv(second[1], left, tag=1), dist.irecv(first, left, tag=0)] + works
    second[0] = 7
    for work in works:
        work.wait()
    equal(first, numbers(1000, 300, of_rank=left))
    equal(second, torch.stack([torch.full((1000, 300), 7.0), numbers(1000, 300, salt=1, of_rank=left)]))

    if rank() == 0:
        for _ in range(size() - 1):
            x = torch.empty(3, dtype=torch.bfloat16, device="tpu")
            source = dist.recv(x)
            equal(x, numbers(3, dtype=torch.bfloat16, of_rank=source))
    else:
        dist.send(numbers(3, dtype=torch.bfloat16).to("tpu"), 0)
    dist.barrier()  # what comes next from the left must not be taken by a receive from anybody

    x = torch.empty(4, device="tpu")
    ops = [dist.P2POp(dist.isend, numbers(4).to("tpu"), right), dist.P2POp(dist.irecv, x, left)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    equal(x, numbers(4, of_rank=left))


def check_coalesced():
    total = lambda *shape: sum(numbers(*shape, of_rank=r) for r in range(size()))  # noqa: E731
    xs = [numbers(3).to("tpu"), numbers(2, 2).to("tpu")]
    with dist._coalescing_manager():
        for x in xs:
            dist.all_reduce(x)
    equal(xs[0], total(3)), equal(xs[1], total(2, 2))

    outs = [torch.empty(n * size(), device="tpu") for n in (2, 5)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for out, n in zip(outs, (2, 5), strict=True):
            dist.all_gather_into_tensor(out, numbers(n).to("tpu"))
    manager.wait()
    for out, n in zip(outs, (2, 5), strict=True):
        equal(out, torch.cat([numbers(n, of_rank=r) for r in range(size())]))

    outs = [torch.empty(n, device="tpu") for n in (2, 5)]
    with dist._coalescing_manager():
        for out, n in zip(outs, (2, 5), strict=True):
            dist.reduce_scatter_tensor(out, numbers(n * size()).to("tpu"))
    for out, n in zip(outs, (2, 5), strict=True):
        equal(out, total(n * size()).chunk(size())[rank()])

    x, y = numbers(3).to("tpu"), numbers(3).to("tpu")
    with dist._coalescing_manager(device=torch.device("tpu"), async_ops=True) as manager:
        dist.group.WORLD.allreduce([x])
        dist.group.WORLD.broadcast(y, 0)
    manager.wait()
    equal(x, total(3)), equal(y, numbers(3, of_rank=0))

    lists = [[torch.empty(2, device="tpu"), torch.empty(3, device="tpu")] for _ in range(size())]
    dist.group.WORLD._get_backend(torch.device("tpu")).allgather_coalesced(
        lists, [numbers(2).to("tpu"), numbers(3).to("tpu")], torch._C._distributed_c10d.AllgatherOptions()
    ).wait()
    for r, (two, three) in enumerate(lists):
        equal(two, numbers(2, of_rank=r)), equal(three, numbers(3, of_rank=r))


def check_views_and_layouts():
    """Only the elements of the tensor change, whatever part of which storage it is."""
    base = torch.zeros(4, 6, device="tpu")
    part = base[1:3, ::2]
    part.copy_(numbers(2, 3))
    dist.all_reduce(part)
    expected = torch.zeros(4, 6)
    expected[1:3, ::2] = sum(numbers(2, 3, of_rank=r) for r in range(size()))
    equal(base, expected)

    image = numbers(2, 3, 4, 4).to("tpu").to(memory_format=torch.channels_last)
    dist.all_reduce(image)
    assert image.is_contiguous(memory_format=torch.channels_last)
    equal(image, sum(numbers(2, 3, 4, 4, of_rank=r) for r in range(size())))

    whole = torch.zeros(2 * size(), device="tpu")
    mine = whole[2 * rank() : 2 * rank() + 2]
    mine.copy_(numbers(2))
    dist.all_gather_into_tensor(whole, mine)  # in place, as sharded training does
    equal(whole, torch.cat([numbers(2, of_rank=r) for r in range(size())]))

    kept = numbers(3).to("tpu")
    saved = kept.clone()  # shares the Value
    dist.all_reduce(kept)
    equal(saved, numbers(3))

    with torch.inference_mode():
        frozen = numbers(3).to("tpu")
        dist.all_reduce(frozen)
        dist.broadcast(frozen[1:], 0)
    equal(frozen, sum(numbers(3, of_rank=r) for r in range(size())))

    weight = torch.nn.Parameter(numbers(3).to("tpu"))
    dist.all_reduce(weight.data)
    equal(weight.detach(), sum(numbers(3, of_rank=r) for r in range(size())))


def check_work_and_future():
    expected = sum(numbers(3, of_rank=r) for r in range(size()))
    x = numbers(3).to("tpu")
    work = dist.all_reduce(x, async_op=True)
    assert work.wait() and work.is_completed()
    equal(x, expected)

    x = numbers(3).to("tpu")
    doubled = dist.all_reduce(x, async_op=True).get_future().then(lambda done: done.value()[0] * 2)
    equal(doubled.wait(), expected * 2)

    def again(done):  # a callback that waits for a collective of its own
        return dist.all_reduce(done.value()[0], async_op=True).get_future().wait()[0]

    x = numbers(3).to("tpu")
    twice = [dist.all_reduce(x.clone(), async_op=True).get_future().then(again) for _ in range(3)]
    for future in twice:
        equal(future.wait(), expected * size())

    rows = numbers(2, 3).to("tpu")
    future = dist.all_reduce(rows[1], async_op=True).get_future()
    equal(future.wait()[0], sum(numbers(2, 3, of_rank=r) for r in range(size()))[1])

    x = numbers(3).to("tpu")
    work = dist.all_reduce(x, async_op=True)
    while not work.is_completed():
        pass
    equal(x, expected)

    many = [numbers(50, 50, salt=i).to("tpu") for i in range(20)]
    works = [dist.all_reduce(y @ y, async_op=True) for y in many]
    for y, work in zip(many, works, strict=True):
        work.wait()
        del y
    with torch.tpu.stream(torch.Stream("tpu")):
        x = numbers(3).to("tpu") + 1
        dist.all_reduce(x)
        equal(x * 2, (expected + size()) * 2)


def check_barriers_objects_and_cpu_tensors():
    dist.barrier()
    dist.barrier(device_ids=[0])
    dist.monitored_barrier(dist.new_group(backend="gloo"))
    gathered = [None] * size()
    dist.all_gather_object(gathered, {"rank": rank(), "tensor": numbers(2).to("tpu")})
    assert [item["rank"] for item in gathered] == list(range(size()))
    equal(gathered[1]["tensor"], numbers(2, of_rank=1))
    box = [f"from {rank()}"]
    dist.broadcast_object_list(box, src=1)
    assert box == ["from 1"]
    out = [None]
    dist.scatter_object_list(out, list(range(size())) if rank() == 0 else None, src=0)
    assert out == [rank()]
    lists = [None] * size() if rank() == 0 else None
    dist.gather_object(rank() * 10, lists)
    assert rank() != 0 or lists == [r * 10 for r in range(size())]
    x = numbers(3)
    dist.all_reduce(x)
    torch.testing.assert_close(x, sum(numbers(3, of_rank=r) for r in range(size())))


def check_groups():
    assert dist.get_backend_config() is not None
    alone = [dist.new_group([r]) for r in range(size())][rank()]
    x = numbers(2).to("tpu")
    dist.all_reduce(x, group=alone)
    equal(x, numbers(2))
    dist.group.WORLD.bound_device_id = torch.device("tpu:0")  # what split_group() asks for
    part = dist.split_group(split_ranks=[[r] for r in range(size())])
    assert part.size() == 1
    whole = dist.split_group(split_ranks=[list(range(size()))])
    x, y = numbers(2).to("tpu"), numbers(2)
    dist.all_reduce(x, group=whole)
    dist.all_reduce(y, group=whole)
    dist.group.WORLD.bound_device_id = None
    equal(x, y)
    pair = dist.new_group([0, 1])
    if rank() < 2:
        x = numbers(2).to("tpu")
        dist.all_reduce(x, group=pair)
        equal(x, numbers(2, of_rank=0) + numbers(2, of_rank=1))


def check_functional_collectives():
    import torch.distributed._functional_collectives as functional

    x = numbers(2, 3).to("tpu")
    group = dist.group.WORLD
    parts = [numbers(2, 3, of_rank=r) for r in range(size())]
    equal(functional.all_reduce(x, "sum", group) + 0, sum(parts))
    equal(functional.all_gather_tensor(x, 0, group) + 0, torch.cat(parts))
    pairs = [numbers(2 * size(), of_rank=r) for r in range(size())]
    got = functional.all_to_all_single(pairs[rank()].to("tpu"), None, None, group)
    equal(got + 0, torch.cat([pair[2 * rank() : 2 * rank() + 2] for pair in pairs]))
    whole = torch.cat([numbers(1, 3, salt=r) for r in range(size())]).to("tpu")
    got = functional.reduce_scatter_tensor(whole, "avg", 0, group)
    equal(got + 0, sum(numbers(1, 3, salt=rank(), of_rank=r) for r in range(size())) / size())


def check_errors():
    """A mismatch is an error on every rank, and the group goes on."""
    x = torch.ones(4 + rank(), device="tpu")
    raises("rank 0: allreduce(SUM, Float x 4); rank 1: allreduce(SUM, Float x 5)", dist.all_reduce, x)
    raises("rank 1: broadcast(Float x 3, root 1)", dist.broadcast, torch.ones(3, device="tpu"), rank() % 2)
    dtype = torch.float32 if rank() == 0 else torch.int32
    raises("rank 1: allreduce(SUM, Int x 2)", dist.all_reduce, torch.ones(2, dtype=dtype, device="tpu"))
    if rank() == 0:
        raises("rank 0: barrier(); rank 1: allreduce", dist.barrier, device_ids=[0])
    else:
        raises("rank 0: barrier(); rank 1: allreduce", dist.all_reduce, x)
    out, splits = torch.empty(2 * size(), device="tpu"), [2] * size()
    if rank() == 1:
        out, splits = torch.empty(2 * size() + 1, device="tpu"), [3] + [2] * (size() - 1)
    raises(
        "rank 0 sends 8 bytes to rank 1, which expects 12",
        dist.all_to_all_single,
        out,
        torch.ones(2 * size(), device="tpu"),
        splits,
        [2] * size(),
    )

    raises(f"expected {size()} output tensors (one for each rank), got 1", dist.all_gather, [x], x)
    raises("expected an output of Float x", dist.all_gather_into_tensor, torch.ones(1, device="tpu"), x)
    raises("ReduceOp.BAND is not defined for Float tensors", dist.all_reduce, x, ReduceOp.BAND)

    if rank() == 0:
        dist.send(torch.ones(8, device="tpu"), 1)
    elif rank() == 1:
        raises("expected a message of Float x 4, and rank 0 sent Float x 8", dist.recv, torch.ones(4, device="tpu"), 0)
    x = numbers(2).to("tpu")
    future = dist.all_reduce(torch.ones(1 + rank(), device="tpu"), async_op=True).get_future()
    raises("called different collectives", future.wait)
    dist.all_reduce(x)
    equal(x, sum(numbers(2, of_rank=r) for r in range(size())))


if __name__ == "__main__":
    run(globals())
