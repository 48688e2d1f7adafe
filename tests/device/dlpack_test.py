"""DLPack: capsules between tpu tensors, and torch_tpu.dlpack(x) for everything that reads host arrays."""

import gc

import numpy
import pytest
import torch
from torch.utils.dlpack import from_dlpack, to_dlpack

import torch_tpu

pytestmark = pytest.mark.skipif(torch.tpu.platform() != "cpu", reason="zero copy needs a plugin with host memory")

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.bool,
    torch.complex64,
    torch.complex128,
]


def test_capsules_share_memory_between_tpu_tensors():
    x = torch.arange(6.0, device="tpu").view(2, 3)
    y = from_dlpack(to_dlpack(x.t()))
    assert y.is_tpu and y.tolist() == [[0, 3], [1, 4], [2, 5]]
    y[1:].zero_()
    assert x.tolist() == [[0, 0, 0], [3, 0, 0]]
    x.add_(1)
    assert y.tolist() == [[1, 4], [1, 1], [1, 1]]
    del x
    gc.collect()
    assert y.tolist() == [[1, 4], [1, 1], [1, 1]]


def test_capsule_of_a_part():
    part = from_dlpack(to_dlpack(torch.arange(4.0, device="tpu")[1:]))
    with pytest.raises(RuntimeError, match="DLPack capsule of a part"):
        part + 1


def test_capsule_that_nobody_takes():
    to_dlpack(torch.ones(3, device="tpu"))
    torch_tpu.dlpack(torch.ones(3, device="tpu")).__dlpack__()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_reads_every_type(dtype):
    x = torch.tensor([0, 1, 2, 3]).to(dtype)
    assert numpy.array_equal(numpy.from_dlpack(torch_tpu.dlpack(x.to("tpu"))), x.numpy())


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_torch_reads_every_type(dtype):
    x = torch.tensor([0.0, 1, 2, 3]).to(dtype)
    y = torch.from_dlpack(torch_tpu.dlpack(x.to("tpu")))
    assert y.device.type == "cpu" and y.dtype == dtype and y.tolist() == x.tolist()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: x[1:, 2],
        lambda x: x[2, 3],
        lambda x: x[:, ::2],
        lambda x: x.expand(2, 4, 5),
        lambda x: x[:0],
        lambda x: x.as_strided((2, 2), (3, 1), 4),
    ],
)
def test_views(view):
    host = torch.arange(20.0).view(4, 5)
    array = numpy.from_dlpack(torch_tpu.dlpack(view(host.to("tpu"))))
    assert numpy.array_equal(array, view(host).numpy())


def test_bits_are_carried_out():
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert numpy.from_dlpack(torch_tpu.dlpack(x.to("tpu").conj())).tolist() == [1 - 2j, 3 + 4j]
    assert numpy.from_dlpack(torch_tpu.dlpack(x.to("tpu").conj().imag)).tolist() == [-2, 4]


def test_unset_memory_and_storages_longer_than_their_value():
    assert numpy.from_dlpack(torch_tpu.dlpack(torch.empty(3, device="tpu"))).shape == (3,)
    x = torch.ones(2, device="tpu")
    x.resize_(5)
    assert numpy.from_dlpack(torch_tpu.dlpack(x)).tolist() == [1, 1, 0, 0, 0]


def address(array):
    return array.__array_interface__["data"][0]


def test_no_copy():
    x = torch.rand(1000, device="tpu")
    first, second = (numpy.from_dlpack(torch_tpu.dlpack(x)) for _ in range(2))
    assert address(first) == address(second)
    assert torch.from_dlpack(torch_tpu.dlpack(x)).data_ptr() == address(first)
    assert address(numpy.from_dlpack(torch_tpu.dlpack(x[10:]))) == address(first) + 40
    assert address(numpy.from_dlpack(torch_tpu.dlpack(x), copy=True)) != address(first)
    before = torch.tpu.memory_allocated()
    array = numpy.from_dlpack(torch_tpu.dlpack(x))
    assert torch.tpu.memory_allocated() == before and array.size == 1000


def test_an_array_keeps_the_elements_it_was_made_of():
    x = torch.ones(64, 64, device="tpu")
    array = numpy.from_dlpack(torch_tpu.dlpack(x))
    for _ in range(3):
        x.add_(1)  # takes over the memory of x whenever nobody else has it
    x.fill_(7)
    assert (array == 1).all() and x.sum().item() == 7 * 64 * 64


def test_an_array_outlives_the_tensor():
    torch.tpu.synchronize()
    gc.collect()
    before = torch.tpu.memory_allocated()
    x = torch.full((256, 256), 5.0, device="tpu")
    array = numpy.from_dlpack(torch_tpu.dlpack(x))
    part = array[1:3]
    del x, array
    gc.collect()
    others = [torch.zeros(256, 256, device="tpu") + i for i in range(20)]  # would reuse freed memory
    assert (part == 5).all()
    del others, part
    gc.collect()
    assert torch.tpu.memory_allocated() == before


def test_arrays_must_not_be_written():
    x = torch.ones(4, device="tpu")
    y = x.clone()  # shares the elements
    array = numpy.from_dlpack(torch_tpu.dlpack(x))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 2
    own = numpy.from_dlpack(torch_tpu.dlpack(x), copy=True)
    own[0] = 2
    assert x.tolist() == y.tolist() == [1] * 4


def test_export_waits():
    x = torch.full((1024, 1024), 1 / 1024, device="tpu")
    for _ in range(4):
        x = x @ x
    assert numpy.allclose(numpy.from_dlpack(torch_tpu.dlpack(x)), 1 / 1024)


def test_protocol():
    exported = torch_tpu.dlpack(torch.ones(3, device="tpu"))
    assert tuple(exported.__dlpack_device__()) == (1, 0)
    assert '"dltensor"' in repr(exported.__dlpack__())
    assert '"dltensor_versioned"' in repr(exported.__dlpack__(max_version=(1, 0)))
    assert numpy.from_dlpack(exported).tolist() == numpy.from_dlpack(exported).tolist() == [1, 1, 1]


def test_errors():
    with pytest.raises(ValueError, match="expected a tensor on device tpu, got one on cpu"):
        torch_tpu.dlpack(torch.ones(2))
    with pytest.raises(BufferError, match="detach"):
        torch_tpu.dlpack(torch.ones(2, device="tpu", requires_grad=True))
    with pytest.raises(ValueError, match="Unknown device type tpu for Dlpack"):  # torch 2.13: see docs
        torch.from_dlpack(torch.ones(2, device="tpu"))


def test_second_device(python):
    python(
        """
        import torch, torch_tpu
        x = torch.arange(3.0, device="tpu:1")
        assert torch.from_dlpack(torch_tpu.dlpack(x)).tolist() == [0, 1, 2]
        y = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
        assert y.device == torch.device("tpu:1"), y.device
        """,
        TORCH_TPU_CPU_DEVICES="2",
    )


def test_jax_reads_it():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x = torch.arange(6.0, device="tpu").view(2, 3)
    array = jax.dlpack.from_dlpack(torch_tpu.dlpack(x))
    assert numpy.asarray(array).tolist() == x.tolist()
    x.add_(1)
    assert numpy.asarray(array + 1).tolist() == x.tolist()
