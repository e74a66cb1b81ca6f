"""Which sessions there are in this process, and which one is current. Pure bookkeeping."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Generic, TypeVar

S = TypeVar("S")


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entered: list[Any] = []


class Registry(Generic[S]):
    """Sessions that were made and are still referred to, and those that threads entered."""

    def __init__(self) -> None:
        self._stack = _Stack()
        self._default: S | None = None
        self._all: weakref.WeakSet[Any] = weakref.WeakSet()

    def add(self, session: S) -> None:
        """A session was made."""
        self._all.add(session)

    def all(self) -> list[S]:
        """Every session that was made and is still referred to."""
        return list(self._all)

    def make_default(self, session: S) -> None:
        """New tensors go to this session, outside with-blocks."""
        self._default = session

    def enter(self, session: S) -> None:
        """Make it this thread's current session."""
        self._stack.entered.append(session)

    def entered(self) -> list[S]:
        """What this thread entered, the current session last."""
        return list(self._stack.entered)

    def leave(self, session: S) -> None:
        """Undo the innermost `enter` of this session, if there is one."""
        entered = self._stack.entered
        for i in range(len(entered) - 1, -1, -1):
            if entered[i] is session:
                del entered[i]
                return

    def closed(self, session: S) -> None:
        """It is current nowhere any more."""
        self.leave(session)
        if self._default is session:
            self._default = None

    def innermost(self) -> S | None:
        """The innermost with-block's session, else the last connected; None when there is neither."""
        entered: list[S] = self._stack.entered
        return entered[-1] if entered else self._default
