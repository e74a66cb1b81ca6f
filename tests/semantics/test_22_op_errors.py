"""§22.1: the messages of operations that are called wrongly, at the call itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

ERRORS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "broadcast": (
        lambda T: T.ones(2) + T.ones(3),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    "mm": (
        lambda T: T.ones(2, 3) @ T.ones(2, 3),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    ),
    "view": (lambda T: T.ones(4).view(3), RuntimeError, "shape '[3]' is invalid for input of size 4"),
    "view_of_strides": (
        lambda T: T.ones(2, 3).t().view(6),
        RuntimeError,
        "view size is not compatible with input tensor's size and stride …",
    ),
    "dimension": (
        lambda T: T.ones(2).sum(3),
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 3)",
    ),
    "index": (lambda T: T.ones(2)[5], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    "indices": (lambda T: T.ones(2)[0, 0], IndexError, "too many indices for tensor of dimension 1"),
    "cat": (
        lambda T: T.cat([T.ones(2, 2), T.ones(2, 3)]),
        RuntimeError,
        "Sizes of tensors must match except in dimension 0. …",
    ),
    "empty_max": (
        lambda T: T.max(T.ones(0)),
        RuntimeError,
        "max(): Expected reduction dim to be specified for input.numel() == 0. …",
    ),
    "square": (
        lambda T: T.linalg.inv(T.ones(2, 3)),
        RuntimeError,
        "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices",
    ),
    "argument": (
        lambda T: T.linalg.inv(3),
        TypeError,
        "linalg_inv(): argument 'A' (position 1) must be Tensor, not int",
    ),
    "of_a_function": (
        lambda T: T.transpose(T.ones(2, 3), 0, "a"),
        TypeError,
        "transpose(): argument 'dim1' (position 3) must be int, not str",
    ),
    "of_a_method": (
        lambda T: T.ones(2, 3).transpose(0, "a"),
        TypeError,
        "transpose(): argument 'dim1' (position 2) must be int, not str",
    ),
    "tensor_of_a_method": (
        lambda T: T.ones(2, 3).gather(0, "a"),
        TypeError,
        "gather(): argument 'index' (position 2) must be Tensor, not str",
    ),
    "in_place": (
        lambda T: T.ones(2, 3).cumsum_("a"),
        TypeError,
        "cumsum_(): argument 'dim' (position 1) must be int, not str",
    ),
    "no_hook": (
        lambda T: T.ones(2).register_hook(),
        TypeError,
        "Tensor.register_hook() missing 1 required positional argument: 'hook'",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_22_01_messages(T: Any, raises: Any, name: str) -> None:
    call, kind, message = ERRORS[name]
    with raises(kind, message):
        call(T)


SINGULAR = (
    "The diagonal element 1 is zero, the inversion could not be completed because the input matrix is "
    "singular."
)
INDEFINITE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor "
    "of order {} is not positive-definite)."
)
VALUES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "inv": (lambda T, x: T.linalg.inv(x), f"linalg.inv: {SINGULAR}"),
    "inverse": (lambda T, x: x.inverse(), f"linalg.inv: {SINGULAR}"),
    "inv_ex": (lambda T, x: T.linalg.inv_ex(x, check_errors=True), f"linalg.inv_ex: {SINGULAR}"),
    "solve": (
        lambda T, x: T.linalg.solve(x, T.ones(2)),
        "torch.linalg.solve: The solver failed because the input matrix is singular.",
    ),
    "cholesky": (lambda T, x: T.linalg.cholesky(x), f"linalg.cholesky: {INDEFINITE.format(1)}"),
    "cholesky_of_old": (lambda T, x: T.cholesky(x + 1), f"cholesky: {INDEFINITE.format(2)}"),
    "batch": (
        lambda T, x: T.linalg.cholesky(T.stack([T.eye(2), x])),
        f"linalg.cholesky: (Batch element 1): {INDEFINITE.format(1)}",
    ),
    "matrix_power": (lambda T, x: T.linalg.matrix_power(x, -2), f"linalg.inv: {SINGULAR}"),
}


@pytest.mark.parametrize("name", VALUES)
def test_22_01_values_are_refused_at_the_call(T: Any, raises: Any, name: str) -> None:
    call, message = VALUES[name]
    x = T.zeros(2, 2, requires_grad=True)
    with raises(T.linalg.LinAlgError, message):
        call(T, x)
    # the session goes on: nothing of it was lost
    (x * 2).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_22_01_values_are_refused_under_vmap(T: Any, raises: Any) -> None:
    x = T.stack([T.eye(2), T.zeros(2, 2)])
    with raises(T.linalg.LinAlgError, f"linalg.inv: (Batch element 1): {SINGULAR}"):
        T.func.vmap(T.linalg.inv)(x)
    assert T.func.vmap(T.linalg.inv)(x + 2 * T.eye(2)).shape == (2, 2, 2)


def test_22_01_lu_factor_of_a_singular_matrix(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "torch.linalg.lu_factor: U[1,1] is zero and using it on lu_solve would …"):
        T.linalg.lu_factor(T.zeros(2, 2))


def test_22_01_the_class(T: Any) -> None:
    assert T.linalg.LinAlgError.__name__ == "_LinAlgError"
    assert issubclass(T.linalg.LinAlgError, RuntimeError)


def test_22_01_info_instead_of_an_error(T: Any) -> None:
    found = T.linalg.inv_ex(T.zeros(2, 2))
    assert (found.info.item(), found.info.dtype) == (1, T.int32)
    found = T.linalg.cholesky_ex(T.stack([T.eye(2), T.zeros(2, 2)]))
    assert found.info.tolist() == [0, 1]
    assert T.linalg.solve_ex(T.zeros(2, 2), T.ones(2)).info.item() == 1
    assert T.linalg.lu_factor_ex(T.zeros(2, 2)).info.item() == 1


def test_22_01_svd_of_what_is_not_finite(T: Any) -> None:
    with pytest.raises(T.linalg.LinAlgError, match="The algorithm failed to converge"):
        T.linalg.svdvals(T.full((2, 2), float("nan"))).tolist()
