"""When batches left and their replies came, while a session is profiled."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gradd_protocol import frames
from msgspec import Struct, json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._transports import Transport

#: batches that are remembered, the latest
_LATEST = 1000


class _Answer(Struct):
    """The part of a reply that is read here."""

    seq: int = 0
    position: int = 0


class _Head(Struct):
    message: _Answer


_head = json.Decoder(_Head)


@dataclass(slots=True)
class Trip:
    """A batch on its way: who sent it, when that began and ended, and when its reply was taken. Seconds of
    `perf_counter`.
    """

    thread: int
    began: float
    left: float
    nbytes: int
    came: float = 0.0
    reply_nbytes: int = 0
    #: of the batch in the session; 0 while it is not answered
    position: int = 0


class TripLog:
    """A transport that notes what goes through it, by the number of the batch."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.trips: OrderedDict[int, Trip] = OrderedDict()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def send(self, parts: Sequence[frames.Part], seq: int) -> None:
        """See Transport.send."""
        began = perf_counter()
        self.transport.send(parts, seq)
        trip = self.trips.setdefault(seq, Trip(get_ident(), began, began, frames.size(parts)))
        trip.left = perf_counter()
        while len(self.trips) > _LATEST:
            self.trips.popitem(last=False)

    def receive(self, block: bool) -> bytes | None:
        """See Transport.receive."""
        data = self.transport.receive(block)
        if data is not None:
            came = perf_counter()
            said = _head.decode(data[8 : 8 + int.from_bytes(data[:8], "little")]).message
            trip = self.trips.get(said.seq)
            if trip is not None and said.position:
                trip.came, trip.reply_nbytes, trip.position = came, len(data), said.position
        return data
