"""The snapshots of a session that were taken by hand: files in a folder, until they or it are deleted."""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
from pathlib import Path

from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import SnapshotInfo
from gradd_runtime.store import sync_folder

from gradd_server.errors import Refused

logger = logging.getLogger("gradd.server")

_ID = re.compile(r"[0-9]+-[0-9a-f]{8}")
_SUFFIX = ".safetensors"


def unkept(error: OSError, what: str) -> Refused:
    """The problem of a file that cannot be written."""
    logger.error("%s", what, exc_info=error)
    slug = "disk-full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "store-failed"
    return Refused(slug, what, retry_after=1)


class Shelf:
    """The snapshots in `folder`, of the session of that name. `durable`: they are to survive power loss."""

    def __init__(self, folder: Path, session: str, durable: bool) -> None:
        self._folder, self._session, self._durable = folder, session, durable

    def place(self) -> Path:
        """A path for the next snapshot, which `keep` takes. Raises Refused (507)."""
        held = len(self.all())
        if held >= LIMITS.snapshots:
            raise Refused(
                "quota-exceeded", f"the session has {held} snapshots: delete some",
                limit=LIMITS.snapshots, used=held, requested=1,
            )  # fmt: skip
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unkept(error, "no snapshot can be written") from None
        return self._folder / f"{secrets.token_hex(4)}.new"

    def keep(self, path: Path, position: int) -> SnapshotInfo:
        """Keep the file that was written at `path`. Raises Refused."""
        kept = self._folder / f"{position}-{path.stem}{_SUFFIX}"
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
        """The snapshots, the latest first."""
        found = []
        for path in self._folder.glob(f"*{_SUFFIX}"):
            try:
                found.append((path.stat().st_mtime_ns, self._about(path)))
            except FileNotFoundError:  # deleted meanwhile
                continue
        return [info for _, info in sorted(found, key=lambda pair: pair[0], reverse=True)]

    def path(self, id: str) -> Path:
        """The file of a snapshot. Raises Refused (404)."""
        path = self._folder / f"{id}{_SUFFIX}"
        if not _ID.fullmatch(id) or not path.is_file():
            raise Refused("snapshot-not-found", f"session {self._session!r} has no snapshot {id[:64]!r}")
        return path

    def delete(self, id: str) -> None:
        """Delete a snapshot, if it is there."""
        if _ID.fullmatch(id):
            (self._folder / f"{id}{_SUFFIX}").unlink(missing_ok=True)

    def _about(self, path: Path) -> SnapshotInfo:
        stat = path.stat()
        position = int(path.stem.partition("-")[0])
        return SnapshotInfo(path.stem, self._session, position, stat.st_size, int(stat.st_mtime))
