"""The dashboard's files and what is told live: who gets what, in which form, and for how long."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.app import create_app
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile
from gradd_server.pages import FILES, FOLDER, PATHS
from gradd_server.routes import dashboard
from gradd_server.settings import Settings

from tests.server.conftest import Caller, Expect


class House:
    """A daemon with a session of each of two tenants, `demo`, and keys to them."""

    def __init__(self, folder: Path) -> None:
        self.placement = InlinePlacement()
        self.file = KeyFile(folder)
        self.keys = {
            f"{tenant} {role}": self.file.create(tenant, role)  # type: ignore[arg-type]
            for tenant in ("acme", "globex") for role in ("user", "operator")
        }  # fmt: skip
        self.gate = create_app(Settings(), self.placement, ops(), keys=Keyring(self.file))
        self.call = Caller(self.gate)
        for who in ("acme user", "globex user"):
            assert self.ask(who, "PUT", "/v1/sessions/demo").status_code == 201
        form = {"data": [1.0, 2.0], "dtype": "float32"}
        assert self.ask("acme user", "PUT", "/v1/sessions/demo/tensors/w", json=form).status_code == 201

    def head(self, who: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.keys[who][0]}"}

    def ask(self, who: str, method: str, path: str, **request: Any) -> Any:
        headers = {**self.head(who), **request.pop("headers", {})}
        return self.call(method, path, headers=headers, **request)

    async def events(self, who: str, leave_after: int) -> list[dict[str, Any]]:
        """What is sent to one who listens, and leaves after so many events."""
        head = {**self.head(who), "accept": "text/event-stream", "host": "127.0.0.1:4733"}
        scope = {
            "type": "http", "method": "GET", "path": "/v1/live", "raw_path": b"/v1/live", "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in head.items()], "scheme": "http",
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 4733), "http_version": "1.1",
            "root_path": "",
        }  # fmt: skip
        sent: list[dict[str, Any]] = []
        left = asyncio.Event()
        first = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if first:
                return first.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(dict(message))
            if sum(bool(m.get("body")) for m in sent) >= leave_after:
                left.set()

        await self.gate(scope, receive, send)
        return sent


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(dashboard, "EVERY", 0.0)
    made = House(tmp_path)
    yield made
    made.call.close()
    made.placement.shutdown()


def told(message: dict[str, Any]) -> Any:
    text = message["body"].decode()
    assert text.startswith("event: live\ndata: ")
    assert text.endswith("\n\n")
    return msgspec.json.decode(text.removeprefix("event: live\ndata: "))


def test_every_file_is_there_for_everybody(house: House) -> None:
    assert {"/"} | {f"/dashboard/{name}" for name in FILES} == PATHS
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)
    for path in sorted(PATHS):
        answer = house.call("GET", path)
        assert answer.status_code == 200, path
        name = path.rpartition("/")[2] or "index.html"
        assert answer.content == (FOLDER / name).read_bytes()
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_file_that_did_not_change_is_not_sent_again(house: House) -> None:
    tag = house.call("GET", "/dashboard/main.js").headers["etag"]
    again = house.call("GET", "/dashboard/main.js", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_no_other_file_is_served(house: House, problem: Expect) -> None:
    for name in ("pages.py", "none.js", "..", ".", "index.htm"):
        path = f"/dashboard/{name}" if name not in ("..", ".") else f"/dashboard/%2e{name[1:]}"
        problem(house.ask("acme user", "GET", path), "not-found", 404)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_names_no_other_host_and_no_markup_from_data(name: str) -> None:
    text = (FOLDER / name).read_text()
    for url in re.findall(r"https?://[^\s\"')]+", text):
        assert url == "http://www.w3.org/2000/svg"
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text)
    assert not re.search(r"\sstyle=|\son[a-z]+=\"", text)
    assert max(map(len, text.splitlines())) < 400
    assert len(text.splitlines()) <= 450


@pytest.mark.parametrize("name", sorted(name for name in FILES if name.endswith(".js")))
def test_a_module_imports_what_is_there(name: str) -> None:
    text = (FOLDER / name).read_text()
    found = re.findall(r'(?:from |import\()"([^"]+)"', text)
    assert {path.removeprefix("./") for path in found} <= set(FILES)


def test_a_user_sees_its_tenant_alone(house: House) -> None:
    state = house.ask("acme user", "GET", "/v1/live").json()
    assert (state["tenant"], state["role"]) == ("acme", "user")
    assert [(s["tenant"], s["name"], s["tensors"]) for s in state["sessions"]] == [("acme", "demo", 1)]
    assert {load["tenant"] for load in state["tenants"]} == {"acme"}
    assert state["engines"] == []
    assert state["more"] == 0


def test_an_operator_sees_all(house: House) -> None:
    state = house.ask("acme operator", "GET", "/v1/live").json()
    assert {(s["tenant"], s["name"]) for s in state["sessions"]} == {("acme", "demo"), ("globex", "demo")}
    assert {load["tenant"] for load in state["tenants"]} == {"acme", "globex"}


def test_who_left_is_told_nothing_more(house: House) -> None:
    sent = house.call.run(house.events("acme user", leave_after=2))
    assert sent[0]["status"] == 200
    head = dict(sent[0]["headers"])
    assert head[b"content-type"].startswith(b"text/event-stream")
    assert b"content-length" not in head
    assert [s["name"] for s in told(sent[1])["sessions"]] == ["demo"]
    assert told(sent[2])["tenant"] == "acme"
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert len(sent) == 4
    assert house.gate.front.unanswered == 0


def test_it_ends_with_the_key(house: House) -> None:
    house.file.revoke(house.keys["globex operator"][1].id)
    assert house.call.run(house.events("globex operator", leave_after=99))[0]["status"] == 401

    async def revoked() -> list[dict[str, Any]]:
        listening = asyncio.ensure_future(house.events("globex user", leave_after=10_000))
        while house.gate.front.surveyor._seen is None:
            await asyncio.sleep(0)
        house.file.revoke(house.keys["globex user"][1].id)
        return await listening

    sent = house.call.run(revoked())
    assert sent[0]["status"] == 200
    assert 2 < len(sent) < 10_000


def test_it_ends_with_the_daemon(house: House) -> None:
    async def drained() -> list[dict[str, Any]]:
        listening = asyncio.ensure_future(house.events("acme user", leave_after=10_000))
        while house.gate.front.surveyor._seen is None:
            await asyncio.sleep(0)
        house.gate.front.draining.set()
        return await listening

    assert len(house.call.run(drained())) < 10_000


def test_no_other_form_is_told(house: House, problem: Expect) -> None:
    refused = house.ask("acme user", "GET", "/v1/live", headers={"accept": "text/plain"})
    assert problem(refused, "not-acceptable", 406)["supported"] == ["application/json", "text/event-stream"]
