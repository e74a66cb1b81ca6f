"""The transport interface: bytes to one session and back. Users may plug in their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_protocol.frames import Array, Part
    from gradd_protocol.messages import Attached, Reply, Request


class Dropped(Exception):
    """The connection is gone; `reconnect` may bring it back. Never leaves the SDK."""


class Silent(Dropped):
    """The daemon takes connections and says nothing, for so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it said nothing for {seconds:g} s")


class Transport(Protocol):
    """Carries frames to one session. Replies to `send` come in its order."""

    # A protocol's members have no code; `...` stands where a type checker would miss what is returned.

    def attach(self, resume: tuple[int, int] | None = None) -> Attached:
        """Connect (again) and become a writer, or go on as (writer, epoch). Raises ConnectionFailed."""
        ...

    def send(self, parts: Sequence[Part], seq: int) -> None:
        """Send one batch frame; does not wait for its reply. Raises Dropped."""

    def receive(self, block: bool) -> bytes | None:
        """The next reply; None when there is none yet and `block` is False. Raises Dropped."""
        ...

    def request(self, message: Request, buffers: Sequence[Array] = ()) -> tuple[Reply, list[Array]]:
        """Ask something outside the order of batches and wait for the answer. Raises Dropped."""
        ...

    def delete(self, within: float | None = None) -> None:
        """Delete the session on the server; wait for it for so many seconds at most, where that is said."""

    def close(self) -> None:
        """Close the connection; the session stays."""
