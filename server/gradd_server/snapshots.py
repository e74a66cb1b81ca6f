"""The snapshots of a session that were taken by hand: files in a folder, until they or it are deleted."""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
from pathlib import Path
from typing import Protocol

from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import SnapshotInfo
from gradd_runtime.store import sync_folder

from gradd_server.errors import Refused

logger = logging.getLogger("gradd.server")

ID = re.compile(r"[0-9]+-[0-9a-f]{8}")
SUFFIX = ".safetensors"


def unkept(error: OSError, what: str) -> Refused:
    """The problem of a file that cannot be written."""
    logger.error("%s", what, exc_info=error)
    slug = "disk-full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "store-failed"
    return Refused(slug, what, retry_after=1)


class Shelf(Protocol):
    """The snapshots of a session."""

    def place(self) -> str:
        """A place for the next snapshot, which `keep` takes. Raises Refused (507)."""

    def keep(self, place: str, position: int) -> SnapshotInfo:
        """Keep what was written at `place`. Raises Refused."""

    def all(self) -> list[SnapshotInfo]:
        """The snapshots, the latest first."""

    def find(self, id: str) -> str:
        """The place of a snapshot. Raises Refused (404)."""

    def delete(self, id: str) -> None:
        """Delete a snapshot, if it is there."""


def check_room(held: int) -> None:
    """Raise Refused (507) where a session has so many that it may not have another."""
    if held >= LIMITS.snapshots:
        raise Refused(
            "quota-exceeded", f"the session has {held} snapshots: delete some",
            limit=LIMITS.snapshots, used=held, requested=1,
        )  # fmt: skip


def missing(session: str, id: str) -> Refused:
    """The problem of a snapshot that is not there."""
    return Refused("snapshot-not-found", f"session {session!r} has no snapshot {id[:64]!r}")


class FolderShelf:
    """The snapshots in `folder`, of the session of that name. `durable`: they are to survive power loss."""

    def __init__(self, folder: Path, session: str, durable: bool) -> None:
        self._folder, self._session, self._durable = folder, session, durable

    def place(self) -> str:
        """See Shelf.place."""
        check_room(len(self.all()))
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unkept(error, "no snapshot can be written") from None
        return str(self._folder / f"{secrets.token_hex(4)}.new")

    def keep(self, place: str, position: int) -> SnapshotInfo:
        """See Shelf.keep."""
        path = Path(place)
        kept = self._folder / f"{position}-{path.stem}{SUFFIX}"
        try:
            if self._durable:
                with path.open("rb") as file:
                    os.fsync(file.fileno())
            path.rename(kept)
            if self._durable:
                for folder in (self._folder, self._folder.parent):
                    sync_folder(folder)
        except OSError as error:
            raise unkept(error, "no snapshot can be written") from None
        return self._about(kept)

    def all(self) -> list[SnapshotInfo]:
        """See Shelf.all."""
        found = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            try:
                found.append((path.stat().st_mtime_ns, self._about(path)))
            except FileNotFoundError:  # deleted meanwhile
                continue
        return [info for _, info in sorted(found, key=lambda pair: pair[0], reverse=True)]

    def find(self, id: str) -> str:
        """See Shelf.find."""
        path = self._folder / f"{id}{SUFFIX}"
        if not ID.fullmatch(id) or not path.is_file():
            raise missing(self._session, id)
        return str(path)

    def delete(self, id: str) -> None:
        """See Shelf.delete."""
        if ID.fullmatch(id):
            (self._folder / f"{id}{SUFFIX}").unlink(missing_ok=True)

    def _about(self, path: Path) -> SnapshotInfo:
        stat = path.stat()
        position = int(path.stem.partition("-")[0])
        return SnapshotInfo(path.stem, self._session, position, stat.st_size, int(stat.st_mtime))
