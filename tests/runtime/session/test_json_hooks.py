"""Hooks declared over REST (docs/rest.md): programs that the session runs when a pass comes by."""

from __future__ import annotations

import gc
import json
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_runtime.plan.cache import Plans

from tests.runtime.peer import Peer
from tests.runtime.session.test_json_batches import run, step


@pytest.fixture(params=[False, True], ids=["eager", "planned"])
def peer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Peer:
    """A session with leaves x [1, 2] and z [3, 4], and seen [0, 0]; in one that plans what it can."""
    monkeypatch.setattr(Plans, "first_eager", False)
    monkeypatch.setattr(Plans, "enabled", request.param)
    peer = Peer()
    peer.put("x", np.array([1.0, 2.0], np.float32), requires_grad=True)
    peer.put("z", np.array([3.0, 4.0], np.float32), requires_grad=True)
    peer.put("seen", np.zeros(2, np.float32))
    return peer


def put(peer: Peer, name: str, **body: Any) -> tuple[int, dict[str, Any]]:
    reply, buffers = peer.ask(m.PutHook(name), [frames.text_buffer(json.dumps(body).encode())])
    if isinstance(reply, m.ProblemReply):
        problem = reply.problem
        return problem.status, {
            "type": problem.slug,
            "detail": problem.detail,
            "exception": problem.exception,
        }
    return reply.status, json.loads(frames.text_of(buffers[0]))


def hooks(peer: Peer) -> list[dict[str, Any]]:
    _, buffers = peer.ask(m.ListHooks())
    found: list[dict[str, Any]] = json.loads(frames.text_of(buffers[0]))["hooks"]
    return found


SCALE = {"steps": [step("mul", "%g", 10.0, out=["%r"])], "outputs": ["%r"]}
FORWARD = [step("mul", "x", "z", out=["y"]), step("sum", "y", out=["loss"])]
PASS = [*FORWARD, step("backward", "loss")]


def gradient(peer: Peer, *steps: Any, of: str = "x.grad") -> Any:
    peer.ask(m.DeleteTensor(of))
    return run(peer, *steps, fetch=[of])[of]


def test_it_replaces_the_gradient_in_every_pass(peer: Peer) -> None:
    assert gradient(peer, *PASS) == [3.0, 4.0]
    assert put(peer, "scale", tensor="x", **SCALE)[0] == 201
    for _ in range(3):
        assert gradient(peer, *PASS) == [30.0, 40.0]
    assert hooks(peer)[0]["runs"] == 3
    assert peer.ask(m.DeleteHook("scale"))[0] == m.Done()
    assert gradient(peer, *PASS) == [3.0, 4.0]
    assert peer.ask(m.DeleteHook("scale"))[0] == m.Done()


def test_programs_whose_inputs_bring_hooks_run_eagerly(peer: Peer) -> None:
    plans = peer.session.plans
    run(peer, *PASS)
    assert plans.why == ("" if plans.enabled else "plans are off")
    put(peer, "scale", tensor="x", **SCALE)
    run(peer, *PASS)
    assert plans.why.startswith("hooks" if plans.enabled else "plans are off")
    peer.ask(m.DeleteHook("scale"))
    run(peer, *PASS)
    assert plans.why == ("" if plans.enabled else "plans are off")


def test_it_sees_the_sum_and_not_what_was_accumulated(peer: Peer) -> None:
    put(peer, "look", tensor="x", steps=[step("clone", "%g", out=["last"])])
    twice = [step("add", "loss", "loss", out=["%l"]), step("backward", "%l")]
    run(peer, *FORWARD, *twice)
    run(peer, *FORWARD, *twice)
    assert peer.get("last").tolist() == [6.0, 8.0]
    assert peer.get("x.grad").tolist() == [12.0, 16.0]


def test_it_runs_in_grad_too(peer: Peer) -> None:
    put(peer, "scale", tensor="x", **SCALE)
    found = run(peer, *FORWARD, step("grad", ["loss"], ["x"], out=["g"]), fetch=["g", "x.grad"])
    assert found == {"g": [30.0, 40.0], "x.grad": None}


def test_hooks_run_in_the_order_of_their_declaration(peer: Peer) -> None:
    put(peer, "b", tensor="x", **SCALE)
    put(peer, "a", tensor="x", steps=[step("add", "%g", 1.0, out=["%r"])], outputs=["%r"])
    assert [h["name"] for h in hooks(peer)] == ["b", "a"]
    assert gradient(peer, *PASS) == [31.0, 41.0]
    assert put(peer, "b", tensor="x", **SCALE)[0] == 200  # replaced: now the last
    assert gradient(peer, *PASS) == [40.0, 50.0]


def test_it_writes_to_named_tensors_as_they_are_bound_then(peer: Peer) -> None:
    put(peer, "sum", tensor="x", steps=[step("add_", "seen", "%g")])
    run(peer, *PASS)
    run(peer, *PASS)
    assert peer.get("seen").tolist() == [6.0, 8.0]
    peer.put("seen", np.ones(2, np.float32))
    run(peer, *PASS)
    assert peer.get("seen").tolist() == [4.0, 5.0]
    peer.ask(m.DeleteTensor("seen"))
    status, body = peer.json({"steps": PASS})
    assert (status, body["exception"]) == (422, "RuntimeError")
    assert body["detail"] == "hook 'sum': there is no tensor 'seen' in this session"


def test_a_hook_of_a_result(peer: Peer) -> None:
    run(peer, *FORWARD)
    assert put(peer, "scale", tensor="y", **SCALE)[0] == 201
    run(peer, step("backward", "loss"))
    assert peer.get("x.grad").tolist() == [30.0, 40.0]
    run(peer, *FORWARD)  # another y: the hook went with the one it hung on
    gc.collect()
    assert hooks(peer) == []
    reply, _ = peer.ask(m.GetHook("scale"))
    assert reply.problem.slug == "hook-not-found"


def test_post_accumulate(peer: Peer) -> None:
    steps = [step("mul", "%t.grad", 0.5, out=["%u"]), step("sub_", "%t", "%u"), step("set_grad", "%t", None)]
    steps = [{**s, "grad": False} for s in steps]
    status, _ = put(peer, "sgd", tensor="x", kind="post_accumulate", inputs=["%t"], steps=steps)
    assert status == 201
    run(peer, *PASS)
    assert peer.get("x").tolist() == [-0.5, 0.0]
    assert peer.get("x.grad").slug == "tensor-not-found"


def test_hooks_of_a_node(peer: Peer) -> None:
    run(peer, *FORWARD)
    pre = {"steps": [step("mul", "%g", 2.0, out=["%r"])], "outputs": ["%r"]}
    assert put(peer, "pre", tensor="y", kind="prehook", **pre)[0] == 201
    post = {
        "inputs": ["%of_x", "%of_z", "%g"],
        "steps": [step("clone", "%g", out=["came"]), step("neg", "%of_z", out=["%r"])],
        "outputs": ["%of_x", "%r"],
    }
    assert put(peer, "post", tensor="y", kind="posthook", **post)[0] == 201
    run(peer, step("backward", "loss"))
    assert peer.get("came").tolist() == [2.0, 2.0]
    assert peer.get("x.grad").tolist() == [6.0, 8.0]
    assert peer.get("z.grad").tolist() == [-2.0, -4.0]


def test_under_create_graph_a_hook_is_part_of_the_graph(peer: Peer) -> None:
    put(peer, "square", tensor="x", steps=[step("mul", "%g", "%g", out=["%r"])], outputs=["%r"])
    found = run(
        peer,
        step("mul", "x", "x", out=["%y"]),
        step("sum", "%y", out=["%l"]),
        step("grad", ["%l"], ["x"], out=["g"], create_graph=True),
        step("sum", "g", out=["%s"]),
        fetch=["g"],
    )
    assert found["g"] == [4.0, 16.0]  # (2x)^2
    peer.ask(m.DeleteHook("square"))
    found = run(peer, step("sum", "g", out=["%s"]), step("grad", ["%s"], ["x"], out=["%h"]), fetch=["%h"])
    assert found["%h"] == [8.0, 16.0]  # 8x


def test_a_change_of_shape_is_refused_as_by_pytorch(peer: Peer) -> None:
    put(peer, "shrink", tensor="x", steps=[step("sum", "%g", out=["%r"])], outputs=["%r"])
    status, body = peer.json({"steps": PASS})
    assert (status, body["exception"], body["step"]) == (422, "RuntimeError", 2)
    assert body["detail"] == "hook 'shrink' has changed the size of value"


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"tensor": "x", "steps": [step("no_such_op", "%g")]}, 404, "there is no op 'no_such_op'"),
        ({"tensor": "x", "steps": [step("mul", "%g")]}, 422, "mul(): 'other' must be given"),
        ({"tensor": "x", "steps": [step("mul", "%g", "nobody")]}, 404, "there is no tensor 'nobody'"),
        ({"tensor": "x", "outputs": ["%r"]}, 422, "no step and no input of the hook is named '%r'"),
        ({"tensor": "x", "outputs": []}, 422, "a tensor hook here gives 1 outputs, 0 were named"),
        ({"tensor": "x", "inputs": ["%a", "%b"]}, 422, "a tensor hook here takes 1 inputs, 2 were named"),
        ({"tensor": "x", "inputs": ["g"]}, 422, "what a hook is given goes by a name with %"),
        (
            {"tensor": "x", "steps": [step("backward", "loss")]},
            422,
            "a hook does not start passes: backward()",
        ),
        ({"tensor": "x", "kind": "prehook"}, 422, "prehook: x is a leaf"),
        ({"tensor": "x", "kind": "often"}, 400, "Invalid enum value 'often'"),
        ({"tensor": "nobody"}, 404, "there is no tensor 'nobody'"),
        ({"tensor": "seen"}, 422, "cannot register a hook on a tensor that doesn't require gradient"),
        ({"tensor": "y", "kind": "post_accumulate"}, 422, "post accumulate grad hooks cannot be registered"),
        ({"tensor": "x", "steps": [step("matmul", "%g", "big")]}, 422, "inconsistent tensor size"),
        ({}, 400, "missing required field `tensor`"),
    ],
)
def test_what_is_refused_at_once(peer: Peer, body: dict[str, Any], status: int, detail: str) -> None:
    peer.put("big", np.zeros(5, np.float32))
    run(peer, *FORWARD)
    got, problem = put(peer, "bad", **body)
    assert got == status, problem
    assert detail in problem["detail"]
    assert hooks(peer) == []


def test_there_is_room_for_so_many(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(DEFAULT.hooks):
        assert put(peer, f"h{i}", tensor="x")[0] == 201
    status, problem = put(peer, "more", tensor="x")
    assert (status, problem["detail"]) == (422, f"a session has at most {DEFAULT.hooks} hooks")
    assert put(peer, "h0", tensor="x")[0] == 200
    status, _ = put(peer, "h0", tensor="x", steps=[step("clone", "%g")] * (DEFAULT.hook_steps + 1))
    assert status == 400


def test_its_steps_have_modes_of_their_own(peer: Peer) -> None:
    inside = [{**step("mul", "%g", 10.0, out=["kept"]), "grad": "inference"}]
    assert put(peer, "keep", tensor="x", steps=inside)[0] == 201
    assert gradient(peer, *PASS) == [3.0, 4.0]
    assert run(peer, step("add", "kept", 1.0, out=["more"]), fetch=["more"]) == {"more": [31.0, 41.0]}
    status, body = peer.json({"steps": [step("add_", "kept", 1.0)]})
    assert status == 422
    assert body["detail"].startswith("Inplace update to inference tensor outside InferenceMode")


def test_the_hooks_of_a_batch_run_so_many_steps_together(peer: Peer) -> None:
    """Many hooks times many passes: a small request that would take long."""
    longest = [step("clone", "%g", out=["%0"])]
    longest += [step("clone", f"%{k}", out=[f"%{k + 1}"]) for k in range(DEFAULT.hook_steps - 1)]
    for k in range(16):
        assert put(peer, f"h{k}", tensor="x", steps=longest)[0] == 201
    passes = DEFAULT.batch_hook_steps // (16 * DEFAULT.hook_steps)
    one = [step("sum", "x", out=["%y"]), step("backward", "%y")]
    status, _ = peer.json({"steps": one * passes})
    assert status == 200
    status, refused = peer.json({"steps": one * (passes + 1)})
    assert (status, refused["type"], refused["exception"]) == (422, "/problems/op-failed", "RuntimeError")
    assert str(DEFAULT.batch_hook_steps) in refused["detail"]
    assert refused["applied"] == 2 * passes + 1
    assert peer.json({"steps": one})[0] == 200
