"""What is ambient in a thread, while a task of its event loop waits.

Gradient mode, autocast and their like are the thread's, as PyTorch's are. A task that waits in gradd takes
its own along, and finds them again; meanwhile the others have what applied when the loop first waited.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradd_engine.data.state import state

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_outside: weakref.WeakKeyDictionary[AbstractEventLoop, dict[str, Any]] = weakref.WeakKeyDictionary()


class Aside:
    """In this context the task's modes are laid aside. It has one await, and nothing else."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        self._own = dict(vars(state))
        _put(_outside.setdefault(self._loop, self._own))

    def __exit__(self, *exc: object) -> None:
        _put(self._own)


def _put(modes: dict[str, Any]) -> None:
    found = vars(state)
    found.clear()
    found.update(modes)
