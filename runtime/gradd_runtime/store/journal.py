"""A session's journal: `append` must return before the reply leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Record(NamedTuple):
    """One applied frame: its position, its writer, its outcome."""

    position: int
    writer: int
    seq: int
    digest: bytes
    frame: bytes
    outcome: str


class Store(Protocol):
    """A session's journal."""

    def append(self, record: Record) -> None:
        """Keep a record; raises OSError when it cannot."""

    def records(self) -> Sequence[Record]:
        """The records, in order of position."""
        ...


class MemoryStore:
    """Keeps the latest records in memory, without the frames (durability ``memory``)."""

    def __init__(self, keep: int = 1024) -> None:
        self._keep = keep
        self._records: list[Record] = []

    def append(self, record: Record) -> None:
        """Keep the record without its bytes; the oldest are dropped."""
        self._records.append(record._replace(frame=b""))
        if len(self._records) > self._keep:
            del self._records[: -self._keep]

    def records(self) -> Sequence[Record]:
        """The records kept."""
        return tuple(self._records)
