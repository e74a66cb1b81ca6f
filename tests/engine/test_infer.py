"""What `infer` may look at, and what is remembered of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gradd_engine.backward.backward_op  # noqa: F401 - attaches Tensor.backward
import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import dtypes
from gradd_engine.data.layout import Meta, Size
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.ops.elementwise.arithmetic import add, div, mul
from gradd_engine.ops.shared.constants import ones, tensor
from gradd_engine.schema.registry import named
from gradd_engine.tensor.tensor import Tensor

from tests.ops import table
from tests.ops.test_ops import SAMPLES, Case

_OTHER: dict[type, Callable[[Any], Any]] = {
    bool: lambda v: not v,
    int: lambda v: v + 3,
    float: lambda v: -v - 2.5,
    complex: lambda v: v * 2 + 1j,
}


def _told(op: Any, infer: Any, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    try:
        found = infer(*inputs, **attrs)
    except Exception as error:
        return type(error)
    metas: list[Meta] = list(found) if op.many else [found]
    return [(tuple(m.shape), m.dtype, tuple(m.strides), m.offset, m.compute) for m in metas]


def test_infer_takes_of_a_number_in_a_tensors_place_its_kind_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of `infer` keeps the kind of such a number, not its value."""
    looked: list[str] = []
    seen: set[str] = set()

    def watching(op: Any, infer: Any) -> Any:
        def watched(*inputs: Any, **attrs: Any) -> Any:
            found = infer(*inputs, **attrs)
            other = tuple(_OTHER[type(x)](x) if type(x) in _OTHER else x for x in inputs)
            if any(type(x) in _OTHER for x in inputs):
                seen.add(op.name)
                if _told(op, infer, other, attrs) != _told(op, infer, inputs, attrs):
                    looked.append(op.name)
            return found

        return watched

    for op in REGISTRY.values():
        if op.infer is not None and any("Number" in p.kind for p in op.tensor_params):
            monkeypatch.setattr(op, "infer", watching(op, op.infer))
            op.caches.known.clear()
            if op.caches.inferred is not None:
                op.caches.inferred.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, samples in SAMPLES.items():
            for number, sample in enumerate(samples):
                case = Case(key, number, sample)
                try:
                    case.ours(case.our_tensors())
                except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError):
                    continue
    assert not looked
    assert len(seen) > 20


def test_the_default_dtype_is_part_of_what_is_remembered() -> None:
    whole = tensor([1, 2])
    assert div(whole, 2).dtype is dtypes.float32
    dtypes.set_default_dtype(dtypes.float64)
    try:
        assert div(whole, 2).dtype is dtypes.float64
        assert mul(whole, 2.0).dtype is dtypes.float64
    finally:
        dtypes.set_default_dtype(dtypes.float32)
    assert mul(whole, 2.0).dtype is dtypes.float32


def test_equal_numbers_of_different_kinds_are_told_apart() -> None:
    whole = tensor([1, 2])
    assert [add(whole, n).dtype for n in (1, True, 1.0, 1)] == [dtypes.int64] * 2 + [
        dtypes.float32,
        dtypes.int64,
    ]
    with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results"):
        add(whole, whole, alpha=True)
    assert add(whole, whole, alpha=1).array.tolist() == [2, 4]


def test_sizes_are_remembered_however_they_are_given() -> None:
    view, x = REGISTRY["view"], tensor(np.arange(6.0))
    view.caches.known.clear()
    for size in ([2, 3], (2, 3), Size((2, 3)), [-1, 3], [3, 2]):
        assert view(x, size).shape == ((3, 2) if size == [3, 2] else (2, 3))
    assert len(view.caches.known) == 3
    assert view(x, [np.int64(3), 2]).shape == (3, 2)
    with pytest.raises(RuntimeError, match="invalid for input of size 6"):
        view(x, [4, 2])
    assert len(view.caches.known) == 3


def test_memory_of_geometries_is_bounded() -> None:
    for n in range(1, 1200):
        mul(ones([n]), 2.0)
    assert len(mul.caches.known) <= 512
    assert mul(ones([3]), 2.0).shape == (3,)


def test_every_plain_op_is_called_by_its_own_signature() -> None:
    assert table.lookup("add") is add.call
    with pytest.raises(TypeError, match="add\\(\\) missing 1 required positional argument"):
        add(ones([1]))
    with pytest.raises(TypeError, match="argument 'other' \\(position 2\\) must be Tensor, not str"):
        add(ones([1]), "2")


def test_no_result_is_laid_out_backwards() -> None:
    a = np.arange(6.0)
    whole = NUMPY.from_array(a)
    array = np.lib.stride_tricks.as_strided(a[2:], (2, 3), (24, -8))
    backwards = Tensor._made(NUMPY, whole._storage, Size((2, 3)), (3, -1), 2, whole.dtype, array)
    with pytest.raises(RuntimeError, match="negative strides are not supported"):
        named.as_strided_scatter(backwards, tensor([0.0]), [1], [1], 0)


@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 0), ((0, 3), 0), ((2, 3), -1), ((), 0)])
def test_only_a_dimension_of_size_1_is_squeezed(shape: tuple[int, ...], dim: int) -> None:
    assert named.squeezed_product(ones([2, 1]), -1).shape == (2,)
    with pytest.raises(RuntimeError, match="not of size 1"):
        named.squeezed_product(ones(list(shape)), dim)
