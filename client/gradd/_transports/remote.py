"""What the stream and http transports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import json

from .control import Control
from .snapshots import RemoteShelf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradd_protocol import frames
    from gradd_protocol import messages as m

    from .base import Glance, Member


class Remote:
    """Base of the stream and http transports: all but batches goes over `Control`."""

    far = False

    def __init__(self, url: str, session: str, token: str | None) -> None:
        self._control = Control(url, session, token)
        self.snapshots = RemoteShelf(self._control)
        self.extensions: frozenset[str] = frozenset()

    def request(
        self, message: m.Request, buffers: Sequence[frames.Array] = ()
    ) -> tuple[m.Reply, list[frames.Array]]:
        """See Transport.request."""
        return self._control.request(message, buffers)

    def stage(self, key: str, array: frames.Array) -> Callable[[], None]:
        """See Transport.stage."""
        return self._control.stage(key, array)

    def reduce(self, mean: bool, members: Sequence[Member]) -> None:
        """See Transport.reduce."""
        self._control.reduce(mean, members)

    def cancel(self, writer: int, seq: int) -> None:
        """See Transport.cancel."""
        self._control.cancel(writer, seq)

    def glance(self) -> Glance | None:
        """See Transport.glance."""
        return self._control.glance()

    def place(self, device: str) -> None:
        """See Transport.place."""
        self._control.call("PUT", "", json.encode({"device": device}))

    def delete(self, within: float | None = None) -> None:
        """See Transport.delete."""
        self._control.delete(within)

    def close(self) -> None:
        """See Transport.close."""
        self._drop()
        self._control.close()

    def _drop(self) -> None:
        """Drop the connection that batches use."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its batches travel")
