"""The record of a session: an entry for every frame that changed it, in the order in which they were run."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec
from gradd_protocol.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradd_protocol.frames import Bytes


class Damaged(Exception):
    """A record cannot be read, or does not say what happened: its session is not to be made from it."""


class Trouble(msgspec.Struct, frozen=True, omit_defaults=True):
    """What kept a frame from being applied in whole."""

    problem: Problem | None = None
    refused: list[tuple[int, int, int]] = []
    """What there was no memory for, which no repetition would tell: see `gradd_engine.data.Account`."""
    stopped: int | None = None
    """Where a batch was that was asked to stop, see `Account.look`: before its first step (0) or before
    another (negative), or when it asked for memory.
    """


class Diverged(Damaged):
    """A frame comes to something else than it came to under the kernels that had run it."""


class Entry(NamedTuple):
    """A frame that changed the session, and what came of it."""

    n: int
    """Its place; the first is 1, and there are no gaps."""
    frame: Bytes
    outcome: str
    """``applied``, ``skipped``, or the slug of the problem."""
    reply: int = 0
    """CRC-32 of the reply that is stored under a number or a key, else 0."""
    messages: int = 0
    round_trips: int = 0
    """The session's counts by then: requests that only read are in no entry."""
    trouble: Trouble | None = None


class Store(Protocol):
    """Where a session's record is kept."""

    def append(self, entry: Entry) -> None:
        """Keep an entry: when this returns it is as safe as the store's level promises. Raises OSError or
        sqlite3.Error where it cannot; then the entry may or may not be there when the store is opened again.
        """

    def entries(self) -> Iterable[Entry]:
        """The entries, in order, each frame in memory of its own. Raises Damaged where one cannot be read."""

    def probe(self) -> None:
        """Raises as `append` does where nothing can be written at all."""

    def close(self) -> None:
        """Let go of what the store has open."""


class MemoryStore:
    """Keeps the latest entries without their frames, to be looked at; survives nothing (level ``memory``)."""

    def __init__(self, keep: int = 64) -> None:
        self._entries: deque[tuple[Any, ...]] = deque(maxlen=keep)

    def append(self, entry: Entry) -> None:
        """See Store.append."""
        self._entries.append((entry.n, b"", *entry[2:]))

    def entries(self) -> Iterable[Entry]:
        """The latest entries, without their frames."""
        return tuple(map(Entry._make, self._entries))

    def probe(self) -> None:
        """See Store.probe."""

    def close(self) -> None:
        """See Store.close."""
