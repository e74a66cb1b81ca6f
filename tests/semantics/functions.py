"""What several tests of these sections use: Functions of the module under test, and a comparison."""

from __future__ import annotations

from typing import Any

import pytest


def square(T: Any) -> Any:
    """x * x, with a backward of its own."""

    class Square(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Square


def exponential(T: Any) -> Any:
    """exp(x), which saves what it returns."""

    class Exponential(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            return g * y

    return Exponential


def given(T: Any, backward: Any, forward: Any = None, name: str = "Given") -> Any:
    """A Function of one argument made of two functions."""
    members = {
        "forward": staticmethod(forward or (lambda ctx, x: x * 1)),
        "backward": staticmethod(backward),
    }
    return type(name, (T.autograd.Function,), members)


def same(found: Any, expected: Any) -> None:
    """Equal, nan to nan, to the last digits but a few; lists of lists too."""
    if expected and isinstance(expected[0], list):
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            same(f, e)
    else:
        assert found == pytest.approx(expected, nan_ok=True, rel=1e-12, abs=1e-12)
