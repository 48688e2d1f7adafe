"""The op report: torch.tpu.host_ops() with its places, the counted calls, and `python -m torch_tpu ops`."""

import inspect
import json
import os
import subprocess
import sys
import textwrap
import threading

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from torch_tpu import _C, coverage
from torch_tpu.__main__ import main
from torch_tpu.commands import ops

pytestmark = pytest.mark.usefixtures("counted_host_ops")

SVD = "aten::_linalg_svd.U"  # stays on the host


def here(offset=0):
    """The caller's line, as a place."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno + offset}"


def places_of(name):
    torch.tpu.synchronize()  # a call in a program is counted when it has run
    return {place: calls for op in torch.tpu.host_ops() if op.name == name for place, calls in op.places.items()}


# ---- where an op was called


@pytest.mark.parametrize("mode", ["strict", "fused"])
def test_a_host_op_names_its_lines(mode):
    x = torch.randn(3, 3).to("tpu")
    with torch.tpu.mode(mode):
        for _ in range(2):
            torch.linalg.svdvals(x + 1)
        torch.linalg.svdvals(x)
        last = here(-1)
    first = here(-3)
    (op,) = torch.tpu.host_ops()
    assert (op.name, op.calls, op.bytes) == (SVD, 3, 3 * 36 + 3 * 12)
    assert op.places == {first: 2, last: 1}
    torch.tpu.reset_host_ops()
    assert torch.tpu.host_ops() == []


def test_in_the_backward_pass_it_names_the_node():
    a, b = torch.randn(4, 3), torch.randn(4, 2)
    x = a.to("tpu").requires_grad_()
    torch.linalg.lstsq(x, b.to("tpu")).solution.sum().backward()  # its derivative needs a pseudo-inverse
    assert set(places_of(SVD)) == {"the backward pass, LinalgLstsqBackward0"}


def test_in_a_graph_it_names_the_line_of_the_graph():
    def function(x):
        y = x * 2
        return torch.linalg.svdvals(y).sum() + 1

    line = here(-2)
    compiled = torch.compile(function, fullgraph=True)
    x = torch.randn(3, 3).to("tpu")
    for _ in range(3):
        compiled(x)
    assert places_of(SVD) == {line: 3}
    assert places_of("aten::add.out") == {}
    torch.linalg.svdvals(x)  # the trace is over
    assert places_of(SVD) == {line: 3, here(-1): 1}


def test_calls_of_a_graph_that_cannot_be_told_apart():
    compiled = torch.compile(lambda x, y: (torch.linalg.svdvals(x),
                                           torch.linalg.svdvals(y)), fullgraph=True)  # fmt: skip
    first, second = here(-2), here(-1)
    compiled(torch.randn(5, 2).to("tpu"), torch.randn(5, 2).to("tpu"))
    assert places_of(SVD) == {f"{first} or {second}": 2}


@torch.library.custom_op(
    "tpu_test::thrown", mutates_args=(), device_types="cpu", tags=torch.Tag.nondeterministic_seeded
)
def thrown(x: torch.Tensor) -> torch.Tensor:
    return torch.rand_like(x)


thrown.register_fake(torch.empty_like)


def test_a_graph_that_is_split_around_an_op():
    def function(x):
        return thrown(x * 2) + 1  # draws random numbers

    line = f"{__file__}:{inspect.getsourcelines(function)[1] + 1}"
    compiled, x = torch.compile(function), torch.ones(3).to("tpu")
    for _ in range(2):
        compiled(x)
    assert places_of("tpu_test::thrown") == {line: 2}
    traced = torch.fx.symbolic_trace(lambda x: torch.ops.tpu_test.thrown(x))
    torch._dynamo.disable(traced)(x)  # its code is torch's
    assert places_of("tpu_test::thrown") == {line: 2, here(-1): 1}


def test_the_backward_pass_of_a_graph():
    def function(x):
        y = x.sin()
        return Cube.apply(y).sum()

    x = torch.randn(3, 3).to("tpu").requires_grad_()
    _C.set_journal(True)
    try:
        torch.compile(function)(x).backward()
        torch.tpu.synchronize()
    finally:
        _C.set_journal(False)
    sin, backward = inspect.getsourcelines(function)[1] + 1, inspect.getsourcelines(Cube.backward)[1] + 2
    lines = [line for program in _C.journal() for line in program["lines"]]
    assert f"{__file__}:{sin}" in lines and f"the backward pass of {__file__}:{sin}" in lines
    assert f"{__file__}:{backward}" in lines  # there is a line of the user's


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        return 3 * gradient * ctx.saved_tensors[0] ** 2


def test_places_are_bounded():
    x = torch.randn(2, 2).to("tpu")
    for number in range(40):
        exec(compile("torch.linalg.svdvals(x)", f"cell{number}.py", "exec"), {"torch": torch, "x": x})
    places = places_of(SVD)
    assert places["cell0.py:1"] == 1 and places["elsewhere"] == 8 and len(places) == 33


# ---- which ops were called


def calls_in(work):
    """What `work` calls on the device: name -> (calls, failed, dtypes)."""
    _C.count_calls(True)
    try:
        work()
    finally:
        _C.count_calls(False)
    return {name: (calls, failed, set(dtypes)) for name, calls, failed, dtypes in _C.counted_calls()}


X = torch.ones(4, 4)


def test_calls_are_counted_while_it_is_on():
    x = X.to("tpu")

    def work():
        for _ in range(3):
            (x.double() @ x.double()).cpu()
        X @ X

    calls = calls_in(work)
    assert calls["aten::mm.out"] == (3, 0, {torch.float64})
    assert calls["aten::_copy_from"] == (9, 0, {torch.float32, torch.float64})
    assert "aten::mm" not in calls and "aten::matmul" not in calls  # torch makes the one of the other
    x @ x
    assert calls == calls_in(work)


def test_a_call_through_a_layer_counts_once():
    x = X.to("tpu")
    with torch.autocast("tpu", torch.bfloat16):
        assert calls_in(lambda: torch.mm(x, x))["aten::mm.out"] == (1, 0, {torch.bfloat16})
    assert calls_in(lambda: torch.vmap(torch.sin)(x))["aten::sin.out"][0] == 1
    assert calls_in(lambda: torch.func.grad(lambda x: x.sin().sum())(x))["aten::cos.out"][0] == 1
    whole = x.int()
    for work in (lambda: x + x, lambda: x + x[0], lambda: whole + 2.5):  # whether add.Tensor goes on as add.out or not
        calls = calls_in(work)
        assert calls["aten::add.out"][0] == 1 and "aten::add.Tensor" not in calls


def test_stand_ins_do_not_count():
    def work():
        with FakeTensorMode():
            x = torch.ones(3, 3, device="tpu")
            assert (x @ x).device.type == "tpu"

    assert calls_in(work) == {}


def test_factories_and_lists_count():
    x = X.to("tpu")
    assert calls_in(lambda: torch.empty_strided((2,), (1,), device="tpu", dtype=torch.int32)) == {
        "aten::empty_strided": (1, 0, {torch.int32})
    }
    assert calls_in(lambda: torch.cat([x, x]))["aten::cat.out"][0] == 1
    assert calls_in(lambda: x[:, torch.tensor([0, 1], device="tpu")])["aten::index.Tensor_out"][0] == 1


def test_threads_and_the_backward_pass_count():
    x = X.to("tpu").requires_grad_()
    thread = threading.Thread(target=lambda: x.sin().sum().backward())

    def work():
        thread.start()
        thread.join()

    calls = calls_in(work)
    assert calls["aten::sin.out"][0] == calls["aten::cos.out"][0] == 1


def test_a_graph_counts_when_it_is_traced():
    compiled, x = torch.compile(lambda x: (x @ x).sin()), X.to("tpu")

    def work():
        for _ in range(3):
            compiled(x)

    calls = calls_in(work)
    assert calls["aten::mm.out"] == calls["aten::sin.out"] == (1, 0, {torch.float32})


def test_failures_count():
    x = X.to("tpu")

    def work():
        with pytest.raises(NotImplementedError):
            torch.ops.aten._flash_attention_forward(x, x, x, None, None, 1, 1, 0.0, False, False)

    assert calls_in(work) == {"aten::_flash_attention_forward": (1, 1, {torch.float32})}


def test_the_matrix_of_counts():
    svd = torch.tpu.HostOp(SVD, 5, 100, {"a.py:1": 2, "a.py:2": 3})
    counted = [
        ("aten::add.out", 4, 1, [torch.float32, torch.int64]),
        (SVD, 1, 0, [torch.float32]),
        ("aten::sin.out", 2, 2, [torch.complex32]),
        ("aten::mm.out", 7, 0, []),
    ]
    rows = ops.matrix(counted, [svd])
    assert [(row["name"], row["where"], row["group"]) for row in rows] == [
        ("sin.out", "error", "unary"),  # none of its calls went well
        ("_linalg_svd.U", "host", "linalg"),
        ("mm.out", "native", "matmul"),
        ("add.out", "native", "binary"),
    ]
    assert rows[1]["places"] == {"a.py:2": 3, "a.py:1": 2} and list(rows[1]["places"]) == ["a.py:2", "a.py:1"]
    assert (rows[1]["calls"], rows[1]["host_calls"], rows[1]["host_bytes"]) == (1, 5, 100)
    assert (rows[3]["failed"], rows[3]["dtypes"]) == (1, ["float32", "int64"])


# ---- the command, of this build


def test_ops_of_this_build(capsys):
    assert main(["ops", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["ops"]
    assert [(row["name"], row["where"]) for row in rows] == [(each.name, each.where) for each in coverage.overloads()]
    assert {row["where"] for row in rows} == {"native", "host", "error"}


def test_the_dtypes_and_tests_of_an_op(capsys):
    main(["ops", "--json", "--name", "add.out"])
    (row,) = json.loads(capsys.readouterr().out)["ops"]
    assert row["dtypes"][0] == "float32" and 0 < row["tests_passed"] <= row["tests"]
    told = f"{row['tests_passed']} of {row['tests']}"
    main(["ops", "--name", "add.out"])
    assert told in capsys.readouterr().out


def test_a_reader_that_leaves_is_no_error():
    command = f"{sys.executable} -m torch_tpu ops | head -1; echo codes ${{PIPESTATUS[@]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=200)
    assert done.stderr == "" and done.stdout.splitlines()[-1] in ("codes 141 0", "codes 1 0")  # 1: rich's own


def test_groups_are_words():
    assert coverage.group_of("linalg_eig.out")[0] == coverage.group_of("_linalg_eigvals")[0] == "linalg"
    assert coverage.group_of("_some_weights")[0] == "runtime and other"


@pytest.mark.parametrize(
    ("arguments", "is_wanted"),
    [
        (["--host"], lambda row: row["where"] == "host"),
        (["--native", "--error"], lambda row: row["where"] != "host"),
        (["--group", "linalg"], lambda row: row["group"] == "linalg"),
        (["--name", "*scatter*"], lambda row: "scatter" in row["name"]),
        (["--native", "--name", "m*"], lambda row: row["where"] == "native" and row["name"][0] == "m"),
    ],
)
def test_filters(arguments, is_wanted, capsys):
    main(["ops", "--json", *arguments])
    rows = json.loads(capsys.readouterr().out)["ops"]
    assert rows and rows == [row for row in ops.build_rows() if is_wanted(row)]


@pytest.mark.parametrize("has_rich", [True, False])
def test_text(capsys, monkeypatch, has_rich):
    if not has_rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["ops", "--group", "matmul"]) == 0
    out = capsys.readouterr().out
    (row,) = (line for line in out.splitlines() if " mm.out " in line or line.startswith("mm.out "))
    assert "native" in row and "matmul" in row
    assert out.splitlines()[-1].startswith("ops      ") and "_linalg_svd" not in out


def test_html(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["ops", "--error", "--html", str(page)]) == 0
    text = page.read_text()
    assert (
        text.count("<tr class=")
        == text.count('<tr class="error">')
        == sum(row["where"] == "error" for row in ops.build_rows())
    )
    assert f"ops: wrote {page}" in capsys.readouterr().err
    row = {"name": "<b>::f", "where": "host", "group": "&", "dtypes": [], "tests_passed": 0, "tests": 0}
    assert "&lt;b&gt;::f" in ops.html_page({"script": None, "error": None, "ops": [row]})


# ---- the command, of a script


@pytest.fixture
def script(tmp_path):
    """Runs the command on a script: exit code, output, error output."""

    def run(code, *arguments):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(code))
        command = [sys.executable, "-m", "torch_tpu", "ops", path, *arguments]
        done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=200)
        return done.returncode, done.stdout, done.stderr

    return run


SCRIPT = """
    import os, sys
    import torch
    x = torch.randn(3, 3).to("tpu").requires_grad_()
    (torch.linalg.svdvals(x).sum() + x.sin().sum()).backward()
    torch.compile(lambda x: x.exp())(x)
    os.chdir("/")
    print("arguments", sys.argv[1:], __name__)
    try:
        torch.ops.aten._flash_attention_forward(x, x, x, None, None, 1, 1, 0.0, False, False)
    except NotImplementedError:
        pass
"""


def test_the_matrix_of_a_script(script, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = script(SCRIPT, "--json", "--html", str(page), "--steps", "3", "--", "--json")
    assert code == 0, err
    assert "arguments ['--steps', '3', '--json'] __main__" in err
    report = json.loads(out)
    rows = {row["name"]: row for row in report["ops"]}
    assert report["error"] is None and report["script"].endswith("script.py")
    svd = rows["_linalg_svd.U"]
    assert (svd["where"], svd["calls"], svd["host_calls"], svd["host_bytes"]) == ("host", 1, 1, 120)
    assert list(svd["places"].values()) == [1] and list(svd["places"])[0].endswith("script.py:5")
    assert rows["cos.out"]["where"] == rows["exp.out"]["where"] == "native" and rows["exp.out"]["calls"] == 1
    assert rows["_flash_attention_forward"]["where"] == "error" and rows["_flash_attention_forward"]["failed"] == 1
    assert "<td>_linalg_svd.U</td><td>host</td><td>linalg</td><td>1</td>" in page.read_text()


def test_text_and_exit_code_of_a_script(script):
    code, out, _ = script(SCRIPT + "    sys.exit(3)", "--host")
    assert code == 3 and "arguments [] __main__" in out
    assert "script.py:5 (1)" in out and "exp.out" not in out
    assert "script   FAILED: the script ended with exit code 3" in out


def test_a_script_that_raises(script):
    code, out, err = script('import torch; torch.ones(2, device="tpu").sin(); raise KeyError("why")')
    assert code == 1 and "KeyError: 'why'" in err and "Traceback" in err
    assert "script   FAILED: KeyError: 'why'" in out and "sin.out" in out


def test_a_script_without_the_device_and_no_script(script, capsys):
    code, out, _ = script("print(1)")
    assert code == 0 and "NONE: the script called no such op" in out
    assert main(["ops", "nowhere.py"]) == 2
    assert "there is no script nowhere.py" in capsys.readouterr().err
