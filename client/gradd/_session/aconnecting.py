"""`aconnect`: a session for tasks of an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .awaiting import connecting
from .connecting import address, opened
from .session import Session
from .threads import in_thread

if TYPE_CHECKING:
    import os
    from collections.abc import Generator

    from gradd_engine.data import Device
    from gradd_protocol.messages import SnapshotInfo


class Connecting:
    """What `aconnect` returns: to be awaited, or to be entered with ``async with``."""

    def __init__(
        self, url: str | None, session: str | None, token: str | None, transport: str,
        reconnect: float | None, from_snapshot: SnapshotInfo | str | os.PathLike[str] | None,
        timeout: float | None, device: str | Device | None,
    ) -> None:  # fmt: skip
        self._how = (url, session, token, transport, reconnect, from_snapshot, timeout, device)
        self._made: Session | None = None

    def __await__(self) -> Generator[object, None, Session]:
        return self._open().__await__()

    async def __aenter__(self) -> Session:
        self._made = await self._open()
        return self._made

    async def __aexit__(self, *exc: object) -> None:
        assert self._made is not None
        await self._made.__aexit__(*exc)

    async def _open(self) -> Session:
        async with connecting(address(self._how[0])):
            made = await in_thread(lambda: opened(*self._how), Session.abandon)
        made.wire.leaves = True
        made.enter()
        return made


def aconnect(
    url: str | None = None, session: str | None = None, token: str | None = None, transport: str = "stream",
    reconnect: float | None = None, from_snapshot: SnapshotInfo | str | os.PathLike[str] | None = None,
    timeout: float | None = None, device: str | Device | None = None,
) -> Connecting:  # fmt: skip
    """Connect to a session within an event loop, and make it current in this task and in those that it
    creates: ``async with gradd.aconnect(...) as session``, or ``session = await gradd.aconnect(...)``.

    Parameters and errors are those of `connect`. What waits is awaited: `Tensor.anumpy`, `aitem`, `atolist`,
    `Session.aflush`, `aclose`.
    """
    return Connecting(url, session, token, transport, reconnect, from_snapshot, timeout, device)
