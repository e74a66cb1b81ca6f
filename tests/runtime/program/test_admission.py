"""What is refused before any step runs, and what is found while running (rule 11 of the JSON form)."""

from __future__ import annotations

from typing import Any

import gradd
import numpy as np
import pytest
from gradd_protocol.program import GradOf, Step, Value
from gradd_runtime.session import Session

from tests.runtime.peer import FILL, Peer


@pytest.fixture
def peer() -> Peer:
    """A writer with `x` [2], `w` [2] that requires gradients, `i` (the integer 99 in a list)."""
    peer = Peer()
    peer.put("x", np.ones(2, np.float32))
    peer.put("w", np.ones(2, np.float32), requires_grad=True)
    peer.put("i", np.array([99]))
    return peer


#: a step that would leave its mark
MARK = Step("add_", [0, Value("float")], {})


def check(peer: Peer, *steps: Step, values: Any = (), inputs: Any = ("x", "w", "i")) -> Any:
    """The problem of a program that first adds one to x, and whether that stands."""
    reply = peer.batch(MARK, *steps, inputs=list(inputs), values=[1.0, *values])
    assert reply.problem is not None
    stands = peer.get("x").tolist() == [2.0, 2.0]
    assert reply.applied == (reply.problem.step if stands else 0)
    return reply.problem, stands


BEFORE: dict[str, tuple[tuple[Step, ...], str, int]] = {
    "unknown op": ((Step("frobnicate", [0]),), "op-not-found", 404),
    "too few inputs": ((Step("add", [0]),), "invalid-op", 422),
    "too many inputs": ((Step("sin", [0, 1]),), "invalid-op", 422),
    "a list for a tensor": ((Step("sin", [[0]]),), "invalid-op", 422),
    "a tensor for a list": ((Step("cat", [0]),), "invalid-op", 422),
    "nothing for a tensor": ((Step("sin", [None]),), "invalid-op", 422),
    "unknown attribute": ((Step("sum", [0], {"banana": 1}),), "invalid-op", 422),
    "ill-typed attribute": ((Step("transpose", [0], {"dim0": "a", "dim1": 0}),), "invalid-op", 422),
    "missing attribute": ((Step("transpose", [0], {"dim0": 0}),), "invalid-op", 422),
    "unknown dtype": ((Step("zeros", [], {"size": [2], "dtype": "float31"}),), "invalid-op", 422),
    "wrong number of outputs": ((Step("sin", [0], outputs=2),), "invalid-op", 422),
    "shapes": ((Step("zeros", [], {"size": [3]}), Step("add", [0, 3 + 1])), "invalid-op", 422),
    "dimension": ((Step("transpose", [0], {"dim0": 5, "dim1": 0}),), "invalid-op", 422),
    "dtypes": ((Step("matmul", [0, 2]),), "invalid-op", 422),
    "backward of a non-scalar": ((Step("backward", [[1], None, None], outputs=0),), "invalid-op", 422),
    "in-place result that does not fit": (
        (Step("zeros", [], {"size": [2, 2]}), Step("copy_", [0, 4])), "invalid-op", 422,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BEFORE)
def test_refused_before_any_step_runs(peer: Peer, case: str) -> None:
    steps, slug, status = BEFORE[case]
    problem, stands = check(peer, *steps)
    assert (problem.slug, problem.status, problem.step, stands) == (slug, status, len(steps), False)


WHILE: dict[str, tuple[tuple[Step, ...], str]] = {
    "an index out of range": ((Step("index", [0, [2]]),), "out of bounds"),
    "a freed graph": (
        (
            Step("mul", [1, 1]), Step("sum", [4]), Step("backward", [[5], None, None], outputs=0),
            Step("backward", [[5], None, None], outputs=0),
        ),
        "second time",
    ),
    "a changed version": (
        (
            Step("mul", [1, 1]), Step("mul", [4, 4]), Step("zero_", [4]), Step("sum", [5]),
            Step("backward", [[7], None, None], outputs=0),
        ),
        "modified by an inplace operation",
    ),
    "a write to a leaf": ((Step("zero_", [1]),), "a leaf Variable that requires grad"),
    "a root without gradients": (
        (Step("sum", [0]), Step("backward", [[4], None, None], outputs=0)), "does not require grad",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WHILE)
def test_found_while_running(peer: Peer, case: str) -> None:
    steps, words = WHILE[case]
    problem, stands = check(peer, *steps)
    assert words in problem.detail
    assert (problem.slug, problem.status, problem.step, stands) == ("op-failed", 422, len(steps), True)


def test_unknown_tensors_and_slots(peer: Peer) -> None:
    for name in ("nobody", "@7.1", "x.grad.grad", ""):
        reply = peer.batch(FILL, inputs=[name])
        assert reply.problem.status in (400, 404), name
    assert peer.batch(Step("sin", [5]), inputs=["x"]).problem.slug == "malformed-frame"
    assert peer.batch(FILL, keep=[9]).problem.slug == "malformed-frame"
    assert peer.batch(FILL, fetch=[9]).problem.slug == "malformed-frame"
    assert peer.batch(FILL, fetch=["nobody"]).problem.slug == "tensor-not-found"


def test_counts_beside_the_program(peer: Peer) -> None:
    assert peer.batch(MARK, inputs=["x"]).problem.slug == "malformed-frame"
    assert peer.batch(MARK, inputs=["x"], values=[1.0, 2.0]).problem.slug == "malformed-frame"
    short = peer.message(MARK, inputs=["x"], values=[1.0])
    assert peer.ask(type(short)(**{**{f: getattr(short, f) for f in short.__struct_fields__}, "inputs": []}))[
        0
    ].problem
    assert peer.get("x").tolist() == [1.0, 1.0]


def test_more_memory_than_there_is() -> None:
    peer = Peer(Session("small", limit=1000))
    peer.put("x", np.ones(2, np.float32))
    reply = peer.batch(MARK, Step("zeros", [], {"size": [10**14]}), inputs=["x"], values=[1.0])
    problem = reply.problem
    assert (problem.slug, problem.status, problem.exception, problem.step) == (
        "quota-exceeded",
        507,
        "RuntimeError",
        1,
    )
    assert (problem.limit, problem.requested) == (1000, 4 * 10**14)
    assert peer.session.account.used == 8
    assert peer.batch(FILL).problem is None


def test_memory_comes_back() -> None:
    peer = Peer(Session("small", limit=1000))
    fill = Step("ones", [], {"size": [100], "dtype": "float32"})
    for _ in range(10):
        assert peer.batch(fill, Step("sin", [0])).problem is None
    assert peer.session.account.used == 0
    reply = peer.batch(fill, fill, fill, Step("cat", [[0, 1, 2]]))
    assert reply.problem.slug == "quota-exceeded"
    assert peer.session.account.used == 0


def test_gradients_that_the_program_makes_are_not_followed(peer: Peer) -> None:
    reply = peer.batch(
        Step("mul", [1, 1]), Step("sum", [3]), Step("backward", [[4], None, None], outputs=0),
        Step("mul", [GradOf(1), 0]),
        inputs=["x", "w", "i"], fetch=[5],
    )  # fmt: skip
    assert reply.problem is None
    assert peer.arrays[0].tolist() == [2.0, 2.0]


def test_a_pass_that_its_writer_saw_raise_goes_on(peer: Peer) -> None:
    twice = Step("backward", [[4], None, None], outputs=0)
    raising = Step("backward", [[4], None, None], outputs=0, raises=True)
    reply = peer.batch(
        Step("mul", [1, 1]), Step("sum", [3]), twice, raising, MARK, inputs=["x", "w", "i"], values=[1.0]
    )
    assert (reply.problem, reply.applied) == (None, 5)
    assert peer.get("w.grad").tolist() == [2.0, 2.0]
    assert peer.get("x").tolist() == [2.0, 2.0]


def test_a_program_admitted_once_is_judged_again_for_other_shapes(peer: Peer) -> None:
    peer.put("y", np.ones(3, np.float32))
    add = Step("add", [0, 1])
    assert peer.batch(add, inputs=["x", "w"]).problem is None
    assert peer.batch(add, inputs=["x", "y"]).problem.slug == "invalid-op"
    assert peer.batch(add, inputs=["x", "w"]).problem is None


def test_a_flag_set_on_a_view_is_not_its_bases() -> None:
    peer = Peer()
    peer.put("x", np.zeros((2, 3)))
    steps: list[Any] = [{"op": "view", "inputs": ["x"], "attrs": {"size": [1, 6]}, "outputs": ["v"]}]
    status, body = peer.json({"steps": steps})
    assert status == 200, body
    steps = [
        {"op": "unbind", "inputs": ["v"], "outputs": ["%row"]},
        {"op": "fill_", "inputs": ["v", 2.0], "outputs": ["%filled"]},
        {"op": "set_requires_grad", "inputs": ["v"], "attrs": {"requires_grad": True}},
        {"op": "mul", "inputs": ["%row", 3.0], "outputs": ["y"]},
    ]
    status, body = peer.json({"steps": steps, "fetch": ["y"]})
    assert status == 200, body
    assert body["results"]["y"]["data"] == [6.0] * 6


@pytest.mark.parametrize("other", ["select", "imag", "conj"])
def test_a_write_of_one_view_gives_a_history_to_the_others(other: str) -> None:
    views = {
        "select": [Step("real_parts", [1]), Step("select", [4], {"dim": -1, "index": 1})],
        "imag": [Step("real_parts", [1]), Step("select", [4], {"dim": -1, "index": 0})],
        "conj": [Step("conj", [1]), Step("select", [4], {"dim": 0, "index": 0})],
    }
    peer = Peer()
    peer.put("w", np.ones((), np.float32), requires_grad=True)
    reply = peer.batch(
        Step("zeros", [], {"size": [2], "dtype": "complex64"}),
        Step("select", [1], {"dim": 0, "index": 0}),
        Step("mul_", [2, 0]),
        *views[other],
        Step("mul_", [5, 0]),
        Step("select", [1], {"dim": 0, "index": 1}),
        Step("copy_", [7, 0]),
        Step("sum", [5]),
        inputs=["w"],
    )
    assert reply.problem is None
    assert reply.applied == 9


@pytest.mark.parametrize("mode", [True, False, "inference"])
def test_steps_are_looked_at_in_their_mode(peer: Peer, mode: Any) -> None:
    reply = peer.batch(Step("resize_", [0], {"size": [1, 2]}, grad=mode), inputs=["w"])
    if mode == "inference":
        assert reply.problem is None
        assert peer.get("w").shape == (1, 2)
    else:
        assert (reply.problem.slug, reply.applied) == ("invalid-op", 0)
        assert reply.problem.detail == "cannot resize variables that require grad"


def test_a_view_without_history_saves_nothing() -> None:
    with gradd.connect("local:") as session:
        x = gradd.tensor(3.0, requires_grad=True)
        with gradd.no_grad():
            v = x.view(-1)
        session.flush()
        with gradd.inference_mode():
            i = gradd.ones(2) + v
        # The view says that it requires grad, as its base does; its gradient goes nowhere.
        assert (v / i).requires_grad
        assert (v / i).tolist() == [0.75, 0.75]
        v.requires_grad_()
        session.flush()
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            (v / i).tolist()
