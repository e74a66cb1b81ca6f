"""Weak references to tensors with an id; the id of a dead tensor is noted."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterator


class _Ref(weakref.ref[Any]):
    """A weak reference that knows its tensor's id."""

    __slots__ = ("id",)
    id: str


class Live:
    """A mapping from ids to tensors. The ids of dead tensors are appended to `dead` by their finalizers, in
    any thread; `forget` removes their entries.
    """

    def __init__(self, dead: deque[str]) -> None:
        self._refs: dict[str, _Ref] = {}
        note = dead.append
        self._gone = lambda ref: note(ref.id)

    def __setitem__(self, id: str, t: Any) -> None:
        ref = _Ref(t, self._gone)
        ref.id = id
        self._refs[id] = ref

    def get(self, id: str) -> Any:
        """The tensor of that id, or None."""
        ref = self._refs.get(id)
        return None if ref is None else ref()

    def pop(self, id: str) -> None:
        """Remove an id whose tensor may be alive: its death is no longer noted."""
        self._refs.pop(id, None)

    def forget(self, id: str) -> None:
        """Remove the entry of a dead tensor."""
        ref = self._refs.get(id)
        if ref is not None and ref() is None:
            del self._refs[id]

    def clear(self) -> None:
        """Remove all entries."""
        self._refs.clear()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Ids and tensors of live tensors."""
        for id, ref in list(self._refs.items()):
            t = ref()
            if t is not None:
                yield id, t

    def __iter__(self) -> Iterator[str]:
        return (id for id, _ in self.items())
