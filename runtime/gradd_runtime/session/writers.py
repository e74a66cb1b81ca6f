"""A session's writers, and the rules of sequence numbers: a state machine without I/O.

A batch with ``seq == last + 1`` is consumed whatever its outcome; one at or below ``last`` gets its stored
reply; a gap is refused. After batch n fails, its writer's batches with ``ack < n`` are skipped, since they
were sent before the writer knew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradd_engine.data import OutOfQuota
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError

from ..program import over_quota

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradd_engine.data import Account

#: approximate bytes of a writer
WRITER_BYTES = 1000


@dataclass(slots=True)
class Writer:
    """One writer: highest consumed seq, unacknowledged replies, the failure it has not seen."""

    id: int
    last: int = 0
    ack: int = 0
    failed: int | None = None
    position: int = 0
    replies: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)
    pinned: dict[str, int] = field(default_factory=dict)
    #: bytes of `replies`
    held: int = 0

    def stored(self, seq: int, digest: bytes) -> bytes | None:
        """The stored reply to a repeated batch, None for a new one; refuses gaps and reuse with another
        body.
        """
        if seq > self.last:
            if seq != self.last + 1:
                raise ProtocolError.of(
                    "sequence-gap",
                    f"writer {self.id} sent batch {seq} after batch {self.last}",
                    expected_seq=self.last + 1,
                )
            return None
        found = self.replies.get(seq)
        if found is None:
            raise ProtocolError.of(
                "reply-expired",
                f"batch {seq} was applied and its reply acknowledged",
                expected_seq=self.last + 1,
            )
        if found[0] != digest:
            raise ProtocolError.of(
                "sequence-conflict",
                f"batch {seq} was sent before with another body",
                expected_seq=self.last + 1,
            )
        return found[1]

    def check_window(self, seq: int, ack: int) -> None:
        """window-exceeded (409) if batch `seq`, which acknowledges `ack`, would be one too many, or the
        replies that it does not acknowledge are too many bytes.
        """
        if ack >= seq - 1:  # none waits
            return
        read = max(self.ack, ack)
        waiting = seq - 1 - read
        if waiting >= DEFAULT.window_batches:
            raise ProtocolError.of(
                "window-exceeded",
                f"{waiting} batches of writer {self.id} are not acknowledged",
                limit=DEFAULT.window_batches,
            )
        if self.held > DEFAULT.window_bytes:
            held = sum(len(reply) for n, (_, reply) in self.replies.items() if n > read)
            if held > DEFAULT.window_bytes:
                raise ProtocolError.of(
                    "window-exceeded",
                    f"{held} bytes of replies to writer {self.id} are not acknowledged",
                    limit=DEFAULT.window_bytes, used=held,
                )  # fmt: skip

    def store(self, seq: int, digest: bytes, reply: bytes) -> None:
        """Keep a batch's reply until it is acknowledged."""
        self.replies[seq] = digest, reply
        self.held += len(reply)

    def consume(self, seq: int, ack: int) -> bool:
        """Count the batch as consumed; True to run it, False to skip it."""
        self.last = seq
        if ack > self.ack:
            if ack >= seq - 1:  # all that there are
                self.ack, self.held = seq - 1, 0
                self.replies.clear()
            else:
                self.ack = ack
                for old in [s for s in self.replies if s <= ack]:
                    self.held -= len(self.replies.pop(old)[1])
        if self.failed is not None:
            if self.ack < self.failed:
                return False
            self.failed = None
        return True


class Writers:
    """The writers of a session's epoch, charged to the account. Numbers are never reused. The first `epoch`
    tells the session from another of the same name.
    """

    def __init__(self, account: Account, epoch: int = 1) -> None:
        self.epoch = epoch
        self._account = account
        self._writers: dict[int, Writer] = {}
        self._next = 1

    def __len__(self) -> int:
        return len(self._writers)

    def __contains__(self, id: int) -> bool:
        return id in self._writers

    def __getitem__(self, id: int) -> Writer:
        return self._writers[id]

    def __iter__(self) -> Iterator[Writer]:
        return iter(self._writers.values())

    @property
    def next(self) -> int:
        """The number of the next writer."""
        return self._next

    def restore(self, epoch: int, next: int, writers: Iterable[Writer]) -> None:
        """Be as other writers were."""
        self.epoch, self._next = epoch, next
        self._writers = {w.id: w for w in writers}
        self._account.charge(sum(w.held + WRITER_BYTES for w in self._writers.values()))

    def add(self, position: int) -> Writer:
        """A new writer, which knows all changes up to `position`. Raises ProtocolError: quota-exceeded
        (507).
        """
        try:
            self._account.admit(WRITER_BYTES)
        except OutOfQuota as error:
            raise ProtocolError(over_quota(error)) from None
        writer = self._writers[self._next] = Writer(self._next, position=position)
        self._next += 1
        return writer

    def find(self, id: int, epoch: int) -> Writer:
        """A writer of this epoch. Raises ProtocolError: writer-fenced or writer-unknown (409)."""
        if epoch != self.epoch:
            raise ProtocolError.of(
                "writer-fenced",
                f"the session is at epoch {self.epoch}, the writer at {epoch}",
                epoch=self.epoch,
            )
        return self._known(id)

    def reply(self, id: int, seq: int) -> bytes:
        """The stored reply frame of a batch. Raises ProtocolError: writer-unknown, reply-expired or
        batch-not-found.
        """
        writer = self._known(id)
        found = writer.replies.get(seq)
        if found is None:
            slug = "reply-expired" if seq <= writer.last else "batch-not-found"
            raise ProtocolError.of(slug, f"writer {id} has no stored reply to batch {seq}")
        return found[1]

    def _known(self, id: int) -> Writer:
        writer = self._writers.get(id)
        if writer is None:
            raise ProtocolError.of("writer-unknown", f"the session has no writer {id}")
        return writer

    def fence(self) -> None:
        """Begin the next epoch, with no writers."""
        self.epoch += 1
        self._account.charge(-sum(w.held + WRITER_BYTES for w in self._writers.values()))
        self.clear()

    def clear(self) -> None:
        """Forget all, without changing the account."""
        self._writers.clear()
