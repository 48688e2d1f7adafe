"""python -m sweep: makes the tests whose results are missing or out of date, and says what is not as expected."""

import argparse
import collections
import fnmatch
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

from . import tables
from .fingerprint import fingerprint
from .guard import Child
from .settings import SETTINGS
from .store import Key, Store
from .variants import DATABASES, VARIANTS, reason_to_skip

ROOT = Path(__file__).resolve().parents[3]


def arguments():
    parser = argparse.ArgumentParser(prog="python -m sweep", description=__doc__)
    parser.add_argument("--store", default=str(ROOT / "build" / "opinfo"), help="folder of results")
    parser.add_argument("--minutes", type=float, default=15, help="no test begins later (default 15)")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="of N parts of the entries the I-th")
    parser.add_argument("--seconds", type=float, default=90, help="of work that a sample may take (default 90)")
    for what, known in (("setting", SETTINGS), ("variant", VARIANTS), ("database", DATABASES)):
        parser.add_argument(f"--{what}", action="append", choices=list(known), help="only these")
    parser.add_argument("--dtype", action="append", help="only these, e.g. float32")
    parser.add_argument("--entry", action="append", metavar="PATTERN", help="only these, e.g. 'linalg.*'")
    parser.add_argument("--samples", type=int, help="at most so many of each test; such results are not kept")
    parser.add_argument("--failures", action="store_true", help="repeat what failed")
    parser.add_argument("--again", action="store_true", help="repeat everything")
    parser.add_argument("--merge", action="append", default=[], metavar="FOLDER", help="take over the results there")
    parser.add_argument("--publish", action="store_true", help="write the tables of the repository from the store")
    return parser.parse_args()


def chosen(options):
    """Every test that the options ask for, the most telling ones first: key -> number of samples."""
    index, shards = map(int, options.shard.split("/"))
    tests = []
    for setting in options.setting or SETTINGS:
        for variant in SETTINGS[setting].limits:
            if options.variant and variant not in options.variant:
                continue
            database = VARIANTS[variant].database
            if options.database and database not in options.database:
                continue
            for name, entry in DATABASES[database].items():
                if zlib.crc32(name.encode()) % shards != index - 1 or reason_to_skip(database, name):
                    continue
                if options.entry and not any(fnmatch.fnmatchcase(name, pattern) for pattern in options.entry):
                    continue
                for dtype in VARIANTS[variant].dtypes_of(entry):
                    dtype = str(dtype).removeprefix("torch.")
                    if not options.dtype or dtype in options.dtype:
                        count = SETTINGS[setting].samples(variant, dtype)
                        key = Key(database, name, dtype, variant, setting)
                        tests.append((key, min(count, options.samples or count)))
    tests.sort(key=lambda test: rank(test[0]))  # stable: entries stay in PyTorch's order
    return dict(tests)


def rank(key):
    """What tells most comes first: float32, forward passes, settings in their order."""
    is_other = (key.dtype != "float32", key.variant != "forward")
    return is_other, list(SETTINGS).index(key.setting), list(VARIANTS).index(key.variant)


def is_current(result, key, count):
    return result is not None and result["fingerprint"] == fingerprint(key, count, result.get("ops"))


def to_do(tests, store, options):
    """Those to make now, changed ones before those that were never made."""
    changed, new = [], []
    for key, count in tests.items():
        result = store.results.get(key)
        if result is None:
            new.append(key)
        elif options.again or not is_current(result, key, count) or (options.failures and tables.has_failed(result)):
            changed.append(key)
    return changed + new


def commit():
    """The commit of the tree, with a plus where the tree differs from it."""

    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    changes = git("status", "--porcelain", "--untracked-files=no", "csrc", "python", "tests/ops")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changes else "")


def guarded(child, test):
    """The result; what crashes or hangs does it twice, the second time in a process that did nothing before."""
    result = child.run(test)
    if "crash" in result or "timeout" in result:
        first = result.get("crash") or result["timeout"]
        result = child.run(test) | {"first_time": first}
    return result


def make(keys, tests, store, options):
    """Makes the tests until the time is over."""
    end, at = time.monotonic() + 60 * options.minutes, commit()
    children = {
        name: Child(SETTINGS[name].variables() | {"TORCH_TPU_CACHE_BYTES": "0"}, options.seconds) for name in SETTINGS
    }
    told = time.monotonic()
    done = collections.Counter()
    try:
        for key in keys:
            if time.monotonic() > end:
                break
            test = key._asdict() | {"count": tests[key]}
            result = guarded(children[key.setting], test)
            result |= {
                "fingerprint": fingerprint(key, tests[key], result.get("ops")),
                "commit": at,
                "time": time.time(),
            }
            store.add(key, result)
            done["made"] += 1
            if tables.has_failed(result):
                print(" ".join(key[1:]), "::", tables.message(result), flush=True)
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"# {done['made']} of {len(keys)}, now {' '.join(key[1:])}", flush=True)
    finally:
        for child in children.values():
            child.stop()
    return done["made"]


def main():
    options = arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    folder = options.store if options.samples is None else os.path.join(options.store, "some-samples")
    store = Store(folder, "part-" + options.shard.replace("/", "-of-"))
    for other in options.merge:
        print(f"# {store.merge(other)} results from {other}")
    if options.publish:
        tables.publish(store)
        return 0
    tests = chosen(options)
    keys = to_do(tests, store, options)
    print(f"# {len(tests)} tests, {len(keys)} to do", flush=True)
    made = make(keys, tests, store, options)
    surprises = tables.surprises({key: store.results[key] for key in tests if key in store.results}, tests)
    print(f"# {len(keys) - made} left; {len(surprises)} not as expected")
    for key, text in surprises.items():
        print(" ".join(key[1:]), "::", text)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
