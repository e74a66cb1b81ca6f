"""A pass that PyTorch refuses, since detach_() took the history of what the graph saved, is refused by a plan
as by an eager run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.runtime.peer import Peer

MAKE = [
    {"op": "mul", "inputs": ["x", 2.0], "outputs": ["y"]},
    {"op": "mul", "inputs": ["y", "y"], "outputs": ["z"]},
    {"op": "sum", "inputs": ["z"], "outputs": ["s"]},
]
DETACH = [{"op": "detach_", "inputs": ["y"]}]
AFTER = [
    {"op": "mul", "inputs": ["y", "x"], "outputs": ["z"]},
    {"op": "sum", "inputs": ["z"], "outputs": ["s"]},
]
OTHER = [{"op": "ones", "attrs": {"size": [1]}, "outputs": ["y"]}]
PASS = [
    {"op": "grad", "inputs": [["s"], ["x"], None], "attrs": {"retain_graph": True}, "outputs": ["g"]},
]
REFUSED = "Trying to use a saved tensor that has been detached in-place"
CASES = {
    "in the graph's program": ([MAKE + DETACH, PASS], True),
    "in a program of its own": ([MAKE, DETACH, PASS], True),
    "in the pass's program": ([MAKE, DETACH + PASS], True),
    "of a tensor that only the graph knows": ([MAKE + DETACH, OTHER, PASS], True),
    "before the graph": ([MAKE + DETACH + AFTER, PASS], False),
    "before the graph of a later program": ([MAKE + DETACH, AFTER, PASS], False),
}  # fmt: skip


def _answers(batches: list[list[Any]], *, planned: bool) -> tuple[list[Any], int]:
    peer = Peer()
    peer.session.plans.enabled, peer.session.plans.first_eager = planned, False
    peer.put("x", np.array([1.0, 2.0]), requires_grad=True)
    told = []
    for _ in range(3):
        for steps in batches:
            status, body = peer.json({"steps": steps})
            told.append((status, body.get("detail", "")))
    return told, peer.session.plans.counts["planned"]


@pytest.mark.parametrize("case", CASES)
def test_a_pass_through_what_was_detached_is_refused_by_plans_too(case: str) -> None:
    batches, refused = CASES[case]
    eager, _ = _answers(batches, planned=False)
    assert eager[-1][1].startswith(REFUSED) is refused
    found, planned = _answers(batches, planned=True)
    assert found == eager
    assert planned >= 3
