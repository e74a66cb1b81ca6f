"""From an upload's body to a session's frame: what it is and how large is known before memory is taken."""

from __future__ import annotations

import numpy as np
from gradd_protocol import frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Request as Message
from starlette.requests import Request

from gradd_server import formats
from gradd_server.bodies import Body
from gradd_server.errors import Refused
from gradd_server.media import NPY, OCTETS, SAFETENSORS
from gradd_server.wire import with_room


async def upload_frame(request: Request, kind: str, message: Message, timeout: float) -> frames.Bytes:
    """The frame of `message` with the tensor of the request's body, of media type `kind`, as its buffer.

    Raises Refused: 411, 413, 408 as Body; 400 or 422 for a header that does not describe a tensor; 422 where
    Content-Length is not what the tensor takes. Peak memory is the tensor's once, twice where bytes must be
    put in order.
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
    if not layout.in_order:
        return frames.join(frames.encode(message, [layout.put_in_order(memoryview(await body.read()))]))
    frame, room = with_room(message, layout.dtype, layout.shape)
    await body.fill(room)
    if layout.dtype.kind == "bool" and len(room) and np.frombuffer(room, np.uint8).max() > 1:
        raise Refused("invalid-data", "a bool is the octet 0 or 1")
    return frame


async def _layout(request: Request, kind: str, body: Body) -> formats.Layout:
    if kind == OCTETS:
        return formats.octets_layout(request.headers)
    return await {NPY: formats.npy_layout, SAFETENSORS: formats.safetensors_layout}[kind](body)
