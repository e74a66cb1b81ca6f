"""Unsigned integers of 16, 32 and 64 bits: made, converted, promoted, indexed, combined and printed."""

from __future__ import annotations

import operator
from typing import Any

import gradd
import numpy as np
import pytest

NAMES = ("uint16", "uint32", "uint64")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _refused(*types: str) -> str:
    return (
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
        f"{types[0]} and {types[1]}"
    )


def test_a_dtype_says_what_it_is(T: Any, name: str) -> None:
    dtype, bits = getattr(T, name), int(name.removeprefix("uint"))
    assert (repr(dtype), dtype.itemsize, dtype.is_signed) == (f"torch.{name}", bits // 8, False)
    assert (T.iinfo(dtype).min, T.iinfo(dtype).max, T.iinfo(dtype).bits) == (0, 2**bits - 1, bits)
    assert repr(T.iinfo(T.uint16)) == "iinfo(min=0, max=65535, dtype=uint16)"
    assert T.zeros(2, dtype=dtype).type() == f"torch.UInt{bits}Tensor"
    with pytest.raises(RuntimeError, match=f"Unknown Complex ScalarType for UInt{bits}"):
        dtype.to_complex()
    with pytest.raises(TypeError, match="requires a floating point input type"):
        T.finfo(dtype)


def test_values_go_there_and_back(T: Any, name: str) -> None:
    dtype, largest = getattr(T, name), int(np.iinfo(name).max)
    array = np.array([[0, 1], [2, largest]], name)
    found = T.from_numpy(array)
    assert found.dtype is dtype
    assert found.tolist() == array.tolist()
    assert found.numpy().dtype == array.dtype
    assert found[1, 1].item() == largest
    assert repr(found[0]) == f"tensor([0, 1], dtype=torch.{name})"
    assert (
        repr(T.tensor([3, 2], dtype=dtype).view(2, 1)) == f"tensor([[3],\n        [2]], dtype=torch.{name})"
    )
    assert T.full((2,), -3, dtype=dtype).tolist() == [largest - 2] * 2
    assert T.tensor(largest, dtype=dtype).item() == largest


def test_numbers_beyond_are_refused(T: Any) -> None:
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint16_t without overflow"):
        T.full((2,), 1 << 40, dtype=T.uint16)
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        T.tensor([-1], dtype=T.uint64)
    with pytest.raises(TypeError, match="an integer is required"):
        T.tensor([1.5], dtype=T.uint64)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        T.zeros(2, dtype=T.uint16, requires_grad=True)


def test_conversions_wrap(T: Any, name: str) -> None:
    dtype, largest = getattr(T, name), int(np.iinfo(name).max)
    wrapped = T.tensor([-1, -2, 3]).to(dtype)
    assert wrapped.tolist() == [largest, largest - 1, 3]
    assert wrapped.to(T.int64).tolist() == ([-1, -2, 3] if name == "uint64" else [largest, largest - 1, 3])
    assert wrapped.to(T.int16).tolist() == [-1, -2, 3]
    assert wrapped.to(T.bool).tolist() == [True] * 3
    assert T.tensor([2.9]).to(dtype).tolist() == [2]
    assert wrapped[2:].double().tolist() == [3.0]


def test_promotion_knows_floats_alone(T: Any, name: str) -> None:
    dtype, word = getattr(T, name), name.replace("ui", "UI")
    x = T.tensor([0, 1, 2]).to(dtype)
    assert T.promote_types(dtype, dtype) is dtype
    assert T.promote_types(dtype, T.bfloat16) is T.bfloat16
    assert T.result_type(x, 2) is dtype
    assert T.result_type(x, 2.5) is T.float32
    assert T.result_type(x, 1j) is T.complex64
    assert T.result_type(x, T.tensor(3)) is dtype
    assert T.can_cast(T.int64, dtype)
    assert not T.can_cast(T.float32, dtype)
    for other, called in (
        ("int64", "Long"),
        ("uint8", "Byte"),
        ("bool", "Bool"),
        ("complex64", "ComplexFloat"),
    ):
        with pytest.raises(RuntimeError, match=_refused(word, called)):
            T.promote_types(dtype, getattr(T, other))
        with pytest.raises(RuntimeError, match=_refused(word, called)):
            x * T.ones(3, dtype=getattr(T, other))


def test_they_are_combined(T: Any, name: str) -> None:
    dtype, largest = getattr(T, name), int(np.iinfo(name).max)
    x, y = T.tensor([0, 1, 2, 3]).to(dtype), T.tensor([3, 1, 2, 2]).to(dtype)
    for op, want in (
        (operator.mul, [0, 1, 4, 6]), (operator.and_, [0, 1, 2, 2]), (operator.or_, [3, 1, 2, 3]),
        (operator.xor, [3, 0, 0, 1]),
    ):  # fmt: skip
        found = op(x, y)
        assert (found.dtype, found.tolist()) == (dtype, want)
    assert (x * -1).tolist() == [0, largest, largest - 1, largest - 2]
    assert (x == y).tolist() == [False, True, True, False]
    assert (x != 2).tolist() == [True, True, False, True]
    assert (x / 2).dtype is T.float32
    assert (x + 0.5).tolist() == [0.5, 1.5, 2.5, 3.5]
    assert x.sum().item() == 6
    assert (x.sum().dtype, x.prod().dtype) == (T.int64, T.int64)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        x.mul_(1.5)


def test_elements_are_moved(T: Any, name: str) -> None:
    dtype = getattr(T, name)
    x = T.tensor([5, 3, 9, 7]).to(dtype)
    assert x[T.tensor([3, 0])].tolist() == [7, 5]
    assert x[T.tensor([True, False, True, False])].tolist() == [5, 9]
    y = x.clone()
    y[0] = 1
    y[1:3] = T.tensor([4, 6])
    assert y.tolist() == [1, 4, 6, 7]
    assert [v.tolist() for v in x.sort()] == [[3, 5, 7, 9], [1, 0, 3, 2]]
    assert T.cat([x, y]).tolist() == [5, 3, 9, 7, 1, 4, 6, 7]
    assert T.stack([x, y]).dtype is dtype
    assert x.clone().fill_(8).zero_().tolist() == [0] * 4
    assert y.copy_(T.tensor([1.0, 2.0, 3.0, 4.0])).tolist() == [1, 2, 3, 4]
    assert T.equal(x, x.clone())
    assert T.unique(T.cat([x, x])).tolist() == [3, 5, 7, 9]
    assert [10, 20, 30][T.ones((), dtype=dtype)] == 20
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        T.arange(4)[T.ones(2, dtype=dtype)]


def test_bits_are_hashed(T: Any) -> None:
    assert T.hash_tensor(T.tensor([[1, 2], [3, 4]]), dim=1, keepdim=True).tolist() == [[3], [7]]
    found = T.tensor([1.0, 2.0, 3.0]).hash_tensor()
    assert (found.dtype, found.item()) == (T.uint64, 4609434218613702656)
    assert T.hash_tensor(T.tensor(-1, dtype=T.int8)).item() == 2**64 - 1
    with pytest.raises(IndexError, match="Expected reduction dim 1 to have non-zero size"):
        T.hash_tensor(T.zeros(2, 0), 1)


def test_what_pytorch_lacks_is_there() -> None:
    """PyTorch has no kernels for these: "add_stub" not implemented for 'UInt16'."""
    with gradd.connect("local:"):
        x = gradd.tensor([0, 1, 2, 65535], dtype=gradd.uint16)
        assert (x + 1).tolist() == [1, 2, 3, 0]
        assert (x > 1).tolist() == [False, False, True, True]
        assert (~x).tolist() == [65535, 65534, 65533, 0]
        assert x.max().item() == 65535
        assert gradd.arange(3, dtype=gradd.uint32).tolist() == [0, 1, 2]
        assert x.gather(0, gradd.tensor([3])).tolist() == [65535]
