"""Where the daemon keeps sessions, and what it knows of them when it starts."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gradd_runtime.store import Folder
from gradd_server.app import create_app
from gradd_server.folder_stores import ABOUT, FolderStores
from gradd_server.fronts.leads import FrontAddress, Lead, Leads
from gradd_server.settings import Settings
from gradd_server.stores import Stores

from tests.server.conftest import OPS, Caller, Clock, Expect
from tests.server.fake_placement import FakePlacement
from tests.server.under_leads import finds_all_leads

OPTIONS = {"durability": "disk", "quota_bytes": 5}


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return FolderStores(tmp_path / "sessions")


@pytest.fixture
def serve(placement: FakePlacement, clock: Clock) -> Iterator[Callable[[Stores | None], Caller]]:
    """Makes a front over a folder of sessions, or over none."""
    made: list[Caller] = []

    def serving(stores: Stores | None) -> Caller:
        made.append(Caller(create_app(Settings(auth=False), placement, OPS, clock, stores)))
        return made[-1]

    yield serving
    for caller in made:
        caller.close()


@pytest.fixture
def call(stores: Stores, serve: Callable[[Stores | None], Caller]) -> Caller:
    return serve(stores)


def test_what_was_made_is_found(stores: Stores, tmp_path: Path) -> None:
    made = {name: stores.make("default", name, OPTIONS) for name in ("a", "A", "x" * 128, "a.b")}
    assert {name: record for _, name, _, record in stores.found()} == made
    assert all(options == OPTIONS for _, _, options, _ in stores.found())
    folders = [record.parent for record in made.values()]
    assert len({folder.name.lower() for folder in folders}) == 4
    assert len({folder.parent for folder in folders}) == 1
    assert folders[0].parent.parent == tmp_path / "sessions"
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_one_of_the_same_name_is_another(stores: Stores) -> None:
    first = stores.make("default", "a", OPTIONS)
    stores.remove("default", "a")
    stores.remove("default", "a")
    assert not first.parent.exists()
    assert stores.make("default", "a", OPTIONS) != first
    assert stores.make("default", "a", OPTIONS).exists()


def test_tenants_have_folders_of_their_own(
    stores: Stores, placement: FakePlacement, serve: Callable[[Stores | None], Caller]
) -> None:
    ours, theirs = (stores.make(tenant, "a", {**OPTIONS, "device": "cpu"}) for tenant in ("default", "team"))
    caller = serve(stores)
    caller.run(caller._gate.front.sessions.restore())
    assert {key: options["store"] for key, options in placement.options.items()} == {
        "a": str(ours),
        "team/a": str(theirs),
    }
    assert call_names(caller) == ["a"]
    assert caller("DELETE", "/v1/sessions/a").status_code == 204
    assert [(tenant, name) for tenant, name, _, _ in stores.found()] == [("team", "a")]
    assert theirs.exists()


def test_what_is_half_made_or_half_deleted_goes_and_what_is_damaged_stays(
    stores: Stores, tmp_path: Path
) -> None:
    half, deleted, damaged, moved = (stores.make("default", name, OPTIONS).parent for name in "abcd")
    (half / ABOUT).unlink()
    deleted.rename(tmp_path / "sessions" / ".deleted-1")
    (damaged / ABOUT).write_text("{}")
    (moved / ABOUT).write_text('{"tenant": "default", "name": "../up", "options": {}, "record": "x.db"}')
    assert list(stores.found()) == []
    assert {path.name for path in damaged.parent.iterdir()} == {damaged.name, moved.name}


def test_named_sessions_are_kept_and_anonymous_ones_are_not(
    call: Caller, stores: Stores, placement: FakePlacement
) -> None:
    for name, body in (("named", {}), ("anon-1", {}), ("light", {"durability": "memory"}), ("safe", OPTIONS)):
        assert call("PUT", f"/v1/sessions/{name}", json=body).status_code == 201
    assert [name for _, name, _, _ in stores.found()] == ["named", "safe"]
    assert {name: options["durability"] for name, options in placement.options.items()} == {
        "named": "process", "anon-1": "memory", "light": "memory", "safe": "disk",
    }  # fmt: skip
    assert placement.options["safe"]["store"] == str({n: r for _, n, _, r in stores.found()}["safe"])
    assert "store" not in placement.options["light"]
    for name in ("named", "anon-1", "safe"):
        assert call("DELETE", f"/v1/sessions/{name}").status_code == 204
    assert list(stores.found()) == []


def test_a_daemon_has_the_sessions_of_the_one_before(
    stores: Stores, placement: FakePlacement, serve: Callable[[Stores | None], Caller], problem: Expect
) -> None:
    record = stores.make("default", "kept", {**OPTIONS, "device": "cpu"})
    caller = serve(stores)
    front = caller._gate.front
    caller.run(front.sessions.restore())
    assert placement.options["kept"] == {**OPTIONS, "device": "cpu", "store": str(record)}
    assert call_names(caller) == ["kept"]
    assert caller("PUT", "/v1/sessions/kept", json=OPTIONS).status_code == 200
    problem(caller("PUT", "/v1/sessions/kept", json={"durability": "memory"}), "session-exists", 409)


def call_names(caller: Caller) -> list[str]:
    return [session["name"] for session in caller("GET", "/v1/sessions").json()["sessions"]]


def test_a_folder_that_cannot_be_made_is_a_problem(
    call: Caller, tmp_path: Path, problem: Expect, placement: FakePlacement
) -> None:
    (tmp_path / "sessions").rmdir()
    problem(call("PUT", "/v1/sessions/named"), "store-failed", 503)
    assert placement.options == {}
    problem(call("GET", "/v1/sessions/named"), "session-not-found", 404)


def test_without_a_data_directory_nothing_is_kept(
    serve: Callable[[Stores | None], Caller], problem: Expect
) -> None:
    caller = serve(None)
    problem(caller("PUT", "/v1/sessions/a", json={"durability": "process"}), "invalid-data", 422)
    assert caller("PUT", "/v1/sessions/a", json={"durability": "memory"}).status_code == 201


@pytest.fixture
def leads(tmp_path: Path) -> Leads:
    made = Leads(Folder(tmp_path / "leads"))
    for after in range(2):
        assert made.take(after, FrontAddress("http://front:4733", ""))
    return made


def under(leads: Leads, number: int, tmp_path: Path) -> Stores:
    """What the front that has that lead knows."""
    return FolderStores(tmp_path / "sessions", Lead(leads, number))


def test_what_was_made_under_any_lead_is_found(leads: Leads, stores: Stores, tmp_path: Path) -> None:
    alone = finds_all_leads(stores, lambda number: under(leads, number, tmp_path), OPTIONS)["alone"]
    second = under(leads, 2, tmp_path)
    assert len(list(second.found())) == 2
    second.remove("default", "alone")
    assert not alone.parent.exists()


def test_one_who_leads_no_more_touches_nothing_of_who_does(leads: Leads, tmp_path: Path) -> None:
    first, second = under(leads, 1, tmp_path), under(leads, 2, tmp_path)
    record = second.make("default", "a", OPTIONS)
    half = second.prepare("default", "half", OPTIONS)
    incoming = Path(second.incoming())
    incoming.touch()
    with pytest.raises(OSError, match="another front leads"):
        first.make("default", "a", OPTIONS)
    first.remove("default", "a")
    assert [name for _, name, _, _ in first.found()] == ["a"]
    assert record.exists()
    assert half.exists()
    assert incoming.exists()


def test_of_two_folders_that_of_the_later_lead_counts(leads: Leads, tmp_path: Path) -> None:
    first = under(leads, 1, tmp_path)
    old = first.prepare("default", "a", OPTIONS)
    lead = first._lead
    first._lead = None  # it had not lost the lead yet
    first.confirm("default", "a", OPTIONS, old)
    first._lead = lead
    new = under(leads, 2, tmp_path).make("default", "a", OPTIONS)
    assert [record for *_, record in under(leads, 2, tmp_path).found()] == [new]
    assert not old.parent.exists()
    first.remove("default", "a")
    assert new.exists()


def test_files_of_a_session_are_where_it_was_made(leads: Leads, tmp_path: Path) -> None:
    record = under(leads, 2, tmp_path).make("default", "a", OPTIONS)
    assert leads.take(2, FrontAddress("http://front:4733", ""))
    third = under(leads, 3, tmp_path)
    assert len(list(third.found())) == 1
    assert third.snapshots("default", "a") == record.parent / "snapshots"
    third.write_shares("default", "a", b"[]")
    assert (record.parent / "shares.json.3").exists()
    assert third.snapshots("default", "other").parent != record.parent


def test_shares_of_who_leads_no_more_do_not_count(leads: Leads, tmp_path: Path) -> None:
    first, second = under(leads, 1, tmp_path), under(leads, 2, tmp_path)
    FolderStores(tmp_path / "sessions").make("default", "a", OPTIONS)
    for one in (first, second):
        assert len(list(one.found())) == 1
    first.write_shares("default", "a", b"[1]")
    assert second.read_shares("default", "a") == b"[\n 1\n]\n"
    second.write_shares("default", "a", b"[2]")
    first.write_shares("default", "a", b"[3]")
    again = under(leads, 2, tmp_path)
    assert len(list(again.found())) == 1
    assert again.read_shares("default", "a") == b"[\n 2\n]\n"
    alone = FolderStores(tmp_path / "sessions")
    assert len(list(alone.found())) == 1
    alone.write_shares("default", "a", b"[4]")
    assert alone.read_shares("default", "a") == b"[\n 4\n]\n"
