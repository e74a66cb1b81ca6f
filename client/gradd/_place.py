"""Puts gradd in the place of torch: `import torch`, and all that is below it, finds gradd's modules."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

#: the PyTorch whose behaviour is the reference
FOLLOWS = "2.13.0"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds gradd's module for each of torch's."""

    def __init__(self) -> None:
        #: what each module says of itself, by the name under which it is imported here
        self._specs: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch" and not name.startswith("torch."):
            return None
        return importlib.machinery.ModuleSpec(name, self) if self._found(name) is not None else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = self._found(spec.name)
        assert module is not None
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
    """From now on, in this process, `torch` is gradd; functorch too. Raises RuntimeError where torch was
    imported before: scripts would hold tensors of both.
    """
    if "torch" in sys.modules:
        raise RuntimeError("torch was imported already: put gradd in its place before anything imports it")
    sys.meta_path.insert(0, _Finder())
    torch, version = importlib.import_module("torch"), importlib.import_module("torch.version")
    # Scripts and libraries ask for at least some PyTorch.
    vars(torch)["__version__"] = vars(version)["__version__"] = f"{FOLLOWS}+gradd.{version.__version__}"
    sys.modules.setdefault("functorch", importlib.import_module("torch.functorch"))
