"""A reply as the daemon sent it, or what to do where it cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_protocol import advice, frames
from gradd_protocol.problems import ProtocolError

from .._exceptions import ConnectionFailed

if TYPE_CHECKING:
    from gradd_protocol.messages import Reply


def read_reply(data: bytes, url: str) -> tuple[Reply, list[Any]]:
    """The reply in a frame of the daemon at `url`, and its buffers. Raises ConnectionFailed, with the next
    step, for what this version does not understand.
    """
    try:
        return frames.decode_reply(data)
    except ProtocolError as e:
        raise ConnectionFailed(advice.unread(url, e.problem.detail)) from e
