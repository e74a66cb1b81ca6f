"""The admin listener: who may read the metrics, what they count, what the dashboard asks of them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import stat
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import gradd
import httpx
import pytest
from gradd_runtime.process import Engines, EngineStatus, InlinePlacement, encode_figures
from gradd_server.app import create_admin, create_app
from gradd_server.gate import Gate
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile
from gradd_server.settings import BadConfig, Settings
from gradd_server.telemetry import metrics as exposed
from gradd_server.telemetry.survey import Surveyor
from prometheus_client.parser import text_string_to_metric_families

from tests.bearer import bearer
from tests.server.conftest import OPS, Caller, Expect
from tests.server.fake_placement import FakePlacement
from tests.server.test_stopping import Daemon
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
DASHBOARD = json.loads((ROOT / "docs/grafana.json").read_text())
NAMES = re.compile(r"\b(?:gradd|http_server|process|python)_[a-z_]+\b")

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(text: str) -> Samples:
    """The samples of an exposition by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


class Both:
    """The public app and the admin's, over one front."""

    def __init__(self, gate: Gate, private: bool = True) -> None:
        self.call = Caller(gate)
        self.admin = Caller(create_admin(gate.front, private))

    def scrape(self) -> Samples:
        answer = self.admin("GET", "/metrics")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/plain; version=")
        return read(answer.text)

    def close(self) -> None:
        self.call.close()
        self.admin.close()


@pytest.fixture
def both() -> Iterator[Both]:
    placement = InlinePlacement()
    made = Both(create_app(Settings(auth=False), placement, OPS))
    yield made
    made.close()
    placement.shutdown()


def test_work_is_counted(both: Both) -> None:
    both.call("PUT", "/v1/sessions/demo")
    body = {"steps": [{"op": "ones", "inputs": [], "attrs": {"size": [3]}, "outputs": ["x"]}]}
    for _ in range(3):
        assert both.call("POST", "/v1/sessions/demo/batches", json=body).status_code == 200
    both.call("POST", "/v1/sessions/demo/batches", json={"steps": [{"op": "none"}]})
    found = both.scrape()
    engine = {"process": "0"}
    assert value(found, "gradd_batches_total", outcome="applied", **engine) == 3
    assert value(found, "gradd_batches_total", outcome="failed", **engine) == 1
    assert value(found, "gradd_steps_total", **engine) == 3
    hits, misses = (value(found, "gradd_plan_runs_total", plan=p, **engine) for p in ("hit", "miss"))
    assert hits + misses == 3
    assert value(found, "gradd_batch_duration_seconds_count", phase="exec", **engine) == 4
    assert value(found, "gradd_sessions", state="awake") == 1
    assert value(found, "gradd_tenants") == 1
    assert value(found, "gradd_tenant_batches_total", tenant="default", **engine) == 4
    assert value(found, "gradd_tensors", **engine) == 1
    assert value(found, "gradd_tensor_bytes", **engine) >= 12
    assert value(found, "gradd_received_bytes_total", over="http") > 3 * len(json.dumps(body)) / 2
    route = {"http_request_method": "POST", "http_route": "/v1/sessions/{name}/batches"}
    timed = "http_server_request_duration_seconds"
    assert value(found, f"{timed}_count", http_response_status_code="200", **route) == 3
    assert value(found, f"{timed}_bucket", le="+Inf", http_response_status_code="200", **route) == 3


def test_what_is_refused_is_counted(both: Both) -> None:
    both.call("GET", "/v1/sessions/none")
    both.call("GET", "/nowhere/at/all")
    both.call("GET", "/v1/sessions", headers={"host": "evil.example"})
    found = both.scrape()
    assert value(found, "gradd_rejected_total", reason="session-not-found") == 1
    assert value(found, "gradd_rejected_total", reason="host-refused") == 1
    unknown = {"http_request_method": "GET", "http_route": "", "http_response_status_code": "404"}
    assert value(found, "http_server_request_duration_seconds_count", **unknown) == 1


def test_neither_sessions_nor_paths_are_labels(both: Both) -> None:
    both.call("PUT", "/v1/sessions/a-name-of-its-own")
    both.call("FROB", "/v1/sessions/a-name-of-its-own")
    text = both.admin("GET", "/metrics").text
    assert "a-name-of-its-own" not in text
    assert "FROB" not in text
    assert 'http_request_method="_OTHER"' in text


def test_openmetrics_where_it_is_asked_for(both: Both) -> None:
    asked = {"accept": "application/openmetrics-text; version=1.0.0"}
    answer = both.admin("GET", "/metrics", headers=asked)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_many_tenants_share_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposed, "MOST_TENANTS", 2)
    assert exposed._capped({"d": 4, "a": 1, "c": 3, "b": 2}) == {"a": 1, "b": 2, "other": 7}


def test_a_process_that_computes_is_not_waited_for(placement: FakePlacement, gate: Gate) -> None:
    answers: list[Future[Any]] = [Future(), Future()]
    inline = InlinePlacement()
    known = inline.engines().processes[0].figures.result()
    inline.shutdown()
    answers[0].set_result(bytes(known))
    placement.engines = lambda: Engines([EngineStatus(7, True, 1, answers.pop(0))], 3, 2)  # type: ignore[method-assign]
    surveyor = Surveyor(gate.front.sessions)

    async def twice() -> list[Any]:
        return [await surveyor.look(PATIENCE), await surveyor.look(0.01)]

    first, second = asyncio.run(twice())
    assert (first.restarts, first.lost) == (3, 2)
    assert [seen.answered for seen in (first.processes[0], second.processes[0])] == [True, False]
    assert second.processes[0].figures is not None
    assert encode_figures(second.processes[0].figures) == encode_figures(first.processes[0].figures)


def test_metrics_are_for_operators(tmp_path: Path, placement: FakePlacement, problem: Expect) -> None:
    file = KeyFile(tmp_path)
    keys = {role: file.create("acme", role, "", None)[0] for role in ("user", "operator")}
    gate = create_app(Settings(), placement, OPS, keys=Keyring(file))
    both = Both(gate, private=False)

    def ask(path: str, role: str | None = None) -> httpx.Response:
        return both.admin("GET", path, headers={"authorization": f"Bearer {keys[role]}"} if role else {})

    problem(ask("/metrics"), "unauthenticated", 401)
    problem(ask("/metrics", "user"), "forbidden", 403)
    assert ask("/metrics", "operator").status_code == 200
    assert ask("/readyz").status_code == 200
    assert ask("/readyz", "user").status_code == 200
    problem(ask("/v1/sessions", "operator"), "not-found", 404)
    public = both.call("GET", "/metrics", headers={"authorization": f"Bearer {keys['operator']}"})
    problem(public, "not-found", 404)
    found = read(ask("/metrics", "operator").text)
    assert value(found, "gradd_rejected_total", reason="unauthenticated") == 1
    assert value(found, "gradd_rejected_total", reason="forbidden") == 1
    both.close()


@pytest.mark.parametrize(
    ("admin", "more"),
    [
        ("9473", {}),
        (":9473", {}),
        ("::1:9473", {}),
        ("127.0.0.1:99999", {}),
        ("unix:relative", {}),
        ("127.0.0.1:4733", {}),
        ("0.0.0.0:9473", {}),
        ("0.0.0.0:9473", {"GRADD_AUTH": "false", "GRADD_INSECURE_HTTP": "true"}),
    ],
)
def test_where_it_may_not_listen(admin: str, more: dict[str, str]) -> None:
    with pytest.raises(BadConfig):
        Settings.load({}, {"GRADD_ADMIN": admin, **more})


@pytest.mark.parametrize("admin", ["[::1]:9473", "localhost:9473", "unix:/run/gradd/admin.sock", ""])
def test_where_it_may_listen(admin: str) -> None:
    assert Settings.load({}, {"GRADD_ADMIN": admin}).admin == admin
    beyond = {"GRADD_ADMIN": "0.0.0.0:9473", "GRADD_INSECURE_HTTP": "true"}
    assert Settings.load({}, beyond).admin_address == ("0.0.0.0", 9473)


# -- a daemon with engine processes ----------------------------------------------------------------


@pytest.fixture
def running() -> Iterator[list[Daemon]]:
    made: list[Daemon] = []
    yield made
    for daemon in made:
        if daemon.process.poll() is None:
            daemon.process.kill()
            daemon.end()


def test_a_daemon_tells_what_its_engine_processes_did(running: list[Daemon], tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--workers", "2", "--admin", "127.0.0.1:0")
    running.append(daemon)
    admin = re.search(r"Metrics are at (http://127\.0\.0\.1:\d+)", daemon.start_line)
    assert admin
    key = bearer(daemon.url)

    def scrape() -> Samples:
        answer = httpx.get(f"{admin[1]}/metrics", headers=key, timeout=PATIENCE, trust_env=False)
        return read(answer.raise_for_status().text)

    assert daemon.client.get("/v1/sessions/none").status_code == 404
    with gradd.connect(daemon.url, "one"):
        w = gradd.ones(4, requires_grad=True)
        for _ in range(3):
            (w * w).sum().backward()
            assert w.grad is not None
            w.grad.tolist()
        found = scrape()
        assert value(found, "gradd_streams") == 1
        assert value(found, "gradd_connections") >= 2
    assert value(found, "gradd_batches_total", process="0", outcome="applied") >= 3
    assert value(found, "gradd_batches_total", process="1", outcome="applied") == 0
    assert value(found, "gradd_journal_appends_total", process="0") >= 3
    assert value(found, "gradd_received_bytes_total", over="stream") > 0
    assert value(found, "gradd_sent_bytes_total", over="stream") > 0
    # The dashboard asks for nothing that is not there.
    there = {name for name, _ in found}
    asked = {
        name for panel in DASHBOARD["panels"] for t in panel["targets"] for name in NAMES.findall(t["expr"])
    }
    assert len(asked) > 20
    assert asked - there == set()
    daemon.client.put("/v1/sessions/fleeting", json={"durability": "memory"})
    engine, _ = daemon.engines()
    os.kill(engine, signal.SIGKILL)
    while value(found := scrape(), "gradd_engine_restarts_total") < 1:
        assert daemon.process.poll() is None
    assert value(found, "gradd_engine_restarts_total") == 1
    while (
        value(scrape(), "gradd_engine_up", process="0") + value(scrape(), "gradd_engine_up", process="1") < 2
    ):
        assert daemon.process.poll() is None
    daemon.process.terminate()
    assert daemon.end()[0] == 0


def test_a_unix_socket_lets_in_the_user_alone(running: list[Daemon], tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    for _ in range(2):  # what a daemon left there that was killed is no hindrance
        daemon = Daemon(tmp_path / "data", "--workers", "0", "--admin", f"unix:{path}")
        running.append(daemon)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path))) as asking:
            assert asking.get("http://localhost/metrics").status_code == 200
            assert asking.get("http://evil.example/metrics").status_code == 421
        daemon.process.kill()
        daemon.end()
    daemon = Daemon(tmp_path / "data", "--workers", "0", "--admin", f"unix:{path}")
    running.append(daemon)
    daemon.process.terminate()
    assert daemon.end()[0] == 0
    assert not path.exists()


def test_the_dashboard_names_what_it_shows() -> None:
    titles = [panel["title"] for panel in DASHBOARD["panels"]]
    assert len(set(titles)) == len(titles) > 10
    assert all(
        target["expr"] and target["legendFormat"]
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
    )


def test_the_page_explains_what_there_is(both: Both) -> None:
    page = (ROOT / "docs/operations.md").read_text()
    told = set(re.findall(r"`(?:gradd|http_server)_\w+", page))
    for name in {name for name, _ in both.scrape() if name.startswith(("gradd_", "http_server_"))}:
        stem = re.sub(r"_(bucket|count|sum|created)$", "", name)
        tenant = re.sub(r"^gradd_tenant_(\w+)$", r"`_\1`", stem)
        assert f"`{stem}" in told or tenant in page, stem
