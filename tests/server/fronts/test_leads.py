"""Who has the lead, and that nobody else has it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gradd_runtime.store import Folder
from gradd_server.fronts import leads as module
from gradd_server.fronts.leads import FrontAddress, Lead, Leads, this_machine

from tests.waiting import PATIENCE

ONE, OTHER = FrontAddress("http://one:4733", "here"), FrontAddress("http://other:4733", "there")


@pytest.fixture
def leads(tmp_path: Path) -> Leads:
    return Leads(Folder(tmp_path / "leads"))


def test_nobody_leads_before_the_first(leads: Leads) -> None:
    assert leads.latest() == (0, None)
    assert leads.take(0, ONE)
    assert leads.latest() == (1, ONE)
    assert leads.take(1, OTHER)
    assert leads.latest() == (2, OTHER)


def test_a_lead_is_given_once(tmp_path: Path) -> None:
    fronts = [FrontAddress(f"http://front-{n}:4733", "") for n in range(16)]
    begin = threading.Barrier(len(fronts))

    def take(front: FrontAddress) -> list[bool]:
        own = Leads(Folder(tmp_path / "leads"))
        begin.wait(PATIENCE)
        return [own.take(after, front) for after in range(5)]

    with ThreadPoolExecutor(len(fronts)) as pool:
        took = list(pool.map(take, fronts))
    assert [sum(round) for round in zip(*took, strict=True)] == [1] * 5
    number, last = Leads(Folder(tmp_path / "leads")).latest()
    assert number == 5
    assert took[fronts.index(last or ONE)][4]


def test_a_lead_is_over_once_there_is_the_next(leads: Leads) -> None:
    assert leads.take(0, ONE)
    assert not leads.is_over(1)
    assert leads.take(1, OTHER)
    assert leads.is_over(1)
    assert not leads.is_over(2)


def test_who_died_as_it_took_the_lead_is_not_known(leads: Leads, tmp_path: Path) -> None:
    (tmp_path / "leads" / "1").touch()
    assert leads.latest() == (1, None)
    assert not leads.take(0, ONE)
    assert leads.take(1, ONE)


def test_a_lead_serves_once_its_front_says_so(leads: Leads) -> None:
    assert leads.take(0, ONE)
    assert not leads.serves(1)
    with Lead(leads, 1) as lead:
        lead.serve()
    assert leads.serves(1)
    assert leads.latest() == (1, ONE)


def test_who_lost_the_lead_is_told_and_not_before(leads: Leads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    told = threading.Event()
    assert leads.take(0, ONE)
    with Lead(leads, 1) as lead:
        lead.on_lost = told.set
        assert not told.wait(0.1)
        assert not lead.lost
        assert leads.take(1, OTHER)
        assert told.wait(PATIENCE)
        assert lead.lost


def test_files_of_leads_long_past_go(
    leads: Leads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(module, "KEPT", 3)
    for after in range(10):
        assert leads.take(after, ONE)
        leads.serve(after + 1)
    assert {path.name for path in (tmp_path / "leads").iterdir()} == {
        *map(str, range(7, 11)), *(f"{n}.serves" for n in range(7, 11))
    }  # fmt: skip
    assert leads.latest() == (10, ONE)


def test_a_list_that_is_old_is_no_matter(leads: Leads, monkeypatch: pytest.MonkeyPatch) -> None:
    for after in range(3):
        assert leads.take(after, ONE)
    monkeypatch.setattr(Leads, "_numbers", lambda self: [1])
    assert leads.latest() == (3, ONE)


def test_a_machine_is_told_from_others() -> None:
    assert this_machine() == this_machine()
    assert len(this_machine()) > 8
