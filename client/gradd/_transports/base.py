"""The transport interface: bytes to a session and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from email.message import Message
    from pathlib import Path

    from gradd_protocol.frames import Array, Part
    from gradd_protocol.messages import Attached, Reply, Request, SnapshotInfo


#: statuses of a proxy that does not reach the daemon
PROXIES = frozenset({429, 502, 503, 504})


class Dropped(Exception):
    """The connection was lost; attaching again may restore it. Never leaves the SDK."""


class Silent(Dropped):
    """The daemon accepts connections but does not respond within the given seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it said nothing for {seconds:g} s")


class Overdue(Exception):
    """The time is over that a script waits (see `waits.within`). Never leaves the SDK."""


class Glance(NamedTuple):
    """A session at some moment: its tensors, their bytes, and how many of its batches ran as plans or not."""

    tensors: int
    bytes: int
    planned: int
    eager: int


class Member(NamedTuple):
    """A session in `Transport.reduce`: its name, the ids of what it gives, and the keys of what it gets."""

    session: str
    tensors: list[str]
    uploads: list[str]


def extensions_of(headers: Mapping[str, str] | Message) -> frozenset[str]:
    """What a daemon says that it takes besides what all do."""
    return frozenset(headers.get("Gradd-Extensions", "").replace(",", " ").split())


class SnapshotShelf(Protocol):
    """The snapshots of a session that were taken by hand."""

    def take(self) -> SnapshotInfo:
        """Take one, which the daemon keeps."""

    def save(self, path: Path) -> SnapshotInfo:
        """Take one as a file of this machine."""

    def all(self) -> list[SnapshotInfo]:
        """Those that the daemon keeps, the latest first."""

    def delete(self, id: str) -> None:
        """Delete one, if the daemon has it."""

    def begin(self, at: SnapshotInfo | Path) -> None:
        """Create the session, which begins at a snapshot."""


class Transport(Protocol):
    """Carries frames to one session. Replies come in the order of `send`."""

    @property
    def extensions(self) -> frozenset[str]:
        """What the daemon takes besides what all do, as it said at the latest `attach`."""

    @property
    def far(self) -> bool:
        """Whether an answer may take long to come, however soon it is given."""

    @property
    def snapshots(self) -> SnapshotShelf:
        """The session's snapshots that are taken by hand."""

    def attach(self, resume: tuple[int, int] | None = None) -> Attached:
        """Connect (again) and become a writer, or resume as (writer, epoch). Raises ConnectionFailed."""

    def send(self, parts: Sequence[Part], seq: int) -> None:
        """Send one batch frame; does not wait for its reply. Raises Dropped."""

    def receive(self, block: bool) -> bytes | None:
        """The next reply; None if there is none yet and `block` is False. Raises Dropped."""

    def coming(self, told: Callable[[], None]) -> int | None:
        """For who waits otherwise than by `receive`, of which a reply is under way: `told` is called once or
        more, by any thread, where it may be there. So may it where the descriptor that is returned is
        readable, which the caller closes. Raises Dropped.
        """

    def doubt(self) -> None:
        """Nothing came for half of the longest silence, for who waits so: probe the daemon, without waiting.
        Raises Dropped where it did not answer the last time.
        """

    def request(self, message: Request, buffers: Sequence[Array] = ()) -> tuple[Reply, list[Array]]:
        """Send a request outside the order of batches and wait for the reply. Raises Dropped."""

    def stage(self, key: str, array: Array) -> Callable[[], None]:
        """Send a large array ahead of its batch. The function that is returned waits until the session has
        it, and may send it again: the array is not to change until then. Both raise as `request` does.
        """

    def reduce(self, mean: bool, members: Sequence[Member]) -> None:
        """Add what sessions give, in their order, or take the mean, and stage the results in sessions, of
        which this one is of the same daemon. Raises as `request` does; the same may be asked for again.
        """

    def cancel(self, writer: int, seq: int) -> None:
        """Stop the batches of that writer up to number `seq`, those that arrived. Any thread may, at any
        time. Raises Dropped.
        """

    def glance(self) -> Glance | None:
        """What is known of the session, as of the last second; None where nothing is, or not within seconds.
        Changes nothing.
        """

    def place(self, device: str) -> None:
        """Create the session on that device, or find it there. Raises ServerError where that cannot be."""

    def delete(self, within: float | None = None) -> None:
        """Delete the session on the server; wait at most `within` seconds, if given."""

    def close(self) -> None:
        """Close the connection; the session stays."""
