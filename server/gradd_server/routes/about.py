"""Probes, the daemon's own description, the op catalogue and the problem pages."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from gradd_protocol import dtypes, problems
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.version import EXTENSIONS, VERSION, WIRE
from starlette.requests import Request
from starlette.responses import Response

from gradd_server import apidoc
from gradd_server.errors import Refused, draining
from gradd_server.media import YAML
from gradd_server.replies import json_response
from gradd_server.routes import front_of, key_of
from gradd_server.telemetry.status import status_of

router = APIRouter()


@router.get("/livez")
async def livez() -> Response:
    """Check that the process is running."""
    return json_response({"status": "live"})


@router.get("/readyz")
async def readyz(request: Request, verbose: str | None = None) -> Response:
    """Check whether the daemon takes work. `?verbose` adds its checks and counts, for an operator.

    503 while it shuts down, while an engine process does not respond or is being replaced, and while the data
    directory takes no files.
    """
    front = front_of(request)
    if front.draining.is_set():
        raise draining()
    faults = await front.checks.faults()
    if unwell := "; ".join(filter(None, faults.values())):
        raise Refused("not-ready", unwell, retry_after=1, headers={"retry-after": "1"})
    said: dict[str, object] = {"status": "ready"}
    key = request.scope["key"]
    if verbose is not None and key is not None and key.role == "operator":
        said["checks"] = dict.fromkeys(faults, "ok")
        said["sessions"] = len(front.sessions)
        said["streams"] = sum(entry.streams for entry in front.sessions)
        said["unanswered"] = front.unanswered - 1  # without this request
    return json_response(said)


@router.get("/health")
async def health(request: Request, verbose: str | None = None) -> Response:
    """The same as `/readyz`."""
    return await readyz(request, verbose)


@router.get("/openapi.yaml")
async def openapi_yaml(request: Request) -> Response:
    """This API as an OpenAPI document, `application/yaml`."""
    app = request.app
    if not hasattr(app.state, "openapi"):  # made once, in a thread: it takes half a second
        app.state.openapi = await asyncio.to_thread(lambda: apidoc.as_yaml(apidoc.document(app.routes)))
    return Response(app.state.openapi, media_type=YAML)


@router.get("/v1")
async def describe(request: Request) -> Response:
    """Name, version, extensions, limits (bytes and counts) and dtypes of this daemon."""
    limits = {**LIMITS.as_dict(), "session_bytes": front_of(request).settings.most_session_bytes}
    return json_response(
        {
            "name": "gradd",
            "version": VERSION,
            "wire": WIRE,
            "extensions": EXTENSIONS,
            "limits": limits,
            "dtypes": list(dtypes.BY_NAME),
        }
    )


@router.get("/v1/status")
async def status(request: Request) -> Response:
    """What the daemon does: engine processes, tenants, the sessions that answered last. For operators."""
    if key_of(request).role != "operator":
        raise Refused("forbidden", "what a daemon does is for operators to see")
    return json_response(await status_of(front_of(request)))


@router.get("/v1/ops")
async def list_ops(request: Request) -> Response:
    """All ops of the catalogue, with inputs, attrs and outputs."""
    return json_response({"ops": front_of(request).ops})


@router.get("/v1/ops/{op}")
async def get_op(request: Request, op: str) -> Response:
    """One op of the catalogue."""
    found = front_of(request).ops.get(op)
    if found is None:
        raise Refused("op-not-found", f"no op is named {op[:64]!r}; GET /v1/ops lists them")
    return json_response(found)


@router.get("/problems/{slug}")
async def get_problem(slug: str) -> Response:
    """What a problem type means."""
    kind = problems.TABLE.get(slug)
    if kind is None:
        raise Refused("not-found", f"no problem is named {slug[:64]!r}")
    return json_response(
        {
            "type": problems.PREFIX + kind.slug,
            "title": kind.title,
            "status": kind.status,
            "description": kind.description,
        }
    )
