"""Work that waits until another module is imported, because importing it here would make `import torch` slow.

torch keeps the default backend of torch.compile in a module whose import brings all of torch._dynamo (a second, 40 MB)
and offers no hook that is asked before. So the module's own import is waited for, with Python's import hooks: nothing
of torch is replaced. tests/device/import_test.py fails when that module has become cheap. safetensors gets a note on
one of its errors (torch_tpu.integrations.advise).
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType


def on_import(name: str, action: Callable[[ModuleType], None]) -> None:
    """Calls `action` with the module `name` once it is imported; at once when it is already."""
    if name in sys.modules:
        action(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, action))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, action: Callable[[ModuleType], None]):
        self.name = name
        self.action = action

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.action)
        return spec


class _Loader(importlib.abc.Loader):
    """A loader that calls the action when the one it stands for has run the module."""

    def __init__(self, loader: importlib.abc.Loader, action: Callable[[ModuleType], None]):
        self.loader = loader
        self.action = action

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        self.action(module)
