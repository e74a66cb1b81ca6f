"""What a small kernel does, as a list of ufunc calls: learned by watching it at work on arrays that take
notes.

A kernel that does anything but call ufuncs with arrays and numbers by position has no recipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: parameters that are told apart by what they print
_PLAIN = (bool, int, float, complex, str, type(None))
#: numbers that kernels are watched at, in two orders: what depends on values shows
_VALUES = (0.5, -2.0, 0.0, 3.0, 1.0, -0.25)


class Unknown(Exception):
    """A kernel does more than call ufuncs."""


class UfuncOperand(NamedTuple):
    """What a ufunc call gets: of the kernel's inputs and then its results, the one at `at`; or a number."""

    at: int
    number: bytes = b""


class UfuncCall(NamedTuple):
    """One call of a ufunc: its loop's kinds, as in ``ff->f``, and the shape of what it gives."""

    ufunc: Any
    kinds: str
    operands: tuple[UfuncOperand, ...]
    shape: tuple[int, ...]

    @property
    def dtype(self) -> Any:
        """Of what it gives."""
        return np.dtype(self.kinds[-1])


#: the shape and the dtype of an input
Geometry = tuple[tuple[int, ...], Any]
#: the calls in order; the last one gives the kernel's result
Recipe = tuple[UfuncCall, ...]


class Watched(np.ndarray[Any, Any]):
    """An array that notes the ufuncs it goes through; all else that may look at its values raises."""

    at: int = -1
    notes: list[UfuncCall] | None = None

    def __array_finalize__(self, obj: Any) -> None:
        """A view or copy is not what was noted."""
        self.at, self.notes = -1, None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Note the call, and make it."""
        if method != "__call__" or options or ufunc.nout != 1:
            raise Unknown
        return _noted(ufunc, ufunc.resolve_dtypes((*[_kind(_bare(x)) for x in inputs], None)), inputs)

    def __array_function__(self, function: Any, _: Any, args: Any, options: Any) -> Any:
        """Of functions that are no ufuncs, `where` alone."""
        if function is not np.where or len(args) != 3 or options:
            raise Unknown
        kind = np.result_type(*[x.dtype if isinstance(x, Watched) else x for x in args[1:]])
        return _noted(np.where, [np.dtype(bool), kind, kind, kind], args)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """A cast."""
        if args or options:
            raise Unknown
        return _noted(astype, [self.dtype, np.dtype(dtype)], (self,))

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise Unknown

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __iter__ = __array__ = _refuse
    __getitem__ = __setitem__ = __contains__ = __reduce__ = _refuse
    item = tolist = tobytes = tofile = fill = put = copy = view_as = _refuse
    sort = argsort = partition = searchsorted = nonzero = dot = __matmul__ = __rmatmul__ = _refuse


def _bare(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Watched) else x


def astype(a: Any) -> Any:
    """Stands for a cast where a recipe has a function; which one, its kinds say."""
    return a


def _noted(function: Any, kinds: Sequence[Any], inputs: Sequence[Any]) -> Watched:
    """Note a call, and make it. `kinds`: the dtypes of its operands and of what it gives."""
    notes: list[UfuncCall] | None = None
    for x in inputs:
        if isinstance(x, Watched):
            if x.notes is None:
                raise Unknown
            notes = x.notes
    if notes is None or any(not k.isnative or k.metadata for k in kinds):
        raise Unknown
    operands = tuple([_operand(x, k) for x, k in zip(inputs, kinds, strict=False)])
    plain = [_bare(x) for x in inputs]
    found = plain[0].astype(kinds[-1]) if function is astype else np.asarray(function(*plain))
    if found.dtype != kinds[-1]:
        raise Unknown
    chars = "".join([k.char for k in kinds])
    notes.append(UfuncCall(function, f"{chars[:-1]}->{chars[-1]}", operands, found.shape))
    return _watched(found, len(notes) - 1, notes, made=True)


def _watched(a: Any, at: int, notes: list[UfuncCall], made: bool = False) -> Watched:
    found: Watched = a.view(Watched)
    # Until it is known how many there are of each, inputs count down from -1 and results up from 0.
    found.at, found.notes = at if made else ~at, notes
    return found


def _kind(x: Any) -> Any:
    """What NumPy takes a call's dtypes from."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype
    if type(x) in (int, float, complex):
        return type(x)
    if type(x) is bool:
        return np.dtype(bool)
    raise Unknown


def _operand(x: Any, kind: Any) -> UfuncOperand:
    if isinstance(x, Watched):
        if x.dtype != kind:
            raise Unknown  # it would be cast on the way
        return UfuncOperand(x.at)
    if isinstance(x, np.ndarray) and (x.ndim or x.dtype != kind):
        raise Unknown
    return UfuncOperand(0, np.asarray(x, kind).tobytes())


def recipe(
    run: Callable[..., Any], xp: Any, given: Sequence[Geometry], attrs: dict[str, Any], result: Geometry
) -> Recipe | None:
    """The recipe of ``run(xp, *given, **attrs)``, which gives `result`; without `xp` if that is None."""
    if not all(type(v) in _PLAIN for v in attrs.values()):
        return None
    try:
        first, second = (_watch(run, xp, given, attrs, values) for values in (_VALUES, _VALUES[::-1]))
        same = first == second and (first[-1].shape, first[-1].dtype) == result
    except Exception:
        return None
    # Results of no dimensions are scalars between two calls, which Python's operators treat otherwise.
    return first if same and (result[0] or len(first) == 1) else None


def _watch(
    run: Callable[..., Any],
    xp: Any,
    given: Sequence[Geometry],
    attrs: dict[str, Any],
    values: Sequence[float],
) -> Recipe:
    notes: list[UfuncCall] = []
    args = []
    for n, (shape, dtype) in enumerate(given):
        numbers = np.resize(np.array(values[n % 3 :]), shape)
        with np.errstate(all="ignore"):
            args.append(_watched(numbers.astype(dtype), n, notes))
    with np.errstate(all="ignore"):
        found = run(*args, **attrs) if xp is None else run(xp, *args, **attrs)
    if type(found) is not Watched or found.notes is not notes or found.at != len(notes) - 1:
        raise Unknown
    return tuple([c._replace(operands=tuple([_placed(o, len(given)) for o in c.operands])) for c in notes])


def _placed(o: UfuncOperand, inputs: int) -> UfuncOperand:
    """Inputs first, then results."""
    return o if o.number else UfuncOperand(~o.at if o.at < 0 else inputs + o.at)
