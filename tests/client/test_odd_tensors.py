"""Tensors whose class answers for its own shape, dtype or gradient: the session does without them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import gradd
import pytest

#: attributes of `torch.Tensor` that a subclass may answer itself
NAMES = ("shape", "dtype", "grad", "is_leaf", "data", "ndim", "nbytes", "device", "grad_fn", "_version")


pytestmark = pytest.mark.usefixtures("as_declared")


def _refusing(name: str) -> property:
    def refuse(self: Any) -> Any:
        raise LookupError(f"asked for {name}")

    return property(refuse)


@cache
def odd() -> Any:
    """A class that answers nothing about itself. It is made when a test runs: from then on functions ask
    classes.
    """
    assert all(hasattr(gradd.Tensor, name) for name in NAMES)
    return type("Odd", (gradd.Tensor,), {name: _refusing(name) for name in NAMES})


@pytest.fixture(params=["local", "daemon"])
def session(request: pytest.FixtureRequest) -> Any:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url) as session:
        yield session


def tensors(kind: str) -> Any:
    """What is kept alive: a layer that does not know its sizes, or a tensor of `odd()`."""
    return gradd.nn.LazyLinear(3) if kind == "lazy" else gradd.ones(2).as_subclass(odd())


def fails_forward() -> Any:
    return (gradd.zeros(3)[gradd.tensor([7])] + 1).tolist()


def fails_backward() -> Any:
    w = gradd.ones(3, requires_grad=True)
    (w[gradd.tensor([9])] * 2).sum().backward()
    return w.grad.tolist()


@pytest.mark.parametrize("kind", ["lazy", "odd"])
@pytest.mark.parametrize("fails", [fails_forward, fails_backward])
def test_a_failed_batch_leaves_the_session_usable(session: Any, kind: str, fails: Any) -> None:
    held = tensors(kind)
    session.flush()
    for _ in range(2):
        with pytest.raises(IndexError):
            fails()
        assert (gradd.ones(2) + 1).tolist() == [2.0, 2.0]
    assert session.tensors() == session.mirror()
    del held


def test_the_session_is_shown_and_kept(session: Any, tmp_path: Path) -> None:
    held = [tensors(kind) for kind in ("lazy", "odd")]
    with session.profile() as profile:
        (gradd.ones(2) * 2).tolist()
    assert profile.batches
    assert session.tensors() == session.mirror()
    session.snapshot(tmp_path / "kept.gradd")
    assert (tmp_path / "kept.gradd").stat().st_size > 0
    assert held[0](gradd.ones(1, 2)).shape == (1, 3)
