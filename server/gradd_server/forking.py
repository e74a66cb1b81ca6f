"""Snapshots of sessions that are taken by hand, and sessions that begin at them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from gradd_protocol.messages import SessionReply, SnapshotInfo
from gradd_runtime.process import FileOrder

from gradd_server.open_session import OpenSession
from gradd_server.options import SnapshotRef
from gradd_server.sessions import Sessions, opened
from gradd_server.snapshots import Shelf, unkept


def shelf_of(sessions: Sessions, entry: OpenSession) -> Shelf:
    """The session's snapshots. Raises Refused where none can be kept."""
    folder = sessions.stores.snapshots(entry.tenant, entry.name)
    return Shelf(folder, entry.name, entry.options.get("durability") == "disk")


async def take(sessions: Sessions, entry: OpenSession) -> SnapshotInfo:
    """Take a snapshot of the session. Raises ProtocolError."""
    shelf = shelf_of(sessions, entry)
    path = await asyncio.to_thread(shelf.place)
    try:
        reply, _ = opened(await sessions.submit(entry, FileOrder(str(path), save=True)))
        assert isinstance(reply, SessionReply)
        sessions.take_disk(entry.tenant, path.stat().st_size)
        return await asyncio.to_thread(shelf.keep, path, reply.session.last_position)
    except BaseException:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        raise


async def fork(
    sessions: Sessions, tenant: str, name: str, options: Mapping[str, Any], source: SnapshotRef
) -> tuple[OpenSession, bool]:
    """`Sessions.open`, of a session that begins at a snapshot of another one of the tenant's."""
    if any(entry.name == name for entry in sessions.of(tenant)):
        return await sessions.open(tenant, name, options)
    file = shelf_of(sessions, sessions.find(tenant, source.session)).path(source.id)
    begin = sessions.stores.incoming()
    try:
        sessions.take_disk(tenant, file.stat().st_size)
        await asyncio.to_thread(begin.hardlink_to, file)  # it may be deleted meanwhile
        return await sessions.open(tenant, name, options, begin)
    except OSError as error:
        raise unkept(error, "the snapshot cannot be read") from None
    finally:
        await asyncio.to_thread(begin.unlink, missing_ok=True)
