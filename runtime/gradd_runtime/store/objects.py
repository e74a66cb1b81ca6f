"""A record in an object store: a log of objects, of whose names each can be made only once.

``<record>/log/<position>`` is an entry, or tells of something else that happened to the record (`Item`).
Whoever opens a session begins a *tenure* by an object at the end of the log, by an *order*, as in `lease`.
Who had the record before finds that position taken when it appends, and has lost it: so what it appended
before is in the log that was read, and it appends nothing after. Snapshots are objects beside the log, and
count from the item on that says so.

What snapshots stand for is deleted, but the objects by which tenures begin stay as long as the record:
whoever had it before, however long ago, finds the position taken that comes next for it.

Nothing is copied, renamed or locked; the store has to keep the promise of `Bucket`.
"""

from __future__ import annotations

import secrets
import struct
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from .journal import Damaged, Entry, Trouble
from .lease import LeaseLost

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .bucket import Bucket

_DIGITS = 12
_LOG, _SNAPSHOTS, _SUFFIX = "log", "snapshots", ".safetensors"
_SUM = struct.Struct("<I")
#: a log that is read while another process drops its beginning is read again, so often
_TRIES = 5


class Began(msgspec.Struct, frozen=True, tag="tenure"):
    """A tenure begins."""


class Added(msgspec.Struct, frozen=True, tag="entry"):
    """An entry."""

    n: int
    frame: bytes
    outcome: str
    reply: int
    messages: int
    round_trips: int
    trouble: Trouble | None

    def entry(self) -> Entry:
        """As the session takes it, in memory of its own."""
        return Entry(
            self.n, bytearray(self.frame), self.outcome, self.reply, self.messages, self.round_trips,
            self.trouble,
        )  # fmt: skip


class Stood(msgspec.Struct, frozen=True, tag="snapshot"):
    """From here on the session is the snapshot at entry `n`, of so many bytes, which the object of that name
    is. Where tenures have begun, and which kernels have run the entries, see `FileStore.kernels`.
    """

    n: int
    size: int
    name: str
    tenures: list[int]
    kernels: list[tuple[int, str]]


class Ran(msgspec.Struct, frozen=True, tag="kernels"):
    """From entry `n` on, it is these kernels that run them."""

    n: int
    identity: str


class Shortened(msgspec.Struct, frozen=True, tag="cut"):
    """What came after entry `after` is no more."""

    after: int


What = Began | Added | Stood | Ran | Shortened


class Item(msgspec.Struct, frozen=True):
    """An object of the log: what happened, and in which tenure: by which order, and a name of its own."""

    order: int
    tenure: str
    what: What


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Item).decode


class ObjectLog:
    """The log of the record `base` in a bucket, for a session that was opened by that `order`."""

    def __init__(self, bucket: Bucket, base: str, order: int = 0) -> None:
        self._bucket, self._base, self._order = bucket, base, order
        self._tenure = secrets.token_hex(8)
        #: where the next item goes
        self._next = 0
        #: where the items are by which the session is a snapshot, the latest last
        self._stood: list[tuple[int, Stood]] = []
        #: and where those are by which tenures begin
        self._tenures: list[int] = []

    def begin(self) -> list[What]:
        """Begin a tenure; all that is to be known of the record, in order. Raises LeaseLost where one of a
        later order has begun, Damaged where the log has a hole, and OSError.
        """
        # Listed before: what a later tenure writes is not in it.
        written = self._snapshots()
        while True:
            last = max(self._positions(), default=-1)
            try:
                if last >= 0 and self._item(last, self._bucket.read(self._name(last))).order > self._order:
                    raise LeaseLost
            except FileNotFoundError:
                continue  # it was dropped meanwhile: there are later ones
            self._next = last + 1
            # It may have filled a gap: who had the record may have appended more, and dropped what was there.
            if self._put(Began()) and max(self._positions()) == last + 1:
                break
        try:
            found = self._load(last)
        except (Damaged, FileNotFoundError):
            self.check()  # another has dropped since what was there then
            raise
        self._remove(written.keys() - {stood.name for _, stood in self._stood})
        return found

    def _load(self, last: int) -> list[What]:
        for attempt in range(_TRIES):
            held = self._positions()
            first = next((at for at in range(last, -1, -1) if at not in held), -1) + 1
            try:
                found = self._bucket.read_all(map(self._name, range(first, last + 1)))
            except FileNotFoundError:
                if attempt == _TRIES - 1:
                    raise
                continue
            items = [(at, self._item(at, found[self._name(at)]).what) for at in range(first, last + 1)]
            break
        if first:
            # What is before a snapshot is dropped bit by bit.
            begin = next((i for i, (_, what) in enumerate(items) if isinstance(what, Stood)), None)
            if begin is None:
                raise Damaged(f"the record's log has no item {first - 1}, and no snapshot since")
            items = items[begin:]
        for at, what in items:
            if isinstance(what, Stood):
                self._tenures = [*what.tenures]
                self._stood.append((at, what))
            elif isinstance(what, Began):
                self._tenures.append(at)
            elif isinstance(what, Shortened):
                self._stood = [stood for stood in self._stood if stood[1].n <= what.after]
        self._tenures.append(last + 1)
        return [what for _, what in items]

    def add(self, what: What) -> None:
        """Put an item at the end. Raises LeaseLost where another tenure has begun, and OSError; then it may
        or may not be there.
        """
        if not self._put(what):
            raise LeaseLost
        if isinstance(what, Stood):
            self._stood.append((self._next - 1, what))

    def append(self, entry: Entry) -> None:
        """`add` an entry."""
        n, frame, outcome, reply, messages, round_trips, trouble = entry
        self.add(Added(n, bytes(frame), outcome, reply, messages, round_trips, trouble))

    def check(self) -> None:
        """Raise LeaseLost where another tenure has begun."""
        if self._bucket.exists(self._name(self._next)):
            raise LeaseLost

    def upload(self, file: Path, n: int) -> None:
        """Keep the file of a snapshot at entry `n`, of which the log says nothing yet."""
        self._bucket.upload(file, f"{self._base}/{_SNAPSHOTS}/{self._own(n)}")

    def stand_at(self, n: int, size: int, kernels: list[tuple[int, str]]) -> None:
        """From here on the session is the snapshot at entry `n`, which was uploaded. Raises as `add`."""
        self.add(Stood(n, size, self._own(n), [*self._tenures], kernels))

    def _own(self, n: int) -> str:
        return f"{n}-{self._tenure}{_SUFFIX}"

    def download(self, n: int, target: Path) -> None:
        """Fetch the snapshot at entry `n`. Raises OSError."""
        for _, stood in reversed(self._stood):
            if stood.n == n:
                self._bucket.download(f"{self._base}/{_SNAPSHOTS}/{stood.name}", target)
                return
        raise FileNotFoundError(f"no snapshot at entry {n}")

    def drop(self, kept: Iterable[int]) -> None:
        """Delete what the snapshots at these entries, and what came after them, stand for. Whoever does so
        late, and has lost the record since, deletes nothing that others need.
        """
        entries = set(kept)
        stood = [each for each in self._stood if each[1].n in entries]
        if not stood:
            return
        old = {at for at in self._positions() if at < stood[0][0]}.difference(self._tenures)
        self._bucket.remove(map(self._name, sorted(old)))
        self._remove({each.name for _, each in self._stood} - {each.name for _, each in stood})
        self._stood = stood

    def _remove(self, snapshots: Iterable[str]) -> None:
        self._bucket.remove(f"{self._base}/{_SNAPSHOTS}/{name}" for name in snapshots)

    def probe(self) -> None:
        """Raises as `add` where nothing can be written."""
        self.check()
        self._bucket.write(f"{self._base}/probe", b"")

    def most_bytes(self) -> int:
        """Of the snapshots that are there."""
        return max(self._snapshots().values(), default=0)

    def _put(self, what: What) -> bool:
        data = _encode(Item(self._order, self._tenure, what))
        made = self._bucket.create(self._name(self._next), _SUM.pack(zlib.crc32(data)) + data)
        self._next += made
        return made

    def _item(self, at: int, data: bytes) -> Item:
        with suppress(struct.error, msgspec.MsgspecError):
            (total,) = _SUM.unpack_from(data)
            if zlib.crc32(data[_SUM.size :]) == total:
                return _decode(data[_SUM.size :])
        raise Damaged(f"item {at} of the record's log is not what was written")

    def _name(self, at: int) -> str:
        return f"{self._base}/{_LOG}/{at:0{_DIGITS}}"

    def _positions(self) -> set[int]:
        return {int(name) for name in self._bucket.sizes(f"{self._base}/{_LOG}") if name.isdecimal()}

    def _snapshots(self) -> dict[str, int]:
        return self._bucket.sizes(f"{self._base}/{_SNAPSHOTS}")
