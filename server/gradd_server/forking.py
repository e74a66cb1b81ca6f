"""Snapshots of sessions that are taken by hand, and sessions that begin at them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from gradd_protocol.messages import SessionReply, SnapshotInfo
from gradd_runtime.process import FileOrder
from gradd_runtime.store import link, remove, size_of

from gradd_server.open_session import OpenSession
from gradd_server.options import SnapshotRef
from gradd_server.sessions import Sessions, opened
from gradd_server.snapshots import Shelf, unkept


def shelf_of(sessions: Sessions, entry: OpenSession) -> Shelf:
    """The session's snapshots. Raises Refused where none can be kept."""
    durable = entry.options.get("durability") == "disk"
    return sessions.stores.shelf(entry.tenant, entry.name, durable)


async def take(sessions: Sessions, entry: OpenSession) -> SnapshotInfo:
    """Take a snapshot of the session. Raises ProtocolError."""
    shelf = shelf_of(sessions, entry)
    place = await asyncio.to_thread(shelf.place)
    try:
        reply, _ = opened(await sessions.submit(entry, FileOrder(place, save=True)))
        assert isinstance(reply, SessionReply)
        sessions.take_disk(entry.tenant, await asyncio.to_thread(size_of, place))
        return await asyncio.to_thread(shelf.keep, place, reply.session.last_position)
    except BaseException:
        await asyncio.to_thread(remove, place)
        raise


async def fork(
    sessions: Sessions, tenant: str, name: str, options: Mapping[str, Any], source: SnapshotRef
) -> tuple[OpenSession, bool]:
    """`Sessions.open`, of a session that begins at a snapshot of another one of the tenant's."""
    if any(entry.name == name for entry in sessions.of(tenant)):
        return await sessions.open(tenant, name, options)
    shelf = shelf_of(sessions, sessions.find(tenant, source.session))
    kept = await asyncio.to_thread(shelf.find, source.id)
    begin = sessions.stores.incoming()
    try:
        sessions.take_disk(tenant, await asyncio.to_thread(size_of, kept))
        await asyncio.to_thread(link, kept, begin)  # it may be deleted meanwhile
        return await sessions.open(tenant, name, options, begin)
    except OSError as error:
        raise unkept(error, "the snapshot cannot be read") from None
    finally:
        await asyncio.to_thread(remove, begin)
