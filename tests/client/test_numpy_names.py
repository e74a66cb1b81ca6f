"""`axis` and `keepdims`: NumPy's names of `dim` and `keepdim`, which PyTorch takes too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda T, x: x.sum(axis=0),
    "mean": lambda T, x: x.mean(axis=1, keepdims=True),
    "sum of a function": lambda T, x: T.sum(x, axis=(0, 1), keepdims=True),
    "max": lambda T, x: x.max(axis=1).indices,
    "amax": lambda T, x: T.amax(x, axis=0),
    "argmax": lambda T, x: x.argmax(axis=1, keepdims=True),
    "std": lambda T, x: x.std(axis=0),
    "cumsum": lambda T, x: x.cumsum(axis=1),
    "cumsum in place": lambda T, x: x.clone().cumsum_(axis=1),
    "softmax": lambda T, x: x.softmax(axis=1),
    "all": lambda T, x: (x > 1).all(axis=0),
    "sort": lambda T, x: x.sort(axis=0, descending=True).values,
    "unsqueeze": lambda T, x: x.unsqueeze(axis=1),
    "cat": lambda T, x: T.cat([x, x], axis=1),
    "stack": lambda T, x: T.stack([x, x], axis=2),
    "into out": lambda T, x: T.sum(x, axis=0, out=T.zeros(3)),
}
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "twice": lambda T, x: x.sum(0, axis=1),
    "twice by name": lambda T, x: x.max(dim=1, axis=1),
    "neither": lambda T, x: x.cumsum(),
    "a function of Python": lambda T, x: T.split(x, 1, axis=0),
    "a module's function": lambda T, x: T.nn.functional.softmax(x, axis=0),
}


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "torch":
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd


def matrix(T: Any) -> Any:
    return T.tensor([[0.5, 2.0, -1.0], [3.0, -4.0, 5.5]])


@pytest.mark.oracle
@pytest.mark.parametrize("name", CALLS)
def test_they_mean_the_same(torch: Any, name: str) -> None:
    with gradd.connect("local:"):
        found, wanted = CALLS[name](gradd, matrix(gradd)), CALLS[name](torch, matrix(torch))
        assert repr(found) == repr(wanted)


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_both_names_or_none_are_refused(name: str, T: Any) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'axis'|missing 1 required|axis"):
        REFUSED[name](T, matrix(T))


def test_the_message_is_pytorchs() -> None:
    with gradd.connect("local:"):
        with pytest.raises(TypeError, match=r"^sum\(\) got an unexpected keyword argument 'axis'$"):
            gradd.ones(2, 2).sum(0, axis=1)
        with pytest.raises(TypeError, match=r'^cumsum\(\) missing 1 required positional arguments: "dim"$'):
            gradd.ones(2).cumsum()


def test_a_result_by_keyword_is_stored_in_out() -> None:
    with gradd.connect("local:"):
        x, y = gradd.ones(2, 3), gradd.zeros(2, 2)
        assert gradd.matmul(x, x.t(), out=y) is y
        assert y.tolist() == [[3.0, 3.0], [3.0, 3.0]]
        assert x.flip(dims=(0, 1)).shape == (2, 3)
