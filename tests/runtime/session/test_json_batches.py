"""The JSON form, rule by rule (docs/rest.md; the numbers in names are the rules')."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m

from tests.runtime.peer import Peer


@pytest.fixture
def peer() -> Peer:
    """A session with x [1, 2], w [2, 1] that requires gradients, t [1, 1], i (integers)."""
    peer = Peer()
    peer.put("x", np.array([[1.0, 2.0]], np.float32))
    peer.put("w", np.array([[1.0], [2.0]], np.float32), requires_grad=True)
    peer.put("t", np.array([[3.0]], np.float32))
    peer.put("i", np.array([1, 0]))
    return peer


def run(peer: Peer, *steps: Any, fetch: Any = (), **more: Any) -> dict[str, Any]:
    """The results of a batch that must succeed, as plain data."""
    status, body = peer.json({"steps": list(steps), "fetch": list(fetch), **more})
    assert status == 200, body
    return {k: None if v is None else v["data"] for k, v in body["results"].items()}


def refused(peer: Peer, *steps: Any, **more: Any) -> tuple[int, str]:
    """Status and slug of a batch that must be refused."""
    status, body = peer.json({"steps": list(steps), **more})
    return status, body["type"].removeprefix("/problems/")


def step(op: str, *inputs: Any, out: Any = None, **attrs: Any) -> dict[str, Any]:
    """One step; `out` is its list of outputs."""
    made = {"op": op, "inputs": list(inputs), "attrs": attrs}
    return made if out is None else {**made, "outputs": out}


def test_the_pages_example(peer: Peer) -> None:
    status, body = peer.json(
        {
            "steps": [
                step("matmul", "x", "w", out=["h"]),
                step("sub", "h", "t", out=["%d"]),
                step("pow", "%d", 2, out=["%q"]),
                step("sum", "%q", out=["y"]),
                step("backward", "y"),
            ],
            "fetch": ["y", "w.grad"],
        }
    )
    assert (status, body["seq"], body["results"]["y"]) == (
        200,
        1,
        {"dtype": "float32", "shape": [], "data": 4.0},
    )
    assert body["results"]["w.grad"]["data"] == [[4.0], [8.0]]
    assert body["position"] > 0


def test_1_names(peer: Peer) -> None:
    run(peer, step("sin", "x", out=["a.b-c_1"]))
    for name in ("9a", "a/b", "", "a" * 129, "a b", "@1.1"):
        assert refused(peer, step("sin", "x", out=[name]))[0] in (400, 422), name
    assert refused(peer, step("sin", "x", out=["a.grad"]))[0] in (400, 422)
    peer.put("a.b", np.ones(2, np.float32), requires_grad=True)
    run(peer, step("sum", "a.b", out=["%s"]), step("backward", "%s"))
    assert peer.get("a.b.grad").tolist() == [1.0, 1.0]


def test_2_inputs_by_order_or_by_parameter(peer: Peer) -> None:
    by_order = run(peer, step("sub", "x", "t", out=["%a"]), fetch=["%a"])
    by_name = run(
        peer, {"op": "sub", "inputs": {"other": "t", "input": "x"}, "outputs": ["%a"]}, fetch=["%a"]
    )
    assert by_order == by_name == {"%a": [[-2.0, -1.0]]}
    assert run(peer, step("sub", "x", "t", out=["%a"], alpha=2), fetch=["%a"]) == {"%a": [[-5.0, -4.0]]}
    assert refused(peer, {"op": "sub", "inputs": {"banana": "t"}}) == (422, "invalid-op")
    assert refused(peer, step("sub", "x", "t", 2)) == (422, "invalid-op")


def test_3_complex_numbers_in_attrs(peer: Peer) -> None:
    alpha = {"scalar": [0, 2]}
    z = step("mul", "i", alpha, out=["%z"])
    assert run(peer, z, step("add", "%z", "%z", out=["%a"], alpha=alpha), fetch=["%a"]) == {
        "%a": [[-4.0, 2.0], [0.0, 0.0]]
    }
    full = step("full", out=["%b"], size=[1], fill_value={"scalar": [1, "NaN"]})
    assert run(peer, full, fetch=["%b"]) == {"%b": [[1.0, "NaN"]]}
    power = step("pow_base", "i", out=["%c"], input={"scalar": [0, 1]})
    first, second = run(peer, power, fetch=["%c"])["%c"]
    assert first == pytest.approx([0.0, 1.0], abs=1e-6)  # by the logarithm, as in PyTorch
    assert second == [1.0, 0.0]
    for bad in ({"scalar": [1]}, {"scalar": "x"}, {"banana": 1}, [1, 2]):
        assert refused(peer, step("add", "i", "i", alpha=bad)) == (422, "invalid-op")


def test_3_values_in_inputs(peer: Peer) -> None:
    assert run(peer, step("add", "i", 2, out=["%a"]), fetch=["%a"]) == {"%a": [3, 2]}
    assert run(peer, step("add", "i", 0.5, out=["%a"]), fetch=["%a"]) == {"%a": [1.5, 0.5]}
    assert run(peer, step("add", "i", True, out=["%a"]), fetch=["%a"]) == {"%a": [2, 1]}
    assert run(peer, step("cat", ["i", "i"], out=["%a"], dim=0), fetch=["%a"]) == {"%a": [1, 0, 1, 0]}
    assert run(peer, step("add", "i", {"scalar": 2, "dtype": "float64"}, out=["%a"]), fetch=["%a"]) == {
        "%a": [3.0, 2.0]
    }
    assert run(peer, step("mul", "i", {"scalar": [0, 1]}, out=["%a"]), fetch=["%a"]) == {
        "%a": [[0.0, 1.0], [0.0, 0.0]]
    }
    assert run(peer, step("clamp", "x", None, 1.5, out=["%a"]), fetch=["%a"]) == {"%a": [[1.0, 1.5]]}
    assert refused(peer, step("add", "i", "2")) == (400, "invalid-name")
    assert refused(peer, step("add", "i", "nobody")) == (404, "tensor-not-found")


def test_4_attributes(peer: Peer) -> None:
    assert run(peer, step("zeros", out=["%a"], size=[2], dtype="int64"), fetch=["%a"]) == {"%a": [0, 0]}
    assert run(peer, step("sum", "x", out=["%a"], dim=None, dtype=None), fetch=["%a"]) == {"%a": 3.0}
    full = run(peer, step("full", out=["%a"], size=[1], fill_value="-inf", dtype="float32"), fetch=["%a"])
    assert full == {"%a": ["-Infinity"]}
    assert refused(peer, step("sum", "x", banana=1)) == (422, "invalid-op")
    assert refused(peer, step("zeros", size=[2], dtype="float31")) == (422, "invalid-op")
    assert refused(peer, step("sum", "x", dim="x")) == (422, "invalid-op")


def test_5_indices(peer: Peer) -> None:
    peer.put("m", np.arange(12, dtype=np.float32).reshape(3, 4))

    def at(*index: Any, more: Any = ()) -> Any:
        return run(peer, step("getitem", "m", *more, out=["%a"], index=list(index)), fetch=["%a"])["%a"]

    assert at(1) == [4.0, 5.0, 6.0, 7.0]
    assert at({"slice": [0, 2, 1]}, 0) == [0.0, 4.0]
    assert at("...", -1) == [3.0, 7.0, 11.0]
    assert at(0, None, {"slice": [None, None, 2]}) == [[0.0, 2.0]]
    assert at({"input": 1}, {"slice": [0, 1, None]}, more=["i"]) == [[4.0], [0.0]]
    assert refused(peer, step("getitem", "m", index=[{"input": 2}]))[0] == 422
    assert refused(peer, step("getitem", "m", index=[7]))[0] == 422


def test_6_outputs(peer: Peer) -> None:
    run(peer, step("max", "x", out=["big", None], dim=1))
    assert peer.get("big").tolist() == [2.0]
    assert refused(peer, step("max", "x", out=["a"], dim=1)) == (422, "invalid-op")
    run(peer, step("sin", "x", out=["%t"]))
    assert peer.get("%t").status in (400, 404)
    run(peer, step("add", "big", 1, out=["big"]), step("mul", "big", 10, out=["ten"]))
    assert (peer.get("big").tolist(), peer.get("ten").tolist()) == ([3.0], [30.0])
    run(peer, step("sin", "x"), free=["ten"])
    assert peer.get("ten").status == 404


def test_6_a_rebound_name_keeps_what_graphs_saved(peer: Peer) -> None:
    run(peer, step("mul", "w", "w", out=["y"]), step("sum", "y", out=["loss"]))
    peer.put("y", np.zeros(1))
    run(peer, step("backward", "loss"))
    assert peer.get("w.grad").tolist() == [[2.0], [4.0]]


def test_7_gradients_by_name(peer: Peer) -> None:
    assert run(peer, fetch=["w.grad"]) == {"w.grad": None}
    assert peer.get("w.grad").status == 404
    peer.put("w.grad", np.full((2, 1), 5.0, np.float32))
    assert peer.get("w.grad").tolist() == [[5.0], [5.0]]
    run(peer, step("sum", "w", out=["%s"]), step("backward", "%s"))
    assert peer.get("w.grad").tolist() == [[6.0], [6.0]]
    done, _ = peer.ask(m.DeleteTensor("w.grad"))
    assert isinstance(done, m.Done)
    assert peer.get("w.grad").status == 404
    reply, _ = peer.ask(m.PutTensor("w.grad"), [np.zeros(3, np.float32)])
    assert (reply.problem.status, reply.problem.exception) == (422, "RuntimeError")


def test_7_backward_takes_pytorchs_arguments(peer: Peer) -> None:
    run(peer, step("mul", "w", 3, out=["y"]))
    peer.put("g", np.array([[1.0], [10.0]], np.float32))
    body = {"gradient": "g", "retain_graph": True, "create_graph": False, "inputs": ["w"]}
    reply, _ = peer.ask(m.BackwardJson("y"), [frames.text_buffer(json.dumps(body).encode())])
    assert reply.status == 200
    assert peer.get("w.grad").tolist() == [[3.0], [30.0]]
    found = run(
        peer,
        {"op": "grad", "inputs": {"outputs": "y", "inputs": ["w"], "grad_outputs": ["g"]}, "outputs": ["%g"]},
        fetch=["%g"],
    )
    assert found == {"%g": [[3.0], [30.0]]}
    reply, buffers = peer.ask(m.BackwardJson("y"), [frames.text_buffer(b"{}")])
    assert (reply.status, json.loads(frames.text_of(buffers[0]))["type"]) == (422, "/problems/invalid-op")


def test_8_numbers_out(peer: Peer) -> None:
    cases: list[tuple[Any, Any]] = [
        (np.array([0.1, 1e-30], np.float32), [0.1, 1e-30]),
        (np.array([np.nan, np.inf, -np.inf]), ["NaN", "Infinity", "-Infinity"]),
        (np.array([2**53 + 1, -5]), [str(2**53 + 1), -5]),
        (np.array([1 + 2j], np.complex64), [[1.0, 2.0]]),
        (np.array([True, False]), [True, False]),
        (np.array([0.1], np.float16), [0.1]),
        (np.array(7.5), 7.5),
        (np.zeros((0, 2), np.float32), []),
    ]
    for array, data in cases:
        peer.put("v", array)
        if array.dtype != np.float16:
            assert run(peer, fetch=["v"]) == {"v": data}
        else:
            assert run(peer, fetch=["v"])["v"] == [pytest.approx(0.1, abs=1e-4)]


def test_9_numbers_in(peer: Peer) -> None:
    def put(body: Any) -> Any:
        reply, _ = peer.ask(m.PutJson("v"), [frames.text_buffer(json.dumps(body).encode())])
        return reply.problem.status if isinstance(reply, m.ProblemReply) else peer.get("v")

    assert put({"data": [1, 2.5], "dtype": "float32"}).tolist() == [1.0, 2.5]
    assert put({"data": [1, 2, 3, 4], "dtype": "int64", "shape": [2, 2]}).tolist() == [[1, 2], [3, 4]]
    assert put({"data": [], "dtype": "float32", "shape": [0, 3]}).shape == (0, 3)
    assert put({"data": 5, "dtype": "uint8"}).shape == ()
    assert put({"data": ["NaN", "-Infinity"], "dtype": "float64"}).tolist()[1] == float("-inf")
    assert put({"data": [str(2**60)], "dtype": "int64"}).tolist() == [2**60]
    for wrong in (
        {"data": [1]}, {"data": [300], "dtype": "uint8"}, {"data": [[1], [1, 2]], "dtype": "int64"},
        {"data": [1, 2], "dtype": "int64", "shape": [3]}, {"data": ["x"], "dtype": "float32"},
        {"data": [1], "dtype": "int64", "requires_grad": True},
    ):  # fmt: skip
        assert put(wrong) in (400, 422), wrong


def test_10_keys_are_remembered(peer: Peer) -> None:
    body = {"steps": [step("add_", "t", 1)]}
    first = peer.json(body, idempotency_key="k")
    assert peer.json(body, idempotency_key="k") == first
    assert peer.get("t").tolist() == [[4.0]]
    status, problem = peer.json({"steps": [step("add_", "t", 2)]}, idempotency_key="k")
    assert (status, problem["type"]) == (409, "/problems/idempotency-conflict")
    for n in range(1024):
        peer.json({"steps": []}, idempotency_key=f"other-{n}")
    peer.json(body, idempotency_key="k")
    assert peer.get("t").tolist() == [[5.0]]


def test_11_beforehand_and_while_running(peer: Peer) -> None:
    status, body = peer.json({"steps": [step("add_", "t", 1), step("matmul", "x", "x")]})
    assert (status, body["type"], body["step"], body["applied"]) == (422, "/problems/invalid-op", 1, 0)
    assert body["exception"] == "RuntimeError"
    assert peer.get("t").tolist() == [[3.0]]
    peer.put("far", np.array([99]))
    status, body = peer.json({"steps": [step("add_", "t", 1), step("index", "x", ["far"], out=["%a"])]})
    assert (status, body["type"], body["step"], body["applied"]) == (422, "/problems/op-failed", 1, 1)
    assert (body["exception"], "out of bounds" in body["detail"]) == ("IndexError", True)
    assert peer.get("t").tolist() == [[4.0]]


@pytest.mark.parametrize(
    "text", [b"", b"[", b"[]", b'{"steps": 1}', b'{"stops": []}', b'{"steps": [{}]}', b"\xff", b"nul"]
)
def test_what_is_no_batch(peer: Peer, text: bytes) -> None:
    status, body = peer.json(text)
    assert status in (400, 422)
    assert body["type"].startswith("/problems/")
    assert run(peer, step("sin", "x", out=["%a"])) == {}


def test_a_step_may_run_in_inference_mode(peer: Peer) -> None:
    inside = {**step("mul", "w", 2, out=["y"]), "grad": "inference"}
    assert run(peer, inside, fetch=["y"]) == {"y": [[2.0], [4.0]]}
    status, body = peer.json({"steps": [step("add_", "y", 1)]})
    assert status == 422
    assert body["exception"] == "RuntimeError"
    assert body["detail"].startswith("Inplace update to inference tensor outside InferenceMode")
    status, body = peer.json({"steps": [step("mul", "w", "y", out=["z"])]})
    assert body["detail"].startswith("Inference tensors cannot be saved for backward.")
    assert run(peer, {**step("add_", "y", 1), "grad": "inference"}, fetch=["y"]) == {"y": [[3.0], [5.0]]}
    assert refused(peer, {**inside, "grad": "other"}) == (400, "invalid-json")
