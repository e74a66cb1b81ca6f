"""All errors are answered with `application/problem+json` (RFC 9457), without tracebacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from gradd_protocol.problems import Problem, ProtocolError, problem
from gradd_protocol.version import WIRE
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from gradd_server.media import PROBLEM

_SLUG_OF_STATUS = {400: "bad-request", 404: "not-found", 405: "method-not-allowed", 413: "body-too-large"}


class Refused(ProtocolError):
    """A refusal by the front: a slug of the table, a detail, members of Problem, headers of the reply."""

    def __init__(
        self, slug: str, detail: str = "", *, headers: Mapping[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(problem(slug, detail, **members))
        self.headers = headers


def draining() -> Refused:
    """The refusal while the daemon shuts down (503)."""
    return Refused("draining", "the daemon is shutting down", retry_after=1, headers={"retry-after": "1"})


def other_wire(path: str) -> list[str] | None:
    """The wires that are spoken here, if the path is of another: its client may be newer than this daemon."""
    version = path.partition("/v")[2].partition("/")[0] if path.startswith("/v") else ""
    return [WIRE] if version.isdecimal() and not path.startswith("/v1/") else None


def problem_bytes(fault: Problem) -> bytes:
    """`fault` as JSON."""
    return msgspec.json.encode(fault)


def problem_response(fault: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The HTTP reply for `fault`, with its status."""
    return Response(problem_bytes(fault), fault.status, headers, media_type=PROBLEM)


async def send_problem(scope: Scope, receive: Receive, send: Send, error: ProtocolError) -> None:
    """Answer with the problem of `error`; for a WebSocket, refuse the handshake with it."""
    response = problem_response(error.problem, getattr(error, "headers", None))
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.problem.title})
        return
    await response(scope, receive, send)


def _methods(request: Request) -> list[str]:
    """The methods of all routes at the request's path; the router knows only those of the first."""
    found: set[str] = set()
    for route in request.app.routes:
        match, scope = route.matches(request.scope)
        # `demo:attach` fits `{name}` too, but no name has a colon.
        if match is not Match.NONE and not any(":" in value for value in scope["path_params"].values()):
            found |= route.methods
    return sorted(found)


def install(app: FastAPI) -> None:
    """Turn the app's own errors (no route, wrong method, invalid parameter) into problems too."""

    async def on_protocol_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, ProtocolError)
        request.app.state.front.counts.refused[error.problem.slug] += 1
        return problem_response(error.problem, getattr(error, "headers", None))

    async def on_http_exception(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        slug = _SLUG_OF_STATUS.get(error.status_code, "bad-request")
        detail = f"{request.method} {request.url.path[:128]}"
        headers = error.headers
        if error.status_code == 405:
            headers = {"allow": ", ".join(_methods(request))}
        supported = other_wire(request.url.path) if slug == "not-found" else None
        return problem_response(problem(slug, detail, supported=supported), headers)

    async def on_unreadable_parameter(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        errors = [
            {"detail": str(fault["msg"]), "pointer": "/" + "/".join(map(str, fault["loc"]))}
            for fault in error.errors()
        ]
        return problem_response(problem("bad-request", "a parameter cannot be read", errors=errors))

    async def on_disconnect(request: Request, error: Exception) -> Response:
        return problem_response(problem("bad-request", "the body ended early"))

    async def on_failure(request: Request, error: Exception) -> Response:
        # The gate logs the error with this id.
        return problem_response(problem("internal", request_id=request.scope.get("request_id")))

    app.add_exception_handler(Exception, on_failure)
    app.add_exception_handler(ProtocolError, on_protocol_error)
    app.add_exception_handler(HTTPException, on_http_exception)
    app.add_exception_handler(RequestValidationError, on_unreadable_parameter)
    app.add_exception_handler(ClientDisconnect, on_disconnect)
