"""Checks that includes in csrc/ go downwards only, as the layer() lines of CMakeLists.txt declare.

In: the repository. Out: one line per broken include, exit code 1 if there is any. Only layers marked TORCH may include
headers of torch or Python; csrc includes are written "folder/file.h" with quotes, everything else with angle brackets.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYER = re.compile(r"^layer\((\w+)((?:\s+\w+)*)\s*\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
TORCH = re.compile(r"(torch|c10|ATen|pybind11|caffe2)/|Python\.h")


def declared_layers(cmake_text: str) -> dict[str, tuple[set[str], bool]]:
    """Layer -> (the layers it may include, whether it may include torch)."""
    layers = {}
    for name, words in LAYER.findall(cmake_text):
        named = set(words.split()) - {"DEPENDS"}
        layers[name] = (named - {"TORCH"} | {name}, "TORCH" in named)
    return layers


def broken_includes(file: Path, layers: dict[str, tuple[set[str], bool]]) -> list[str]:
    """One message per include of `file` (path relative to csrc) that its layer may not have."""
    layer = file.parts[0]
    if layer not in layers:
        return [f"csrc/{file}: folder {layer} has no layer() line in CMakeLists.txt"]
    allowed, torch_allowed = layers[layer]
    text = (ROOT / "csrc" / file).read_text()
    broken = []
    for match in INCLUDE.finditer(text):
        quote, header = match.groups()
        where = f"csrc/{file}:{text.count(chr(10), 0, match.start(1)) + 1}: "
        if TORCH.match(header):
            if not torch_allowed:
                broken.append(f"{where}layer {layer} includes torch or Python: {header}")
        elif quote == '"':
            target = header.split("/")[0]
            if target not in layers or not (ROOT / "csrc" / header).exists():
                broken.append(f'{where}write "folder/file.h" as seen from csrc, with an existing file: {header}')
            elif target not in allowed:
                broken.append(f"{where}layer {layer} includes {header}; it may include {', '.join(sorted(allowed))}")
    return broken


def main() -> int:
    layers = declared_layers((ROOT / "CMakeLists.txt").read_text())
    broken = [
        line
        for file in sorted((ROOT / "csrc").rglob("*"))
        if file.suffix in (".h", ".cpp")
        for line in broken_includes(file.relative_to(ROOT / "csrc"), layers)
    ]
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
