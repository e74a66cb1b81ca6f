"""A WebSocket client that speaks ASGI to the app: no server, no network, the test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from gradd_protocol import frames, messages
from starlette.types import ASGIApp

from tests.waiting import PATIENCE


class Socket:
    """A connection to `path`; `async with` opens it and makes sure that the app's side ends."""

    def __init__(
        self, app: ASGIApp, path: str, headers: Mapping[str, str] | None = None, protocol: str = "gradd.v1"
    ) -> None:
        self.headers = {"host": "127.0.0.1:4733", **(headers or {})}
        self.scope = {
            "type": "websocket",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in self.headers.items()],
            "subprotocols": [protocol] if protocol else [],
            "extensions": {"websocket.http.response": {}},
        }
        self._app = app
        self._to_app: asyncio.Queue[Any] = asyncio.Queue()
        self._from_app: asyncio.Queue[Any] = asyncio.Queue()

    async def __aenter__(self) -> Socket:
        self._task = asyncio.create_task(self._app(self.scope, self._to_app.get, self._from_app.put))
        self._to_app.put_nowait({"type": "websocket.connect"})
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._to_app.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await asyncio.wait_for(self._task, PATIENCE)

    async def event(self) -> dict[str, Any]:
        """The next thing the app says."""
        event: dict[str, Any] = await asyncio.wait_for(self._from_app.get(), PATIENCE)
        return event

    def send_raw(self, **message: Any) -> None:
        self._to_app.put_nowait({"type": "websocket.receive", **message})

    def send(self, message: messages.Message) -> None:
        self.send_raw(bytes=frames.join(frames.encode(message)))

    async def reply(self) -> messages.Message:
        """The next message from the session."""
        event = await self.event()
        assert event["type"] == "websocket.send", event
        return frames.decode_reply(event["bytes"])[0]

    async def attach(self) -> messages.Attached:
        """Open the conversation as the SDK does."""
        event = await self.event()
        assert event["type"] == "websocket.accept"
        assert event["subprotocol"] == "gradd.v1"
        self.accepted = dict(event["headers"])
        self.send(messages.Attach("test"))
        attached = await self.reply()
        assert isinstance(attached, messages.Attached)
        return attached

    async def closed(self) -> int:
        """The code with which the app closes next."""
        event = await self.event()
        assert event["type"] == "websocket.close", event
        return int(event["code"])
