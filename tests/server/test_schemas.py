"""The schemas of openapi.yaml: examples are valid, and what the daemon answers is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml
from gradd_protocol import problems
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server import openapi, schemas
from gradd_server.app import create_app
from gradd_server.folder_stores import FolderStores
from gradd_server.settings import Settings
from jsonschema import Draft202012Validator

from tests.server.conftest import Caller

DOCUMENT: dict[str, Any] = yaml.safe_load(openapi.text())
COMPONENTS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    """A validator of a schema in the document."""
    return Draft202012Validator({**schema, "components": {"schemas": COMPONENTS}})


def named(name: str) -> Draft202012Validator:
    """A validator of the schema of that name."""
    return validator(schemas.ref(name))


def resolved(response: dict[str, Any]) -> dict[str, Any]:
    """A response, or what it refers to."""
    if "$ref" not in response:
        return response
    found: dict[str, Any] = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return found


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(COMPONENTS[name])


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_example_of_a_schema_is_valid(name: str) -> None:
    (example,) = COMPONENTS[name]["examples"]
    named(name).validate(example)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_examples_of_an_operation_are_valid(name: str) -> None:
    operation = OPERATIONS[name]
    shown = list(operation.get("parameters", ()))
    for body in (operation.get("requestBody", {}), *map(resolved, operation["responses"].values())):
        shown += body.get("content", {}).values()
    assert shown
    for part in shown:
        if "example" in part:
            validator(part["schema"]).validate(part["example"])
        else:
            assert part["schema"]["format"] == "binary"


@pytest.mark.parametrize("kind", problems.TABLE.values(), ids=problems.TABLE)
def test_a_problem_fits_the_schema_of_its_status_alone(kind: problems.Kind) -> None:
    said = {"type": problems.PREFIX + kind.slug, "title": kind.title, "status": kind.status}
    named("Problem").validate(said)
    for name, schema in COMPONENTS.items():
        if name.startswith("Problem") and name[7:].isdigit():
            assert validator(schema).is_valid(said) == (name == f"Problem{kind.status}")


def test_a_misspelled_member_is_invalid() -> None:
    for name, body in (
        ("Batch", {"step": []}),
        ("Step", {"op": "sin", "input": ["x"]}),
        ("TensorJson", {"data": 1, "dtype": "float32", "require_grad": True}),
        ("Backward", {"retain_grpah": True}),
        ("Hook", {"tensor": "x", "output": []}),
        ("Scalar", {"scalar": 1, "dtpye": "float32"}),
    ):
        assert not named(name).is_valid(body), name


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    placement = InlinePlacement()
    stores = FolderStores(tmp_path_factory.mktemp("sessions"))
    caller = Caller(create_app(Settings(auth=False), placement, ops(), stores=stores))
    caller.run(caller._gate.front.sessions.restore())
    yield caller
    caller.close()
    placement.shutdown()


def answered(answer: httpx.Response, path: str) -> Any:
    """The answer's JSON, which the document must know for the operation at `path`."""
    said = resolved(OPERATIONS[f"{answer.request.method} {path}"]["responses"][str(answer.status_code)])
    if "content" in said:
        content = said["content"][answer.headers["content-type"]]
        validator(content["schema"]).validate(answer.json())
        return answer.json()
    assert not answer.content
    return None


def test_a_session_of_answers(daemon: Caller) -> None:
    session, steps = "/v1/sessions/{name}", []

    def ask(method: str, path: str, place: dict[str, Any] | None = None, **request: Any) -> Any:
        steps.append(path)
        where = path.format(**{"name": "answers", **(place or {})})
        return answered(daemon(method, where, **request), path)

    assert ask("GET", "/v1")["name"] == "gradd"
    assert "matmul" in ask("GET", "/v1/ops")["ops"]
    assert ask("GET", "/readyz", params={"verbose": ""})["sessions"] == 0
    assert ask("PUT", session)["name"] == "answers"
    x = {"data": [[1.0, "Infinity"]], "dtype": "float32", "requires_grad": True}
    ask("PUT", session + "/tensors/{id}", {"id": "x"}, json=x)
    assert ask("GET", session + "/tensors/{id}", {"id": "x"})["data"] == x["data"]
    batch = {
        "steps": [
            {"op": "mul", "inputs": ["x", "x"], "outputs": ["y"]},
            {"op": "sum", "inputs": ["y"], "outputs": ["s"]},
        ],
        "fetch": ["y", "x.grad"],
    }
    assert ask("POST", session + "/batches", json=batch)["results"]["x.grad"] is None
    graph = ask("GET", session + "/tensors/{id}/graph", {"id": "s"})
    assert graph["nodes"][1]["saved"]
    hook = {"tensor": "x", "inputs": None}
    assert ask("PUT", session + "/hooks/{hook}", {"hook": "h"}, json=hook)["runs"] == 0
    ask("POST", session + "/tensors/{id}:backward", {"id": "s"})
    assert ask("GET", session + "/hooks")["hooks"][0]["runs"] == 1
    assert ask("GET", session + "/tensors")["tensors"][0]["has_grad"]
    failed = ask("POST", session + "/tensors/{id}:backward", {"id": "s"})
    assert failed["exception"] == "RuntimeError"
    assert ask("POST", session + "/tensors:fetch", json={"names": ["x.grad"]})["results"]
    assert ask("POST", session + ":profile", json={"on": True})["kernels"] == []
    ask("POST", session + "/batches", json={**batch, "fetch": []})
    measured = ask("POST", session + ":profile", json={"on": False})
    assert measured["kernels"]
    assert measured["batches"]
    assert ask("GET", session + "/memory")["blocks"][0]["bytes"] > 0
    ask("POST", session + ":measure", json={"batches": 2})
    ask("POST", session + "/batches", json={**batch, "fetch": []})
    assert ask("GET", session + "/activity")["profile"]["batches"]
    attached = ask("POST", session + ":attach")
    place = {"writer": attached["writer"], "seq": 1}
    numbered = session + "/writers/{writer}/batches/{seq}"
    epoch = {"gradd-epoch": str(attached["epoch"])}
    assert ask("PUT", numbered, place, json=batch, headers=epoch)["seq"] == 1
    assert ask("GET", numbered, place)["seq"] == 1
    assert ask("GET", numbered, {**place, "seq": 9})["type"] == "/problems/batch-not-found"
    assert ask("GET", "/v1/sessions")["sessions"]
    refused = ask("POST", session + "/shares")
    assert "--no-auth" in refused["detail"]
    taken = ask("POST", session + "/snapshots")
    assert ask("GET", session + "/snapshots") == {"snapshots": [taken]}
    one = session + "/snapshots/{snapshot}"
    assert daemon("GET", one.format(name="answers", snapshot=taken["id"])).content[8:9] == b"{"
    begun = {"from_snapshot": {"session": "answers", "id": taken["id"]}}
    assert ask("PUT", session, {"name": "begun"}, json=begun)["tensors"] == 3
    assert ask("DELETE", one, {"snapshot": taken["id"]}) is None
    assert ask("GET", one, {"snapshot": taken["id"]})["type"] == "/problems/snapshot-not-found"
    assert ask("DELETE", session + "/hooks/{hook}", {"hook": "h"}) is None
    assert ask("DELETE", session) is None
    assert ask("GET", session)["type"] == "/problems/session-not-found"
    assert len(steps) > 20
