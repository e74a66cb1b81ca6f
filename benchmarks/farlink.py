"""A link to a daemon that is far away: a TCP relay, in a process of its own, which delays what it passes on.

`python -m benchmarks.farlink PORT RTT [BITS]` relays to PORT of this machine and prints its own port: seconds
of a round trip, and bits a second each way (0: no limit). Each byte leaves half a round trip after it came,
in order, and as many are on the way as come. A connection takes a round trip to open: what is sent sooner
waits. There is no slow start and no loss. Told a line, it prints what it counted: see `Counts`.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import NamedTuple

from gradd_protocol import runtimefile

from .daemon import child

_PIECE = 1 << 16


class Counts(NamedTuple):
    """What a relay has passed on so far: connections, and bytes to the daemon (`up`) and from it."""

    connections: int
    up: int
    down: int


class Lane:
    """One direction of a link, which all its connections share: when what comes now is to leave.

    `delay` and `now` are seconds, `rate` bytes a second, 0 for any.
    """

    def __init__(self, delay: float, rate: float, now: Callable[[], float] = time.perf_counter) -> None:
        self._delay, self._rate, self._now = delay, rate, now
        self._free = 0.0
        self._lock = threading.Lock()
        #: bytes so far
        self.count = 0

    def due(self, size: int, earliest: float = 0.0) -> float:
        """When the last of `size` bytes that come now, or at `earliest`, is there."""
        with self._lock:
            begin = max(self._now(), earliest)
            if self._rate:
                begin = self._free = max(self._free, begin) + size / self._rate
            self.count += size
        return begin + self._delay


def _deliver(under_way: SimpleQueue[tuple[float, bytes]], sink: socket.socket) -> None:
    """Hand each piece to `sink` when it is due; an empty one is the end."""
    while True:
        due, data = under_way.get()
        time.sleep(max(0.0, due - time.perf_counter()))
        try:
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            sink.sendall(data)
        except OSError:
            return  # who reads from it sees the same


def _pass_on(source: socket.socket, sink: socket.socket, lane: Lane, earliest: float) -> None:
    """Pass on what comes from `source`, up to its end; nothing leaves before `earliest`."""
    under_way: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
    delivering = threading.Thread(target=_deliver, args=(under_way, sink), daemon=True)
    delivering.start()
    data = b"?"
    while data:
        try:
            data = source.recv(_PIECE)
        except OSError:
            data = b""
        under_way.put((lane.due(len(data), earliest), data))
    delivering.join()


class Relay:
    """Relays connections to port `to` of this machine, on threads; `port` is its own. See this file."""

    def __init__(self, to: int, rtt: float, bits: float = 0.0) -> None:
        self._to, self._rtt = to, rtt
        self._lanes = [Lane(rtt / 2, bits / 8) for _ in range(2)]
        self._connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            open_at = time.perf_counter() + self._rtt
            self._connections += 1
            threading.Thread(target=self._join, args=(near, open_at), daemon=True).start()

    def _join(self, near: socket.socket, open_at: float) -> None:
        with near, socket.create_connection(("127.0.0.1", self._to)) as far:
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            up, down = self._lanes
            back = threading.Thread(target=_pass_on, args=(far, near, down, 0.0), daemon=True)
            back.start()
            _pass_on(near, far, up, open_at)
            back.join()

    def counts(self) -> Counts:
        """What it has passed on so far."""
        return Counts(self._connections, *(lane.count for lane in self._lanes))

    def close(self) -> None:
        """Take no more connections; those that there are end with their peers."""
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for one
        self._accepting.join()
        self._listener.close()


class Far:
    """A relay that runs, where it is reached, and the key of the daemon behind it."""

    def __init__(self, url: str, ask: Callable[[], str], key: str | None) -> None:
        self.url, self.key = url, key
        self._ask = ask

    def counts(self) -> Counts:
        """What it has passed on so far."""
        return Counts(*json.loads(self._ask()))


@contextmanager
def far(url: str, rtt: float, bits: float = 0.0) -> Iterator[Far]:
    """The daemon at `url` (on this machine) over a link: seconds of a round trip, and bits a second."""
    daemon = runtimefile.find(url)
    process = child("benchmarks.farlink", url.rsplit(":", 1)[1], str(rtt), str(bits))
    assert process.stdin is not None
    assert process.stdout is not None
    told, said = process.stdin, process.stdout

    def ask() -> str:
        told.write("\n")
        return said.readline()

    try:
        yield Far(f"http://127.0.0.1:{int(said.readline())}", ask, daemon and daemon.key)
    finally:
        told.close()
        process.wait()
        said.close()


def main() -> None:
    """The command line."""
    to, rtt, bits = sys.argv[1], float(sys.argv[2]), float((*sys.argv, "0")[3])
    relay = Relay(int(to), rtt, bits)
    print(relay.port, flush=True)
    for _ in sys.stdin:
        print(json.dumps(relay.counts()), flush=True)


if __name__ == "__main__":
    main()
