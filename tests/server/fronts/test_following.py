"""A front that does not lead: whom it follows, what it passes on, and when it takes the lead."""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from gradd_runtime.store import Folder
from gradd_server.fronts import following
from gradd_server.fronts.following import Follower, Found, Unreachable, look
from gradd_server.fronts.leads import FrontAddress, Lead, Leads

from tests.server.one_front import front
from tests.server.test_reach import certificate
from tests.waiting import PATIENCE

HERE = "this machine"


class Following:
    """A follower on a thread, that stops with the block, and what became of it."""

    def __init__(self, folder: Path, silence: float = PATIENCE) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.own = FrontAddress(self.url, HERE)
        self.leads = Leads(Folder(folder / "leads"))
        self.lead: Lead | None = None
        self.failure: Exception | None = None
        self.followed: list[FrontAddress] = []
        self._told, self.over = threading.Condition(), threading.Event()
        self.follower = Follower(self.leads, self.own, self.listener, silence, self._follows)
        self._thread = threading.Thread(target=self._run)

    def _follows(self, other: FrontAddress) -> None:
        with self._told:
            self.followed.append(other)
            self._told.notify_all()

    def follows(self, other: FrontAddress) -> bool:
        with self._told:
            return self._told.wait_for(lambda: self.followed[-1:] == [other], PATIENCE)

    def _run(self) -> None:
        try:
            self.lead = self.follower.run(())
        except Exception as error:
            self.failure = error
        self.over.set()

    def number(self) -> int:
        """Of the lead that it has taken."""
        assert self.over.wait(PATIENCE)
        assert self.lead is not None, self.failure
        return self.lead.number

    def __enter__(self) -> Following:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self.over.is_set():
            self.follower.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        self.listener.close()


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(following, "SURE_SECONDS", 0.02)
    monkeypatch.setattr(following, "ANSWER_SECONDS", 0.5)


@pytest.fixture
def silent() -> Iterator[FrontAddress]:
    """One whose system takes connections, and that says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield FrontAddress(f"http://127.0.0.1:{listener.getsockname()[1]}", HERE)


@pytest.fixture
def gone() -> FrontAddress:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return FrontAddress(f"http://127.0.0.1:{listener.getsockname()[1]}", HERE)


def test_a_look_tells_who_is_here(silent: FrontAddress, gone: FrontAddress) -> None:
    with front() as url:
        assert look(FrontAddress(url, HERE), PATIENCE) is Found.HERE
    assert look(silent, 0.1) is Found.SILENT
    assert look(gone, PATIENCE) is Found.GONE
    assert look(FrontAddress("http://host.invalid:1", ""), PATIENCE) is Found.SILENT


def test_a_look_speaks_tls(tmp_path: Path) -> None:
    with front(tls=certificate(tmp_path)) as url:
        assert look(FrontAddress(url, HERE), PATIENCE) is Found.HERE
        assert look(FrontAddress(url.replace("https", "http"), HERE), 0.5) is Found.SILENT


def test_the_first_leads_at_once(tmp_path: Path) -> None:
    with Following(tmp_path) as one:
        assert one.number() == 1
        assert one.leads.latest() == (1, one.own)
        assert one.followed == []


def test_one_that_follows_passes_on(tmp_path: Path) -> None:
    with front() as url:
        leader = FrontAddress(url, HERE)
        assert Leads(Folder(tmp_path / "leads")).take(0, leader)
        with Following(tmp_path) as one:
            assert one.follows(leader)
            with httpx.Client(base_url=one.url, trust_env=False) as client:
                assert client.get("/v1").json() == httpx.get(f"{url}/v1", trust_env=False).json()
                assert client.get("/livez").status_code == 200
        assert one.lead is None
        assert one.failure is None


def test_where_the_leader_is_gone_one_takes_the_lead(tmp_path: Path, gone: FrontAddress) -> None:
    assert Leads(Folder(tmp_path / "leads")).take(0, gone)
    with Following(tmp_path) as one:
        assert one.number() == 2
        assert one.leads.latest() == (2, one.own)


def test_all_follow_who_leads_then(tmp_path: Path) -> None:
    with front() as url, front() as later:
        leader, second = FrontAddress(url, HERE), FrontAddress(later, HERE)
        assert Leads(Folder(tmp_path / "leads")).take(0, leader)
        with Following(tmp_path) as one, Following(tmp_path) as two:
            assert one.follows(leader)
            assert two.follows(leader)
            assert one.leads.take(1, second)
            assert one.follows(second)
            assert two.follows(second)


def test_when_the_leader_ends_one_leads_and_the_others_follow_it(tmp_path: Path) -> None:
    leading = front()
    leader = FrontAddress(leading.__enter__(), HERE)
    assert Leads(Folder(tmp_path / "leads")).take(0, leader)
    with Following(tmp_path) as one, Following(tmp_path) as two:
        assert one.follows(leader)
        assert two.follows(leader)
        leading.__exit__(None, None, None)
        pause = threading.Event()
        while not (one.over.is_set() or two.over.is_set()):
            assert not pause.wait(0.01)
        first, other = (one, two) if one.over.is_set() else (two, one)
        assert first.number() == 2
        assert other.follows(first.own)
        assert not other.over.is_set()


def test_what_waits_while_nobody_leads_is_answered_by_who_does(tmp_path: Path, gone: FrontAddress) -> None:
    assert Leads(Folder(tmp_path / "leads")).take(0, gone)
    with Following(tmp_path) as one, httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        assert one.number() == 2
        answers: list[int] = []
        asking = threading.Thread(target=lambda: answers.append(client.get(one.url).status_code))
        asking.start()
        taken, _ = one.listener.accept()
        with taken:
            taken.recv(1 << 16)
            taken.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        asking.join(PATIENCE)
        assert answers == [204]


def test_one_that_says_nothing_is_given_up_after_its_silence(tmp_path: Path, silent: FrontAddress) -> None:
    leads = Leads(Folder(tmp_path / "leads"))
    assert leads.take(0, silent)
    leads.serve(1)
    with Following(tmp_path, silence=0.1) as one:
        assert one.number() == 2


def test_who_was_asleep_itself_blames_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter([Found.HERE, Found.SILENT, Found.SILENT, Found.SILENT, Found.HERE])
    seen, clock, all_seen = [], [0.0], threading.Event()

    def slow(front: FrontAddress, seconds: float) -> Found:
        clock[0] += 3600.0  # it slept between any two looks
        seen.append(next(found, Found.HERE))
        if len(seen) > 5:
            all_seen.set()
        return seen[-1]

    monkeypatch.setattr(following, "look", slow)
    monkeypatch.setattr(following.time, "monotonic", lambda: clock[0])
    with front() as url:
        leads = Leads(Folder(tmp_path / "leads"))
        assert leads.take(0, FrontAddress(url, HERE))
        leads.serve(1)
        with Following(tmp_path, silence=10.0) as one:
            assert all_seen.wait(PATIENCE)
            assert not one.over.is_set()


def test_one_that_starts_is_given_more_time(
    tmp_path: Path, silent: FrontAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "ANSWER_SECONDS", 0.05)
    leads = Leads(Folder(tmp_path / "leads"))
    assert leads.take(0, silent)
    with Following(tmp_path, silence=0.1) as one:
        assert one.follows(silent)
        assert not one.over.wait(1.0)
        leads.serve(1)
        assert one.number() == 2


def test_one_that_died_as_it_took_the_lead_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "START_SECONDS", 0.1)
    leads = Leads(Folder(tmp_path / "leads"))
    (tmp_path / "leads" / "1").touch()
    with Following(tmp_path, silence=0.1) as one:
        assert one.number() == 2
        assert leads.latest() == (2, one.own)


def test_storage_that_is_away_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, looks = Leads.latest, []

    def latest(self: Leads) -> tuple[int, FrontAddress | None]:
        looks.append(None)
        if len(looks) < 4:
            raise OSError(errno.ESTALE, "Stale file handle")
        return real(self)

    monkeypatch.setattr(Leads, "latest", latest)
    with Following(tmp_path) as one:
        assert one.number() == 1
    assert len(looks) == 4


def test_one_that_follows_goes_on_while_storage_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()

    def is_over(self: Leads, number: int) -> bool:
        looked.set()
        raise OSError(errno.ESTALE, "Stale file handle")

    with front() as url:
        leader = FrontAddress(url, HERE)
        assert Leads(Folder(tmp_path / "leads")).take(0, leader)
        with Following(tmp_path) as one:
            assert one.follows(leader)
            monkeypatch.setattr(Leads, "is_over", is_over)
            assert looked.wait(PATIENCE)
            assert httpx.get(f"{one.url}/livez", trust_env=False).status_code == 200
            assert not one.over.is_set()


def test_a_front_that_is_started_again_leads_again(tmp_path: Path) -> None:
    one = Following(tmp_path)
    assert one.leads.take(0, one.own)
    with one:
        assert one.number() == 2


def test_two_machines_cannot_both_be_this_one(tmp_path: Path, silent: FrontAddress) -> None:
    assert Leads(Folder(tmp_path / "leads")).take(0, FrontAddress(silent.url, "another machine"))
    with Following(tmp_path) as one:
        assert one.over.wait(PATIENCE)
        assert isinstance(one.failure, Unreachable)
        assert "--front-address" in str(one.failure)
    assert one.leads.latest()[0] == 1


def test_a_signal_ends_it(tmp_path: Path) -> None:
    with front() as url, socket.create_server(("127.0.0.1", 0)) as listener:
        leads = Leads(Folder(tmp_path / "leads"))
        assert leads.take(0, FrontAddress(url, HERE))
        own = FrontAddress(f"http://127.0.0.1:{listener.getsockname()[1]}", HERE)
        follower = Follower(
            leads, own, listener, PATIENCE, lambda _: os.kill(os.getpid(), signal.SIGTERM)
        )  # fmt: skip
        assert follower.run() is None
