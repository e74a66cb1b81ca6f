"""Where the daemon keeps its sessions in an object store.

``index/<tenant>/<folder>`` says of a session what `About` has; it is there while that object is.
``shares/<tenant>/<folder>/<lead>`` are its shares, by the lead under which they were written, of which the
latest counts; ``sessions/<tenant>/<folder>/`` has its record and snapshots.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from gradd_protocol.messages import SnapshotInfo
from gradd_runtime.store import Bucket

from gradd_server.fronts.leads import Lead
from gradd_server.snapshots import ID, SUFFIX, Shelf, check_room, missing, unkept
from gradd_server.stores import About, Place, Stores, about_of, decoded, encode_about, lead_of, left_alone

_INDEX, _SHARES, _SESSIONS, _INCOMING = "index", "shares", "sessions", "incoming"
_SNAPSHOTS = "snapshots"
_ROOM = 1 << 62
"""Bytes: more than anybody has."""


class BucketStores(Stores):
    """The sessions kept in `bucket`, which one daemon at a time uses, or the front that has the `lead`."""

    def __init__(self, bucket: Bucket, lead: Lead | None = None) -> None:
        super().__init__(lead)
        self._bucket = bucket
        #: folders of sessions that are there, with their tenants'
        self._places: dict[tuple[str, str], str] = {}
        #: shares as `found` found them
        self._shares: dict[str, bytes] = {}

    def prepare(self, tenant: str, name: str, options: Mapping[str, Any]) -> Place:
        """See Stores.prepare. The record's first object is made by who opens it."""
        self.remove(tenant, name)
        return f"{self._bucket.url}/{_SESSIONS}/{self._place(tenant, name)}/{secrets.token_hex(8)}"

    def confirm(self, tenant: str, name: str, options: Mapping[str, Any], record: Place) -> None:
        """See Stores.confirm."""
        place = self._place(tenant, name)
        about = About(tenant, name, dict(options), str(record).rpartition("/")[2])
        self._bucket.write(f"{_INDEX}/{place}", encode_about(about))
        try:
            self.check()
        except OSError:
            self._discard(place)
            raise
        self._places[tenant, name] = place

    def incoming(self) -> str:
        """See Stores.incoming."""
        return f"{self._bucket.url}/{_INCOMING}/{secrets.token_hex(8)}.{self._number}"

    def shelf(self, tenant: str, name: str, durable: bool) -> Shelf:
        """See Stores.shelf."""
        return BucketShelf(self._bucket, f"{_SESSIONS}/{self._place(tenant, name)}/{_SNAPSHOTS}", name)

    def read_shares(self, tenant: str, name: str) -> bytes | None:
        """See Stores.read_shares. To be called after `found`."""
        return self._shares.get(self._place(tenant, name))

    def write_shares(self, tenant: str, name: str, content: bytes) -> None:
        """See Stores.write_shares."""
        # Of an earlier lead that is written later nobody takes any notice.
        self._bucket.write(f"{_SHARES}/{self._place(tenant, name)}/{self._number}", content)

    def remove(self, tenant: str, name: str) -> None:
        """See Stores.remove."""
        self._discard(self._place(tenant, name))
        self._places.pop((tenant, name), None)

    def found(self) -> Iterator[tuple[str, str, dict[str, Any], Place]]:
        """See Stores.found."""
        index = sorted(self._bucket.sizes(_INDEX, depth=None), key=lead_of, reverse=True)
        said = self._bucket.read_all(f"{_INDEX}/{place}" for place in index)
        left = [name for name in self._bucket.sizes(_INCOMING) if self._is_past(name)]
        self._bucket.remove(f"{_INCOMING}/{name}" for name in left)
        folders = (
            f"{tenant}/{folder}"
            for tenant in self._bucket.folders(_SESSIONS)
            for folder in self._bucket.folders(f"{_SESSIONS}/{tenant}")
        )
        for place in folders:
            if place not in index and self._is_past(place):
                self._discard(place)
        found: dict[tuple[str, str], tuple[dict[str, Any], Place]] = {}
        for place in index:
            about = about_of(said[f"{_INDEX}/{place}"], place)
            if isinstance(about, str):
                left_alone(f"{self._bucket.url}/{_INDEX}/{place}", about)
                continue
            if (about.tenant, about.name) in found:
                self._discard(place)
                continue
            self._places[about.tenant, about.name] = place
            at = f"{self._bucket.url}/{_SESSIONS}/{place}/{about.record}"
            found[about.tenant, about.name] = about.options, at
        latest: dict[str, int] = {}
        for name in self._bucket.sizes(_SHARES, depth=None):
            place, _, number = name.rpartition("/")
            latest[place] = max(int(number), latest.get(place, 0))
        there = latest.keys() & self._places.values()
        shares = {place: f"{_SHARES}/{place}/{latest[place]}" for place in there}
        contents = self._bucket.read_all(shares.values())
        self._shares = {place: contents[name] for place, name in shares.items()}
        for (tenant, name), (options, record) in sorted(found.items(), key=lambda each: each[0]):
            yield tenant, name, options, record

    @property
    def disk_bytes(self) -> int:
        """See Stores.disk_bytes."""
        return _ROOM

    def measure(self) -> tuple[int, dict[str, int]]:
        """See Stores.measure."""
        found: dict[str, int] = {}
        for name, size in self._bucket.sizes(_SESSIONS, depth=None).items():
            tenant = decoded(name.partition("/")[0])
            found[tenant] = found.get(tenant, 0) + size
        return _ROOM, found

    def _discard(self, place: str) -> None:
        # The index first: what is not in it is nobody's.
        self._bucket.remove([f"{_INDEX}/{place}"])
        for home in (f"{_SHARES}/{place}", f"{_SESSIONS}/{place}"):
            self._bucket.remove(f"{home}/{name}" for name in self._bucket.sizes(home, depth=None))

    def _place(self, tenant: str, name: str) -> str:
        return self._places.get((tenant, name)) or self._made(tenant, name)


class BucketShelf:
    """The snapshots in the folder of that name in a bucket, of the session of that name."""

    def __init__(self, bucket: Bucket, folder: str, session: str) -> None:
        self._bucket, self._folder, self._session = bucket, folder, session

    def place(self) -> str:
        """See Shelf.place."""
        try:
            check_room(len(self._kept()))
        except OSError as error:
            raise unkept(error, "no snapshot can be written") from None
        return f"{self._bucket.url}/{self._folder}/{secrets.token_hex(4)}.new"

    def keep(self, place: str, position: int) -> SnapshotInfo:
        """See Shelf.keep."""
        new = place.rpartition("/")[2]
        id = f"{position}-{new.removesuffix('.new')}"
        try:
            self._bucket.copy(place, f"{self._folder}/{id}{SUFFIX}")
            self._bucket.remove([f"{self._folder}/{new}"])
            return next(info for info in self.all() if info.id == id)
        except OSError as error:
            raise unkept(error, "no snapshot can be written") from None

    def all(self) -> list[SnapshotInfo]:
        """See Shelf.all."""
        sizes, times = self._kept(), self._bucket.times(self._folder)
        found = [
            SnapshotInfo(id, self._session, int(id.partition("-")[0]), size, int(times[f"{id}{SUFFIX}"]))
            for id, size in sizes.items()
            if f"{id}{SUFFIX}" in times
        ]
        return sorted(found, key=lambda info: (times[f"{info.id}{SUFFIX}"], info.position), reverse=True)

    def find(self, id: str) -> str:
        """See Shelf.find."""
        name = f"{self._folder}/{id}{SUFFIX}"
        try:
            there = ID.fullmatch(id) is not None and self._bucket.exists(name)
        except OSError as error:
            raise unkept(error, "the snapshot cannot be read") from None
        if not there:
            raise missing(self._session, id)
        return f"{self._bucket.url}/{name}"

    def delete(self, id: str) -> None:
        """See Shelf.delete."""
        if ID.fullmatch(id):
            self._bucket.remove([f"{self._folder}/{id}{SUFFIX}"])

    def _kept(self) -> dict[str, int]:
        sizes = self._bucket.sizes(self._folder)
        return {name.removesuffix(SUFFIX): size for name, size in sizes.items() if name.endswith(SUFFIX)}
