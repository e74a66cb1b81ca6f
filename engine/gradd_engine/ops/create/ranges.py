"""Ranges, identity matrices and triangle indices."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, blockwise, dtypes
from ...declare import invalid_combination, kernel, public
from ...tensor import Tensor
from ..shared import np_dtype
from .factories import check_device, finished, wanted

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


@public(
    creates=True,
    forms=(
        "(end: Number, *, dtype=None, device=None, requires_grad=False, layout=None)",
        "(start: Number, end: Number, step: Number = 1, *, dtype=None, device=None, requires_grad=False, "
        "layout=None)",
    ),
)
def arange(
    *args: Any,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
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
    check_device(device)
    dtype = dtype or _range_dtype(start, end, step)
    wanted(dtype, requires_grad, "arange")
    return finished(arange_op(start, end, step, dtype=dtype), requires_grad)


def _number_dtype(start: Any, end: Any) -> DType:
    number = dtypes.default_dtype()
    return dtypes.to_complex(number) if isinstance(start, complex) or isinstance(end, complex) else number


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
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
) -> Any:
    """As arange, but `end` is included; deprecated (torch.range)."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values in "
        "[start, end).",
        UserWarning,
        stacklevel=2,
    )
    check_device(device)
    found = dtype or dtypes.default_dtype()
    wanted(found, requires_grad, "range")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if end != start and (end > start) != (step > 0):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = int((end - start) / step) + 1
    return finished(arange_op(0, count, dtype=found) * step + start, requires_grad)


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
        xp, start, end, steps, dtype, Meta(meta.shape, dtypes.float64), lambda powers: base**powers
    ),
    doc="`base` raised to the values of `linspace` (torch.logspace).",
)


def _check_ends(name: str, start: Any, end: Any, steps: Any) -> None:
    if not isinstance(steps, (int, np.integer)) and not isinstance(steps, Tensor):
        forms = ("Tensor start, Tensor end, int steps", "Number start, Number end, int steps")
        raise TypeError(invalid_combination(name, (start, end, steps), forms))
    wide = {k: v.ndim for k, v in (("start", start), ("end", end)) if isinstance(v, Tensor) and v.ndim}
    if wide:
        got = " and ".join(f"{k} with {n} dimension(s)" for k, n in wide.items())
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {got}.")


@public(creates=True)
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """See torch.linspace."""
    _check_ends("linspace", start, end, steps)
    check_device(device)
    return finished(linspace_op(start, end, steps, dtype=dtype or _number_dtype(start, end)), requires_grad)


@public(creates=True)
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """See torch.logspace."""
    _check_ends("logspace", start, end, steps)
    check_device(device)
    return finished(
        logspace_op(start, end, steps, float(base), dtype=dtype or _number_dtype(start, end)), requires_grad
    )


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
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """See torch.eye."""
    check_device(device)
    return finished(eye_op(n, m, dtype=dtype or dtypes.default_dtype()), requires_grad)


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
    row: int, col: int, offset: int = 0, *, dtype: DType = dtypes.int64, device: Any = None
) -> Any:
    """See torch.tril_indices."""
    check_device(device)
    return tril_indices_op(row, col, offset, dtype=dtype)


@public(creates=True)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: DType = dtypes.int64, device: Any = None
) -> Any:
    """See torch.triu_indices."""
    check_device(device)
    return triu_indices_op(row, col, offset, dtype=dtype)
