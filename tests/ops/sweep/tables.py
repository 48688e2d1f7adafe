"""Judges results by expected.py, and writes what is published of them.

One letter tells how a test ended: N passed natively, H passed with an op on the host (or needs one where that is an
error), S skipped, X differs as expected.py says, F failed, C crashed, T took too long.
"""

import functools
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import expected
import torch

from .fingerprint import rows
from .settings import SETTINGS
from .store import Key
from .variants import DATABASES, DTYPES, VARIANTS, reason_to_skip

ROOT = Path(__file__).resolve().parents[3]
ENTRIES = ROOT / "docs" / "op_results.json"
OVERLOADS = ROOT / "python" / "torch_tpu" / "op_tests.json"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
PRIMARY = next(iter(SETTINGS))  # where listed differences must show
LENGTH = 200  # of a published reason


def has_failed(result):
    """Whether anything differs, crashes or hangs, expected or not."""
    return bool(result.get("failed") or "crash" in result or "timeout" in result)


def message(result):
    """What to say about a result that is no pass."""
    if "crash" in result:
        return f"crashed: {result['crash']}; {' '.join(result['output'].split())[-300:]}"
    if "timeout" in result:
        return result["timeout"]
    if "no_samples" in result:
        return f"OpInfo's samples cannot be made: {result['no_samples']}"
    if result["failed"]:
        return f"{result['failed']} of {result['samples']} samples differ, {result['messages'][0]}"
    return f"needs {', '.join(result['needs'])}" if result["needs"] else "OpInfo has no sample"


def listed(key):
    """Why expected.py says that the test differs, or None."""
    kinds = [f"{key.variant} on {key.setting}", key.variant]
    if key.setting == "host-off":
        kinds.append(f"{key.variant} by lowering")
    return expected.reason(kinds, key.entry, getattr(torch, key.dtype), all_samples=True)


def judge(key, result):
    """The letter, and the reason where it is not a pass."""
    if "crash" in result or "timeout" in result:
        return "C" if "crash" in result else "T", message(result)
    if "no_samples" in result or not result["samples"]:
        return "S", message(result)
    if result["failed"]:
        return ("X", listed(key)) if listed(key) else ("F", message(result))
    if result["needs"]:
        return "H", message(result)
    return ("H" if result["host"] else "N"), None


def surprises(results, counts):
    """key -> text, where a result is not as expected. A listed difference must show where all samples are made."""
    found = {}
    for key, result in results.items():
        letter, reason = judge(key, result)
        if letter in "FCT":
            found[key] = reason
        elif letter in "NH" and listed(key) and is_strict(key, counts[key]):
            found[key] = f"expected.py lists this as different ({listed(key)}), but it agrees now"
    return found


def is_strict(key, count):
    """Whether the test takes so many samples that a listed difference must be among them."""
    setting = SETTINGS[key.setting]
    return key.setting == PRIMARY and count == setting.samples(key.variant, key.dtype)


# ---- what is published


def publish(store):
    """The JSON of entries and of overloads, and the pages made of them. What this store knows nothing of, as on a new
    machine, keeps what was published of it."""
    before, overloads = (json.loads(path.read_text()) for path in (ENTRIES, OVERLOADS))
    ENTRIES.write_text(dumped(entries_of(store, Published(before))))
    OVERLOADS.write_text(dumped(overloads_of(store, overloads["overloads"])))
    for page in ("op_coverage.py", "op_results.py"):
        subprocess.run([sys.executable, ROOT / "tools" / page], check=True)


def dumped(tree):
    """JSON with one line per entry, so that differences can be read."""
    lines = []
    for name, value in tree.items():
        if isinstance(value, dict):
            inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in value.items())
            lines.append(f"{json.dumps(name)}: {{\n{inner}\n}}" if inner else f"{json.dumps(name)}: {{}}")
        else:
            lines.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


class Published:
    """What is in the JSON of entries already."""

    def __init__(self, tree):
        self.tree = tree
        self.commits = tree.get("commits", [])

    def result(self, key):
        """(letter, reason, commit) of a test that was made, or None."""
        cell = self.tree.get(key.database, {}).get(key.entry, {}).get(key.variant, {}).get(key.setting)
        if cell is None or key.dtype not in self.tree["dtypes"]:
            return None
        place = self.tree["dtypes"].index(key.dtype)
        letter, digit = (text[place] for text in cell)
        if letter in ".-":
            return None
        name = " ".join((key.entry, key.variant, key.setting, key.dtype))
        return letter, self.tree["reasons"].get(name), self.commits[DIGITS.index(digit)]


def entries_of(store, before=None):
    """Per entry, variant and setting two strings with a place per dtype: letters, and digits that name a commit.
    `before`: where results come from that the store does not have."""
    before = before or Published({})
    commits = sorted({result["commit"] for result in store.results.values()} | set(before.commits))
    if len(commits) > len(DIGITS):
        raise ValueError(f"results of {len(commits)} commits, at most {len(DIGITS)} can be told: repeat the oldest")
    tree = {
        "torch": torch.__version__,
        "dtypes": [str(dtype).removeprefix("torch.") for dtype in DTYPES],
        "settings": {name: setting.title for name, setting in SETTINGS.items()},
        "commits": commits,
        "random": sorted(expected.RANDOM & set(DATABASES["op_db"])),
    }
    reasons = {}
    for database, entries in DATABASES.items():
        tree[database] = {name: entry_of(store, before, commits, database, name, reasons) for name in entries}
    return tree | {"reasons": reasons}


def entry_of(store, before, commits, database, name, reasons):
    skipped = reason_to_skip(database, name)
    if skipped:
        return {"skipped": skipped}
    cells = {}
    for variant in VARIANTS.values():
        if variant.database != database:
            continue
        dtypes = variant.dtypes_of(DATABASES[database][name])
        for setting in SETTINGS.values():
            if dtypes and variant.name in setting.limits:
                cell = cell_of(store, before, commits, (database, name), dtypes, variant.name, setting.name, reasons)
                cells.setdefault(variant.name, {})[setting.name] = cell
    return cells


def cell_of(store, before, commits, entry, dtypes, variant, setting, reasons):
    letters, digits = "", ""
    for dtype in DTYPES:
        short = str(dtype).removeprefix("torch.")
        key = Key(*entry, short, variant, setting)
        result = store.results.get(key)
        known = (*judge(key, result), result["commit"]) if result else before.result(key)
        if dtype not in dtypes or known is None:
            letters, digits = letters + ("-" if dtype not in dtypes else "."), digits + "-"
            continue
        letter, reason, commit = known
        letters, digits = letters + letter, digits + DIGITS[commits.index(commit)]
        if reason:
            reasons[" ".join((*entry[1:], variant, setting, short))] = reason[:LENGTH]
    return [letters, digits]


def overloads_of(store, before=None):
    """Per overload: tests that called it and passed, all tests that called it, and the dtypes of those that passed.
    `before`: the same of another store, which counts where it has more tests."""
    passed, made, dtypes = defaultdict(int), defaultdict(int), defaultdict(set)
    for key, result in store.results.items():
        has_passed = judge(key, result)[0] in "NH"
        for called, seen in result.get("ops", {}).items():
            name = row_of(called)
            made[name] += 1
            passed[name] += has_passed
            dtypes[name].update(seen if has_passed else ())
    order = [str(dtype).removeprefix("torch.") for dtype in DTYPES]
    found = {name: [passed[name], made[name], [d for d in order if d in dtypes[name]]] for name in made}
    for name, row in (before or {}).items():
        if row[1] > made[name]:
            found[name] = row
    return {"torch": torch.__version__, "overloads": dict(sorted(found.items()))}


@functools.cache
def row_of(called):
    """The overload that answers for a call: of a structured op the `.out` form with the same arguments."""
    base, _, overload = called.partition(".")
    if called in rows() or "::" in called:
        return called
    arguments = arguments_of(base, overload)
    siblings = (name for name in rows() if name.partition(".")[0] == base.removesuffix("_"))
    return next((name for name in siblings if arguments_of(*name.split(".", 1)) == arguments), called)


def arguments_of(base, overload=""):
    """Names and types, without what an op writes to."""
    schema = torch._C._get_schema("aten::" + base, overload)
    return [(each.name, str(each.type)) for each in schema.arguments if not each.is_out]
