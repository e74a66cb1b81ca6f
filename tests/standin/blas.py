"""cuBLAS on the stand-in: what it refuses, it refuses, and what it leaves undefined is an error too."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from ml_dtypes import bfloat16

from .counting import launch
from .graphs import refuse, writing
from .machine import MACHINE
from .memory import memory_at

_I, _P, _L, _Z = ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_size_t
_HEAD = (_P, _I, _I, _I, _I, _I, _P)
#: the declarations in cublas_api.h of CUDA 12 and 13
DECLARED: dict[str, tuple[Any, ...]] = {
    "cublasGetProperty": (_I, ctypes.POINTER(_I)),
    "cublasCreate_v2": (ctypes.POINTER(_P),),
    "cublasDestroy_v2": (_P,),
    "cublasSetMathMode": (_P, _I),
    "cublasSetStream_v2": (_P, _P),
    "cublasSetWorkspace_v2": (_P, _P, _Z),
    "cublasGemmEx": (*_HEAD, _P, _I, _I, _P, _I, _I, _P, _P, _I, _I, _I, _I),
    "cublasGemmStridedBatchedEx": (*_HEAD, _P, _I, _I, _L, _P, _I, _I, _L, _P, _P, _I, _I, _L, _I, _I, _I),
}
#: cudaDataType_t
STORED = {0: np.dtype("f"), 1: np.dtype("d"), 2: np.dtype("e"), 14: np.dtype(bfloat16)}
#: cublasComputeType_t: the operands that it takes, and the type of sums and factors
COMPUTED = {68: ((0, 2, 14), np.dtype("f")), 70: ((1,), np.dtype("d")), 77: ((0,), np.dtype("f"))}
TF32 = 77
#: the default, by its two names
ALGORITHMS = (-1, 99)
MODES = (0, 2, 3)
NO_REDUCED_SUMS = 16


class Matrices(NamedTuple):
    """One operand's arguments."""

    at: int
    kind: int
    lead: int
    step: int


class _State:
    """What a handle was told."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.mode = 0
        self.stream = 0
        self.workspace: tuple[int, int] | None = None


class _Function:
    """A function of the library as ctypes has it: its types are set by who calls it, and have to be right."""

    def __init__(self, name: str, run: Callable[..., int]) -> None:
        self._name, self._run = name, run
        self.argtypes: Sequence[Any] | None = None
        self.restype: Any = None

    def __call__(self, *given: Any) -> int:
        declared = DECLARED[self._name]
        assert self.argtypes == declared, f"{self._name} is declared otherwise"
        assert self.restype is _I
        assert len(given) == len(declared), f"{self._name} takes {len(declared)} arguments, not {len(given)}"
        return self._run(*(self._taken(kind, x) for kind, x in zip(declared, given, strict=True)))

    def _taken(self, kind: Any, x: Any) -> Any:
        if kind in (_I, _L, _Z):
            assert type(x) is int, f"{self._name}: {x!r} is no integer"
            assert kind(x).value == x, f"{self._name}: {x} does not fit {kind.__name__}"
            return x
        if isinstance(x, ctypes.c_void_p) and kind is _P:
            return x.value
        return x


class FakeBlas:
    """``libcublas``, loaded. A call that is not as the documentation wants it raises AssertionError."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._numbers = itertools.count(1)
        self.handles: dict[int, _State] = {}
        for name in DECLARED:
            setattr(self, name, _Function(name, getattr(self, f"_{name.removesuffix('_v2')}")))

    def _of(self, at: int | None) -> _State:
        assert at in self.handles, "the handle was not made, or is destroyed"
        found = self.handles[at]
        assert found.thread == threading.get_ident(), "the handle is another thread's"
        return found

    def _cublasGetProperty(self, which: int, value: Any) -> int:
        value._obj.value = (13, 0, 2)[which]
        return 0

    def _cublasCreate(self, at: Any) -> int:
        refuse("cublasCreate")
        at._obj.value = next(self._numbers)
        self.handles[at._obj.value] = _State()
        return 0

    def _cublasDestroy(self, at: int) -> int:
        del self.handles[at]
        return 0

    def _cublasSetMathMode(self, at: int, mode: int) -> int:
        if mode & ~NO_REDUCED_SUMS not in MODES:
            return 7
        self._of(at).mode = mode
        return 0

    def _cublasSetStream(self, at: int, stream: int) -> int:
        found = self._of(at)
        found.stream, found.workspace = stream, None
        return 0

    def _cublasSetWorkspace(self, at: int, address: int, size: int) -> int:
        if address % 256:
            return 7
        assert len(memory_at(address, size)) == size
        self._of(at).workspace = address, size
        return 0

    def _cublasGemmEx(
        self, at: int, turn_a: int, turn_b: int, m: int, n: int, k: int, alpha: Any, *rest: Any
    ) -> int:
        a, b, c = (Matrices(*rest[at : at + 3], step=0) for at in (0, 3, 7))
        return self._multiply(at, (turn_a, turn_b), (m, n, k), 1, alpha, a, b, rest[6], c, *rest[10:])

    def _cublasGemmStridedBatchedEx(
        self, at: int, turn_a: int, turn_b: int, m: int, n: int, k: int, alpha: Any, *rest: Any
    ) -> int:
        a, b, c = Matrices(*rest[:4]), Matrices(*rest[4:8]), Matrices(*rest[9:13])
        return self._multiply(at, (turn_a, turn_b), (m, n, k), rest[13], alpha, a, b, rest[8], c, *rest[14:])

    def _multiply(
        self, at: int, turns: tuple[int, int], sizes: tuple[int, int, int], count: int, alpha: Any,
        a: Matrices, b: Matrices, beta: Any, c: Matrices, computed: int, algorithm: int,
    ) -> int:  # fmt: skip
        state = self._of(at)
        if MACHINE.query():
            return 13
        assert state.stream == self._xp.cuda.get_current_stream().ptr, "another stream is current"
        assert state.workspace is not None, "a stream was set after the workspace"
        memory_at(*state.workspace)
        assert state.mode & NO_REDUCED_SUMS, "sums of 16-bit products may be rounded to 16 bits"
        if computed not in COMPUTED or algorithm not in ALGORITHMS or not {*turns} <= {0, 1}:
            return 7
        takes, summed = COMPUTED[computed]
        if a.kind not in takes or not a.kind == b.kind == c.kind:
            return 15
        m, n, k = sizes
        assert min(m, n, k, count) > 0, "nothing to multiply"
        stored = STORED[a.kind]
        forms = [((m, k), turns[0], a), ((k, n), turns[1], b), ((m, n), 0, c)]
        if any(x.lead < max(1, shape[turned]) for shape, turned, x in forms):
            return 7
        x, y, z = (_matrices(x, stored, shape[::-1] if t else shape, count) for shape, t, x in forms)
        _apart(z, c, (m, n), count, [x, y])
        factors = [_number(f, summed) for f in (alpha, beta)]
        x, y = (v.swapaxes(1, 2) if t else v for v, t in ((x, turns[0]), (y, turns[1])))
        _run(x, y, z, factors, computed == TF32)
        return 0


@writing
def _run(x: Any, y: Any, z: Any, factors: Sequence[Any], tf32: bool) -> None:
    launch("gemm")
    summed = factors[0].dtype
    x, y = (_tf32(v) if tf32 else v.astype(summed) for v in (x, y))
    with np.errstate(all="ignore"):
        found = factors[0] * np.matmul(x, y)
        z[...] = found + factors[1] * z.astype(summed) if factors[1] else found


def _matrices(x: Matrices, stored: Any, shape: tuple[int, int], count: int) -> Any:
    """An operand as an array of matrices, over the memory that it names."""
    item = stored.itemsize
    assert x.at % item == 0, f"address {x.at:#x} is no place for {stored}"
    reach = x.step * (count - 1) + x.lead * (shape[1] - 1) + shape[0]
    assert x.step >= 0, "matrices lie backwards"
    octets = memory_at(x.at, reach * item)
    return np.ndarray((count, *shape), stored, octets, 0, (x.step * item, item, x.lead * item))


def _apart(z: Any, c: Matrices, shape: tuple[int, int], count: int, read: Sequence[Any]) -> None:
    """AssertionError where what is written overlaps with itself or with what is read."""
    m, n = shape
    assert count == 1 or c.step >= c.lead * (n - 1) + m, "results of a batch overlap"
    for x in read:
        assert not np.may_share_memory(z, x), "the result overlaps with an operand"


def _number(by_reference: Any, kind: Any) -> Any:
    """A factor in the host's memory."""
    number = by_reference._obj
    assert type(number) is {"f": ctypes.c_float, "d": ctypes.c_double}[kind.char], "a factor of another type"
    return kind.type(number.value)


def _tf32(x: Any) -> Any:
    """float32 rounded to the 10 digits of TF32, ties to even."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    bits = (bits + 0xFFF + ((bits >> 13) & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), bits.view(np.float32), x)
