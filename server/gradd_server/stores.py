"""Where the daemon keeps its sessions: what all ways to do so have in common.

Where several fronts share the storage, the name of a session's folder ends with the number of the lead under
which it was made. So one who leads no more, and has not noticed, touches no folder of who does; of two
folders of a session that of the later lead counts.
"""

from __future__ import annotations

import base64
import errno
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gradd_server.fronts.leads import Lead
from gradd_server.snapshots import Shelf

logger = logging.getLogger("gradd.server")

Place = Path | str
"""Of a record: a path, or a url."""


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept of a session beside its record: whose it is, its options, and which record is its."""

    tenant: str
    name: str
    options: dict[str, Any]
    record: str


_decode = msgspec.json.Decoder(About).decode
encode_about = msgspec.json.Encoder().encode


def about_of(data: bytes, place: str) -> About | str:
    """What `encode_about` made of the session in the folder `place`, which has its tenant's before it; in
    words, why it is none.
    """
    try:
        about = _decode(data)
    except (ValueError, msgspec.MsgspecError) as error:
        return str(error)
    fits = place.partition(".")[0] == f"{encoded(about.tenant)}/{encoded(about.name)}"
    return about if fits and Path(about.record).name == about.record else "it is of another session"


def left_alone(where: object, why: str) -> None:
    """Tell in the log of what cannot be read."""
    logger.error("%s is left alone: %s", where, why)


class Stores(ABC):
    """The sessions that are kept, by one daemon, or by the front that has the `lead`. Every method may raise
    OSError.
    """

    def __init__(self, lead: Lead | None) -> None:
        self._lead = lead
        self._number = 0 if lead is None else lead.number

    def make(self, tenant: str, name: str, options: Mapping[str, Any]) -> Place:
        """A place for a new session; that of its record, which has no entries."""
        record = self.prepare(tenant, name, options)
        self.confirm(tenant, name, options, record)
        return record

    @abstractmethod
    def prepare(self, tenant: str, name: str, options: Mapping[str, Any]) -> Place:
        """`make`, but for what says that the session is there: until `confirm` a restart finds none."""

    @abstractmethod
    def confirm(self, tenant: str, name: str, options: Mapping[str, Any], record: Place) -> None:
        """See `prepare`. OSError where another front leads by now, which may not know of it."""

    def check(self) -> None:
        """Raise OSError where another front leads by now, which may not know of what was written: it looks
        for files when it takes the lead. So whoever has written asks, before telling that it has.
        """
        if self._lead is not None and self._lead.is_over():
            raise OSError(errno.ESTALE, "another front leads")

    @abstractmethod
    def incoming(self) -> str:
        """A new place for a snapshot that a session is to begin at; who asks deletes it."""

    @abstractmethod
    def shelf(self, tenant: str, name: str, durable: bool) -> Shelf:
        """The session's snapshots that are taken by hand. They go with the session, also with one that is
        kept in memory.
        """

    @abstractmethod
    def read_shares(self, tenant: str, name: str) -> bytes | None:
        """What `write_shares` was given; None where nothing was. To be called after `found`. Raises BadKeys
        where others may have written it.
        """

    @abstractmethod
    def write_shares(self, tenant: str, name: str, content: bytes) -> None:
        """Keep the session's shares, which go with it, as snapshots do."""

    @abstractmethod
    def remove(self, tenant: str, name: str) -> None:
        """Delete what is kept of a session, if there is anything."""

    @abstractmethod
    def found(self) -> Iterator[tuple[str, str, dict[str, Any], Place]]:
        """The sessions that are kept: tenant, name, options, record. What was half made or half deleted
        goes; what cannot be read stays and is told in the log.
        """

    @property
    @abstractmethod
    def disk_bytes(self) -> int:
        """Of the whole disk."""

    @abstractmethod
    def measure(self) -> tuple[int, dict[str, int]]:
        """Free bytes of the disk, and those that the sessions of each tenant have."""

    def _is_past(self, folder: str) -> bool:
        """Whether what has that name was made under this lead, or an earlier one."""
        return self._lead is None or lead_of(folder) <= self._number

    def _made(self, tenant: str, name: str) -> str:
        """The folder of a session that is made now, with its tenant's before it."""
        return f"{encoded(tenant)}/{encoded(name)}" + (f".{self._number}" if self._number else "")


def lead_of(folder: str) -> int:
    """The number of the lead under which it was made; 0 for those of a daemon that is alone."""
    number = folder.rpartition(".")[2]
    return int(number) if number.isdecimal() else 0


def encoded(name: str) -> str:
    """A folder's name: no two names have one, also where files are told apart by letters of one case only."""
    return base64.b32encode(name.encode()).decode().rstrip("=").lower()


def decoded(name: str) -> str:
    """What `_encoded` was given."""
    return base64.b32decode(name.upper() + "=" * (-len(name) % 8)).decode()
