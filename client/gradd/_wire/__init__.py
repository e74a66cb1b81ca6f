"""Batches: what goes into one, what was sent and what it returns, and a writer's connection to a session,
with recovery.
"""

from .attentive import AttentiveWire
from .calling_off import TELLING
from .live import Live
from .lost import Lost
from .outbox import Outbox
from .patience import patience, seconds_of
from .pending import Fetch, Known, KnownDraw, Sent
from .staged import StagedUpload
from .wire import Wire

__all__ = [
    "TELLING", "AttentiveWire", "Fetch", "Known", "KnownDraw", "Live", "Lost", "Outbox", "Sent",
    "StagedUpload", "Wire", "patience", "seconds_of",
]  # fmt: skip
