"""Pins are written in two places, pyproject.toml and requirements-dev.txt; they agree."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements() -> list[str]:
    lines = (ROOT / "requirements-dev.txt").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def test_requirements_are_pinned_and_begin_with_torch():
    assert requirements()[0] == "torch==2.13.0"
    assert [line for line in requirements() if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_pins_agree():
    extras = PROJECT["project"]["optional-dependencies"]
    pinned = [
        *extras["dev"],
        *extras["demo"],
        *PROJECT["project"]["dependencies"],
        *PROJECT["build-system"]["requires"],
    ]
    assert {line for line in pinned if "==" in line} <= set(requirements())
    names = {line.split("==")[0] for line in requirements()}
    assert {re.split("[<>=]", line)[0] for line in pinned} <= names
