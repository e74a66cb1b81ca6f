"""Probes, the daemon's description, ops, problem pages."""

from __future__ import annotations

import pytest
from gradd_protocol import problems
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.version import VERSION

from tests.server.conftest import OPS, Caller, Expect


def test_probes(call: Caller) -> None:
    assert call("GET", "/livez").json() == {"status": "live"}
    assert call("GET", "/readyz").json() == {"status": "ready"}
    assert call("GET", "/health").json() == {"status": "ready"}


def test_readyz_says_more_when_asked(call: Caller) -> None:
    call("PUT", "/v1/sessions/demo")
    said = call("GET", "/readyz?verbose").json()
    assert said == {"status": "ready", "sessions": 1, "streams": 0, "unanswered": 0}


def test_the_daemon_describes_itself(call: Caller) -> None:
    said = call("GET", "/v1").json()
    assert (said["name"], said["version"], said["wire"]) == ("gradd", VERSION, "gradd.v1")
    assert said["limits"] == LIMITS.as_dict()
    assert "bfloat16" in said["dtypes"]
    assert "stream" in said["extensions"]


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
