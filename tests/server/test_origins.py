"""Pages of other origins (CORS): none may call, but for those that are allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradd_server import app, cli, origins
from gradd_server.app import create_admin, create_app
from gradd_server.keyring import Keyring
from gradd_server.keys import mint
from gradd_server.operations import OPERATIONS
from gradd_server.settings import BadConfig, Settings

from tests.server.conftest import OPS, Caller, Expect
from tests.server.fake_placement import FakePlacement
from tests.server.test_auth import ROUTES, filled

APP = "https://app.example"
KEY = {"authorization": f"Bearer {mint()}"}
OWN = "http://127.0.0.1:4733"


def cors(answer: httpx.Response) -> dict[str, str]:
    """The headers of CORS that an answer has."""
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


@pytest.fixture
def asking(placement: FakePlacement) -> Iterator[Callable[[str], Caller]]:
    """A function that gives a daemon which allows these origins, and knows one key."""
    made: list[Caller] = []
    ring = Keyring(local=KEY["authorization"].removeprefix("Bearer "))

    def of(allowed: str) -> Caller:
        settings = Settings.load({"allow_origin": allowed}, {})
        made.append(Caller(create_app(settings, placement, OPS, keys=ring)))
        return made[-1]

    yield of
    for each in made:
        each.close()


Asking = Callable[[str], Caller]


def preflight(call: Caller, path: str, origin: str, method: str = "PUT") -> httpx.Response:
    headers = {"origin": origin, "access-control-request-method": method,
               "access-control-request-headers": "authorization,content-type"}  # fmt: skip
    return call("OPTIONS", path, headers=headers)


def test_without_the_setting_no_header_of_cors_is_ever_sent(asking: Asking) -> None:
    call = asking("")
    for origin in ({}, {"origin": OWN}, {"origin": APP}, {"origin": "null"}):
        for method, path in ROUTES:
            answer = call(method, filled(path), headers={**KEY, **origin})
            assert cors(answer) == {}
            assert "origin" not in answer.headers.get("vary", "").lower()
            assert (answer.status_code == 403) == (origin not in ({}, {"origin": OWN}))
    assert preflight(call, "/v1/sessions", APP).status_code == 403


def test_every_route_answers_the_preflight_of_an_allowed_origin(asking: Asking) -> None:
    call = asking(APP)
    answers = [preflight(call, filled(path), APP, method) for method, path in ROUTES]
    answers.append(preflight(call, "/v1/none", APP))
    for answer in answers:
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["access-control-allow-origin"] == APP
        assert answer.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in answer.headers
    said = answers[0].headers
    methods = {method for method, _ in app_methods()}
    assert methods <= set(said["access-control-allow-methods"].split(", "))


def app_methods() -> list[tuple[str, str]]:
    return [(method, route.path) for route in app.http_routes() for method in route.methods]  # type: ignore[attr-defined]


def test_what_the_routes_read_and_say_may_be_sent_and_read() -> None:
    asked = {p.name for said in OPERATIONS.values() for p in said.parameters if p.place == "header"}
    assert asked
    assert asked <= set(origins.ASKED)
    code = "".join(path.read_text() for path in Path(origins.__file__).parent.rglob("*.py"))
    told = {name.lower() for name in origins.TOLD}
    assert set(re.findall(r'"(gradd-[a-z]+)": ', code)) <= told
    assert {"etag", "retry-after", "x-request-id", "server-timing", "www-authenticate"} <= told


def test_an_allowed_origin_is_answered_whatever_the_answer(asking: Asking) -> None:
    call = asking(f"{APP},http://localhost:5173")
    for origin in (APP, "http://localhost:5173"):
        for path, headers, status in (
            ("/v1/sessions", KEY, 200), ("/v1/sessions", {}, 401), ("/v1/none", KEY, 404), ("/", {}, 200),
            ("/v1/sessions/demo/tensors%2Fw", KEY, 400),
        ):  # fmt: skip
            answer = call("GET", path, headers={**headers, "origin": origin})
            assert answer.status_code == status
            assert answer.headers["access-control-allow-origin"] == origin
            exposed = answer.headers["access-control-expose-headers"].split(", ")
            assert {"ETag", "Gradd-Shape", "X-Request-Id"} <= set(exposed)
            assert "Origin" in answer.headers["vary"]


@pytest.mark.parametrize(
    "origin",
    ["https://other.example", "http://app.example", "https://app.example:444", "https://app.example.org",
     "https://sub.app.example", "https://app.example/", "null", "*", "", "https://app.example, https://x.y"],
)  # fmt: skip
def test_exactly_the_allowed_origins_are_let_in(asking: Asking, problem: Expect, origin: str) -> None:
    call = asking(APP)
    refused = call("GET", "/v1/sessions", headers={**KEY, "origin": origin})
    assert "--allow-origin" in problem(refused, "origin-refused", 403)["detail"]
    assert cors(refused) == {}
    assert refused.headers["vary"] == "Origin"
    problem(preflight(call, "/v1/sessions", origin), "origin-refused", 403)


def test_two_origins_are_none(asking: Asking, problem: Expect) -> None:
    twice = [*KEY.items(), ("origin", APP), ("origin", APP)]
    problem(asking(APP)("GET", "/v1/sessions", headers=twice), "origin-refused", 403)


def test_a_name_that_leads_here_is_no_way_in(asking: Asking, problem: Expect) -> None:
    """DNS rebinding: the page's own name leads to this machine, so that its requests are of one origin."""
    headers = {**KEY, "host": "app.example", "origin": "http://app.example"}
    for allowed in (APP, "http://app.example", "*"):
        problem(asking(allowed)("GET", "/v1/sessions", headers=headers), "host-refused", 421)


def test_the_daemons_own_pages_go_on(asking: Asking) -> None:
    call = asking(APP)
    for headers in ({"origin": OWN}, {}):
        answer = call("GET", "/v1/sessions", headers={**KEY, **headers})
        assert (answer.status_code, cors(answer)) == (200, {})
    assert preflight(call, "/v1/sessions", OWN).status_code == 401


def test_any_origin(asking: Asking) -> None:
    call = asking("*")
    for origin in (APP, "null", "http://127.0.0.1:1"):
        answer = call("GET", "/v1/sessions", headers={**KEY, "origin": origin})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
        assert call("GET", "/v1/sessions", headers={"origin": origin}).status_code == 401
        assert preflight(call, "/v1/sessions", origin).status_code == 204


def test_options_that_are_no_preflight_are_a_method_like_others(asking: Asking, problem: Expect) -> None:
    call = asking(APP)
    problem(call("OPTIONS", "/v1/sessions", headers={"origin": APP}), "unauthenticated", 401)
    problem(call("OPTIONS", "/v1/sessions", headers={**KEY, "origin": APP}), "method-not-allowed", 405)


def test_the_admin_listener_is_for_no_page(placement: FakePlacement, problem: Expect) -> None:
    gate = create_app(Settings(allow_origin=APP), placement, OPS)
    call = Caller(create_admin(gate.front, private=True))  # type: ignore[arg-type]
    problem(call("GET", "/metrics", headers={"origin": APP}), "origin-refused", 403)
    assert cors(call("GET", "/livez")) == {}
    call.close()


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("HTTPS://App.Example", "https://app.example"),
        ("https://app.example:443", "https://app.example"),
        ("http://app.example:80,http://[::1]:80", "http://app.example,http://[::1]"),
        ("http://app.example:443", "http://app.example:443"),
        (" http://localhost:5173 , https://b.example,", "http://localhost:5173,https://b.example"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ("*", "*"),
        ("", ""),
    ],
)
def test_origins_are_read_as_browsers_write_them(said: str, means: str) -> None:
    assert Settings.load({}, {"GRADD_ALLOW_ORIGIN": said}).allow_origin == means


@pytest.mark.parametrize(
    "said",
    ["app.example", "https://app.example/", "https://app.example/page", "https://", "null", "https://a b",
     "https://*.example", "https://user@app.example", "https://app.example:port", "//app.example", "**"],
)  # fmt: skip
def test_what_is_no_origin(said: str) -> None:
    with pytest.raises(BadConfig, match="GRADD_ALLOW_ORIGIN"):
        Settings.load({}, {"GRADD_ALLOW_ORIGIN": said})


@pytest.mark.parametrize("said", [f"*,{APP}", f"{APP},*"])
def test_any_origin_stands_alone(said: str) -> None:
    with pytest.raises(BadConfig, match="stands alone"):
        Settings.load({"allow_origin": said.split(",")}, {})


def test_any_origin_wants_keys() -> None:
    with pytest.raises(BadConfig, match="--no-auth"):
        Settings.load({"allow_origin": "*", "auth": False}, {})
    assert Settings.load({"allow_origin": APP, "auth": False}, {}).origins == {APP}


def test_the_flag_may_be_given_several_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags: list[Any] = ["config", "show", "--allow-origin", APP, "--allow-origin", "http://localhost:1"]
    assert cli.main(flags) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("allow_origin"))
    assert line.split("  # ")[0].strip() == f'allow_origin = "{APP},http://localhost:1"'
    file = tmp_path / "gradd.toml"
    for written in (f'"{APP},http://localhost:1"', f'["{APP}", "http://localhost:1"]'):
        file.write_text(f"allow_origin = {written}\n")
        assert Settings.load({}, {}, file).origins == {APP, "http://localhost:1"}
