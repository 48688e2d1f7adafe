"""The disk tier of the program cache between processes: the second run of a script compiles nothing, and what another
build or plugin wrote, or what is damaged, is compiled again. The store itself is tested in tests/cpp/disk_test.cpp.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import torch_tpu
from torch_tpu import plugins

PLUGINS = [plugins.package_file(package, library) for _, package, library in plugins.CPU_PLUGINS]

TRAIN = """
    import json, torch
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Dropout(0.5),
        torch.nn.Linear(4 * 36, 10),
    ).to("tpu")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    x, y = torch.rand(8, 1, 8, 8, device="tpu"), torch.randint(0, 10, (8,), device="tpu")
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(json.dumps([losses, torch.tpu.cache_stats()]))
"""

SMALL = """
    import json, torch
    x = torch.arange(6.0, device="tpu").view(2, 3)
    print(json.dumps([(x.T * 2 + 1).tolist(), torch.tpu.cache_stats()]))
"""


def run(python, code, directory, **options):
    """Runs a script in a process of its own with that cache; gives its result, cache_stats() and what it logged."""
    options.setdefault("TORCH_TPU_MODE", "strict")  # one program per op: easy to count
    out, err = python(code, TORCH_TPU_CACHE_DIR=str(directory), **options)
    assert err == "" or "TORCH_TPU_DEBUG" in options
    return *json.loads(out), err


@pytest.fixture(scope="module")
def first(python, tmp_path_factory):
    """What the first run of SMALL gave: its result and counts, and the directory that it left."""
    directory = tmp_path_factory.mktemp("first") / "cache"
    result, stats, _ = run(python, SMALL, directory, TORCH_TPU_PLUGIN=PLUGINS[0])
    assert result == [[1.0, 7.0], [3.0, 9.0], [5.0, 11.0]]
    assert stats["compiles"] >= 2 and stats["disk_misses"] >= stats["compiles"] and stats["disk_hits"] == 0
    return result, stats, directory


@pytest.fixture
def cache(first, tmp_path):
    """A copy of the directory that the first run left."""
    return shutil.copytree(first[2], tmp_path / "cache")


def programs(directory):
    return sorted((directory / "programs").iterdir())


@pytest.mark.parametrize(
    "way", ["strict", *(pytest.param(way, marks=pytest.mark.slow) for way in ("torch.compile", "fused"))]
)
def test_the_second_run_of_a_training_script_compiles_nothing(python, tmp_path, way):
    code, mode = TRAIN, way
    if way == "torch.compile":
        code, mode = TRAIN.replace("    losses = []", "    net = torch.compile(net)\n    losses = []"), "strict"
        assert code != TRAIN
    losses, stats, _ = run(python, code, tmp_path, TORCH_TPU_MODE=mode)
    assert stats["compiles"] > (20 if way == "strict" else 0) and stats["disk_hits"] == 0
    again, second, log = run(python, code, tmp_path, TORCH_TPU_MODE=mode, TORCH_TPU_DEBUG="4")
    assert again == losses
    assert second["compiles"] == 0 and second["compile_seconds"] == 0 and second["disk_misses"] == 0
    assert second["disk_hits"] == stats["compiles"] and second["disk_bytes_read"] == stats["disk_bytes_written"] > 0
    assert log.count("loaded in") == second["disk_hits"] and "compiled in" not in log
    assert "stablehlo.convolution" in log  # level 4 shows the text although it was not needed


def test_another_build_of_the_core_misses(python, first, cache, tmp_path):
    """A copy of the package whose library has another build id, as after a change and a new build."""
    package = tmp_path / "other" / "torch_tpu"
    shutil.copytree(os.path.dirname(torch_tpu.__file__), package, ignore=shutil.ignore_patterns("__pycache__"))
    library = Path(package, os.path.basename(torch_tpu._C.__file__))
    contents = bytearray(library.read_bytes())
    note = contents.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")  # sizes of name and id, type, name; then the id
    contents[note + 16] ^= 1
    library.write_bytes(contents)
    # An editable install has an import hook that goes before every path.
    other = f"""
    import sys
    sys.meta_path[:] = [hook for hook in sys.meta_path if "Inplace" not in type(hook).__name__]
    sys.path.insert(0, {str(package.parent)!r})
    import torch_tpu
    assert torch_tpu.__file__.startswith({str(package)!r}), torch_tpu.__file__
    """
    result, stats, _ = run(python, other + SMALL, cache, TORCH_TPU_PLUGIN=PLUGINS[0])
    assert result == first[0] and stats["disk_hits"] == 0 and stats["compiles"] == first[1]["compiles"]


@pytest.mark.skipif(not all(PLUGINS), reason="needs both CPU plugins of plugins.CPU_PLUGINS")
@pytest.mark.parametrize(
    "options",
    [{"TORCH_TPU_PLUGIN": PLUGINS[1]}, {"XLA_FLAGS": "--xla_cpu_enable_fast_math=false"}],
    ids=lambda o: [*o][0],
)
def test_another_plugin_or_its_options_miss(python, first, cache, options):
    result, stats, _ = run(python, SMALL, cache, **{"TORCH_TPU_PLUGIN": PLUGINS[0], **options})
    assert result == first[0] and stats["disk_hits"] == 0 and stats["compiles"] == first[1]["compiles"]


def test_damaged_files_are_compiled_again(python, first, cache):
    for number, path in enumerate(programs(cache)):
        contents = bytearray(path.read_bytes())
        contents[-9] ^= 1
        path.write_bytes(contents if number % 2 else contents[: len(contents) // 2])
    result, stats, _ = run(python, SMALL, cache, TORCH_TPU_PLUGIN=PLUGINS[0])
    assert result == first[0] and stats["compiles"] == stats["disk_removed"] == first[1]["compiles"]
    assert len(programs(cache)) == stats["compiles"]


def test_the_directory_stays_below_its_bound(python, first, cache):
    sizes = [path.stat().st_size for path in programs(cache)]
    for path in programs(cache)[1:]:
        path.unlink()
    bound = sum(sizes) - 1
    run(python, SMALL, cache, TORCH_TPU_PLUGIN=PLUGINS[0], TORCH_TPU_CACHE_BYTES=str(bound))
    assert 0 < sum(path.stat().st_size for path in programs(cache)) <= bound


def test_off_keeps_nothing(python, first):
    result, stats, _ = run(python, SMALL, "off")
    assert result == first[0] and stats["compiles"] == first[1]["compiles"]
    assert stats["disk_misses"] == stats["disk_bytes_written"] == 0


def test_trouble_with_the_directory_is_logged_once(python, first):
    result, stats, log = run(python, SMALL, "/dev/null", TORCH_TPU_DEBUG="1")
    assert result == first[0] and stats["compiles"] == first[1]["compiles"] and stats["disk_bytes_written"] == 0
    assert log.count("cannot write /dev/null/programs/") == 1 and "TORCH_TPU_CACHE_DIR" in log


def test_a_full_disk_is_logged_once(python, first, tmp_path):
    full = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    """
    result, stats, log = run(python, full + SMALL, tmp_path, TORCH_TPU_DEBUG="1", TORCH_TPU_PLUGIN=PLUGINS[0])
    assert result == first[0] and stats["compiles"] == first[1]["compiles"] and stats["disk_bytes_written"] == 0
    assert log.count("cannot write") == 1 and programs(tmp_path) == []


def start(code, directory):
    """A script in a process of its own, which runs on; see `run`."""
    env = dict(os.environ, TORCH_TPU_CACHE_DIR=str(directory), TORCH_TPU_MODE="strict")
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_process_leaves_what_it_had_finished(python, tmp_path):
    expected, whole, _ = run(python, TRAIN, tmp_path / "whole")
    killed = start(TRAIN, tmp_path / "killed")
    while not (tmp_path / "killed" / "programs").is_dir() or len(programs(tmp_path / "killed")) < 8:
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    losses, stats, _ = run(python, TRAIN, tmp_path / "killed")
    assert losses == expected and stats["disk_removed"] == 0
    assert 4 <= stats["disk_hits"] == whole["compiles"] - stats["compiles"] and stats["compiles"] > 0


def test_two_processes_compile_each_program_once(python, tmp_path):
    expected, alone, _ = run(python, TRAIN, tmp_path / "alone")
    both = [start(TRAIN, tmp_path / "both") for _ in range(2)]
    results = [json.loads(process.communicate(timeout=120)[0]) for process in both]
    assert [losses for losses, _ in results] == [expected, expected]
    assert sum(stats["compiles"] for _, stats in results) == alone["compiles"]
    assert all(stats["misses"] == alone["compiles"] for _, stats in results)
    assert {path.suffix for path in programs(tmp_path / "both")} == {".program"}
