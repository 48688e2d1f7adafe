"""The rows against PyTorch's dispatcher: every row names a real overload, and every overload that a device must answer
for is native, runs on the host, or raises an error that names it."""

import importlib.util
from pathlib import Path

import pytest
import torch
import torch_tpu._C as core


def tool(name):
    path = Path(__file__).resolve().parents[2] / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


op_coverage, op_results = tool("op_coverage"), tool("op_results")

ROW_TESTS = Path(__file__).with_name("rows.txt")
ROWS = {name: (family, arguments) for name, family, arguments in core.rows()}
OVERLOADS = op_coverage.overloads()
REQUIRED = set(op_coverage.required())


def schema_of(name):
    base, _, overload = name.partition(".")
    return torch._C._get_schema(base if "::" in base else "aten::" + base, overload)


def test_rows_name_real_overloads():
    known = {name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()}
    assert not sorted(set(ROWS) - known)
    assert len(ROWS) >= 250


def test_rows_name_real_arguments():
    """A misspelt `special`, `constant` or `writing` would silently do nothing. (Rows of several ranks may share one
    list of names.)"""
    known = {}
    for name, (family, _) in ROWS.items():
        known.setdefault(family, set()).update(argument.name for argument in schema_of(name).arguments)
    assert not [(name, names) for name, (family, names) in ROWS.items() if set(names) - known[family]]


def test_structured_ops_have_their_out_overload_only():
    """PyTorch derives the functional and the in-place form of a structured op, with its shape and type rules, from
    `.out`; a row for one of them would go without these rules."""
    bases = {name.partition(".")[0] for name in REQUIRED}
    derived = [name for name in ROWS if op_coverage.has_kernel(name, "CompositeExplicitAutogradNonFunctional")]
    assert not [name for name in derived if name.partition(".")[0].rstrip("_") in bases]


def test_rows_keep_derivatives():
    """A kernel for an op that PyTorch composes of others must bring a derivative with it: the derivatives of the parts
    are not seen any more."""
    composed = [name for name in ROWS if op_coverage.has_kernel(name, "CompositeImplicitAutograd")]
    assert not [name for name in composed if not op_coverage.has_kernel(name, "Autograd")]


def test_every_row_is_registered():
    by_another_name = {"copy_"}  # comes to the device as _copy_from
    assert {name for name in ROWS if not op_coverage.has_kernel(name, "PrivateUse1")} == by_another_name


def test_every_row_has_a_numeric_test(collected, pytestconfig):
    """rows.txt names it; conftest.py sees that it runs the row."""
    tests = dict(line.split("\t") for line in ROW_TESTS.read_text().splitlines())
    assert sorted(set(ROWS) - set(tests)) == [], "rows without a test, see tests/ops/conftest.py"
    assert sorted(set(tests) - set(ROWS)) == [], "no rows of today"
    assert all((ROW_TESTS.parent / test.partition("::")[0]).exists() for test in tests.values())
    if any("::" in argument for argument in pytestconfig.args):
        return  # of some files only a part is collected
    files = {test.partition("::")[0] for test in collected}
    gone = {test for test in tests.values() if test.partition("::")[0] in files} - collected
    assert not gone, "no tests of today"


def test_structured_functional_forms_are_not_lost():
    """What PyTorch derives from a row's `.out` has a kernel for the device."""
    for name in ("add.Tensor", "add_.Tensor", "mul.Tensor", "sum.dim_IntList", "exp", "exp_", "mm", "cat", "_softmax"):
        assert torch._C._dispatch_has_computed_kernel_for_dispatch_key("aten::" + name, "PrivateUse1")


def test_overloads_are_all_of_torch():
    """Torch 2.13 has 866 overloads without a default kernel: fewer would mean that the tests below look at nothing."""
    assert len(REQUIRED) >= 850
    assert len([overload for overload in OVERLOADS if overload.is_dense]) >= 640


def test_each_overload_is_native_host_or_error():
    for overload in OVERLOADS:
        if overload.where == "native":
            assert overload.name in ROWS or op_coverage.has_kernel(overload.name, "PrivateUse1")
        elif overload.where == "host":
            assert op_coverage.has_host_kernel(overload.name) and overload.name not in ROWS
        else:
            assert overload.where == "error" and not op_coverage.has_host_kernel(overload.name)


@pytest.mark.parametrize("name", [
    "convolution_overrideable", "convolution_backward_overrideable", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell",
    "_thnn_fused_lstm_cell_backward_impl", "_thnn_fused_gru_cell_backward", "_transformer_encoder_layer_fwd",
    "record_stream",
    "_scaled_dot_product_fused_attention_overrideable", "_scaled_dot_product_fused_attention_overrideable_backward",
])  # fmt: skip
def test_what_throws_on_a_new_device_is_native(name):
    """Their default or CPU kernels refuse any device but their own, so the host path cannot help."""
    assert op_coverage.where(name) == "native"


def test_transformer_layer_takes_its_fast_path():
    """In eval mode nn.TransformerEncoderLayer calls _transformer_encoder_layer_fwd, which knows CPU and CUDA only."""
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0).eval()
    x = torch.randn(2, 3, 8)
    with torch.no_grad():
        expected = layer(x)
        got = layer.to("tpu")(x.to("tpu"))
    torch.testing.assert_close(got.cpu(), expected)


# ---- a call of every overload that is an error


def plain_value(argument):
    """Something that fits the type of a schema argument; the op is refused before it looks at it."""
    kind = str(argument.type)
    is_list = kind.startswith("List")
    if kind.startswith("Optional"):
        return None
    if argument.has_default_value() and "Tensor" not in kind:
        return argument.default_value
    if "Tensor" in kind:
        value = torch.ones(2, 2, device="tpu")
    elif "str" in kind:
        value = "none"
    elif "bool" in kind:
        value = False
    elif "float" in kind or "number" in kind or "Scalar" in kind:
        value = 1.0
    elif "Device" in kind:
        value = torch.device("tpu")
    elif "Stream" in kind:
        value = torch.accelerator.current_stream()
    else:
        value = 1
    return [value] * (argument.N or 2) if is_list else value


def call_with_plain_values(name):
    base, _, overload = name.partition(".")
    op = getattr(getattr(torch.ops.aten, base), overload or "default")
    args, kwargs = [], {}
    for argument in op._schema.arguments:
        value = plain_value(argument)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    with torch.no_grad():
        return op(*args, **kwargs)


ERRORS = [overload.name for overload in OVERLOADS if overload.where == "error"]


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_op(name):
    if not any("Tensor" in str(argument.type) for argument in schema_of(name).arguments):
        pytest.skip("without a tensor argument no device is asked")
    with pytest.raises(NotImplementedError, match="aten::" + name.replace(".", r"\.") + r"\b"):
        call_with_plain_values(name)


def test_host_ops_run():
    """One op of the host class, end to end; opinfo_test.py calls the others."""
    host = [overload.name for overload in OVERLOADS if overload.where == "host"]
    assert host
    if "linalg_eig.out" in host:
        matrix = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
        values, _ = torch.linalg.eig(matrix.to("tpu"))
        assert values.device.type == "tpu"
        torch.testing.assert_close(values.cpu(), torch.linalg.eig(matrix)[0])


def test_pages_are_up_to_date():
    assert op_coverage.PAGE.read_text() == op_coverage.page(), "run tools/op_coverage.py"
    assert op_results.PAGE.read_text() == op_results.page(op_results.results()), "run tools/op_results.py"
    assert op_results.RESULTS.stat().st_size < 1 << 20


def test_the_pass_table_counts():
    """Bars and cells of a small table."""
    tree = {
        "dtypes": ["float32", "bool"],
        "settings": {"host-on": "", "host-off": ""},
        "commits": ["abc", "def"],
        "random": ["rand"],
        "op_db": {
            "add": {"forward": {"host-on": ["NN", "01"], "host-off": ["N.", "1-"]}},
            "eig": {"forward": {"host-on": ["HF", "00"], "host-off": ["H-", "1-"]}},
            "rand": {"forward": {"host-on": ["C-", "0-"], "host-off": ["N-", "1-"]}},
            "jit": {"skipped": "CUDA"},
        },
        "module_db": {"nn.Linear": {"training": {"host-on": ["X-", "0-"]}}},
        "optim_db": {},
        "reasons": {"eig forward host-on bool": "1 of 2 samples differ"},
    }
    bars = [line.split(" | ")[1] for line in op_results.bars(tree)[2:]]
    assert bars[:3] == ["75.00 % (3 of 4)", "100.00 % (1 of 1)", "66.67 % (2 of 3)"]
    assert bars[3:] == ["0.00 % (0 of 1)", "1, 0", "90.00 % (9 of 10)"]
    page = op_results.page(tree)
    assert "| `add` | 2 | 1 1. | abc def |" in page and "| `eig` | 1H 1F | 1H | abc def |" in page
    assert "| `jit` | skipped: CUDA |" in page and "`eig forward host-on` (bool): 1 of 2 samples differ" in page
