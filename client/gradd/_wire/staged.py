"""Large arrays that are uploaded ahead of their batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_protocol import messages as m

from .._exceptions import GraddError
from .._transports import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable

    from .wire import Wire

_FAILURES = (Dropped, GraddError, RuntimeError)


class StagedUpload:
    """The key of an upload sent ahead, which the session holds until a batch names it. `arrive`, if it is not
    known to be there: waits until it is, and returns its key.
    """

    __slots__ = ("_arrive", "key")

    def __init__(self, key: str, arrive: Callable[[], str] | None = None) -> None:
        self.key = key
        self._arrive = arrive

    def settle(self) -> None:
        """Have it there."""
        if self._arrive is not None:
            self.key, self._arrive = self._arrive(), None


def stage(wire: Wire, array: Any) -> StagedUpload:
    """Upload a large array ahead of its batch. Raises RuntimeError if there is no room.

    On return, the session has the bytes and keeps them until a batch uses them: no copy is kept here, and the
    array may be written to. If the session does not have them later, it is lost.
    """
    key = wire.upload_key()
    if not wire.idle:
        wire.request(m.Stage(key), [array])
    return StagedUpload(key)


def begin(wire: Wire, array: Any) -> StagedUpload:
    """Begin to upload a large array to which nobody writes. Where that fails, it is staged once more, and
    RuntimeError is raised if there is no room, here or by `settle`.
    """
    key = wire.upload_key()
    try:
        wait = wire.transport.stage(key, array)
    except _FAILURES:
        return stage(wire, array)

    def arrive() -> str:
        try:
            with wire.patience():
                wait()
        except _FAILURES:
            return stage(wire, array).key
        return key

    return StagedUpload(key, arrive)
