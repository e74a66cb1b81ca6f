"""No circle keeps the graph of a pass that is over, or that went no further, until a garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

import gradd
import pytest
from gradd.utils.checkpoint import checkpoint
from gradd_engine.tensor.nodes import Node
from gradd_engine.tracing.mirror import Behind


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    """A session in this process, with the collector off: nodes of the mirror and of the server are seen."""
    with gradd.connect("local:") as session:
        gc.disable()
        yield session
        gc.enable()


def left_by(run: Callable[[], object], session: Any) -> list[str]:
    """The nodes that are there after `run`, its third time, and were not before."""
    for _ in range(2):
        run()
    session.flush()
    gc.collect()
    before = WeakSet(_nodes())
    run()
    session.flush()
    return sorted(o.name() for o in _nodes() if o not in before)


def _nodes() -> list[Node]:
    # By their types: other objects may warn where they are asked for a class. What stands for nodes in a plan
    # stays with the plan.
    return [o for o in gc.get_objects() if issubclass(type(o), Node) and type(o) is not Behind]


def plain(x: Any, **options: Any) -> Any:
    return x.sin().exp()


def nested(x: Any, **options: Any) -> Any:
    return checkpoint(plain, x.sin().exp(), **options).tanh()


def deep(x: Any, **options: Any) -> Any:
    return checkpoint(lambda a: nested(a, **options), x.tanh(), **options).exp()


def twice(x: Any, **options: Any) -> Any:
    return checkpoint(plain, x, **options) * checkpoint(lambda a: nested(a, **options), x, **options)


def in_place(x: Any, **options: Any) -> Any:
    return checkpoint(lambda a: (a * 2).mul_(a).exp_(), x.exp(), **options)


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad=True")
@pytest.mark.parametrize("options", [
    {"use_reentrant": False}, {"use_reentrant": False, "early_stop": False}, {"use_reentrant": True},
], ids=str)  # fmt: skip
def test_checkpoints_leave_nothing(session: Any, options: dict[str, Any]) -> None:
    def run() -> None:
        for function in (plain, nested, deep, twice, in_place):
            x = gradd.ones(3, requires_grad=True)
            checkpoint(lambda a, f=function: f(a * 1, **options), x, **options).sum().backward()
            assert x.grad is not None

    assert left_by(run, session) == []


def refuse(*given: Any) -> Any:
    raise ValueError("the test said so")


class Refused(gradd.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        refuse()


def by_tensor_hook(x: Any) -> Any:
    y = x.exp()
    y.register_hook(refuse)
    return y.sin()


def by_leaf_hook(x: Any) -> Any:
    x.register_post_accumulate_grad_hook(refuse)
    return x.exp()


def by_node_hook(x: Any) -> Any:
    y = x.exp()
    y.grad_fn.register_hook(refuse)
    return y.sin()


def by_function(x: Any) -> Any:
    return Refused.apply(x.exp()).sin()


def by_unpacking(x: Any) -> Any:
    with gradd.autograd.graph.saved_tensors_hooks(lambda t: t * 1, refuse):
        return x.exp() * x


class Again:
    """A function that can be run once."""

    ran = False

    def __call__(self, x: Any) -> Any:
        if self.ran:
            refuse()
        self.ran = True
        return x.exp()


def by_recomputation(x: Any) -> Any:
    return checkpoint(Again(), x * 1, use_reentrant=False)


def by_nested_recomputation(x: Any) -> Any:
    return checkpoint(by_recomputation, x * 1, use_reentrant=True)


def test_a_pass_that_a_callable_ended_leaves_nothing(session: Any) -> None:
    hooks = by_tensor_hook, by_leaf_hook, by_node_hook, by_unpacking
    bodies = by_function, by_recomputation, by_nested_recomputation

    def run() -> None:
        for how in (*hooks, *bodies):
            y = how(gradd.ones(3, requires_grad=True))
            with pytest.raises(ValueError, match="the test said so"):
                y.sum().backward()

    assert left_by(run, session) == []
