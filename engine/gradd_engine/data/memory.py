"""Bytes are taken from an account before they are allocated, and given back when a storage dies."""

from __future__ import annotations

import gc
import time
import weakref
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: what a tensor's objects take beside its elements, and a node of a graph, about (measured with tracemalloc)
TENSOR_BYTES, NODE_BYTES = 500, 850
#: bytes of what is not elements (objects, replies, programs) that a session may hold before they count
FREE_BYTES = 4 << 20

#: what is limited by number, and under which of `Account.decided` its refusal is
COUNTED = {"tensors": -(1 << 40), "graph nodes": -(1 << 40) - 1}
#: references to `Account.graphs` without a node
_NO_NODES = 2


class OutOfQuota(RuntimeError):
    """An allocation would pass a limit: the account's own, or of whoever else ``whose`` says. Members:
    ``requested``, ``used``, ``limit``, of ``what`` (bytes).
    """

    def __init__(
        self, requested: int, used: int, limit: int, whose: str = "session", what: str = "bytes"
    ) -> None:
        super().__init__(
            f"out of memory: tried to allocate {requested} {what}; {used} of the {whose}'s {limit} {what} "
            "are in use"
        )
        self.whose, self.what = whose, what
        self.requested = requested
        self.used = used
        self.limit = limit


class DeviceFull(MemoryError):
    """A device has no memory left, though the account had room: others use it too, or it lies in pieces."""

    def __init__(self, requested: int, used: int, limit: int) -> None:
        super().__init__(
            f"out of memory: tried to allocate {requested} bytes; {used} of the {limit} bytes that the GPU "
            "has are in use"
        )


class Halted(BaseException):
    """A run stopped because it was asked to. ``reason``: what `Account.halts` said. No Exception, so that
    nothing takes it for the failure of an op.
    """

    def __init__(self, reason: Any) -> None:
        super().__init__(reason)
        self.reason = reason


class Ledger(Protocol):
    """Asked before memory is taken for a moment; may refuse."""

    def afford(self, nbytes: int, results: int = 0) -> None:
        """Raise OutOfQuota where there is no room for `nbytes` more beside `results` about to be made."""


class Account:
    """A byte counter with a limit. The tensors of a session share one account.

    ``used`` are the bytes of tensors, ``other`` those of replies, pins, uploads and programs. Storages refer
    to the account and nodes to ``graphs``: refcounts say how many there are, so `take` stays cheap.

    When references die is not the same from run to run, so what was refused is noted (``refused``, by
    ``asked``), and a run that repeats another is refused what that one was (``decided``).

    A run that is asked to stop by another thread is refused the next bytes it asks for: `alarm` costs a run
    that is not asked to stop nothing. Where, is noted likewise (``halted``).
    """

    __slots__ = (
        "_ceiling", "_elsewhere", "_limit", "_whose", "asked", "brim", "decided", "free", "graphs", "halted",
        "halts", "heeds", "other", "peak", "refused", "used",
    )  # fmt: skip

    def __init__(self, limit: int) -> None:
        #: of `FREE_BYTES`
        self.free = FREE_BYTES
        self.limit = limit
        #: what is compared with: the ceiling, or less where there is something to look at
        self.brim = limit
        self.used = 0
        self.other = 0
        self.peak = 0
        #: what nodes refer to
        self.graphs = object()
        #: how often it was asked for bytes since `begin`
        self.asked = 0
        #: what it refused since then: (asked, bytes requested, bytes in use)
        self.refused: list[tuple[int, int, int]] = []
        #: what it has to refuse instead, and nothing else; by `asked`, or as in `look`
        self.decided: dict[int, BaseException] | None = None
        #: says why the run is to stop, if it is
        self.halts: Callable[[], Any] = lambda: None
        #: whether the run may stop now
        self.heeds = False
        #: where it did since `begin`: `asked`, or as in `look`
        self.halted: int | None = None

    @property
    def limit(self) -> int:
        """Most bytes that may be held."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self.release()

    def confine(self, room: int, used: int, whose: str) -> None:
        """Until `release`, refuse more than `room` bytes beside what is held, though the limit is farther:
        that of `whose` would be passed, who has `used` bytes in use, with those of this account.
        """
        self.free = 0
        held = self.whole
        self.brim = self._ceiling = held + room
        self._elsewhere, self._whose = used - held, whose

    @property
    def confined(self) -> bool:
        """Whether `confine` holds."""
        return not self.free

    def release(self) -> None:
        """Refuse what passes the limit, and nothing else."""
        self.free = FREE_BYTES
        self.brim = self._ceiling = self._limit
        self._elsewhere, self._whose = 0, "session"

    def begin(self) -> None:
        """Count from here what is asked for and what is refused."""
        self.asked = 0
        self.halted = None
        if self.refused:
            self.refused = []

    def alarm(self) -> None:
        """From any thread: what runs is to ask `halts`, when it asks for bytes or looks."""
        self.brim = -1

    def look(self, at: int) -> None:
        """Stop here, raising Halted, if that is asked for. Called where `brim` is negative. `at`: `asked`; or
        else, negative or 0, a place that the run comes to once.
        """
        if self.decided is not None:
            refusal = self.decided.get(at)
            if refusal is not None:
                raise refusal
            return
        self.brim = self._ceiling
        reason = self.halts() if self.heeds else None
        if reason is not None:
            self.halted = at
            raise Halted(reason)

    def _over(self, nbytes: int, held: int) -> None:
        """The brim would be passed. Raises, unless it is decided that this one is not refused."""
        if self.brim != self._ceiling:
            self.look(self.asked)
            if self.decided is not None or held + nbytes <= self._ceiling:
                return
        held += self._elsewhere
        self.refused.append((self.asked, nbytes, held))
        raise OutOfQuota(nbytes, held, self._ceiling + self._elsewhere, self._whose)

    def allow(self, what: str, more: int, used: int, limit: int) -> None:
        """Raise OutOfQuota where `more` beside the `used` of `COUNTED` would pass a limit. Called once in a
        run for each; counts nothing.
        """
        at = COUNTED[what]
        if self.decided is not None:
            refusal = self.decided.get(at)
            if refusal is not None:
                raise refusal
        elif used + more > limit:
            self.refused.append((at, more, used))
            raise OutOfQuota(more, used, limit, what=what)

    @property
    def nodes(self) -> int:
        """Nodes of graphs."""
        return max(0, getrefcount(self.graphs) - _NO_NODES)

    def take(self, nbytes: int) -> None:
        """Count `nbytes`; raises OutOfQuota and counts nothing where the limit would be passed.

        Storages may die between any two lines, in a collection or in another thread: what is held is read
        and written in one.
        """
        self.asked += 1
        beside = (
            self.other + TENSOR_BYTES * getrefcount(self) + NODE_BYTES * getrefcount(self.graphs) - self.free
        )
        if self.used + nbytes + (beside if beside > 0 else 0) > self.brim:
            self._over(nbytes, self.held)
        self.used = used = self.used + nbytes
        if used > self.peak:
            self.peak = used

    def take_all(self, sizes: Iterable[int]) -> None:
        """`take` several at once, or none."""
        self.take(sum(sizes))

    def count(self, nbytes: int) -> None:
        """`take` where there is room for certain."""
        self.used = used = self.used + nbytes
        if used > self.peak:
            self.peak = used

    def give(self, nbytes: int) -> None:
        """Return bytes taken before."""
        self.used -= nbytes

    @property
    def held(self) -> int:
        """All that counts against the limit."""
        beside = (
            self.other + TENSOR_BYTES * getrefcount(self) + NODE_BYTES * getrefcount(self.graphs) - self.free
        )
        return self.used + (beside if beside > 0 else 0)

    @property
    def whole(self) -> int:
        """All that is held, also what is free."""
        beside = self.other + TENSOR_BYTES * getrefcount(self) + NODE_BYTES * getrefcount(self.graphs)
        return self.used + beside

    def afford(self, nbytes: int, results: int = 0) -> None:
        """Raise OutOfQuota where `nbytes` more, for a moment, beside `results` would pass the limit; counts
        nothing.
        """
        self.asked += 1
        held = self.held
        if held + nbytes + results > self.brim:
            self._over(nbytes + results, held)

    def has_room(self, nbytes: int) -> bool:
        """`afford` as a question."""
        try:
            self.afford(nbytes)
        except OutOfQuota:
            return False
        return True

    def admit(self, nbytes: int) -> None:
        """`take` for what is not a tensor."""
        self.asked += 1
        self.other += nbytes
        if self.held > self.brim:
            self.other -= nbytes
            self._over(nbytes, self.held)
            self.other += nbytes

    def charge(self, nbytes: int) -> None:
        """Count bytes (or, if negative, return them) of what is not a tensor and is there already."""
        self.other += nbytes


class BlockAccount(Account):
    """One that counts what an allocator takes which gives out multiples of `block` bytes."""

    __slots__ = ("_block",)

    def __init__(self, limit: int, block: int) -> None:
        super().__init__(limit)
        self._block = block

    def _cost(self, nbytes: int) -> int:
        return -(-nbytes // self._block) * self._block

    def take(self, nbytes: int) -> None:
        """See Account.take."""
        Account.take(self, -(-nbytes // self._block) * self._block)

    def take_all(self, sizes: Iterable[int]) -> None:
        """See Account.take_all."""
        Account.take(self, sum(map(self._cost, sizes)))

    def count(self, nbytes: int) -> None:
        """See Account.count."""
        Account.count(self, self._cost(nbytes))

    def give(self, nbytes: int) -> None:
        """See Account.give."""
        Account.give(self, -(-nbytes // self._block) * self._block)

    def afford(self, nbytes: int, results: int = 0) -> None:
        """See Account.afford."""
        Account.afford(self, self._cost(nbytes), self._cost(results))


class Lease:
    """Bytes of an account, given back when their holder dies."""

    __slots__ = ("_account", "_nbytes")

    def __init__(self, account: Account, nbytes: int) -> None:
        self._account = account
        self._nbytes = nbytes

    def __del__(self) -> None:
        self._account.give(self._nbytes)


class _Cycle:
    """Garbage that only a collection finds."""

    __slots__ = ("__weakref__", "_itself")

    def __init__(self) -> None:
        self._itself = self


def collect() -> None:
    """Give back all bytes that nothing but cycles holds.

    `gc.collect` returns at once, and has collected nothing, while another thread is in a collection; this
    waits for that one and collects then.
    """
    left = 2  # the other's may find the first mark before it comes to what it gives back
    while left:
        mark = weakref.ref(_Cycle())
        gc.collect()
        if mark() is None:
            left -= 1
        else:  # a new mark, since `gc.freeze` in another thread keeps this one for good
            time.sleep(0)
