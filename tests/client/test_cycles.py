"""Nothing that was differentiated waits for the collector: not after errors, nor without a backward."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.kernels import threads
from gradd_engine.tensor.nodes import Node
from gradd_engine.tensor.tensor import Tensor

#: calls that are counted; a cycle leaves that many of something at least
CALLS = 10


class Written(gradd.autograd.Function):
    """Writes to a view."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


class Exp(gradd.autograd.Function):
    """Keeps its output for all there is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0]


class Nested(gradd.autograd.Function):
    """A pass within a pass within a pass, so deep as it is told; the innermost fails."""

    @staticmethod
    def forward(ctx: Any, x: Any, depth: int) -> Any:
        ctx.depth = depth
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if ctx.depth == 0:
            raise ValueError("the innermost")
        with gradd.enable_grad():
            Nested.apply(gradd.ones(1, requires_grad=True), ctx.depth - 1).sum().backward()
        return g, None


def fails(error: type[Exception], call: Callable[[], Any]) -> None:
    """Run what raises, and forget what it raised."""
    try:
        call()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def in_anomaly_mode(w: Any) -> None:
    """A pass that finds a NaN."""
    with pytest.warns(UserWarning, match="SqrtBackward0|Anomaly"), gradd.autograd.detect_anomaly():
        fails(RuntimeError, ((w - w).sqrt() * 0).sum().backward)


CASES: dict[str, Callable[[Any], Any]] = {
    "a Function that wrote to a view": lambda w: Written.apply((w * 1)[1:]),
    "a mapped Function": lambda w: gradd.func.vmap(Exp.apply)(w),
    "a Function within func.grad": lambda w: gradd.func.grad(lambda x: Exp.apply(x).sum())(w.detach()),
    "a pass that fails": lambda w: fails(ValueError, Nested.apply(w, 0).sum().backward),
    "passes within passes that fail": lambda w: fails(ValueError, Nested.apply(w, 20).sum().backward),
    "a NaN in anomaly mode": in_anomaly_mode,
    "an input that is not in the graph": lambda w: fails(
        RuntimeError, lambda: gradd.autograd.grad((w * 2).sum(), (w, gradd.ones(1, requires_grad=True)))
    ),
}


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def count() -> tuple[int, int]:
    """Tensors and nodes, on both sides of the session."""
    # not isinstance, which asks objects of other libraries for their class
    some = [type(o) for o in gc.get_objects()]
    return sum(issubclass(t, Tensor) for t in some), sum(issubclass(t, Node) for t in some)


@pytest.mark.parametrize("case", CASES)
def test_what_was_differentiated_dies_at_once(case: str) -> None:
    with gradd.connect("local:"):
        w = gradd.tensor([1.0, 2.0, 3.0], requires_grad=True)

        def call() -> None:
            CASES[case](w)
            w.grad = None

        for _ in range(8):
            call()
        gradd.zeros(1).item()
        gc.collect()
        before = count()
        for _ in range(CALLS):
            call()
        gradd.zeros(1).item()
        grown = [b - a for a, b in zip(before, count(), strict=True)]
    assert max(grown) < CALLS, grown


@pytest.mark.parametrize("options", [{}, {"retain_graph": True}, {"create_graph": True}], ids=str)
def test_fifty_gradients_leave_the_last(options: dict[str, bool]) -> None:
    with gradd.connect("local:") as session:
        x = gradd.ones(3, requires_grad=True)
        before = len(session.tensors())
        for _ in range(50):
            (g,) = gradd.autograd.grad((x * x).sum(), x, **options)
        assert g.tolist() == [2.0] * 3
        assert len(session.tensors()) == before + 1


def test_what_a_thread_of_a_kernel_raises_dies_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads._pool, "threads", 2)

    def work(numbers: Iterator[int]) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("of a helper")

    fails(ValueError, lambda: threads.share(np, 4, 1 << 40, work))
    assert not [o for o in gc.get_objects() if type(o) is ValueError]
