"""`python -m torch_tpu cache`: what it says of a directory that a script filled, and what it removes."""

import json
import os
import subprocess
import sys
import time

import pytest

from torch_tpu.__main__ import main
from torch_tpu.commands import cache

SCRIPT = """
import sys, torch
x = torch.arange(6.0, device="tpu").view(2, 3)
print((x.T * 2 + 1).tolist(), *sys.argv[1:])
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A directory, a script, and the report of the command that ran it to fill the directory."""
    directory, script = tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("script") / "small.py"
    script.write_text(SCRIPT)
    return directory, script, warm(directory, script)


def warm(directory, script, *arguments):
    """The report of `cache warm` in a process of its own, and whether the script printed what it should."""
    command = [sys.executable, "-m", "torch_tpu", "cache", "warm", "--json", str(script), *arguments]
    env = dict(os.environ, TORCH_TPU_CACHE_DIR=str(directory), TORCH_TPU_MODE="strict")
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert " ".join(["[[1.0, 7.0], [3.0, 9.0], [5.0, 11.0]]", *arguments]) in done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def directory(filled, tmp_path, monkeypatch):
    """A copy of that directory, with programs used an hour apart, the first one now."""
    copy = tmp_path / "cache"
    (copy / "programs").mkdir(parents=True)
    for hours, path in enumerate(sorted((filled[0] / "programs").iterdir())):
        (copy / "programs" / path.name).write_bytes(path.read_bytes())
        used = time.time() - 3600 * hours
        os.utime(copy / "programs" / path.name, (used, used))
    monkeypatch.setenv("TORCH_TPU_CACHE_DIR", str(copy))
    return copy


def programs(directory):
    """Last used first."""
    return sorted((directory / "programs").iterdir(), key=lambda path: -path.stat().st_mtime)


def ask(capsys, *arguments, code=0):
    """The report of the command in this process, where no runtime needs to be started."""
    assert main(["cache", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_warm_counts_and_a_second_time_compiles_nothing(filled):
    directory, script, first = filled
    assert first["compiles"] >= 2 and first["disk_hits"] == 0 and first["compile_seconds"] > 0
    assert len(programs(directory)) == first["compiles"] and first["error"] is None
    again = warm(directory, script, "an argument")
    assert again["compiles"] == 0 and again["disk_hits"] == first["compiles"]


def test_ls_says_what_every_program_is(filled, directory, capsys):
    files = ask(capsys, "ls")["files"]
    assert [file["path"] for file in files] == [str(path) for path in programs(directory)]
    for file, path in zip(files, programs(directory), strict=True):
        assert file["key"] == path.stem and file["bytes"] == path.stat().st_size and file["fault"] == ""
        assert abs(file["used"] - path.stat().st_mtime) < 5
        assert 0 < time.time() - file["written"] < 600 and 0 < file["seconds"] < 60
        assert file["cause"] in ("first time", "shape", "structure", "dtype") and "small.py:" in file["line"]
        assert file["name"].startswith("aten::") and "PJRT" in file["plugin"]
    assert any("aten::mul" in file["name"] for file in files)
    largest = ask(capsys, "ls", "--sort", "size", "-n", "1")["files"]
    assert [file["bytes"] for file in largest] == [max(file["bytes"] for file in files)]
    assert main(["cache", "ls"]) == 0
    shown = capsys.readouterr().out
    assert all(path.stem[:12] in shown for path in programs(directory)) and "first time" in shown


def test_stats_count_by_version(directory, capsys):
    (directory / "programs" / "0123.program").write_bytes(b"of another version" * 10)
    for report in (ask(capsys, "stats"), ask(capsys)):  # the default action
        count = len(programs(directory)) - 1
        assert report["programs"] == count
        assert report["bytes"] == sum(path.stat().st_size for path in programs(directory))
        assert report["bound"] == int(os.environ.get("TORCH_TPU_CACHE_BYTES", 2**30))
        ours = [group for group in report["versions"].values() if group["this_build"]]
        assert [group["programs"] for group in ours] == [count]
        assert report["versions"]["(foreign)"]["programs"] == 1
    assert main(["cache", "stats"]) == 0
    assert f"{count} programs" in capsys.readouterr().out


def test_verify_names_what_is_bad(directory, capsys):
    assert ask(capsys, "verify")["bad"] == []
    good, flipped, *_ = programs(directory)
    contents = bytearray(flipped.read_bytes())
    contents[-9] ^= 1
    flipped.write_bytes(contents)
    cut = directory / "programs" / "0123.program"
    cut.write_bytes(good.read_bytes()[:100])
    being_written = directory / "programs" / "4567.program.89.new"
    being_written.write_bytes(b"")
    report = ask(capsys, "verify", code=1)
    assert {(file["path"], file["fault"]) for file in report["bad"]} == {
        (str(flipped), "damaged"),
        (str(cut), "cut short"),
    }
    assert main(["cache", "verify"]) == 1
    assert f"{flipped}: damaged" in capsys.readouterr().out
    report = ask(capsys, "verify", "--remove")
    assert report["left"] == 0 and not flipped.exists() and not cut.exists() and being_written.exists()
    assert ask(capsys, "verify")["bad"] == []


def test_prune_by_size(directory, capsys):
    kept, *others = programs(directory)
    report = ask(capsys, "prune", "--bytes", str(kept.stat().st_size), "--dry-run")
    assert report["removed"] == [str(path) for path in others] and len(programs(directory)) == len(others) + 1
    assert ask(capsys, "prune", "--bytes", "1G")["removed"] == []
    ask(capsys, "prune", "--bytes", str(kept.stat().st_size))
    assert programs(directory) == [kept]


def test_prune_without_options_keeps_the_bound(directory, capsys, monkeypatch):
    assert ask(capsys, "prune")["removed"] == []
    kept = programs(directory)[0]
    monkeypatch.setenv("TORCH_TPU_CACHE_BYTES", str(kept.stat().st_size))
    left_over = directory / "programs" / "4567.program.89.new"
    left_over.write_bytes(b"x")
    old = time.time() - 2 * cache.TEMPORARY
    os.utime(left_over, (old, old))
    assert str(left_over) in ask(capsys, "prune")["removed"]
    assert programs(directory) == [kept]


def test_prune_by_age(directory, capsys):
    kept, *others = programs(directory)
    assert set(ask(capsys, "prune", "--unused", "30m")["removed"]) == {str(path) for path in others}
    assert programs(directory) == [kept]


def test_prune_what_is_foreign(directory, capsys, monkeypatch):
    foreign = directory / "programs" / "0123.program"
    foreign.write_bytes(b"of another version" * 10)
    assert ask(capsys, "prune", "--unused", "1w")["removed"] == []  # it may be of use to somebody
    assert ask(capsys, "prune", "--foreign")["removed"] == [str(foreign)]
    ours = programs(directory)
    assert len(ours) >= 2
    monkeypatch.setattr(cache, "_core", lambda: "another build")
    assert len(ask(capsys, "prune", "--foreign")["removed"]) == len(ours)


def test_what_cannot_be_removed_is_said(directory, capsys, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "unlink", refuse)  # root may remove everything
    count = len(programs(directory))
    assert len(ask(capsys, "prune", "--bytes", "0", code=1)["left"]) == len(programs(directory)) == count
    assert main(["cache", "prune", "--bytes", "0"]) == 1
    assert f"cannot remove {programs(directory)[0]}: Permission denied" in capsys.readouterr().err


def test_what_makes_no_sense_is_refused(directory, capsys, monkeypatch):
    with pytest.raises(SystemExit, match="2"):
        main(["cache", "prune", "--bytes", "many"])
    assert "expected a size like 500M" in capsys.readouterr().err
    assert main(["cache", "warm", "nowhere.py"]) == 2
    monkeypatch.setenv("TORCH_TPU_CACHE_DIR", "off")
    assert main(["cache", "ls"]) == 2
    assert "off" in capsys.readouterr().err
    monkeypatch.setenv("TORCH_TPU_CACHE_DIR", str(directory / "empty"))
    assert ask(capsys, "stats")["programs"] == 0


def test_looking_starts_no_plugin(directory):
    code = """if True:
        from torch_tpu.__main__ import main
        for action in ("ls", "stats", "verify", "prune"):
            assert main(["cache", action]) == 0
        import torch
        assert not torch.tpu.is_initialized()
        assert "pjrt" not in open("/proc/self/maps").read()
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
