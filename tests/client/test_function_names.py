"""What a Function keeps on its ctx stands apart from what its node has under the same name."""

from __future__ import annotations

from typing import Any

import gradd
import pytest
from gradd.autograd.function import FunctionCtx
from gradd_engine.custom import BackwardNode

#: what PyTorch refuses too
READ_ONLY = ("metadata", "next_functions", "saved_tensors", "saved_variables")


def _names() -> list[str]:
    """Whatever a node of a Function has."""
    found = {
        name for cls in BackwardNode.__mro__ for name in (*vars(cls), *vars(cls).get("__annotations__", ()))
    }
    found |= set(vars(BackwardNode())) | {"shapes", "anything"}
    return sorted(name for name in found if not name.startswith("__") and name not in READ_ONLY)


def _function(name: str, value: Any) -> type[gradd.autograd.Function]:
    class Keeps(gradd.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: gradd.Tensor) -> gradd.Tensor:
            ctx.save_for_backward(x)
            setattr(ctx, name, value)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: gradd.Tensor) -> gradd.Tensor:
            assert getattr(ctx, name) == value
            return g * 2

    return Keeps


@pytest.mark.parametrize("place", ["local:", "daemon"])
def test_any_name_is_free(place: str, request: pytest.FixtureRequest) -> None:
    url = place if place == "local:" else request.getfixturevalue("daemon")
    names = _names()
    assert {"width", "outputs", "edges", "shapes", "_inputs"} <= set(names)
    with gradd.connect(url):
        for name in names:
            x = gradd.ones(2, requires_grad=True)
            y = _function(name, [3, 4]).apply(x)
            y.t_()  # turned in place: its node remembers shapes
            (y * y).sum().backward()
            assert x.grad.tolist() == [8.0, 8.0], name


@pytest.mark.parametrize("name", READ_ONLY)
def test_what_pytorch_keeps_to_itself_may_not_be_set(name: str) -> None:
    with gradd.connect("local:"), pytest.raises(AttributeError, match=name):
        _function(name, 3).apply(gradd.ones(2, requires_grad=True))


def test_a_ctx_is_its_node() -> None:
    seen: list[Any] = []

    class Shown(gradd.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: gradd.Tensor) -> gradd.Tensor:
            ctx.width = 7
            ctx.mine = 8
            seen.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: gradd.Tensor) -> gradd.Tensor:
            seen.append(ctx)
            del ctx.mine
            assert not hasattr(ctx, "mine")
            return g * 2

    with gradd.connect("local:"):
        y = Shown.apply(gradd.ones(2, requires_grad=True))
        assert y.grad_fn == seen[0]
        assert y.grad_fn.mine == 8
        assert isinstance(seen[0], FunctionCtx)
        assert {"width", "mine", "save_for_backward"} <= set(dir(seen[0]))
        assert repr(seen[0]) == repr(y.grad_fn)
        y.sum().backward()
    assert seen[0] == seen[1]
    assert hash(seen[0]) == hash(seen[1])
    assert seen[1].width == 7
