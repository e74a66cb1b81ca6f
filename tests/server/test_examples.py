"""The examples of openapi.yaml, asked of a session that runs: statuses and members are as they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.app import create_app
from gradd_server.folder_stores import FolderStores
from gradd_server.keyring import Keyring
from gradd_server.keys import mint
from gradd_server.media import JSON
from gradd_server.operations import OPERATIONS, PATH_PARAMETERS, Content
from gradd_server.settings import Settings

from tests.server.conftest import Caller

KEY = mint()
FRAMES_ONLY = {"GET /v1/sessions/{name}/results/{key}", "GET /v1/sessions/{name}/snapshots/{snapshot}"}
"""Nothing is there to be read without a frame, which YAML cannot show; snapshots get ids of their own."""
CLUSTER = {
    "GET /v1/nodes", "POST /v1/nodes/{node}:drain", "POST /v1/nodes/{node}:resume",
    "POST /v1/sessions/{name}:move",
}  # fmt: skip
"""A daemon without a cluster refuses them: cluster/test_nodes.py asks one that has a cluster."""
ASKED = OPERATIONS.keys() - FRAMES_ONLY - CLUSTER


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, httpx.Response]]:
    placement = InlinePlacement()
    stores = FolderStores(tmp_path_factory.mktemp("sessions"))
    caller = Caller(create_app(Settings(), placement, ops(), stores=stores, keys=Keyring(local=KEY)))
    caller.run(caller._gate.front.sessions.restore())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("secrets.randbits", lambda bits: 0)  # the first epoch is 1
        yield {name: ask(caller, name) for name in OPERATIONS if name in ASKED}
    caller.close()
    placement.shutdown()


def ask(caller: Caller, name: str) -> httpx.Response:
    operation = OPERATIONS[name]
    method, _, path = name.partition(" ")
    headers = {"authorization": f"Bearer {KEY}"}
    headers |= {
        parameter.name: str(parameter.example)
        for parameter in operation.parameters
        if parameter.place == "header"
    }
    body: dict[str, Any] = {}
    if operation.request and operation.request[0].media_type == JSON:
        body["json"] = operation.request[0].example
    elif operation.request:
        headers["content-type"] = operation.request[0].media_type
        body["content"] = bytes(8)  # a float32 tensor of shape 2,1
    path = path.format(**{name: example for name, (_, example) in PATH_PARAMETERS.items()})
    response: httpx.Response = caller(method, path, headers=headers, **body)
    return response


@pytest.mark.parametrize("name", sorted(ASKED))
def test_an_example_is_true(answers: dict[str, httpx.Response], name: str) -> None:
    answer, said = answers[name], OPERATIONS[name]
    assert answer.status_code in said.responses, answer.text
    bodies = [body for body in said.responses[answer.status_code] if body.media_type == JSON]
    for body in bodies:
        assert answer.headers["content-type"] == JSON
        assert same_members(body, answer.json()), answer.text


def same_members(body: Content, said: Any) -> bool:
    """Whether the daemon's answer has the example's members, one level of them."""
    return isinstance(said, dict) and set(said) == set(body.example)


def test_the_batch_of_the_examples_computes_what_they_say(answers: dict[str, httpx.Response]) -> None:
    name = "POST /v1/sessions/{name}/batches"
    expected = OPERATIONS[name].responses[200][0].example["results"]
    assert answers[name].json()["results"] == expected


def test_what_cannot_be_asked_is_known() -> None:
    assert set(OPERATIONS) > FRAMES_ONLY
