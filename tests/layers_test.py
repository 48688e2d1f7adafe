"""Includes in csrc/ go downwards only (tools/check_layers.py), and the check sees what it should."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402


def test_includes_go_downwards(capsys):
    assert check_layers.main() == 0, capsys.readouterr().out


def test_layers_are_declared_in_order_and_match_the_folders():
    layers = check_layers.declared_layers((ROOT / "CMakeLists.txt").read_text())
    seen = set()
    for name, (allowed, _) in layers.items():
        above = allowed - seen - {name}
        assert not above, f"{name} names layers that are declared after it: {above}"
        seen.add(name)
    assert {folder.name for folder in (ROOT / "csrc").iterdir() if folder.is_dir()} <= layers.keys()


@pytest.mark.parametrize(
    "line, complaint",
    [
        ('#include "engine/value.h"', "layer ops includes engine/value.h"),
        ("#include <ATen/core/Tensor.h>", "includes torch or Python"),
        ("# include <Python.h>", "includes torch or Python"),
        ('#include "call.h"', "as seen from csrc"),
        ('#include "base/error.h"', None),
        ("#include <vector>", None),
    ],
)
def test_check(tmp_path, monkeypatch, line, complaint):
    for header in ("engine/value.h", "base/error.h", "ops/call.h"):
        (tmp_path / "csrc" / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "csrc" / header).touch()
    (tmp_path / "csrc/ops/scan.cpp").write_text(f"// a comment\n{line}\n")
    monkeypatch.setattr(check_layers, "ROOT", tmp_path)
    layers = check_layers.declared_layers("layer(base)\nlayer(ops DEPENDS base)\nlayer(engine DEPENDS ops base)\n")
    broken = check_layers.broken_includes(Path("ops/scan.cpp"), layers)
    if complaint is None:
        assert broken == []
    else:
        assert len(broken) == 1 and complaint in broken[0] and broken[0].startswith("csrc/ops/scan.cpp:2: ")
