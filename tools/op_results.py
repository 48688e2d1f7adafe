"""The pass table: every entry of op_db, module_db and optim_db on device tpu, as the sweep found it (`make opinfo`).

python tools/op_results.py           write docs/op_results.md from docs/op_results.json
python tools/op_results.py --check   say whether it is up to date
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, RESULTS = DOCS / "op_results.md", DOCS / "op_results.json"
DATABASES = ("op_db", "module_db", "optim_db")
MADE = "NHXFCT"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

HEAD = """# Results per entry

Written by `tools/op_results.py` from `op_results.json`, which `make opinfo ARGS=--publish` writes from the store; a
test fails when it is out of date. What is compared, and how to repeat it: [ops.md](ops.md#the-sweep).

A cell counts tests, one per dtype of {dtypes}: a number alone passed natively, **H** passed with an op on the host
(where host ops are errors: needs one), **S** was skipped, **X** differs as `tests/ops/expected.py` says, **F** failed,
**C** crashed, **T** took too long, **.** was not run yet.
"""


def results():
    return json.loads(RESULTS.read_text())


def letters(tree, database, variant, setting, names=None):
    """All letters of a variant in a setting, of all entries or the named ones."""
    entries = (cells for name, cells in tree[database].items() if names is None or name in names)
    return "".join(cells.get(variant, {}).get(setting, [""])[0] for cells in entries)


def share(part, whole):
    return f"{100 * part / whole:.2f} % ({part} of {whole})" if whole else "not run"


def bars(tree):
    """What the project promises of these numbers, and how it stands."""
    fixed = set(tree["op_db"]) - set(tree["random"])
    on = Counter(letters(tree, "op_db", "forward", "host-on", fixed))
    off = Counter(letters(tree, "op_db", "forward", "host-off", fixed))
    made_on, made_off = (sum(count[letter] for letter in MADE) for count in (on, off))
    first = [cells["forward"]["host-off"][0][0] for cells in tree["op_db"].values() if "forward" in cells]
    alone = Counter(letter for letter in first if letter in MADE)
    everything = Counter("".join(
        letters(tree, database, variant, setting)
        for database in DATABASES
        for variant in variants_of(tree, database)
        for setting in tree["settings"]
    ))  # fmt: skip
    networks = Counter("".join(
        letters(tree, database, variant, setting)
        for database in DATABASES[1:]
        for variant in variants_of(tree, database)
        for setting in tree["settings"]
    ))  # fmt: skip
    rows = [
        ("deterministic forward tests equal to the CPU, host ops allowed", share(on["N"] + on["H"], made_on), "99.5 %"),
        ("the same, host ops are errors, of those that need none", share(off["N"], made_off - off["H"]), "99.5 %"),
        ("entries whose float32 forward test needs no host op", share(alone["N"], sum(alone.values())), "92 %"),
        ("module_db and optim_db equal to the CPU", share(networks["N"] + networks["H"], made(networks)), "100 %"),
        ("crashes, tests out of time", f"{everything['C']}, {everything['T']}", "0, 0"),
        ("tests made", share(made(everything) + everything["S"], sum(everything.values()) - everything["-"]), ""),
    ]
    return ["| what | now | bar |", "|---|---:|---:|", *(f"| {what} | {now} | {bar} |" for what, now, bar in rows)]


def made(counts):
    return sum(counts[letter] for letter in MADE)


def variants_of(tree, database):
    found = {}
    for cells in tree[database].values():
        found |= dict.fromkeys(variant for variant in cells if variant != "skipped")
    return list(found)


def cell(letters):
    """7 2H 1X"""
    counts = Counter(letters)
    counts.pop("-", None)
    return " ".join(f"{counts[letter]}{letter.replace('N', '')}" for letter in "NHSXFCT." if counts[letter])


def commits_of(tree, cells):
    digits = {digit for settings in cells.values() for _, digits in settings.values() for digit in digits} - {"-"}
    return " ".join(tree["commits"][DIGITS.index(digit)] for digit in sorted(digits, key=DIGITS.index))


def table(tree, database):
    variants = variants_of(tree, database)
    columns = [
        (variant, setting)
        for setting in tree["settings"]
        for variant in variants
        if any(setting in cells.get(variant, {}) for cells in tree[database].values())
    ]
    primary = next(iter(tree["settings"]))
    titles = [variant if setting == primary else f"{setting}: {variant}" for variant, setting in columns]
    lines = ["| entry | " + " | ".join(titles) + " | commits |", "|---|" + "---|" * (len(titles) + 1)]
    for name, cells in tree[database].items():
        if "skipped" in cells:
            lines.append(f"| `{name}` | skipped: {cells['skipped']} |" + " |" * len(titles))
            continue
        shown = [cell(cells.get(variant, {}).get(setting, [""])[0]) for variant, setting in columns]
        lines.append(f"| `{name}` | " + " | ".join(shown) + f" | {commits_of(tree, cells)} |")
    return lines


def totals(tree):
    """Per setting and variant, all entries and dtypes."""
    titles = "native | on the host | skipped | expected to differ | failed | crashed | out of time | not run"
    lines = [f"| database | setting | variant | {titles} |", "|---|---|---|" + "---:|" * 8]
    for database in DATABASES:
        for setting in tree["settings"]:
            for variant in variants_of(tree, database):
                counts = Counter(letters(tree, database, variant, setting))
                if sum(counts.values()) > counts["-"]:
                    numbers = " | ".join(str(counts[letter] or "") for letter in "NHSXFCT.")
                    lines.append(f"| {database} | {setting} | {variant} | {numbers} |")
    return lines


def differences(tree):
    """Every test that is no pass, with the reason; what is the same for several dtypes on one line."""
    found = {}
    for test, reason in tree["reasons"].items():
        words, _, dtype = test.rpartition(" ")
        found.setdefault((words, reason), []).append(dtype)
    return [
        f"- `{words}` ({', '.join(dtypes)}): {reason.replace('<', '&lt;')}" for (words, reason), dtypes in found.items()
    ]


def page(tree):
    lines = [HEAD.format(dtypes=", ".join(tree["dtypes"]))]
    lines += [
        *bars(tree),
        "",
        "Settings: " + "; ".join(f"*{name}*, {text}" for name, text in tree["settings"].items()) + ".",
    ]
    lines += ["", "## Totals", "", *totals(tree)]
    for database in DATABASES:
        lines += ["", f"## {database}", "", *table(tree, database)]
    lines += ["", "## What is no pass", "", *differences(tree)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when the page is out of date")
    check = parser.parse_args().check
    text = page(results())
    if check:
        current = PAGE.exists() and PAGE.read_text() == text
        print(f"{PAGE.name} is {'up to date' if current else 'out of date: run tools/op_results.py'}")
        return int(not current)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
