"""Products of matrices by a strict stand-in for cuBLAS: values, layouts, precisions, and what falls back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine.data import ambient
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.kernels.cuda import NATIVE, cublas, products
from gradd_engine.kernels.cuda.cublas import LIBRARIES, GemmOperand, Precision
from ml_dtypes import bfloat16

from tests import standin
from tests.cuda.cases import refuse
from tests.cuda.product_cases import DTYPES, LAYOUTS, SHAPES, laid, whole_numbers

xp = standin.CUPY


def _wide(a: Any) -> Any:
    return (a._bare if hasattr(a, "_bare") else a).astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_matrices_of_every_layout(first: str, second: str, dtype: Any) -> None:
    rng = np.random.default_rng(5)
    for m, k, n in SHAPES:
        a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (k, n), dtype)
        x, y = laid(xp, a, first), laid(xp, b, second)
        standin.reset()
        got = NATIVE["mm"](refuse)(xp, x, y)
        assert (got.dtype, got.shape, got.base) == (np.dtype(dtype), (m, n), None)
        np.testing.assert_array_equal(_wide(got), _wide(a) @ _wide(b))
        copies = sum(layout == "apart" and min(z.shape) > 1 for layout, z in ((first, x), (second, y)))
        assert dict(standin.LAUNCHES) == {"gemm": 1} | ({"ascontiguousarray": copies} if copies else {})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", [*LAYOUTS, "between"])
def test_batches_of_every_layout(layout: str, dtype: Any) -> None:
    rng = np.random.default_rng(6)
    for count, m, k, n in ((4, 3, 5, 2), (1, 3, 2, 4), (3, 1, 6, 1), (2, 5, 1, 3)):
        a, b = whole_numbers(rng, (count, m, k), dtype), whole_numbers(rng, (count, k, n), dtype)
        x, y = laid(xp, a, layout), laid(xp, b, layout)
        for left, right in ((x, y), (x, laid(xp, b, "rows")), (laid(xp, a, "columns"), y)):
            standin.reset()
            got = NATIVE["bmm"](refuse)(xp, left, right)
            np.testing.assert_array_equal(_wide(got), _wide(a) @ _wide(b))
            assert standin.LAUNCHES["gemm"] == 1
            assert layout == "apart" or dict(standin.LAUNCHES) == {"gemm": 1}


def test_one_matrix_for_a_whole_batch_is_not_copied() -> None:
    rng = np.random.default_rng(7)
    a, b = whole_numbers(rng, (4, 3, 5), np.float32), whole_numbers(rng, (5, 2), np.float32)
    many, spread = xp.asarray(a), xp.broadcast_to(xp.asarray(b), (4, 5, 2))
    standin.reset()
    got = NATIVE["bmm"](refuse)(xp, many, spread)
    assert dict(standin.LAUNCHES) == {"gemm": 1}
    np.testing.assert_array_equal(got._bare, a @ b)
    # a row that is repeated has no place of its own for each
    row = xp.broadcast_to(xp.asarray(b[:1]), (5, 2))
    np.testing.assert_array_equal(
        NATIVE["mm"](refuse)(xp, xp.asarray(a[0]), row)._bare, a[0] @ np.repeat(b[:1], 5, 0)
    )


@pytest.mark.parametrize("dtype", [np.float16, bfloat16])
def test_sums_of_16_bits_are_rounded_once(dtype: Any) -> None:
    step = 2.0 ** (12 if dtype is np.float16 else 9)
    # step + 1 has no 16-bit number of its own
    a, b = np.array([[step, 1]], dtype), np.array([[1], [1]], dtype)
    c = np.array([[-step]], dtype)
    x, y, z = map(xp.asarray, (a, b, c))
    standin.reset()
    got = NATIVE["addmm"](refuse)(xp, z, x, y, beta=1, alpha=1)
    assert got._bare.tolist() == [[1.0]]
    assert dict(standin.LAUNCHES) == {"put": 1, "gemm": 1}
    batched = NATIVE["baddbmm"](refuse)(xp, z[None], x[None], y[None], beta=2, alpha=2)
    assert batched._bare.tolist() == [[[2.0]]]
    lone = NATIVE["addmv"](refuse)(xp, z[0], x, y[:, 0], beta=1, alpha=1)
    assert lone._bare.tolist() == [1.0]


def test_many_products_are_added_up_in_float32() -> None:
    ones = xp.asarray(np.ones((1, 5000), np.float16))
    assert NATIVE["mm"](refuse)(xp, ones, ones.T)._bare.tolist() == [[5000.0]]
    assert NATIVE["mv"](refuse)(xp, ones, ones[0])._bare.tolist() == [5000.0]


def test_what_is_not_added_is_not_read() -> None:
    c, a = xp.asarray(np.full((2, 2), np.nan, np.float32)), xp.asarray(np.ones((2, 2), np.float32))
    assert NATIVE["addmm"](refuse)(xp, c, a, a, beta=0, alpha=1)._bare.tolist() == [[2, 2], [2, 2]]
    none = xp.asarray(np.ones((2, 0), np.float32))
    assert NATIVE["addmm"](refuse)(xp, c, none, none.T, beta=0, alpha=1)._bare.tolist() == [[0, 0], [0, 0]]


def test_operands_are_rounded_to_tf32_where_that_is_allowed() -> None:
    fine = np.array([[1 + 2.0**-12]], np.float32)
    x, one = xp.asarray(fine), xp.asarray(np.ones((1, 1), np.float32))
    mm = NATIVE["mm"](refuse)
    assert mm(xp, x, one)._bare.tolist() == fine.tolist()
    with ambient(tf32=True):
        assert mm(xp, x, one)._bare.tolist() == [[1.0]]
        # ties go to even, and other dtypes stay as they are
        tie = xp.asarray(np.array([[1 + 3 * 2.0**-11]], np.float32))
        assert mm(xp, tie, one)._bare.tolist() == [[1 + 2.0**-9]]
        wide = x.astype(np.float64)
        assert mm(xp, wide, one.astype(np.float64))._bare.tolist() == fine.tolist()


OPS: dict[str, list[tuple[int, ...]]] = {
    "mm": [(3, 5), (5, 2)], "bmm": [(4, 3, 5), (4, 5, 2)], "mv": [(3, 5), (5,)],
    "addmm": [(2,), (3, 5), (5, 2)], "baddbmm": [(4, 3, 2), (4, 3, 5), (4, 5, 2)],
    "addmv": [(3,), (3, 5), (5,)],
}  # fmt: skip


def _without_gemm(monkeypatch: pytest.MonkeyPatch) -> None:
    found = LIBRARIES[xp]
    assert found is not None
    unable = {name: (lambda *_: 15) if "Gemm" in name else function for name, function in found.items()}
    monkeypatch.setattr(cublas._handles, "made", {})
    monkeypatch.setitem(LIBRARIES, xp, unable)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("how", ["no library", "not on this device", "too large"])
def test_cupy_computes_what_cublas_cannot(
    how: str, op: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    given = [whole_numbers(rng, shape, dtype) for shape in OPS[op]]
    attrs = {"beta": 1, "alpha": 1} if op.startswith(("add", "badd")) else {}
    if how == "no library":
        monkeypatch.setattr(cublas._handles, "made", {})
        monkeypatch.setitem(LIBRARIES, xp, None)
    elif how == "too large":
        monkeypatch.setattr(products, "MOST", 4)
    else:
        _without_gemm(monkeypatch)
    plain = REGISTRY[op].impl
    standin.reset()
    got = NATIVE[op](plain)(xp, *map(xp.asarray, given), **attrs)
    assert "gemm" not in standin.LAUNCHES
    want = plain(np, *[a.astype(np.float64) for a in given], **attrs)
    np.testing.assert_array_equal(_wide(got), want)


def test_a_library_without_a_function_is_none() -> None:
    class Old:
        cublasCreate_v2 = LIBRARIES[xp]["cublasCreate_v2"]  # type: ignore[index]

    assert cublas.functions(Old()) is None
    assert cublas.version(xp) == "13.0.2"


def test_other_dtypes_are_cupys() -> None:
    for dtype in (np.int64, np.complex64, np.bool_):
        a = np.ones((2, 2), dtype)
        got = NATIVE["mm"](lambda space, x, y: space.matmul(x, y))(xp, xp.asarray(a), xp.asarray(a))
        np.testing.assert_array_equal(got._bare, a @ a)


def test_each_thread_and_stream_has_a_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cublas._handles, "made", {})
    first = cublas.handle(xp)
    assert cublas.handle(xp) is first
    with xp.cuda.Stream():
        other = cublas.handle(xp)
        assert other is not first
        assert cublas.handle(xp) is other
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(cublas.handle(xp)))
    thread.start()
    thread.join()
    assert seen[0] not in (None, first, other)
    a = xp.asarray(np.ones((2, 2), np.float32))
    assert NATIVE["mm"](refuse)(xp, a, a)._bare.tolist() == [[2, 2], [2, 2]]


def test_a_product_is_captured_on_a_stream_that_is_ready() -> None:
    a = xp.asarray(np.ones((2, 2), np.float32))
    mm = NATIVE["mm"](refuse)
    stream = xp.cuda.Stream()
    with stream:
        stream.begin_capture()
        with pytest.raises(RuntimeError, match="cublasCreate while a stream is capturing"):
            mm(xp, a, a)
        stream.end_capture()
        products.ready(xp)
        stream.begin_capture()
        got = mm(xp, a, a)
        graph = stream.end_capture()
    a[...] = 3
    graph.launch()
    assert got._bare.tolist() == [[18, 18], [18, 18]]


def _operand(**other: Callable[[GemmOperand], int]) -> tuple[Any, str, Any]:
    """What reads an operand otherwise."""
    real = products._operand

    def planted(a: Any) -> Any:
        found = real(a)
        return found and found._replace(**{name: change(found) for name, change in other.items()})

    return products, "_operand", planted


_HALF = {**cublas.PRECISIONS, "e": Precision(2, 64, cublas.PRECISIONS["f"].scale)}
_SINGLE = {**cublas.PRECISIONS, "f": Precision(2, 68, cublas.PRECISIONS["f"].scale)}
_NARROW = {**cublas.PRECISIONS, "d": Precision(1, 70, cublas.PRECISIONS["f"].scale)}


@pytest.mark.parametrize(
    "planted",
    [
        _operand(lead=lambda o: o.lead + 1),
        _operand(lead=lambda o: o.lead - 1),
        _operand(turned=lambda o: 1 - o.turned),
        _operand(step=lambda o: o.step + 1),
        _operand(at=lambda o: o.at + 2),
        _operand(at=lambda o: o.at + 1),
        (cublas, "PRECISIONS", _HALF),
        (cublas, "PRECISIONS", _SINGLE),
        (cublas, "PRECISIONS", _NARROW),
        (cublas, "MODE", 0),
        (cublas, "_CHOSEN", 98),
        (products, "_read", lambda space, a: GemmOperand(a, a.data.ptr, 0, max(a.shape), 0)),
    ],
)
def test_what_is_planted_is_found(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    of, name, instead = planted
    monkeypatch.setattr(cublas._handles, "made", {})
    assert not _wrong()
    monkeypatch.setattr(of, name, instead)
    monkeypatch.setattr(cublas._handles, "made", {})
    assert _wrong()


def _wrong() -> bool:
    """Whether a product is refused, or has other values."""
    rng = np.random.default_rng(9)
    for dtype in DTYPES:
        for shapes in (((3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4))):
            a, b = (whole_numbers(rng, shape, dtype) for shape in shapes)
            for layout in ("rows", "columns", "inside"):
                try:
                    got = products.product(xp, laid(xp, a, layout), laid(xp, b, layout))
                except (AssertionError, RuntimeError):
                    return True
                if got is None or not np.array_equal(_wide(got), _wide(a) @ _wide(b)):
                    return True
    return False
