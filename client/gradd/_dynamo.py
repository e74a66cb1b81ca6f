"""What scripts set of PyTorch's compiler (torch._dynamo, torch._inductor). There is none here: a step that
repeats is compiled in the daemon by itself, so that settings are kept and change nothing.

As https://docs.pytorch.org/docs/stable/torch.compiler_api.html.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .compiler import allow_in_graph, disable, is_compiling, is_dynamo_compiling, note, reset

__all__ = [
    "OptimizedModule", "allow_in_graph", "config", "disable", "is_compiling", "is_dynamo_compiling",
    "list_backends", "mark_dynamic", "mark_static", "maybe_mark_dynamic", "optimize", "reset",
]  # fmt: skip


class KeptSettings(ModuleType):
    """Settings that are kept as they are given; a folder of more is made where one is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        below = KeptSettings(f"{self.__name__}.{name}")
        setattr(self, name, below)
        return below

    def __bool__(self) -> bool:
        """False: a setting that was never set."""
        return False

    @contextmanager
    def patch(
        self, changes: str | Mapping[str, Any] | None = None, value: Any = None, **more: Any
    ) -> Iterator[None]:
        """Settings for a block, or for the calls of the function that it decorates."""
        given = {changes: value} if isinstance(changes, str) else {**(changes or {})}
        before = dict(self.__dict__)
        self.__dict__.update(given | more)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)


class OptimizedModule:
    """What `torch.compile` makes of a module in PyTorch. Here nothing is one: it returns the module."""


config = KeptSettings(f"{__name__}.config")
sys.modules[config.__name__] = config


def optimize(*args: Any, **options: Any) -> Callable[[Any], Any]:
    """A decorator that returns what it is given. Warns so once."""
    note("torch._dynamo.optimize")
    return lambda given: given


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """No names: there is no choice."""
    return []


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Has no effect: sizes are read anew by each step."""


maybe_mark_dynamic = mark_static = mark_dynamic


def _is_compile_supported(device_type: str) -> bool:
    """False: operators of libraries compute as they are written."""
    return False


#: there are modules below this one, though it is a file
__path__: list[str] = []
utils = ModuleType(f"{__name__}.utils", "torch._dynamo.utils, as far as libraries ask it.")
vars(utils)["is_compile_supported"] = _is_compile_supported
sys.modules[utils.__name__] = utils
