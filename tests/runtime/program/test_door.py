"""Which ops a program may call is declared: the rest are refused before any step runs, in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gradd_engine.declare.declarators import REGISTRY, kernel
from gradd_engine.declare.surface import functions
from gradd_protocol.program import Step
from gradd_runtime import catalog

from tests.runtime.peer import Peer
from tests.runtime.session.test_json_batches import step
from tests.runtime.session.test_json_hooks import put


@pytest.fixture
def inner() -> Iterator[str]:
    """An op that users do not find and that says nothing of outside."""
    planted = kernel(
        "planted_inner(Tensor input) -> Tensor",
        infer=lambda input: REGISTRY["sin"].infer(input),  # type: ignore[misc]
        impl=lambda xp, a: xp.sin(a),
        namespace="-",
    )
    try:
        yield planted.name
    finally:
        del REGISTRY[planted.name]


@pytest.fixture
def peer() -> Peer:
    peer = Peer()
    peer.put("x", np.array([1.0, 2.0], np.float32), requires_grad=True)
    peer.put("seen", np.zeros(2, np.float32))
    return peer


def stands(peer: Peer) -> bool:
    """Whether nothing was run, and the session goes on."""
    untouched = peer.get("seen").tolist() == [0, 0]
    return untouched and peer.batch(Step("sin", [0]), inputs=["x"]).problem is None


def test_a_step_of_a_program(peer: Peer, inner: str) -> None:
    for _ in range(3):
        found = peer.batch(Step("zero_", [0]), Step(inner, [1]), inputs=["seen", "x"]).problem
        assert (found.slug, found.status, found.step) == ("op-not-callable", 422, 1)
        assert inner in found.detail
    assert stands(peer)


def test_a_json_step(peer: Peer, inner: str) -> None:
    status, body = peer.json({"steps": [step("add_", "seen", 1.0), step(inner, "x", out=["y"])]})
    assert (status, body["type"]) == (422, "/problems/op-not-callable")
    assert stands(peer)


def test_a_step_of_a_hook(peer: Peer, inner: str) -> None:
    status, body = put(peer, "h", tensor="x", steps=[step(inner, "%g", out=["%r"])], outputs=["%r"])
    assert (status, body["type"]) == (422, "op-not-callable")
    assert stands(peer)


def test_the_catalogue_has_what_may_be_called(inner: str) -> None:
    listed = set(catalog.ops())
    assert inner not in listed
    assert listed == {name for name, each in REGISTRY.items() if each.surface.outside}


def test_what_users_find_may_be_called() -> None:
    users: set[Any] = {id(fn) for fn in functions().values()}
    found = [each for each in REGISTRY.values() if each.surface.method or id(each.call) in users]
    assert len(found) > 400
    assert all(each.surface.outside for each in found)


def test_what_rules_and_composites_are_sent_as_may_be_called() -> None:
    """Kernels that rules call, pieces of composites, state of autograd: each says so."""
    found = {
        name for name, each in REGISTRY.items() if each.surface.outside and each.surface.namespace == "-"
    }
    assert {"max_pool2d_backward", "index_put_add", "softmax_kernel", "set_grad", "resume_pass"} <= found


def test_an_optional_input_at_the_end_may_be_left_out(peer: Peer) -> None:
    """So that a record stays readable whose ops have got another one since."""
    planted = kernel(
        "planted_newer(Tensor input, Tensor? more=None) -> Tensor",
        infer=lambda input, more: REGISTRY["sin"].infer(input),  # type: ignore[misc]
        impl=lambda xp, a, more: a if more is None else a + more,
        namespace="-",
        outside=True,
    )
    try:
        for given, want in (([0], [1.0, 2.0]), ([0, None], [1.0, 2.0]), ([0, 0], [2.0, 4.0])):
            reply = peer.batch(Step(planted.name, given), Step("copy_", [1, 2]), inputs=["x", "seen"])
            assert reply.problem is None
            assert peer.get("seen").tolist() == want
        assert peer.batch(Step(planted.name, []), inputs=["x"]).problem.slug == "invalid-op"
    finally:
        del REGISTRY[planted.name]
