"""No call reaches memory that is not its own: what kernels rely on is refused where it does not hold, eagerly
and in the third run of a plan.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_protocol.program import Step
from gradd_runtime.session import Session

from tests.runtime.peer import Peer

F = np.float32
NLL = {"shape": [3, 4], "reduction": "none", "ignore_index": -100}
LAYER = {"wanted": [True, True, True], "normalized_shape": [4], "eps": 1e-5}
OVER = {"dims": [1], "eps": 1e-5}
ONES, ROWS = np.ones((3, 4), F), np.ones((3, 1), F)

#: (op, inputs, attributes, outputs), each of which a kernel would follow out of its arrays
GEOMETRY: dict[str, tuple[str, list[Any], dict[str, Any], int]] = {
    "a short gradient": (
        "nll_loss_backward", [np.ones(1, F), np.zeros(3, np.int64), None, np.ones((), F)], NLL, 1,
    ),
    "a long target": (
        "nll_loss_backward", [np.ones(9, F), np.zeros(9, np.int64), None, np.ones((), F)], NLL, 1,
    ),
    "a short target": (
        "nll_loss_backward", [np.ones(1, F), np.zeros(1, np.int64), None, np.ones((), F)], NLL, 1,
    ),
    "a weight of one class": (
        "nll_loss_backward", [np.ones(3, F), np.full(3, 3), np.ones(1, F), np.ones((), F)], NLL, 1,
    ),
    "a weight of one class, forward": (
        "nll_loss_flat", [ONES, np.full(3, 3), np.ones(1, F)], {"reduction": "none", "ignore_index": -100}, 2,
    ),
    "means of one row": (
        "native_layer_norm_backward", [ONES, ONES, np.ones(1, F), np.ones(1, F), None], LAYER, 3,
    ),
    "a short gradient of rows": (
        "native_layer_norm_backward", [ONES[:1], ONES, ROWS, ROWS, None], LAYER, 3,
    ),
    "a short weight of rows": (
        "native_layer_norm_backward", [ONES, ONES, ROWS, ROWS, np.ones(1, F)], LAYER, 3,
    ),
    "statistics of other dimensions": ("standardize_backward", [ONES, ONES, ONES, ONES], OVER, 1),
    "a gradient of another shape": ("standardize_backward", [ONES[:1], ONES, ROWS, ROWS], OVER, 1),
    "fewer places than gradients": (
        "max_pool2d_backward", [np.ones((1, 2, 2), F), np.zeros((1, 1, 1), np.int64)], {"size": [4, 4]}, 1,
    ),
    "places that are no integers": (
        "max_pool2d_backward", [np.ones((1, 2, 2), F), np.ones((1, 2, 2), F)], {"size": [4, 4]}, 1,
    ),
    "rows for other indices": (
        "embedding_backward", [np.ones((5, 2), F), np.zeros(3, np.int64)],
        {"rows": 4, "padding_idx": None, "scale_grad_by_freq": False}, 1,
    ),
    "a layout with holes": ("to_layout", [ONES], {"strides": [1 << 40, 1]}, 1),
    "negative sizes": ("causal_mask", [], {"rows": -2, "columns": 3, "dtype": "float32"}, 1),
    "more bytes than there are": ("as_strided", [ONES], {"size": [1 << 62, 1 << 62], "stride": [0, 0]}, 1),
    "a step beyond all memory": ("slice", [ONES], {"dim": 0, "start": 0, "step": (1 << 64) - 1}, 1),
}  # fmt: skip

#: (op, inputs, which input has the places, places that are there, places that are not, attributes)
PLACES: dict[str, tuple[str, list[Any], int, list[int], list[int], dict[str, Any]]] = {
    "pooling": (
        "max_pool2d_backward", [np.ones((1, 1, 2), F), None], 1, [0, 15], [0, -300000], {"size": [4, 4]},
    ),
    "pooling, beyond": (
        "max_pool2d_backward", [np.ones((1, 1, 2), F), None], 1, [0, 15], [0, 1 << 62], {"size": [4, 4]},
    ),
    "pooling, picked": ("max_pool2d_pick", [np.ones((1, 4, 4), F), None], 1, [0, 15], [0, 16], {}),
    "rows of a table": (
        "embedding_backward", [np.ones((1, 1, 2, 3), F), None], 1, [0, 3], [0, -1],
        {"rows": 4, "padding_idx": None, "scale_grad_by_freq": False},
    ),
    "classes": (
        "nll_loss2d", [np.ones((1, 4, 1, 2), F), None, None], 1, [0, 3], [0, 4],
        {"reduction": "none", "ignore_index": -100},
    ),
}  # fmt: skip


class Place:
    """A session with a tensor that nobody named in a call, beside one of another session."""

    def __init__(self) -> None:
        self.peer, self.other = Peer(Session("one")), Peer(Session("two"))
        for peer in (self.peer, self.other):
            peer.put("bystander", np.full(1 << 16, 7.0))

    def call(self, op: str, inputs: list[Any], attrs: dict[str, Any], outputs: int = 1) -> Any:
        """The problem of one step, or None."""
        given = [a for a in inputs if a is not None]
        for n, a in enumerate(given):
            self.peer.put(f"x{n}", a)
        slots = iter(range(len(given)))
        step = Step(op, [None if a is None else next(slots) for a in inputs], attrs, outputs)
        reply = self.peer.batch(step, inputs=[f"x{n}" for n in range(len(given))], fetch=[len(given)])
        for peer in (self.peer, self.other):
            assert (peer.get("bystander") == 7.0).all()
        return reply.problem


@pytest.mark.parametrize("name", GEOMETRY)
def test_shapes_that_do_not_go_together_are_refused(name: str) -> None:
    op, inputs, attrs, outputs = GEOMETRY[name]
    place = Place()
    for _ in range(3):
        refusal = place.call(op, inputs, attrs, outputs)
        assert refusal is not None
        assert (refusal.slug, refusal.exception) == ("invalid-op", "RuntimeError"), refusal
        assert "zip()" not in refusal.detail


@pytest.mark.parametrize("name", PLACES)
def test_places_are_looked_at_in_every_run(name: str) -> None:
    op, inputs, at, inside, outside, attrs = PLACES[name]
    shape = (1, 1, 2)

    def at_places(places: list[int]) -> list[Any]:
        return [np.array(places, np.int64).reshape(shape) if n == at else a for n, a in enumerate(inputs)]

    place = Place()
    outputs = 2 if op == "nll_loss2d" else 1
    assert place.call(op, at_places(outside), attrs, outputs).exception in ("RuntimeError", "IndexError")
    session = place.peer.session
    for _ in range(2):
        assert place.call(op, at_places(inside), attrs, outputs) is None
    planned = session.plans.counts["planned"]
    assert planned > 0
    refusal = place.call(op, at_places(outside), attrs, outputs)
    assert refusal.exception in ("RuntimeError", "IndexError")
    assert place.call(op, at_places(inside), attrs, outputs) is None
    assert session.plans.counts["planned"] > planned


def test_two_million_targets_for_one_gradient_read_nothing_of_others() -> None:
    place = Place()
    target = np.zeros(200_000, np.int64)
    attrs = {"shape": [200_000, 1], "reduction": "none", "ignore_index": -100}
    refusal = place.call("nll_loss_backward", [np.ones(1, F), target, None, np.ones((), F)], attrs)
    assert "no gradient of shape [1]" in refusal.detail


def test_a_kernel_that_failed_once_is_not_planned_behind_a_write() -> None:
    """It would fail in the middle of a replay, and the session with it."""
    peer = Peer()
    peer.put("w", np.zeros(3, F))
    peer.put("x", np.ones(3, F))
    steps = (Step("add_", [0, 1], {"alpha": 1}), Step("celu", [0], {"alpha": 0.0}))
    for run in range(1, 4):
        reply = peer.batch(*steps, inputs=["w", "x"])
        assert (reply.problem.slug, reply.problem.exception) == ("op-failed", "RuntimeError")
        assert peer.get("w").tolist() == [run] * 3


def test_what_numpy_ran_into_is_told_in_words_of_the_op() -> None:
    peer = Peer()
    peer.put("x", np.ones((2, 3), F))
    reply = peer.batch(
        Step("logspace", [], {"start": 400.0, "end": 1.0, "steps": 3, "base": 2.0, "dtype": "int64"}),
        Step("gelu_backward", [0, 0], {"approximate": "nope"}),
        inputs=["x"],
    )
    assert reply.problem.exception == "RuntimeError"
    assert reply.problem.detail.startswith("gelu_backward(): cannot be computed of")
    assert "float32[2, 3]" in reply.problem.detail


def test_a_result_with_gaps_lies_where_it_says() -> None:
    peer = Peer()
    peer.put("base", np.zeros((2, 8), F))
    peer.put("src", np.array([1, 2], F))
    wide = Step("as_strided", [0], {"size": [2, 4], "stride": [8, 2], "storage_offset": 0})
    scattered = Step("diagonal_scatter", [2, 1], {})
    row = Step("select", [3], {"dim": 0, "index": 1})
    for _ in range(3):
        reply = peer.batch(wide, scattered, row, inputs=["base", "src"], fetch=[3, 4])
        assert reply.problem is None, reply.problem
        whole, second = peer.arrays
        assert whole.tolist() == [[1, 0, 0, 0], [0, 2, 0, 0]]
        assert second.tolist() == [0, 2, 0, 0]
