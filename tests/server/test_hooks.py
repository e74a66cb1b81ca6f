"""Hooks and graphs over HTTP: statuses, bodies, sessions that know nothing of each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.app import create_app
from gradd_server.settings import Settings

from tests.server.conftest import Caller, expect_problem

DEMO = "/v1/sessions/demo"
DOUBLE = {
    "tensor": "x",
    "steps": [{"op": "mul", "inputs": ["%g", 2.0], "outputs": ["%r"]}],
    "outputs": ["%r"],
}
PASS = {
    "steps": [
        {"op": "mul", "inputs": ["x", "x"], "outputs": ["y"]},
        {"op": "sum", "inputs": ["y"], "outputs": ["%l"]},
        {"op": "backward", "inputs": ["%l"], "attrs": {"retain_graph": True}},
    ],
    "fetch": ["x.grad"],
}


@pytest.fixture
def running() -> Iterator[Caller]:
    placement = InlinePlacement()
    caller = Caller(create_app(Settings(auth=False), placement, ops()))
    for name in ("demo", "other"):
        caller("PUT", f"/v1/sessions/{name}")
        x = {"data": [1.0, 2.0], "dtype": "float32", "requires_grad": True}
        caller("PUT", f"/v1/sessions/{name}/tensors/x", json=x)
    yield caller
    caller.close()
    placement.shutdown()


def passed(call: Caller, session: str = "demo") -> Any:
    answer = call("POST", f"/v1/sessions/{session}/batches", json=PASS)
    assert answer.status_code == 200, answer.text
    call("DELETE", f"/v1/sessions/{session}/tensors/x.grad")
    return answer.json()["results"]["x.grad"]["data"]


def test_a_hooks_life(running: Caller) -> None:
    made = running("PUT", f"{DEMO}/hooks/double", json=DOUBLE)
    assert (made.status_code, made.json()["runs"]) == (201, 0)
    assert passed(running) == [4.0, 8.0]
    assert passed(running) == [4.0, 8.0]
    assert running("GET", f"{DEMO}/hooks/double").json() == {**made.json(), "runs": 2}
    again = running("PUT", f"{DEMO}/hooks/double", json=DOUBLE)
    assert (again.status_code, again.json()["runs"]) == (200, 0)
    assert passed(running) == [4.0, 8.0]  # once, not twice
    assert running("DELETE", f"{DEMO}/hooks/double").status_code == 204
    assert running("DELETE", f"{DEMO}/hooks/double").status_code == 204
    expect_problem(running("GET", f"{DEMO}/hooks/double"), "hook-not-found", 404)
    assert running("GET", f"{DEMO}/hooks").json() == {"hooks": []}
    assert passed(running) == [2.0, 4.0]


def test_sessions_have_hooks_of_their_own(running: Caller) -> None:
    running("PUT", f"{DEMO}/hooks/double", json=DOUBLE)
    assert passed(running, "other") == [2.0, 4.0]
    assert running("GET", "/v1/sessions/other/hooks").json() == {"hooks": []}
    expect_problem(running("GET", "/v1/sessions/nobody/hooks"), "session-not-found", 404)
    expect_problem(running("PUT", "/v1/sessions/nobody/hooks/h", json=DOUBLE), "session-not-found", 404)


def test_its_steps_are_counted(running: Caller) -> None:
    before = running("GET", DEMO).json()["steps"]
    passed(running)
    plain = running("GET", DEMO).json()["steps"] - before
    running("PUT", f"{DEMO}/hooks/double", json=DOUBLE)
    before = running("GET", DEMO).json()["steps"]
    passed(running)
    assert running("GET", DEMO).json()["steps"] - before == plain + 1


def test_refusals_have_pytorchs_words(running: Caller) -> None:
    running("PUT", f"{DEMO}/tensors/c", json={"data": [1.0], "dtype": "float32"})
    problem = expect_problem(running("PUT", f"{DEMO}/hooks/h", json={"tensor": "c"}), "op-failed", 422)
    assert problem["exception"] == "RuntimeError"
    assert problem["detail"] == "cannot register a hook on a tensor that doesn't require gradient"
    bad = {**DOUBLE, "steps": [{"op": "mul", "inputs": ["%g", 2.0]}, {"op": "matmul", "inputs": ["%g", "c"]}]}
    problem = expect_problem(
        running("PUT", f"{DEMO}/hooks/h", json={**bad, "outputs": None}), "invalid-op", 422
    )
    assert (problem["exception"], problem["step"]) == ("RuntimeError", 1)
    expect_problem(running("PUT", f"{DEMO}/hooks/h", content=b"{", headers=JSON), "invalid-json", 400)
    expect_problem(running("PUT", f"{DEMO}/hooks/h", json={"tensor": "x", "run": 1}), "invalid-json", 400)
    expect_problem(running("PUT", f"{DEMO}/hooks/9h", json=DOUBLE), "invalid-name", 400)
    expect_problem(running("POST", f"{DEMO}/hooks/h", json=DOUBLE), "method-not-allowed", 405)


JSON = {"content-type": "application/json"}


def test_a_graph_in_both_forms(running: Caller) -> None:
    passed(running)
    graph = running("GET", f"{DEMO}/tensors/y/graph")
    assert [node["name"].rpartition("::")[2] for node in graph.json()["nodes"]] == [
        "MulBackward0",
        "AccumulateGrad",
    ]
    drawn = running("GET", f"{DEMO}/tensors/y/graph", headers={"accept": "text/vnd.graphviz, */*;q=0.1"})
    assert drawn.headers["content-type"].startswith("text/vnd.graphviz")
    assert "n0 -> n1;" in drawn.text
    leaf = running("GET", f"{DEMO}/tensors/x/graph").json()
    assert leaf["nodes"][0]["leaf"]["tensor"] == "x"


def test_a_graph_is_bounded(running: Caller) -> None:
    step = {"op": "mul", "inputs": ["x", 1.0], "outputs": ["x"]}
    for _ in range(3):
        assert running("POST", f"{DEMO}/batches", json={"steps": [step] * 4000}).status_code == 200
    graph = running("GET", f"{DEMO}/tensors/x/graph?max_nodes={LIMITS.graph_nodes}").json()
    assert (len(graph["nodes"]), graph["truncated"], graph["max_nodes"]) == (10_000, True, 10_000)
    expect_problem(running("GET", f"{DEMO}/tensors/x/graph?max_nodes=10001"), "bad-request", 400)
