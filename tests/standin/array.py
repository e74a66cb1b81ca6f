"""The array of the stand-in: a NumPy array that no NumPy function gets at."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from .counting import launch, wait
from .graphs import making, refuse, writing
from .memory import MemoryPointer, PooledMemory, alloc, placed, pointer


class Flags:
    """The three flags that CuPy has."""

    def __init__(self, a: Any) -> None:
        self.c_contiguous = a.flags.c_contiguous
        self.f_contiguous = a.flags.f_contiguous
        self.owndata = a.flags.owndata


class Array:
    """``cupy.ndarray``."""

    __slots__ = ("__weakref__", "_bare", "_mem", "base")
    __array_priority__ = 100
    __hash__: ClassVar[None]  # type: ignore[assignment]

    _bare: Any
    _mem: PooledMemory
    base: Array | None

    def __new__(
        cls,
        shape: Any,
        dtype: Any = float,
        memptr: MemoryPointer | None = None,
        strides: Any = None,
        order: Any = "C",
    ) -> Array:
        if memptr is None:
            return cls._of(np.empty(shape, dtype, order))
        return cls._of(placed(memptr, shape, dtype, strides), mem=memptr.mem)

    @classmethod
    def _of(cls, a: Any, owner: Array | None = None, mem: PooledMemory | None = None) -> Array:
        """An array over `a`; `owner` has its memory, or it is `mem`, or new."""
        made = object.__new__(cls)
        made._mem = mem or (alloc(a.nbytes).mem if owner is None else owner._mem)
        made._bare = made._mem.fill(a) if owner is None and mem is None else a
        made.base = owner if owner is None or owner.base is None else owner.base
        return made

    def borrowed(self) -> Array:
        """The same elements, without a hold on their memory."""
        return Array._of(self._bare, mem=PooledMemory(None, None, 0, self._mem.device_id))

    # -- towards NumPy ---------------------------------------------------------------------------

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy "
            "array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kw: Any) -> Any:
        from .cupy_like import CUPY

        if method != "__call__":
            raise TypeError(f"NumPy's {ufunc.__name__}.{method} got an array of the device")
        if len(kw.get("out", ())) == 1:
            (kw["out"],) = kw["out"]
        return getattr(CUPY, ufunc.__name__)(*args, **kw)

    def __array_function__(self, function: Any, _: Any, args: Any, kw: Any) -> Any:
        from .cupy_like import CUPY

        home: Any = CUPY
        for part in function.__module__.split(".")[1:]:
            home = getattr(home, part)
        return getattr(home, function.__name__)(*args, **kw)

    # -- geometry --------------------------------------------------------------------------------

    dtype = property(lambda self: self._bare.dtype)
    shape = property(lambda self: self._bare.shape)
    strides = property(lambda self: self._bare.strides)
    ndim = property(lambda self: self._bare.ndim)
    size = property(lambda self: self._bare.size)
    nbytes = property(lambda self: self._bare.nbytes)
    itemsize = property(lambda self: self._bare.itemsize)
    flags = property(lambda self: Flags(self._bare))
    data = property(lambda self: pointer(self._bare, self._mem))
    T = property(lambda self: Array._of(self._bare.T, self))

    @property
    def real(self) -> Array:
        """The real part: a view."""
        return Array._of(self._bare.real, self)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Array:
        """The imaginary part: a view, or new zeros."""
        return Array._of(self._bare.imag, self if self.dtype.kind == "c" else None)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def __len__(self) -> int:
        return len(self._bare)

    def __iter__(self) -> Iterator[Array]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"cupy.{self._bare!r}"

    # -- values on the host ----------------------------------------------------------------------

    def get(self, stream: Any = None, order: Any = "C", out: Any = None) -> Any:
        """The values as a NumPy array."""
        wait("get")
        return np.array(self._bare, order=order)

    def set(self, values: Any, stream: Any = None) -> None:
        """Take values of the host."""
        refuse("copy from the host")
        if not isinstance(values, np.ndarray) or values.dtype != self.dtype or values.shape != self.shape:
            raise ValueError("set() takes a NumPy array of the same shape and dtype")
        launch("set")
        self._bare[...] = values

    def item(self, *at: int) -> Any:
        """One value."""
        wait("item")
        return self._bare.item(*at)

    def tolist(self) -> Any:
        """All values."""
        wait("tolist")
        return self._bare.tolist()

    def __bool__(self) -> bool:
        wait("bool")
        return bool(self._bare)

    def __int__(self) -> int:
        wait("int")
        return int(self._bare.item())

    def __float__(self) -> float:
        wait("float")
        return float(self._bare.item())

    def __complex__(self) -> complex:
        wait("complex")
        return complex(self._bare.item())

    def __index__(self) -> int:
        wait("index")
        return operator.index(self._bare.item())

    # -- subscripts ------------------------------------------------------------------------------

    @making
    def __getitem__(self, key: Any) -> Array:
        from .subscript import has_arrays, subscript, wait_for_masks

        at = subscript(self.shape, key)
        wait_for_masks(at)
        if has_arrays(at):
            launch("take")
            return Array._of(np.asarray(self._bare[at]))
        return Array._of(self._bare[at], self)

    @writing
    def __setitem__(self, key: Any, value: Any) -> None:
        from .subscript import subscript, wait_for_masks
        from .wrapping import bare

        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        if isinstance(value, (list, tuple)):
            raise TypeError(f"Unsupported type {type(value)}")
        at = subscript(self.shape, key)
        wait_for_masks(at)
        launch("put")
        with np.errstate(all="ignore"):
            self._bare[at] = bare(value)

    # -- copies and views ------------------------------------------------------------------------

    @making
    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = None, subok: Any = None, copy: bool = True
    ) -> Array:
        """The values in another dtype."""
        if not copy and self.dtype == dtype:
            return self
        launch("astype")
        with np.errstate(all="ignore"):
            return Array._of(self._bare.astype(dtype, order))

    @making
    def copy(self, order: Any = "C") -> Array:
        """The same values elsewhere."""
        launch("copy")
        return Array._of(self._bare.copy(order))

    def fill(self, value: Any) -> None:
        """One value everywhere."""
        self[...] = value

    @making
    def flatten(self, order: Any = "C") -> Array:
        """A vector of the values, elsewhere."""
        launch("copy")
        return Array._of(self._bare.flatten(order))

    def nonzero(self) -> tuple[Array, ...]:
        """Where values are not zero."""
        from .cupy_like import CUPY

        found: tuple[Array, ...] = CUPY.nonzero(self)
        return found


def _view(name: str) -> Callable[..., Array]:
    @making
    def method(self: Array, *args: Any, **kw: Any) -> Array:
        found = getattr(self._bare, name)(*args, **kw)
        if np.may_share_memory(found, self._bare) or not found.size:
            return Array._of(found, self if found.size else None)
        launch("copy")
        return Array._of(found)

    return method


def _function(name: str) -> Callable[..., Any]:
    """A method that is the function of the same name."""

    def method(self: Array, *args: Any, **kw: Any) -> Any:
        from .cupy_like import CUPY

        return getattr(CUPY, name)(self, *args, **kw)

    return method


def _binary(name: str, turned: bool = False, inplace: bool = False) -> Callable[[Array, Any], Any]:
    def method(self: Array, other: Any) -> Any:
        from .cupy_like import CUPY

        if other is None or isinstance(other, (str, list, tuple)):
            return NotImplemented
        if inplace:
            getattr(CUPY, name)(self, other, out=self)
            return self
        return getattr(CUPY, name)(*((other, self) if turned else (self, other)))

    return method


_METHODS = (
    "all", "any", "argmax", "argmin", "argsort", "clip", "conj", "conjugate", "cumprod", "cumsum", "diagonal",
    "dot", "max", "mean", "min", "prod", "repeat", "round", "std", "sum", "take", "trace", "var",
)  # fmt: skip
_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "matmul": "matmul",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}  # fmt: skip

for _name in ("ravel", "reshape", "squeeze", "swapaxes", "transpose", "view"):
    setattr(Array, _name, _view(_name))
for _name in _METHODS:
    setattr(Array, _name, _function(_name))
for _name, _ufunc in _OPERATORS.items():
    setattr(Array, f"__{_name}__", _binary(_ufunc))
    setattr(Array, f"__r{_name}__", _binary(_ufunc, turned=True))
    setattr(Array, f"__i{_name}__", _binary(_ufunc, inplace=True))
for _name, _ufunc in _COMPARISONS.items():
    setattr(Array, f"__{_name}__", _binary(_ufunc))
for _name, _ufunc in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(Array, f"__{_name}__", (lambda function: lambda self: function(self))(_function(_ufunc)))
Array.__hash__ = None  # type: ignore[assignment]
Array.__name__ = Array.__qualname__ = "ndarray"
