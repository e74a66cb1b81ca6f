"""Who a request is from: the keys that a running daemon knows, read again whenever their file changes."""

from __future__ import annotations

import hmac
import logging
import os
import time
from collections.abc import Callable, Iterable

from gradd_protocol import names

from gradd_server.errors import Refused
from gradd_server.keys import BadKeys, Key, KeyFile, digest, is_whole
from gradd_server.shares import Share, ShareTable

ANYONE = Key(id="-", hash="", tenant=names.DEFAULT_TENANT, role="operator", name="without authentication")
"""Who asks a daemon that asks nobody who they are (`--no-auth`)."""

logger = logging.getLogger("gradd.server")

Headers = Iterable[tuple[bytes, bytes]]


class Keyring:
    """The keys of `file`, the one of the runtime file (`local`), and shares. With none it knows nobody.

    A file that cannot be trusted or read gives no keys: whom to let in is not guessed.
    """

    def __init__(
        self, file: KeyFile | None = None, local: str | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._file = file
        self._path = None if file is None else os.fspath(file.path)
        self._clock = clock
        self._own = [] if local is None else [Key(id="local", hash=digest(local), role="operator")]
        self._keys = self._own
        self._ids: dict[str, Key] = {}
        self.shares = ShareTable(clock)
        """Those of the sessions that are open."""
        self._stamp: tuple[int, ...] | None = (-1,)
        self.refresh()

    def identify(self, headers: Headers) -> Key:
        """Whose key the headers carry. Raises Refused (401) where they carry none that is valid."""
        said = [value for name, value in headers if name == b"authorization"]
        if not said:
            raise unauthenticated("no API key came with the request")
        scheme, _, text = said[0].partition(b" ")
        token = text.strip().decode("latin-1")
        if len(said) > 1 or scheme.lower() != b"bearer" or not token:
            raise unauthenticated("Authorization must be Bearer KEY, once")
        if not is_whole(token):
            raise unauthenticated("this is no whole key of gradd's: it was cut or mistyped")
        self.refresh()
        sought = digest(token)
        found = None
        for key in self._keys:  # all of them, so that the time tells nothing
            if hmac.compare_digest(key.hash, sought):
                found = key
        found = found or self.shares.find(sought)
        if found is None:
            raise unauthenticated(
                "this key is not known here; that of a runtime file ends with its daemon, that of a share "
                "with its session"
            )
        if fault := found.fault(self._clock()):
            raise unauthenticated(fault)
        return found

    def fault(self, key: Key) -> str:
        """Why a key that was valid is not any more; empty where it is. A look at the file costs about a
        microsecond.
        """
        if key is ANYONE:
            return ""
        self.refresh()
        now = self.shares.find(key.hash) if isinstance(key, Share) else self._ids.get(key.id)
        if now is not key and (now is None or not hmac.compare_digest(now.hash, key.hash)):
            return "this key is not known any more"
        return now.fault(self._clock())

    def refresh(self) -> None:
        """Read the file again if it was changed."""
        stamp = self._look()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        self._keys = self._own
        if self._file is not None:
            try:
                self._keys = [*self._own, *self._file.read()]
            except BadKeys as bad:
                logger.error("no API key is taken until this is mended: %s", bad)
        self._ids = {key.id: key for key in self._keys}

    def _look(self) -> tuple[int, ...] | None:
        if self._path is None:
            return None
        try:
            found = os.lstat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size


def unauthenticated(detail: str) -> Refused:
    """The refusal (401) of one who did not say, or show, who they are."""
    return Refused("unauthenticated", detail, headers={"www-authenticate": 'Bearer realm="gradd"'})
