"""Python's operators on tensors: the same results, graphs and refusals as the oracle's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine.tensor.tensor import Tensor

from tests.ops.table import ours, theirs, to_numpy

FLOATS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
IN_PLACE = [
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod,
    operator.ipow,
]  # fmt: skip
A, B = np.array([1.5, 2.5, 0.5]), np.array([0.7, 1.0, 2.0])
M, N = np.array([5, 3, 8]), np.array([1, 2, 3])


def agree(got: Any, want: Any) -> None:
    assert isinstance(got, Tensor)
    assert str(got.dtype) == str(want.dtype)
    np.testing.assert_allclose(to_numpy(got), to_numpy(want))


@pytest.mark.oracle
@pytest.mark.parametrize("op", [*FLOATS, *COMPARISONS])
def test_floats(torch: Any, op: Callable[[Any, Any], Any]) -> None:
    agree(op(ours(A), ours(B)), op(theirs(torch, A), theirs(torch, B)))
    agree(op(ours(A), 2), op(theirs(torch, A), 2))
    agree(op(2.5, ours(B)), op(2.5, theirs(torch, B)))


@pytest.mark.oracle
@pytest.mark.parametrize("op", [*FLOATS, *BITS, *COMPARISONS])
def test_integers(torch: Any, op: Callable[[Any, Any], Any]) -> None:
    agree(op(ours(M), ours(N)), op(theirs(torch, M), theirs(torch, N)))
    agree(op(ours(M), 2), op(theirs(torch, M), 2))
    agree(op(3, ours(N)), op(3, theirs(torch, N)))


@pytest.mark.parametrize("op", [operator.neg, operator.abs, operator.pos])
def test_signs(op: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(to_numpy(op(ours(-A))), op(-A))
    np.testing.assert_array_equal(to_numpy(~ours(M)), ~M)


@pytest.mark.parametrize("op", IN_PLACE)
def test_in_place_forms_keep_the_tensor(op: Callable[[Any, Any], Any]) -> None:
    x = y = ours(A.copy())
    x = op(x, ours(B))
    assert x is y
    assert x._version == 1
    np.testing.assert_allclose(to_numpy(x), op(A.copy(), B))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda x: 1 - x, "RsubBackward1"),
        (lambda x: 2 / x, "MulBackward0"),
        (lambda x: x**2, "PowBackward0"),
        (lambda x: x**x, "PowBackward1"),
        (lambda x: 2**x, "PowBackward2"),
        (lambda x: x // 2, "torch::autograd::NotImplemented"),
    ],
)
def test_nodes(make: Callable[[Any], Any], name: str) -> None:
    assert make(ours(A, grad=True)).grad_fn.name() == name


@pytest.mark.parametrize("op", [*FLOATS, *BITS, operator.matmul, operator.lt, *IN_PLACE])
def test_foreign_operands_are_refused(op: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"unsupported operand|not supported|can't multiply"):
        op(ours(A), "text")


def test_foreign_operands_may_answer_themselves() -> None:
    class Other:
        def __radd__(self, x: Any) -> str:
            return f"added to a {type(x).__name__}"

    assert ours(A) + Other() == "added to a Tensor"
    assert (ours(A) == "text") is False
    assert (ours(A) != None) is True  # noqa: E711 - the comparison itself is tested


def test_reflected_names() -> None:
    np.testing.assert_allclose(to_numpy(ours(A).__rdiv__(2.0)), 2.0 / A)
    assert ours(A).__rmatmul__(ours(B)).shape == ()


def test_numpy_scalars_are_numbers() -> None:
    x = ours(A.astype(np.float32))
    assert str((x * np.float64(2)).dtype) == "torch.float32"
    assert str((np.float64(2) * x).dtype) == "torch.float32"
    np.testing.assert_array_equal(to_numpy(x + np.int64(1)), A.astype(np.float32) + 1)


def test_floor_division_has_no_derivative() -> None:
    from gradd_engine.backward.backward_op import backward_op

    y = ours(A, grad=True) // 2
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        backward_op([y], [ours(B)])
