"""A session: its state, and what each request does. Frames in, frames out.

Batches come as frames or as JSON; `perform` runs both. Hooks over REST are programs of the session. What
changed it is recorded, and `replay` makes it again from that.
"""

from .change import RECORDED, unkept
from .orders import Order, Orders
from .replay import Foreign, foreign, replay, replaying
from .session import Session
from .writers import Writer

__all__ = [
    "RECORDED",
    "Foreign",
    "Order",
    "Orders",
    "Session",
    "Writer",
    "foreign",
    "replay",
    "replaying",
    "unkept",
]
