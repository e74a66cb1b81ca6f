"""What starts engine processes for fronts on other machines, and watches them. It knows nothing of Ray."""

from __future__ import annotations

import logging
import os
import secrets
import select
import socket
import struct
import subprocess
import threading
import time
from contextlib import suppress

import msgspec
from gradd_protocol.version import VERSION
from gradd_runtime.process import Commons, Running

from gradd_server.placement.cluster.links import (
    BEAT,
    CONTROL,
    ENVELOPES,
    EXIT,
    HANDSHAKE_SECONDS,
    KILL,
    ORDERS,
    PID,
    REFUSED,
    SAID,
    Address,
    Told,
    exactly,
    greet,
)
from gradd_server.placement.cluster.tls import Tls
from gradd_server.placement.link import start
from gradd_server.placement.watch import Watch

logger = logging.getLogger("gradd.server")

MOST = 64
"""Engine processes of a host at a time: those of several fronts, and those that are about to end."""
TELLING_BYTES = 1 << 16
PAUSE_SECONDS = 0.2
"""Before the next connection is taken, after one that could not be."""
COMING_SECONDS = 30.0
"""How long the connections of a link may take to come."""
REST_SECONDS = 60.0
"""How long an engine process may take to put its sessions to sleep once its front is gone."""


class EngineHost:
    """Listens at `host`, a name or an address of this machine, until `close`: who has the secret gets an
    engine process for each link, which ends with it. `tls`: how links are encrypted, if they are.
    """

    def __init__(self, host: str, tls: Tls | None = None) -> None:
        self._tls = tls
        self._listener = socket.create_server((host, 0), backlog=MOST)
        self.address = Address(host, self._listener.getsockname()[1], secrets.token_hex(32))
        self._commons = Commons(MOST)
        self._lock = threading.Lock()
        self._coming: dict[bytes, tuple[float, dict[bytes, socket.socket]]] = {}
        """Links of which connections are missing, and when the first came."""
        self._closed = False
        self._numbers = set(range(MOST))
        self._thread = threading.Thread(target=self._listen, name="gradd-host", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more connections. What runs goes on, as long as its front has it."""
        with self._lock:
            self._closed = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        with self._lock:
            self._drop(time.monotonic())

    def _drop(self, before: float) -> None:
        """Let go of links that began before that, whose fronts went away meanwhile. Called with the lock."""
        for link in [link for link, (since, _) in self._coming.items() if since <= before]:
            for sock in self._coming.pop(link)[1].values():
                sock.close()

    def _listen(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError as error:
                if self._closed:
                    return
                logger.warning("no connection can be taken at the moment: %s", error)
                time.sleep(PAUSE_SECONDS)
                continue
            threading.Thread(target=self._take, args=(sock,), name="gradd-link", daemon=True).start()

    def _take(self, sock: socket.socket) -> None:
        """A connection: the last one of a link begins a process, and tells of it from then on."""
        try:
            sock, link, kind = greet(sock, self.address.secret, self._tls)
        except (OSError, struct.error) as refused:
            logger.warning("a connection is refused: %s", refused)
            return
        with self._lock:
            now = time.monotonic()
            self._drop(now - COMING_SECONDS)
            _, parts = self._coming.setdefault(link, (now, {}))
            if self._closed or kind in parts:
                sock.close()
                return
            parts[kind] = sock
            if len(parts) < 3:
                return
            del self._coming[link]
        with parts[ENVELOPES] as front, parts[ORDERS] as orders, parts[CONTROL] as control:
            try:
                self._run(front, orders, control)
            except (OSError, ValueError, msgspec.MsgspecError) as refused:
                logger.warning("no engine process is started: %s", refused)
                text = str(refused).encode()
                with suppress(OSError):
                    control.sendall(SAID.pack(REFUSED, len(text)) + text)

    def _run(self, front: socket.socket, orders: socket.socket, control: socket.socket) -> None:
        control.settimeout(HANDSHAKE_SECONDS)
        (size,) = struct.unpack(">I", exactly(control, 4))
        if size > TELLING_BYTES:
            raise ValueError("what an engine process is to be takes too many octets")
        told = msgspec.json.decode(exactly(control, size), type=Told)
        control.settimeout(None)
        if told.version != VERSION:
            raise ValueError(f"the node runs gradd {VERSION}, and the front {told.version}")
        with self._lock:
            if not self._numbers:
                raise ValueError(f"the node has {MOST} engine processes already")
            number = self._numbers.pop()
        self._commons.held[number] = 0
        try:
            running = Running()
            child, pulse, lifeline = start(told.task, front, orders, running, self._commons, number)
            front.close()
            orders.close()
            try:
                control.sendall(SAID.pack(PID, child.pid))
                watch = Watch(child.pid, pulse, told.interval)
                code = _watched(child, watch, running, control, told)
                with suppress(OSError):
                    control.sendall(SAID.pack(EXIT, code))
            finally:
                os.close(lifeline)
                child.kill()
                child.wait()
        finally:
            self._commons.held[number] = 0
            with self._lock:
                self._numbers.add(number)


def _watched(
    child: subprocess.Popen[bytes], watch: Watch, running: Running, control: socket.socket, told: Told
) -> int:
    """Tell the front that the process is alive until it has ended; its exit code."""
    ended = os.pidfd_open(child.pid)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(control, select.POLLIN)
    looked = time.monotonic()
    try:
        while child.poll() is None:
            if time.monotonic() - looked >= told.interval:
                looked = time.monotonic()
                watch.look()
            if watch.over:
                logger.error("engine process %d neither answers nor computes: it is killed", child.pid)
                child.kill()
                break
            control.send(SAID.pack(BEAT, running.cell[0]), socket.MSG_DONTWAIT)
            came = [descriptor for descriptor, _ in poll.poll(1000 * told.beat)]
            if control.fileno() in came:
                if control.recv(1) != KILL:
                    raise ConnectionError("the front is gone")
                child.kill()
                break
    except BlockingIOError:  # a front that does not read, and that will find the connection broken
        child.kill()
    except OSError:
        _end(child)
    finally:
        watch.close()
        os.close(ended)
    return child.wait()


def _end(child: subprocess.Popen[bytes]) -> None:
    """The front is gone: the process answers what it has, puts its sessions to sleep, and exits."""
    try:
        child.wait(REST_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
