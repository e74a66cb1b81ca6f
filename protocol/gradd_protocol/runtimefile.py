"""The runtime file: where a daemon listens and its local key, for programs of the same user and no other.

A daemon writes one when it starts, mode 0600 in a folder of mode 0700, with a key that is new each time. What
connects to that address looks for it. One that belongs to another user, or that others can read or write, is
refused: it might lead to a daemon of theirs.
"""

import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec


class RuntimeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says."""

    url: str
    key: str
    pid: int


class NotPrivate(PermissionError):
    """A runtime file, or its folder, is another user's or open to others."""


_FILE: Final = msgspec.json.Decoder(RuntimeFile)
_BYTES: Final = 64 * 1024


def folders(environ: Mapping[str, str] | None = None) -> list[Path]:
    """Where runtime files are looked for, in order; a daemon writes to the first that it can.

    `$GRADD_RUNTIME_DIR` alone where it is set, else `$XDG_RUNTIME_DIR/gradd`, `/run/user/UID/gradd`, and
    `run` in `$GRADD_DATA_DIR` and in the data directory that is the default.
    """
    said = os.environ if environ is None else environ
    if "GRADD_RUNTIME_DIR" in said:
        return [Path(said["GRADD_RUNTIME_DIR"])]
    home = Path(said.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "gradd"
    found = [Path("/run/user") / str(os.geteuid()) / "gradd", home / "run"]
    if said.get("GRADD_DATA_DIR"):
        found.insert(1, Path(said["GRADD_DATA_DIR"]) / "run")
    if said.get("XDG_RUNTIME_DIR"):
        found.insert(0, Path(said["XDG_RUNTIME_DIR"]) / "gradd")
    return list(dict.fromkeys(found))


def write(url: str, key: str, environ: Mapping[str, str] | None = None) -> Path:
    """Write the file of the daemon at `url`. Raises OSError where no folder takes it."""
    refusals = []
    for folder in folders(environ):
        if folder.name == "gradd" and not folder.parent.exists():
            continue  # the system makes such a folder when a user logs in, or there is none
        try:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            _own(folder.stat(), folder)
            path = folder / _name(url)
            spare = folder / f".{path.name}.{secrets.token_hex(4)}"
            descriptor = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(RuntimeFile(url, key, os.getpid())))
            os.replace(spare, path)
        except OSError as refused:
            refusals.append(f"{folder}: {refused.strerror or refused}")
        else:
            return path
    raise OSError("; ".join(refusals) or "there is no folder for it")


def remove(path: Path, key: str) -> None:
    """Remove the file, unless a later daemon has written its own."""
    with suppress(OSError, ValueError):
        if _read(path).key == key:
            path.unlink()


def find(url: str, environ: Mapping[str, str] | None = None) -> RuntimeFile | None:
    """The file of the daemon that is to listen at `url`; None where there is none.

    For `localhost` the file tells which loopback address is meant: another user may listen on the other.
    Raises NotPrivate for a file that is another user's, or open to others.
    """
    parts = urlsplit(url)
    if parts.path not in ("", "/") or parts.query:
        return None
    try:
        port = parts.port
    except ValueError:
        return None
    hosts = ("127.0.0.1", "::1") if parts.hostname == "localhost" else (parts.hostname or "",)
    for folder in folders(environ):
        for host in hosts:
            path = folder / _name_of(host, port)
            try:
                found = _read(path)
            except (OSError, msgspec.MsgspecError) as refused:
                if isinstance(refused, NotPrivate):
                    raise
                continue  # not there, not to be looked into, or not whole
            if urlsplit(found.url).scheme == parts.scheme:
                return found
    return None


def _read(path: Path) -> RuntimeFile:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        _own(os.fstat(descriptor), path)
        return _FILE.decode(file.read(_BYTES))


def _own(found: os.stat_result, path: Path) -> None:
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise NotPrivate(
            f"{path} is another user's, or open to others: it must be yours, with mode "
            f"{'0700' if stat.S_ISDIR(found.st_mode) else '0600'}"
        )


def _name(url: str) -> str:
    parts = urlsplit(url)
    return _name_of(parts.hostname or "", parts.port)


def _name_of(host: str, port: int | None) -> str:
    return f"{host.replace('/', '_')}-{port}.json"
