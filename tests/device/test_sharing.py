"""Tenants share a device by the time that it takes for them, which is known after their turns are over."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Program, Step
from gradd_runtime.process import EnvelopeKind, Incoming, OrderBook, Running, decode_figures, sealed
from gradd_runtime.process.device_time import BEHIND, DeviceTimes
from gradd_runtime.process.worker import Worker

from tests import standin
from tests.standin.machine import MACHINE
from tests.standin.sessions import device
from tests.waiting import PATIENCE

xp = standin.CUPY


@pytest.fixture(autouse=True)
def renewed() -> Iterator[None]:
    standin.reset()
    yield
    MACHINE.renew()


def test_a_stopwatch_measures_what_the_device_takes() -> None:
    MACHINE.seconds = {"exp": 2.0, "cos": 0.5}
    watch = device().stopwatch()
    xp.exp(xp.ones(3))
    watch.start()
    xp.cos(xp.ones(3))
    watch.stop()
    xp.exp(xp.ones(3))
    assert watch.seconds() == 0.5
    assert NUMPY.stopwatch() is None
    assert not standin.WAITS


def test_times_are_told_when_they_are_known_in_order_and_nobody_waits() -> None:
    MACHINE.seconds = {"exp": 2.0, "cos": 0.5}
    times, told = DeviceTimes(device()), []
    MACHINE.busy = True
    for function in (xp.exp, xp.cos):
        watch = times.begin()
        function(xp.ones(3))
        times.end(watch, told.append)
    times.read()
    assert told == []
    MACHINE.busy = False
    times.read()
    assert told == [2.0, 0.5]
    assert not standin.WAITS
    assert times.begin() is watch or times.begin() is watch  # they are used again


def test_a_device_that_is_behind_is_waited_for() -> None:
    times, told = DeviceTimes(device()), []
    for n in range(2 * BEHIND):
        MACHINE.busy = True
        times.catch_up()
        assert sum(standin.WAITS.values()) == max(0, n + 1 - BEHIND)
        times.end(times.begin(), told.append)
    standin.reset()
    MACHINE.busy = False
    times.catch_up()
    assert not standin.WAITS


class Desk:
    """A worker on a thread, and the front's end of its socket."""

    def __init__(self, backend: Any) -> None:
        self.front, theirs = socket.socketpair()
        self._incoming = Incoming(self.front)
        self._came: list[Any] = []
        worker = Worker(theirs, backend, OrderBook(), Running())
        self._thread = threading.Thread(target=self._run, args=(worker, theirs), daemon=True)
        self.count = 0
        self.parts: list[bytes] = []

    @staticmethod
    def _run(worker: Worker, theirs: socket.socket) -> None:
        with theirs:
            worker.run()

    def write(self, kind: EnvelopeKind, session: int, payload: bytes) -> int:
        """Note an envelope; all that are noted go at once."""
        self.count += 1
        self.parts += map(bytes, sealed(kind, self.count, session, [payload])[0])
        return self.count

    def go(self) -> None:
        self.front.sendall(b"".join(self.parts))
        self.parts = []
        if not self._thread.is_alive():
            self._thread.start()
            assert self.next().kind == EnvelopeKind.READY

    def next(self) -> Any:
        while not self._came:
            found = self._incoming.receive()
            assert found is not None
            self._came += found
        return self._came.pop(0)

    def close(self) -> None:
        self.front.shutdown(socket.SHUT_WR)
        self._thread.join(PATIENCE)
        self.front.close()


def batch(seq: int, op: str) -> bytes:
    # no two are one program, which would be planned
    program = Program(0, [Step("ones", [], {"size": [seq], "dtype": "float32"}), Step(op, [0])])
    message = m.Batch(writer=1, epoch=1, seq=seq, ack=0, program=program.id(), definition=program, inputs=[])
    return frames.join(frames.encode(message))


@pytest.mark.parametrize("measured", [True, False], ids=["by the device", "by the clock"])
def test_who_keeps_the_device_busy_has_fewer_turns(measured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tenants have ten batches each, which take this thread the same. One's take the device seconds."""
    if not measured:
        monkeypatch.setattr("gradd_engine.backends.cupy.CupyBackend.stopwatch", lambda _: None)
    MACHINE.seconds = {"sinh": 3.0, "cosh": 1e-6}
    desk = Desk(device())
    for number, name in ((1, "one/a"), (2, "two/b")):
        told = {"name": name, "options": {}}
        desk.write(EnvelopeKind.OPEN, number, json.dumps(told).encode())
        desk.write(EnvelopeKind.FRAME, number, frames.join(frames.encode(m.Attach("test"))))
    whose: dict[int, str] = {}
    for seq in range(1, 11):
        for number, op in ((1, "sinh"), (2, "cosh")):
            whose[desk.write(EnvelopeKind.FRAME, number, batch(seq, op))] = op
    desk.go()
    order = []
    for _ in range(22):
        envelope = desk.next()
        reply = frames.decode_reply(envelope.payload)[0]
        assert not isinstance(reply, m.ProblemReply), reply
        if envelope.request in whose:
            assert reply.problem is None, reply.problem
            order.append(whose[envelope.request])
    desk.write(EnvelopeKind.FIGURES, 0, b"")
    desk.go()
    figures = decode_figures(desk.next().payload)
    desk.close()
    assert figures is not None
    spent = {name: tenant.seconds for name, tenant in figures.tenants.items()}
    if measured:
        assert order.index("sinh") <= 2
        # after one of three seconds, it waits
        assert "".join(op[0] for op in order).rstrip("s").count("s") == 1
        assert spent["one"] == pytest.approx(30.0)
        assert spent["two"] == pytest.approx(1e-5)
    else:
        assert sum(spent.values()) < 10.0
    assert not [where for where in standin.WAITS if where[0] == "synchronize"]
