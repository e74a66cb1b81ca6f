"""API keys: what they are, and the file in the data directory that holds their hashes.

A key is 256 random bits and a checksum; who holds it is who it says. Only its SHA-256 is kept: of that many
random bits a plain hash tells nothing, so no slow one is needed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec
from gradd_protocol import names
from gradd_protocol.problems import ProtocolError

PREFIX = "gradd_"
FILE_NAME = "keys.json"
LOCK_NAME = "keys.lock"

Role = Literal["user", "operator"]

_KEY = re.compile(r"gradd_([0-9a-f]{64})([0-9a-f]{8})")
_DURATION = re.compile(r"([1-9][0-9]{0,5})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class BadKeys(ValueError):
    """The file of keys cannot be trusted or read, or does not have that key; the command line exits 78."""


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One key as the file has it; times are whole seconds of the epoch."""

    id: str
    hash: str
    """SHA-256 of the key, hexadecimal."""
    tenant: str = names.DEFAULT_TENANT
    role: Role = "user"
    name: str = ""
    created: int = 0
    expires: int | None = None
    revoked: int | None = None

    def fault(self, now: float) -> str:
        """Why the key is not valid at `now`; empty where it is."""
        if self.revoked is not None:
            return "this key was revoked"
        if self.expires is not None and now >= self.expires:
            return "this key has expired"
        return ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    version: Literal[1] = 1
    keys: list[Key] = []


_file = msgspec.json.Decoder(_File)


def mint() -> str:
    """A new key: 256 random bits after the prefix, and a checksum of them."""
    body = secrets.token_hex(32)
    return f"{PREFIX}{body}{_checksum(body)}"


def is_whole(text: str) -> bool:
    """Whether `text` is a key that was neither cut nor mistyped; not whether anybody knows it."""
    found = _KEY.fullmatch(text)
    return found is not None and _checksum(found[1]) == found[2]


def digest(key: str) -> str:
    """What is kept of a key: its SHA-256, hexadecimal."""
    return hashlib.sha256(key.encode()).hexdigest()


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


def seconds(text: str) -> int:
    """The seconds of a duration as `30d`, `12h`, `15m`, `45s`, `2w`. Raises ValueError for anything else."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a duration as 30d, 12h or 15m")
    return int(found[1]) * _SECONDS[found[2]]


def read_private(path: Path) -> bytes | None:
    """What is in a file of keys; None where there is none. Raises BadKeys for one that is not private."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as refused:
        raise BadKeys(f"{path}: {refused.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) & 0o077:
            raise BadKeys(f"{path} is open to other users: chmod 600 it, and look at what it holds")
        if os.geteuid() and found.st_uid != os.geteuid():
            raise BadKeys(f"{path} belongs to another user (uid {found.st_uid})")
        return file.read()


def write_private(path: Path, content: bytes) -> None:
    """Replace a file of keys, JSON, as a whole. Raises OSError, and the file stays as it was."""
    spare = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if not os.geteuid():  # made for the daemon by root: its own it must be
                owner = path.parent.stat()
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            file.write(msgspec.json.format(content, indent=1) + b"\n")
            file.flush()
            os.fsync(descriptor)
        os.replace(spare, path)
    except BaseException:
        with contextlib.suppress(OSError):
            spare.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class KeyFile:
    """`keys.json` in the data directory: mode 0600, replaced as a whole at each change, one change at a time.

    Each method raises BadKeys for a file that is not private, or is no such file. `clock` tells the time (s).
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = folder / FILE_NAME
        self._folder = folder
        self._clock = clock

    def read(self) -> list[Key]:
        """All keys, revoked and expired ones too; none where there is no file."""
        content = read_private(self.path)
        if content is None:
            return []
        try:
            keys = _file.decode(content).keys
            for key in keys:
                names.tenant(key.tenant)
        except (msgspec.MsgspecError, ProtocolError, UnicodeDecodeError) as bad:
            raise BadKeys(f"{self.path}: {bad}") from None
        return keys

    def create(
        self,
        tenant: str = names.DEFAULT_TENANT,
        role: Role = "user",
        name: str = "",
        lifetime: int | None = None,
    ) -> tuple[str, Key]:
        """A new key and what is kept of it; it expires `lifetime` seconds from now, or never."""
        with self._changing() as keys:
            return self._add(keys, tenant, role, name, lifetime)

    def revoke(self, id: str) -> Key:
        """End the key of that id, from now on. Raises BadKeys where there is none."""
        with self._changing() as keys:
            return self._end(keys, id, revoked=int(self._clock()))

    def rotate(self, id: str, overlap: int = 0, lifetime: int | None = None) -> tuple[str, Key]:
        """A new key in the place of that one, which ends `overlap` seconds from now. Raises BadKeys where
        there is none, or it has ended already.
        """
        with self._changing() as keys:
            now = int(self._clock())
            old = self._find(keys, id)
            if fault := old.fault(now):
                raise BadKeys(f"{id}: {fault}; create another")
            if overlap:
                self._end(keys, id, expires=min(now + overlap, old.expires or now + overlap))
            else:
                self._end(keys, id, revoked=now)
            return self._add(keys, old.tenant, old.role, old.name, lifetime)

    def _add(
        self, keys: list[Key], tenant: str, role: Role, name: str, lifetime: int | None
    ) -> tuple[str, Key]:
        now = int(self._clock())
        secret = mint()
        key = Key(
            id=f"k{secrets.token_hex(5)}",
            hash=digest(secret),
            tenant=names.tenant(tenant),
            role=role,
            name=name,
            created=now,
            expires=None if lifetime is None else now + lifetime,
        )
        keys.append(key)
        return secret, key

    def _find(self, keys: list[Key], id: str) -> Key:
        for key in keys:
            if key.id == id:
                return key
        raise BadKeys(f"no key has the id {id!r}; `gradd keys list` shows them")

    def _end(self, keys: list[Key], id: str, **members: int) -> Key:
        old = self._find(keys, id)
        new = msgspec.structs.replace(old, **members) if old.revoked is None else old
        keys[keys.index(old)] = new
        return new

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Key]]:
        """The keys, to be changed in place; written at the end, unless something was raised."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(self._folder / LOCK_NAME, flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            keys = self.read()
            yield keys
            write_private(self.path, msgspec.json.encode(_File(1, keys)))
        finally:
            os.close(lock)
