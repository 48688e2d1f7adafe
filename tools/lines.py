"""Prints a table: files and lines (without blanks and comment lines) per folder."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMENT = {".py": "#", ".h": "//", ".cpp": "//", ".cmake": "#"}
TOP_FOLDERS = ("csrc", "python", "tests", "benchmarks", "examples", "tools", "cmake")


def main() -> None:
    files, lines = Counter(), Counter()
    for top in TOP_FOLDERS:
        for file in (ROOT / top).rglob("*"):
            if file.suffix in COMMENT:
                parts = file.relative_to(ROOT).parent.parts
                folder = "/".join(parts[:2])
                files[folder] += 1
                stripped = (line.strip() for line in file.read_text().splitlines())
                lines[folder] += sum(1 for line in stripped if line and not line.startswith(COMMENT[file.suffix]))
    print(f"{'folder':<24}{'files':>8}{'lines':>8}")
    for folder in sorted(files):
        print(f"{folder:<24}{files[folder]:>8}{lines[folder]:>8}")
    print(f"{'all':<24}{files.total():>8}{lines.total():>8}")


if __name__ == "__main__":
    main()
