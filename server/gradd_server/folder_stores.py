"""Where the daemon keeps its sessions in files: a folder for each under ``<data-dir>/sessions``, in its
tenant's.

A folder has ``session.json`` (tenant, name and options of the session, and which record is its) beside the
record. The front knows sessions by that file alone; a folder without it is being made or deleted, and goes.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradd_runtime.store import make_record, sync_folder

from gradd_server.fronts.leads import Lead
from gradd_server.keys import read_private, write_private
from gradd_server.snapshots import FolderShelf, Shelf
from gradd_server.stores import (
    About,
    Place,
    Stores,
    about_of,
    decoded,
    encode_about,
    lead_of,
    left_alone,
)  # fmt: skip

ABOUT = "session.json"
SHARES = "shares.json"
SNAPSHOTS = "snapshots"
_TRASH, _INCOMING = ".deleted-", ".incoming-"


class FolderStores(Stores):
    """The sessions kept in the folder `home`, which one daemon at a time holds, or the front that has the
    `lead`.
    """

    def __init__(self, home: Path, lead: Lead | None = None) -> None:
        super().__init__(lead)
        self._home = home
        #: folders of sessions that are there
        self._folders: dict[tuple[str, str], Path] = {}
        home.mkdir(mode=0o700, exist_ok=True)

    def prepare(self, tenant: str, name: str, options: Mapping[str, Any]) -> Place:
        """See Stores.prepare."""
        self.remove(tenant, name)
        folder = self._folder(tenant, name)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700)
        # Another session of this name may still be open somewhere, and removes what SQLite had beside it.
        record = folder / f"{secrets.token_hex(8)}.db"
        make_record(record, options["durability"] == "disk")
        return record

    def confirm(self, tenant: str, name: str, options: Mapping[str, Any], record: Place) -> None:
        """See Stores.confirm."""
        record = Path(record)
        folder = record.parent
        durable = options["durability"] == "disk"
        new = folder / f"{ABOUT}.new"
        with new.open("wb") as file:
            file.write(encode_about(About(tenant, name, dict(options), record.name)))
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

    def incoming(self) -> str:
        """See Stores.incoming."""
        return str(self._home / f"{_INCOMING}{secrets.token_hex(8)}.{self._number}")

    def snapshots(self, tenant: str, name: str) -> Path:
        """The folder of the session's snapshots that are taken by hand; it is there once one was. It goes
        with the session, also with one that is kept in memory.
        """
        return self._folder(tenant, name) / SNAPSHOTS

    def shelf(self, tenant: str, name: str, durable: bool) -> Shelf:
        """See Stores.shelf."""
        return FolderShelf(self.snapshots(tenant, name), name, durable)

    def read_shares(self, tenant: str, name: str) -> bytes | None:
        """See Stores.read_shares."""
        folder = self._folder(tenant, name)
        found = max(folder.glob(f"{SHARES}*"), key=lambda path: lead_of(path.name), default=folder / SHARES)
        return read_private(found)

    def write_shares(self, tenant: str, name: str, content: bytes) -> None:
        """See Stores.write_shares."""
        folder = self._folder(tenant, name)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Of an earlier lead that is written later nobody takes any notice.
        file = folder / (f"{SHARES}.{self._number}" if self._number else SHARES)
        write_private(file, content)
        if self._lead is None:
            for old in {*folder.glob(f"{SHARES}*")} - {file}:
                old.unlink()

    def remove(self, tenant: str, name: str) -> None:
        """See Stores.remove."""
        folder = self._folder(tenant, name)
        self._folders.pop((tenant, name), None)
        if folder.exists():
            self._discard(folder)

    def found(self) -> Iterator[tuple[str, str, dict[str, Any], Place]]:
        """See Stores.found."""
        for trash in self._home.glob(f"{_TRASH}*"):
            shutil.rmtree(trash, ignore_errors=True)
        for file in (*self._home.glob(f"{_INCOMING}*"), *self._home.glob(f"*/*/{SNAPSHOTS}/*.new")):
            if self._is_past(file.name):
                file.unlink(missing_ok=True)
        found: dict[tuple[str, str], tuple[dict[str, Any], Path]] = {}
        for folder in sorted(self._home.glob("*/*/"), key=lambda folder: lead_of(folder.name), reverse=True):
            if not (folder / ABOUT).exists():
                if self._is_past(folder.name):
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            about = _about(folder)
            if isinstance(about, str):
                left_alone(folder / ABOUT, about)
            elif (about.tenant, about.name) in found:
                self._discard(folder)
            else:
                found[about.tenant, about.name] = about.options, folder / about.record
                self._folders[about.tenant, about.name] = folder
        for (tenant, name), (options, record) in sorted(found.items(), key=lambda each: each[0]):
            yield tenant, name, options, record

    def folders(self) -> Iterator[tuple[Path, About | str]]:
        """The folder of each session, and what it is or why that cannot be told. Nothing is changed."""
        for path in sorted(self._home.glob(f"*/*/{ABOUT}")):
            yield path.parent, _about(path.parent)

    @property
    def disk_bytes(self) -> int:
        """See Stores.disk_bytes."""
        return shutil.disk_usage(self._home).total

    def measure(self) -> tuple[int, dict[str, int]]:
        """See Stores.measure."""
        found: dict[str, int] = {}
        for tenant in os.scandir(self._home):
            if tenant.is_dir() and not tenant.name.startswith(_TRASH):
                found[decoded(tenant.name)] = _bytes_in(tenant.path)
        return shutil.disk_usage(self._home).free, found

    def _discard(self, folder: Path) -> None:
        # Renamed first: it goes at once and in whole, however long its files take.
        trash = self._home / f"{_TRASH}{secrets.token_hex(8)}"
        folder.rename(trash)
        shutil.rmtree(trash, ignore_errors=True)

    def _folder(self, tenant: str, name: str) -> Path:
        """Of a session, or of one that is to be made."""
        return self._folders.get((tenant, name)) or self._home / self._made(tenant, name)


def _about(folder: Path) -> About | str:
    try:
        data = (folder / ABOUT).read_bytes()
    except OSError as error:
        return str(error)
    return about_of(data, f"{folder.parent.name}/{folder.name}")


def _bytes_in(folder: str) -> int:
    """Of the files in a folder and those in it; what goes meanwhile has none."""
    total = 0
    try:
        for entry in os.scandir(folder):
            total += _bytes_in(entry.path) if entry.is_dir() else entry.stat().st_size
    except FileNotFoundError:
        return total
    return total
