"""Ctrl-C: the session stays usable, and the mirror agrees with the server."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd._wire import Sent, Wire


@pytest.fixture(params=["local", "stream", "http"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url, transport="http" if request.param == "http" else "stream") as s:
        yield s


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Where tests run in the background, interrupts are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class CtrlC:
    """Sends a real SIGINT to the main thread as soon as it waits for a reply."""

    def __init__(self, session: Any) -> None:
        self.transport = session.wire.transport
        self.session = session

    def __enter__(self) -> None:
        self.session.wire.transport = self

    def __exit__(self, *exc: object) -> None:
        self.session.wire.transport = self.transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def receive(self, block: bool) -> Any:
        if block:
            os.kill(os.getpid(), signal.SIGINT)
        return self.transport.receive(block)


def test_an_interrupted_wait_leaves_the_session_usable(session: Any) -> None:
    x = torch.zeros(2)
    session.flush()
    for _ in range(3):
        x.add_(1)
        session.step_done()
        y = x * 2
        with pytest.raises(KeyboardInterrupt), CtrlC(session):
            y.tolist()
        x.add_(1)
        assert y.shape == (2,)
    # what was in flight was stopped, or was done before; the last one was not sent by then
    assert x.tolist() in ([n, n] for n in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    assert session.info().batches == session.wire.seq
    assert session.tensors() == session.mirror()


def test_a_wait_for_a_slow_batch_can_be_interrupted(daemon: str) -> None:
    with gradd.connect(daemon) as session:
        a = torch.ones(1500, 1500)
        session.flush()
        for _ in range(12):
            a = a @ a * 1e-4
        started = threading.Event()
        receive = session.wire.transport.receive

        def watched(block: bool) -> Any:
            started.set()
            return receive(block)

        def interrupt() -> None:
            started.wait()
            os.kill(os.getpid(), signal.SIGINT)

        session.wire.transport.receive = watched
        sender = threading.Thread(target=interrupt)
        sender.start()

        def read() -> None:
            a.sum().item()
            sender.join()  # the batch was faster than the signal
            raise AssertionError("no interrupt came")

        with pytest.raises(KeyboardInterrupt):
            read()
        sender.join()
        session.wire.transport.receive = receive
        assert torch.ones(2).tolist() == [1.0, 1.0]
        assert session.tensors() == session.mirror()


def long_batch() -> Any:
    """The last tensor of minutes of work, not sent yet."""
    a = torch.eye(700)
    for _ in range(3000):
        a = a @ a
    return a


def waited_for(session: Any) -> threading.Event:
    """Set as soon as somebody waits for a reply."""
    waits = threading.Event()
    receive = session.wire.transport.receive

    def watched(block: bool) -> Any:
        if block:
            waits.set()
        return receive(block)

    session.wire.transport.receive = watched
    return waits


@pytest.mark.parametrize("wakes", [True, False])
def test_ctrl_c_stops_the_batch_that_runs(session: Any, wakes: bool) -> None:
    """Also where the signal comes just before the call that waits begins, and does not wake it."""
    x = torch.ones(2)
    kept = torch.ones(2, requires_grad=True)
    loss = (kept * 3).sum()
    session.flush()
    a = long_batch()
    waits = waited_for(session)

    def interrupt() -> None:
        waits.wait()
        # One that another thread takes does not wake this one.
        signal.pthread_kill(threading.main_thread().ident if wakes else threading.get_ident(), signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        a.sum().item()
    sender.join()
    del session.wire.transport.receive
    # nothing is raised, and what was before goes on
    x.add_(1)
    loss.backward()
    assert x.tolist() == [2.0, 2.0]
    assert kept.grad.tolist() == [3.0, 3.0]
    with pytest.raises(gradd.GraddError):
        a.tolist()
    assert session.tensors() == session.mirror()
    assert session.info().batches == session.wire.seq


def test_another_thread_stops_it(session: Any) -> None:
    x = torch.ones(2)
    session.flush()
    a = long_batch()
    waits = waited_for(session)

    def cancel() -> None:
        waits.wait()
        wire, seq = session.wire, session.wire.seq
        session.cancel()
        while wire.answered < seq:  # it may have come before the batch
            wire.transport.cancel(wire.writer, seq)

    other = threading.Thread(target=cancel)
    other.start()
    with pytest.raises(gradd.ServerError, match="Batch cancelled"):
        a.sum().item()
    other.join()
    assert (x + 1).tolist() == [2.0, 2.0]
    assert session.tensors() == session.mirror()


@pytest.mark.parametrize("at", ["run", "record"])
def test_an_interrupt_inside_a_step_is_put_right(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    with gradd.connect("local:") as session:
        x, w = torch.ones(2), torch.ones(2, requires_grad=True)
        y = (w * w).sum()
        session.flush()

        def interrupted(*args: Any, **kwargs: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            if at == "run":
                # After the mirror's version was counted up and before the step is recorded.
                patch.setattr(session, "record", interrupted)
            else:
                patch.setattr("gradd._program.Builder.append", interrupted)
            with pytest.raises(KeyboardInterrupt):
                x.add_(1)
            assert x._version == 1
        assert x.tolist() == [1.0, 1.0]
        assert x._version == 0
        y.backward()
        assert w.grad.tolist() == [2.0, 2.0]
        assert session.tensors() == session.mirror()


def test_an_interrupt_inside_a_pass_is_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    with gradd.connect("local:") as session:
        w = torch.ones(2, requires_grad=True)
        y = (w * w).sum()
        session.flush()

        def interrupted(*args: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("gradd_engine.backward.executor.accumulate", interrupted)
            with pytest.raises(KeyboardInterrupt):
                y.backward()
        y.backward()
        assert w.grad.tolist() == [2.0, 2.0]
        assert session.tensors() == session.mirror()


@pytest.mark.parametrize("place", ["_keep", "_reads", "_frees"])
def test_an_interrupt_while_a_batch_is_made_is_put_right(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    with gradd.connect("local:") as session:
        x = torch.ones(2)
        session.flush()
        y = x + 1
        x.mul_(5)
        real = getattr(session.outbox, place)

        def interrupted(*args: Any) -> Any:
            real(*args)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(session.outbox, place, interrupted)
            with pytest.raises(KeyboardInterrupt):
                session.flush()
        assert x.tolist() == [1.0, 1.0]
        with pytest.raises(gradd.GraddError, match="session"):
            y.tolist()
        assert session.tensors() == session.mirror()


class Midway:
    """Interrupts this thread before the `n`-th line that it runs of `functions`."""

    def __init__(self, n: int, *functions: Any) -> None:
        self.left, self._codes = n, {f.__code__ for f in functions}

    def __enter__(self) -> None:
        sys.settrace(self._entered)

    def __exit__(self, *exc: object) -> None:
        sys.settrace(None)

    def _entered(self, frame: Any, event: str, arg: Any) -> Any:
        return self._line if frame.f_code in self._codes else None

    def _line(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._line


@pytest.mark.parametrize("fails", [False, True], ids=["applied", "stopped"])
def test_an_interrupt_anywhere_while_a_reply_is_taken(fails: bool) -> None:
    """The batch is sent again, with all of its uploads."""
    for n in range(1, 200):
        with gradd.connect("local:") as session:
            total = torch.zeros(1)
            session.flush()
            some = [torch.full((1000,), float(k)) + torch.tensor([1.0] * 1000) for k in range(3)]
            total.add_(sum(each.sum() for each in some))
            if fails:
                broken = torch.arange(3)[torch.tensor([5])]  # which only the server finds out
            midway = Midway(n, Wire._take, Sent.deliver, Sent.lose, Wire.saw)
            try:
                with midway:
                    session.flush()
            except KeyboardInterrupt:
                pass  # what it left is looked at below
            except IndexError:
                assert fails
            if fails:
                with pytest.raises(IndexError):
                    broken.tolist()
                with suppress(IndexError):  # it may be seen there first
                    session.flush()
            assert total.tolist() == [6000.0]
            assert session.wire.ended is None
            assert session.info().batches == session.wire.seq
            assert session.wire.flying_bytes == 0
            assert session.tensors() == session.mirror()
        if midway.left > 0:
            break
    else:
        raise AssertionError("it was never done")
    assert n > 10
