"""Shares: keys that read the session and change nothing. Make one, list them, revoke them."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter
from gradd_protocol import strictjson
from gradd_protocol.jsondata import invalid_json
from starlette.requests import Request
from starlette.responses import Response

from gradd_server import audit, sharing
from gradd_server.answers import NewShare, ShareInfo
from gradd_server.bodies import OPTIONS_BYTES, json_text
from gradd_server.options import ShareOptions
from gradd_server.replies import json_response
from gradd_server.routes import entry_of, front_of

router = APIRouter()

HOUR = 3600

_options = msgspec.json.Decoder(ShareOptions)


@router.get("/v1/sessions/{name}/shares")
async def list_shares(request: Request, name: str) -> Response:
    """List the session's shares that have not ended, the latest first. Their keys are nowhere."""
    sessions, entry = front_of(request).sessions, entry_of(request)
    found = sessions.shares.of(entry.tenant, entry.name)
    return json_response(
        {"shares": [ShareInfo(share.id, share.created, share.expires or 0) for share in found]}
    )


@router.post("/v1/sessions/{name}/shares")
async def make_share(request: Request, name: str) -> Response:
    """Share the session: make a key that reads it and changes nothing. An empty body means a week.

    The key is in this answer alone. With it `GET` reads the session, its tensors, graphs and curves, and the
    dashboard shows it: `/#key=` and the key. Whatever else it asks for is refused with `read-only`. It ends
    after `hours`, when it is revoked, and with the session.
    """
    front, entry = front_of(request), entry_of(request)
    text = await json_text(request, front.settings.body_timeout, OPTIONS_BYTES)
    options = strictjson.decode(_options, text, invalid_json) if text else ShareOptions()
    secret, made = await sharing.share(front.sessions, entry.tenant, entry.name, options.hours * HOUR)
    audit.shared(request.scope, made.id, options.hours)
    return json_response(NewShare(made.id, made.created, made.expires or 0, secret), 201)


@router.delete("/v1/sessions/{name}/shares/{share}")
async def revoke_share(request: Request, name: str, share: str) -> Response:
    """Revoke a share: its key opens nothing any more. 204 even if there is none."""
    sessions, entry = front_of(request).sessions, entry_of(request)
    await sharing.unshare(sessions, entry.tenant, entry.name, share)
    return Response(status_code=204)
