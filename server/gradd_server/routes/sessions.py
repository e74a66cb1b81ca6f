"""Sessions: create or get, list, delete; become a writer."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from gradd_protocol import names, strictjson
from gradd_protocol.jsondata import invalid_json
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Acquire, Attach, Info, Profiled, ProfileSwitch, SessionInfo, SessionReply
from gradd_protocol.problems import ProtocolError, problem
from starlette.requests import Request
from starlette.responses import Response

from gradd_server.bodies import OPTIONS_BYTES, json_text
from gradd_server.errors import Refused
from gradd_server.forking import fork
from gradd_server.front import Front
from gradd_server.media import SAFETENSORS, media_type
from gradd_server.open_session import OpenSession
from gradd_server.options import CancelOptions, Durability, ProfileOptions, SessionOptions
from gradd_server.replies import json_response, respond
from gradd_server.routes import entry_of, front_of, key_of
from gradd_server.routes.snapshots import uploaded

router = APIRouter()


_AWAY = ("recovering", "store-failed", "disk-full")
_options = msgspec.json.Decoder(SessionOptions)
_profile = msgspec.json.Decoder(ProfileOptions)
_cancel = msgspec.json.Decoder(CancelOptions)
_attach = msgspec.json.Decoder(Attach)


async def _info(front: Front, entry: OpenSession, wake: bool = True) -> SessionInfo:
    reply, _ = await front.sessions.ask(entry, Info(wake=wake))
    if not isinstance(reply, SessionReply):
        raise TypeError(f"a session answered {type(reply).__name__} to info")
    node = front.sessions.placement.node_of(entry.key)
    return reply.session if node is None else msgspec.structs.replace(reply.session, node=node)


@router.get("/v1/sessions")
async def list_sessions(
    request: Request,
    page_size: Annotated[int, Query(ge=1, le=1000)] = 100,
    page_token: Annotated[str, Query(max_length=LIMITS.name_chars)] = "",
    tenant: Annotated[str | None, Query(max_length=LIMITS.name_chars)] = None,
) -> Response:
    """List the open sessions by name, in pages: continue with `page_token=next_page_token`.

    A session that was lost with its engine process has `lost: true`, until it is deleted. One that its store
    does not give at the moment has `away`, with the problem: `recovering` where it ended without falling
    asleep, and nobody has asked for it since. None is woken. They are the asking tenant's; an operator may
    ask for those of another `tenant`.
    """
    front, key = front_of(request), key_of(request)
    if tenant not in (None, key.tenant) and key.role != "operator":
        raise Refused("forbidden", "sessions of another tenant are for operators to list")
    whose = key.tenant if tenant is None else names.tenant(tenant)
    rest = [entry for entry in front.sessions.of(whose) if entry.name > page_token]
    page = rest[:page_size]
    turn = request.scope["turn"]

    async def ask(entry: OpenSession) -> SessionInfo:
        await turn()
        return await _info(front, entry, wake=False)

    # A session that ends meanwhile is left out.
    answers = await asyncio.gather(*map(ask, page), return_exceptions=True)
    found: list[SessionInfo | dict[str, object]] = []
    for entry, answer in zip(page, answers, strict=True):
        if isinstance(answer, SessionInfo):
            found.append(answer)
        elif isinstance(answer, ProtocolError) and answer.problem.slug == "device-lost":
            found.append({**msgspec.to_builtins(SessionInfo(entry.name, 0)), "lost": True})
        elif not isinstance(answer, ProtocolError):
            raise answer
        elif answer.problem.slug in _AWAY:
            found.append({**msgspec.to_builtins(SessionInfo(entry.name, 0)), "away": answer.problem.slug})
    said: dict[str, object] = {"sessions": found}
    if len(rest) > page_size:
        said["next_page_token"] = page[-1].name
    return json_response(said)


@router.put("/v1/sessions/{name}")
async def put_session(request: Request, name: str, durability: Durability | None = None) -> Response:
    """Create the session, or get it if it exists (200); an empty body means defaults.

    With `from_snapshot` it begins as that session was: with the tensors that had names, their gradients and
    graphs, its hooks and its random stream, and without writers. A body that is the file of a snapshot
    (`application/vnd.safetensors`) does so, too; `durability` is then in the query.
    """
    front = front_of(request)
    if media_type(request.headers.get("content-type", ""))[0] == SAFETENSORS:
        chosen = {} if durability is None else {"durability": durability}
        entry = await uploaded(request, name, chosen)
        return json_response(await _info(front, entry), 201)
    text = await json_text(request, front.settings.body_timeout, OPTIONS_BYTES)
    options = strictjson.decode(_options, text, invalid_json) if text else SessionOptions()
    devices = front.sessions.devices
    if options.device is not None and not names.is_device(options.device, devices):
        raise Refused(
            "invalid-data", f"this daemon has no device {options.device!r}: it serves {', '.join(devices)}"
        )
    most = front.settings.most_session_bytes
    if not 0 <= (options.quota_bytes or 0) <= most:
        raise Refused("invalid-data", "a quota is at most the daemon's own", limit=most)
    tenant, chosen = key_of(request).tenant, msgspec.to_builtins(options)
    source = options.from_snapshot
    if source is None:
        entry, created = await front.sessions.open(tenant, name, chosen)
    else:
        entry, created = await fork(front.sessions, tenant, name, chosen, source)
    return json_response(await _info(front, entry), 201 if created else 200)


@router.get("/v1/sessions/{name}")
async def get_session(request: Request, name: str) -> Response:
    """Get the session's counts and settings.

    One that is `asleep` is not woken for it.
    """
    front = front_of(request)
    return json_response(await _info(front, entry_of(request)))


@router.delete("/v1/sessions/{name}")
async def delete_session(request: Request, name: str) -> Response:
    """End the session and drop its tensors; 204 even if there is none."""
    await front_of(request).sessions.close(key_of(request).tenant, name)
    return Response(status_code=204)


@router.post("/v1/sessions/{name}:attach")
async def attach(request: Request, name: str) -> Response:
    """Become a writer of the session, which is created if needed; or resume as one with `resume`."""
    front = front_of(request)
    text = await json_text(request, front.settings.body_timeout, OPTIONS_BYTES)
    message = strictjson.decode(_attach, text, invalid_json) if text else Attach()
    entry = await front.sessions.attached(key_of(request).tenant, name, message)
    return respond(*await front.sessions.ask(entry, message))


@router.post("/v1/sessions/{name}:acquire")
async def acquire(request: Request, name: str) -> Response:
    """Become the session's only writer: begins a new epoch and fences all earlier writers."""
    front = front_of(request)
    return respond(*await front.sessions.ask(entry_of(request), Acquire()))


@router.post("/v1/sessions/{name}:cancel")
async def cancel(request: Request, name: str) -> Response:
    """Stop the session's batches: the one that runs, between two steps, and those that wait.

    They are answered with `cancelled`, unless they are done before; those that come later run. An empty body
    means all.
    """
    front = front_of(request)
    text = await json_text(request, front.settings.body_timeout, OPTIONS_BYTES)
    options = strictjson.decode(_cancel, text, invalid_json) if text else CancelOptions()
    why = problem("cancelled", "somebody asked for it with :cancel")
    front.sessions.stop(entry_of(request), why, options.writer, options.seq)
    return Response(status_code=204)


@router.post("/v1/sessions/{name}:profile")
async def profile(request: Request, name: str) -> Response:
    """Start or stop profiling the session, and get what was measured since the start.

    `kernels` by time, `batches` with the reason if eager, `misses` (new programs, and where they differ from
    the one before), counts, seconds in the engine and in the queue, the latest `calls` of kernels, and when
    batches passed the `front`.
    """
    front = front_of(request)
    text = await json_text(request, front.settings.body_timeout, OPTIONS_BYTES)
    options = strictjson.decode(_profile, text, invalid_json)
    entry = entry_of(request)
    reply, buffers = await front.sessions.ask(entry, ProfileSwitch(options.on))
    if isinstance(reply, Profiled):
        reply = msgspec.structs.replace(reply, front=entry.profile(options.on))
    return respond(reply, buffers)
