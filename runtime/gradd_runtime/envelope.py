"""What crosses the socket between the front and an engine process: a head of 32 bytes, then a payload."""

from __future__ import annotations

import enum
import struct

HEAD = struct.Struct("<QQQQ")
"""Kind, request number, session number, bytes of the payload that follows.

The front numbers requests and sessions; a number is never given out twice, so a session that was closed and
made again under its name is another one.
"""


class Kind(enum.IntEnum):
    """What an envelope is for."""

    OPEN = 0
    """To the engine: make the session of that number. Payload: JSON, `{"name": ..., "options": {...}}`."""
    FRAME = 1
    """To the engine: run a request frame; from it: the reply frame, under the same request number."""
    CLOSE = 2
    """To the engine: end the session. No payload, no answer."""
    READY = 3
    """From the engine, once and first: its device is there, it takes work. No payload."""
    FAILED = 4
    """From the engine instead of READY: why it cannot run, as UTF-8. It ends."""
