"""The module that stands in for cupy, and its parts."""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .array import Array
from .counting import launch, wait
from .cuda import CUDA
from .graphs import making, refuse, writing
from .memory import POOL, placed
from .raw import RawModule
from .ufunc import Ufunc
from .wrapping import bare, dressed, is_view

#: functions that know the size of their result, or whether they are done, only when the device is
_WAITING = {
    "cupy": frozenset(
        {"argwhere", "bincount", "extract", "flatnonzero", "nonzero", "triu_indices", "unique"}
    ),
    "cupy.linalg": frozenset({"eig", "eigvals", "lstsq", "matrix_rank", "pinv"}),
}
#: keywords that NumPy's functions have and CuPy's lack
_LACKING = frozenset({"initial", "like", "subok", "where"})
#: what is the same on both sides: facts about dtypes and shapes
_PLAIN = frozenset(
    {
        "broadcast_shapes", "can_cast", "dtype", "finfo", "iinfo", "isscalar", "issubdtype", "ndindex",
        "promote_types", "result_type",
    }
)  # fmt: skip
#: functions that write to their first argument
_WRITING = frozenset({"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"})
_JOINING = frozenset({"column_stack", "concatenate", "dstack", "hstack", "stack", "vstack"})
_MAKING = frozenset({"array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray"})
#: the public names of CuPy 14.2: for others the real module raises AttributeError
_NAMES = json.loads((Path(__file__).parent / "names.json").read_text())


def _made(plain: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    """An array of what is given; from the host it is copied."""

    def ours(x: Any) -> Any:
        return (
            x._bare if isinstance(x, Array) else [ours(e) for e in x] if isinstance(x, (list, tuple)) else x
        )

    given = args[0]
    if not isinstance(given, Array):
        refuse("copy from the host")
    found = plain(ours(given), *args[1:], **kw)
    if isinstance(given, Array) and (found is given._bare):
        return given
    if not isinstance(given, Array) and np.may_share_memory(found, np.asarray(ours(given))):
        found = found.copy()
    made = dressed(found, args)
    if not is_view(made):
        launch(plain.__name__)
    return made


def _function(space: str, home: Any, name: str) -> Callable[..., Any]:
    plain = getattr(home, name)

    def function(*args: Any, **kw: Any) -> Any:
        lacking = _LACKING & set(kw) if name != "full_like" else set()
        if lacking:
            raise TypeError(f"{name}() got an unexpected keyword argument {min(lacking)!r}")
        if name in _MAKING:
            return _made(plain, args, kw)
        if name in _JOINING and any(not isinstance(x, Array) for x in args[0]):
            raise TypeError("Only cupy arrays can be concatenated")
        if name == "repeat" and isinstance(args[1], Array):
            raise TypeError("repeats must be on the host")
        if name in _WAITING.get(space, ()):
            wait(name)
        if name in ("take", "take_along_axis", "put", "put_along_axis"):
            args, kw = _wrapped(name, args, kw)
        given, named = [bare(x) for x in args], {k: bare(x) for k, x in kw.items()}
        with np.errstate(all="ignore"):
            try:
                found = plain(*given, **named)
            except np.linalg.LinAlgError:
                if not _numeric(given):
                    raise
                # CuPy leaves what the device made of it, unless asked to look
                found = _undefined(plain, given, named)
        if kw.get("out") is not None:
            launch(name)
            return kw["out"]
        made = dressed(found, [*args, *kw.values()])
        if not is_view(made) or name in _WRITING:
            launch(name)
        return made

    function.__name__ = name
    return (writing if name in _WRITING else making)(function)


def _wrapped(name: str, args: tuple[Any, ...], kw: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Indices modulo the size, as the device takes them."""
    if "mode" in kw:
        raise TypeError(f"{name}() got an unexpected keyword argument 'mode'")
    a, at = args[:2]
    place = 3 if name == "put_along_axis" else 2
    axis = kw["axis"] if "axis" in kw else args[place] if len(args) > place and name != "put" else None
    size = a.size if axis is None else a.shape[axis]
    if size and isinstance(at, Array):
        at = Array._of(np.asarray(at._bare % size))
    return (a, at, *args[2:]), kw


def _numeric(given: list[Any]) -> bool:
    """Whether a solver failed because of values: its matrices are square."""
    return all(x.ndim >= 2 and x.shape[-1] == x.shape[-2] for x in given[:1] if isinstance(x, np.ndarray))


def _undefined(plain: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> Any:
    """nan in the shapes of what a regular matrix gives."""
    a = given[0]
    regular = plain(np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape), *given[1:], **named)
    return np.full_like(regular, np.nan)


class Space(types.ModuleType):
    """A module with the names that CuPy's has, over NumPy's of the same name."""

    def __init__(self, name: str, home: Any, known: frozenset[str]) -> None:
        super().__init__(name, f"Stands in for {name}.")
        self._home = home
        self._known = known

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._known:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        plain = getattr(self._home, name)
        found: Any
        if isinstance(plain, np.ufunc) and name != "matmul":
            found = Ufunc(plain)
        elif isinstance(plain, type) or not callable(plain):
            found = plain
        elif name in _PLAIN:
            found = lambda *args, **kw: plain(*map(bare, args), **kw)  # noqa: E731
        else:
            found = _function(self.__name__, self._home, name)
        setattr(self, name, found)
        return found


def asnumpy(a: Any, stream: Any = None, order: Any = "C", out: Any = None) -> Any:
    """A copy on the host."""
    return a.get(order=order) if isinstance(a, Array) else np.asarray(a, order=order)


@making
def where(condition: Any, *choices: Any) -> Any:
    """Either of two, or where it is true."""
    if not choices:
        return CUPY.nonzero(condition)
    launch("where")
    with np.errstate(all="ignore"):
        return dressed(np.where(bare(condition), *map(bare, choices)))


def as_strided(x: Array, shape: Any = None, strides: Any = None) -> Array:
    """A view of any geometry inside of the memory of `x`."""
    shape = x.shape if shape is None else shape
    return Array._of(placed(x.data, shape, x.dtype, x.strides if strides is None else strides), x)


def broadcast_arrays(*args: Any) -> list[Any]:
    """Views of one shape; numbers stay what they are, as with CuPy."""
    found = np.broadcast_arrays(*map(bare, args))
    return [dressed(a, (x,)) if isinstance(x, Array) else x for a, x in zip(found, args, strict=True)]


@making
def isin(element: Array, test_elements: Array, assume_unique: bool = False, invert: bool = False) -> Array:
    """Which elements are among others; CuPy takes no numbers for either."""
    if not isinstance(element, Array) or not isinstance(test_elements, Array):
        raise TypeError("isin takes arrays of the device only")
    launch("isin")
    return Array._of(np.asarray(np.isin(element._bare, test_elements._bare, invert=invert)))


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays may overlap; one of NumPy's never does."""
    return isinstance(a, Array) and isinstance(b, Array) and np.may_share_memory(a._bare, b._bare)


class PlanCache:
    """``cupy.fft._cache.PlanCache``: the work areas of transforms."""

    def __init__(self) -> None:
        self.areas: list[Array] = []

    def clear(self) -> None:
        """Forget all."""
        self.areas.clear()


PLANS = PlanCache()
CUPY: Any = Space("cupy", np, frozenset(_NAMES["cupy"]))
CUPY.__version__ = "14.2.0"
CUPY.ndarray = Array
CUPY.ufunc = Ufunc
CUPY.asnumpy = asnumpy
CUPY.RawModule = RawModule
CUPY.where = where
CUPY.broadcast_arrays = broadcast_arrays
CUPY.isin = isin
CUPY.may_share_memory = CUPY.shares_memory = may_share_memory
CUPY.linalg = Space("cupy.linalg", np.linalg, frozenset(_NAMES["cupy.linalg"]))
CUPY.fft = Space("cupy.fft", np.fft, frozenset(_NAMES["cupy.fft"]))
CUPY.lib = types.SimpleNamespace(stride_tricks=types.SimpleNamespace(as_strided=as_strided))
CUPY.fft.config = types.SimpleNamespace(get_plan_cache=lambda: PLANS)
CUPY.cuda = CUDA
CUPY.get_default_memory_pool = lambda: POOL
