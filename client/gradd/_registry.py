"""Which sessions there are in this process, and which one is current. Pure bookkeeping."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._session import Session


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entered: list[Session] = []


_stack = _Stack()
_default: Session | None = None
_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def add(session: Session) -> None:
    """A session was made."""
    _sessions.add(session)


def all_sessions() -> list[Session]:
    """Every session that was made and is still referred to."""
    return list(_sessions)


def make_default(session: Session) -> None:
    """New tensors go to this session, outside with-blocks."""
    global _default
    _default = session


def enter(session: Session) -> None:
    """Make it this thread's current session."""
    _stack.entered.append(session)


def entered() -> list[Session]:
    """What this thread entered, the current session last."""
    return list(_stack.entered)


def leave(session: Session) -> None:
    """Undo the innermost `enter` of this session, if there is one."""
    for i in range(len(_stack.entered) - 1, -1, -1):
        if _stack.entered[i] is session:
            del _stack.entered[i]
            return


def closed(session: Session) -> None:
    """It is current nowhere any more."""
    global _default
    leave(session)
    if _default is session:
        _default = None


def innermost() -> Session | None:
    """The innermost with-block's session, else the last connected; None when there is neither."""
    return _stack.entered[-1] if _stack.entered else _default
