"""The schemas of openapi.yaml and the parsers judge bodies alike.

What a schema refuses the daemon refuses; what the daemon calls no such JSON, or no name, the schema refuses.
Beyond that the daemon refuses what a schema cannot say: unknown ops, data that do not fit, and the like.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server import schemas
from gradd_server.app import create_app
from gradd_server.operations import OPERATIONS
from gradd_server.settings import Settings

from tests.server.conftest import Caller, Expect
from tests.server.test_schemas import named

EVERY = int(os.environ.get("GRADD_AGREEMENT_EVERY", "11"))
"""Of bodies with a value replaced, one of so many is tried."""

SESSION = "/v1/sessions/demo"
PLACES = {
    "Batch": ("POST", f"{SESSION}/batches"),
    "TensorJson": ("PUT", f"{SESSION}/tensors/q"),
    "Backward": ("POST", f"{SESSION}/tensors/y:backward"),
    "Hook": ("PUT", f"{SESSION}/hooks/h"),
    "FetchOptions": ("POST", f"{SESSION}/tensors:fetch"),
    "Attach": ("POST", f"{SESSION}:attach"),
    "SessionOptions": ("PUT", "/v1/sessions/other"),
    "ProfileOptions": ("POST", f"{SESSION}:profile"),
    "MeasureOptions": ("POST", f"{SESSION}:measure"),
    "CancelOptions": ("POST", f"{SESSION}:cancel"),
    "ReduceOptions": ("POST", "/v1/sessions:reduce"),
}
"""Where a body of each schema is sent."""


def step(op: str, inputs: Any, **members: Any) -> dict[str, Any]:
    return {"op": op, "inputs": inputs, **members}


VALID: dict[str, list[Any]] = {
    "Batch": [
        {},
        {"steps": [step("mul", ["x", 2.5], outputs=["%q"])], "fetch": ["%q", "x.grad"], "free": ["x"]},
        {"steps": [step("cat", [["x", "x"]], attrs={"dim": 0}, outputs=[None], grad="inference")]},
        {"steps": [step("add", {"input": "x", "other": {"scalar": [1.5, 2], "dtype": "complex64"}})]},
        {"steps": [step("getitem", ["x", "i"], attrs={"index": [{"input": 1}, "...", None, True]})]},
        {"steps": [step("getitem", ["x"], attrs={"index": [{"slice": [0, None, 2]}]})]},
        {"steps": [step("clamp", ["x"], attrs={"min": {"scalar": "NaN"}, "max": "inf"})]},
    ],
    "TensorJson": [
        {"data": [[1, 2.5], ["NaN", "-Infinity"]], "dtype": "float32", "requires_grad": True},
        {"data": "9007199254740993", "dtype": "int64", "shape": []},
        {"data": [], "dtype": "bool", "shape": [0, 3]},
        {"data": True, "dtype": "bool", "shape": None},
    ],
    "Backward": [
        {},
        {"gradient": "y", "retain_graph": True, "create_graph": False, "inputs": ["x"]},
        {"gradient": None, "retain_graph": None, "inputs": None},
    ],
    "Hook": [
        {"tensor": "x"},
        {"tensor": "x", "kind": "post_accumulate", "inputs": ["%x"], "steps": [step("sin", ["%x"])]},
        {"tensor": "x", "inputs": ["%g"], "outputs": ["%g"]},
    ],
    "FetchOptions": [{"names": []}, {"names": ["x", "x.grad"]}, {"names": ["y", "i"]}],
    "Attach": [{}, {"client": "me"}, {"type": "attach", "resume": None, "epoch": None}],
    "SessionOptions": [
        {},
        {"device": "cpu", "quota_bytes": 4096},
        {"device": None, "quota_bytes": None},
        {"durability": "memory"},
    ],
    "ProfileOptions": [{"on": True}, {"on": False}],
    "MeasureOptions": [{}, {"batches": 3}],
    "CancelOptions": [{}, {"writer": 0}, {"writer": 1, "seq": 3}],
    "ReduceOptions": [
        {"members": [{"session": "demo", "tensors": ["x"], "uploads": ["1.1"]}]},
        {
            "members": [
                {"session": "demo", "tensors": ["x", "y"]},
                {"session": "demo", "uploads": ["1.1", "1.2"]},
            ]
        },
        {"members": [{"session": "demo", "tensors": ["x"], "uploads": ["1.3"]}], "op": "mean"},
    ],
}

NAMES = [
    *["x", "y", "x.grad", "grad", "grad.grad", "x.grad.grad", ".grad", "a.b", "a.b.grad", "_", "1x", "x y"],
    *["", "%", "%q", "%q.grad", "%.grad", "%grad", "%1", "%%", "-x", "x-", "..", "a..b", "é", "@0.1"],
    *["@0.1.grad", "@0.01", "@00.1", "@1", "@1.2.3", "x" * 128, "x" * 129, "x" * 128 + ".grad"],
    *["%" + "x" * 127, "%" + "x" * 128],
]
OTHERS = [
    *[None, True, 0, -1, 7, 1 << 70, 0.5, *NAMES, "inference", "float32", "Infinity", "prehook", "attach"],
    *[[], {}, [[]], {"scalar": 1}, {"scalar": "x"}, {"slice": [1]}, {"input": 0}, {"op": "sin"}],
]


FORMAL = ("/problems/invalid-json", "/problems/invalid-name")


@pytest.fixture(scope="module")
def daemon() -> Iterator[Caller]:
    placement = InlinePlacement()
    caller = Caller(create_app(Settings(auth=False), placement, ops()))
    renew(caller)
    yield caller
    caller.close()
    placement.shutdown()


def renew(daemon: Caller) -> None:
    """A session `demo` with x, i and y, as if nothing had been asked yet."""
    daemon("DELETE", SESSION)
    daemon("DELETE", "/v1/sessions/other")
    assert daemon("PUT", SESSION).is_success
    assert daemon("POST", f"{SESSION}:attach").is_success
    for name, form in {
        "x": {"data": [1.5, 2.5], "dtype": "float64", "requires_grad": True},
        "i": {"data": [0], "dtype": "int64"},
    }.items():
        assert daemon("PUT", f"{SESSION}/tensors/{name}", json=form).is_success
    made = daemon("POST", f"{SESSION}/batches", json={"steps": [step("sum", ["x"], outputs=["y"])]})
    assert made.is_success


def agree(daemon: Caller, name: str, body: Any) -> bool:
    """Ask, compare the two verdicts, and tell whether the daemon did as asked."""
    method, path = PLACES[name]
    answer = daemon(method, path, content=json.dumps(body), headers={"content-type": "application/json"})
    valid = named(name).is_valid(body)
    if answer.is_success:
        renew(daemon)
        assert valid, (name, body)
        return True
    named(f"Problem{answer.status_code}").validate(answer.json())
    assert answer.status_code < 500 or answer.status_code == 507, answer.text
    assert not (valid and answer.json()["type"] in FORMAL), (name, body, answer.text)
    return False


def test_every_body_of_the_document_is_tried() -> None:
    bodies = itertools.chain.from_iterable(said.request for said in OPERATIONS.values())
    # for these a daemon with keys is needed, or with a cluster: test_shares.py, cluster/test_nodes.py
    tried = {"ShareOptions", "MoveOptions", *PLACES}
    assert {schemas.name_of(body.type) for body in bodies if body.type} == tried
    assert set(PLACES) == set(VALID)


@pytest.mark.parametrize("name", VALID)
def test_valid_bodies(daemon: Caller, name: str) -> None:
    done = [agree(daemon, name, body) for body in VALID[name]]
    assert all(named(name).is_valid(body) for body in VALID[name])
    assert done.count(True) > len(done) / 2


def spoiled(body: Any, others: list[Any]) -> Iterator[Any]:
    """`body` with one thing in it left out, renamed, added, or replaced by each of `others`."""
    yield from others
    if isinstance(body, dict):
        yield {**body, "more": 1}
        for key, value in body.items():
            rest = {k: v for k, v in body.items() if k != key}
            yield rest
            yield {**rest, key + "s": value}
            yield from ({**rest, key: other} for other in spoiled(value, others))
    elif isinstance(body, list):
        for at, value in enumerate(body):
            yield from ([*body[:at], other, *body[at + 1 :]] for other in spoiled(value, others))


@pytest.mark.parametrize("name", VALID)
def test_spoiled_bodies(daemon: Caller, name: str) -> None:
    reshaped = [other for body in VALID[name] for other in spoiled(body, [])]
    replaced = [other for body in VALID[name] for other in spoiled(body, OTHERS)][::EVERY]
    done = [agree(daemon, name, body) for body in (*reshaped, *replaced)]
    assert False in done
    assert len(done) > 15


UNSAYABLE = {
    "a key twice": ("Backward", '{"create_graph": false, "create_graph": true}'),
    "a point": ("TensorJson", '{"data": [1], "dtype": "int64", "shape": [1.0]}'),
    "deep attrs": ("Batch", '{"steps": [{"op": "sum", "attrs": {"dim": [[[[[0]]]]]}}]}'),
}


@pytest.mark.parametrize("case", UNSAYABLE.values(), ids=UNSAYABLE)
def test_what_a_schema_cannot_say(daemon: Caller, problem: Expect, case: tuple[str, str]) -> None:
    name, text = case
    assert named(name).is_valid(json.loads(text))
    method, path = PLACES[name]
    refused = daemon(method, path, content=text, headers={"content-type": "application/json"})
    problem(refused, "invalid-json", 400)
