"""Tensors as objects: views read and written through, copies of every kind, storages, what the debug levels show."""

import copy
import io
import pickle

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DTYPES = [torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64]


def counting(shape, dtype=torch.float32):
    """A CPU tensor whose elements tell their places."""
    numbers = torch.arange(torch.Size(shape).numel())
    if dtype == torch.bool:
        return (numbers % 3 == 1).view(shape)
    if dtype.is_complex:
        return torch.complex(numbers.float(), -numbers.float() - 0.5).to(dtype).view(shape)
    return (numbers % 100).to(dtype).view(shape)


def same(tpu, cpu):
    """Equal in value, dtype and layout."""
    assert (tpu.shape, tpu.dtype, tpu.stride(), tpu.storage_offset()) == (
        cpu.shape,
        cpu.dtype,
        cpu.stride(),
        cpu.storage_offset(),
    )
    assert (tpu.is_conj(), tpu.is_neg()) == (cpu.is_conj(), cpu.is_neg())
    assert torch.equal(tpu.cpu(), cpu), f"tpu:\n{tpu.cpu()}\ncpu:\n{cpu}"


# --- views

VIEWS = {
    "slice": lambda x: x[1:3, ::2],
    "slice to the end": lambda x: x[-2:],
    "select": lambda x: x[:, 2],
    "one element": lambda x: x[2, 3, 1],
    "narrow": lambda x: x.narrow(1, 2, 3),
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "permute and slice": lambda x: x.permute(1, 2, 0)[2:4, 1:, ::3],
    "expand": lambda x: x[:, :1].expand(4, 6, 4),
    "new dimensions": lambda x: x[None, :, :, None, 1],
    "unfold": lambda x: x.unfold(1, 2, 3),
    "unfold with overlap": lambda x: x.unfold(0, 3, 1),
    "diagonal": lambda x: x.diagonal(1, 0, 1),
    "diagonal below": lambda x: x.diagonal(-2, 1, 2),
    "as_strided": lambda x: x.as_strided((3, 4), (7, 2), 5),
    "as_strided with overlap": lambda x: x.as_strided((3, 4), (1, 2), 3),
    "as_strided odd": lambda x: x.as_strided((2, 3, 2), (3, 16, 1), 1),
    "reversed pairs": lambda x: x.as_strided((4, 2), (1, 24), 0),
    "reshape": lambda x: x.view(2, 2, 3, 2, 4),
    "flatten a part": lambda x: x[1:3].flatten(1),
    "squeeze": lambda x: x[1:2, 3:4].squeeze(),
    "split": lambda x: x.split(2, 1)[1],
    "chunk": lambda x: x.chunk(3, 1)[2],
    "unbind": lambda x: x.unbind(2)[3],
    "movedim": lambda x: x.movedim(0, -1)[1:],
    "unflatten": lambda x: x.unflatten(1, (2, 3))[:, 1, 1:],
    "nothing": lambda x: x[2:2],
    "detach": lambda x: x.detach(),
    "alias": lambda x: x.view_as(x)[1],
}
WRITABLE = [name for name in VIEWS if "overlap" not in name and name != "expand"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", VIEWS)
def test_reading_a_view(name, dtype):
    cpu = counting((4, 6, 4), dtype)
    tpu = cpu.to("tpu")
    same(VIEWS[name](tpu), VIEWS[name](cpu))
    same(VIEWS[name](tpu).clone(), VIEWS[name](cpu).clone())
    same(VIEWS[name](tpu).contiguous(), VIEWS[name](cpu).contiguous())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.complex64], ids=str)
@pytest.mark.parametrize("name", WRITABLE)
def test_writing_through_a_view(name, dtype):
    cpu = counting((4, 6, 4), dtype)
    tpu = cpu.to("tpu")
    other = counting(VIEWS[name](cpu).shape, dtype).flip(list(range(VIEWS[name](cpu).dim())))
    VIEWS[name](tpu).copy_(other)
    VIEWS[name](cpu).copy_(other)
    same(tpu, cpu)
    VIEWS[name](tpu).copy_(other.to("tpu").logical_not())
    VIEWS[name](cpu).copy_(other.logical_not())
    same(tpu, cpu)
    if dtype != torch.bool:
        VIEWS[name](tpu).mul_(3).add_(1)
        VIEWS[name](cpu).mul_(3).add_(1)
        same(tpu, cpu)
    VIEWS[name](tpu).fill_(1)
    VIEWS[name](cpu).fill_(1)
    same(tpu, cpu)


TYPED = {
    "real": (torch.complex64, lambda x: x.real),
    "imag": (torch.complex64, lambda x: x.imag),
    "imag of a slice": (torch.complex64, lambda x: x[1:, ::2].imag),
    "view_as_real": (torch.complex64, torch.view_as_real),
    "view_as_complex": (torch.float32, torch.view_as_complex),
    "float as int": (torch.float32, lambda x: x.view(torch.int32)),
    "float as bytes": (torch.float32, lambda x: x.view(torch.uint8)),
    "halves of floats": (torch.float32, lambda x: x.view(torch.bfloat16)),
    "bytes as shorts": (torch.uint8, lambda x: x.view(torch.int16)),
    "bytes as float": (torch.uint8, lambda x: x.view(3, 8).view(torch.float32)),
    "slice as int": (torch.float64, lambda x: x[1:].view(torch.int64)[..., 1:]),
    "bool as bytes": (torch.bool, lambda x: x.view(torch.uint8)),
    "bytes as bool": (torch.uint8, lambda x: x.clamp_(max=1).view(torch.bool)),
    "complex as float": (torch.complex64, lambda x: x.view(torch.float32)),
    "complex as long": (torch.complex64, lambda x: x.view(torch.int64)),
    "float as complex": (torch.float64, lambda x: x.view(torch.complex128)),
}


@pytest.mark.parametrize("name", TYPED)
def test_views_of_another_type(name):
    dtype, view = TYPED[name]
    cpu = counting((3, 4, 2), dtype)
    tpu = cpu.to("tpu")
    same(view(tpu), view(cpu))
    same(view(tpu) + 0, view(cpu) + 0) if view(cpu).dtype != torch.bool else same(~view(tpu), ~view(cpu))
    view(tpu)[1:].fill_(1)
    view(cpu)[1:].fill_(1)
    same(tpu, cpu)
    view(tpu)[0].copy_(view(tpu)[1])
    view(cpu)[0].copy_(view(cpu)[1])
    same(view(tpu), view(cpu))
    same(tpu, cpu)


def test_lazy_conjugates_and_negatives():
    cpu = counting((3, 4), torch.complex64)
    tpu = cpu.to("tpu")
    for view in (
        lambda x: x.conj(),
        lambda x: x.conj().imag,
        lambda x: x.mH,
        lambda x: x[1:].conj()[:, ::2],
        lambda x: torch._neg_view(x),
    ):
        same(view(tpu), view(cpu))
        same(view(tpu) * 2, view(cpu) * 2)
        same(view(tpu).clone(), view(cpu).clone())
        view(tpu).add_(3)
        view(cpu).add_(3)
        same(tpu, cpu)
    tpu.conj().copy_(tpu * 2)
    cpu.conj().copy_(cpu * 2)
    same(tpu, cpu)


def test_channels_last():
    cpu = counting((2, 3, 4, 5))
    tpu = cpu.to("tpu")
    a, b = tpu.to(memory_format=torch.channels_last), cpu.to(memory_format=torch.channels_last)
    assert a.is_contiguous(memory_format=torch.channels_last)
    same(a, b)
    for function in (
        lambda x: x + 1,
        lambda x: x * x,
        lambda x: x.clone(),
        lambda x: torch.empty_like(x).copy_(x),
        lambda x: x.bfloat16(),
        lambda x: x[:, 1:],
        lambda x: x.contiguous(),
        lambda x: torch.relu_(x - 20),
        lambda x: x.flatten(2).sum(2),
    ):
        same(function(a), function(b))
    a[:, :, 1] = 7
    b[:, :, 1] = 7
    same(a, b)
    same(a.cpu(), b)
    same(cpu.to("tpu", memory_format=torch.channels_last), b.copy_(cpu))


@st.composite
def strided(draw):
    """Sizes, strides and offset within a storage of 96 elements, overlapping or not."""
    rank = draw(st.integers(0, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    strides = draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12, 24]), min_size=rank, max_size=rank))
    reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if reach > 95:
        sizes = [min(size, 2) for size in sizes]
        reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return sizes, strides, draw(st.integers(0, 95 - reach))


GENERATED = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@GENERATED
@given(strided())
def test_any_strides_can_be_read(view):
    cpu = counting((96,))
    same(cpu.to("tpu").as_strided(*view) + 1, cpu.as_strided(*view) + 1)


@GENERATED
@given(strided(), st.sampled_from([(96,), (8, 12), (2, 6, 8)]))
def test_any_strides_without_overlap_can_be_written(view, shape):
    places = torch.arange(96).as_strided(*view).flatten()
    if len(places.unique()) < len(places):
        return  # torch refuses, or leaves open what comes out
    cpu = counting(shape)
    tpu = cpu.to("tpu")
    for x in (cpu, tpu):
        x.as_strided(*view).mul_(-2)
        x.as_strided(*view).copy_(-counting(view[0]).to(x.device) - 1)
    same(tpu, cpu)


@st.composite
def basic_views(draw):
    """A chain of up to three basic views of a tensor of shape (4, 3, 5)."""
    steps = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["slice", "select", "permute", "diagonal", "unsqueeze"]))
        steps.append((kind, draw(st.integers(0, 3)), draw(st.integers(0, 3)), draw(st.integers(1, 3))))
    return steps


def apply(x, steps):
    for kind, dim, start, step in steps:
        dim = dim % max(x.dim(), 1)
        if kind == "slice" and x.dim():
            x = x[(slice(None),) * dim + (slice(min(start, x.shape[dim]), None, step),)]
        elif kind == "select" and x.dim() and x.shape[dim]:
            x = x.select(dim, start % x.shape[dim])
        elif kind == "permute":
            x = x.permute(*(list(range(x.dim()))[dim:] + list(range(x.dim()))[:dim]))
        elif kind == "diagonal" and x.dim() > 1:
            x = x.diagonal(start - 1, dim, (dim + 1) % x.dim())
        elif kind == "unsqueeze":
            x = x.unsqueeze(dim)
    return x


@GENERATED
@given(basic_views(), st.sampled_from([torch.float32, torch.int16, torch.bool]))
def test_any_chain_of_views_can_be_read_and_written(steps, dtype):
    cpu = counting((4, 3, 5), dtype)
    tpu = cpu.to("tpu")
    same(apply(tpu, steps).clone(), apply(cpu, steps).clone())
    for x in (cpu, tpu):
        view = apply(x, steps)
        view.copy_(counting(view.shape, dtype).to(x.device).logical_not())
    same(tpu, cpu)


def test_flip_and_negative_steps_are_copies():
    cpu = counting((3, 4))
    same(cpu.to("tpu").flip(0, 1), cpu.flip(0, 1))


@pytest.mark.parametrize(
    "view",
    [
        lambda x, i: x[i],
        lambda x, i: x[:, i % 5],
        lambda x, i: x[i : i + 2],
        lambda x, i: x.narrow(0, i, 1).t(),
        lambda x, i: x.as_strided((3, 2), (5, 2), 5 * i + i % 3),  # within rows: one that wraps is another program
        lambda x, i: x.view(-1)[i : i + 3],
    ],
)
def test_a_hundred_offsets_compile_twice(view):
    cpu = counting((103, 5))
    tpu = cpu.to("tpu")

    def compiles(use):
        before = torch.tpu.cache_stats()["misses"]
        for i in range(100):
            use(i)
        return torch.tpu.cache_stats()["misses"] - before

    def read(i):
        assert torch.equal((view(tpu, i) + 1).cpu(), view(cpu, i) + 1)

    def write(i):
        view(tpu, i).fill_(-i)
        view(cpu, i).fill_(-i)

    assert compiles(read) <= 2
    assert compiles(write) <= 2
    same(tpu, cpu)


def test_numbers_and_offsets_of_one_call_do_not_displace_each_other():
    """Both are small int64 vectors that the engine keeps in a table of 256 slots; in 2000 calls some share a slot."""
    x = torch.zeros(64, dtype=torch.int64, device="tpu")
    for i in range(2000):
        x[1 + i % 63].fill_(i)
    assert x.tolist() == [0, *range(2000 - 2000 % 63, 2000), *range(2000 - 63, 2000 - 2000 % 63)]


def test_aliases_see_writes_and_readers_of_the_past_do_not():
    x = torch.zeros(4, device="tpu")
    view, copied, host = x[1:3], x + 0, x.cpu()
    x += 1
    view *= 5
    assert x.tolist() == [1, 5, 5, 1] and view.tolist() == [5, 5]
    assert copied.tolist() == host.tolist() == [0] * 4


def test_lazy_clone():
    """Strides and offset of the original; neither sees a write to the other."""
    for x in (counting((2, 3)), counting((2, 3)).to("tpu")):
        view = x.t()[1:]
        clone = torch._lazy_clone(view)
        assert (clone.stride(), clone.storage_offset()) == (view.stride(), view.storage_offset())
        before = view.tolist()
        view.mul_(2)
        assert clone.tolist() == before
        after = view.tolist()
        clone.add_(1)
        assert view.tolist() == after != clone.tolist()


def test_a_write_that_reads_its_own_storage():
    cpu = counting((6, 6))
    tpu = cpu.to("tpu")
    for x in (cpu, tpu):
        x[1:].add_(x[:-1].clone())
        x.t().copy_(x.clone())
        x.view(-1)[:3] = x[3, 3:]
        x.add_(x.t().clone())
    same(tpu, cpu)


# --- copies of the object


@pytest.mark.parametrize("dtype", DTYPES + [torch.float16, torch.int8, torch.complex128], ids=str)
@pytest.mark.parametrize("way", ["cpu", "numpy", "deepcopy", "pickle", "save", "clone", "tolist"])
def test_round_trip(way, dtype):
    cpu = counting((3, 5), dtype)[:, 1:]
    tpu = cpu.to("tpu")
    if way == "numpy" and dtype == torch.bfloat16:
        dtype, cpu, tpu = torch.float32, cpu.float(), tpu.float()  # numpy has no bfloat16
    file = io.BytesIO()
    match way:
        case "cpu":
            back = tpu.cpu()
        case "numpy":
            back = torch.from_numpy(tpu.cpu().numpy().copy())
        case "deepcopy":
            back = copy.deepcopy(tpu)
            tpu.zero_()
        case "pickle":
            back = pickle.loads(pickle.dumps(tpu))
        case "save":
            torch.save(tpu, file)
            file.seek(0)
            back = torch.load(file)
        case "clone":
            back = tpu.clone()
        case "tolist":
            back = torch.tensor(tpu.tolist(), dtype=dtype)
    assert back.dtype == dtype and torch.equal(back.cpu(), cpu)
    assert back.is_tpu == (way in ("deepcopy", "pickle", "save", "clone"))


def test_print():
    x = torch.arange(6.0, device="tpu").view(2, 3)
    assert repr(x) == "tensor([[0., 1., 2.],\n        [3., 4., 5.]], device='tpu:0')"
    assert repr(x[0, 1]) == "tensor(1., device='tpu:0')"
    assert repr(torch.tensor([True], device="tpu")) == "tensor([True], device='tpu:0')"
    assert repr(torch.tensor([1 + 2j], device="tpu")) == "tensor([1.+2.j], device='tpu:0')"
    assert repr(torch.empty(0, dtype=torch.int32, device="tpu")) == "tensor([], device='tpu:0', dtype=torch.int32)"
    assert "grad_fn=<MulBackward0>" in repr(x.requires_grad_() * 2)
    assert "..." in repr(torch.zeros(5000, device="tpu")) and f"{x[0, 2].item():.1f}" == f"{x[0, 2]:.1f}" == "2.0"


def test_deepcopy_keeps_sharing():
    x = torch.arange(4.0, device="tpu")
    first, second = copy.deepcopy([x[:2], x])
    first[0] = 9
    assert second.tolist() == [9, 1, 2, 3] and x.tolist() == [0, 1, 2, 3]
    parameter = copy.deepcopy(torch.nn.Parameter(x))
    assert isinstance(parameter, torch.nn.Parameter) and parameter.requires_grad and parameter.is_tpu


WHERE = {
    "as saved": (None, "tpu"),
    "a string": ("cpu", "cpu"),
    "a device": (torch.device("cpu"), "cpu"),
    "the device": ("tpu", "tpu"),
    "an index": ("tpu:0", "tpu"),
    "a table": ({"tpu:0": "cpu"}, "cpu"),
    "a function": (lambda storage, location: storage, "cpu"),
    "a function to the device": (lambda storage, location: storage.tpu(), "tpu"),
    "a function that leaves it": (lambda storage, location: None, "tpu"),
}


@pytest.mark.parametrize("how", WHERE)
@pytest.mark.parametrize("weights_only", [True, False])
def test_load(how, weights_only):
    x = torch.arange(6.0, device="tpu")
    state = {
        "x": x,
        "view": x[2:4],
        "flag": torch.tensor([True, False], device="tpu"),
        "host": torch.ones(2),
        "number": 3,
    }
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    where, device = WHERE[how]
    loaded = torch.load(file, map_location=where, weights_only=weights_only)
    assert loaded["x"].device.type == loaded["view"].device.type == loaded["flag"].device.type == device
    assert loaded["x"].tolist() == list(range(6)) and loaded["flag"].tolist() == [True, False] and loaded["number"] == 3
    loaded["x"][2] = 9  # the view still shares its storage
    assert loaded["view"].tolist() == [9, 3]


@pytest.mark.parametrize("mmap", [True, False])
def test_load_from_a_file_of_the_cpu(tmp_path, mmap):
    torch.save({"w": counting((3, 4), torch.bfloat16)}, tmp_path / "state.pt")
    loaded = torch.load(tmp_path / "state.pt", map_location="tpu", mmap=mmap)["w"]
    assert loaded.is_tpu and torch.equal(loaded.cpu(), counting((3, 4), torch.bfloat16))


def test_state_dict_of_a_network_and_its_optimizer():
    torch.manual_seed(0)

    def make():
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).to("tpu")
        return net, torch.optim.AdamW(net.parameters(), lr=1e-2)

    def step(net, optimizer):
        optimizer.zero_grad()
        net(torch.ones(5, 3, device="tpu").cumsum(0)).pow(2).sum().backward()
        optimizer.step()

    net, optimizer = make()
    step(net, optimizer)
    file = io.BytesIO()
    torch.save((net.state_dict(), optimizer.state_dict()), file)
    file.seek(0)
    other, other_optimizer = make()
    weights, moments = torch.load(file)
    other.load_state_dict(weights)
    other_optimizer.load_state_dict(moments)
    step(net, optimizer)
    step(other, other_optimizer)
    for a, b in zip(net.state_dict().values(), other.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b)  # the two may run as other programs, rounded otherwise


def test_a_loaded_checkpoint_is_not_bitcast(python):
    """Storages arrive as bytes. The first use gives each its type, so that no later program casts them again."""
    _, err = python(
        """
        import io, sys, torch
        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2).bfloat16())
        state = io.BytesIO()
        torch.save({**net.state_dict(), "flags": torch.ones(3, dtype=torch.bool), "z": torch.ones(3) * 1j}, state)
        state.seek(0)
        loaded = torch.load(state, map_location="tpu")
        flags, z = loaded.pop("flags"), loaded.pop("z")
        net.to("tpu").load_state_dict(loaded, assign=True)
        optimizer = torch.optim.AdamW(net.parameters())

        def step():
            net[1](net[0](torch.ones(2, 4, device="tpu")).bfloat16()).sum().backward()
            optimizer.step()
            ~flags, z * 2

        step()
        print("LATER", file=sys.stderr, flush=True)
        step()
        """,
        TORCH_TPU_DEBUG="4",
    )
    before, later = err.split("LATER")
    assert "stablehlo.add" in before  # the text is there to be searched
    for text in (before, later):  # rounding to bfloat16 casts as well, but not bytes
        assert not [line for line in text.splitlines() if "bitcast_convert" in line and "ui8>" in line]


# --- storages


def test_storage_resize():
    x = torch.arange(4.0, device="tpu")
    storage = x.untyped_storage()
    assert storage.nbytes() == 16 and storage.device.type == "tpu" and len(storage) == 16
    storage.resize_(8)
    assert x[:2].tolist() == [0, 1]
    storage.resize_(16)
    assert x.tolist()[:2] == [0, 1]
    storage.resize_(0)
    storage.resize_(16)
    x.fill_(2)
    assert x.tolist() == [2] * 4


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_resize(dtype):
    cpu = counting((2, 3), dtype)
    tpu = cpu.to("tpu")
    for shape in ((3,), (1, 2), (6,), (0,), (2, 3)):
        tpu.resize_(shape)
        cpu.resize_(shape)
        same(tpu, cpu)
    tpu.resize_(4, 4)
    assert tpu.flatten()[:6].tolist() == cpu.flatten().tolist()


def test_set():
    x, y = torch.arange(6.0, device="tpu"), torch.empty(0, device="tpu")
    y.set_(x)
    assert y.tolist() == x.tolist() and y.data_ptr() == x.data_ptr()
    y.set_(x.untyped_storage(), 1, (2, 2), (3, 1))
    assert y.tolist() == [[1, 2], [4, 5]]
    y[0, 0] = 9
    assert x.tolist() == [0, 9, 2, 3, 4, 5]
    y.set_()
    assert y.numel() == 0 and y.is_tpu
    x.data = torch.ones(2, device="tpu")
    assert x.tolist() == [1, 1]
    p = torch.nn.Parameter(torch.ones(2))
    p.data = torch.zeros(3, device="tpu")
    assert p.is_tpu and p.tolist() == [0] * 3


def test_typed_views_of_a_storage():
    x = torch.arange(4, dtype=torch.int32, device="tpu")
    raw = torch.tensor([], dtype=torch.uint8, device="tpu").set_(x.untyped_storage())
    assert raw.tolist() == list(bytes(x.cpu().numpy().tobytes()))
    raw[4] = 200
    assert x.tolist() == [0, 200, 2, 3]
    assert x.untyped_storage().cpu().nbytes() == 16
    assert bytes(x.untyped_storage().cpu()) == bytes(raw.tolist())
    assert x.untyped_storage().clone().device.type == "tpu"


def test_swap_and_copy_of_storages():
    a, b = torch.ones(4, device="tpu"), torch.zeros(4, device="tpu")
    a.untyped_storage().copy_(b.untyped_storage())
    assert a.tolist() == [0] * 4
    torch.utils.swap_tensors(a, c := torch.arange(3.0))
    assert a.tolist() == [0, 1, 2] and c.is_tpu


# --- the debugging ladder: each level shows one stage more

LADDER = {
    1: (["device(s) of platform"], ["compiled in", "graph\n", "stablehlo.", "call "]),
    2: (["device(s) of platform", "compiled in"], ["graph\n", "stablehlo.", "call "]),
    3: (["compiled in", "graph\n", "operand 0"], ["stablehlo.", "call "]),
    4: (["compiled in", "graph\n", "stablehlo.add"], ["call "]),
    5: (["compiled in", "graph\n", "stablehlo.add", "call "], []),
}


@pytest.mark.parametrize("level", LADDER)
def test_debug_levels(python, level):
    out, err = python(
        "import torch; x = torch.ones(3, device='tpu'); y = x + 1; y = x + 1; print(y.tolist())",
        TORCH_TPU_DEBUG=str(level),
        TORCH_TPU_CACHE_DIR="off",  # programs from disk are not compiled
    )
    shown, hidden = LADDER[level]
    assert out == "[2.0, 2.0, 2.0]"  # what the program prints stays clean
    assert all(text in err for text in shown), err
    assert not any(text in err for text in hidden), err


def test_debug_off_shows_nothing(python):
    assert python("import torch; (torch.ones(3, device='tpu') + 1).tolist()", TORCH_TPU_DEBUG="0")[1] == ""


def test_an_unknown_variable_is_named_once(python):
    _, err = python(
        "import torch; x = torch.ones(2, device='tpu'); (x + x).sum().item(); torch.tpu.init()",
        TORCH_TPU_MEMORY_LIMITT="1",
    )
    assert err.count("TORCH_TPU_MEMORY_LIMITT") == 1
