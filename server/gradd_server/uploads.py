"""Turns an upload's body into a frame; its type and size are checked before memory is allocated."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from gradd_protocol import frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Request as Message
from gradd_runtime.process import BULK_BYTES, Bulk, bulk_of
from starlette.requests import Request

from gradd_server import formats
from gradd_server.bodies import Body
from gradd_server.errors import Refused
from gradd_server.media import NPY, OCTETS, SAFETENSORS
from gradd_server.wire import header_for


async def upload_frame(
    request: Request, kind: str, message: Message, timeout: float, room: Callable[[int], None]
) -> frames.Bytes | Bulk:
    """The frame of `message` with the tensor in the request's body, of media type `kind`, as its buffer.
    `room` is called with its size before any bytes are read, and may refuse.

    Raises Refused: 411, 413, 408 as Body; 400 or 422 for a header that does not describe a tensor; 422 if
    Content-Length does not match the tensor. Large bodies go straight into a Bulk; those that must be
    reordered are held in memory first.
    """
    if "content-length" not in request.headers:
        raise Refused("length-required", "an upload must say its Content-Length")
    body = Body(request, LIMITS.upload_bytes + formats.MAX_HEADER_BYTES, timeout)
    layout = await _layout(request, kind, body)
    if layout.nbytes > LIMITS.upload_bytes:
        raise Refused(
            "body-too-large", "the tensor is too large", limit=LIMITS.upload_bytes, requested=layout.nbytes
        )
    if body.remaining != layout.nbytes:
        raise Refused(
            "invalid-data",
            f"shape {list(layout.shape)} of {layout.dtype.name} takes {layout.nbytes} bytes, "
            f"Content-Length leaves {body.remaining}",
        )
    room(layout.nbytes)
    if not layout.in_order:
        parts = frames.encode(message, [layout.put_in_order(memoryview(await body.read()))])
        return bulk_of(parts) if layout.nbytes >= BULK_BYTES else frames.join(parts)
    header = header_for(message, layout.dtype, layout.shape)
    made = Bulk() if layout.nbytes >= BULK_BYTES else io.BytesIO()
    made.write(header)

    def take(piece: memoryview) -> None:
        if layout.dtype.kind == "bool" and np.frombuffer(piece, np.uint8).max() > 1:
            raise Refused("invalid-data", "a bool is the octet 0 or 1")
        made.write(piece)

    await body.pour(layout.nbytes, take)
    return made if isinstance(made, Bulk) else made.getbuffer()


async def _layout(request: Request, kind: str, body: Body) -> formats.Layout:
    if kind == OCTETS:
        return formats.octets_layout(request.headers)
    return await {NPY: formats.npy_layout, SAFETENSORS: formats.safetensors_layout}[kind](body)
