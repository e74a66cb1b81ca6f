"""The sessions of this process, and which one is current."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Generic, TypeVar

S = TypeVar("S")


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entered: list[Any] = []


class Registry(Generic[S]):
    """Sessions that are still referenced, and those that threads entered."""

    def __init__(self) -> None:
        self._stack = _Stack()
        self._default: S | None = None
        self._all: weakref.WeakSet[Any] = weakref.WeakSet()

    def add(self, session: S) -> None:
        """Add a session."""
        self._all.add(session)

    def all(self) -> list[S]:
        """Every session that is still referenced."""
        return list(self._all)

    def make_default(self, session: S) -> None:
        """Use this session for new tensors outside of with-blocks."""
        self._default = session

    def enter(self, session: S) -> None:
        """Make it this thread's current session."""
        self._stack.entered.append(session)

    def entered(self) -> list[S]:
        """The sessions that this thread entered, the current one last."""
        return list(self._stack.entered)

    def leave(self, session: S) -> None:
        """Undo the innermost `enter` of this session, if there is one."""
        entered = self._stack.entered
        for i in range(len(entered) - 1, -1, -1):
            if entered[i] is session:
                del entered[i]
                return

    def forget(self) -> None:
        """Make none current in this thread."""
        self._stack.entered.clear()
        self._default = None

    def closed(self, session: S) -> None:
        """Make it current nowhere."""
        self.leave(session)
        if self._default is session:
            self._default = None

    def innermost(self) -> S | None:
        """The innermost with-block's session, else the last connected, else None."""
        entered: list[S] = self._stack.entered
        return entered[-1] if entered else self._default
