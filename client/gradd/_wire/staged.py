"""Large arrays that are uploaded ahead of their batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_protocol import messages as m
from gradd_protocol.limits import MIB

from .._exceptions import GraddError
from .._transports import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable

    from .wire import Wire

#: bytes of an array that is copied rather than waited for, and of all that are under way
_COPIED, _UNDER_WAY = 4 * MIB, 16 * MIB
_FAILURES = (Dropped, GraddError, RuntimeError)


class StagedUpload:
    """The key of an upload sent ahead, which the session holds until a batch names it. `arrive`, if it is not
    known to be there: waits until it is, and returns its key.
    """

    __slots__ = ("_arrive", "key", "size")

    def __init__(self, key: str, arrive: Callable[[], str] | None = None, size: int = 0) -> None:
        self.key = key
        #: bytes that are kept here until it is there
        self.size = size
        self._arrive = arrive

    def settle(self) -> None:
        """Have it there."""
        if self._arrive is not None:
            self.key, self._arrive, self.size = self._arrive(), None, 0


def stage(wire: Wire, array: Any, others: list[StagedUpload]) -> StagedUpload:
    """Upload a large array ahead of its batch. Raises RuntimeError if there is no room.

    One that is not very large is copied, and under way on return: several of them are waited for once, when
    their batch is sent, and that there is no room is told then; `others` are those. Of larger ones the
    session has the bytes on return.
    """
    if not (wire.transport.far and array.nbytes <= _COPIED) or wire.idle:
        return _stage(wire, array)
    if sum(each.size for each in others) + array.nbytes > _UNDER_WAY:
        for each in others:
            each.settle()
    others[:] = [each for each in others if each.size]
    others.append(begin(wire, np.array(array, order="C", copy=True), array.nbytes))
    return others[-1]


def _stage(wire: Wire, array: Any) -> StagedUpload:
    """Upload an array and wait until it is there. Raises RuntimeError if there is no room.

    On return, the session has the bytes and keeps them until a batch uses them: no copy is kept here, and the
    array may be written to. If the session does not have them later, it is lost.
    """
    key = wire.upload_key()
    if not wire.idle:
        wire.request(m.Stage(key), [array])
    return StagedUpload(key)


def begin(wire: Wire, array: Any, kept: int = 0) -> StagedUpload:
    """Begin to upload a large array to which nobody writes, of which `kept` bytes are a copy. Where that
    fails, it is staged once more, and RuntimeError is raised if there is no room, here or by `settle`.
    """
    key = wire.upload_key()
    try:
        wait = wire.transport.stage(key, array)
    except _FAILURES:
        return _stage(wire, array)

    def arrive() -> str:
        try:
            with wire.patience():
                wait()
        except _FAILURES:
            return _stage(wire, array).key
        return key

    return StagedUpload(key, arrive, kept)
