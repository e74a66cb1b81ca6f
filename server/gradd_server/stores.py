"""Where the daemon keeps its sessions: a folder for each under ``<data-dir>/sessions``, in its tenant's.

A folder has ``session.json`` (tenant, name and options of the session, and which record is its) beside the
record.
The front knows sessions by that file alone; a folder without it is being made or deleted, and goes.

Where several fronts share the directory, a folder's name ends with the number of the lead under which it
was made. So one who leads no more, and has not noticed, touches no folder of who does; of two folders of a
session that of the later lead counts.
"""

from __future__ import annotations

import base64
import errno
import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from gradd_runtime.store import make_record, sync_folder

from gradd_server.fronts.leads import Lead
from gradd_server.shares import FILE_NAME

logger = logging.getLogger("gradd.server")

ABOUT = "session.json"
SNAPSHOTS = "snapshots"
_TRASH, _INCOMING = ".deleted-", ".incoming-"


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ``session.json`` of a session."""

    tenant: str
    name: str
    options: dict[str, Any]
    record: str


_decode = msgspec.json.Decoder(About).decode
_encode = msgspec.json.Encoder().encode


class Stores:
    """The sessions kept in the folder `home`, which one daemon at a time holds, or the front that has the
    `lead`. Every method may raise OSError.
    """

    def __init__(self, home: Path, lead: Lead | None = None) -> None:
        self._home, self._lead = home, lead
        self._number = 0 if lead is None else lead.number
        #: folders of sessions that are there
        self._folders: dict[tuple[str, str], Path] = {}
        home.mkdir(mode=0o700, exist_ok=True)

    def make(self, tenant: str, name: str, options: Mapping[str, Any]) -> Path:
        """A place for a new session; the file of its record, which has no entries."""
        record = self.prepare(tenant, name, options)
        self.confirm(tenant, name, options, record)
        return record

    def prepare(self, tenant: str, name: str, options: Mapping[str, Any]) -> Path:
        """`make`, but for what says that the session is there: until `confirm` a restart finds none."""
        self.remove(tenant, name)
        folder = self._folder(tenant, name)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700)
        # Another session of this name may still be open somewhere, and removes what SQLite had beside it.
        record = folder / f"{secrets.token_hex(8)}.db"
        make_record(record, options["durability"] == "disk")
        return record

    def confirm(self, tenant: str, name: str, options: Mapping[str, Any], record: Path) -> None:
        """See `prepare`. OSError where another front leads by now, which may not know of it."""
        folder = record.parent
        durable = options["durability"] == "disk"
        new = folder / f"{ABOUT}.new"
        with new.open("wb") as file:
            file.write(_encode(About(tenant, name, dict(options), record.name)))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        new.rename(folder / ABOUT)
        if durable:
            for place in (folder, folder.parent, self._home):
                sync_folder(place)
        try:
            self.check()
        except OSError:
            self._discard(folder)
            raise
        self._folders[tenant, name] = folder

    def check(self) -> None:
        """Raise OSError where another front leads by now, which may not know of what was written: it looks
        for files when it takes the lead. So whoever has written asks, before telling that it has.
        """
        if self._lead is not None and self._lead.is_over():
            raise OSError(errno.ESTALE, "another front leads")

    def incoming(self) -> Path:
        """A new path for the file of a snapshot that a session is to begin at; who asks deletes it."""
        return self._home / f"{_INCOMING}{secrets.token_hex(8)}.{self._number}"

    def snapshots(self, tenant: str, name: str) -> Path:
        """The folder of the session's snapshots that are taken by hand; it is there once one was. It goes
        with the session, also with one that is kept in memory.
        """
        return self._folder(tenant, name) / SNAPSHOTS

    def shares(self, tenant: str, name: str) -> Path:
        """The file of the session's shares; it goes with the session, as snapshots do."""
        return self._folder(tenant, name) / FILE_NAME

    def remove(self, tenant: str, name: str) -> None:
        """Delete a session's files, if there are any."""
        folder = self._folder(tenant, name)
        self._folders.pop((tenant, name), None)
        if folder.exists():
            self._discard(folder)

    def found(self) -> Iterator[tuple[str, str, dict[str, Any], Path]]:
        """The sessions that are kept: tenant, name, options, record. What was half made or half deleted
        goes; a folder that cannot be read stays and is told in the log.
        """
        for trash in self._home.glob(f"{_TRASH}*"):
            shutil.rmtree(trash, ignore_errors=True)
        for file in (*self._home.glob(f"{_INCOMING}*"), *self._home.glob(f"*/*/{SNAPSHOTS}/*.new")):
            if self._is_past(file):
                file.unlink(missing_ok=True)
        found: dict[tuple[str, str], tuple[dict[str, Any], Path]] = {}
        for folder in sorted(self._home.glob("*/*/"), key=_lead_of, reverse=True):
            if not (folder / ABOUT).exists():
                if self._is_past(folder):
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            about = self._about(folder)
            if isinstance(about, str):
                logger.error("%s is left alone: %s", folder / ABOUT, about)
            elif (about.tenant, about.name) in found:
                self._discard(folder)
            else:
                found[about.tenant, about.name] = about.options, folder / about.record
                self._folders[about.tenant, about.name] = folder
        for (tenant, name), (options, record) in sorted(found.items(), key=lambda each: each[0]):
            yield tenant, name, options, record

    def _is_past(self, path: Path) -> bool:
        """Whether it was made under this lead, or an earlier one."""
        return self._lead is None or _lead_of(path) <= self._number

    def folders(self) -> Iterator[tuple[Path, About | str]]:
        """The folder of each session, and what it is or why that cannot be told. Nothing is changed."""
        for path in sorted(self._home.glob(f"*/*/{ABOUT}")):
            yield path.parent, self._about(path.parent)

    def _about(self, folder: Path) -> About | str:
        try:
            about = _decode((folder / ABOUT).read_bytes())
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            return str(error)
        there = self._home / _encoded(about.tenant) / _encoded(about.name)
        if (
            folder.with_name(folder.name.partition(".")[0]) != there
            or Path(about.record).name != about.record
        ):
            return "it is of another session"
        return about

    @property
    def disk_bytes(self) -> int:
        """Of the whole disk."""
        return shutil.disk_usage(self._home).total

    def measure(self) -> tuple[int, dict[str, int]]:
        """Free bytes of the disk, and those that the sessions of each tenant have."""
        found: dict[str, int] = {}
        for tenant in os.scandir(self._home):
            if tenant.is_dir() and not tenant.name.startswith(_TRASH):
                found[_decoded(tenant.name)] = _bytes_in(tenant.path)
        return shutil.disk_usage(self._home).free, found

    def _discard(self, folder: Path) -> None:
        # Renamed first: it goes at once and in whole, however long its files take.
        trash = self._home / f"{_TRASH}{secrets.token_hex(8)}"
        folder.rename(trash)
        shutil.rmtree(trash, ignore_errors=True)

    def _folder(self, tenant: str, name: str) -> Path:
        """Of a session, or of one that is to be made."""
        made = f"{_encoded(name)}.{self._number}" if self._number else _encoded(name)
        return self._folders.get((tenant, name)) or self._home / _encoded(tenant) / made


def _lead_of(path: Path) -> int:
    """The number of the lead under which it was made; 0 for those of a daemon that is alone."""
    number = path.name.rpartition(".")[2]
    return int(number) if number.isdecimal() else 0


def _encoded(name: str) -> str:
    """A folder's name: no two names have one, also where files are told apart by letters of one case only."""
    return base64.b32encode(name.encode()).decode().rstrip("=").lower()


def _decoded(name: str) -> str:
    """What `_encoded` was given."""
    return base64.b32decode(name.upper() + "=" * (-len(name) % 8)).decode()


def _bytes_in(folder: str) -> int:
    """Of the files in a folder and those in it; what goes meanwhile has none."""
    total = 0
    try:
        for entry in os.scandir(folder):
            total += _bytes_in(entry.path) if entry.is_dir() else entry.stat().st_size
    except FileNotFoundError:
        return total
    return total
