"""Shares: keys that read one session each, change nothing, and go with it.

They are kept as API keys are, by their hashes, in a file of the session's folder: what deletes the session
deletes them. Only the daemon writes it.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable
from typing import NoReturn

import msgspec
from gradd_protocol.limits import DEFAULT as LIMITS
from starlette.routing import compile_path

from gradd_server.errors import Refused
from gradd_server.keys import BadKeys, Key, digest, mint

logger = logging.getLogger("gradd.server")

MOST = 100
"""Shares of a session."""

READABLE = (
    "/v1/live",
    "/v1/sessions/{name}",
    "/v1/sessions/{name}/activity",
    "/v1/sessions/{name}/memory",
    "/v1/sessions/{name}/series",
    "/v1/sessions/{name}/tensors",
    "/v1/sessions/{name}/tensors/{id}",
    "/v1/sessions/{name}/tensors/{id}/graph",
)
"""The routes that a share may GET, of its session; beside them what is for everybody."""

_readable = [compile_path(path)[0] for path in READABLE]


class Share(Key, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key of one session of its tenant's. One that is revoked is no more."""

    session: str

    def check(self, method: str, path: str) -> None:
        """Raise Refused (403, and 404 for another session) unless the share may ask that."""
        if method not in ("GET", "HEAD"):
            self._refuse()
        found = next(filter(None, (pattern.fullmatch(path) for pattern in _readable)), None)
        if found is None:
            self._refuse()
        name = found.groupdict().get("name", self.session)
        if name != self.session:
            raise Refused("session-not-found", f"no session is named {name[: LIMITS.name_chars]!r}")

    def _refuse(self) -> NoReturn:
        raise Refused("read-only", f"this key reads session {self.session!r}, and nothing else")


_decode = msgspec.json.Decoder(list[Share]).decode


class ShareTable:
    """The shares of the sessions that are open. `clock` tells the time (s)."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._of: dict[tuple[str, str], list[Share]] = {}
        #: their time tells of a hash, which says nothing of a key
        self._by_hash: dict[str, Share] = {}

    def find(self, hash: str) -> Share | None:
        """The share of that hash, if there is one; it may have expired."""
        return self._by_hash.get(hash)

    def of(self, tenant: str, session: str) -> list[Share]:
        """The shares of a session that have not expired, the latest first."""
        now = self._clock()
        found = [share for share in self._of.get((tenant, session), ()) if not share.fault(now)]
        return sorted(found, key=lambda share: share.created, reverse=True)

    def make(self, tenant: str, session: str, lifetime: int) -> tuple[str, Share]:
        """A new share, for `lifetime` seconds from now, and its key; it is none before `put`. Raises Refused
        (429).
        """
        held = len(self.of(tenant, session))
        if held >= MOST:
            raise Refused(
                "too-many", f"the session has {held} shares: revoke some",
                limit=MOST, used=held, requested=1,
            )  # fmt: skip
        now = int(self._clock())
        secret = mint()
        share = Share(
            id=f"s{secrets.token_hex(5)}",
            hash=digest(secret),
            tenant=tenant,
            session=session,
            created=now,
            expires=now + lifetime,
        )
        return secret, share

    def put(self, tenant: str, session: str, shares: Iterable[Share]) -> None:
        """These are the session's, and no others."""
        for old in self._of.pop((tenant, session), ()):
            del self._by_hash[old.hash]
        if new := list(shares):
            self._of[tenant, session] = new
            self._by_hash.update((share.hash, share) for share in new)

    def load(self, sessions: Iterable[tuple[str, str]], read: Callable[[str, str], bytes | None]) -> None:
        """Take the shares of sessions, by tenant and name, which `read` gives as `encode` made them. What is
        not private, or is none of them, is told in the log and gives none: whom to let in is not guessed.
        """
        for tenant, session in sessions:
            try:
                self.put(tenant, session, _decoded(read(tenant, session), tenant, session))
            except BadKeys as bad:
                logger.error("no share of a session is taken: %s", bad)


def _decoded(content: bytes | None, tenant: str, session: str) -> list[Share]:
    if content is None:
        return []
    try:
        shares = _decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as bad:
        raise BadKeys(f"those of {tenant}/{session}: {bad}") from None
    if any((share.tenant, share.session) != (tenant, session) for share in shares):
        raise BadKeys(f"those of {tenant}/{session} are of another session")
    return shares


def encode(shares: list[Share]) -> bytes:
    """What is kept of a session's shares, for `ShareTable.load`."""
    return msgspec.json.encode(shares)
