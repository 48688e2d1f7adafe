"""Results as JSON lines in a folder. The newest line of a test counts, so stores are merged by copying files."""

import json
from pathlib import Path
from typing import NamedTuple


class Key(NamedTuple):
    """What names a test."""

    database: str
    entry: str
    dtype: str
    variant: str
    setting: str


class Store:
    """What is known of the tests; `add` writes to one file, all files of the folder are read."""

    def __init__(self, folder, name="results"):
        self.folder = Path(folder)
        self.file = self.folder / f"{name}.jsonl"
        self.results = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            for line in path.read_text().splitlines():
                self._keep(json.loads(line))

    def _keep(self, result):
        key = Key(*result["key"])
        known = self.results.get(key)
        if known is None or known["time"] <= result["time"]:
            self.results[key] = result

    def add(self, key, result):
        """Kept, and on the disk when this returns."""
        result = {"key": list(key), **result}
        self._keep(result)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as file:
            file.write(json.dumps(result, separators=(",", ":")) + "\n")

    def merge(self, folder):
        """Takes over what another folder knows better; gives how many results that are."""
        newer = [
            (key, result)
            for key, result in Store(folder).results.items()
            if key not in self.results or self.results[key]["time"] < result["time"]
        ]
        for key, result in newer:
            self.add(key, {name: value for name, value in result.items() if name != "key"})
        return len(newer)
