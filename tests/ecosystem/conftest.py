"""Libraries on device `tpu`, each beside the same program on the CPU. Run by `make ecosystem` in a virtual environment
of its own; where transformers is not installed nothing here is collected. Weights are random, of small configurations,
texts are those that Python ships, and nothing is fetched.
"""

import importlib.metadata
import importlib.util
import os
from pathlib import Path

import pytest

if importlib.util.find_spec("transformers") is None:
    collect_ignore_glob = ["*_test.py"]

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

VOCABULARY = 128
_rows = []


def text():
    """English text that Python ships: its own help pages, in ASCII."""
    from pydoc_data.topics import topics

    joined = "\n".join(topics[name] for name in sorted(topics))
    return joined.encode("ascii", "ignore").decode()


def tokens(length):
    """The first characters of text() as numbers below VOCABULARY."""
    import torch

    return torch.tensor(list(text()[:length].encode()))


@pytest.fixture(scope="session")
def blocks():
    """64 examples of 32 characters for a language model, as transformers wants them."""
    return [{"input_ids": block, "labels": block} for block in tokens(64 * 32).view(64, 32)]


@pytest.fixture
def enabled():
    """torch_tpu.integrations.enable() for the time of a test."""
    from torch_tpu import integrations

    integrations.enable()
    yield
    integrations.disable()


def largest_difference(losses, expected):
    """The largest relative difference between two lists of losses."""
    assert len(losses) == len(expected) > 0
    return max(abs(loss - known) / abs(known) for loss, known in zip(losses, expected, strict=True))


@pytest.fixture
def report(request):
    """Notes one row of docs/ecosystem.md: library, what ran, what was measured against the CPU. The test goes on to
    assert it; a row of a test that fails is left out."""
    import torch

    torch.tpu.reset_host_ops()
    notes = []

    def note(library, program, measured):
        notes.append((library, program, measured))

    yield note
    if getattr(request.node, "outcome", None) == "passed":
        on_host = ", ".join(f"`{op.name}`" for op in torch.tpu.host_ops()) or "none"
        _rows.extend((*row, on_host) for row in notes)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    result = yield
    if call.when == "call":
        item.outcome = result.outcome
    return result


def _where():
    import torch

    return torch.tpu.get_device_name()


def pytest_sessionfinish(session):
    path = os.environ.get("ECOSYSTEM_TABLE")
    if not path or not _rows:
        return
    lines = [
        "# Libraries on device `tpu`",
        "",
        f"Written by `make ecosystem`, with torch {importlib.metadata.version('torch')} on {_where()}. Each program "
        "runs on `tpu` and on `cpu`, from the same weights and data (tests/ecosystem).",
        "",
        "| library | program | compared with the CPU | ops that ran on the host |",
        "|---|---|---|---|",
    ]
    for library, program, measured, on_host in sorted(_rows):
        named = f"{library} {importlib.metadata.version(library)}"
        lines.append(f"| {named} | {program} | {measured} | {on_host} |")
    lines += ["", Path(__file__).with_name("notes.md").read_text().strip()]
    Path(path).write_text("\n".join(lines) + "\n")
