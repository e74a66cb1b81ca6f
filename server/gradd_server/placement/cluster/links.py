"""Connections between the front and engine processes of other machines: three for each, over TCP.

Over one go envelopes, over one the orders that are heard while a frame runs, and over the last the `FarChild`
of the process. Who connects shows that it has the host's secret, which it learned from Ray, and so does the
host: each answers the other's nonce by an HMAC. Where Ray encrypts what it sends, all of it is encrypted.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import socket
import struct
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec
from gradd_protocol.version import VERSION
from gradd_runtime.process import PagingRules, Running

from gradd_server.machine import processor_budgets
from gradd_server.placement.cluster.tls import Tls
from gradd_server.placement.early import threads_of
from gradd_server.placement.link import EngineLink, EngineTask
from gradd_server.placement.watch import SilentLooks

HANDSHAKE_SECONDS = 3.0
"""Longest wait for a host to take a connection, or for who connects to say who it is."""

logger = logging.getLogger("gradd.server")

_NONCE = 32
_HELLO = struct.Struct(">32s16sc")
"""The nonce of who connects, the link's id, and which of its connections this is."""
ENVELOPES, ORDERS, CONTROL = b"e", b"o", b"c"

SAID = struct.Struct(">cq")
"""What a host says of an engine process: its pid, a beat with the request that it runs, or its exit code."""
PID, BEAT, EXIT, REFUSED = b"p", b"b", b"x", b"r"
KILL = b"k"

UNTAKEN_SECONDS = 30.0
"""Longest time for which the other machine may take nothing of what was sent."""
FAREWELL_SECONDS = 0.2
"""Longest wait for the exit code of a process that was killed."""

UNKNOWN_CODE = -1
"""The exit code of a process of which nobody hears any more."""


class Address(msgspec.Struct, frozen=True):
    """Where a host listens, and what shows that one may connect."""

    host: str
    port: int
    secret: str


class Told(msgspec.Struct, frozen=True):
    """What the front wants of a host: an engine process like that, by a host of its own version."""

    version: str
    device: str
    threads: int
    each: int
    """Engine processes that share a node, where `threads` is 0."""
    interval: float
    beat: float
    """Seconds between two beats of the host."""
    budgets: tuple[int, int, int]
    idle: float
    resident: int
    together: int

    @classmethod
    def of(cls, task: EngineTask, each: int, beat: float) -> Told:
        """What makes a host start the task."""
        rules = task.rules
        return cls(
            VERSION, task.device, task.threads, each, task.interval, beat, task.budgets, rules.idle,
            rules.resident, rules.together,
        )  # fmt: skip

    @property
    def task(self) -> EngineTask:
        """The task, on this machine: what nobody said is by what the machine has."""
        rules = PagingRules(self.idle, self.resident, together=self.together)
        budgets = processor_budgets(*self.budgets[:2]) if self.device == "cpu" else self.budgets
        return EngineTask(self.device, threads_of(self.threads, self.each), self.interval, budgets, rules)


class Greeting(NamedTuple):
    """A connection that came to a host: the id of its link, and which one of it this is."""

    sock: socket.socket
    link: bytes
    kind: bytes


def _tune(sock: socket.socket, kind: bytes) -> None:
    """Send at once what is given, and give up who does not take what is always read: an engine process takes
    no envelopes while it runs one.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if kind == CONTROL and hasattr(socket, "TCP_USER_TIMEOUT"):  # else the system's quarter of an hour
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * UNTAKEN_SECONDS))


def _proof(secret: str, nonce: bytes) -> bytes:
    return hmac.digest(secret.encode(), nonce, hashlib.sha256)


def exactly(sock: socket.socket, count: int) -> bytes:
    """So many octets. Raises OSError, where they do not come in time or at all."""
    found = b""
    while len(found) < count:
        more = sock.recv(count - len(found))
        if not more:
            raise ConnectionError("the other end closed the connection")
        found += more
    return found


def greet(sock: socket.socket, secret: str, tls: Tls | None = None) -> Greeting:
    """How a connection begins at the host, perhaps with another socket in the place of `sock`. Raises OSError
    where who connects does not have the secret, or speaks no TLS where that is to be; `sock` is closed then.
    """
    with sock.dup() as raw:
        try:
            sock = sock if tls is None else tls.taken(sock)
            sock.settimeout(HANDSHAKE_SECONDS)
            own = secrets.token_bytes(_NONCE)
            sock.sendall(own)
            proof = exactly(sock, _NONCE)
            nonce, link, kind = _HELLO.unpack(exactly(sock, _HELLO.size))
            if not hmac.compare_digest(proof, _proof(secret, own)):
                raise ConnectionError("who connects does not have the secret")
            if kind not in (ENVELOPES, ORDERS, CONTROL):
                raise ConnectionError("a link has no such connection")
            sock.sendall(_proof(secret, nonce))
            _tune(raw, kind)
            sock.settimeout(None)
        except BaseException:
            sock.close()
            raise
    return Greeting(sock, link, kind)


def _connected(address: Address, link: bytes, kind: bytes, tls: Tls | None = None) -> socket.socket:
    """The front's side. Raises OSError."""
    sock = socket.create_connection((address.host, address.port), HANDSHAKE_SECONDS)
    try:
        _tune(sock, kind)
        if tls is not None:
            sock = tls.opened(sock)
            sock.settimeout(HANDSHAKE_SECONDS)
        nonce = secrets.token_bytes(_NONCE)
        proof = _proof(address.secret, exactly(sock, _NONCE))
        sock.sendall(proof + _HELLO.pack(nonce, link, kind))
        if not hmac.compare_digest(exactly(sock, _NONCE), _proof(address.secret, nonce)):
            raise ConnectionError("who listens there does not have the secret")
        sock.settimeout(None)
    except BaseException:
        sock.close()
        raise
    return sock


def far_link(
    address: Address, task: EngineTask, each: int = 1, beat: float = 1.0, tls: Tls | None = None
) -> EngineLink:
    """A link to an engine process that the host at `address` starts, one of so many of its node; the host
    beats every `beat` seconds. `tls`: how it is encrypted, if it is. Raises OSError.
    """
    link = secrets.token_bytes(16)
    made: list[socket.socket] = []
    try:
        for kind in (ENVELOPES, ORDERS, CONTROL):
            made.append(_connected(address, link, kind, tls))
        front, orders, control = made
        text = msgspec.json.encode(Told.of(task, each, beat))
        control.sendall(struct.pack(">I", len(text)) + text)
        control.settimeout(HANDSHAKE_SECONDS)
        said, value = SAID.unpack(exactly(control, SAID.size))
        if said == REFUSED:
            raise ConnectionRefusedError(exactly(control, value).decode())
        control.settimeout(None)
    except BaseException:
        for sock in made:
            sock.close()
        raise
    running = Running()
    child = FarChild(control, front, value, running)
    return EngineLink(front, orders, running, child, child, near=False)


def link_to(
    addresses: Sequence[Address], task: EngineTask, each: int, beat: float, tls: Tls | None
) -> EngineLink:
    """`far_link` by the first of these addresses that is reached. Raises OSError: ConnectionRefusedError
    where nobody listens there, or who does wants no link.
    """
    for address in addresses[:-1]:
        try:
            return far_link(address, task, each, beat, tls)
        except ConnectionRefusedError:
            raise
        except OSError as error:
            logger.warning("%s:%d is not reached (%s): by Ray's calls", address.host, address.port, error)
    return far_link(addresses[-1], task, each, beat, tls)


class FarChild(SilentLooks):
    """The front's end of the connection by which a host tells of an engine process, the `pid` there: a
    `Child` and its `Pulse`. Where no beats come the process is dead, or its host, or there is no network.
    """

    def __init__(self, sock: socket.socket, front: socket.socket, pid: int, running: Running) -> None:
        super().__init__()
        self.pid = pid
        self._socket, self._front, self._running = sock, front, running
        self._change = threading.Condition()
        self._code: int | None = None
        self._beaten = False
        self._killed = False
        self._thread = threading.Thread(target=self._hear, name=f"gradd-beats-{pid}", daemon=True)
        self._thread.start()

    def _hear(self) -> None:
        """Take what comes until the host says no more: also where nobody looks, it must be rid of it."""
        try:
            while True:
                kind, value = SAID.unpack(exactly(self._socket, SAID.size))
                if kind == BEAT:
                    self._beaten = True
                    self._running.cell[0] = value
                elif kind == EXIT:
                    self._end(value)
        except OSError:
            self._end(UNKNOWN_CODE)

    def _end(self, code: int) -> None:
        with self._change:
            if self._code is None:
                self._code = code
            self._change.notify_all()

    def look(self) -> None:
        """See Pulse."""
        beaten, self._beaten = self._beaten, False
        self._looked(beaten)

    def kill(self) -> None:
        """See Child. A host that is not reached is left alone: its processes can keep nothing any more once
        their sessions are elsewhere.
        """
        with self._change:
            self._killed = True
            self._change.notify_all()
        with suppress(OSError):  # it is closed
            self._socket.send(KILL, socket.MSG_DONTWAIT)
        with suppress(OSError):
            self._front.shutdown(socket.SHUT_RDWR)

    def wait(self, timeout: float | None = None) -> int:
        """See Child. Nobody waits long for the code of a process that was killed."""
        with self._change:
            self._change.wait_for(lambda: self._code is not None or self._killed, timeout)
            if self._killed:
                self._change.wait_for(lambda: self._code is not None, FAREWELL_SECONDS)
            if self._code is not None:
                return self._code
            if self._killed:
                return UNKNOWN_CODE
        raise subprocess.TimeoutExpired(["engine process"], timeout or 0.0)

    def close(self) -> None:
        """See Pulse."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()
