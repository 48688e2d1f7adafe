"""The allocator: synthetic addresses, counts of live arrays, storage resize, out of memory, pinned host memory."""

import gc

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")  # they count what single calls do

MIB = 2**20


def test_addresses_are_distinct_aligned_and_out_of_reach():
    storages = [torch.UntypedStorage(size, device="tpu") for size in (0, 0, 1, 64, 65, 100)]
    spans = sorted((storage.data_ptr(), max(storage.nbytes(), 1)) for storage in storages)
    assert all(address >= 2**56 and address % 64 == 0 for address, _ in spans)
    assert all(address + size <= following for (address, size), (following, _) in zip(spans, spans[1:], strict=False))


def test_pointers_tell_aliases():
    x = torch.ones(4, 4, device="tpu")
    assert x.data_ptr() == x.view(16).data_ptr() == x.t().data_ptr()
    assert x[1].data_ptr() == x.data_ptr() + 16
    pointer = x.data_ptr()
    x.add_(1)
    assert x.data_ptr() == pointer
    assert x.clone().data_ptr() != pointer


def test_counts_follow_live_tensors():
    gc.collect()
    torch.tpu.synchronize()
    before = torch.tpu.memory_allocated()
    torch.tpu.reset_peak_memory_stats()
    x = torch.ones(MIB, device="tpu")
    y = x + 1
    assert torch.tpu.memory_allocated() - before == 8 * MIB
    del x
    assert torch.tpu.memory_allocated() - before == 4 * MIB
    assert torch.tpu.max_memory_allocated() - before == 8 * MIB
    view = y[1:]
    del y
    assert torch.tpu.memory_allocated() - before == 4 * MIB
    del view
    assert torch.tpu.memory_allocated() == before
    torch.tpu.reset_peak_memory_stats()
    assert torch.tpu.max_memory_allocated() == before == torch.tpu.memory_reserved()


def test_unwritten_memory_costs_nothing():
    before = torch.tpu.memory_allocated()
    x = torch.empty(MIB, device="tpu")
    assert torch.tpu.memory_allocated() == before
    assert x.sum().item() == 0


def test_statistics_have_the_names_of_other_devices():
    x = torch.ones(MIB, device="tpu")
    stats = torch.tpu.memory_stats()
    assert stats["allocated_bytes.all.current"] == torch.tpu.memory_allocated() >= x.nbytes
    assert stats["reserved_bytes.all.peak"] == torch.tpu.max_memory_reserved()
    assert torch.accelerator.memory_allocated() == torch.tpu.memory_allocated()
    free, total = torch.tpu.mem_get_info()
    assert (free, total) == torch.accelerator.get_memory_info()
    assert total - free == torch.tpu.memory_allocated()
    torch.tpu.reset_accumulated_memory_stats()
    torch.tpu.empty_cache()
    torch.accelerator.empty_cache()


def test_nested_statistics_and_summary():
    x = torch.ones(3 * MIB // 4, device="tpu")
    nested = torch.tpu.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == torch.tpu.memory_allocated() >= x.nbytes
    summary = torch.tpu.memory_summary(abbreviated=True)
    assert "device ID 0" in summary and "Allocated memory" in summary and "MiB" in summary
    assert torch.tpu.memory_summary("tpu:0").splitlines()[0] == summary.splitlines()[0]


def test_counts_by_torch_accelerator():
    x = torch.ones(MIB, device="tpu")
    accelerator = torch.accelerator
    assert accelerator.memory_reserved() == accelerator.memory_allocated() >= x.nbytes
    accelerator.reset_peak_memory_stats()
    del x
    assert accelerator.max_memory_allocated() == accelerator.max_memory_reserved() >= 4 * MIB
    assert accelerator.memory_stats()["allocated_bytes.all.peak"] == torch.tpu.max_memory_allocated()
    accelerator.reset_accumulated_memory_stats()
    assert accelerator.memory_stats()["allocated_bytes.all.allocated"] == 0


def test_out_of_memory_is_counted_and_named_like_cudas():
    before = torch.tpu.memory_stats()["num_ooms"]
    with pytest.raises(torch.tpu.OutOfMemoryError):
        torch.empty(2**48, device="tpu")
    assert torch.tpu.memory_stats()["num_ooms"] == before + 1


@pytest.mark.parametrize(
    "use", [lambda size: torch.empty(size, device="tpu"), lambda size: torch.ones(size, device="tpu")]
)
def test_out_of_memory_harms_nothing(use):
    x = torch.ones(4, device="tpu")
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        use(2**48)
    with pytest.raises(torch.OutOfMemoryError):
        torch.UntypedStorage(2**60, device="tpu")
    assert (x + 1).tolist() == [2.0] * 4


def test_resize_keeps_what_fits_and_adds_zeros():
    x = torch.tensor([1, 2, 3, 4], dtype=torch.int32, device="tpu")
    storage = x.untyped_storage()
    x.resize_(8)
    assert storage.nbytes() == 32 and x.tolist() == [1, 2, 3, 4, 0, 0, 0, 0]
    storage.resize_(8)
    assert storage.nbytes() == 8
    storage.resize_(16)
    assert x[:4].tolist() == [1, 2, 0, 0]


def test_resize_to_zero_gives_memory_back():
    x = torch.ones(MIB, device="tpu")
    allocated = torch.tpu.memory_allocated()
    x.untyped_storage().resize_(0)
    assert torch.tpu.memory_allocated() == allocated - x.nbytes
    x.untyped_storage().resize_(x.nbytes)
    x.fill_(3)
    assert x.sum().item() == 3 * MIB


def test_resized_storages_do_not_overlap():
    first, second = (torch.UntypedStorage(64, device="tpu") for _ in range(2))
    first.resize_(4096)
    assert not first.data_ptr() <= second.data_ptr() < first.data_ptr() + 4096


def test_pinned_memory():
    x = torch.arange(100.0).pin_memory()
    assert x.is_pinned() and x[50:].is_pinned() and x.data_ptr() % 64 == 0
    assert not torch.ones(3).is_pinned()
    assert torch.empty(0, pin_memory=True).numel() == 0
    pointer = x.data_ptr()
    del x
    stats = torch.accelerator.memory.empty_host_cache()
    assert stats is None and pointer


def test_pinned_copies():
    x = torch.arange(100.0).pin_memory()
    y = x.to("tpu", non_blocking=True)
    x.zero_()
    assert y.sum().item() == 4950
    back = torch.empty(100, pin_memory=True).copy_(y, non_blocking=True)
    torch.tpu.synchronize()
    assert torch.equal(back, torch.arange(100.0))


def test_device_of_a_pointer_and_names():
    assert torch.tpu.get_device_properties().total_memory == torch.tpu.mem_get_info()[1]
    assert torch.tpu.get_device_name() and torch.tpu.platform()
    assert torch.float32 in torch.tpu.get_device_capability()["supported_dtypes"]
