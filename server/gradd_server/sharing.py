"""Sessions are shared, and not any more."""

from __future__ import annotations

import asyncio

from gradd_server.sessions import Sessions
from gradd_server.shares import Share, encode
from gradd_server.snapshots import unkept


async def share(sessions: Sessions, tenant: str, name: str, lifetime: int) -> tuple[str, Share]:
    """A new share of the tenant's session of that name, for `lifetime` seconds, and its key. Raises Refused:
    400, 404, 429, 507.
    """
    shares = sessions.shares
    async with sessions.changing:
        sessions.find(tenant, name)
        secret, made = shares.make(tenant, name, lifetime)
        held = [made, *shares.of(tenant, name)]
        await _write(sessions, tenant, name, held)
        shares.put(tenant, name, held)
    return secret, made


async def unshare(sessions: Sessions, tenant: str, name: str, id: str) -> None:
    """End a share of the session, if it is there. It ends even where that cannot be written, which is raised:
    Refused; whoever tries again has it written.
    """
    shares = sessions.shares
    async with sessions.changing:
        sessions.find(tenant, name)
        left = [share for share in shares.of(tenant, name) if share.id != id]
        shares.put(tenant, name, left)
        await _write(sessions, tenant, name, left)


async def _write(sessions: Sessions, tenant: str, name: str, shares: list[Share]) -> None:
    if not sessions.keeps:
        return
    stores = sessions.stores
    try:
        await asyncio.to_thread(stores.write_shares, tenant, name, encode(shares))
        await asyncio.to_thread(stores.check)
    except OSError as error:
        raise unkept(error, "the shares of the session cannot be written") from None
