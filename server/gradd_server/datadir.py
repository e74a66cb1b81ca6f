"""The data directory: mode 0700, used by one daemon at a time, or by the fronts of one cluster."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

LOCK_NAME = "gradd.lock"
PROBE_NAME = ".probe"
PROBE_BYTES = 4096
LOOK_SECONDS = 1.0
"""Longest time for which an answer of `DataDir.fault` is given again."""


def default_data_dir() -> Path:
    """The default data directory: `$XDG_DATA_HOME/gradd`, else `~/.local/share/gradd`."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "gradd"


def chosen_data_dir(said: Path | None, environ: Mapping[str, str]) -> Path:
    """The data directory that a command works on: the one that was said, else `$GRADD_DATA_DIR`, else the
    default.
    """
    named = said or environ.get("GRADD_DATA_DIR")
    return Path(named).expanduser() if named else default_data_dir()


class CannotCreate(OSError):
    """The data directory cannot be created or written; the command exits with 73."""


class Locked(RuntimeError):
    """Another daemon uses the data directory; the command exits with 75."""


class DataDir:
    """The directory at `path`, locked until `close` or the end of the process, if it is `shared` against
    those only that do not share it.

    Raises CannotCreate or Locked.
    """

    def __init__(self, path: Path, shared: bool = False) -> None:
        self.path = path
        self._fault, self._looked = "", -LOOK_SECONDS
        make_private(path)
        try:
            self._descriptor = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as refused:
            raise CannotCreate(f"{path}: {refused.strerror or refused}") from None
        try:
            fcntl.flock(self._descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._descriptor, 256).decode("ascii", "replace").split()
            os.close(self._descriptor)
            raise Locked(
                f"{path} is in use by another daemon (process {' at '.join(holder)}). Connect to that one, "
                "stop it, or choose another directory: --data-dir"
            ) from None
        if not shared:
            self._write(f"{os.getpid()}\n")

    def publish(self, url: str) -> None:
        """Write the daemon's URL, for commands that look for it (`holder_url`)."""
        self._write(f"{os.getpid()}\n{url}\n")

    def fault(self) -> str:
        """Why the directory takes no files at the moment; empty if it does. Looks once a second."""
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._fault = self._probe()
            self._looked = now
        return self._fault

    def _probe(self) -> str:
        path = self.path / PROBE_NAME
        try:
            with open(path, "wb") as file:
                file.write(bytes(PROBE_BYTES))
            path.unlink()
        except OSError as refused:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            return f"the data directory takes no files: {refused.strerror or type(refused).__name__}"
        return ""

    def _write(self, text: str) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def close(self) -> None:
        """Unlock the directory. The lock file stays: removing it would race with the next daemon."""
        os.close(self._descriptor)

    def __enter__(self) -> DataDir:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def holder_url(path: Path) -> str | None:
    """The URL of the daemon that uses `path`, or used it last; None if it cannot be read."""
    try:
        lines = (path / LOCK_NAME).read_text().split()
    except OSError:
        return None
    return lines[1] if len(lines) == 2 else None


def make_private(path: Path) -> None:
    """Make the directory, or see to it that it is nobody else's. Raises CannotCreate."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _shut(path)
    except CannotCreate:
        raise
    except OSError as refused:
        raise CannotCreate(f"{path}: {refused.strerror or refused}") from None


def _shut(path: Path) -> None:
    if not stat.S_IMODE(path.stat().st_mode) & 0o077:
        return
    # Do not change the mode of a directory with other files (/tmp, a home).
    if any(path.iterdir()) and not (path / LOCK_NAME).exists():
        raise CannotCreate(
            f"{path} holds other files and is open to other users: chmod 700 it, or take a new directory"
        )
    path.chmod(0o700)
