"""The admin listener: `/metrics` and the probes, on a socket of its own.

Over TCP it asks for an operator's key, unless the daemon asks nobody; a Unix socket lets in the user who runs
the daemon, by its mode.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gradd_server.errors import Refused
from gradd_server.front import Front
from gradd_server.gate import PROBES, Gate
from gradd_server.keyring import ANYONE
from gradd_server.keys import Key
from gradd_server.origins import Origins
from gradd_server.telemetry.metrics import exposition


class AdminGate(Gate):
    """The gate of the admin listener: for operators alone."""

    open_paths = PROBES

    def __init__(self, app: ASGIApp, front: Front, private: bool) -> None:
        super().__init__(app, front)
        self._private = private
        self._origins = Origins(frozenset())  # for no page

    def _identify(self, path: str, headers: list[tuple[bytes, bytes]]) -> Key | None:
        if self._private:
            return ANYONE
        key = super()._identify(path, headers)
        if key is not None and key.role != "operator" and path not in PROBES:
            raise Refused("forbidden", "the admin listener is for operators")
        return key


def metrics_route(front: Front) -> Route:
    """The route of `/metrics`."""

    async def metrics(request: Request) -> Response:
        survey = await front.surveyor.look()
        ready = not (front.draining.is_set() or any((await front.checks.faults()).values()))
        body, media_type = exposition(front, survey, ready, request.headers.get("accept", ""))
        return Response(body, headers={"content-type": media_type})

    return Route("/metrics", metrics)


class Listeners:
    """Each request to the app of the socket that it came to: `others` by port, or path of a Unix socket."""

    def __init__(self, app: ASGIApp, others: Mapping[int | str, ASGIApp]) -> None:
        self._app = app
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host, port = scope.get("server") or ("", None)
        app = self._others.get(host if port is None else port, self._app)
        await app(scope, receive, send)
