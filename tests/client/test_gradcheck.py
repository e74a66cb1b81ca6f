"""gradcheck through a session: how few messages it takes, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest
from gradd.autograd import GradcheckError, gradcheck, gradgradcheck
from gradd_engine.backends.array import NUMPY


@pytest.fixture(params=["stream", "http"])
def session(request: pytest.FixtureRequest, daemon: str) -> Any:
    with gradd.connect(daemon, transport=request.param) as session:
        yield session


def round_trips(session: Any, work: Callable[[], Any]) -> int:
    before = session.stats()["round_trips"]
    work()
    return int(session.stats()["round_trips"] - before)


def double(*shape: int) -> Any:
    return (gradd.arange(1.0, 1.0 + gradd.zeros(shape).numel()) / 3).double().view(*shape).requires_grad_()


def test_a_check_is_one_round_trip(session: Any) -> None:
    x, w = double(3, 4), double(4, 2)

    def f(x: Any, w: Any) -> Any:
        return (x @ w).tanh(), x.softmax(0), w.sum()

    assert round_trips(session, lambda: gradcheck(f, (x, w))) == 1
    assert round_trips(session, lambda: gradcheck(f, (x, w), fast_mode=True)) == 1
    assert round_trips(session, lambda: gradgradcheck(f, (x, w))) == 1


def test_a_large_jacobian_is_one_more(session: Any) -> None:
    """Of 160,000 elements, several times over: its bytes are read by a request of their own."""
    x = double(40, 10)
    assert round_trips(session, lambda: gradcheck(lambda x: x * x.sum(0), (x,))) == 2


def test_failing_is_not_dearer(session: Any) -> None:
    x = double(3)

    def wrong(x: Any) -> Any:
        return x * x.detach()

    def fails(**options: Any) -> None:
        with pytest.raises(GradcheckError, match="Jacobian mismatch"):
            gradcheck(wrong, (x,), **options)

    assert round_trips(session, fails) == 1
    assert round_trips(session, lambda: gradcheck(wrong, (x,), raise_exception=False)) == 1
    # The second one brings the whole Jacobians that the message shows.
    assert round_trips(session, lambda: fails(fast_mode=True)) == 2


def test_the_random_stream_is_left_alone(session: Any) -> None:
    x = double(3)
    gradd.manual_seed(3)
    expected = gradd.rand(2).tolist()
    gradd.manual_seed(3)
    gradgradcheck(lambda x: x * x, (x,))
    assert gradd.rand(2).tolist() == expected


def test_a_function_that_raises_leaves_its_inputs(session: Any) -> None:
    x = double(3)
    calls = []

    def later(x: Any) -> Any:
        calls.append(0)
        if len(calls) == 3:
            raise OSError("the third call fails")
        return x * x

    before = x.tolist()
    with pytest.raises(OSError, match="third"):
        gradcheck(later, (x,))
    assert x.tolist() == before


def test_a_verdict_comes_before_a_later_error(session: Any) -> None:
    """As in PyTorch, where the Jacobians are compared before the function is called for the last time."""
    x = double(2)
    calls = []

    def f(x: Any) -> Any:
        calls.append(0)
        if len(calls) == 6:
            raise OSError("the last call fails")
        return x * x.detach()

    with pytest.raises(GradcheckError, match="mismatch"):
        gradcheck(f, (x,))
    assert len(calls) == 6


def test_tensors_of_the_engine_are_checked_where_they_are() -> None:
    from gradd_engine.check.gradcheck import gradcheck as check

    x = NUMPY.from_array(np.array([1.0, 2.0]))
    x.requires_grad = True
    assert check(lambda x: x * x, (x,))
    with pytest.raises(GradcheckError, match="mismatch"):
        check(lambda x: x * x.detach(), (x,))
