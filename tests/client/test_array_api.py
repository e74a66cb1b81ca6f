"""The array API standard's namespace: names, what differs from PyTorch's functions, and NumPy's results.

The standard's own suite is run by `make array-api`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import array_api as xp

from tests.array_api.failing import REASONS, reason


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def test_a_tensor_names_its_namespace() -> None:
    x = gradd.ones(2)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match=r"no version '2019\.12'"):
        x.__array_namespace__(api_version="2019.12")
    assert x.to_device(x.device) is x
    assert [name for name in xp.__all__ if not hasattr(xp, name)] == []


def test_what_the_namespace_says_of_itself() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() == gradd.ones(1).device
    assert info.devices() == (info.default_device(),)
    assert info.capabilities()["boolean indexing"] is True
    assert info.default_dtypes()["real floating"] is gradd.float32
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert len(info.dtypes()) == 10
    with pytest.raises(ValueError, match="unknown kind"):
        info.dtypes(kind="decimal")


A = np.arange(12.0).reshape(3, 4) - 5
CASES = [
    "xp.sum(x, axis=(0, 1)), xp.sum(x, axis=1, keepdims=True), xp.sum(x, axis=())",
    "xp.prod(x, axis=0), xp.mean(x), xp.max(x, axis=1), xp.min(x, axis=(0,)), xp.cumulative_sum(x, axis=1)",
    "xp.std(x), xp.var(x, axis=0), xp.std(x, correction=1)",
    "xp.cumulative_sum(x, axis=0, include_initial=True), xp.cumulative_prod(x, axis=1)",
    "xp.argmax(x), xp.argmin(x, axis=1, keepdims=True), xp.count_nonzero(x, axis=0)",
    "xp.concat((x, x), axis=None), xp.concat((x, x), axis=1), xp.stack((x, x), axis=-1)",
    "xp.flip(x), xp.flip(x, axis=0), xp.roll(x, 2), xp.roll(x, (1, 2), axis=(0, 1)), xp.tile(x, (2, 1))",
    "xp.permute_dims(x, (1, 0)), xp.moveaxis(x, 0, 1), xp.expand_dims(x, axis=1), xp.reshape(x, (2, 6))",
    "xp.repeat(x, 2, axis=0), xp.repeat(x, 2), xp.broadcast_to(x, (2, 3, 4)), *xp.unstack(x)",
    "xp.tril(x, k=1), xp.triu(x, k=-1), xp.eye(3, 4, k=1), *xp.meshgrid(x[0], x[:, 0])",
    "xp.linspace(0.0, 1.0, 5, endpoint=False, dtype=x.dtype), xp.arange(5, 1, -2), xp.arange(3, 1)",
    "xp.sort(x, axis=0, descending=True) if xp is not np else np.flip(np.sort(x, axis=0), axis=0)",
    "xp.where(x > 0, x, 0.0), xp.maximum(x, 1.0), xp.clip(x, -1.0, 2.0), xp.clip(x, max=0.0)",
    "xp.sign(x), xp.round(x / 2), xp.floor(x / 3), xp.pow(2.0, x), xp.hypot(x, 1.0)",
    "xp.take(x, i, axis=1), xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1), xp.diff(x, axis=0)",
    "xp.unique_values(x // 3), *xp.unique_all(x // 3), *xp.unique_counts(x // 3), *xp.unique_inverse(x // 3)",
    "xp.matmul(x, x.T), xp.tensordot(x, x, axes=((0,), (0,))), xp.vecdot(x, x), xp.linalg.outer(x[0], x[1])",
    "xp.linalg.trace(x), xp.linalg.diagonal(x, offset=1), xp.linalg.matrix_norm(x), xp.linalg.svdvals(x)",
    "xp.linalg.vector_norm(x, axis=0, ord=1), xp.linalg.vector_norm(x), xp.linalg.pinv(x)",
    "xp.any(x > 5, axis=0), xp.all(x > -6), xp.any(x > 9, axis=(0, 1), keepdims=True), *xp.nonzero(x > 4)",
    "xp.astype(x, xp.int64), xp.isdtype(x.dtype, 'real floating'), xp.isdtype(x.dtype, ('bool', 'integral'))",
    "xp.searchsorted(x[0], x[:, 1]), xp.broadcast_shapes((3, 1), (4,)), *xp.broadcast_arrays(x, x[0])",
    "xp.isin(x, x[0]) if xp is not np else np.isin(x, x[0])",
    "xp.real(xp.fft.fft(x)), xp.imag(xp.fft.rfft(x, axis=0)), xp.fft.irfft(xp.fft.rfft(x), n=4)",
    "xp.real(xp.fft.fftn(x, axes=(0, 1))), xp.real(xp.fft.ifft(x, norm='ortho')), xp.fft.fftshift(x, axes=1)",
]


def as_numbers(found: Any) -> list[Any]:
    return [np.asarray(x, dtype=np.float64).round(9).tolist() for x in found]


@pytest.mark.parametrize("source", CASES)
def test_functions_give_what_numpys_do(source: str) -> None:
    def results(space: Any, x: Any, i: Any) -> list[Any]:
        return as_numbers(eval(f"({source},)", {"xp": space, "x": x, "i": i, "np": np}))

    assert results(xp, xp.asarray(A), xp.asarray([3, 0])) == results(np, A, np.array([3, 0]))


def test_arrays_without_dimensions_promote_like_others() -> None:
    narrow, wide = xp.asarray([1.0], dtype=xp.float32), xp.asarray(2.0, dtype=xp.float64)
    assert xp.add(narrow, wide).dtype is xp.float64  # gradd.add: float32, as PyTorch's
    assert xp.where(narrow > 0, narrow, wide).dtype is xp.float64
    assert xp.add(narrow, 2).dtype is xp.float32
    assert xp.result_type(narrow, 1j) is xp.complex64
    assert xp.result_type(xp.int32, 2.5) is xp.float32
    assert xp.sum(xp.asarray([200, 100], dtype=xp.uint8)).dtype is xp.int64
    assert xp.sum(xp.asarray([2, 1], dtype=xp.uint8), dtype=xp.uint8).dtype is xp.uint8
    assert (xp.can_cast(xp.float32, xp.float64), xp.can_cast(wide, xp.float32)) == (True, False)
    assert (xp.finfo(xp.complex64).dtype, xp.iinfo(xp.int8).max) == (xp.float32, 127)


def test_errors_are_those_of_python() -> None:
    x = xp.ones((2, 3))
    for call, error in [
        (lambda: xp.squeeze(x, axis=0), ValueError),
        (lambda: xp.expand_dims(x, axis=4), IndexError),
        (lambda: xp.sum(x, axis=2), IndexError),
        (lambda: xp.reshape(x.T, (6,), copy=False), ValueError),
        (lambda: xp.take(x, xp.asarray([0])), ValueError),
        (lambda: xp.broadcast_shapes((2,), (3,)), ValueError),
        (lambda: xp.cumulative_sum(x), ValueError),
        (lambda: xp.asarray([1], copy=False), ValueError),
        (lambda: xp.isdtype(x.dtype, "decimal"), ValueError),
        (lambda: xp.nonzero(xp.asarray(1)), ValueError),
    ]:
        with pytest.raises(error):
            call()


def test_gradients_go_through_the_namespace() -> None:
    x = xp.asarray(A, dtype=xp.float64).requires_grad_()
    xp.sum(xp.square(xp.concat((x, 2 * x)))).backward()
    assert x.grad.tolist() == (10 * A).tolist()


def test_reasons_are_found_by_tests_names() -> None:
    assert all(REASONS.values())
    assert reason("test_dlpack::test_dunder_dlpack") is not None
    assert reason("test_linalg::test_matmul") is None
