"""Pins are written in pyproject.toml, requirements-dev.txt and requirements-ecosystem.txt; they agree."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(file: str = "requirements-dev.txt") -> list[str]:
    lines = (ROOT / file).read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("file", ["requirements-dev.txt", "requirements-ecosystem.txt"])
def test_requirements_are_pinned_and_begin_with_torch(file):
    assert requirements(file)[0] == "torch==2.13.0"
    assert [line for line in requirements(file) if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_libraries_are_tested_with_the_pins_of_development():
    pins = dict(line.split("==") for line in requirements())
    libraries = dict(line.split("==") for line in requirements("requirements-ecosystem.txt"))
    shared = pins.keys() & libraries.keys()
    assert len(shared) >= 5 and {name: pins[name] for name in shared} == {name: libraries[name] for name in shared}


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
