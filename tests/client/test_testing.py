"""gradd.testing.assert_close: it passes and fails where torch's does, in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def _one(T: Any, *values: float, **options: Any) -> Any:
    return T.tensor(values, **options)


CASES: dict[str, tuple[Callable[[Any], tuple[Any, Any]], dict[str, Any]]] = {
    "the same": (lambda T: (_one(T, 1.0, 2.0), _one(T, 1.0, 2.000001)), {}),
    "far": (lambda T: (_one(T, 1.0, 2.0, 3.0), _one(T, 1.0, 2.5, 3.001)), {}),
    "a matrix": (lambda T: (T.ones(2, 3), T.arange(6.0).view(2, 3)), {}),
    "tolerances": (lambda T: (_one(T, 1.0), _one(T, 1.05)), {"rtol": 0.1, "atol": 0.0}),
    "exact": (lambda T: (_one(T, 1.0), _one(T, 1.0625)), {"rtol": 0, "atol": 0}),
    "one tolerance": (lambda T: (_one(T, 1.0), _one(T, 1.05)), {"rtol": 0.1}),
    "integers": (lambda T: (T.tensor([1, 2, 7]), T.tensor([1, 3, 3])), {}),
    "truths": (lambda T: (T.tensor([True, False]), T.tensor([True, True])), {}),
    "0-dim": (lambda T: (T.tensor(1.0), T.tensor(1.5)), {}),
    "of zero": (lambda T: (_one(T, 1.0), _one(T, 0.0)), {}),
    "nan": (lambda T: (_one(T, float("nan")), _one(T, float("nan"))), {}),
    "equal nan": (lambda T: (_one(T, float("nan")), _one(T, float("nan"))), {"equal_nan": True}),
    "infinities": (lambda T: (_one(T, float("inf")), _one(T, float("inf"))), {}),
    "complex": (lambda T: (T.tensor([1 + 1j]), T.tensor([1 + 2j])), {}),
    "shapes": (lambda T: (T.ones(2), T.ones(2, 1)), {}),
    "dtypes": (lambda T: (T.ones(2), T.ones(2, dtype=T.float64)), {}),
    "other dtypes": (lambda T: (T.ones(2), T.ones(2, dtype=T.float64)), {"check_dtype": False}),
    "strides": (lambda T: (T.ones(2, 3).t(), T.ones(3, 2)), {"check_stride": True}),
    "with gradients": (lambda T: (T.ones(2, requires_grad=True), T.ones(2)), {}),
    "subclasses": (lambda T: (T.nn.Parameter(T.ones(2)), T.ones(2)), {}),
    "numbers": (lambda T: (1.0, 1.1), {}),
    "close numbers": (lambda T: (1.0, 1.0 + 1e-9), {}),
    "an integer and a float": (lambda T: (1, 1.0), {}),
    "number types": (lambda T: (1, 1.0), {"check_dtype": False}),
    "booleans": (lambda T: (True, False), {}),
    "nothing": (lambda T: (None, None), {}),
    "nothing and a number": (lambda T: (None, 1.0), {}),
    "lists": (lambda T: ([T.ones(1), T.zeros(1)], [T.ones(1), T.ones(1)]), {}),
    "lengths": (lambda T: ([T.ones(1)], []), {}),
    "dicts": (lambda T: ({"a": {"b": (1.0, 2.0)}}, {"a": {"b": (1.0, 3.0)}}), {}),
    "keys": (lambda T: ({"a": 1.0, "c": 2.0}, {"a": 1.0, "b": 2.0}), {}),
    "a string": (lambda T: ("a", "a"), {}),
    "arrays": (lambda T: (np.ones(2), np.array([1.0, 2.0])), {}),
    "a message": (lambda T: (1.0, 2.0), {"msg": "no"}),
    "a longer message": (lambda T: ([1.0], [2.0]), {"msg": lambda text: f"<{text}>"}),
}


def outcome(T: Any, name: str) -> tuple[str, str]:
    make, options = CASES[name]
    try:
        T.testing.assert_close(*make(T), **options)
    except Exception as error:
        return type(error).__name__, str(error)
    return "passed", ""


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_the_oracles_verdicts_and_words(torch: Any, name: str) -> None:
    assert outcome(gradd, name) == outcome(torch, name)


def test_types_that_do_not_go_together() -> None:
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        gradd.testing.assert_close(gradd.ones(1), [1.0])
    with pytest.raises(TypeError, match="No comparison pair"):
        gradd.testing.assert_close(gradd.nn.Parameter(gradd.ones(1)), gradd.ones(1), allow_subclasses=False)


def _made(T: Any, *shape: Any, **options: Any) -> Any:
    found = T.testing.make_tensor(*shape, device="cpu", **options)
    return tuple(found.shape), str(found.dtype), found.stride(), found.requires_grad


TRIED: dict[str, Callable[[Any], Any]] = {
    "sizes": lambda T: _made(T, 2, 3, dtype=T.float32),
    "a sequence": lambda T: _made(T, (2, 3), dtype=T.int64),
    "gaps": lambda T: _made(T, 2, 3, dtype=T.float64, noncontiguous=True, requires_grad=True),
    "a format": lambda T: _made(T, 1, 2, 3, 3, dtype=T.float32, memory_format=T.channels_last),
    "one number": lambda T: T.testing.make_tensor(2, dtype=T.int64, device="cpu", low=3, high=4).tolist(),
    "rounded": lambda T: T.testing.make_tensor(2, dtype=T.int64, device="cpu", low=2.5, high=3.5).tolist(),
    "no dtype": lambda T: _made(T, 2, dtype="x"),
    "turned round": lambda T: _made(T, 2, dtype=T.float32, low=3, high=1),
    "empty": lambda T: _made(T, 2, dtype=T.int64, low=3, high=3),
    "out of range": lambda T: _made(T, 2, dtype=T.bool, low=2, high=5),
    "nan": lambda T: _made(T, 2, dtype=T.float32, low=float("nan")),
    "integers with gradients": lambda T: _made(T, 2, dtype=T.int64, requires_grad=True),
    "both": lambda T: _made(
        T, 2, dtype=T.float32, noncontiguous=True, memory_format=T.contiguous_format
    ),
}  # fmt: skip


def tried(T: Any, name: str) -> Any:
    try:
        return TRIED[name](T)
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.oracle
@pytest.mark.parametrize("name", TRIED)
def test_tensors_to_try_things_with(oracle: Any, name: str) -> None:
    assert tried(gradd, name) == oracle(lambda torch: tried(torch, name))


@pytest.mark.parametrize("dtype", [gradd.float32, gradd.complex64, gradd.int8, gradd.uint8, gradd.bool])
def test_what_is_drawn_lies_in_the_interval(dtype: Any) -> None:
    numbers = gradd.testing.make_tensor(64, dtype=dtype, device="cpu", low=0, high=2)
    parts = gradd.view_as_real(numbers) if dtype.is_complex else numbers
    assert 0 <= float(parts.min()) <= float(parts.max()) < 2
    assert len(parts.unique()) > 1
    assert bool((gradd.testing.make_tensor(64, dtype=dtype, device="cpu", exclude_zero=True) != 0).all())


def test_equal_ends_are_deprecated() -> None:
    with pytest.warns(FutureWarning, match="low==high"):
        found = gradd.testing.make_tensor(2, dtype=gradd.float32, device="cpu", low=3, high=3)
    assert found.tolist() == [3, 3]
