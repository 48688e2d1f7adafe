"""`python -m torch_tpu check` with a fake compiler (tests/fake_pjrt): verdicts, memory, bad usage, JSON.

The fake refuses a sort, ends its process at a logistic, never answers at rounding, and derives bytes from a program's
arguments and results: arguments not given away + results + 4096 bytes of code.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from torch_tpu import topology

ROOT = Path(__file__).parent.parent
FAKE = ROOT / "build/dev/tests/libfake_pjrt.so"
needs_fake = pytest.mark.skipif(not FAKE.is_file(), reason=f"{FAKE} is not built: cmake --build --preset dev")


@pytest.fixture
def check(tmp_path):
    """Runs the command on a script; gives exit code, output and error output."""

    def run(code, *arguments, compiler=FAKE, name="v5e:2x2", **environment):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(code))
        variables = {key: value for key, value in os.environ.items() if key != "TORCH_TPU_TOPOLOGY_COMPILER"}
        command = [sys.executable, "-m", "torch_tpu", "check", *(["--compiler", compiler] if compiler else [])]
        command += [*(["--topology", name] if name else []), script, *arguments]
        done = subprocess.run(command, env=variables | environment, capture_output=True, text=True, timeout=200)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def report(check):
    """The same with --json: exit code and report."""

    def run(code, *arguments, **options):
        exit_code, out, err = check(code, "--json", *arguments, **options)
        assert out, err
        answer = json.loads(out)
        assert answer["ok"] == (exit_code == 0), err
        return exit_code, answer

    return run


DIGITS = f"""
    import sys
    sys.path.insert(0, {str(ROOT / "tests")!r})
    import torch
    from networks import DigitsCnn

    torch.manual_seed(0)
    model = DigitsCnn().to("tpu")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        images, labels = torch.randn(16, 1, 8, 8).to("tpu"), torch.randint(0, 10, (16,)).to("tpu")
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("arguments", sys.argv[1:], __name__, loss.item() > 0)
"""


@needs_fake
def test_digits_fit(check):
    code, out, err = check(DIGITS, "--epochs", "3", "--", "--json")
    assert code == 0, out + err
    assert "arguments ['--epochs', '3', '--json'] __main__ True" in out
    assert "2 accepted, 0 refused" in out and "the run fits" in out and "TPU v5 lite" in out
    assert "script.py:12" in out and "15.75 GiB" in out  # the limit is of our table: the fake has none


@needs_fake
def test_json(report):
    code, answer = report(DIGITS, FAKE_PJRT_MEMORY="1000000")
    assert code == 0 and answer["error"] is None and answer["topology"] == "v5e:2x2"
    first, update = answer["programs"]  # forward and backward; the optimizer's step
    assert (first["runs"], update["runs"]) == (3, 3)
    assert first["flops"] > 50 and any(line.endswith("script.py:12") for line in first["lines"])
    assert any(line.startswith("the backward pass") for line in first["lines"])
    for program in answer["programs"]:
        facts = program["bytes"]
        assert facts["total_allocation"] == facts["arguments"] + facts["outputs"] - facts["aliases"] > 0
        assert program["needed"] == facts["total_allocation"] + 4096 + program["other_bytes"]
    peak = max(program["needed"] for program in answer["programs"])
    assert answer["memory"]["peak"] == peak and answer["memory"]["limit"] == 1000000
    assert answer["memory"]["fits"] is True


@needs_fake
def test_compiled_graph(report):
    code, answer = report("""
        import torch

        @torch.compile
        def f(x):
            return (x @ x).relu()

        x = torch.ones(64, 64, device="tpu")
        torch.tpu.synchronize()
        for _ in range(3):
            y = f(x)
        torch.tpu.synchronize()
    """)
    assert code == 0
    compiled = [program for program in answer["programs"] if program["runs"] == 3]
    assert len(compiled) == 1 and "mm" in compiled[0]["name"], answer["programs"]
    assert compiled[0]["bytes"]["arguments"] == compiled[0]["bytes"]["outputs"] == 64 * 64 * 4


@needs_fake
def test_refused_crashed_and_too_slow(report):
    code, answer = report(
        """
        import torch

        x = torch.linspace(0, 1, 64, device="tpu")
        torch.tpu.synchronize()
        for f in (torch.sort, torch.sigmoid, torch.round, torch.exp):
            y = f(x)
            torch.tpu.synchronize()
    """,
        "--timeout",
        "8",
    )
    assert code == 1
    by_name = {program["name"].split("(")[0].split(".")[0]: program for program in answer["programs"]}
    assert by_name["aten::sort"]["refusal"] == "error"
    assert "fake: sort is not implemented" in by_name["aten::sort"]["reason"]
    assert by_name["aten::sort"]["lines"][0].endswith("script.py:7")
    assert by_name["aten::sigmoid"]["refusal"] == "crash"
    assert by_name["aten::sigmoid"]["reason"].startswith("the compiler crashed: signal SIGABRT")
    assert by_name["aten::round"]["refusal"] == "timeout" and "within 8 s" in by_name["aten::round"]["reason"]
    assert by_name["aten::exp"]["accepted"]
    assert answer["memory"]["fits"] is None  # nobody knows what the refused ones need


TRAINING = """
    import torch

    model = torch.nn.Sequential(*(torch.nn.Linear(256, 256, bias=False) for _ in range(8))).to("tpu")
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    for _ in range(2):
        model(torch.ones(4, 256, device="tpu")).sum().backward()
        optimizer.step()
    torch.tpu.synchronize()
"""


LIMIT = str(4 << 20)  # every op by itself fits: a few arrays of 256 KiB


@needs_fake
def test_the_step_does_not_fit(check):
    """Parameters, gradients and moments together are 8 MiB."""
    code, out, _ = check(TRAINING, FAKE_PJRT_MEMORY=LIMIT)
    assert code == 1 and "the run DOES NOT FIT" in out and "Ran out of memory" in out


@needs_fake
@pytest.mark.slow
def test_the_step_does_not_fit_op_by_op(report):
    code, answer = report(TRAINING, FAKE_PJRT_MEMORY=LIMIT, TORCH_TPU_SEGMENT_OPS="1")
    assert len(answer["programs"]) > 10 and all(program["accepted"] for program in answer["programs"])
    assert code == 1 and answer["memory"]["fits"] is False and answer["memory"]["peak"] > 8 << 20
    code, answer = report(TRAINING, FAKE_PJRT_MEMORY=LIMIT)
    assert code == 1 and answer["memory"]["fits"] is False
    assert any(program["refusal"] == "memory" for program in answer["programs"])
    code, answer = report(TRAINING, FAKE_PJRT_MEMORY=str(64 << 20))
    assert code == 0 and answer["memory"]["fits"] is True


@needs_fake
def test_live_arrays_do_not_fit(report):
    """Every program is accepted; what else is live when one runs is too much."""
    code, answer = report(
        """
        import torch

        kept = [torch.ones(256, 256).to("tpu") for _ in range(8)]
        x = torch.ones(256, 256).to("tpu")
        y = x + 1
        torch.tpu.synchronize()
    """,
        FAKE_PJRT_MEMORY=str(2 << 20),
    )
    assert code == 1 and all(program["accepted"] for program in answer["programs"])
    (program,) = answer["programs"]
    array = 256 * 256 * 4
    assert program["other_bytes"] == 8 * array and program["bytes"]["arguments"] - array < 100
    assert answer["memory"]["fits"] is False and answer["memory"]["peak"] > 9 * array


@needs_fake
def test_host_ops_are_listed(report):
    code, answer = report("""
        import torch

        x = torch.eye(4).to("tpu") + 1
        print(torch.linalg.eigvals(x).cpu())
    """)
    assert any("eigvals" in op["name"] for op in answer["host_ops"]), answer["host_ops"]


@needs_fake
@pytest.mark.slow
def test_the_script_fails(check, report):
    code, answer = report("import torch; x = torch.ones(2, device='tpu') + 1; x.sum().item(); raise KeyError('lost')")
    assert code == 1 and answer["error"] == "KeyError: 'lost'" and len(answer["programs"]) == 1
    code, out, _ = check("import sys, torch; (torch.ones(2, device='tpu') + 1).sum().item(); sys.exit(3)")
    assert code == 1 and "FAILED: the script ended with exit code 3" in out
    code, out, _ = check("import sys; sys.exit(0)")
    assert code == 1 and "the script ran nothing on device `tpu`" in out


def test_lowered_again_for_the_tpu(python):
    """What depends on the platform: fmod is exact arithmetic on the CPU plugin, and an instruction on a TPU."""
    out, err = python(
        """
        import torch
        from torch_tpu import _C

        torch.tpu.set_mode("fused")
        x = torch.arange(1.0, 9.0).to("tpu")
        (x * 2).cpu()
        assert _C.journal() == []
        _C.set_journal(True)
        torch.fmod(x, 3.0).cpu()
        _C.set_journal(False)
        (x * 3).cpu()
        (program,) = _C.journal()
        assert program["runs"] == 1 and program["error"] is None, program
        print(program["text"])
        """,
        TORCH_TPU_DEBUG="4",
        TORCH_TPU_CACHE_DIR="off",
    )
    assert "stablehlo.remainder" in out and "stablehlo.remainder" not in err
    assert "func.func" in err  # the texts for the plugin that is here


@pytest.mark.parametrize("name", ["", "v5e", "v5e:", "v5e:0x0", "v5e:2x0", "v5e:2x", "v5e:2x2;rm", "2x2"])
def test_malformed_topology(name):
    with pytest.raises(ValueError, match="v5e:2x2"):
        topology.check_name(name)


@needs_fake
def test_bad_usage(check, tmp_path):
    fine = "print('ran')"
    for name in ("v5e:0x0", "v99:2x2"):  # one is found here, the other by the compiler
        code, out, err = check(fine, name=name)
        assert (code, out) == (2, "") and name in err and "v6e:2x2" in err and "Traceback" not in err
    code, out, err = check(fine, name=None)
    assert (code, out) == (2, "") and "--topology" in err
    code, out, err = check(fine, compiler="/nowhere.so")
    assert (code, out) == (2, "") and "/nowhere.so is not a file" in err
    code, out, err = check(fine, compiler=None, TORCH_TPU_TOPOLOGY_COMPILER=str(FAKE))
    assert code == 1 and "ran" in out  # the variable was heard


def test_without_libtpu(check, tmp_path):
    (tmp_path / "libtpu.py").write_text("raise ImportError\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    code, out, err = check("print('ran')", compiler=None, PYTHONPATH=path)
    assert (code, out) == (2, "") and "pip install" in err and "libtpu" in err
