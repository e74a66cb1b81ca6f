"""What random tensors refuse, and what is drawn at the edges of what numbers can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize("weights", [[1e308, 1e308, 0], [5e-324, 0, 0], [0, 5e-324, 0], [1e-45, 1, 0]])
def test_a_category_without_weight_is_never_drawn(T: Any, weights: list[float]) -> None:
    found = T.multinomial(T.tensor(weights, dtype=T.float64), 64, True)
    assert {weights[i] for i in found.tolist()} <= set(weights) - {0}


def test_no_rows_of_weights(T: Any) -> None:
    assert tuple(T.multinomial(T.ones(0, 3), 2, True).shape) == (0, 2)
    assert T.multinomial(T.ones(0, 3), 2, True).tolist() == []
    assert T.multinomial(T.ones(0, 3), 2).tolist() == []


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "uint8": (lambda T: T.randint(0, 257, (2,), dtype=T.uint8), "to - 1 is out of bounds for unsigned char"),
    "int8": (lambda T: T.randint(-129, 0, (2,), dtype=T.int8), "from is out of bounds for signed char"),
    "bool": (lambda T: T.randint(3, (2,), dtype=T.bool), "to - 1 is out of bounds for bool"),
    "float16": (lambda T: T.randint(65506, (2,), dtype=T.half), "to - 1 is out of bounds for c10::Half"),
    "complex": (lambda T: T.randint(2, (2,), dtype=T.complex64), "check_random_bounds handles only"),
    "like": (lambda T: T.randint_like(T.ones(2, dtype=T.int16), 1 << 16), "to - 1 is out of bounds for"),
    "in place": (
        lambda T: T.zeros(2, dtype=T.uint16).random_(-1, 2),
        "from is out of bounds for short unsigned int",
    ),
    "permutation": (lambda T: T.randperm(257, dtype=T.uint8), "value cannot be converted to type uint8_t"),
    "half": (lambda T: T.randperm(2050, dtype=T.half), "n cannot be greater than 2049 for Half type"),
    "deviation": (lambda T: T.normal(T.ones(2), -1.0), "normal expects std >= 0.0, but found std -1"),
    "deviations": (
        lambda T: T.normal(0.0, T.tensor([1.0, -1.0])).tolist(),
        "normal expects all elements of std >= 0.0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_drawn_is_refused(T: Any, name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises(RuntimeError, match=words):
        call(T)


def test_the_largest_that_can_be(T: Any) -> None:
    assert T.randint(0, 256, (64,), dtype=T.uint8).dtype is T.uint8
    assert T.randint(-128, 128, (64,), dtype=T.int8).dtype is T.int8
    assert sorted(T.randperm(256, dtype=T.uint8).tolist()) == list(range(256))
    assert T.normal(T.ones(2), T.zeros(2)).tolist() == [1, 1]
    assert T.normal(T.ones(0), T.ones(0)).tolist() == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1.0, float("nan")], 1e30])
def test_no_integer_is_made_of_what_is_none(T: Any, value: Any) -> None:
    with pytest.raises(RuntimeError, match=r"^value cannot be converted to type int32 without overflow$"):
        T.tensor(value, dtype=T.int32)
    assert T.tensor(value, dtype=T.bool).all()
