"""Probes, the daemon's description, ops, problem pages."""

from __future__ import annotations

import asyncio
import threading

import pytest
from gradd_protocol import problems
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.version import VERSION
from gradd_server.app import create_app
from gradd_server.settings import Settings
from gradd_server.telemetry.checks import Checks

from tests.server.conftest import OPS, Caller, Expect
from tests.server.fake_placement import FakePlacement
from tests.waiting import PATIENCE


def test_probes(call: Caller) -> None:
    assert call("GET", "/livez").json() == {"status": "live"}
    assert call("GET", "/readyz").json() == {"status": "ready"}
    assert call("GET", "/health").json() == {"status": "ready"}


def test_readyz_says_more_when_asked(call: Caller) -> None:
    call("PUT", "/v1/sessions/demo")
    said = call("GET", "/readyz?verbose").json()
    assert said == {"status": "ready", "checks": {}, "sessions": 1, "streams": 0, "unanswered": 0}


def test_the_daemon_describes_itself(call: Caller) -> None:
    said = call("GET", "/v1").json()
    assert (said["name"], said["version"], said["wire"]) == ("gradd", VERSION, "gradd.v1")
    assert said["limits"] == {**LIMITS.as_dict(), "session_bytes": Settings().most_session_bytes}
    assert "bfloat16" in said["dtypes"]
    assert said["extensions"] == [
        "json", "npy", "recording", "reduce", "safetensors", "sites", "stream",
    ]  # fmt: skip


def test_ops(call: Caller, problem: Expect) -> None:
    assert call("GET", "/v1/ops").json() == {"ops": OPS}
    assert call("GET", "/v1/ops/sin").json() == OPS["sin"]
    problem(call("GET", "/v1/ops/frobnicate"), "op-not-found", 404)


@pytest.mark.parametrize("slug", sorted(problems.TABLE))
def test_every_problem_type_leads_to_its_page(call: Caller, slug: str) -> None:
    said = call("GET", problems.problem(slug).type).json()
    assert said["type"] == f"/problems/{slug}"
    assert said["description"]


def test_no_such_problem(call: Caller, problem: Expect) -> None:
    problem(call("GET", "/problems/none"), "not-found", 404)


def test_readyz_says_what_is_wrong(placement: FakePlacement, problem: Expect) -> None:
    wrong = {"data_dir": ""}
    gate = create_app(Settings(auth=False), placement, OPS, checks={"data_dir": lambda: wrong["data_dir"]})
    call = Caller(gate)
    assert call("GET", "/readyz?verbose").json()["checks"] == {"data_dir": "ok"}
    wrong["data_dir"] = "the data directory takes no files: No space left on device"
    assert "No space left" in problem(call("GET", "/readyz"), "not-ready", 503)["detail"]
    assert call("GET", "/livez").status_code == 200
    wrong["data_dir"] = ""
    assert call("GET", "/health").json() == {"status": "ready"}
    call.close()


def test_a_check_that_hangs_is_a_fault_and_is_not_asked_twice() -> None:
    free, asked = threading.Event(), []

    def hang() -> str:
        asked.append(1)
        free.wait(PATIENCE)
        return ""

    async def look() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        checks = Checks({"disk": hang})
        twice = [await checks.faults(0.01) for _ in range(2)]
        free.set()
        return twice[0], twice[1], await checks.faults(PATIENCE)

    first, second, last = asyncio.run(look())
    assert first == second == {"disk": "disk cannot be told within 0.01 s"}
    assert last == {"disk": ""}
    assert len(asked) <= 2
