"""Hooks declared over REST on tensors that the SDK computes with, beside hooks of the SDK's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import httpx
import pytest

from tests.bearer import bearer

TENFOLD = {
    "tensor": "x",
    "steps": [{"op": "mul", "inputs": ["%g", 10.0], "outputs": ["%r"]}],
    "outputs": ["%r"],
}


@pytest.fixture(params=["stream", "http"])
def leaves(request: pytest.FixtureRequest, daemon: str) -> Iterator[tuple[Any, Any]]:
    """Leaves x [1, 2], whose gradient a declared hook makes tenfold, and w [3, 4]."""
    with gradd.connect(daemon, transport=request.param) as session:
        session["x"] = x = gradd.tensor([1.0, 2.0], requires_grad=True)
        w = gradd.tensor([3.0, 4.0], requires_grad=True)
        url = f"{daemon}/v1/sessions/{session.name}/hooks/tenfold"
        assert httpx.put(url, json=TENFOLD, headers=bearer(daemon), trust_env=False).status_code == 201
        yield x, w


def test_the_sdks_passes_run_it(leaves: tuple[Any, Any]) -> None:
    x, w = leaves
    for _ in range(3):
        x.grad = w.grad = None
        (x * w).sum().backward()
        assert x.grad.tolist() == [30.0, 40.0]
        assert w.grad.tolist() == [1.0, 2.0]


def test_passes_that_stop_for_hooks_of_the_sdk_run_it_too(leaves: tuple[Any, Any]) -> None:
    x, w = leaves
    seen = []
    y = x * w
    y.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(g.tolist()))
    w.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward()
    assert x.grad.tolist() == [60.0, 80.0]
    assert w.grad.tolist() == [2.0, 4.0]
    assert sorted(seen) == [[2.0, 4.0], [6.0, 8.0]]  # the SDK's see what comes; the declared one runs after


def test_derivatives_go_through_it(leaves: tuple[Any, Any]) -> None:
    x, _ = leaves
    (g,) = gradd.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert g.tolist() == [30.0, 120.0]
    (second,) = gradd.autograd.grad(g.sum(), x)
    assert second.tolist() == [600.0, 1200.0]
