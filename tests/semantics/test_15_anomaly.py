"""§15.2: anomaly detection around code of the user, and the lines that it tells."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def told(T: Any) -> Callable[..., list[str]]:
    """`told(f, kind, message, **options)`: the warnings of `f`, which raises in anomaly mode."""

    def run(f: Callable[[], Any], kind: type[BaseException], message: str, **options: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with T.autograd.set_detect_anomaly(True, **options), pytest.raises(kind) as caught:
                f()
        assert message in str(caught.value)
        return [str(w.message) for w in seen]

    return run


def _own(T: Any, backward: Callable[..., Any]) -> Any:
    """A Function that doubles, with a backward of its own."""

    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Double", (T.autograd.Function,), members)


def _one(texts: list[str], name: str, line: str) -> None:
    (text,) = texts
    assert text.startswith(f"Error detected in {name}. Traceback of forward call that caused the error:\n")
    assert line in text


def test_15_02_a_function_of_the_user(T: Any, leaf: Any, told: Any) -> None:
    function = _own(T, lambda ctx, g: g * float("nan"))

    def run() -> None:
        y = function.apply(leaf())
        y.sum().backward()

    message = "Function 'DoubleBackward' returned nan values in its 0th output."
    _one(told(run, RuntimeError, message), "DoubleBackward", "y = function.apply(leaf())")


def test_15_02_a_function_that_raises(T: Any, leaf: Any, told: Any) -> None:
    def backward(ctx: Any, g: Any) -> Any:
        raise KeyError("here")

    function = _own(T, backward)

    def run() -> None:
        y = function.apply(leaf())
        y.sum().backward()

    for check_nan in (True, False):
        texts = told(run, KeyError, "here", check_nan=check_nan)
        _one(texts, "DoubleBackward", "y = function.apply(leaf())")


def test_15_02_a_hook_that_raises(T: Any, leaf: Any, told: Any) -> None:
    def hook(g: Any) -> None:
        raise KeyError("here")

    def run() -> None:
        y = leaf().exp()
        y.register_hook(hook)
        y.sum().backward()

    _one(told(run, KeyError, "here"), "ExpBackward0", "y = leaf().exp()")


def test_15_02_a_hook_that_makes_a_nan(T: Any, leaf: Any, told: Any) -> None:
    def run() -> None:
        y = leaf().exp()
        y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * float("nan"),))
        y.sum().backward()

    message = "Function 'ExpBackward0' returned nan values in its 0th output."
    _one(told(run, RuntimeError, message), "ExpBackward0", "y = leaf().exp()")


def test_15_02_a_change_in_place(T: Any, leaf: Any, told: Any) -> None:
    def run() -> None:
        y = leaf().exp()
        y.add_(1)
        y.sum().backward()

    message = (
        "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
        "variable in question was changed in there or anywhere later. Good luck!"
    )
    _one(told(run, RuntimeError, message), "ExpBackward0", "y = leaf().exp()")


def test_15_02_second_derivatives_tell_both_lines(T: Any, leaf: Any, told: Any) -> None:
    def run() -> None:
        x = leaf([0.0, 1.0])
        y = x.sqrt()
        (slope,) = T.autograd.grad(y.sum(), x, create_graph=True)
        (slope * 0).sum().backward()

    first, second = told(run, RuntimeError, "Function 'DivBackward0' returned nan values in its 1th output.")
    assert first.startswith("Error detected in DivBackward0. Traceback of forward call that caused the error")
    assert "T.autograd.grad(y.sum(), x, create_graph=True)" in first
    assert second.startswith(
        "\n\nPrevious calculation was induced by SqrtBackward0. Traceback of forward call that induced the "
        "previous calculation:\n"
    )
    assert "y = x.sqrt()" in second


def test_15_02_the_last_line_is_the_users(T: Any, leaf: Any, told: Any) -> None:
    def run() -> None:
        (leaf([0.0]).sqrt() * 0).sum().backward()

    (text,) = told(run, RuntimeError, "SqrtBackward0")
    found = [line for line in text.splitlines() if line.startswith("  File")]
    assert __file__ in found[-1]
    assert found[-1].endswith("in run")


def test_15_02_a_node_keeps_its_lines(T: Any, leaf: Any) -> None:
    with T.autograd.set_detect_anomaly(True):
        y = leaf().exp()
    (lines,) = y.grad_fn.metadata.values()
    assert "y = leaf().exp()" in lines[-1]
    assert not leaf().exp().grad_fn.metadata
