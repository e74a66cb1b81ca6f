"""What a request does to its session, from where it begins to change it until that is recorded."""

from __future__ import annotations

import errno
import sqlite3
import zlib
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_protocol import messages as m
from gradd_protocol.problems import Problem, problem

from ..store import Entry, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradd_engine.data import Account
    from gradd_protocol import frames

#: the requests that may change a session: those that do are recorded. The others only read.
RECORDED: frozenset[type[Any]] = frozenset(
    {
        m.Attach, m.Acquire, m.Batch, m.JsonBatch, m.BackwardJson, m.PutTensor, m.PutJson, m.DeleteTensor,
        m.PutHook, m.DeleteHook, m.Stage,
    }
)  # fmt: skip


class Change(msgspec.Struct, eq=False):
    """One request under way. Who runs it says where it begins to change something, and what came of it."""

    begun: bool = False
    skipped: bool = False
    problem: Problem | None = None
    #: the reply that is to be stored
    reply: bytes = b""
    #: what stores it, called once the change is recorded
    keep: Callable[[], None] | None = None

    def entry(self, n: int, frame: frames.Bytes, counts: dict[str, int], account: Account) -> Entry:
        """The record of it."""
        found, trouble = self.problem, None
        outcome = "skipped" if self.skipped else "applied"
        if found is not None or account.refused or account.halted is not None:
            refused = list(account.refused)
            if found is not None:
                outcome = found.slug
                if found.slug == "quota-exceeded" and found.requested is None:
                    refused.append((account.asked, 0, 0))  # the machine's memory, where it was asked for last
            trouble = Trouble(found, refused, account.halted)
        reply = zlib.crc32(self.reply)
        return Entry(n, frame, outcome, reply, counts["messages"], counts["round_trips"], trouble)


def unkept(error: Exception) -> Problem:
    """What to answer from here on, where an entry could not be kept."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT):
        return problem(
            "disk-full", "the session's store has no room for a record of the request", retry_after=1
        )
    return problem(
        "store-failed", "the session's store could not keep a record of the request; try again", retry_after=1
    )
