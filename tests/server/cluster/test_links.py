"""Engine processes behind a host, over TCP: the same answers as inline, and what ends how."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import problem
from gradd_runtime.process import InlinePlacement
from gradd_runtime.store import make_record
from gradd_server.placement.cluster import host as hosting
from gradd_server.placement.cluster import links
from gradd_server.placement.cluster.host import EngineHost
from gradd_server.placement.cluster.links import Address, far_link
from gradd_server.placement.cluster.tls import Tls
from gradd_server.placement.engines import EnginesPlacement
from gradd_server.placement.gpus import DeviceRooms
from gradd_server.placement.link import EngineTask
from gradd_server.placement.process import EngineProcess

from tests.processes import children
from tests.runtime.peer import FILL
from tests.server.cluster.hosts import TASK, descriptors, nothing_left, until
from tests.server.test_workers import long_frame, peer, scenario, slug
from tests.waiting import PATIENCE, silence


class OverOneHost(EnginesPlacement):
    """Sessions in an engine process of a host; nobody takes its place."""

    def __init__(
        self, host: EngineHost | None = None, task: EngineTask = TASK, silence: float = 0.0,
        tls: Tls | None = None, way: Address | None = None,
    ) -> None:  # fmt: skip
        super().__init__(PATIENCE, silence, 0.0, 0.0)
        self.codes: list[int] = []
        address = way or (host and host.address)
        assert address is not None
        link = far_link(address, task, beat=0.01, tls=tls)
        self._processes = [EngineProcess(link, "cpu", self._replace)]
        self._rooms = DeviceRooms(self._processes, lambda p, tenant: p.room(tenant))
        self._begin()

    def _replace(self, dead: EngineProcess, code: int) -> None:
        self.codes.append(code)
        with self._lock:
            self._change.notify_all()

    @property
    def process(self) -> EngineProcess:
        return self._processes[0]


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


@pytest.fixture
def host(clean: None) -> Iterator[EngineHost]:
    made = EngineHost("127.0.0.1")
    yield made
    made.close()


@pytest.fixture
def placement(host: EngineHost) -> Iterator[OverOneHost]:
    made = OverOneHost(host)
    yield made
    made.shutdown()


def test_a_scenario_over_a_host_equals_inline(placement: OverOneHost) -> None:
    inline = InlinePlacement()
    try:
        assert scenario(placement) == scenario(inline)
    finally:
        inline.shutdown()


def test_large_frames_go_both_ways(placement: OverOneHost) -> None:
    placement.open("a", {})
    one = peer(placement, "a")
    big = np.random.default_rng(3).random(1 << 20)
    for n in range(3):
        one.put(f"x{n}", big + n)
    for n in range(3):
        assert one.get(f"x{n}").tobytes() == (big + n).tobytes()
    flying = [placement.submit("a", frames.join(frames.encode(m.GetTensor("x0")))) for _ in range(8)]
    for future in flying:
        assert frames.decode_reply(future.result(PATIENCE))[1][0].tobytes() == big.tobytes()


def test_an_order_reaches_a_batch_that_runs(placement: OverOneHost) -> None:
    placement.open("a", {})
    one = peer(placement, "a")
    running = placement.submit("a", long_frame(one))
    until(lambda: placement.process.look_at_batch() is not None)
    placement.stop("a", problem("cancelled", "enough"))
    reply = frames.decode_reply(running.result(PATIENCE))[0]
    assert isinstance(reply, m.BatchReply)
    assert reply.problem is not None
    assert reply.problem.slug == "cancelled"


def test_shutdown_answers_what_was_taken(host: EngineHost) -> None:
    placement = OverOneHost(host)
    placement.open("a", {})
    one = peer(placement, "a")
    flying = placement.submit("a", frames.join(frames.encode(one.message(FILL))))
    placement.shutdown()
    assert isinstance(frames.decode_reply(flying.result(0))[0], m.BatchReply)
    assert placement.codes == [0]


# -- who may connect -------------------------------------------------------------------------------------


def engines() -> list[int]:
    return children(os.getpid())


def test_who_does_not_have_the_secret_gets_nothing(host: EngineHost) -> None:
    before = engines()
    other = msgspec.structs.replace(host.address, secret="0" * 64)
    with pytest.raises(OSError, match="closed the connection"):
        far_link(other, TASK)
    for garbage in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 31, b"\0" * 1000):
        with socket.create_connection((host.address.host, host.address.port)) as sock:
            sock.sendall(garbage)
            with suppress(OSError):  # it was refused before
                sock.shutdown(socket.SHUT_WR)
            said = b""
            while more := _received(sock):
                said += more
        assert len(said) == 32  # a nonce, and not a word more
    assert engines() == before


def _received(sock: socket.socket) -> bytes:
    try:
        return sock.recv(1 << 16)
    except ConnectionResetError:
        return b""


def test_one_who_only_claims_to_be_the_host_is_left(host: EngineHost) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = msgspec.structs.replace(host.address, port=listener.getsockname()[1])

        def pretend() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.sendall(b"\0" * 32)
                links.exactly(sock, 32 + 49)
                sock.sendall(b"\1" * 32)

        thread = threading.Thread(target=pretend)
        thread.start()
        with pytest.raises(OSError, match="who listens there does not have the secret"):
            far_link(address, TASK)
        thread.join()


def test_a_link_of_which_a_part_is_missing_starts_nothing(host: EngineHost) -> None:
    before = engines()
    address = host.address
    socks = [links._connected(address, b"l" * 16, kind) for kind in (links.ENVELOPES, links.ORDERS)]
    with links._connected(address, b"l" * 16, links.ORDERS) as twice:
        assert _received(twice) == b""
    with pytest.raises(OSError, match="closed the connection"):
        links._connected(address, b"l" * 16, b"z")
    assert engines() == before
    host.close()
    for sock in socks:
        assert _received(sock) == b""
        sock.close()


def test_links_that_never_come_together_are_dropped(
    host: EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "COMING_SECONDS", -1.0)
    first = links._connected(host.address, b"1" * 16, links.ENVELOPES)
    with first, links._connected(host.address, b"2" * 16, links.ENVELOPES):
        assert _received(first) == b""


def test_another_version_is_refused(host: EngineHost, monkeypatch: pytest.MonkeyPatch) -> None:
    before = engines()
    monkeypatch.setattr(links, "VERSION", "0.0.1")
    with pytest.raises(ConnectionRefusedError, match=r"the node runs gradd .*, and the front 0\.0\.1"):
        far_link(host.address, TASK)
    assert engines() == before


@pytest.mark.parametrize("told", [b"{", b'{"version": 1}', b"x" * (1 << 17)], ids=["cut", "other", "long"])
def test_what_is_no_task_is_refused(host: EngineHost, told: bytes) -> None:
    before = engines()
    kinds = (links.ENVELOPES, links.ORDERS, links.CONTROL)
    socks = [links._connected(host.address, b"l" * 16, kind) for kind in kinds]
    socks[2].sendall(struct.pack(">I", len(told)) + told)
    kind, size = links.SAID.unpack(links.exactly(socks[2], links.SAID.size))
    assert kind == links.REFUSED
    assert size
    for sock in socks:
        sock.close()
    assert engines() == before


def test_a_host_takes_no_more_processes_than_it_may(
    host: EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "_numbers", {3})
    placement = OverOneHost(host)
    with pytest.raises(ConnectionRefusedError, match="engine processes already"):
        far_link(host.address, TASK)
    placement.shutdown()
    until(lambda: host._numbers == {3})


def test_nobody_listens(host: EngineHost) -> None:
    host.close()
    with pytest.raises(ConnectionRefusedError):
        far_link(host.address, TASK)


# -- how it ends -----------------------------------------------------------------------------------------


def test_a_process_that_dies_is_seen_at_once(placement: OverOneHost) -> None:
    placement.open("a", {})
    one = peer(placement, "a")
    flying = placement.submit("a", long_frame(one))
    os.kill(placement.pids[0], signal.SIGKILL)
    assert slug(flying.result(PATIENCE)) == "device-lost"
    until(lambda: placement.codes)
    assert placement.codes == [-signal.SIGKILL]
    assert not placement.process.alive


def test_it_is_killed(placement: OverOneHost) -> None:
    placement.open("a", {})
    flying = placement.submit("a", long_frame(peer(placement, "a")))
    placement.process.kill()
    assert slug(flying.result(PATIENCE)) == "device-lost"
    until(lambda: placement.codes)
    until(lambda: placement.pids[0] not in engines())


def test_a_process_that_is_stopped_is_killed_by_its_host(host: EngineHost) -> None:
    task = dataclasses.replace(TASK, interval=silence())  # five looks: also while it starts
    placement = OverOneHost(host, task)
    os.kill(placement.pids[0], signal.SIGSTOP)
    until(lambda: placement.codes)
    assert placement.codes == [-signal.SIGKILL]
    placement.shutdown()


def test_a_host_that_is_silent_is_given_up(host: EngineHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process lives, and nobody hears of it."""
    placement = OverOneHost(host, silence=silence())
    monkeypatch.setattr(hosting, "BEAT", b"?")
    placement.open("a", {})
    flying = placement.submit("a", long_frame(peer(placement, "a")))
    assert slug(flying.result(PATIENCE)) == "device-lost"
    until(lambda: placement.codes)
    assert "does not answer" in placement.unwell()
    placement.shutdown()


def test_waiting_for_a_code_ends_with_the_kill(placement: OverOneHost, host: EngineHost) -> None:
    child = placement.process._child
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.0)
    codes: list[int] = []
    waiting = threading.Thread(target=lambda: codes.append(child.wait(PATIENCE)))
    waiting.start()
    child.kill()
    waiting.join(PATIENCE)
    assert codes[0] in (-signal.SIGKILL, links.UNKNOWN_CODE)


def test_sessions_sleep_where_their_front_goes_away(host: EngineHost, tmp_path: Path) -> None:
    make_record(tmp_path / "record.db")
    link = far_link(host.address, TASK, beat=0.01)
    ended: list[Any] = []
    process = EngineProcess(link, "cpu", lambda dead, code: ended.append(code))
    process.ready.result(PATIENCE)
    placement: Any = OneProcess(process)
    placement.open("a", {"store": str(tmp_path / "record.db"), "durability": "process", "leased": 1})
    one = peer(placement, "a")
    one.put("x", [1.0])
    link.child._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]
    link.front.shutdown(socket.SHUT_RDWR)
    until(lambda: process.pid not in engines())
    home = tmp_path / "record.tenure-1"
    assert (home / "record.asleep").exists()
    assert len(list(home.glob("*.safetensors"))) == 1
    until(lambda: ended)
    process.join(PATIENCE)


class OneProcess(EnginesPlacement):
    """Over a process that somebody else looks after."""

    def __init__(self, process: EngineProcess) -> None:
        super().__init__(PATIENCE, 0.0, 0.0, 0.0)
        self._processes = [process]
        self._rooms = DeviceRooms(self._processes, lambda p, tenant: p.room(tenant))


def test_no_descriptor_stays_open() -> None:
    def life() -> None:
        host = EngineHost("127.0.0.1")
        placement = OverOneHost(host)
        placement.open("a", {})
        peer(placement, "a").put("x", [1.0])
        placement.shutdown()
        host.close()

    life()
    before = descriptors(memory=True)
    life()
    until(lambda: len(descriptors(memory=True)) <= len(before), lambda: descriptors(memory=True) - before)
