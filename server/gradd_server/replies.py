"""Turns a session's replies into HTTP responses: status, media type, body."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from gradd_protocol import frames, jsondata
from gradd_protocol.frames import Array
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import (
    Activity,
    Attached,
    Done,
    JsonReply,
    Profiled,
    Reply,
    SessionReply,
    TensorInfo,
    TensorReply,
    Tensors,
)
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gradd_server import formats
from gradd_server.errors import Refused
from gradd_server.media import EXTENDED, FRAME, JSON, NPY, PROBLEM, choose
from gradd_server.sessions import opened
from gradd_server.wire import message_head

CHUNK = 4 << 20
"""Bytes sent at a time: large sends are cheap, but too large ones would starve other replies."""


class PartsResponse(Response):
    """A body of several parts (bytes or views), sent without joining or copying them."""

    def __init__(
        self,
        parts: Sequence[bytes | memoryview],
        *,
        media_type: str,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._views = [memoryview(part).cast("B") for part in parts if len(part)]
        length = str(sum(map(len, self._views)))
        super().__init__(None, status, {**(headers or {}), "content-length": length}, media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            for view in self._views:
                for at in range(0, len(view), CHUNK):
                    await send(
                        {"type": "http.response.body", "body": view[at : at + CHUNK], "more_body": True}
                    )
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def json_response(value: Any, status: int = 200) -> Response:
    """`value` (Structs, dicts, lists) as JSON."""
    return Response(msgspec.json.encode(value), status, media_type=JSON)


def respond(reply: Reply, buffers: list[Array], *, created: int = 201, done: int = 200) -> Response:
    """The HTTP reply for all but tensors and batches; `created` and `done` are the statuses of Done."""
    if isinstance(reply, JsonReply):
        kind = JSON if reply.status < 400 else PROBLEM
        headers = {"gradd-replayed": "?1"} if reply.replayed else None
        return Response(buffers[0].tobytes(), reply.status, headers=headers, media_type=kind)
    if isinstance(reply, Done):
        return Response(status_code=created if reply.created else done)
    if isinstance(reply, Tensors):
        return json_response({"tensors": reply.tensors})
    if isinstance(reply, SessionReply):
        return json_response(reply.session)
    if isinstance(reply, Profiled):
        return json_response(msgspec.structs.asdict(reply))
    if isinstance(reply, Activity):
        profile = msgspec.structs.asdict(reply.profile)
        return json_response({**msgspec.structs.asdict(reply), "profile": profile})
    if isinstance(reply, Attached):
        response = json_response(
            {"writer": reply.writer, "epoch": reply.epoch, "window": reply.window, "session": reply.session}
        )
        response.headers.update(EXTENDED)
        return response
    raise TypeError(f"a session answered {type(reply).__name__} where it does not belong")


def respond_to_batch(reply: frames.Bytes) -> Response:
    """The HTTP reply for a batch: its frame as it is, or the session's problem."""
    head = message_head(reply)
    if head.type == "batch-reply":
        headers = {"gradd-replayed": "?1"} if head.replayed else None
        return PartsResponse([memoryview(reply)], media_type=FRAME, status=head.status, headers=headers)
    return respond(*opened(reply))


class StreamedResponse(Response):
    """A body of `length` bytes in pieces; the next is fetched while one is sent.

    `piece(begin)` returns a non-empty piece of the body from `begin` on.
    """

    def __init__(
        self,
        head: bytes,
        length: int,
        piece: Callable[[int], Awaitable[memoryview]],
        *,
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        self._head, self._length, self._piece = head, length, piece
        super().__init__(None, 200, {**headers, "content-length": str(len(head) + length)}, media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        coming = asyncio.ensure_future(self._piece(0))
        try:
            view = await coming  # before the first byte, failures are answered as usual
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            await send({"type": "http.response.body", "body": self._head, "more_body": True})
            at = len(view)
            while at < self._length:
                coming = asyncio.ensure_future(self._piece(at))
                await send({"type": "http.response.body", "body": view, "more_body": True})
                view = await coming
                at += len(view)
            await send({"type": "http.response.body", "body": view, "more_body": False})
        finally:
            coming.cancel()


def tensor_form(request: Request, dtype: str) -> str:
    """The format in which the request accepts a tensor of that dtype. Raises Refused (406)."""
    offered = tuple(kind for kind in formats.OFFERED if kind != NPY or dtype != "bfloat16")
    kind = choose(request.headers.get("accept"), offered)
    if kind is None:
        raise Refused(
            "not-acceptable", f"a tensor of dtype {dtype} has no such form", supported=list(offered)
        )
    return kind


async def respond_with_tensor(request: Request, name: str, reply: Reply, buffers: list[Array]) -> Response:
    """A tensor in the format that the request accepts. Raises Refused (406)."""
    info, (array,) = told(reply), buffers
    kind = tensor_form(request, info.dtype)
    headers = tensor_headers(info)
    if kind == JSON:
        # In a thread: a million numbers take a second, which would block other requests.
        body = await asyncio.to_thread(lambda: fitting(msgspec.json.encode(jsondata.encode_data(array))))
        return Response(body, headers=headers, media_type=JSON)
    octets = array.reshape(-1).view(np.uint8).data
    return PartsResponse(
        [formats.head(kind, name, info.dtype, info.shape), octets], media_type=kind, headers=headers
    )


def fitting(text: bytes) -> bytes:
    """`text`, if JSON may have so many bytes; otherwise not-acceptable (406)."""
    if len(text) > LIMITS.json_bytes:
        raise jsondata.too_large()
    return text


def tensor_headers(info: TensorInfo) -> dict[str, str]:
    """The headers that describe a tensor."""
    shape = ",".join(map(str, info.shape))
    return {"gradd-dtype": info.dtype, "gradd-shape": shape, "vary": "accept"}


def told(reply: Reply) -> TensorInfo:
    """The tensor's info in a reply."""
    if not isinstance(reply, TensorReply):
        raise TypeError(f"a session answered {type(reply).__name__} where it does not belong")
    return reply.info
