"""What a client can get wrong, asked of a session that runs: the right problem, soon; the session goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.app import create_app
from gradd_server.settings import Settings

from tests.server.conftest import Caller, Expect

JSON = {"content-type": "application/json"}
BATCHES = "/v1/sessions/demo/batches"


def step(op: str, inputs: Any = (), outputs: Any = None, **attrs: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"op": op, "inputs": inputs, "attrs": attrs}
    return said if outputs is None else {**said, "outputs": outputs}


SQUARE = step("mul", ["w", "w"], ["%y"])
BEFORE_ANY_STEP: dict[str, tuple[list[dict[str, Any]], str, int]] = {
    "unknown op": ([step("frobnicate", ["w"])], "op-not-found", 404),
    "op of no name": ([step("", ["w"])], "invalid-json", 400),
    "too few inputs": ([step("mul", ["w"])], "invalid-op", 422),
    "too many inputs": ([step("mul", ["w", "w", "w"])], "invalid-op", 422),
    "input of no parameter": ([step("mul", {"input": "w", "othre": "w"})], "invalid-op", 422),
    "unknown tensor": ([step("mul", ["w", "gone"])], "tensor-not-found", 404),
    "foreign tensor": ([step("mul", ["w", "@7.7"])], "tensor-not-found", 404),
    "temporary of another batch": ([step("mul", ["w", "%t"])], "tensor-not-found", 404),
    "id beyond int64": ([step("mul", ["w", f"@1.{1 << 70}"])], "invalid-name", 400),
    "unknown attr": ([step("add", ["w", "w"], alpa=2)], "invalid-op", 422),
    "attr of another type": ([step("add", ["w", "w"], alpha=[1])], "invalid-op", 422),
    "tensor as attr": ([step("add", ["w", "w"], alpha="w")], "invalid-op", 422),
    "too many outputs": ([step("mul", ["w", "w"], ["a", "b"])], "invalid-op", 422),
    "output of no name": ([step("mul", ["w", "w"], ["1"])], "invalid-name", 400),
    "output named as gradient": ([step("mul", ["w", "w"], ["w.grad"])], "invalid-name", 400),
    "shapes that do not go together": ([step("mul", ["w", "v"])], "invalid-op", 422),
    "backward of many": ([SQUARE, step("backward", ["%y"])], "invalid-op", 422),
    "nested attrs": ([step("add", ["w", "w"], alpha=[[[[[[1]]]]]])], "invalid-json", 400),
    "scalar of no number": ([step("mul", ["w", {"scalar": "x"}])], "invalid-op", 422),
}
WHILE_RUNNING: dict[str, tuple[list[dict[str, Any]], str, int]] = {
    "memory beyond the session's": ([step("zeros", [], ["z"], size=[10**14])], "quota-exceeded", 507),
    "backward twice": (
        [step("mul", ["s", "s"], ["%y"]), step("backward", ["%y"]), step("backward", ["%y"])],
        "op-failed",
        422,
    ),
}

HUGE = 1 << 40
COLUMN = step("zeros", [], ["%a"], size=[1_000_000, 1])
NAN = step("full", [], ["%n"], size=[2], fill_value="nan")
#: (what, a part of why it is refused) -> steps
NEVER: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("broadcast bomb", "out of memory"): [
        COLUMN,
        step("t", ["%a"], ["%b"]),
        step("add", ["%a", "%b"], ["%c"]),
    ],
    ("arange", "out of memory"): [step("arange", [], ["%x"], start=0, end=HUGE, step=1)],
    ("arange without end", "unsupported range"): [step("arange", [], ["%x"], start=0, end="inf", step=1)],
    ("arange by nothing", "nonzero"): [step("arange", [], ["%x"], start=0, end=1, step=0)],
    ("linspace", "out of memory"): [step("linspace", [], ["%x"], start=0, end=1, steps=HUGE)],
    ("eye", "out of memory"): [step("eye", [], ["%x"], n=1 << 20)],
    ("repeat", "out of memory"): [step("repeat", ["w"], ["%x"], repeats=[HUGE])],
    ("pad", "out of memory"): [step("constant_pad_nd", ["w"], ["%x"], pad=[HUGE, HUGE])],
    ("size that overflows", "overflowed"): [step("zeros", [], ["%x"], size=[1 << 32, 1 << 32])],
    ("negative size", "non-negative"): [step("zeros", [], ["%x"], size=[-1])],
    ("65 dimensions", "sizes"): [step("zeros", [], ["%x"], size=[1] * 65)],
    ("einsum of 60 letters", "subscripts"): [
        step("einsum", {"operands": ["w"]}, ["%x"], equation="abcdefghij" * 6)
    ],
    ("einsum that is none", "subscript"): [step("einsum", {"operands": ["w"]}, ["%x"], equation="->->")],
    ("reshape with two unknowns", "only one"): [step("reshape", ["w"], ["%x"], shape=[-1, -1])],
    ("reshape to more", "invalid for input"): [step("reshape", ["w"], ["%x"], shape=[HUGE])],
    ("dim that is none", "out of range"): [step("sum", ["w"], ["%x"], dim=[7])],
    ("index out of range", "out of bounds"): [step("getitem", ["w"], ["%x"], index=[7])],
    ("index out of int64", "int64"): [step("getitem", ["w"], ["%x"], index=[1 << 70])],
    ("expand to less", "must match"): [step("expand", ["v"], ["%x"], size=[2])],
    ("convolution by stride 0", "stride"): [
        step("zeros", [], ["%i"], size=[1, 1, 4, 4]),
        step("conv2d", ["%i", "%i"], ["%x"], stride=[0, 0]),
    ],
    ("pool of no size", "kernel size"): [
        step("zeros", [], ["%i"], size=[1, 1, 4, 4]),
        step("max_pool2d", ["%i"], ["%x"], kernel_size=[0, 0]),
    ],
    ("backward of integers", "does not require grad"): [
        step("zeros", [], ["%i"], size=[], dtype="int64"),
        step("backward", ["%i"]),
    ],
    ("multinomial of NaN", "probability"): [NAN, step("multinomial", ["%n"], ["%x"], num_samples=1)],
    ("inverse of what has none", "inversion"): [
        step("zeros", [], ["%z"], size=[2, 2]),
        step("inverse", ["%z"], ["%x"]),
    ],
    ("write into a leaf", "leaf"): [step("add_", ["w", 1.0])],
    ("used after it was freed", "no tensor"): [
        step("mul", ["w", "w"], ["%w"]),
        step("mul", ["%w", "freed"], ["%x"]),
    ],
}


@pytest.fixture(scope="module")
def running() -> Iterator[Caller]:
    placement = InlinePlacement()
    caller = Caller(create_app(Settings(auth=False), placement, ops()))
    caller("PUT", "/v1/sessions/demo")
    for name, form in {
        "w": {"data": [1.0, 2.0], "dtype": "float32", "requires_grad": True},
        "v": {"data": [1.0, 2.0, 3.0], "dtype": "float32"},
        "s": {"data": 3.0, "dtype": "float64", "requires_grad": True},
    }.items():
        assert caller("PUT", f"/v1/sessions/demo/tensors/{name}", json=form).status_code == 201
    yield caller
    caller.close()
    placement.shutdown()


@pytest.fixture
def ask(running: Caller) -> Iterator[Caller]:
    """The session, which must be as well afterwards. Refusing is quick: no ten seconds of work."""
    before = running("GET", "/v1/sessions/demo/tensors").json()["tensors"]
    began = time.process_time()
    yield running
    assert time.process_time() - began < 10.0
    good = running("POST", BATCHES, json={"steps": [step("mul", ["s", 2.0], ["%p"])], "fetch": ["%p"]})
    assert good.json()["results"]["%p"]["data"] == 6.0
    after = running("GET", "/v1/sessions/demo/tensors").json()["tensors"]
    assert [info["name"] for info in before] == [info["name"] for info in after]


@pytest.mark.parametrize("case", BEFORE_ANY_STEP.values(), ids=BEFORE_ANY_STEP)
def test_refused_before_any_step(
    ask: Caller, problem: Expect, case: tuple[list[dict[str, Any]], str, int]
) -> None:
    steps, slug, status = case
    first = step("mul", ["s", "s"], ["never"])
    body = problem(ask("POST", BATCHES, json={"steps": [first, *steps]}), slug, status)
    assert not body.get("applied")
    problem(ask("GET", "/v1/sessions/demo/tensors/never"), "tensor-not-found", 404)


@pytest.mark.parametrize("case", WHILE_RUNNING.values(), ids=WHILE_RUNNING)
def test_found_while_running(
    ask: Caller, problem: Expect, case: tuple[list[dict[str, Any]], str, int]
) -> None:
    steps, slug, status = case
    body = problem(ask("POST", BATCHES, json={"steps": steps}), slug, status)
    assert body["step"] == body["applied"] == len(steps) - 1
    assert body["exception"] == "RuntimeError"


@pytest.mark.parametrize(("case", "steps"), NEVER.items(), ids=[what for what, _ in NEVER])
def test_what_no_session_does(ask: Caller, case: tuple[str, str], steps: list[dict[str, Any]]) -> None:
    refused = ask("POST", BATCHES, json={"steps": steps})
    assert refused.status_code in (404, 422, 507), refused.text
    assert case[1] in refused.json()["detail"]


BAD_JSON = {
    "cut": b'{"steps": [',
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "not an object": b"[]",
    "null": b"null",
    "unknown member": b'{"stpes": []}',
    "member twice": b'{"steps": [], "steps": []}',
    "NaN": b'{"steps": [{"op": "mul", "inputs": ["w", NaN]}]}',
    "5000 digits": b'{"steps": [{"op": "mul", "inputs": ["w", ' + b"9" * 5000 + b"]}]}",
    "not UTF-8": b'{"steps": [{"op": "\xff"}]}',
    "lone surrogate": b'{"steps": [{"op": "\\ud800"}]}',
    "BOM": b'\xef\xbb\xbf{"steps": []}',
    "empty": b" ",
}


@pytest.mark.parametrize("text", BAD_JSON.values(), ids=BAD_JSON)
def test_bad_json(ask: Caller, problem: Expect, text: bytes) -> None:
    problem(ask("POST", BATCHES, content=text, headers=JSON), "invalid-json", 400)
    problem(ask("PUT", "/v1/sessions/demo/tensors/q", content=text, headers=JSON), "invalid-json", 400)


def test_too_many_steps(ask: Caller, problem: Expect) -> None:
    steps = [step("mul", ["s", "s"])] * (LIMITS.batch_steps + 1)
    refused = ask("POST", BATCHES, content=json.dumps({"steps": steps}), headers=JSON)
    problem(refused, "invalid-json", 400)


def test_a_number_out_of_its_range(ask: Caller, problem: Expect) -> None:
    for data, dtype in (
        (256, "uint8"),
        (-1, "uint8"),
        (1 << 63, "int64"),
        ("1.5", "int64"),
        (True, "float32"),
    ):
        form = {"data": data, "dtype": dtype}
        problem(ask("PUT", "/v1/sessions/demo/tensors/q", json=form), "invalid-data", 422)


def test_a_gradient_for_integers(ask: Caller, problem: Expect) -> None:
    form = {"data": 1, "dtype": "int64", "requires_grad": True}
    body = problem(ask("PUT", "/v1/sessions/demo/tensors/q", json=form), "op-failed", 422)
    assert "floating point" in body["detail"]


def test_backward_of_what_needs_none(ask: Caller, problem: Expect) -> None:
    body = problem(ask("POST", "/v1/sessions/demo/tensors/v:backward"), "invalid-op", 422)
    assert "grad" in body["detail"]


def test_staging_for_a_writer_that_is_none(ask: Caller, problem: Expect) -> None:
    headers = {"content-type": "application/octet-stream", "gradd-dtype": "uint8", "gradd-shape": "1"}
    for key in ("9.1", "x", "1", "1.-1", "%2e%2e"):
        refused = ask("PUT", f"/v1/sessions/demo/uploads/{key}", content=b"1", headers=headers)
        problem(refused, "writer-unknown", 409)
