"""The front's registry of open sessions: who uses them, and when anonymous ones expire.

It knows only names and bytes, not what a session holds.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any

from gradd_protocol import frames, names
from gradd_protocol.messages import Attach, ProblemReply, Reply, Request
from gradd_protocol.problems import Problem, ProtocolError, problem
from gradd_runtime.process import Bulk, Engines, FileOrder, Pending, PendingFuture, Placement

from gradd_server.disk import Disk
from gradd_server.errors import Refused
from gradd_server.news import News
from gradd_server.open_session import OpenSession
from gradd_server.settings import Settings
from gradd_server.shares import ShareTable
from gradd_server.snapshots import unkept
from gradd_server.stores import Place, Stores
from gradd_server.timing import current
from gradd_server.wire import message_head

logger = logging.getLogger("gradd.server")

GROWING = frozenset({"batch", "json-batch", "backward-json", "put-tensor", "put-json", "put-hook", "stage"})
"""What lets a session's record grow; a Bulk does too."""

SESSION_BYTES = 64 << 10
"""About what a session takes of the disk before it has anything."""

ANONYMOUS = "anon-"


class Sessions:
    """Open sessions by tenant and name, over a placement. Bound to one event loop.

    To whoever asks for a tenant's session, those of others are not there. `stores` has those that outlive the
    daemon; without, none does. `shares` are the keys that read one session; without, everybody reads all.
    """

    def __init__(
        self,
        placement: Placement,
        settings: Settings,
        clock: Callable[[], float],
        stores: Stores | None = None,
        shares: ShareTable | None = None,
    ) -> None:
        self._stores = stores
        self._shares = shares
        self.disk: Disk | None = None
        """What sessions that are kept take of the disk, if any are."""
        if stores is not None:
            self.disk = Disk(stores.measure, *settings.disk_limits(stores.disk_bytes))
        #: the sessions that are being made of a snapshot, and what is set when that is over
        self._making: dict[tuple[str, str], tuple[OpenSession, asyncio.Event]] = {}
        self._placement = placement
        self._settings = settings
        self._clock = clock
        self._entries: dict[tuple[str, str], OpenSession] = {}
        self._counts: Counter[str] = Counter()
        self.changing = asyncio.Lock()
        """Held while sessions begin, end, or are shared."""

    def __iter__(self) -> Iterator[OpenSession]:
        return iter(sorted(self._entries.values(), key=lambda entry: (entry.tenant, entry.name)))

    def __len__(self) -> int:
        return len(self._entries)

    def of(self, tenant: str) -> list[OpenSession]:
        """The open sessions of `tenant`, by name."""
        own = (entry for entry in self._entries.values() if entry.tenant == tenant)
        return sorted(own, key=lambda entry: entry.name)

    def find(self, tenant: str, name: str) -> OpenSession:
        """The tenant's open session of that name. Raises Refused: 400 for a bad name, 404 if there is
        none.
        """
        entry = self._entries.get((tenant, name))
        if entry is None:
            names.session(name)
            raise Refused("session-not-found", f"no session is named {name!r}")
        return entry

    async def open(
        self, tenant: str, name: str, options: Mapping[str, Any] | None = None, begin: str | None = None
    ) -> tuple[OpenSession, bool]:
        """The tenant's session of that name, and whether it is new. `options` must match an old one's. A new
        one begins at the snapshot at the place `begin`; ProtocolError where it cannot, and none is made.
        """
        names.session(name)
        async with self.changing:
            entry = self._entries.get((tenant, name))
            if entry is not None:
                self._check_same(entry, options or {})
                return entry, False
            if (tenant, name) in self._making:
                raise Refused("session-busy", f"session {name!r} is made of a snapshot", retry_after=1)
            self._check_room(tenant)
            settings = self._settings
            device = settings.devices[0] if "cpu" in settings.devices else settings.device
            own = {"device": device, "quota_bytes": settings.most_session_bytes}
            chosen = {**own, **(options or {})}
            if self._stores is not None:
                # Nobody is taken for a writer of a session of this name that was lost or deleted.
                chosen["epoch"] = secrets.randbits(30) + 1
                anonymous = name.startswith(ANONYMOUS)
                chosen = {"durability": "memory" if anonymous else "process", **chosen}
            elif chosen.get("durability", "memory") != "memory":
                raise Refused("invalid-data", "this daemon keeps no sessions")
            entry = OpenSession(tenant, name, chosen, self._clock())
            record = await asyncio.to_thread(self._make, entry, begin is None)
            if begin is None:
                self._add(entry)
                return entry, True
            over = asyncio.Event()
            self._making[tenant, name] = entry, over
        try:
            await self._begin_at(entry, begin, record)
        finally:
            del self._making[tenant, name]
            over.set()
        return entry, True

    def _check_same(self, entry: OpenSession, options: Mapping[str, Any]) -> None:
        """Raise Refused (409) where the session has other options."""
        for key, value in options.items():
            there = entry.options.get(key)
            if key == "device":
                there = self._placement.device_of(entry.key)
                if value not in (there, "cuda"):
                    detail = f"session {entry.name!r} is on {there}, where it stays, and not on {value}"
                    raise Refused("session-exists", detail)
            elif there != value:
                raise Refused("session-exists", f"session {entry.name!r} has other settings")

    @property
    def placement(self) -> Placement:
        """Where they run."""
        return self._placement

    @property
    def devices(self) -> Sequence[str]:
        """What a session can be on."""
        return self._placement.devices

    def _add(self, entry: OpenSession) -> None:
        self._entries[entry.tenant, entry.name] = entry
        self._counts[entry.tenant] += 1

    def _check_room(self, tenant: str) -> None:
        """Raise Refused (429) where there is to be no other session."""
        settings = self._settings
        making = sum(owner == tenant for owner, _ in self._making)
        for used, limit, who in (
            (self._counts[tenant] + making, settings.tenant_sessions, "the tenant has"),
            (len(self) + len(self._making), settings.sessions, "the daemon has"),
        ):
            if used >= limit:
                raise Refused(
                    "too-many",
                    f"{who} {used} sessions, and {limit} are the most: delete those that are not needed "
                    "(gradd.delete_session, `gradd sessions delete`)",
                    used=used,
                    limit=limit,
                    requested=1,
                )

    def _make(self, entry: OpenSession, whole: bool) -> Place | None:
        """Open a session where it is to run; its record, if it has one, is confirmed if it is `whole`."""
        stores, chosen = self._stores, entry.options
        if stores is None or chosen["durability"] == "memory":
            self._placement.open(entry.key, chosen)
            return None
        assert self.disk is not None
        self.disk.take(entry.tenant, SESSION_BYTES)
        try:
            record = stores.prepare(entry.tenant, entry.name, chosen)
            if whole:
                stores.confirm(entry.tenant, entry.name, chosen, record)
        except OSError as error:
            raise unkept(error, f"no store can be made for session {entry.key}") from None
        try:
            self._placement.open(entry.key, {**chosen, "store": str(record)})
        except BaseException:
            stores.remove(entry.tenant, entry.name)
            raise
        return record

    async def _begin_at(self, entry: OpenSession, begin: str, record: Place | None) -> None:
        """Let a session that nobody sees yet begin at a snapshot."""
        try:
            opened(await settled(self._placement.submit(entry.key, FileOrder(begin, save=False))))
            if record is not None and self._stores is not None:
                confirm = self._stores.confirm
                await asyncio.to_thread(confirm, entry.tenant, entry.name, entry.options, record)
            if entry.closed:
                raise Refused("session-not-found", f"session {entry.name!r} was deleted while it was made")
        except BaseException as error:
            await self._discard(entry)
            if isinstance(error, OSError):
                raise unkept(error, f"no store can be made for session {entry.key}") from None
            raise
        self._add(entry)

    async def _discard(self, entry: OpenSession) -> None:
        await asyncio.to_thread(self._placement.close, entry.key)
        if self._stores is not None:
            await asyncio.to_thread(self._stores.remove, entry.tenant, entry.name)
        if self.disk is not None:
            self.disk.changed()

    def engines(self) -> Engines:
        """Who runs the sessions."""
        return self._placement.engines()

    async def restore(self) -> None:
        """Open the sessions that were kept. Each is made again when it is first asked for something."""
        if self._stores is None:
            return
        stores = self._stores
        for tenant, name, options, record in await asyncio.to_thread(lambda: list(stores.found())):
            entry = OpenSession(tenant, name, options, self._clock())
            self._placement.open(entry.key, {**options, "store": str(record)})
            self._add(entry)
        if self._shares is not None:
            await asyncio.to_thread(self._shares.load, [*self._entries], stores.read_shares)
        if self.disk is not None:
            await self.disk.look()
        if self._entries:
            logger.info("%d sessions were kept", len(self._entries))

    async def attached(self, tenant: str, name: str, message: Attach) -> OpenSession:
        """The session for an Attach; created if needed, unless the client resumes."""
        if message.resume is not None:
            return self.find(tenant, name)
        return (await self.open(tenant, name))[0]

    async def close(self, tenant: str, name: str) -> bool:
        """End the tenant's session of that name; False if there is none. One that is being made of a snapshot
        is gone once that is over.
        """
        names.session(name)
        async with self.changing:
            making = self._making.get((tenant, name))
            if making is None:
                entry = self._entries.pop((tenant, name), None)
                if entry is None:
                    return False
                self._counts[tenant] -= 1
                entry.closed = True
                if self._shares is not None:
                    self._shares.put(tenant, name, ())
                entry.notify_upload()
                await self._discard(entry)
                return True
        entry, over = making
        entry.closed = True  # who makes it ends it
        await over.wait()
        return True

    @property
    def shares(self) -> ShareTable:
        """The keys that read one session. Raises Refused where everybody reads all."""
        if self._shares is None:
            raise Refused("invalid-data", "this daemon asks for no key (--no-auth): who reaches it reads all")
        return self._shares

    @property
    def keeps(self) -> bool:
        """Whether anything is kept."""
        return self._stores is not None

    @property
    def stores(self) -> Stores:
        """Where files are. Raises Refused where nothing is kept."""
        if self._stores is None:
            raise Refused("invalid-data", "this daemon has no data directory, so it keeps no snapshots")
        return self._stores

    def take_disk(self, tenant: str, nbytes: int) -> None:
        """Count a file that is written beside the records. Raises Refused (507)."""
        if self.disk is not None:
            self.disk.take(tenant, nbytes)

    async def submit(
        self, entry: OpenSession, frame: frames.Bytes | Bulk | FileOrder, within: float | None = None
    ) -> frames.Bytes:
        """Submit `frame` to the session and wait for its reply. The frame runs even if the caller is
        cancelled; a batch that is not done `within` so many seconds is stopped.
        """
        with self._using(entry):
            began = perf_counter()
            future = PendingFuture()
            self.begin(entry, frame, future)
            if within is None:
                reply = await settled(future)
            else:
                why = problem("deadline-exceeded", f"the batch was not done within {within:g} s")
                stop = partial(self._placement.stop, entry.key, why, only=future)
                late = asyncio.get_running_loop().call_later(within, stop)
                reply = await settled(future)
                late.cancel()
            timing = current.get()
            if timing is not None:
                timing.note(began, future)
            return reply

    def begin(
        self,
        entry: OpenSession,
        frame: frames.Bytes | Bulk | FileOrder,
        request: Pending,
        why: Problem | None = None,
    ) -> None:
        """Submit `frame` to the session; `request` gets the reply. Frames run in the order of submission; a
        batch fails with `why` instead, if that is given.
        """
        if entry.closed:
            raise Refused("session-not-found", f"session {entry.name!r} was deleted")
        kept = self.disk is not None and entry.options["durability"] != "memory"
        if kept and not isinstance(frame, FileOrder):
            self._record(entry, frame)
        self._placement.carry(entry.key, frame, request, why)

    def _record(self, entry: OpenSession, frame: frames.Bytes | Bulk) -> None:
        """Count what may be recorded. Raises Refused (507), unless nothing will be."""
        assert self.disk is not None
        size = frame.size if isinstance(frame, Bulk) else len(frame)
        try:
            self.disk.take(entry.tenant, size)
        except Refused:
            if isinstance(frame, Bulk) or message_head(frame).type in GROWING:
                raise

    def stop(
        self, entry: OpenSession, why: Problem, writer: int | None = None, seq: int | None = None
    ) -> None:
        """Stop what the session does, see Placement.stop, and what waits to be submitted to it."""
        entry.stop(why, writer, seq)
        self._placement.stop(entry.key, why, writer, seq)

    async def ask(
        self, entry: OpenSession, message: Request, buffers: Iterable[frames.Buffer] = ()
    ) -> tuple[Reply, list[frames.Array]]:
        """Send a request and decode its reply; a ProblemReply is raised as ProtocolError."""
        return opened(await self.submit(entry, frames.join(frames.encode(message, buffers))))

    @contextmanager
    def stream(self, entry: OpenSession) -> Iterator[None]:
        """Count a stream of the session while it is open."""
        entry.streams += 1
        entry.had_stream = True
        try:
            yield
        finally:
            entry.streams -= 1
            entry.last_used = self._clock()

    @contextmanager
    def _using(self, entry: OpenSession) -> Iterator[None]:
        entry.requests += 1
        try:
            yield
        finally:
            entry.requests -= 1
            entry.last_used = self._clock()

    def expired(self) -> list[OpenSession]:
        """The expired anonymous sessions."""
        now = self._clock()
        return [entry for entry in self._entries.values() if self._is_over(entry, now)]

    def _is_over(self, entry: OpenSession, now: float) -> bool:
        if not entry.name.startswith(ANONYMOUS) or entry.streams or entry.requests:
            return False
        life = (
            self._settings.anonymous_stream_seconds
            if entry.had_stream
            else self._settings.anonymous_idle_seconds
        )
        return now - entry.last_used >= life

    async def cull(self) -> list[str]:
        """End expired anonymous sessions; returns their names."""
        over = self.expired()
        for entry in over:
            await self.close(entry.tenant, entry.name)
        return [entry.name for entry in over]


def opened(reply: frames.Bytes) -> tuple[Reply, list[frames.Array]]:
    """A reply's message and buffers; a ProblemReply is raised as ProtocolError."""
    message, buffers = frames.decode_reply(reply)
    if isinstance(message, ProblemReply):
        raise ProtocolError(message.problem)
    return message, buffers


async def settled(future: Future[frames.Bytes]) -> frames.Bytes:
    """The result of a placement's future, which is never cancelled: submitted frames run."""
    news = News()
    future.add_done_callback(lambda _: news.tell())
    while not future.done():
        await news.wait()
    return future.result()
