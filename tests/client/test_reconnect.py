"""A daemon that goes away: what passes is tried again, what is gone is said, and nothing is made anew."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd._exceptions import error_of
from gradd._transports import Dropped, reconnect
from gradd._transports.control import refusal
from gradd._wire import absence
from gradd._wire.absence import Absence, Hurry, retry_after
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import TABLE, problem

URLS = ["local", "stream", "http"]


@pytest.fixture(params=URLS)
def connect(request: pytest.FixtureRequest) -> Any:
    """Connects to a session of the given name, over each transport."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    transport = "http" if request.param == "http" else "stream"

    def make(name: str | None = None, **more: Any) -> Any:
        return gradd.connect(url, name, transport=transport, **more)

    return make


# -- what passes --------------------------------------------------------------------------------------


def test_which_refusals_pass() -> None:
    passing = {"recovering", "not-ready", "draining", "overloaded", "rate-limited"}
    said = {"device-lost", "store-failed", "disk-full", "too-many"}
    for slug in TABLE:
        plain, timed = (retry_after(error_of(problem(slug, retry_after=n), None, None)) for n in (None, 3))
        assert plain == (0.0 if slug in passing else None), slug
        assert timed == (3.0 if slug in passing | said else None), slug
    assert retry_after(gradd.SessionLost("gone")) is None


@pytest.mark.parametrize(
    ("status", "after", "passes"),
    [(502, "", 0.0), (503, "7", 7.0), (504, "soon", 0.0), (429, "2", 2.0), (403, "", None), (500, "1", None)],
)
def test_a_proxy_that_does_not_reach_it(status: int, after: str, passes: float | None) -> None:
    error = refusal(status, {"Retry-After": after}, b"<html>")
    assert isinstance(error, gradd.ServerError)
    assert str(status) in str(error)
    assert retry_after(error) == passes


class Clock:
    """A clock that goes as far as somebody rests."""

    def __init__(self) -> None:
        self.now = 100.0
        self.rests: list[float] = []

    def rest(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(absence, "time", SimpleNamespace(monotonic=lambda: made.now, sleep=made.rest))
    monkeypatch.setattr(Hurry, "rest", lambda self, seconds: made.rest(seconds))
    return made


def test_pauses_grow_with_jitter_until_the_time_is_over(clock: Clock) -> None:
    away = Absence("http://x", 60.0, Hurry())
    while away.pause(Dropped("gone")):
        assert len(clock.rests) < 1000
    assert clock.now == pytest.approx(160.0)
    assert 20 < len(clock.rests) < 200
    assert len(set(clock.rests)) == len(clock.rests)
    assert max(clock.rests) <= 5.0
    assert max(clock.rests[:3]) <= 0.2


def test_retry_after_is_honoured_within_the_time(clock: Clock) -> None:
    away = Absence("http://x", 10.0, Hurry())
    assert away.pause(Dropped("busy"), 4.0)
    assert clock.now == pytest.approx(104.0)
    assert away.pause(Dropped("busy"), 3600.0)
    assert clock.now == pytest.approx(110.0)
    assert not away.pause(Dropped("busy"), 4.0)


def test_only_the_time_away_counts(clock: Clock) -> None:
    away = Absence("http://x", 10.0, Hurry())
    assert away.pause(Dropped("gone"), 6.0)
    away.back()
    clock.now += 1000  # a long batch
    assert away.pause(Dropped("gone"), 3.0)
    assert away.pause(Dropped("gone"), 3.0)
    assert not away.pause(Dropped("gone"), 3.0)


def test_the_user_is_told_once_and_when_it_is_back(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    away = Absence("http://x", 300.0, Hurry())
    for _ in range(3):
        away.pause(Dropped("gone"), 0.6)
    assert capsys.readouterr().err == ""
    for _ in range(3):
        away.pause(Dropped("gone"), 5.0)
    assert capsys.readouterr().err == "gradd: http://x does not answer; trying again for 298 s\n"
    away.back()
    away.back()
    assert capsys.readouterr().err == "gradd: http://x is back after 17 s\n"
    full = Absence("http://x", 300.0, Hurry())
    full.pause(error_of(problem("disk-full", retry_after=1), None, None), 3.0)
    assert capsys.readouterr().err == "gradd: http://x answers 'Disk full'; trying again for 298 s\n"


def test_who_closes_waits_for_seconds(clock: Clock) -> None:
    hurry = Hurry()
    away = Absence("http://x", 300.0, hurry)
    assert away.pause(Dropped("gone"), 50.0)
    hurry.begin()
    before = clock.now
    while away.pause(Dropped("gone")):
        assert len(clock.rests) < 1000
    assert clock.now - before == pytest.approx(absence.CLOSING)


def test_a_rest_ends_where_the_session_is_closed() -> None:
    hurry = Hurry()
    rested = threading.Thread(target=hurry.rest, args=(3600.0,))
    rested.start()
    hurry.begin()
    rested.join()
    assert hurry.left() <= absence.CLOSING


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADD_RECONNECT", raising=False)
    assert reconnect() == 300.0
    monkeypatch.setenv("GRADD_RECONNECT", "12")
    assert reconnect() == 12.0
    monkeypatch.setenv("GRADD_RECONNECT", "soon")
    with pytest.raises(ValueError, match="GRADD_RECONNECT"):
        gradd.connect("local:")


# -- a daemon that refuses, and one that is away ------------------------------------------------------------


class Failing:
    """A transport whose calls fail some times: `fails` has the exceptions of each, which are used up."""

    def __init__(self, inner: Any, **fails: list[BaseException]) -> None:
        self._inner, self._fails = inner, fails

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._inner, name)
        if not callable(real):
            return real

        def call(*given: Any) -> Any:
            if self._fails.get(name):
                raise self._fails[name].pop(0)
            return real(*given)

        return call


def refused(slug: str, **more: Any) -> Exception:
    return error_of(problem(slug, **more), None, None)


def test_what_passes_is_waited_for(connect: Any) -> None:
    with connect() as session:
        x = torch.zeros(2)
        session.flush()
        session.wire.transport = Failing(
            session.wire.transport,
            send=[Dropped("cut")],
            attach=[
                gradd.ConnectionFailed("refused"),
                refused("recovering"),
                refused("draining"),
                Dropped("cut"),
            ],
            request=[refused("overloaded"), Dropped("cut"), refused("recovering"), Dropped("cut")],
        )
        x.add_(1)
        assert x.tolist() == [1.0, 1.0]
        assert session.info().batches == session.wire.seq


def test_a_reply_to_something_else_is_none(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that repeats messages repeats the first, too."""
    with connect() as session:
        x = torch.zeros(2)
        session.flush()
        session.wire.wait_all()
        greeting = m.Attached(1, 1, 64, m.SessionInfo("x", 1))
        with monkeypatch.context() as patch:
            answers = [frames.join(frames.encode(greeting))]
            real = type(session.wire.transport).receive
            patch.setattr(
                type(session.wire.transport), "receive",
                lambda self, block: answers.pop() if answers else real(self, block),
            )  # fmt: skip
            x.add_(1)
            assert x.tolist() == [1.0, 1.0]
        assert not answers
        assert session.info().batches == session.wire.seq


def test_what_does_not_pass_is_said(connect: Any) -> None:
    session = connect()
    x = torch.zeros(2)
    session.flush()
    inner = session.wire.transport
    session.wire.transport = Failing(
        inner, send=[Dropped("cut")], attach=[refused("store-failed", detail="it is damaged")]
    )
    x.add_(1)
    with pytest.raises(gradd.SessionLost, match="it is damaged"):
        x.tolist()
    with pytest.raises(gradd.SessionLost):
        torch.ones(2)
    session.close()


def test_ctrl_c_ends_the_wait(connect: Any) -> None:
    session = connect(reconnect=3600.0)
    x = torch.zeros(2)
    session.flush()
    real = session.wire.transport
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # Of one that comes back never; the interrupt comes with the third try.
        def away(resume: Any = None) -> Any:
            tries.append(resume)
            if len(tries) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            raise gradd.ConnectionFailed("refused")

        tries: list[Any] = []
        session.wire.transport = Failing(real, send=[Dropped("cut")])
        session.wire.transport.attach = away
        x.add_(1)
        with pytest.raises(KeyboardInterrupt):
            x.tolist()
        assert session.wire.interrupted
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(tries) == 3
    session.wire.transport = real
    assert x.tolist() == [1.0, 1.0]
    session.close()


def test_a_lost_tail_is_said(connect: Any) -> None:
    session = connect()
    x = torch.zeros(2)
    session.flush()
    session.wire._refused(problem("sequence-gap", expected_seq=1))
    with pytest.raises(gradd.SessionLost, match="lost the end of its record"):
        x.tolist()
    session.close()


# -- what is gone -------------------------------------------------------------------------------------------


@pytest.fixture
def named(connect: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session with a name and a tensor, and what deletes it."""
    name = f"gone-{abs(hash(request.node.name)) % 10**9}"
    session = connect(name)
    x = torch.ones(2)
    session["x"] = x
    made = [session]

    def again() -> Any:
        made.append(connect(name))
        return made[-1]

    yield SimpleNamespace(
        session=session, x=x, again=again, delete=lambda: gradd.delete_session(name, session.url)
    )
    for each in made:
        each.close()
    gradd.delete_session(name, session.url)


def uses(found: Any) -> Iterator[Any]:
    """Ways to use a session, each of which notices by itself."""
    yield lambda: (found.x + 1).tolist()
    yield found.session.flush
    yield found.session.info


def test_a_session_that_is_gone_is_lost_and_not_made_anew(named: Any) -> None:
    named.delete()
    named.session.wire._stale = True  # as after its daemon was started again
    for use in uses(named):
        with pytest.raises(gradd.SessionLost, match="deleted"):
            use()
    assert named.again().tensors() == []
    with pytest.raises(gradd.SessionLost):
        named.x.tolist()


def test_another_session_of_the_name_is_none_of_its_writers(named: Any) -> None:
    named.delete()
    other = named.again()
    with other:
        theirs = torch.zeros(2)
        other.flush()
        with pytest.raises(gradd.SessionLost, match="deleted"):
            (named.x + 1).tolist()
        assert theirs.tolist() == [0.0, 0.0]
        assert len(other.tensors()) == 1


def test_a_forked_child_makes_no_session_anew(named: Any) -> None:
    named.delete()
    parents = named.session.wire.transport
    named.session.forked()
    with pytest.raises(gradd.SessionLost, match="deleted"):
        named.session.flush()
    parents.close()
    assert named.again().tensors() == []


# -- one writer ---------------------------------------------------------------------------------------------


def test_who_acquires_a_session_is_its_only_writer(named: Any) -> None:
    other = named.again()
    with other:
        mine = torch.full((2,), 5.0, requires_grad=True)
        y = (mine * 2).sum()
        seen = other["x"]
        other.acquire()
        with pytest.raises(gradd.SessionLost, match="another client acquired"):
            (named.x + 1).tolist()
        y.backward()
        assert (mine.tolist(), mine.grad.tolist(), seen.tolist()) == ([5.0, 5.0], [2.0, 2.0], [1.0, 1.0])
        assert other["x"] is seen
        seen.add_(1)
        assert seen.tolist() == [2.0, 2.0]
        del mine, y
        other.flush()
        theirs = named.session.wire.prefix
        assert [t for t in other.tensors() if not t.id.startswith(theirs)] == other.mirror()


def test_acquiring_unheard(connect: Any) -> None:
    with connect() as session:
        x = torch.ones(2)
        session.flush()
        session.wire.transport = Failing(
            session.wire.transport, request=[Dropped("cut"), refused("recovering")]
        )
        session.acquire()
        assert (x + 1).tolist() == [2.0, 2.0]
