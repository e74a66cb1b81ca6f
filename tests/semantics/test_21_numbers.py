"""§21.3: Python numbers that go into tensors, and those that no element can hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

Storing = Callable[[Any, Any, Any], Any]

#: what puts a number into (a copy of) a tensor of two elements
STORING: dict[str, Storing] = {
    "fill_": lambda T, x, v: x.fill_(v),
    "full": lambda T, x, v: T.full((2,), v, dtype=x.dtype),
    "full_like": lambda T, x, v: T.full_like(x, v),
    "new_full": lambda T, x, v: x.new_full((2,), v),
    "masked_fill": lambda T, x, v: x.masked_fill(T.tensor([True, True]), v),
    "index_fill": lambda T, x, v: x.index_fill(0, T.tensor([0, 1]), v),
    "scatter": lambda T, x, v: x.scatter(0, T.tensor([0, 1]), v),
}
NAMES = {
    "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "complex64": "c10::complex<float>",
}  # fmt: skip


def message(dtype: str) -> str:
    return f"value cannot be converted to type {NAMES[dtype]} without overflow"


@pytest.mark.parametrize("name", STORING)
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("uint8", 300), ("uint8", -300), ("uint8", math.nan), ("int8", -129), ("int16", 7e4),
        ("int32", 1 << 40), ("int64", math.inf), ("float16", -1e9), ("bfloat16", 1e40),
        ("float32", 1e40), ("complex64", 1e40),
    ],
)  # fmt: skip
def test_21_03_numbers_that_do_not_fit(T: Any, raises: Any, name: str, dtype: str, value: float) -> None:
    x = T.zeros(2, dtype=getattr(T, dtype))
    with raises(RuntimeError, message(dtype)):
        STORING[name](T, x, value)
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize("name", STORING)
def test_21_03_what_fits_is_stored(T: Any, name: str) -> None:
    store = STORING[name]
    for dtype, value, expected in [
        ("uint8", -1, 255),
        ("uint8", -255, 1),
        ("int8", -128, -128),
        ("float32", math.inf, math.inf),
        ("float16", 65504.0, 65504.0),
        ("bool", 2.5, True),
    ]:
        assert store(T, T.zeros(2, dtype=getattr(T, dtype)), value).tolist() == [expected] * 2
    if name != "index_fill":
        assert store(T, T.zeros(2, dtype=T.int64), 3 + 0j).tolist() == [3, 3]
        assert store(T, T.zeros(2, dtype=T.bool), 2j).tolist() == [True, True]


@pytest.mark.parametrize("name", [n for n in STORING if n != "index_fill"])
def test_21_03_complex_numbers_do_not_fit_real_tensors(T: Any, raises: Any, name: str) -> None:
    for dtype in ("int64", "float32", "float64"):
        with raises(RuntimeError, message(dtype)):
            STORING[name](T, T.zeros(2, dtype=getattr(T, dtype)), 1j)


def test_21_03_index_fill_takes_no_complex_number_for_real_tensors(T: Any, raises: Any) -> None:
    with raises(
        RuntimeError, "index_fill_(): Converting complex Scalar to non-complex type is not supported"
    ):
        T.zeros(2).index_fill(0, T.tensor([0]), 1 + 0j)


def test_21_03_square_brackets(T: Any, raises: Any) -> None:
    x = T.zeros(2, dtype=T.int8)
    with raises(RuntimeError, message("int8")):
        x[0] = 300
    with raises(RuntimeError, message("float32")):
        T.zeros(2)[0] = 1j
    half = T.zeros(2, dtype=T.float16)
    half[0] = 1e9
    assert (x.tolist(), half.tolist()) == ([0, 0], [math.inf, 0.0])


def test_21_03_operands_that_do_not_fit_the_result(T: Any, raises: Any) -> None:
    x = T.zeros(2, dtype=T.uint8)
    for refused in (
        lambda: T.where(T.tensor([True, False]), x, 300),
        lambda: x.clamp(max=300),
        lambda: x.clamp_min(300),
        lambda: T.threshold(x, 0, 300),
        lambda: T.nn.functional.pad(x, (0, 1), value=300),
        lambda: T.add(x, x, alpha=300),
        lambda: T.addcmul(x, x, x, value=300),
        lambda: x**300,
    ):
        with raises(RuntimeError, message("uint8")):
            refused()
    with raises(RuntimeError, message("float32")):
        T.lerp(T.zeros(2), T.ones(2), 1e40)
    with raises(RuntimeError, message("float32")):
        T.addmm(T.zeros(2, 2), T.zeros(2, 2), T.zeros(2, 2), beta=1j)
    with raises(RuntimeError, "For non-complex input tensors, argument alpha must not be a complex number."):
        T.add(T.zeros(2), T.zeros(2), alpha=1j)
    assert (x + 300).tolist() == [44, 44]
    assert T.sub(x, x + 1, alpha=-1).tolist() == [1, 1]
    assert (300**x).tolist() == [1, 1]
    assert x.clamp(max=-1).tolist() == [0, 0]


def test_21_03_a_session_goes_on_after_them(T: Any, raises: Any) -> None:
    x = T.zeros(2, dtype=T.int32, requires_grad=False)
    y = T.ones(2, requires_grad=True)
    loss = (y * y).sum()
    with raises(RuntimeError, message("int32")):
        x.fill_(1e300)
    loss.backward()
    assert (y.grad.tolist(), x.tolist()) == ([2.0, 2.0], [0, 0])
