"""Ranges, identity matrices and triangle indices."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, blockwise, dtypes, warn
from ...declare import invalid_combination, kernel, public
from ...schema import named
from ...tensor import Tensor
from ..elementwise import add, div, mul, sub, where
from ..shape import detach, to_dtype
from ..shared import computed_in, np_dtype
from .factories import made

if TYPE_CHECKING:
    from ...data import DType


def _range_infer(start: Any, end: Any, step: Any, dtype: DType | None) -> Meta:
    found = dtype or _range_dtype(start, end, step)
    if found is dtypes.int64 and all(map(math.isfinite, (start, end, step))):
        start, end, step = int(start), int(end), int(step)  # PyTorch counts other integers in floats
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end > start) != (step > 0) and end != start:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(n, int) for n in (start, end, step))
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    return Meta((count,), found)


def _range_dtype(*numbers: Any) -> DType:
    return dtypes.default_dtype() if any(isinstance(n, float) for n in numbers) else dtypes.int64


def _range_impl(xp: Any, start: Any, end: Any, step: Any, dtype: Any, meta: Meta) -> Any:
    index = xp.arange(meta.shape[0])
    if meta.dtype.category < dtypes.FLOAT:
        return int(start) + int(step) * index
    return start + step * index.astype(xp.float64)


arange_op = kernel(
    "arange(Number start, Number end, Number step=1, *, dtype? dtype=None) -> Tensor",
    infer=_range_infer,
    impl=_range_impl,
    doc="Numbers from `start` (inclusive) to `end` (exclusive), `step` apart (torch.arange).",
    raises=False,
)


#: stored in an `out` of any shape with as many elements
_numbers = functools.partial(made, flat=True)


@public(
    creates=True,
    forms=(
        "(end: Number, *, out=None, dtype=None, device=None, requires_grad=False, layout=None, "
        "pin_memory=False)",
        "(start: Number, end: Number, step: Number = 1, *, out=None, dtype=None, device=None, "
        "requires_grad=False, layout=None, pin_memory=False)",
    ),
)
def arange(
    *args: Any,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    **kw: Any,
) -> Any:
    """See torch.arange."""
    names = ("end",) if len(args) == 1 and not kw.keys() & {"end"} else ("start", "end", "step")
    given = dict(zip(names, args, strict=False)) | kw
    unknown = set(given) - {"start", "end", "step"}
    if unknown or len(args) > 3 or "end" not in given:
        raise TypeError("arange() received an invalid combination of arguments")
    start, end, step = given.get("start", 0), given["end"], given.get("step", 1)
    start, end, step = (int(n) if isinstance(n, (bool, np.integer)) else n for n in (start, end, step))
    creator = functools.partial(arange_op, start, end, step)
    usual = _range_dtype(start, end, step)
    return _numbers("arange", creator, dtype, usual, requires_grad, out=out, device=device, layout=layout)


def _number_dtype(start: Any, end: Any) -> DType:
    number = dtypes.default_dtype()
    return dtypes.to_complex(number) if _widest(start, end).is_complex else number


def _steps(start: Any, end: Any, steps: int, *_: Any, dtype: DType | None, **__: Any) -> Meta:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    found = dtype or _number_dtype(start, end)
    if found.category < dtypes.FLOAT and not all(map(math.isfinite, _ends(start, end, steps))):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return Meta((steps,), found)


def _ends(start: Any, end: Any, steps: int) -> tuple[Any, ...]:
    """The ends that are among the numbers."""
    return (start,) if steps == 1 else (start, end)


@public(creates=True, name="range")
def closed_range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """As arange, but `end` is included; deprecated (torch.range)."""
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values in "
        "[start, end)."
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if end != start and (end > start) != (step > 0):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = int((end - start) / step) + 1

    def make(dtype: DType) -> Any:
        return arange_op(0, count, dtype=dtype) * step + start

    usual = dtypes.default_dtype()
    return _numbers("range", make, dtype, usual, requires_grad, out=out, device=device, layout=layout)


def _linspace_impl(
    xp: Any, start: Any, end: Any, steps: int, dtype: Any, meta: Meta, finish: Any = None
) -> Any:
    """The numbers, each passed through `finish`."""
    if (dtype or meta.dtype).category < dtypes.FLOAT:
        start, *rest = map(int, _ends(start, end, steps))
        end = rest[0] if rest else start
    kind = np_dtype(meta.dtype) if meta.dtype.category >= dtypes.FLOAT else np.dtype(np.float64)
    width = kind.type((end - start) / max(steps - 1, 1))

    def make(first: int, count: int) -> Any:
        if steps == 1:
            out = xp.full(1, start, kind)
        else:
            index = xp.arange(first, first + count).astype(kind)
            low, high = kind.type(start) + width * index, kind.type(end) - width * (steps - 1 - index)
            out = xp.where(index < steps // 2, low, high)
            out = xp.trunc(out) if meta.dtype.category < dtypes.FLOAT else out
        return out if finish is None else finish(out)

    return blockwise(steps, make, xp)


linspace_op = kernel(
    "linspace(value Number start, value Number end, int steps, *, dtype? dtype=None) -> Tensor",
    infer=_steps,
    impl=_linspace_impl,
    doc="`steps` evenly spaced numbers from `start` to `end`, both inclusive (torch.linspace).",
    raises=False,
)
logspace_op = kernel(
    "logspace(value Number start, value Number end, int steps, value float base=10.0, *, dtype? dtype=None)"
    " -> Tensor",
    infer=_steps,
    impl=lambda xp, start, end, steps, base, dtype, meta: _linspace_impl(
        # a single number is not truncated before it is the power
        xp,
        start,
        end,
        steps,
        None if steps == 1 else dtype,
        Meta(meta.shape, dtypes.float64),
        lambda powers: base**powers,
    ),
    doc="`base` raised to the values of `linspace` (torch.logspace).",
)


def _spaced(start: Any, end: Any, steps: int, dtype: DType, exact: DType) -> Any:
    """`linspace` between ends of which one is a tensor, computed in `exact`: ends are not read, so a batch of
    them may be mapped over. For an integer `dtype` they are truncated.
    """
    _steps(0, 0, steps, dtype=dtype)
    wide = _widest(start, end)
    ends = [to_dtype(detach(x), wide) if isinstance(x, Tensor) else x for x in (start, end)]
    if dtype.category < dtypes.FLOAT:
        ends = [named.trunc(x) if isinstance(x, Tensor) else int(x) for x in ends]
    low, high = (to_dtype(x, exact) if isinstance(x, Tensor) else x for x in ends)
    width = div(sub(high, low), max(steps - 1, 1))
    index = arange_op(0, steps, dtype=dtypes.to_real(exact))
    if steps == 1:
        return add(mul(index, 0), low)
    upward, downward = add(mul(index, width), low), add(mul(sub(index, steps - 1), width), high)
    return where(index < steps // 2, upward, downward)


def _linear_between(start: Any, end: Any, steps: int, dtype: DType) -> Any:
    whole = dtype.category < dtypes.FLOAT
    found = _spaced(start, end, steps, dtype, dtypes.float64 if whole else computed_in(dtype))
    return to_dtype(named.trunc(found) if whole else found, dtype)


def _powers_between(start: Any, end: Any, steps: int, base: float, dtype: DType) -> Any:
    wide = _widest(start, end)
    return to_dtype(named.pow(base, _spaced(start, end, steps, wide if steps == 1 else dtype, wide)), dtype)


def _widest(*given: Any) -> DType:
    wide = any(x.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex) for x in given)
    return dtypes.complex128 if wide else dtypes.float64


def _check_ends(name: str, start: Any, end: Any, steps: Any) -> None:
    if not isinstance(steps, (int, np.integer)) and not isinstance(steps, Tensor):
        forms = ("Tensor start, Tensor end, int steps", "Number start, Number end, int steps")
        raise TypeError(invalid_combination(name, (start, end, steps), forms))
    wide = {k: v.ndim for k, v in (("start", start), ("end", end)) if isinstance(v, Tensor) and v.ndim}
    if wide:
        got = " and ".join(f"{k} with {n} dimension(s)" for k, n in wide.items())
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {got}.")


@public(
    creates=True,
    forms="(start: Tensor | Number, end: Tensor | Number, steps: int, *, out=None, dtype=None, "
    "device=None, requires_grad=False, layout=None, pin_memory=False)",
)
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.linspace."""
    _check_ends("linspace", start, end, steps)
    usual = _number_dtype(start, end)
    creator: Any = functools.partial(linspace_op, start, end, steps)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        creator = functools.partial(_linear_between, start, end, int(steps))
    return _numbers("linspace", creator, dtype, usual, requires_grad, out=out, device=device, layout=layout)


@public(
    creates=True,
    forms="(start: Tensor | Number, end: Tensor | Number, steps: int, base: float = 10.0, *, out=None, "
    "dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False)",
)
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.logspace."""
    _check_ends("logspace", start, end, steps)
    usual = _number_dtype(start, end)
    creator: Any = functools.partial(logspace_op, start, end, steps, float(base))
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        creator = functools.partial(_powers_between, start, end, int(steps), float(base))
    return _numbers("logspace", creator, dtype, usual, requires_grad, out=out, device=device, layout=layout)


def _eye_infer(n: int, m: int | None, dtype: DType | None) -> Meta:
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m is not None and m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    return Meta((n, n if m is None else m), dtype or dtypes.default_dtype())


eye_op = kernel(
    "eye(int n, int? m=None, *, dtype? dtype=None) -> Tensor",
    infer=_eye_infer,
    impl=lambda xp, n, m, dtype, meta: xp.eye(*meta.shape, dtype=np_dtype(meta.dtype)),
    doc="Ones on the diagonal, zeros elsewhere (torch.eye).",
    raises=False,
)


@public(creates=True)
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.eye."""
    creator = functools.partial(eye_op, n, m)
    usual = dtypes.default_dtype()
    return made("eye", creator, dtype, usual, requires_grad, out=out, device=device, layout=layout)


def _staircase(row: int, col: int, first: int) -> int:
    """How many elements rows of at most `col` have if row i has ``first + i``, clipped at 0."""
    none = min(row, max(0, -first))
    full = min(row - none, max(0, row - max(0, col - first)))
    rising, start = row - none - full, first + none
    return rising * (2 * start + rising - 1) // 2 + full * col


def _triangle_indices(lower: bool) -> Any:
    def infer(row: int, col: int, offset: int, dtype: DType | None) -> Meta:
        for name, n in (("row", row), ("col", col)):
            if n < 0:
                raise RuntimeError(f"{name} must be non-negative, got{n}")
        below = _staircase(row, col, offset + 1 if lower else offset)
        return Meta((2, below if lower else row * col - below), dtype or dtypes.int64)

    return infer


def _triangle(xp: Any, row: int, col: int, offset: int, lower: bool) -> Any:
    """The row and column of each element, without materialising the whole matrix."""
    if xp is not np:  # how many a row has is a value
        return xp.asarray(_triangle(np, row, col, offset, lower))
    if lower:
        rows = xp.arange(min(row, max(0, -offset)), row if col else 0)
        firsts = xp.zeros_like(rows)
        counts = xp.minimum(col, rows + (offset + 1))
    else:
        rows = xp.arange(min(row, max(0, col - offset)))
        firsts = xp.maximum(0, rows + offset)
        counts = col - firsts
    ends = xp.cumsum(counts)
    places = xp.arange(int(ends[-1]) if len(ends) else 0)
    nth = xp.searchsorted(ends, places, side="right")
    return xp.stack((rows[nth], places - (ends - counts)[nth] + firsts[nth]))


def _triangle_cost(lower: bool) -> Any:
    infer = _triangle_indices(lower)

    def cost(row: int, col: int, offset: int, dtype: DType | None) -> tuple[int, int]:
        count = infer(row, col, offset, dtype).shape[1]
        return 0, 64 * count  # the memory limit also bounds the work

    return cost


tril_indices_op = kernel(
    "tril_indices(int row, int col, int offset=0, *, dtype? dtype=None) -> Tensor",
    infer=_triangle_indices(True),
    impl=lambda xp, row, col, offset, dtype: _triangle(xp, row, col, offset, True),
    cost=_triangle_cost(True),
    doc="Row and column indices of a lower triangle (torch.tril_indices).",
    raises=False,
)
triu_indices_op = kernel(
    "triu_indices(int row, int col, int offset=0, *, dtype? dtype=None) -> Tensor",
    infer=_triangle_indices(False),
    impl=lambda xp, row, col, offset, dtype: _triangle(xp, row, col, offset, False),
    cost=_triangle_cost(False),
    doc="Row and column indices of an upper triangle (torch.triu_indices).",
    raises=False,
)


@public(creates=True)
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = dtypes.int64,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.tril_indices."""
    creator = functools.partial(tril_indices_op, row, col, offset)
    return made("tril_indices", creator, dtype, dtype, requires_grad, device=device, layout=layout)


@public(creates=True)
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = dtypes.int64,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.triu_indices."""
    creator = functools.partial(triu_indices_op, row, col, offset)
    return made("triu_indices", creator, dtype, dtype, requires_grad, device=device, layout=layout)
