"""Batches on their way: what goes into one, what was sent and what it brings back, and one writer's
conversation with a session, which mends what breaks.
"""

from .live import Live
from .outbox import Outbox
from .pending import Fetch, Sent
from .wire import Wire

__all__ = ["Fetch", "Live", "Outbox", "Sent", "Wire"]
