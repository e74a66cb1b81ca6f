"""Quantiles and the mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Meta, dtypes, numel, reduced_shape, wrap_dim
from ...declare import Joint, composite, kernel, public
from ...kernels import accumulate
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import lerp, sub, where
from ..index import dynamic, gather_op
from ..shape import flatten, permute, reshape, squeeze_dim, to_dtype, transpose, unsqueeze
from ..shared import refuse, return_type
from .extrema import not_empty, pick, place
from .sorting import sort

_MODES = ("linear", "lower", "higher", "midpoint", "nearest")


def _check(input: Tensor, q: Tensor, interpolation: str, name: str) -> None:
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in _MODES:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )


def _in_range(q: Any, name: str) -> None:
    """Raise RuntimeError for quantiles outside [0, 1]; not checked without values (meta tensors)."""
    try:
        q = dynamic.every_sample(q)
        good = bool(dynamic.read(((q >= 0) & (q <= 1)).all()))
    except dynamic.ShapeDependsOnValuesError:
        return
    if not good:
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")


def _quantile(
    input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool, name: str
) -> Any:
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {float(q):g}")
        q = input.new_full((), float(q)) if input.dtype.category >= dtypes.FLOAT else input.new_full((), q)
        _check(input, q, interpolation, name)
    else:
        _check(input, q, interpolation, name)
        _in_range(q, name)
    d = 0 if dim is None else wrap_dim(dim, input.ndim)
    shape = list(reduced_shape(input.shape, range(input.ndim) if dim is None else (d,), keepdim))
    if input.ndim == 0:
        shape = []
    if dim is None:
        rows = reshape(input, [1, numel(input.shape)]) if input.ndim != 1 else unsqueeze(input, 0)
        ordered = sort(flatten(rows))[0]
    elif d == input.ndim - 1 or not input.ndim:
        ordered = sort(input if input.ndim else unsqueeze(input, 0))[0]
    else:
        ordered = sort(transpose(unsqueeze(input, -1), d, -1))[0]
        ordered = squeeze_dim(ordered, d)
    if dim is not None and d != input.ndim - 1 and input.ndim:
        ordered = ordered.contiguous()
    found = _between(ordered, q, interpolation, skip_nan)
    if q.ndim:
        found = permute(found, [found.ndim - 1, *range(found.ndim - 1)])
        return reshape(found, [q.shape[0], *shape])
    return reshape(squeeze_dim(found, -1), shape)


def _between(ordered: Any, q: Any, interpolation: str, skip_nan: bool) -> Any:
    """Interpolated quantiles of the sorted last dimension, one per element of `q`, as a last dimension."""
    n = ordered.shape[-1]
    q = q if q.ndim else unsqueeze(q, 0)
    missing = ordered != ordered
    if skip_nan:
        rank = q * to_dtype((n - 1 - missing.sum(-1, True)).clamp(min=0), q.dtype)
        rank = rank.expand([*ordered.shape[:-1], q.shape[0]])
    else:
        whole = missing.any(-1, True)
        rank = (q * (n - 1)).expand([*ordered.shape[:-1], q.shape[0]])
        rank = where(whole, float(n - 1), rank)
    if interpolation == "lower":
        rank = rank.floor()
    elif interpolation == "higher":
        rank = rank.ceil()
    elif interpolation == "nearest":
        rank = rank.round()
    low = to_dtype(rank, dtypes.int64)
    found = gather_op(ordered, -1, low)
    if interpolation not in ("linear", "midpoint"):
        return found
    weight = rank.new_full((), 0.5).expand_as(rank) if interpolation == "midpoint" else sub(rank, low)
    high = gather_op(ordered, -1, to_dtype(rank.ceil(), dtypes.int64))
    return lerp(found, high, weight)


def _published(name: str, skip_nan: bool) -> Any:
    made = composite(
        f"{name}(Tensor input, Tensor|Number q, int? dim=None, bool keepdim=False, *, "
        "str interpolation='linear') -> Tensor",
        body=lambda input, q, dim, keepdim, interpolation: _quantile(
            input, q, dim, keepdim, interpolation, skip_nan, name
        ),
        dynamic=True,
        autocast={"cpu": "float32"},
        method=True,
        out=True,
        doc=f"The `q`-th quantiles, over all or along `dim` (torch.{name}).",
    )
    return made


quantile, nanquantile = _published("quantile", False), _published("nanquantile", True)

# -- mode --------------------------------------------------------------------------------------------


def _mode_infer(input: Tensor, dim: int, keepdim: bool) -> list[Meta]:
    d = wrap_dim(dim, input.ndim)
    not_empty(input, "mode", d)
    refuse(input.dtype, "mode_cpu", complex=True)
    shape = reduced_shape(input.shape, (d,), keepdim) if input.ndim else ()
    return [Meta(shape, input.dtype), Meta(shape, dtypes.int64)]


def _mode_impl(xp: Any, a: Any, dim: int, keepdim: bool) -> Any:
    if not a.ndim:
        return a.copy(), xp.zeros((), np.int64)
    rows = xp.moveaxis(a, dim, -1)
    n = rows.shape[-1]
    where_ = xp.argsort(rows, axis=-1, kind="stable")
    values = xp.take_along_axis(rows, where_, axis=-1)
    same = values[..., 1:] == values[..., :-1]
    places = xp.arange(n)
    starts = xp.where(xp.concatenate([xp.zeros((*same.shape[:-1], 1), bool), same], axis=-1), 0, places)
    runs = places - accumulate(xp, "maximum", starts, -1)
    # argmax picks the first of the longest runs, that of the smallest value
    at = xp.take_along_axis(where_, xp.argmax(runs, axis=-1)[..., None], axis=-1)
    found = xp.take_along_axis(rows, at, axis=-1)
    if keepdim:
        return xp.moveaxis(found, -1, dim), xp.moveaxis(at, -1, dim)
    return found[..., 0], at[..., 0]


def _mode_vjp(grads: Any, out1: Any, input_meta: Any, dim: int, keepdim: bool) -> Any:
    size = list(input_meta.shape)
    return (place(grads[0], out1, wrap_dim(dim, len(size)), keepdim, size),)


_mode: Op = kernel(
    "mode(Tensor input, int dim=-1, bool keepdim=False) -> (Tensor values, const Tensor indices)",
    infer=_mode_infer,
    impl=_mode_impl,
    vjp=Joint("input", _mode_vjp),
    jvp=lambda input_t, outs, dim, keepdim: [
        pick(input_t, outs[1], wrap_dim(dim, input_t.ndim), keepdim),
        None,
    ],
    doc="The most frequent value along `dim`, the smallest of ties, and its index (torch.mode).",
)
_MODE = return_type("mode", "values indices")


@public(method=True, out=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """See torch.mode."""
    return _MODE(*_mode(input, dim, keepdim))
