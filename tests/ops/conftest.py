"""Which test exercises which row.

rows.txt names for every row a test that compares its numbers; `RECORD_ROWS=1 pytest -n 0 tests/ops` writes it. A test
that rows.txt names fails when it does not run its rows, and registry_test.py when a row or a test is missing.
"""

import os
from pathlib import Path

import pytest
import torch
import torch_tpu._C as core

FILE = Path(__file__).with_name("rows.txt")
IS_RECORDING = "RECORD_ROWS" in os.environ
NOT_NUMERIC = ("registry_test.py", "limits_test.py")


@pytest.fixture(autouse=True)
def _one_program_per_op(strict):
    """An op's test is of its lowering, alone in its program; how programs are put together is for tests/eager, host
    kernels for host_kernel_test.py."""
    before = torch.tpu.set_host_kernels(False)
    yield
    torch.tpu.set_host_kernels(before)


wanted = {}  # test -> rows that it must run
names = set()
met = {}  # test -> rows that it ran, while recording


def pytest_configure():
    # Other numbers of samples meet other rows.
    if IS_RECORDING or "OPINFO_SAMPLES" in os.environ:
        return
    for line in FILE.read_text().splitlines():
        row, test = line.split("\t")
        wanted.setdefault(test, set()).add(row)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Before -k takes any away."""
    names.update(map(name_of, items))


@pytest.fixture
def collected():
    """The tests of the files that this run looks at."""
    return names


def with_host_ops(policy):
    before = torch.tpu.set_host_ops(policy)
    yield
    torch.tpu.set_host_ops(before)


@pytest.fixture
def no_host_ops():
    """Every op of the test has a lowering."""
    yield from with_host_ops("error")


@pytest.fixture
def quiet_host_ops():
    """Ops without a lowering are not warned about."""
    yield from with_host_ops("allow")


def name_of(item):
    return f"{item.path.name}::{item.name}"


def met_since(before):
    return {row for row, count in core.row_programs().items() if count > before.get(row, 0)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    test = name_of(item)
    if IS_RECORDING:
        core.clear_programs()  # a row is met where its program is new to the process
    elif test not in wanted:
        return (yield)
    before = core.row_programs()
    result = yield
    if IS_RECORDING:
        if item.path.name not in NOT_NUMERIC:
            met[test] = met_since(before)
        return result
    missing = wanted[test] - met_since(before)
    if missing:  # an earlier test may have left their programs
        core.clear_programs()
        before = core.row_programs()
        item.runtest()
        missing -= met_since(before)
    assert not missing, f"rows.txt says that this test runs {sorted(missing)}, see conftest.py"
    return result


def pytest_sessionfinish():
    if not IS_RECORDING:
        return
    lines = []
    for row, _, _ in core.rows():
        # The test of the op's own name, or one that does little else.
        base = row.partition(".")[0].strip("_")
        tests = [test for test, rows in met.items() if row in rows]
        if tests:
            best = min(tests, key=lambda t: (base not in t.replace(".", "_"), "float32" not in t, len(met[t]), t))
            lines.append(f"{row}\t{best}\n")
    FILE.write_text("".join(lines))
