"""Where sessions run: on a thread of this process, or in an engine process behind a socket pair (`worker`).

The front and such a process exchange envelopes, large frames in memory files, and heartbeats.
"""

from ..session import Order
from .asking import answer, open_session
from .budgets import Commons
from .bulk import BULK_BYTES, Bulk, bulk_of
from .control import OrderBook, Running, order_envelope
from .envelope import (
    EngineFacts,
    Envelope,
    EnvelopeKind,
    FileOrder,
    Incoming,
    sealed,
    sealed_bulk,
    send,
    unsent,
)
from .hosting import Hosted
from .logs import FORMATS, JsonFormatter, TextFormatter, announce, log_arguments, start_log, start_log_as
from .meter import (
    SECONDS,
    Durations,
    Figures,
    SessionFigures,
    TenantFigures,
    decode_figures,
    encode_figures,
)
from .paging import NEVER, PagingRules, most_awake
from .placement import Engines, EngineStatus, InlinePlacement, Pending, PendingFuture, Placement
from .pulse import beat, beats, cpu_seconds, hang_on, resident
from .refusals import deleted, recovering, refusal, unknown

__all__ = [
    "BULK_BYTES", "FORMATS", "NEVER", "SECONDS", "Bulk", "Commons", "Durations", "EngineFacts",
    "EngineStatus", "Engines", "Envelope",
    "EnvelopeKind", "Figures", "FileOrder", "Hosted", "Incoming", "InlinePlacement", "JsonFormatter",
    "Order", "OrderBook", "PagingRules", "Pending", "PendingFuture", "Placement", "Running", "SessionFigures",
    "TenantFigures", "TextFormatter",
    "announce", "answer", "beat", "beats", "bulk_of", "cpu_seconds", "decode_figures", "deleted",
    "encode_figures", "hang_on", "log_arguments", "most_awake", "open_session", "order_envelope",
    "recovering", "refusal", "resident", "sealed", "sealed_bulk", "send", "start_log", "start_log_as",
    "unknown", "unsent",
]  # fmt: skip
