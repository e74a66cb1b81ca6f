"""Beside the frames: what the front tells an engine process while a frame runs, and which one that is."""

from __future__ import annotations

import mmap
import os
import threading
from typing import TYPE_CHECKING

import msgspec

from ..session import Order, Orders
from .bulk import memory_file
from .envelope import Envelope, EnvelopeKind, sealed

if TYPE_CHECKING:
    from gradd_protocol.frames import Part

    from .envelope import Incoming

_order = msgspec.json.Decoder(Order)


def order_envelope(session: int, order: Order) -> list[Part]:
    """An envelope with an order to that session."""
    return sealed(EnvelopeKind.STOP, 0, session, [msgspec.json.encode(order)])[0]


class Running:
    """The number of the request that an engine process runs, 0 for none: `cell[0]`, which the front reads
    whatever the process does. `fd`: its memory file, made where none is given.
    """

    def __init__(self, fd: int | None = None) -> None:
        if fd is None:
            fd = memory_file()
            os.ftruncate(fd, mmap.PAGESIZE)
        self.fd = fd
        self.cell = memoryview(mmap.mmap(fd, mmap.PAGESIZE)).cast("Q")

    def __del__(self) -> None:
        os.close(self.fd)


class OrderBook:
    """The orders to the sessions of an engine process, by the sessions' numbers, which rise."""

    def __init__(self) -> None:
        self._orders: dict[int, Orders] = {}
        self._opened = 0

    def open(self, number: int) -> Orders:
        """The session of that number is here now."""
        orders = self._orders.setdefault(number, Orders())
        self._opened = number
        return orders

    def close(self, number: int) -> None:
        """It is no more."""
        del self._orders[number]

    def take(self, envelope: Envelope) -> None:
        """From any thread: give a session the order that came. A session that is still to come gets it, too:
        what opens it waits in the other socket.
        """
        number = envelope.session
        if number in self._orders or number > self._opened:
            assert isinstance(envelope.payload, (bytes, memoryview))
            self._orders.setdefault(number, Orders()).give(_order.decode(envelope.payload))

    def hear(self, incoming: Incoming) -> None:
        """Take what comes there from now on, on a thread."""
        threading.Thread(target=self._hear, args=(incoming,), name="gradd-orders", daemon=True).start()

    def _hear(self, incoming: Incoming) -> None:
        while (came := incoming.receive()) is not None:
            for envelope in came:
                self.take(envelope)
