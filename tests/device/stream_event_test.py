"""Streams are numbers, events wait for what was dispatched before them."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")  # they count what single calls do


def test_streams_are_values_of_a_thread():
    default = torch.tpu.current_stream()
    assert default == torch.tpu.default_stream() and default.device == torch.device("tpu:0")
    stream = torch.Stream(device="tpu")
    assert stream != default and stream != torch.tpu.Stream(device="tpu")
    with stream:
        assert torch.tpu.current_stream() == stream
    with torch.tpu.stream(stream):
        assert torch.tpu.current_stream() == stream
        with torch.tpu.stream(None):
            assert torch.tpu.current_stream() == stream
    torch.tpu.set_stream(stream)
    assert torch.accelerator.current_stream() == stream
    torch.tpu.set_stream(default)
    assert torch.tpu.current_stream() == default


def test_stream_waits():
    stream, event = torch.Stream(device="tpu"), torch.Event("tpu")
    x = torch.ones(64, 64, device="tpu")
    with stream:
        y = x @ x
        event.record()
    torch.tpu.current_stream().wait_event(event)
    torch.tpu.current_stream().wait_stream(stream)
    assert y.sum().item() == 64**3
    stream.synchronize()
    assert stream.query()


def test_event_that_was_never_recorded_is_ready():
    event = torch.Event("tpu")
    assert event.query()
    event.synchronize()


def test_event_covers_what_was_dispatched_before_it():
    x = torch.full((768, 768), 1e-3, device="tpu")
    torch.tpu.synchronize()
    y = x
    for _ in range(8):
        y = y @ x
    event = torch.Event("tpu")
    event.record()
    event.synchronize()
    assert event.query()
    assert torch.tpu.current_stream().query()


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x @ x,
        lambda x: (x @ x).sum(),  # the small result is dropped as well as the large one it waits for
    ],
    ids=["one result", "a chain"],
)
def test_dropped_work_is_waited_for(work):
    x = torch.full((1536, 1536), 1e-3, device="tpu")
    work(x)  # compiles
    torch.tpu.synchronize()
    for _ in range(4):
        work(x)
    assert not torch.tpu.current_stream().query()
    event = torch.Event("tpu")
    event.record()
    assert not event.query()
    torch.tpu.synchronize()
    assert event.query() and torch.tpu.current_stream().query()


def test_dropped_work_does_not_pile_up():
    x = torch.ones(300, 300, device="tpu")
    for _ in range(200):
        x @ x
    torch.tpu.synchronize()
    allocated = torch.tpu.memory_allocated()
    for _ in range(200):
        x @ x
    torch.tpu.synchronize()
    assert torch.tpu.memory_allocated() == allocated


def test_elapsed_time_is_the_time_of_the_work():
    begin, end = torch.Event("tpu", enable_timing=True), torch.Event("tpu", enable_timing=True)
    x = torch.full((1024, 1024), 1e-3, device="tpu")
    (x @ x).sum().item()
    begin.record()
    for _ in range(5):
        x = x @ x
    end.record()
    end.synchronize()
    begin.synchronize()
    assert begin.elapsed_time(end) > 1  # milliseconds; ten billion operations


def test_elapsed_time_needs_timing():
    begin, end = torch.Event("tpu"), torch.Event("tpu")
    begin.record()
    end.record()
    with pytest.raises(ValueError, match="enable_timing"):
        begin.elapsed_time(end)


def test_record_stream():
    x = torch.ones(4, device="tpu")
    x.record_stream(torch.Stream(device="tpu"))


def test_synchronize_reports_devices_that_do_not_exist():
    torch.tpu.synchronize()
    torch.tpu.synchronize("tpu:0")
    torch.accelerator.synchronize()
    with pytest.raises(RuntimeError, match="tpu:99"):
        torch.tpu.synchronize(99)
    with pytest.raises(ValueError, match="expected a tpu device"):
        torch.tpu.synchronize("cpu")


def test_current_device(python):
    python(
        """
        import torch, threading
        assert torch.tpu.current_device() == 0
        with torch.tpu.device(1):
            assert torch.tpu.current_device() == torch.accelerator.current_device_index() == 1
            assert torch.tpu.current_stream().device == torch.device("tpu:1")
            with torch.tpu.device("tpu:0"), torch.tpu.device(None), torch.tpu.device(-1):
                assert torch.tpu.current_device() == 0
            seen = []
            thread = threading.Thread(target=lambda: seen.append(torch.tpu.current_device()))
            thread.start()
            thread.join()
            assert seen == [0]  # each thread has its own
            assert torch.UntypedStorage(8, device="tpu").device == torch.device("tpu:1")
        assert torch.tpu.current_device() == 0
        torch.tpu.set_device("tpu:1")
        torch.tpu.set_device(-1)
        assert torch.tpu.current_device() == 1
        for wrong in (2, "tpu:7"):
            try:
                torch.tpu.set_device(wrong)
            except RuntimeError as error:
                assert "does not exist" in str(error)
            else:
                raise AssertionError(wrong)
        assert torch.tpu.current_device() == 1
        """,
        TORCH_TPU_CPU_DEVICES="2",
    )
