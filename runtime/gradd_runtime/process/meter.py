"""What an engine process counts for those who watch it: a few additions for each frame, sums when somebody
asks. Nothing here is part of a session, nor of what a replay does.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from ..store import Damaged, FileStore
from .budgets import Budgets

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gradd_protocol.frames import Bytes, Part

    from ..session import Session
    from ..store import Entry

SECONDS = (
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 30.0,
)  # fmt: skip
"""Upper bounds of the classes of `Durations`; the last class has none."""


RECENT = 20
"""Sessions that `Figures` names."""


class Durations(msgspec.Struct):
    """How often something took how long."""

    #: by class
    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    #: in all
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """One that took `seconds`."""
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.seconds += seconds


class TenantFigures(msgspec.Struct):
    """What a tenant has in a process, and what it has had computed there."""

    sessions: int = 0
    #: bytes that count against the quotas of its sessions
    bytes: int = 0
    batches: int = 0
    #: of the engine
    seconds: float = 0.0


class SessionFigures(msgspec.Struct):
    """A session that is awake."""

    #: what the placement calls it, see `names.keyed`
    key: str
    tensors: int
    bytes: int
    #: seconds since it answered last
    idle: float
    #: see `counts_of`, since this process has it
    counts: dict[str, int]


class Figures(msgspec.Struct):
    """The state and the counts of an engine process; counts since it began, over all sessions it has had."""

    #: sessions by state: awake, asleep, recovering, refused
    sessions: dict[str, int]
    #: see `counts_of`
    counts: dict[str, int]
    tenants: dict[str, TenantFigures]
    #: what frames waited, batches took, and appends to records took of that
    queue: Durations
    execution: Durations
    journal: Durations
    journal_bytes: int = 0
    tensors: int = 0
    #: bytes that count against the sessions' quotas, and these quotas together
    bytes: int = 0
    quota: int = 0
    #: the `RECENT` that answered last, the latest first
    recent: list[SessionFigures] = []


class Meter:
    """The counts of one engine process."""

    def __init__(self, budgets: Budgets | None = None) -> None:
        #: what its sessions may hold
        self.budgets = budgets or Budgets()
        self.queue, self.execution, self.journal = Durations(), Durations(), Durations()
        self.journal_bytes = 0
        self.tenants: dict[str, TenantFigures] = {}
        #: what sessions did that are not held any more
        self.past: Counter[str] = Counter()

    def tenant(self, name: str) -> TenantFigures:
        """The counts of the tenant `name`."""
        return self.tenants.setdefault(name, TenantFigures())

    def ran(self, tenant: TenantFigures, batches: int, seconds: float) -> None:
        """A session of the tenant's ran for so long, so many batches."""
        if batches:
            self.execution.add(seconds)
            tenant.batches += batches
        tenant.seconds += seconds

    def figures(self) -> Figures:
        """The counts, without what the present sessions add to them."""
        for tenant in self.tenants.values():
            tenant.sessions = tenant.bytes = 0
        states = dict.fromkeys(("awake", "asleep", "recovering", "refused"), 0)
        return Figures(
            states, dict(self.past), self.tenants, self.queue, self.execution, self.journal,
            self.journal_bytes,
        )  # fmt: skip


class Fence(Protocol):
    """What makes a record this process's alone."""

    def check(self) -> None:
        """Raise LeaseLost where it is somebody else's by now."""


class MeteredStore(FileStore):
    """A record whose appends are counted, and fail where the `lease` is lost, if it has one."""

    def __init__(self, path: Path, level: str, meter: Meter, lease: Fence | None = None) -> None:
        super().__init__(path, level)
        self._meter, self._lease = meter, lease

    def _check(self) -> None:
        if self._lease is not None:
            self._lease.check()

    def append(self, entry: Entry) -> None:
        """See Store.append."""
        began = perf_counter()
        self.keep(entry)
        meter = self._meter
        meter.journal.add(perf_counter() - began)
        meter.journal_bytes += len(entry.frame)

    def keep(self, entry: Entry) -> None:
        """Append an entry, by which the record is still this process's."""
        try:
            super().append(entry)
        except Damaged:
            self._check()  # whose files are gone is told why
            raise
        self._check()  # after it was written: see `RecordLease`

    def write(self, parts: Iterable[Part], n: int) -> Path:
        """See FileStore.write."""
        self._check()
        return super().write(parts, n)

    def stand_at(self, n: int, size: int) -> None:
        """See FileStore.stand_at."""
        super().stand_at(n, size)
        self._check()  # after it, too: a session that begins at a snapshot is answered then

    def probe(self) -> None:
        """See Store.probe."""
        self._check()
        super().probe()


def counts_of(session: Session) -> Counter[str]:
    """What a session has done: ``batches`` (consumed), ``failed`` of these, ``replayed`` and ``refused``,
    ``steps``, and of the batches that ran ``planned``, ``eager``, and programs ``traced``.
    """
    counts, plans = session.counts, session.plans.counts
    return Counter(
        batches=counts["batches"],
        steps=counts["steps"],
        planned=plans["planned"],
        eager=plans["eager"],
        traced=plans["traced"],
        **session.outcomes,
    )


encode_figures: Final = msgspec.json.Encoder().encode
"""`Figures` as bytes."""

_figures: Final = msgspec.json.Decoder(Figures)


def decode_figures(data: Bytes) -> Figures | None:
    """What `encode_figures` made; None for anything else, as what is answered for a process that ended."""
    try:
        return _figures.decode(data)
    except msgspec.MsgspecError:
        return None
