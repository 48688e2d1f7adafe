"""The sweep itself: crashes and hangs are results, stores resume and merge, only what changed is repeated."""

import json
import os
import signal

import pytest
from sweep import __main__ as command
from sweep import fingerprint, settings, tables
from sweep.guard import Child
from sweep.store import Key, Store
from sweep.variants import DATABASES, VARIANTS, reason_to_skip

KEY = Key("op_db", "add", "float32", "forward", "host-on")
PASS = {"samples": 2, "of": 2, "failed": 0, "messages": [], "needs": [], "host": [], "ops": {"add.out": ["float32"]}}


def result(time=1.0, **changes):
    return PASS | {"fingerprint": "", "commit": "abc", "time": time} | changes


@pytest.fixture
def child():
    started = Child(settings.SETTINGS["host-on"].variables(), 90)
    yield started
    started.stop()


def task(entry="add", **changes):
    return KEY._replace(entry=entry)._asdict() | {"count": 2} | changes


@pytest.mark.timeout(900)  # three processes that import torch and its databases
def test_crashes_and_hangs_are_results(child):
    done = child.run(task())
    assert (done["samples"], done["failed"], done["host"], done["needs"]) == (2, 0, [], [])
    assert "float32" in done["ops"]["add.out"]
    first = child.process.pid
    assert child.run(task("linalg.eigvals"))["host"] == ["_linalg_eigvals"]
    assert child.process.pid == first
    os.kill(child.process.pid, signal.SIGSEGV)
    crashed = child.run(task())
    assert crashed["crash"].startswith("ended by SIGSEGV") and "Segmentation fault" in crashed["output"]
    assert child.run(task())["failed"] == 0  # another process
    os.kill(child.process.pid, signal.SIGSTOP)
    child.seconds = 0.5
    hung = child.run(task())
    assert hung["timeout"].startswith("no answer within 0.5 s")
    assert tables.judge(KEY, crashed)[0] == "C" and tables.judge(KEY, hung)[0] == "T"


def test_a_store_resumes_and_merges(tmp_path):
    store = Store(tmp_path / "a", "one")
    store.add(KEY, result(1.0))
    store.add(KEY, result(2.0, failed=1))
    assert Store(tmp_path / "a").results[KEY]["failed"] == 1
    other, key = Store(tmp_path / "b"), KEY._replace(entry="sub")
    other.add(KEY, result(1.5))
    other.add(key, result(1.0))
    assert store.merge(tmp_path / "b") == 1  # ours is newer
    assert set(Store(tmp_path / "a").results) == {KEY, key}
    assert Store(tmp_path / "a").results[KEY]["time"] == 2.0


def test_only_what_changed_is_repeated(tmp_path, monkeypatch):
    store = Store(tmp_path)
    keys = {KEY._replace(entry=name): 2 for name in ("add", "sub", "mm")}
    add, sub, mm = keys
    for key, op in ((add, "add.out"), (mm, "mm.out")):
        store.add(key, result(ops={op: []}, fingerprint=fingerprint.fingerprint(key, 2, {op: []})))
    monkeypatch.setattr("sys.argv", ["sweep"])
    options = command.arguments()
    assert command.to_do(keys, store, options) == [sub]
    lowering_of = fingerprint.lowering_of
    monkeypatch.setattr(fingerprint, "lowering_of", lambda op: "new" if op == "mm.out" else lowering_of(op))
    assert command.to_do(keys, store, options) == [mm, sub]  # the changed one first
    assert command.to_do(dict.fromkeys(keys, 3), store, options) == [add, mm, sub]  # other samples


def test_the_lowering_of_an_op_is_its_family_with_what_it_includes():
    lowering_of = fingerprint.lowering_of
    assert lowering_of("add.Tensor") == lowering_of("add_.Tensor") == fingerprint.family_hash("binary")
    assert lowering_of("add.out") != lowering_of("mm.out")
    assert lowering_of("_linalg_eigvals") == "host"


def test_shards_are_all_tests_once(monkeypatch):
    def chosen(*words):
        monkeypatch.setattr("sys.argv", ["sweep", *words])
        return list(command.chosen(command.arguments()))

    words = ("--variant", "forward", "--dtype", "float32", "--setting", "host-on")
    whole = chosen(*words)
    parts = [chosen(*words, "--shard", f"{index}/3") for index in (1, 2, 3)]
    assert all(parts) and sorted(sum(parts, [])) == sorted(whole)
    assert len(whole) > 650 and chosen()[0].variant == "forward"


@pytest.mark.parametrize(
    ("changes", "letter"),
    [
        ({}, "N"),
        ({"host": ["linalg_eig"]}, "H"),
        ({"needs": ["aten::linalg_eig"]}, "H"),
        ({"failed": 1, "messages": ["sample 0: no"]}, "F"),
        ({"samples": 0}, "S"),
        ({"no_samples": "no"}, "S"),
    ],
)
def test_letters(changes, letter):
    assert tables.judge(KEY, PASS | changes)[0] == letter


def test_expectations_are_strict():
    listed = KEY._replace(entry="cross", dtype="bfloat16")
    counts = {KEY: VARIANTS["forward"].count, listed: VARIANTS["forward"].count}
    different = result(failed=1, messages=["sample 0: no"])
    assert tables.surprises({KEY: result(), listed: different}, counts) == {}
    assert set(tables.surprises({KEY: different, listed: result()}, counts)) == {KEY, listed}
    assert tables.judge(listed, different)[0] == "X"


def test_calls_are_those_of_rows():
    assert tables.row_of("add.Tensor") == tables.row_of("add_.Tensor") == "add.out"
    assert tables.row_of("eq.Scalar") == "eq.Scalar_out" and tables.row_of("clamp.Tensor") == "clamp.Tensor_out"
    assert tables.row_of("linalg_eig") == "linalg_eig"


def test_what_is_published(tmp_path):
    store = Store(tmp_path)
    store.add(KEY, result())
    store.add(KEY._replace(dtype="bfloat16"), result(failed=1, messages=["sample 0: no"], commit="def"))
    tree = json.loads(tables.dumped(tables.entries_of(store)))
    letters, digits = tree["op_db"]["add"]["forward"]["host-on"]
    assert letters.startswith("NF.") and digits.startswith("01-") and tree["commits"] == ["abc", "def"]
    assert tree["reasons"]["add forward host-on bfloat16"].startswith("1 of 2 samples differ")
    assert "compiles CUDA source" in tree["op_db"]["jiterator_unary"]["skipped"]
    assert tables.overloads_of(store)["overloads"] == {"add.out": [1, 2, ["float32"]]}
    # Another store adds to it, and what both have is the newer one's.
    other = Store(tmp_path / "other")
    other.add(KEY._replace(dtype="bfloat16"), result(commit="fed"))
    tree = json.loads(tables.dumped(tables.entries_of(other, tables.Published(tree))))
    letters, digits = tree["op_db"]["add"]["forward"]["host-on"]
    assert letters.startswith("NN.") and [tree["commits"][int(digit)] for digit in digits[:2]] == ["abc", "fed"]
    assert tree["reasons"] == {}
    known = {"add.out": [3, 3, ["int64"]], "mul.out": [1, 1, ["bool"]]}
    assert tables.overloads_of(other, known)["overloads"] == known


def test_whole_databases():
    assert [len(entries) for entries in DATABASES.values()] == [702, 114, 15]
    skipped = [name for name in DATABASES["op_db"] if reason_to_skip("op_db", name)]
    assert len(skipped) < 20
