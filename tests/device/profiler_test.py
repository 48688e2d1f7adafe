"""torch.profiler: what the device did, beside the ops that asked for it."""

import json
import os

import pytest
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function, schedule

pytestmark = pytest.mark.usefixtures("strict")  # they count what single calls do

ROWS = 411 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))  # each worker compiles its own
ALL = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]


@pytest.fixture(scope="module")
def step():
    """One profiled step: (profile, its events). The sizes are used nowhere else, so that it compiles."""
    x, w = torch.ones(ROWS, 203), torch.ones(203, 307, requires_grad=True)
    with torch.tpu.mode("strict"), profile(activities=ALL, record_shapes=True) as prof:
        with record_function("my step"):
            loss = (x.to("tpu") @ w.to("tpu")).relu().sum()
            loss.backward()
        loss.item()
    return prof, prof.events()


def on_device(events, name=""):
    return [event for event in events if event.device_type == DeviceType.PrivateUse1 and name in event.name]


def test_executions_are_device_events(step):
    _, events = step
    kernels = [event for event in on_device(events) if not event.name.startswith("Memcpy")]
    assert any("mm" in event.name for event in kernels) and any("relu" in event.name for event in kernels)
    assert all(event.time_range.elapsed_us() >= 0 and event.device_index == 0 for event in kernels)
    kernels.sort(key=lambda event: event.time_range.start)
    assert all(a.time_range.end <= b.time_range.start + 1 for a, b in zip(kernels, kernels[1:], strict=False))


def test_ops_have_device_time(step):
    rows = {row.key: row for row in step[0].key_averages()}
    assert rows["aten::mm"].device_time_total > 0 and rows["aten::mm"].count == 2  # forward and backward, as on the CPU
    assert rows["aten::relu"].device_time_total > 0
    assert "TPU total" in step[0].key_averages().table()


def test_copies(step):
    assert len(on_device(step[1], "Memcpy HtoD")) >= 2
    assert len(on_device(step[1], "Memcpy DtoH")) >= 2  # the gradient for w on the CPU, and item()


def test_compiles_and_calls_are_host_events(step):
    compiles = [event for event in step[1] if event.name.startswith("Compile ")]
    assert any("mm" in event.name for event in compiles)
    launches = [event for event in step[1] if event.name == "Launch"]
    assert len(launches) == len(on_device(step[1])) - len(on_device(step[1], "Memcpy"))
    assert all(event.device_type == DeviceType.CPU for event in compiles + launches)
    children = [child.name for event in step[1] if event.name == "aten::mm" for child in event.cpu_children]
    assert "Launch" in children


def test_chrome_trace(step, tmp_path):
    step[0].export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    categories = {event.get("cat") for event in trace}
    assert {"cpu_op", "kernel", "gpu_memcpy", "privateuse1_runtime", "user_annotation"} <= categories
    rows = {event["args"]["name"] for event in trace if event["name"] == "thread_name"}
    assert {"tpu:0 programs", "tpu:0 copies"} <= {row.strip() for row in rows}
    assert any(event["args"].get("labels") == "tpu:0" for event in trace if event["name"] == "process_labels")
    kernels = [event for event in trace if event.get("cat") == "kernel"]
    ops = [event for event in trace if event.get("cat") == "cpu_op"]
    begin = min(event["ts"] for event in ops)
    assert all(event["ts"] >= begin and event["pid"] == 0 for event in kernels)
    copies = [event for event in trace if event.get("cat") == "gpu_memcpy"]
    assert {ROWS * 203 * 4, 203 * 307 * 4} <= {event["args"]["bytes"] for event in copies}
    arrows = {
        way: {event["id"] for event in trace if event.get("cat") == "ac2g" and event["ph"] == way} for way in "sf"
    }
    assert arrows["f"] and arrows["f"] <= arrows["s"]


def test_cpu_only_profile_has_no_device_events():
    x = torch.ones(8, device="tpu")
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        (x + 1).sum().item()
    assert on_device(prof.events()) == []
    assert {"aten::add", "Launch"} <= {event.name for event in prof.events()}


def test_device_only_profile():
    x = torch.ones(8, device="tpu")
    with profile(activities=[ProfilerActivity.PrivateUse1]) as prof:
        (x + 1).sum().item()
    assert len(on_device(prof.events())) >= 3
    assert not any(event.name == "aten::add" for event in prof.events())


def test_nothing_is_recorded_before_and_after():
    x = torch.ones(8, device="tpu")
    for _ in range(2):  # a second profile begins empty
        x * 3
        with profile(activities=ALL) as prof:
            x + 1
        x * 3
        assert len(on_device(prof.events())) == 1
        assert "add" in on_device(prof.events())[0].name


def test_schedule_and_steps():
    seen = []
    x = torch.ones(8, device="tpu")
    with profile(
        activities=ALL,
        schedule=schedule(wait=1, warmup=1, active=2),
        on_trace_ready=lambda prof: seen.append(len(on_device(prof.events(), "add"))),
    ) as prof:
        for _ in range(4):
            x + 1
            prof.step()
    assert seen == [2]


def test_slow_work_has_its_own_time():
    x = torch.full((1024, 1024), 1e-3, device="tpu")
    (x @ x).sum().item()
    with profile(activities=ALL) as prof:
        y = x @ x
        for _ in range(3):
            y = y @ x
    times = [event.time_range.elapsed_us() for event in on_device(prof.events(), "mm")]
    assert len(times) == 4 and min(times) > 500  # two billion operations each: not the time of the call


def test_mode_fused():
    x = torch.ones(8, device="tpu")
    with torch.tpu.mode("fused"), profile(activities=ALL) as prof:
        y = ((x + 1) * 2).relu()
    programs = on_device(prof.events())
    assert len(programs) == 1 and "more" in programs[0].name and y.tolist() == [4] * 8


def test_memory():
    with profile(activities=ALL, profile_memory=True) as prof:
        x = torch.ones(1000, device="tpu")
        y = x.repeat(3)
        del x
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["aten::fill_"].self_device_memory_usage == 4000
    assert rows["aten::repeat"].device_memory_usage == y.nbytes
    assert rows["[memory]"].self_device_memory_usage == -4000
    assert "TPU Mem" in prof.key_averages().table()


def test_two_devices(python, tmp_path):
    trace = tmp_path / "trace.json"
    python(
        f"""
        import torch
        from torch.profiler import profile
        with profile() as prof:
            for device in ("tpu:0", "tpu:1"):
                torch.ones(3, device=device) + 1
        prof.export_chrome_trace({str(trace)!r})
        """,
        TORCH_TPU_CPU_DEVICES="2",
        TORCH_TPU_MODE="strict",
    )
    events = json.loads(trace.read_text())["traceEvents"]
    labels = {event["args"]["labels"]: event["pid"] for event in events if event["name"] == "process_labels"}
    assert (labels["tpu:0"], labels["tpu:1"]) == (0, 1)
    assert {event["pid"] for event in events if event.get("cat") == "kernel"} == {0, 1}


def test_a_profile_that_ends_inside_an_op():
    class Stop(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            prof.stop()
            return x + 1

    x = torch.ones(3, device="tpu", requires_grad=True)
    prof = profile(activities=ALL)
    prof.start()
    Stop.apply(x)
    with profile(activities=ALL) as later:
        x.detach() + 1
    (row,) = [row for row in later.key_averages() if row.key == "aten::add"]
    assert row.device_time_total > 0


def test_other_threads_are_seen():
    import threading

    x = torch.ones(8, device="tpu")
    with profile(activities=ALL) as prof:
        thread = threading.Thread(target=lambda: x + 1)
        thread.start()
        thread.join()
    assert len(on_device(prof.events(), "add")) == 1


def test_the_older_profiler():
    x = torch.full((512, 512), 1e-3, device="tpu")
    (x @ x).sum().item()
    with torch.autograd.profiler.profile(use_device="tpu") as prof:
        (x @ x).sum().item()
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["aten::mm"].device_time_total > 0
