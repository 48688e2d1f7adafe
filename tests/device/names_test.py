"""The names that libraries look for in a device module."""

import pytest
import torch

# Of torch.xpu, another device outside of CUDA: what cannot be offered honestly here.
NOT_OFFERED = {
    # no allocator to replace, to limit or to dump: PJRT allocates
    "MemPool",
    "XPUPluggableAllocator",
    "change_current_allocator",
    "device_memory_used",
    "get_per_process_memory_fraction",
    "memory_snapshot",
    "set_per_process_memory_fraction",
    "use_mem_pool",
    # no graph capture
    "XPUGraph",
    "graph",
    "graph_pool_handle",
    "make_graphed_callables",
    # no streams or compilers of the vendor's
    "get_gencode_flags",
    "get_stream_from_external",
    # no sensors
    "clock_rate",
    "memory_usage",
    "power_draw",
    "temperature",
    "utilization",
    # a module, not a function
    "streams",
}


def test_names_of_another_device_are_here():
    assert {name for name in torch.xpu.__all__ if not hasattr(torch.tpu, name)} == NOT_OFFERED
    assert [name for name in torch.tpu.__all__ if not hasattr(torch.tpu, name)] == []


def test_answers():
    tpu = torch.tpu
    assert tpu.is_available() and tpu.device_count() == len(tpu.default_generators) >= 1
    tpu.init()
    assert tpu.is_initialized() and not tpu._is_in_bad_fork()
    assert tpu.is_bf16_supported() and not tpu.is_tf32_supported() and not tpu.is_current_stream_capturing()
    assert tpu.get_arch_list() == [tpu.platform()]
    assert tpu.can_device_access_peer(0, 0) and not tpu.can_device_access_peer(0, 99)
    assert tpu.get_amp_supported_dtype()[0] == torch.bfloat16
    properties = tpu.get_device_properties("tpu:0")
    assert properties.name == tpu.get_device_name() and properties.total_memory == tpu.mem_get_info()[1]
    assert tpu.ipc_collect() is None and tpu.empty_cache() is None
    with tpu.device(0), tpu.device_of(torch.ones(1)), tpu.stream(tpu.Stream()):
        assert tpu.current_device() == 0


def test_stream_context():
    stream, before = torch.tpu.Stream(), torch.tpu.current_stream()
    with torch.tpu.StreamContext(stream):
        assert torch.tpu.current_stream() == stream
        with torch.tpu.StreamContext(None):
            assert torch.tpu.current_stream() == stream
    assert torch.tpu.current_stream() == before
    event = stream.record_event()
    event.wait(stream)
    assert event.query() in (True, False)
    event.synchronize()
    assert event.query()


@pytest.mark.parametrize("wrong", ["cpu", "cuda:0"])
def test_functions_refuse_other_devices(wrong):
    for function in (
        torch.tpu.set_device,
        torch.tpu.memory_stats,
        torch.tpu.get_device_properties,
        torch.tpu.synchronize,
    ):
        with pytest.raises(ValueError, match="expected a tpu device"):
            function(wrong)


def test_modules_move_like_tensors():
    net = torch.nn.Linear(2, 2)
    assert net.tpu() is net and net.weight.is_tpu and not net.cpu().weight.is_tpu
    assert net.to(torch.device("tpu", 0), non_blocking=True).weight.device == torch.device("tpu:0")
    x = torch.ones(2)
    assert x.tpu().is_tpu and x.tpu(0).device.index == 0 and x.to("tpu").type() == "torch.tpu.FloatTensor"
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)]).to("tpu")
    assert packed.data.is_tpu
