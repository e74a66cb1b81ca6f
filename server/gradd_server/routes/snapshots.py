"""Snapshots by hand: take one, list them, read its file, delete it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

from fastapi import APIRouter
from gradd_protocol import names
from gradd_protocol.messages import SnapshotInfo
from gradd_runtime.process import Bulk
from gradd_runtime.store import most_bytes, reading, remove, writing
from starlette.requests import Request
from starlette.responses import Response

from gradd_server.bodies import Body
from gradd_server.errors import Refused
from gradd_server.forking import shelf_of, take
from gradd_server.media import SAFETENSORS
from gradd_server.open_session import OpenSession
from gradd_server.replies import CHUNK, StreamedResponse, json_response
from gradd_server.routes import entry_of, front_of, key_of
from gradd_server.snapshots import unkept

router = APIRouter()


@router.get("/v1/sessions/{name}/snapshots")
async def list_snapshots(request: Request, name: str) -> Response:
    """List the snapshots of the session that were taken by hand, the latest first."""
    shelf = shelf_of(front_of(request).sessions, entry_of(request))
    return json_response({"snapshots": await asyncio.to_thread(shelf.all)})


@router.post("/v1/sessions/{name}/snapshots")
async def take_snapshot(request: Request, name: str) -> Response:
    """Take a snapshot of the session: what its names hold, with their graphs and gradients.

    It stays until it or the session is deleted.
    """
    info: SnapshotInfo = await take(front_of(request).sessions, entry_of(request))
    return json_response(info, 201)


@router.get("/v1/sessions/{name}/snapshots/{snapshot}")
async def get_snapshot(request: Request, name: str, snapshot: str) -> Response:
    """Read the file of a snapshot, as plain safetensors."""
    shelf = shelf_of(front_of(request).sessions, entry_of(request))
    place = await asyncio.to_thread(shelf.find, snapshot)
    try:
        with await asyncio.to_thread(reading, place) as kept:
            file = Bulk(os.dup(kept.fileno()), os.fstat(kept.fileno()).st_size)
    except FileNotFoundError:
        raise Refused("snapshot-not-found", "the snapshot was deleted") from None
    except OSError as error:
        raise unkept(error, "the snapshot cannot be read") from None

    async def piece(begin: int) -> memoryview:
        data = await asyncio.to_thread(os.pread, file.fd, CHUNK, begin)
        if not data:
            raise OSError(f"the file of snapshot {snapshot} ends too early")
        return memoryview(data)

    disposition = {"content-disposition": f'attachment; filename="{name}-{snapshot}.safetensors"'}
    return StreamedResponse(b"", file.size, piece, media_type=SAFETENSORS, headers=disposition)


@router.delete("/v1/sessions/{name}/snapshots/{snapshot}")
async def delete_snapshot(request: Request, name: str, snapshot: str) -> Response:
    """Delete a snapshot; 204 even if there is none."""
    shelf = shelf_of(front_of(request).sessions, entry_of(request))
    await asyncio.to_thread(shelf.delete, snapshot)
    return Response(status_code=204)


async def uploaded(request: Request, name: str, options: Mapping[str, Any]) -> OpenSession:
    """A new session that begins at the snapshot in the request's body. Raises ProtocolError: as Body, and
    where it cannot begin there.
    """
    front, tenant = front_of(request), key_of(request).tenant
    names.session(name)
    exists = Refused("session-exists", f"session {name!r} has begun already")
    if any(entry.name == name for entry in front.sessions.of(tenant)):
        raise exists
    if "content-length" not in request.headers:
        raise Refused("length-required", "an upload must say its Content-Length")
    place = front.sessions.stores.incoming()
    body = Body(request, most_bytes(front.settings.most_session_bytes), front.settings.body_timeout)
    front.sessions.take_disk(tenant, body.length)
    try:
        async with _written(place) as file:
            while body.remaining:
                piece = await body.read(min(body.remaining, CHUNK))
                await asyncio.to_thread(file.write, piece)
        entry, new = await front.sessions.open(tenant, name, options, place)
    except OSError as error:
        raise unkept(error, "the snapshot cannot be written") from None
    finally:
        await asyncio.to_thread(remove, place)
    if not new:
        raise exists
    return entry


@asynccontextmanager
async def _written(place: str) -> AsyncIterator[BinaryIO]:
    """`writing`, which a thread begins and ends."""
    context = writing(place)
    file = await asyncio.to_thread(context.__enter__)
    try:
        yield file
    except BaseException as error:
        await asyncio.to_thread(context.__exit__, type(error), error, error.__traceback__)
        raise
    await asyncio.to_thread(context.__exit__, None, None, None)
