"""Ufuncs with the methods, keywords and dtypes that CuPy 14 has for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Array
from .counting import launch
from .graphs import making, writing
from .subscript import subscript, wait_for_masks
from .wrapping import bare, dressed

_MIN_MAX = frozenset("ifdILQ")
#: the dtypes of `at`, as characters: atomics exist for these. Some versions have more, none has fewer.
_AT = {
    "add": frozenset("iefdILQ"),
    "subtract": frozenset("iI"),
    "maximum": _MIN_MAX,
    "minimum": _MIN_MAX,
    "bitwise_and": frozenset("ilqILQ"),
    "bitwise_or": frozenset("ilqILQ"),
    "bitwise_xor": frozenset("ilqILQ"),
}


class Ufunc:
    """``cupy.ufunc``."""

    def __init__(self, plain: np.ufunc) -> None:
        self._plain = plain
        self.__name__ = self.name = plain.__name__
        self.nin, self.nout, self.nargs = plain.nin, plain.nout, plain.nargs

    @making
    def __call__(self, *args: Any, out: Any = None, dtype: Any = None, casting: Any = None, **kw: Any) -> Any:
        if kw:
            raise TypeError(f"Wrong arguments {kw}")
        if len(args) > self.nin:
            out, args = args[self.nin :], args[: self.nin]
        for x in args:
            if isinstance(x, (list, tuple)):
                raise TypeError(f"Unsupported type {type(x)}")
        given: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
        if out is not None:
            targets = out if isinstance(out, tuple) else (out,)
            for x in targets:
                if x is not None and not isinstance(x, Array):
                    raise TypeError("Output arguments type must be cupy.ndarray")
            given["out"] = tuple(None if x is None else x._bare for x in targets)
        launch(self.name)
        with np.errstate(all="ignore"):
            found = self._plain(*map(bare, args), **given)
        return out[0] if isinstance(out, tuple) and len(out) == 1 else dressed(found) if out is None else out

    @writing
    def at(self, a: Array, indices: Any, b: Any = None) -> None:
        """Apply in place at indices, repeated ones included."""
        if self.name not in _AT:
            raise NotImplementedError(f"`cupy_{self.name}.at` is not supported yet")
        if a.dtype.char not in _AT[self.name]:
            raise TypeError(f"cupy.{self.name}.at does not support {a.dtype}")
        launch(f"{self.name}.at")
        places = subscript(a.shape, indices)
        wait_for_masks(places)
        self._plain.at(a._bare, places, bare(b))

    @making
    def reduce(
        self, array: Array, axis: Any = 0, dtype: Any = None, out: None = None, keepdims: bool = False
    ) -> Any:
        """Sum or product."""
        self._only("reduce", "add", "multiply")
        return dressed(self._plain.reduce(array._bare, axis, dtype, keepdims=keepdims))

    @making
    def accumulate(self, array: Array, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """Cumulative sum or product."""
        self._only("accumulate", "add", "multiply")
        return dressed((np.cumsum if self.name == "add" else np.cumprod)(array._bare, axis, dtype))

    @making
    def reduceat(
        self, array: Array, indices: Array, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Any:
        """Sums of runs."""
        self._only("reduceat", "add")
        return dressed(self._plain.reduceat(array._bare, indices._bare, axis, dtype))

    @making
    def outer(self, a: Any, b: Any, **kw: Any) -> Any:
        """All pairs."""
        launch(self.name)
        with np.errstate(all="ignore"):
            return dressed(self._plain.outer(bare(a), bare(b), **kw))

    def _only(self, method: str, *names: str) -> None:
        if self.name not in names:
            raise NotImplementedError(f"`cupy_{self.name}.{method}` is not supported yet")
        launch(f"{self.name}.{method}")
