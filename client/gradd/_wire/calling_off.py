"""What a user stopped with Ctrl-C is called off at the daemon, too."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from .._exceptions import GraddError
from .._transports import Dropped

if TYPE_CHECKING:
    from .._transports import Transport

#: longest wait for the daemon to hear of it (s)
TELLING = 0.5


def call_off(transport: Transport, writer: int, seq: int) -> None:
    """Have the session stop that writer's batches up to number `seq`. The user waits for that a moment only:
    a daemon that is silent is told by a thread, if at all.
    """
    tell(transport, writer, seq).join(TELLING)


def tell(transport: Transport, writer: int, seq: int) -> threading.Thread:
    """The same, by a thread that has begun."""
    telling = threading.Thread(target=_tell, args=(transport, writer, seq), name="gradd-cancel", daemon=True)
    telling.start()
    return telling


def _tell(transport: Transport, writer: int, seq: int) -> None:
    with suppress(Dropped, GraddError):
        transport.cancel(writer, seq)
