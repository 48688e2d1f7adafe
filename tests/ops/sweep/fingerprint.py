"""What a result depends on, as a hash: the lowerings of the ops that the test called, and the comparison.

The lowering of an op is its family's file with what it includes from csrc/ops, or "host" for an op without a row. What
lies under and over the lowerings (csrc/hlo, csrc/aten, ...) is not part of it: it changes daily and rarely matters to
one op; `--again` repeats everything.
"""

import functools
import hashlib
import importlib.metadata
import re
import sys
from pathlib import Path

import expected
import torch

from torch_tpu import _C

from .settings import SETTINGS
from .variants import VARIANTS

SOURCES = Path(__file__).resolve().parents[3] / "csrc"
HERE = Path(__file__).parent
UNDER_EVERY_OP = {"_copy_from", "_to_copy", "empty_strided", "empty.memory_format", "_local_scalar_dense"}


def hash_of(*parts):
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else str(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


@functools.cache
def family_hash(family):
    """Of the family's file and everything in csrc/ops that it includes, with the .cpp beside a header."""
    seen, rest = set(), [SOURCES / "ops" / f"{family}.cpp"]
    while rest:
        path = rest.pop()
        if path in seen or not path.exists():
            continue
        seen.add(path)
        for header in re.findall(r'#include "(ops/\w+)\.h"', path.read_text()):
            rest += [SOURCES / f"{header}.h", SOURCES / f"{header}.cpp"]
    return hash_of(*sorted(seen))


@functools.cache
def rows():
    return {name: family for name, family, _ in _C.rows()}


@functools.cache
def rows_by_base():
    return {name.partition(".")[0].rstrip("_"): family for name, family in rows().items()}


def lowering_of(op):
    """The hash of what computes an op. `add.Tensor` comes from the row `add.out`."""
    family = rows().get(op) or rows_by_base().get(op.partition(".")[0].rstrip("_"))
    return family_hash(family) if family else "host"


@functools.cache
def everything():
    return hash_of(*(family_hash(family) for family in sorted(set(rows().values()))))


@functools.cache
def comparison_hash(variant):
    module = sys.modules[VARIANTS[variant].check.__module__]
    return hash_of(HERE / "comparison.py", HERE / "samples.py", Path(module.__file__))


@functools.cache
def plugin_version(setting):
    return importlib.metadata.version((SETTINGS[setting].needs or "xla_cpu_pjrt").replace("_", "-"))


def fingerprint(key, count, ops):
    """Of a test with so many samples; `ops` are those that it called, None when it did not live to tell."""
    name = key.entry
    rules = (expected.tolerance(name, getattr(torch, key.dtype)), name in expected.RANDOM, count)
    lowerings = everything() if ops is None else [(op, lowering_of(op)) for op in sorted(set(ops) - UNDER_EVERY_OP)]
    return hash_of(torch.__version__, plugin_version(key.setting), comparison_hash(key.variant), rules, lowerings)
