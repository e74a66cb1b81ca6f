"""Who writes to a session, and the rules of sequence numbers: a state machine that runs nothing.

A batch with ``seq == last + 1`` is consumed whatever its outcome; one at or below ``last`` is answered with
its stored reply; a gap is refused. After batch n failed, its writer's batches with ``ack < n`` are skipped:
they were sent before their writer knew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError


@dataclass(slots=True)
class Writer:
    """One writer: highest consumed seq, replies it has not acknowledged, the failure it has not seen."""

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
        """The stored reply to a batch seen before, None for a new one; refuses gaps and reuse with another
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
        """window-exceeded (409) where batch `seq`, which acknowledges `ack`, would be one too many."""
        waiting = seq - 1 - max(self.ack, min(ack, seq - 1))
        if waiting >= DEFAULT.window_batches:
            raise ProtocolError.of(
                "window-exceeded",
                f"{waiting} batches of writer {self.id} are not acknowledged",
                limit=DEFAULT.window_batches,
            )

    def store(self, seq: int, digest: bytes, reply: bytes) -> None:
        """Keep a batch's reply until it is acknowledged."""
        self.replies[seq] = digest, reply
        self.held += len(reply)

    def consume(self, seq: int, ack: int) -> bool:
        """Count the batch as consumed; True when it is to be run, False when it is to be skipped."""
        self.last = seq
        if ack > self.ack:
            self.ack = min(ack, seq - 1)
            for old in [s for s in self.replies if s <= self.ack]:
                self.held -= len(self.replies.pop(old)[1])
        if self.failed is not None:
            if self.ack < self.failed:
                return False
            self.failed = None
        return True
