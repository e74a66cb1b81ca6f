"""The front's view of frames: it reads a frame's head (the message's type, numbers and status) and skips
the rest of the header, so that a program of thousands of steps costs it nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from gradd_protocol import dtypes, frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Request
from gradd_protocol.problems import Malformed


class _Fault(msgspec.Struct, frozen=True):
    type: str = ""
    status: int = 500


class MessageHead(msgspec.Struct, frozen=True):
    """The part of a message that the front reads; missing fields have their defaults."""

    type: str = ""
    writer: int = -1
    epoch: int = -1
    seq: int = -1
    replayed: bool = False
    uploads: list[int | str] = []
    traceparent: str = ""
    tracestate: str = ""
    problem: _Fault | None = None

    @property
    def status(self) -> int:
        """HTTP status of a reply: that of its problem, else 200."""
        return self.problem.status if self.problem is not None else 200


class _Head(msgspec.Struct, frozen=True):
    message: MessageHead


_head = msgspec.json.Decoder(_Head)


def message_head(frame: frames.Bytes) -> MessageHead:
    """The head of a frame's message. Raises Malformed if there is none; the session checks the rest."""
    view = memoryview(frame)
    length = int.from_bytes(view[:8], "little") if len(view) >= 8 else 0
    if not 0 < length <= min(len(view) - 8, LIMITS.json_bytes):
        raise Malformed("the header's length does not fit the frame")
    try:
        return _head.decode(view[8 : 8 + length]).message
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
        raise Malformed(f"the header: {error}") from None


def may_be(frame: bytes, slug: str) -> bool:
    """Whether a frame's header contains `slug` anywhere: a cheap check before `message_head`."""
    return frame.find(slug.encode(), 8, 8 + int.from_bytes(frame[:8], "little")) >= 0


def header_for(message: Request, dtype: dtypes.WireType, shape: Sequence[int]) -> frames.Part:
    """The start of a frame of `message` whose only buffer, C-ordered data of that dtype and shape,
    follows.
    """
    # The array only gives its shape; none of its pages is touched.
    return frames.encode(message, [np.empty(tuple(shape), dtype.numpy)])[0]


def wrapped(message: Request, text: bytes | bytearray) -> frames.Bytes:
    """A frame of `message` whose only buffer is `text`, such as a JSON body."""
    return frames.join(frames.encode(message, [("uint8", [len(text)], text)]))
