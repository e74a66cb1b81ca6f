"""Sessions: reading, naming and closing, keeping mirror and server in agreement, and which session is
current.
"""

from .aconnecting import aconnect
from .connecting import allow_tf32, connect, current, delete_session, set_default_dtype
from .process import begin_alone, close_all, watch
from .session import SESSIONS, Session
from .timeline import MarkedRange

__all__ = [
    "SESSIONS", "MarkedRange", "Session", "aconnect", "allow_tf32", "begin_alone", "close_all", "connect",
    "current", "delete_session", "set_default_dtype", "watch",
]  # fmt: skip
