"""What a device finds wrong is told where values are fetched, and nobody waits for it before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd.nn import functional
from gradd_engine.data import Doubts, ambient, holds, noting, within

from tests import standin
from tests.standin.sessions import sessions_there

xp = standin.CUPY


@pytest.fixture
def session() -> Iterator[Any]:
    with sessions_there(), gradd.connect("local:") as made:
        yield made


def _index(*values: int) -> Any:
    return gradd.tensor(list(values))


#: from tensors that the session has: a result that is wrong, the error and how its message begins
WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "index": (lambda: gradd.ones(3)[_index(1, 9)], IndexError, "index 9 is out of bounds for dimension 0"),
    "below": (lambda: gradd.ones(3)[_index(1, -4)], IndexError, "index -4 is out of bounds for dimension 0"),
    "gather": (lambda: gradd.ones(3).gather(0, _index(3)), RuntimeError, "index 3 is out of bounds"),
    "scatter": (
        lambda: gradd.zeros(3).scatter_add(0, _index(-1), gradd.ones(1)),
        RuntimeError,
        "index -1 is out of bounds",
    ),
    "take": (lambda: gradd.ones(3).take(_index(7)), IndexError, "out of range: tried to access index 7"),
    "embedding": (
        lambda: functional.embedding(_index(0, 5), gradd.ones(5, 2)),
        IndexError,
        "index out of range in self (in embedding, ",
    ),
    "target": (
        lambda: functional.cross_entropy(gradd.ones(2, 3), _index(0, 3)),
        IndexError,
        "Target 3 is out of bounds. (in nll_loss, ",
    ),
    "bce": (
        lambda: functional.binary_cross_entropy(gradd.full((2,), 1.5), gradd.ones(2)),
        RuntimeError,
        "all elements of input should be between 0 and 1",
    ),
    "division": (lambda: gradd.ones(2).long() // gradd.zeros(2).long(), RuntimeError, "ZeroDivisionError"),
    "bernoulli": (lambda: gradd.full((2,), 1.5).bernoulli(), RuntimeError, "Expected p_in >= 0"),
}


def test_another_session_is_not_told(session: Any) -> None:
    gradd.ones(3)[_index(9)]
    session.flush()
    with gradd.connect("local:"):
        assert gradd.ones(2).sum().item() == 2
    with pytest.raises(IndexError):
        gradd.ones(2).sum().item()


def test_ignored_targets_and_padding_are_nothing_wrong(session: Any) -> None:
    scores = gradd.zeros(3, 2, requires_grad=True)
    loss = functional.cross_entropy(scores, _index(1, -100, 0))
    assert loss.item() == pytest.approx(np.log(2))
    table = gradd.ones(4, 2, requires_grad=True)
    functional.embedding(_index(1, 2, 2), table, padding_idx=2, scale_grad_by_freq=True).sum().backward()
    assert table.grad.tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]


def test_the_first_check_that_failed_is_told() -> None:
    doubts = Doubts()
    with ambient(doubts=doubts):
        within(xp.asarray([1, 2]), 0, 3, IndexError, "first {}", "a")
        holds(xp.asarray([False, True]), ValueError, "{second}", "b")
        within(xp.asarray([-7, 2]), -3, 3, RuntimeError, "third {}", "c")
        within(xp.asarray([-8, 2]), -3, 3, RuntimeError, "third {}", "c")
    with pytest.raises(ValueError, match=r"^\{second\} \(in b,"):
        doubts.settle(close=False)
    with pytest.raises(ValueError, match="second"):
        doubts.settle()
    doubts.settle()
    with ambient(doubts=doubts):
        within(xp.asarray([-7, 2], np.int32), -3, 3, RuntimeError, "third {}", "c")
    with pytest.raises(RuntimeError, match=r"^third -7 \(in c,"):
        doubts.settle()


def test_a_word_serves_on_until_it_says_something() -> None:
    doubts = Doubts()

    def noted(index: int | None) -> Any:
        with ambient(doubts=doubts), noting(xp, 5, IndexError, "no {}", "a") as word:
            if index is not None:
                word[:] = xp.asarray([1, index])
        return word

    first = noted(None)
    doubts.settle()
    assert noted(None) is first
    with ambient(doubts=doubts):
        within(xp.asarray([4]), 0, 5, IndexError, "no {}", "a")
    doubts.settle()
    noted(-2)
    noted(None)
    for close in (False, True):
        with pytest.raises(IndexError, match=r"^no -2 \(in a,"):
            doubts.settle(close=close)
    with ambient(doubts=doubts):
        within(xp.asarray([7]), 0, 5, IndexError, "no {}", "a")
    assert noted(None) is not first
    with pytest.raises(IndexError, match=r"^no 7 \(in a,"):
        doubts.settle()
    noted(None)
    doubts.settle()
    with pytest.raises(IndexError, match=r"^no 9$"), noting(xp, 5, IndexError, "no {}", "a") as word:
        word[:] = xp.asarray([1, 9])


def test_without_somebody_to_tell_it_is_told_at_once() -> None:
    for index in (xp.asarray([5]), np.array([5])):
        with pytest.raises(IndexError, match=r"^no 5$"):
            within(index, 0, 5, IndexError, "no {}", "a")
        with pytest.raises(ValueError, match=r"^no$"):
            holds(index > 4, ValueError, "no", "a")
    with ambient(doubts=Doubts()), pytest.raises(IndexError, match=r"^no 5$"):
        within(np.array([5]), 0, 5, IndexError, "no {}", "a")
