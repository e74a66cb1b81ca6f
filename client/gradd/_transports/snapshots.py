"""Snapshots of one session: those that the daemon keeps, and files of this machine."""

from __future__ import annotations

import mmap
import os
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING

from gradd_engine.progress import Transfer
from gradd_protocol import frames
from gradd_protocol import messages as m
from msgspec import json

from .._exceptions import ServerError, error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.client import HTTPResponse
    from pathlib import Path

    from .control import Control

_PIECE = 1 << 20
_FILE = {"Content-Type": "application/vnd.safetensors"}


class RemoteShelf:
    """See SnapshotShelf; over HTTP."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def take(self) -> m.SnapshotInfo:
        """See SnapshotShelf.take."""
        return self._control.ask(m.SnapshotInfo, "POST", "/snapshots", once=True)

    def save(self, path: Path) -> m.SnapshotInfo:
        """See SnapshotShelf.save."""
        taken = self.take()
        try:
            with _replacing(path) as part:
                self._control.load(f"/snapshots/{taken.id}", lambda response: _pour(response, part))
        finally:
            self.delete(taken.id)
        return taken

    def all(self) -> list[m.SnapshotInfo]:
        """See SnapshotShelf.all."""
        return self._control.ask(dict[str, list[m.SnapshotInfo]], "GET", "/snapshots")["snapshots"]

    def delete(self, id: str) -> None:
        """See SnapshotShelf.delete."""
        self._control.call("DELETE", f"/snapshots/{id}")

    def begin(self, at: m.SnapshotInfo | Path) -> None:
        """See SnapshotShelf.begin."""
        if isinstance(at, m.SnapshotInfo):
            source = {"from_snapshot": {"session": at.session, "id": at.id}}
            self._control.call("PUT", "", json.encode(source))
            return
        with (
            at.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as octets,
            memoryview(octets) as body,  # http.client sends what can be read in chunks
        ):
            self._control.store("", body, _FILE)


class LocalShelf:
    """See SnapshotShelf; of a session in this process, which keeps none. `run(path, save)` has it write or
    read a file, `end()` ends it.
    """

    def __init__(self, run: Callable[[str, bool], bytes], end: Callable[[], object]) -> None:
        self._run, self._end = run, end

    def take(self) -> m.SnapshotInfo:
        """RuntimeError: nothing keeps it."""
        raise RuntimeError("a session of this process keeps no snapshots; give a path for the file")

    def save(self, path: Path) -> m.SnapshotInfo:
        """See SnapshotShelf.save."""
        with _replacing(path) as part:
            part.touch()  # raises what writing a file there does
            part.unlink()
            info = self._ask(part, save=True)
        stat = path.stat()
        return m.SnapshotInfo("0-00000000", info.name, info.last_position, stat.st_size, int(stat.st_mtime))

    def all(self) -> list[m.SnapshotInfo]:
        """None."""
        return []

    def delete(self, id: str) -> None:
        """See SnapshotShelf.delete."""

    def begin(self, at: m.SnapshotInfo | Path) -> None:
        """See SnapshotShelf.begin."""
        if isinstance(at, m.SnapshotInfo):
            raise ValueError("a session of this process begins at a file")
        try:
            self._ask(at, save=False)
        except ServerError as error:
            if error.problem.slug != "session-exists":
                self._end()
            raise

    def _ask(self, path: Path, save: bool) -> m.SessionInfo:
        reply, _ = frames.decode_reply(self._run(str(path.absolute()), save))
        if isinstance(reply, m.ProblemReply):
            raise error_of(reply.problem, None, None)
        assert isinstance(reply, m.SessionReply)
        return reply.session


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A path to write a file to, which then takes the place of `path`; none is left where that fails."""
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _pour(response: HTTPResponse, path: Path) -> None:
    left = int(response.headers["Content-Length"])
    with path.open("wb") as file, Transfer("downloading", left) as transfer:
        while left:
            piece = response.read(min(left, _PIECE))
            if not piece:
                raise ConnectionError("the answer ended early")
            file.write(piece)
            left -= len(piece)
            transfer.add(len(piece))
    response.read()
