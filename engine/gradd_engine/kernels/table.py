"""The kernel table: from an op to the function that computes it."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from .identity import surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..schema import Op

    Kernel = Callable[..., Any]
    #: makes a compiled kernel from the plain one, which it falls back to for other dtypes and shapes
    Native = Callable[[Kernel], Kernel]


class KernelTable(dict["Op", "Callable[..., Any]"]):
    """``table[op]`` is the kernel of `op` for arrays of namespace ``xp``."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._id = ""
        self._native: Mapping[str, Native] = {}
        self._loops: Any = None
        self._fusing: Any = None
        self._narrow: frozenset[str] = frozenset()

    def __missing__(self, op: Op) -> Kernel:
        self.load()
        native = self._native.get(op.name)
        found = self[op] = op.impl if native is None else native(op.impl)
        return found

    def load(self) -> None:
        """Compile the kernels, or read their code from disk, on the first call. RuntimeError if GRADD_KERNELS
        is invalid or requires what is not installed.
        """
        if not self._id:
            self._native, self._id, self._loops, self._fusing = _load(self._xp)
            if self._fusing is not None:
                self._narrow = self._fusing.NARROW

    @property
    def loops(self) -> Any:
        """The module `loops`, for those who run this table's kernels by NumPy's inner loops; None where that
        does not work, or nothing is compiled.
        """
        self.load()
        return self._loops

    @property
    def fusing(self) -> Any:
        """The package `cuda`, for those who fuse element-wise ops of this table; None where there are no
        device kernels.
        """
        self.load()
        return self._fusing

    def ready(self) -> None:
        """Have what device kernels need in the current stream, before it is captured."""
        if self.fusing is not None:
            self.fusing.ready(self._xp)

    @property
    def narrow(self) -> frozenset[str]:
        """The ops whose kernels take 16-bit numbers as they are; all others get them as float32."""
        self.load()
        return self._narrow

    @property
    def id(self) -> str:
        """The table's name."""
        self.load()
        return self._id

    @property
    def identity(self) -> str:
        """The table's name and what else its bits depend on: where this is equal, so are they."""
        return f"{self.id} {surroundings(self._xp)}"


def _load(xp: Any) -> tuple[Mapping[str, Native], str, Any, Any]:
    plain = f"{xp.__name__}-{xp.__version__}"
    if xp is not np:
        return _on_device(xp, plain)
    wanted = os.environ.get("GRADD_KERNELS", "")
    if wanted not in ("", "numpy", "jit"):
        raise RuntimeError(f"GRADD_KERNELS is {wanted!r}, neither numpy nor jit")
    there = importlib.util.find_spec("numba") is not None
    if wanted == "jit" and not there:
        raise RuntimeError("GRADD_KERNELS is jit, which needs numba: pip install 'gradd[jit]'")
    if wanted == "numpy" or not there:
        return {}, plain, None, None
    from .native import LOADING, compiler

    with LOADING:
        from . import library

    return library.NATIVE, f"{library.ID}+{compiler()}+{plain}", library.LOOPS, None


def _on_device(xp: Any, plain: str) -> tuple[Mapping[str, Native], str, Any, Any]:
    """The device kernels, unless GRADD_CUDA_KERNELS is 0."""
    if xp.__name__ != "cupy" or os.environ.get("GRADD_CUDA_KERNELS", "") == "0":
        return {}, plain, None, None
    from . import cuda

    return cuda.NATIVE, f"{cuda.IDENTITY}+{plain}", None, cuda
