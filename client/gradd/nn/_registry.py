"""Registries of hooks: dictionaries by number, in order of calls, and the handles that take hooks out."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from gradd_engine.tensor import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBERS = itertools.count()

Hooks = OrderedDict[int, Any]


class HookHandle(RemovableHandle):
    """Removes a hook from its registry, and its number from the dictionaries that mark some hooks."""

    def __init__(self, hooks: Any, marks: tuple[Any, ...]) -> None:
        self.id = next(_NUMBERS)
        self._places = (hooks, *marks)

    def remove(self) -> None:
        """Take the hook out; later calls do nothing."""
        for place in self._places:
            place.pop(self.id, None)


def add(hooks: Hooks, hook: Callable[..., Any], *marks: dict[int, bool], first: bool = False) -> HookHandle:
    """Add a hook at the end of a registry, or as its `first`, and its number to `marks`."""
    handle = HookHandle(hooks, marks)
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle
