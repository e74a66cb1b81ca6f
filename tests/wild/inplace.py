"""Puts gradd in the place of torch: `import torch` and all that is below it finds gradd's modules."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `gradd.x` for `torch.x`, a module as it stands and any other value by its name."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch" and not name.startswith("torch."):
            return None
        return importlib.machinery.ModuleSpec(name, self) if self._found(name) is not None else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = self._found(spec.name)
        assert module is not None
        self._specs = getattr(self, "_specs", {})
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        for name, spec in self._specs.items():  # importing it under another name left that in its spec
            if sys.modules.get(name) is module or self._found(name) is module:
                module.__spec__ = spec

    @staticmethod
    def _found(name: str) -> ModuleType | None:
        ours = "gradd" + name.removeprefix("torch")
        try:
            return importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name is None or not (ours + ".").startswith(error.name + "."):
                raise
        parent, _, last = name.rpartition(".")
        found = getattr(sys.modules.get(parent), last, None)
        return found if isinstance(found, ModuleType) else None


def put() -> None:
    """From now on `torch` is gradd. Raises RuntimeError where torch was imported before."""
    if "torch" in sys.modules:
        raise RuntimeError("torch was imported already")
    sys.meta_path.insert(0, _Finder())
    importlib.import_module("torch")
    if "functorch" not in sys.modules:
        sys.modules["functorch"] = importlib.import_module("torch.func")
