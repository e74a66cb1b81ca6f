"""cuBLAS by ctypes: a handle and a workspace for each thread, device and stream.

cupy.matmul has a handle for each thread, whose workspace cuBLAS allocates when it is needed. A product that
is captured in a CUDA graph must find both. As https://docs.nvidia.com/cuda/cublas/.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_INT, _POINTER = ctypes.c_int, ctypes.c_void_p
#: the address of matrices, their type and leading dimension
_MATRIX = (_POINTER, _INT, _INT)
#: and how far from one another they are
_MATRICES = (*_MATRIX, ctypes.c_longlong)
#: what the functions take; all return a status
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cublasGetProperty": (_INT, ctypes.POINTER(_INT)),
    "cublasCreate_v2": (ctypes.POINTER(_POINTER),),
    "cublasDestroy_v2": (_POINTER,),
    "cublasSetMathMode": (_POINTER, _INT),
    "cublasSetStream_v2": (_POINTER, _POINTER),
    "cublasSetWorkspace_v2": (_POINTER, _POINTER, ctypes.c_size_t),
    "cublasGemmEx": (
        *(_POINTER, _INT, _INT, _INT, _INT, _INT),
        *(_POINTER, *_MATRIX, *_MATRIX),
        *(_POINTER, *_MATRIX, _INT, _INT),
    ),
    "cublasGemmStridedBatchedEx": (
        *(_POINTER, _INT, _INT, _INT, _INT, _INT),
        *(_POINTER, *_MATRICES, *_MATRICES),
        *(_POINTER, *_MATRICES, _INT, _INT, _INT),
    ),
}


class Precision(NamedTuple):
    """What cuBLAS calls a dtype, and what it adds up in."""

    stored: int
    computed: int
    #: the type of the factors
    scale: Any


#: by a dtype's character, "E" is bfloat16
PRECISIONS = {
    "f": Precision(0, 68, ctypes.c_float),
    "d": Precision(1, 70, ctypes.c_double),
    "e": Precision(2, 68, ctypes.c_float),
    "E": Precision(14, 68, ctypes.c_float),
}
#: float32 whose operands are rounded to TF32
TF32 = Precision(0, 77, ctypes.c_float)
#: CUBLAS_DEFAULT_MATH, and partial sums of 16-bit products are not rounded to 16 bits
MODE = 0 | 16
#: CUBLAS_GEMM_DEFAULT
_CHOSEN = -1
#: statuses of what this device cannot do: ARCH_MISMATCH, NOT_SUPPORTED
_CANNOT = (8, 15)
#: bytes of a workspace from Hopper on, and before: what PyTorch takes
WORKSPACE, SMALLER = 32 << 20, 8 << 20


class GemmOperand(NamedTuple):
    """Matrices as cuBLAS takes them, by columns."""

    #: what has their memory
    of: Any
    at: int
    #: 1 if they are transposed
    turned: int
    #: elements between two columns
    lead: int
    #: elements between two matrices of a batch
    step: int


#: array namespace -> its library's functions by name; None where there are none
LIBRARIES: dict[Any, dict[str, Any] | None] = {}


def functions(loaded: Any) -> dict[str, Any] | None:
    """The functions of a loaded library; None if it lacks one."""
    found = {}
    for name, takes in SIGNATURES.items():
        function = getattr(loaded, name, None)
        if function is None:
            return None
        function.argtypes, function.restype = takes, _INT
        found[name] = function
    return found


def _load(xp: Any) -> dict[str, Any] | None:
    major = xp.cuda.runtime.runtimeGetVersion() // 1000
    with suppress(ImportError, AttributeError):
        xp.cuda.cublas  # noqa: B018 - CuPy loads the library, which is then found by its name
    for path in (f"libcublas.so.{major}", *_wheels(major)):
        try:
            return functions(ctypes.CDLL(path))
        except OSError:
            continue
    return None


def _wheels(major: int) -> Iterator[str]:
    """Where NVIDIA's packages have it."""
    spec = find_spec("nvidia")
    for place in () if spec is None else spec.submodule_search_locations or ():
        for folder in (f"cu{major}", "cublas"):
            yield str(Path(place) / folder / "lib" / f"libcublas.so.{major}")


def library(xp: Any) -> dict[str, Any] | None:
    """The functions of the library that CuPy has loaded, or that its packages have; None where there is
    none.
    """
    if xp not in LIBRARIES:
        LIBRARIES[xp] = _load(xp)
    return LIBRARIES[xp]


def version(xp: Any) -> str:
    """The library's version, "none" where there is none."""
    there = library(xp)
    if there is None:
        return "none"
    numbers = [_INT() for _ in range(3)]
    for at, number in enumerate(numbers):
        there["cublasGetProperty"](at, ctypes.byref(number))
    return ".".join(str(number.value) for number in numbers)


class Handle:
    """A handle on one stream, for the thread that made it."""

    def __init__(self, xp: Any, there: dict[str, Any], stream: int) -> None:
        self._library = there
        self._at = _POINTER()
        self._call("cublasCreate_v2", ctypes.byref(self._at))
        self._call("cublasSetMathMode", self._at, MODE)
        self._call("cublasSetStream_v2", self._at, stream)
        # A stream takes the workspace that was set away.
        size = WORKSPACE if int(xp.cuda.Device().compute_capability) >= 90 else SMALLER
        self._workspace = xp.cuda.alloc(size)
        self._call("cublasSetWorkspace_v2", self._at, self._workspace.ptr, size)

    def __del__(self) -> None:
        if self._at.value and not sys.is_finalizing():
            self._library["cublasDestroy_v2"](self._at)

    def _call(self, name: str, *given: Any) -> None:
        status = self._library[name](*given)
        if status:
            raise RuntimeError(f"{name} failed with status {status}")

    def multiply(
        self, precision: Precision, sizes: tuple[int, int, int], count: int | None, alpha: float,
        first: GemmOperand, second: GemmOperand, beta: float, out: GemmOperand,
    ) -> bool:  # fmt: skip
        """``out = alpha * first @ second + beta * out`` for matrices of (m, k), (k, n) and (m, n) where
        `sizes` is (m, n, k), or for `count` of them. False where the device cannot do that.
        """
        stored, computed, scale = precision
        factors = ctypes.byref(scale(alpha)), ctypes.byref(scale(beta))
        name, last = "cublasGemmEx", [computed, _CHOSEN]
        a, b, c = ([x.at, stored, x.lead] for x in (first, second, out))
        if count is not None:
            name, last = "cublasGemmStridedBatchedEx", [count, *last]
            a, b, c = [*a, first.step], [*b, second.step], [*c, out.step]
        turns = first.turned, second.turned
        status = self._library[name](self._at, *turns, *sizes, factors[0], *a, *b, factors[1], *c, *last)
        if status and status not in _CANNOT:
            raise RuntimeError(f"{name} failed with status {status}")
        return not status


class _Handles(threading.local):
    def __init__(self) -> None:
        #: by array namespace, device and stream
        self.made: dict[tuple[Any, int, int], Handle] = {}


_handles = _Handles()


def handle(xp: Any) -> Handle | None:
    """This thread's handle for the current device and stream; None without cuBLAS. The first call on a stream
    makes it, which a stream that is being captured does not allow.
    """
    key = (xp, xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr)
    found = _handles.made.get(key)
    if found is None:
        there = library(xp)
        if there is None:
            return None
        found = _handles.made[key] = Handle(xp, there, key[2])
    return found
