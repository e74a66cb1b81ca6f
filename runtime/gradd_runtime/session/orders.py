"""What a session's batches are asked to stop for, by other threads than the one that runs them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec
from gradd_protocol.problems import Problem

if TYPE_CHECKING:
    from gradd_engine.data import Account


WRITERS = 64
"""Of so many writers a session remembers what was called off before it came."""


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """Batches that are to stop, or not to begin: those in the requests from number `first` to `last`, of one
    writer (0: those without) or of all, and up to its own number `seq`. They fail with `problem`.
    """

    first: int
    last: int
    problem: Problem
    writer: int | None = None
    seq: int | None = None

    def means(self, request: int, writer: int, seq: int) -> bool:
        """Whether this is one of them."""
        return (
            self.first <= request <= self.last
            and self.writer in (None, writer)
            and (self.seq is None or seq <= self.seq)
        )


class Orders:
    """The orders to a session. Its requests have numbers, which rise."""

    __slots__ = ("_account", "_changing", "_given", "_off", "_request", "_seq", "_writer")

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._given: list[Order] = []
        #: by writer: up to which number no batch is to begin, whenever it comes, and why
        self._off: dict[int, tuple[int, Problem]] = {}
        self._account: Account | None = None
        self._request = self._writer = self._seq = 0

    def give(self, order: Order) -> None:
        """From any thread: a batch that runs stops where it takes memory next, or at its next step; one that
        is to come is not begun.
        """
        with self._changing:
            given = self._given
            if order.seq is not None and order.writer is not None:
                # Who is asked to stop may overtake what is to be stopped.
                self._off.pop(order.writer, None)
                self._off[order.writer] = order.seq, order.problem
                if len(self._off) > WRITERS:
                    del self._off[next(iter(self._off))]
            if given and msgspec.structs.replace(given[-1], last=order.last) == order:
                given[-1] = order
            else:
                given.append(order)
        account = self._account
        if account is not None:
            account.alarm()

    def to(self, account: Account | None) -> None:
        """They are for the session of this account from now on, or for none."""
        self._account = account
        if account is not None:
            account.halts = self._due

    def request(self, number: int) -> None:
        """This request is next."""
        self._request = number
        if self._given:
            with self._changing:
                self._given = [order for order in self._given if order.last >= number]

    def begin(self, account: Account, writer: int, seq: int) -> None:
        """A batch of that writer begins. Raises Halted if it is not to."""
        self._writer, self._seq = writer, seq
        account.heeds = True
        if self._given or self._off:
            if self._off.get(writer, (seq,))[0] < seq:
                del self._off[writer]
            account.alarm()
        if account.brim < 0:
            account.look(0)

    def _due(self) -> Problem | None:
        """Why the batch that runs is to stop, if it is."""
        for order in self._given:
            if order.means(self._request, self._writer, self._seq):
                return order.problem
        seq, problem = self._off.get(self._writer, (-1, None))
        return problem if self._seq <= seq else None
