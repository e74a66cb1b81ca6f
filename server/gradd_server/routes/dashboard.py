"""The dashboard: its files, and what it shows live."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gradd_server.answers import LiveState
from gradd_server.errors import Refused
from gradd_server.front import Front
from gradd_server.keys import Key
from gradd_server.media import EVENTS, JSON, choose
from gradd_server.pages import FILES, HEADERS
from gradd_server.replies import json_response
from gradd_server.routes import front_of, key_of
from gradd_server.telemetry.live import live_state

EVERY = 1.0
"""Seconds between two events."""


async def get_page(request: Request) -> Response:
    """The dashboard, a page for browsers."""
    return _file(request, "index.html")


async def get_page_file(request: Request) -> Response:
    """A file of the dashboard."""
    return _file(request, request.path_params["file"])


def _file(request: Request, name: str) -> Response:
    found = FILES.get(name)
    if found is None:
        raise Refused("not-found", f"the dashboard has no file {name[:64]!r}")
    headers = {**HEADERS, "etag": found.tag}
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers, media_type=found.media_type)


async def get_live(request: Request) -> Response:
    """What the daemon does, as far as the asker may see it: sessions, tenants, engine processes.

    With `Accept: text/event-stream` it is told every second, as server-sent events of the name `live`, until
    the client leaves, the daemon shuts down or the key ends. A user sees its own tenant, an operator all.
    """
    form = choose(request.headers.get("accept"), (JSON, EVENTS))
    if form is None:
        raise Refused("not-acceptable", "there is no such form", supported=[JSON, EVENTS])
    front, key = front_of(request), key_of(request)
    if form == JSON:
        return json_response(await live_state(front, key))
    return EventStream(front, key, lambda: live_state(front, key))


class EventStream(Response):
    """States as server-sent events, for as long as somebody listens and may."""

    def __init__(self, front: Front, key: Key, state: Callable[[], Awaitable[LiveState]]) -> None:
        super().__init__(None, 200, {"cache-control": "no-store", "vary": "accept"}, EVENTS)
        del self.headers["content-length"]
        self._front, self._key, self._state = front, key, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            ends = [
                asyncio.ensure_future(_left(receive)),
                asyncio.ensure_future(self._front.draining.wait()),
            ]
            try:
                while not any(end.done() for end in ends) and self._allowed():
                    told = msgspec.json.encode(await self._state())
                    event = b"event: live\ndata: " + told + b"\n\n"
                    await send({"type": "http.response.body", "body": event, "more_body": True})
                    await asyncio.wait(ends, timeout=EVERY, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for end in ends:
                    end.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _allowed(self) -> bool:
        keys = self._front.keys
        return keys is None or not keys.fault(self._key)


async def _left(receive: Receive) -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        continue


routes = [
    Route("/", get_page, methods=["GET"]),
    Route("/dashboard/{file}", get_page_file, methods=["GET"]),
    Route("/v1/live", get_live, methods=["GET"]),
]
