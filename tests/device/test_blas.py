"""The stand-in for cuBLAS refuses what cuBLAS refuses, and what it would read or write beside."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels.cuda.cublas import MODE, functions

from tests import standin
from tests.standin.blas import FakeBlas

xp = standin.CUPY
OK, INVALID, UNSUPPORTED = 0, 7, 15


class Call:
    """A library with a handle that is ready, and arguments of a product that is right: (2, 3) @ (3, 4)."""

    def __init__(self) -> None:
        found = functions(FakeBlas(xp))
        assert found is not None
        self.library = found
        self.handle = ctypes.c_void_p()
        self.workspace = xp.cuda.alloc(1 << 12)
        assert self("cublasCreate_v2", ctypes.byref(self.handle)) == OK
        assert self("cublasSetMathMode", self.handle, MODE) == OK
        assert self("cublasSetStream_v2", self.handle, 0) == OK
        assert self("cublasSetWorkspace_v2", self.handle, self.workspace.ptr, 1 << 12) == OK
        self.a, self.b = (xp.asarray(np.ones((n, m), np.float32)) for m, n in ((2, 3), (3, 4)))
        self.c = xp.asarray(np.zeros((4, 2), np.float32))
        one, none = ctypes.c_float(1), ctypes.c_float(0)
        self.given: dict[str, Any] = {
            "handle": self.handle, "turn_a": 0, "turn_b": 0, "m": 2, "n": 4, "k": 3,
            "alpha": ctypes.byref(one), "a": self.a.data.ptr, "kind_a": 0, "lda": 2,
            "b": self.b.data.ptr, "kind_b": 0, "ldb": 3, "beta": ctypes.byref(none),
            "c": self.c.data.ptr, "kind_c": 0, "ldc": 2, "computed": 68, "algorithm": -1,
        }  # fmt: skip

    def __call__(self, name: str, *given: Any) -> int:
        status: int = self.library[name](*given)
        return status

    def product(self, **other: Any) -> int:
        """With some arguments otherwise."""
        return self("cublasGemmEx", *{**self.given, **other}.values())

    def products(self, count: int = 1, steps: tuple[int, int, int] = (6, 12, 8), **other: Any) -> int:
        """The same for a batch."""
        given: list[Any] = []
        for name, value in {**self.given, **other}.items():
            given += [count, value] if name == "computed" else [value]
            if name.startswith("ld"):
                given.append(steps["abc".index(name[2])])
        return self("cublasGemmStridedBatchedEx", *given)


@pytest.fixture
def call() -> Iterator[Call]:
    made = Call()
    yield made
    made("cublasDestroy_v2", made.handle)


def test_what_is_right_is_computed(call: Call) -> None:
    standin.reset()
    assert call.product() == call.products() == OK
    assert call.c._bare.tolist() == [[3, 3]] * 4
    assert dict(standin.LAUNCHES) == {"gemm": 2}


@pytest.mark.parametrize(
    ("status", "other"),
    [
        (INVALID, {"lda": 1}),
        (INVALID, {"ldb": 2}),
        (INVALID, {"ldc": 1}),
        (INVALID, {"turn_a": 1}),  # whose columns are longer than what is between them
        (INVALID, {"turn_b": 2}),
        (INVALID, {"computed": 2}),
        (INVALID, {"algorithm": 98}),
        (UNSUPPORTED, {"kind_a": 2}),
        (UNSUPPORTED, {"kind_a": 1, "kind_b": 1, "kind_c": 1}),
        (UNSUPPORTED, {"computed": 70}),
    ],
)
def test_what_cublas_refuses(call: Call, status: int, other: dict[str, Any]) -> None:
    assert call.product(**other) == status
    assert call.c._bare.tolist() == [[0, 0]] * 4


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("are in no array", lambda c: c.product(lda=3)),
        ("are in no array", lambda c: c.product(a=c.a.data.ptr + 4)),
        ("are in no array", lambda c: c.product(n=5)),
        ("are in no array", lambda c: c.products(2)),
        ("are in no array", lambda c: c.product(b=12345680)),
        ("is no place for float32", lambda c: c.product(a=c.a.data.ptr + 2)),
        ("overlaps with an operand", lambda c: c.product(c=c.b.data.ptr)),
        ("results of a batch overlap", lambda c: c.products(2, (0, 0, 2), n=2, ldc=2)),
        ("nothing to multiply", lambda c: c.product(k=0)),
        ("does not fit c_int", lambda c: c.product(lda=1 << 31)),
        ("is no integer", lambda c: c.product(m=2.0)),
        ("a factor of another type", lambda c: c.product(beta=ctypes.byref(ctypes.c_double(0)))),
        ("takes 19 arguments", lambda c: c("cublasGemmEx", *[*c.given.values()][:-1])),
        ("is destroyed", lambda c: c.product(handle=ctypes.c_void_p(99))),
    ],
)
def test_what_cublas_leaves_undefined(call: Call, said: str, wrong: Callable[[Call], int]) -> None:
    with pytest.raises(AssertionError, match=said):
        wrong(call)


def test_memory_that_is_freed_is_no_operand(call: Call) -> None:
    freed = xp.asarray(np.ones((3, 2), np.float32))
    address = freed.data.ptr
    assert call.product(a=address) == OK
    del freed
    with pytest.raises(AssertionError, match="are in no array"):
        call.product(a=address)


def test_a_stream_takes_the_workspace_away(call: Call) -> None:
    call("cublasSetStream_v2", call.handle, 0)
    with pytest.raises(AssertionError, match="a stream was set after the workspace"):
        call.product()
    assert call("cublasSetWorkspace_v2", call.handle, call.workspace.ptr + 16, 64) == INVALID


def test_another_stream_or_thread_has_another_handle(call: Call) -> None:
    with xp.cuda.Stream(), pytest.raises(AssertionError, match="another stream is current"):
        call.product()
    said: list[str] = []

    def elsewhere() -> None:
        try:
            call.product()
        except AssertionError as error:
            said.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert said == ["the handle is another thread's"]


def test_sums_of_16_bits_stay_in_float32(call: Call) -> None:
    assert call("cublasSetMathMode", call.handle, 1) == INVALID
    call("cublasSetMathMode", call.handle, 0)
    with pytest.raises(AssertionError, match="may be rounded to 16 bits"):
        call.product()


def test_a_function_that_is_declared_otherwise_is_not_called(call: Call) -> None:
    call.library["cublasGemmEx"].argtypes = (ctypes.c_int,) * 19
    with pytest.raises(AssertionError, match="cublasGemmEx is declared otherwise"):
        call.product()
