"""`python -m torch_tpu doctor`: the report, its exit code, and what it says of broken installations."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch

import torch_tpu
from torch_tpu import plugins
from torch_tpu.__main__ import main
from torch_tpu.commands import doctor

needs_no_tpu = pytest.mark.skipif(plugins.tpu_chips() > 0, reason="a TPU is attached")


def run(*arguments, path=(), **environment):
    """Runs the command in a clean environment; gives exit code and output."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TORCH_TPU_") or name == "TORCH_TPU_CACHE_DIR"
    }
    variables.update(environment)
    variables["PYTHONPATH"] = os.pathsep.join([*map(str, path), variables.get("PYTHONPATH", "")]).strip(os.pathsep)
    done = subprocess.run(
        [sys.executable, "-m", "torch_tpu", "doctor", *arguments],
        env=variables,
        capture_output=True,
        text=True,
        timeout=200,
    )
    return done.returncode, done.stdout, done.stderr


def report(*arguments, **options):
    """The same with --json: exit code and checks by name, the last of a name first."""
    code, out, err = run("--json", *arguments, **options)
    answer = json.loads(out)
    assert answer["ok"] == (code == 0), err
    return code, {check["name"]: check for check in answer["checks"]}


@pytest.fixture
def trial(monkeypatch):
    """What the child process sees, by name, without a process for the command itself."""

    def run(timeout=120, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return {check.name: check for check in doctor.check_trial(timeout)}

    return run


def test_all_is_well():
    code, out, err = run()
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "No problems found."
    assert f"torch {torch.__version__}" in out and "trial" in out and "tpu:0" in out


def test_json():
    code, checks = report(TORCH_TPU_CPU_DEVICES="2", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert code == 0
    assert checks["versions"]["facts"]["built_for_torch"] == torch_tpu.BUILT_FOR_TORCH
    assert len(checks["devices"]["facts"]["devices"]) == 2
    assert checks["memory"]["facts"]["limit"] > 0
    assert checks["settings"]["facts"]["host_ops"] == "warn"
    assert checks["runtime"]["facts"]["pjrt_api"].startswith("0.")
    assert checks["variables"]["facts"]["TORCH_TPU_CPU_DEVICES"] == "2"
    assert checks["autoload"]["status"] == "note" and "import torch_tpu" in checks["autoload"]["text"]
    assert {check["status"] for check in checks.values()} <= {"ok", "note"}


def test_misspelt_variable():
    code, out, _ = run(TORCH_TPU_CPU_DEVICE="2")
    assert code == 1 and "did you mean TORCH_TPU_CPU_DEVICES?" in out and "1 problem found." in out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("TORCH_TPU_CPU_DEVICES", "TORCH_TPU_CPU_DEVICES"),
        ("TORCH_TPU_HOST_OPS", "expected allow, warn or error, got 'odd'"),
        ("TORCH_TPU_HOST_KERNELS", "expected on or off, got 'odd'"),
    ],
)
def test_malformed_variable(trial, name, message):
    check = trial(**{name: "odd"})["trial"]
    assert check.status == "problem" and message in check.text


def test_a_core_that_cannot_be_loaded(tmp_path):
    package = os.path.dirname(torch_tpu.__file__)
    shutil.copytree(package, tmp_path / "torch_tpu", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", RUN_A_COPY, str(tmp_path)], capture_output=True, text=True, timeout=100, cwd=tmp_path
    )
    assert done.returncode == 1 and "is off: ImportError" in done.stdout, done.stdout + done.stderr


# An editable install is found before every folder in PYTHONPATH, so the copy is named first in the process itself.
RUN_A_COPY = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "Editable" not in type(finder).__name__]
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])
from torch_tpu.__main__ import main
sys.exit(main(["doctor"]))
"""


@needs_no_tpu
def test_no_plugin(tmp_path):
    for name in ("xla_plugins", "fastatomstruct_xla_cpu", "libtpu"):
        (tmp_path / f"{name}.py").write_text("raise ImportError\n")
    code, checks = report(path=[tmp_path])
    assert code == 1 and "pip install xla-cpu-pjrt" in checks["plugin"]["text"] and "trial" not in checks


def test_plugin_path_that_is_no_file():
    code, checks = report(TORCH_TPU_PLUGIN="/no/such/plugin.so")
    assert code == 1 and "/no/such/plugin.so is not a file" in checks["plugin"]["text"]


def test_plugin_that_is_no_library(trial, tmp_path):
    file = tmp_path / "plugin.so"
    file.write_text("not a library")
    check = trial(TORCH_TPU_PLUGIN=str(file))["trial"]
    assert check.status == "problem" and str(file) in check.text


@pytest.fixture
def library(tmp_path):
    """A shared library that does something while it is loaded."""
    compiler = shutil.which("cc") or shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no C compiler")

    def build(statement):
        source, file = tmp_path / "plugin.c", tmp_path / "plugin.so"
        source.write_text(
            "#include <stdlib.h>\n#include <unistd.h>\n#include <stdio.h>\n"
            f"__attribute__((constructor)) static void load(void) {{ {statement}; }}\n"
        )
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", str(source), "-o", str(file)], check=True)
        return str(file)

    return build


def test_plugin_that_crashes(library):
    plugin = library('fputs("last words\\n", stderr); abort()')
    code, checks = report(TORCH_TPU_PLUGIN=plugin)
    assert code == 1 and "SIGABRT" in checks["trial"]["text"] and "last words" in checks["trial"]["text"]


def test_plugin_that_ends_the_process(trial, library):
    check = trial(TORCH_TPU_PLUGIN=library("_exit(3)"))["trial"]
    assert check.status == "problem" and "exit code 3" in check.text


def test_plugin_that_hangs(trial, library):
    check = trial(timeout=8, TORCH_TPU_PLUGIN=library("sleep(60)"))["trial"]
    assert check.status == "problem" and "no answer within 8 s" in check.text


def test_library_that_is_no_plugin(trial, library):
    check = trial(TORCH_TPU_PLUGIN=library(""))["trial"]
    assert check.status == "problem" and "GetPjrtApi" in check.text


def test_another_distribution_of_the_same_package(tmp_path):
    other = tmp_path / "torch_tpu-0.2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-tpu\nVersion: 0.2.0\n")
    code, out, _ = run(path=[tmp_path])
    assert code == 1 and "torch-tpu 0.2.0 is installed too" in out and "is off" in out


def test_another_torch(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.99.0+cpu")
    check = doctor.check_versions()
    assert check.status == "problem" and f"Install torch {torch_tpu.BUILT_FOR_TORCH}" in check.text


def test_neighbours(monkeypatch):
    monkeypatch.setattr(doctor, "version_of", {"jax": "0.9", "torch_xla": "2.8"}.get)
    (check,) = doctor.check_neighbours()
    assert check.status == "note" and check.facts == {"torch_xla": "2.8", "jax": "0.9"}


def test_a_cpu_plugin_where_a_tpu_is(monkeypatch):
    monkeypatch.setattr(plugins, "tpu_chips", lambda: 4)
    check = doctor.check_plugin(plugins.find())
    assert check.status == "problem" and "pip install libtpu" in check.text


def test_wrong_result_is_a_problem():
    facts = doctor.probe()
    facts["result"] = [[[0.0, 0.0], [0.0, 0.0]]]
    check = list(doctor.checks_of(facts))[-1]
    assert check.status == "problem" and "expected" in check.text


def test_cache(trial, tmp_path):
    for expected in ("disk_bytes_written", "disk_hits"):  # the first run leaves what the second finds
        check = trial(TORCH_TPU_CACHE_DIR=str(tmp_path))["cache"]
        assert check.status == "ok" and check.facts[expected] > 0 and str(tmp_path) in check.text
    assert trial(TORCH_TPU_CACHE_DIR="off")["cache"].status == "note"
    (tmp_path / "file").touch()
    check = trial(TORCH_TPU_CACHE_DIR=str(tmp_path / "file"))["cache"]
    assert check.status == "problem" and "Is it writable?" in check.text


def test_usage(capsys):
    for arguments in (["--help"], ["nonsense"], []):
        with pytest.raises(SystemExit):
            main(arguments)
    seen = capsys.readouterr()
    assert "doctor" in seen.out and "nonsense" in seen.err
