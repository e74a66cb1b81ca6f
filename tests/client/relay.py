"""A TCP relay between an SDK and its daemon that does harm after so many bytes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable


class Relay:
    """Forwards connections to `port` of this machine. `url` is its own address.

    `arm(after, harm)`: once `after` more bytes have gone through, in both directions and over all
    connections, `harm` is called, once. Harms of its own: `cut`, `refuse`, `hold`, `hold_old`, `delay`;
    `mend` ends them.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._left: int | None = None
        self._harm: Callable[[], None] = lambda: None
        self._open: list[socket.socket] = []
        self._held: set[socket.socket] = set()
        self._holding = self._refusing = False
        self._delay = 0.0
        #: old and new bytes, of one length
        self._other: tuple[bytes, bytes] | None = None
        #: set once the harm was done
        self.done = threading.Event()
        self._rest = threading.Event()
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    # -- harms ---------------------------------------------------------------------------------------

    def cut(self) -> None:
        """End every connection; new ones work."""
        with self._lock:
            for end in self._open:
                _shut(end)

    def hold(self) -> None:
        """Forward nothing any more, on connections old and new."""
        self._holding = True

    def hold_old(self) -> None:
        """Forward nothing any more on the connections that there are; new ones work."""
        with self._lock:
            self._held.update(self._open)

    def refuse(self) -> None:
        """End every connection, new ones too."""
        self._refusing = True
        self.cut()

    def delay(self, seconds: float) -> None:
        """Forward what comes so much later."""
        self._delay = seconds

    def change(self, old: bytes, new: bytes) -> None:
        """Put `new`, which is as long, in the place of `old`, as a proxy that passes on no such header."""
        assert len(old) == len(new)
        self._other = (old, new)

    def mend(self) -> None:
        """From now on new connections work; those that lost bytes end."""
        held = self._holding or self._held
        self._holding = self._refusing = False
        self._delay = 0.0
        if held:
            self.cut()

    # -- the rest ------------------------------------------------------------------------------------

    def arm(self, after: int, harm: Callable[[], None]) -> None:
        """Call `harm` after that many more bytes; with 0 at once."""
        with self._lock:
            self._left, self._harm = after, harm
        self._count(0)

    def close(self) -> None:
        """End every connection, and take no more."""
        self._rest.set()
        _shut(self._listener)  # wakes who waits for one
        for thread in self._threads[:1]:
            thread.join()
        with self._lock:
            for end in self._open:
                _shut(end)
        while self._threads:
            self._threads.pop().join()
        for end in (self._listener, *self._open):
            end.close()

    def _start(self, target: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _count(self, size: int) -> None:
        with self._lock:
            if self._left is None:
                return
            self._left -= size
            if self._left > 0:
                return
            self._left, harm = None, self._harm
        harm()
        self.done.set()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                if self._refusing:
                    raise ConnectionRefusedError
                far = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                self._start(self._pump, source, sink)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        while True:
            try:
                data = source.recv(1 << 14)
            except OSError:
                data = b""
            if self._holding or source in self._held:
                if not data:
                    return  # the other side is not told
                continue
            if not data:
                _shut(sink)
                return
            if self._delay:
                self._rest.wait(self._delay)
            if self._other is not None:
                data = data.replace(*self._other)
            left = self._left or len(data)  # harm is done within what came, not behind it
            for part in (data[:left], data[left:]):
                if self._holding or source in self._held:
                    break
                try:
                    sink.sendall(part)
                except OSError:
                    _shut(source)
                    return
                self._count(len(part))


def _shut(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended already
