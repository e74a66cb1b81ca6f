"""The sessions of this process, and which one is current."""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

S = TypeVar("S")


#: the sessions that were entered, the current one last
_entered: ContextVar[tuple[Any, ...]] = ContextVar("gradd_entered", default=())


class Registry(Generic[S]):
    """Sessions that are still referenced, and those that threads or tasks entered."""

    def __init__(self) -> None:
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
        """Make it the current session of this thread, or task."""
        _entered.set((*_entered.get(), session))

    def entered(self) -> list[S]:
        """The sessions that this thread or task entered, the current one last."""
        return list(_entered.get())

    def leave(self, session: S) -> None:
        """Undo the innermost `enter` of this session, if there is one."""
        entered = _entered.get()
        for i in range(len(entered) - 1, -1, -1):
            if entered[i] is session:
                _entered.set(entered[:i] + entered[i + 1 :])
                return

    def forget(self) -> None:
        """Make none current in this thread."""
        _entered.set(())
        self._default = None

    def closed(self, session: S) -> None:
        """Make it current nowhere."""
        self.leave(session)
        if self._default is session:
            self._default = None

    def innermost(self) -> S | None:
        """The innermost with-block's session, else the last connected, else None."""
        entered: tuple[S, ...] = _entered.get()
        return entered[-1] if entered else self._default
